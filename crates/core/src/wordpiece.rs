//! WordPiece for queries: the uncased BERT rules over a vocabulary, small enough for the browser.

use crate::ids::PieceId;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word longer than this many characters becomes one unknown piece, as in BERT.
const MAX_WORD_CHARACTERS: usize = 100;
/// Marks a piece that continues a word.
const CONTINUATION: &str = "##";

/// A vocabulary that can be looked up by text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vocabulary {
    pieces: Vec<String>,
    by_text: Vec<u32>,
}

impl Vocabulary {
    /// A vocabulary of the pieces in order of their ids.
    #[must_use]
    pub fn new(pieces: Vec<String>) -> Self {
        let mut by_text: Vec<u32> = (0..pieces.len() as u32).collect();
        by_text.sort_unstable_by(|a, b| pieces[*a as usize].cmp(&pieces[*b as usize]));
        Self { pieces, by_text }
    }

    /// Number of pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there is no piece.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Pieces in order of their ids.
    #[must_use]
    pub fn pieces(&self) -> &[String] {
        &self.pieces
    }

    /// The piece with exactly this text.
    #[must_use]
    pub fn id(&self, text: &str) -> Option<PieceId> {
        let found = self
            .by_text
            .binary_search_by(|id| self.pieces[*id as usize].as_str().cmp(text));
        found.ok().map(|at| PieceId(self.by_text[at]))
    }

    /// The pieces of a text, without special tokens; words that cannot be built are left out.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<PieceId> {
        basic_tokens(text)
            .iter()
            .flat_map(|word| self.encode_word(word).unwrap_or_default())
            .collect()
    }

    /// The pieces of one folded word by longest match first; `None` when it cannot be built.
    #[must_use]
    pub fn encode_word(&self, word: &str) -> Option<Vec<PieceId>> {
        if word.chars().count() > MAX_WORD_CHARACTERS {
            return None;
        }
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < word.len() {
            let (piece, end) = self.longest_piece(word, start)?;
            pieces.push(piece);
            start = end;
        }
        Some(pieces)
    }

    fn longest_piece(&self, word: &str, start: usize) -> Option<(PieceId, usize)> {
        let prefix = if start == 0 { "" } else { CONTINUATION };
        let ends = word[start..]
            .char_indices()
            .map(|(at, c)| start + at + c.len_utf8());
        ends.rev().find_map(|end| {
            let candidate = format!("{prefix}{}", &word[start..end]);
            self.id(&candidate).map(|id| (id, end))
        })
    }
}

/// BERT's basic tokens: lower case without accents, cut at white space, around punctuation and
/// around characters of scripts without spaces.
fn basic_tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    for c in text
        .nfd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
    {
        if c.is_whitespace() || c.is_control() {
            flush(&mut word, &mut tokens);
        } else if stands_alone(c) {
            flush(&mut word, &mut tokens);
            tokens.push(c.to_string());
        } else {
            word.push(c);
        }
    }
    flush(&mut word, &mut tokens);
    tokens
}

fn flush(word: &mut String, tokens: &mut Vec<String>) {
    if !word.is_empty() {
        tokens.push(std::mem::take(word));
    }
}

fn stands_alone(c: char) -> bool {
    let ideograph = matches!(u32::from(c), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x2fa1f);
    ideograph || !c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_piece_wins() {
        let pieces = ["[UNK]", "un", "unlock", "##lock", "##ed", "!", "a"];
        let vocabulary = Vocabulary::new(pieces.iter().map(|piece| (*piece).to_owned()).collect());
        let texts = |text: &str| -> Vec<&str> {
            vocabulary
                .encode(text)
                .into_iter()
                .map(|id| pieces[id.index()])
                .collect()
        };
        assert_eq!(texts("Unlocked! xyz á"), ["unlock", "##ed", "!", "a"]);
    }
}
