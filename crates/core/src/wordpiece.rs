//! WordPiece for queries: the uncased BERT rules over a vocabulary, small enough for the browser.
//!
//! Non-goals: scripts beyond those of the vocabulary. All combining marks are dropped, where BERT
//! drops the nonspacing ones: vowel signs of Indic scripts differ.

use crate::ids::PieceId;
use crate::unicode::push_plain;

/// A word longer than this many characters becomes one unknown piece, as in BERT.
const MAX_WORD_CHARACTERS: usize = 100;
/// Marks a piece that continues a word.
const CONTINUATION: &str = "##";

/// A vocabulary that can be looked up by text.
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary {
    pieces: Vec<String>,
    /// Ids at the hash of their text or, where that is taken, at the next free place; twice as many places as
    /// pieces or more, a power of two.
    by_hash: Vec<u32>,
}

/// A place without an id.
const FREE: u32 = u32::MAX;

impl Vocabulary {
    /// A vocabulary of the pieces in order of their ids.
    #[must_use]
    pub fn new(pieces: Vec<String>) -> Self {
        let by_hash = vec![FREE; (pieces.len() * 2).next_power_of_two()];
        let mut vocabulary = Self { pieces, by_hash };
        for (id, piece) in (0..).zip(&vocabulary.pieces) {
            let place = vocabulary.place(piece);
            vocabulary.by_hash[place] = id;
        }
        vocabulary
    }

    /// Where the id of a text is or would be.
    fn place(&self, text: &str) -> usize {
        let last = self.by_hash.len() - 1;
        let mut place = hash(text) as usize & last;
        while let Some(piece) = self.pieces.get(self.by_hash[place] as usize) {
            if piece == text {
                break;
            }
            place = (place + 1) & last;
        }
        place
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
        let id = self.by_hash[self.place(text)];
        (id != FREE).then_some(PieceId(id))
    }

    /// The pieces of a text, without special tokens; words that cannot be built are left out.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<PieceId> {
        basic_tokens(text)
            .iter()
            .flat_map(|word| self.encode_word(word).unwrap_or_default())
            .collect()
    }

    /// As [`Vocabulary::encode`], with `unknown` for each word that cannot be built: what a network
    /// reads.
    #[must_use]
    pub fn encode_with(&self, text: &str, unknown: PieceId) -> Vec<PieceId> {
        let mut pieces = Vec::new();
        for word in basic_tokens(text) {
            match self.encode_word(&word) {
                Some(own) => pieces.extend(own),
                None => pieces.push(unknown),
            }
        }
        pieces
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
        let mut candidate = prefix.to_owned() + word.get(start..)?;
        while candidate.len() > prefix.len() {
            if let Some(id) = self.id(&candidate) {
                return Some((id, start + candidate.len() - prefix.len()));
            }
            candidate.pop();
        }
        None
    }
}

/// FNV-1a.
fn hash(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}

/// BERT's basic tokens: lower case without accents, cut at white space, around punctuation and
/// around characters of scripts without spaces; control and format characters are dropped.
fn basic_tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut plain = String::with_capacity(text.len());
    text.chars().for_each(|c| push_plain(c, &mut plain));
    for c in plain.chars().filter(|c| !is_dropped(*c)) {
        if c.is_whitespace() {
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

fn is_dropped(c: char) -> bool {
    let format = matches!(
        u32::from(c),
        0xad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfffd
    );
    format || c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

fn stands_alone(c: char) -> bool {
    let ideograph = matches!(u32::from(c), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x2fa1f);
    ideograph || is_punctuation(c)
}

/// ASCII's punctuation and symbols, and Unicode's category P in the blocks that queries use.
/// Other symbols (€, →, emoji) are part of a word.
fn is_punctuation(c: char) -> bool {
    let beyond_ascii = matches!(
        u32::from(c),
        0xa1 | 0xa7 | 0xab | 0xb6 | 0xb7 | 0xbb | 0xbf | 0x37e | 0x387
            | 0x60c | 0x61b | 0x61f | 0x66a..=0x66d | 0x6d4 | 0x964 | 0x965
            | 0x2010..=0x2027 | 0x2030..=0x2043 | 0x2045..=0x2051 | 0x2053..=0x205e
            | 0x2308..=0x230b | 0x2329 | 0x232a | 0x2768..=0x2775
            | 0x3001..=0x3003 | 0x3008..=0x3011 | 0x3014..=0x301f | 0x3030 | 0x303d | 0x30fb
            | 0xff01..=0xff03 | 0xff05..=0xff0a | 0xff0c..=0xff0f | 0xff1a | 0xff1b
            | 0xff1f | 0xff20 | 0xff3b..=0xff3d | 0xff3f | 0xff5b | 0xff5d | 0xff5f..=0xff65
    );
    c.is_ascii_punctuation() || beyond_ascii
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

    #[test]
    fn every_piece_is_found_by_its_text_and_nothing_else_is() {
        for count in [0u32, 1, 2, 3, 1_000] {
            let pieces: Vec<String> = (0..count).map(|id| format!("##{id}")).collect();
            let vocabulary = Vocabulary::new(pieces.clone());
            let ids = pieces.iter().map(|piece| vocabulary.id(piece));
            assert!(ids.eq((0..count).map(|id| Some(PieceId(id)))));
            assert_eq!(vocabulary.id(""), None);
            assert_eq!(vocabulary.id(&format!("##{count}")), None);
        }
    }
}
