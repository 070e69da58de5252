//! The `synonyms` step: what a thesaurus says of words, for words that a site never uses.
//!
//! Static rows say that two words are alike, but not in which way: *fault* is as near to *faulty* as to *error*. While
//! indexing, what WordNet names beside a word is sought among the words of the site first (docs/ranking-other-words.md).
//!
//! Rewritten are `synonyms.txt` and `encoder.json`, whose hash is the encoder's id: indexes made before belong to the
//! older one.

mod wordnet;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde_json::json;
use siskin_core::text::{Analyzer, Stemming};
use siskin_encoder::synonyms::{self, Synonyms};
use siskin_encoder::{Encoder, SYNONYMS_FILE};

use crate::export::{Rewritten, Student};

/// Words near another one, at most.
const MOST_NEAR: usize = 32;

/// Arguments of `siskin-train synonyms`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Encoder folder, exported with rows; synonyms that it has are replaced.
    pub encoder: PathBuf,
    /// The folder `dict` of WordNet's database: data.noun, index.noun and so on.
    #[arg(long)]
    pub wordnet: PathBuf,
    /// Encoder folders that read queries for ENCODER and shall go on to.
    #[arg(long, num_args = 1..)]
    pub students: Vec<PathBuf>,
}

/// Runs the step; see [`Args`].
///
/// # Errors
/// When the encoder has no rows or is altered, the thesaurus is none or names no word that the encoder knows, or a
/// student reads queries for another encoder: everything then stands as it was. When a folder cannot be moved or a
/// student not written, after all else is in place: the same command mends that.
pub fn run(args: &Args) -> Result<()> {
    let near = wordnet::read(&args.wordnet)?;
    let encoder = Encoder::open(&args.encoder)?;
    let students: Vec<Student> = args
        .students
        .iter()
        .map(|folder| Student::read(folder))
        .collect::<Result<_>>()?;
    let in_parts = encoder.generic_rows()?.words;
    let pieces = encoder.vocabulary();
    let words = pieces.iter().chain(in_parts.keys()).map(String::as_str);
    let words: Vec<&str> = words.collect();
    let known = of_known_words(near, &words);
    ensure!(
        !known.is_empty(),
        "the thesaurus has no two words that the encoder knows: give the folder `dict` of an English WordNet"
    );
    let pairs: usize = known.values().map(Vec::len).sum();
    crate::say!("{} words with {pairs} near them", known.len());
    let made = json!({
        "thesaurus": wordnet::release(&args.wordnet)?, "words": known.len(), "near": pairs,
    });
    let file = synonyms::text(&known);
    let rewritten = Rewritten::new(
        &args.encoder,
        (SYNONYMS_FILE, file.as_bytes()),
        ("synonyms", made),
    );
    rewritten?.put_in_place(students)
}

/// What a thesaurus says of words that the encoder knows, in some form; of equally near ones those first that stand first
/// in `words`, which it knows.
fn of_known_words(near: wordnet::Near, words: &[&str]) -> Synonyms {
    let analyzer = Analyzer::new(Stemming::English);
    let places: HashMap<&str, usize> = words.iter().copied().zip(0..).collect();
    let stems: HashSet<String> = words.iter().map(|word| analyzer.stem(word)).collect();
    let place = |word: &str| places.get(word).copied().unwrap_or(usize::MAX);
    let mut known = BTreeMap::new();
    for (word, others) in near {
        let stem = analyzer.stem(&word);
        if !stems.contains(&stem) {
            continue;
        }
        let others = others.into_iter().filter(|(other, _)| {
            let other = analyzer.stem(other);
            other != stem && stems.contains(&other)
        });
        let mut others: Vec<(String, f32)> = others.collect();
        others.sort_by(|a, b| {
            let by_place = place(&a.0).cmp(&place(&b.0));
            b.1.total_cmp(&a.1).then(by_place).then(a.0.cmp(&b.0))
        });
        others.truncate(MOST_NEAR);
        if !others.is_empty() {
            known.insert(word, others);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_words_that_the_encoder_lacks_are_left_out() {
        let near = |words: &[(&str, f32)]| {
            let words = words.iter().map(|&(word, near)| (word.to_owned(), near));
            words.collect::<HashMap<_, _>>()
        };
        let thesaurus = wordnet::Near::from([
            (
                "errand".to_owned(),
                near(&[
                    ("jobs", 0.5),
                    ("errands", 1.0),
                    ("task", 0.5),
                    ("fardel", 0.9),
                ]),
            ),
            ("fardel".to_owned(), near(&[("task", 1.0)])),
            ("task".to_owned(), near(&[("fardel", 1.0)])),
        ]);
        let known = of_known_words(thesaurus, &["task", "job", "errand"]);
        let of_errand = vec![("task".to_owned(), 0.5), ("jobs".to_owned(), 0.5)];
        assert_eq!(known, Synonyms::from([("errand".to_owned(), of_errand)]));
    }
}
