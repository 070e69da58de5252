//! What word pieces say, read from a tokenizer's file.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};

/// The texts of word pieces by id; those that go on a word begin with `##`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    texts: HashMap<u32, String>,
}

impl Vocabulary {
    /// That of the `tokenizer.json` at `path`.
    ///
    /// # Errors
    /// When it cannot be read or has no vocabulary.
    pub fn open(path: &Path) -> Result<Self> {
        let cannot = || format!("cannot read tokenizer {}", path.display());
        let bytes = std::fs::read(path).with_context(cannot)?;
        let file: serde_json::Value = serde_json::from_slice(&bytes).with_context(cannot)?;
        let pieces = file.pointer("/model/vocab").and_then(|v| v.as_object());
        let pieces = pieces.with_context(|| format!("{} has no vocabulary", path.display()))?;
        let texts = pieces.iter().map(|(text, id)| {
            let id = u32::try_from(id.as_u64().with_context(cannot)?)?;
            Ok((id, text.clone()))
        });
        Ok(Self {
            texts: texts.collect::<Result<_>>()?,
        })
    }

    /// What `piece` says; `None` for a number that is none.
    #[must_use]
    pub fn piece(&self, piece: u32) -> Option<&str> {
        self.texts.get(&piece).map(String::as_str)
    }

    /// One more than the largest piece.
    #[must_use]
    pub fn end(&self) -> u32 {
        let last = self.texts.keys().max();
        last.map_or(0, |piece| piece.saturating_add(1))
    }

    /// Pieces that are words of at least `letters` ASCII letters, in order.
    #[must_use]
    pub fn words(&self, letters: usize) -> Vec<u32> {
        let is_word =
            |text: &str| text.len() >= letters && text.bytes().all(|b| b.is_ascii_lowercase());
        let words = self.texts.iter().filter(|(_, text)| is_word(text));
        let mut words: Vec<u32> = words.map(|(&id, _)| id).collect();
        words.sort_unstable();
        words
    }

    /// Whether a piece goes on the word of the piece before it.
    #[must_use]
    pub fn continues(&self, piece: u32) -> bool {
        self.piece(piece).is_some_and(|text| text.starts_with("##"))
    }

    /// The words of `pieces`, the first and the last (`[CLS]`, `[SEP]`) and what has no piece (`[UNK]`) left out, a space
    /// between two.
    #[must_use]
    pub fn text(&self, pieces: &[u32]) -> String {
        let content = pieces.get(1..pieces.len().saturating_sub(1));
        let mut text = String::new();
        for piece in content.unwrap_or_default() {
            let piece = self.piece(*piece).unwrap_or_default();
            match piece.strip_prefix("##") {
                Some(rest) => text.push_str(rest),
                None if piece == "[UNK]" => {}
                None => {
                    text.push(' ');
                    text.push_str(piece);
                }
            }
        }
        text
    }

    /// A vocabulary of `texts`, for tests.
    #[cfg(test)]
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = (u32, &'a str)>) -> Self {
        let texts = texts.into_iter().map(|(id, text)| (id, text.to_owned()));
        Self {
            texts: texts.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together_to_words() {
        let pieces = [
            (0, "[CLS]"),
            (1, "[SEP]"),
            (2, "abort"),
            (3, "##ed"),
            (4, "it"),
            (5, "[UNK]"),
        ];
        let vocabulary = Vocabulary::of(pieces);
        assert_eq!(vocabulary.text(&[0, 2, 3, 5, 4, 1]), " aborted it");
        assert_eq!(vocabulary.text(&[0]), "");
        assert_eq!(vocabulary.words(3), [2]);
        assert!(vocabulary.continues(3) && !vocabulary.continues(9));
    }
}
