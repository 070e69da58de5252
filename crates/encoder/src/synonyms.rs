//! `synonyms.txt`: what a thesaurus says of English words, for words that a site never uses.
//!
//! UTF-8, a line each word, in their order: the word, then after a tab each what is near it, a space and how near in
//! hundredths, 1 to 100 (= a synonym in the first sense of a noun, verb, adjective or adverb).
//!
//! ```text
//! erase⇥delete 77⇥wipe 38
//! ```

use std::collections::BTreeMap;

use crate::error::{EncoderError, Result};
use crate::manifest::SYNONYMS_FILE;

/// Words, each with those that are near it and how near: above 0, at most 1.
pub type Synonyms = BTreeMap<String, Vec<(String, f32)>>;

/// The content of [`SYNONYMS_FILE`].
///
/// # Errors
/// [`EncoderError::Unfit`] with the line that is not as above.
pub fn read(bytes: &[u8]) -> Result<Synonyms> {
    let unfit = |reason: String| {
        EncoderError::unfit(
            SYNONYMS_FILE,
            format!("{reason} (`siskin-train synonyms` writes it)"),
        )
    };
    let text = std::str::from_utf8(bytes).map_err(|error| unfit(error.to_string()))?;
    let mut synonyms = Synonyms::new();
    for (line, number) in text.lines().zip(1..) {
        let mut fields = line.split('\t');
        let word = fields.next().unwrap_or_default();
        let near: Option<Vec<_>> = fields.map(near).collect();
        let near = near.filter(|near| !word.is_empty() && !near.is_empty());
        let near = near.ok_or_else(|| unfit(format!("line {number}, of {word:?}")))?;
        if synonyms.insert(word.to_owned(), near).is_some() {
            return Err(unfit(format!("line {number}: {word:?} again")));
        }
    }
    Ok(synonyms)
}

/// Words as [`read`] takes them; how near is rounded to hundredths, up to one at least.
#[must_use]
pub fn text(synonyms: &Synonyms) -> String {
    let mut text = String::new();
    for (word, near) in synonyms {
        text.push_str(word);
        for (other, nearness) in near {
            let hundredths = (100.0 * nearness).round().clamp(1.0, 100.0) as u8;
            text.push_str(&format!("\t{other} {hundredths}"));
        }
        text.push('\n');
    }
    text
}

fn near(field: &str) -> Option<(String, f32)> {
    let (word, hundredths) = field.split_once(' ')?;
    let hundredths: u8 = hundredths.parse().ok()?;
    let is_whole = !word.is_empty() && (1..=100).contains(&hundredths);
    is_whole.then(|| (word.to_owned(), f32::from(hundredths) / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let near = |word: &str, nearness| (word.to_owned(), nearness);
        let synonyms = Synonyms::from([
            (
                "erase".to_owned(),
                vec![near("delete", 1.0), near("wipe", 0.38)],
            ),
            ("errand".to_owned(), vec![near("task", 0.01)]),
        ]);
        let text = text(&synonyms);
        assert_eq!(text, "erase\tdelete 100\twipe 38\nerrand\ttask 1\n");
        assert_eq!(read(text.as_bytes()).unwrap(), synonyms);
        assert_eq!(read(b"").unwrap(), Synonyms::new());
    }

    #[test]
    fn a_line_of_something_else_is_told() {
        for (text, reason) in [
            ("erase", "line 1, of \"erase\""),
            ("erase\tdelete 9\n\n", "line 2, of \"\""),
            ("\tdelete 9", "line 1, of \"\""),
            ("erase\tdelete", "line 1"),
            ("erase\tdelete 0", "line 1"),
            ("erase\tdelete 101", "line 1"),
            ("erase\t 9", "line 1"),
            ("erase\tdelete 9\nerase\twipe 8", "line 2: \"erase\" again"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(
                error.contains("synonyms.txt") && error.contains(reason),
                "{text:?}: {error}"
            );
        }
        assert!(read(b"erase\t\xff 9").is_err());
    }
}
