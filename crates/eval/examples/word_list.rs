//! Writes `crates/train/src/words/english.txt`: words that a vocabulary of word pieces has only in parts, and that
//! readers may use all the same. `siskin-train words` gives an encoder their rows.
//!
//! ```text
//! cargo run --release -p siskin-eval --example word_list -- ENCODER WORDS COLLECTION…
//! ```
//!
//! `WORDS` is a list of common English words, a line each (SCOWL's of size 35); `COLLECTION`s are BEIR folders of
//! documentation, whose own words are taken from [`LEAST_COLLECTIONS`] of them on. Of words of one stem the
//! shortest stands for all.

#![allow(clippy::print_stdout, reason = "the list is the result")]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::error::Error;
use std::path::Path;

use siskin_core::text::{Analyzer, Stemming, TermKind};
use siskin_core::wordpiece::Vocabulary;
use siskin_encoder::Encoder;
use siskin_eval::beir;

/// Collections that have a word, at least, and documents in each.
const LEAST_COLLECTIONS: usize = 3;
const LEAST_DOCUMENTS: usize = 3;
/// Shortest word, in letters.
const LEAST_LETTERS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [encoder, words, collections @ ..] = arguments.as_slice() else {
        return Err("usage: word_list ENCODER WORDS COLLECTION…".into());
    };
    let analyzer = Analyzer::new(Stemming::English);
    let pieces = Encoder::open(encoder)?.vocabulary();
    let whole = pieces.iter().filter(|piece| is_word(piece));
    let known: HashSet<String> = whole.map(|piece| analyzer.stem(piece)).collect();
    let vocabulary = Vocabulary::new(pieces);
    let common = std::fs::read_to_string(words)?;
    let mut candidates: BTreeSet<String> = common.lines().map(str::to_owned).collect();
    candidates.extend(words_of_collections(collections, &analyzer)?);
    let mut shortest: BTreeMap<String, String> = BTreeMap::new();
    for word in candidates {
        let stem = analyzer.stem(&word);
        let has_pieces = vocabulary.encode_word(&word).is_some();
        if !is_word(&word) || !has_pieces || known.contains(&stem) {
            continue;
        }
        let best = shortest.entry(stem).or_insert_with(|| word.clone());
        if word.len() < best.len() {
            *best = word;
        }
    }
    let list: BTreeSet<&String> = shortest.values().collect();
    list.into_iter().for_each(|word| println!("{word}"));
    Ok(())
}

fn is_word(text: &str) -> bool {
    text.len() >= LEAST_LETTERS && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn words_of_collections(
    folders: &[String],
    analyzer: &Analyzer,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut collections: BTreeMap<String, usize> = BTreeMap::new();
    for folder in folders {
        let mut documents: BTreeMap<String, usize> = BTreeMap::new();
        for document in beir::load(Path::new(folder), None, "train")?.documents {
            let terms = analyzer.terms(&document.text).into_iter();
            let words = terms.filter(|term| term.kind == TermKind::Word);
            let words: BTreeSet<String> = words.map(|term| term.surface).collect();
            words
                .into_iter()
                .filter(|word| is_word(word))
                .for_each(|word| *documents.entry(word).or_default() += 1);
        }
        let frequent = documents
            .into_iter()
            .filter(|(_, count)| *count >= LEAST_DOCUMENTS);
        frequent.for_each(|(word, _)| *collections.entry(word).or_default() += 1);
    }
    let shared = collections
        .into_iter()
        .filter(|(_, count)| *count >= LEAST_COLLECTIONS);
    Ok(shared.map(|(word, _)| word).collect())
}
