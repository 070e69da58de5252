//! The `words` step: rows for words that an encoder's vocabulary has only in parts.
//!
//! The sum of the rows of *red* and *##raw* does not say what *redraw* means. The network knows: a word's own
//! sentence vector is brought into the space of static rows by the linear map that brings the sentence vectors of the
//! vocabulary's whole words closest to their rows. An English site uses these rows for words that readers ask and it
//! never uses itself.
//!
//! Rewritten are `rows.safetensors`, which gets the tensors `words.text`, `words.rows` and `words.scale`, and
//! `encoder.json`, whose hash is the encoder's id: indexes made before belong to the older one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use serde_json::json;
use siskin_core::rows::GenericRows;
use siskin_core::text::{MAX_TERM_BYTES, fold};
use siskin_core::wordpiece::Vocabulary;
use siskin_encoder::{Encoder, ROWS_FILE as ROWS};

use crate::export::{Rewritten, Student};
use crate::linear::Map;
use crate::rows::vector::{dot, norm};
use crate::rows::{pack, progress};

/// Words that readers of English documentation use and that BERT's vocabulary has only in parts, one of each stem, a
/// line each (`crates/eval/examples/word_list.rs`).
const ENGLISH: &str = include_str!("english.txt");

/// Arguments of `siskin-train words`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Encoder folder, exported with rows; rows of words that it has are made anew.
    pub encoder: PathBuf,
    /// Words, a line each, best one of each stem; only sites of English use them [default: 8,512 that readers of
    /// documentation use].
    #[arg(long)]
    pub words: Option<PathBuf>,
    /// Encoder folders that read queries for ENCODER and shall go on to.
    #[arg(long, num_args = 1..)]
    pub students: Vec<PathBuf>,
}

/// Runs the step; see [`Args`].
///
/// # Errors
/// When the encoder has no rows or is altered, the list holds something else than words, or a student reads queries for
/// another encoder: everything then stands as it was. When a folder cannot be moved or a student not written, after all
/// else is in place: the same command mends that.
pub fn run(args: &Args) -> Result<()> {
    let (name, text) = match &args.words {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            let name = path.display().to_string();
            (
                name.clone(),
                text.with_context(|| format!("cannot read {name}"))?,
            )
        }
        None => ("the list of English words".to_owned(), ENGLISH.to_owned()),
    };
    let listed = words_of(&text).with_context(|| format!("{name} is no list of words"))?;
    let encoder = Encoder::open(&args.encoder)?;
    let generic = encoder.generic_rows()?;
    let students: Vec<Student> = args
        .students
        .iter()
        .map(|folder| Student::read(folder))
        .collect::<Result<_>>()?;
    let rows = WordRows::of(&encoder, &generic, &listed)?;
    let left_out = listed.len() - rows.words.len();
    crate::say!(
        "{} words; {left_out} left out, which the vocabulary has whole or cannot build",
        rows.words.len()
    );
    rewritten(&args.encoder, &rows)?.put_in_place(students)
}

/// The words of a list in order.
fn words_of(list: &str) -> Result<Vec<&str>> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (word, line) in list.lines().zip(1..) {
        let is_word = (1..=MAX_TERM_BYTES).contains(&word.len())
            && word.chars().all(char::is_alphabetic)
            && fold(word) == word;
        ensure!(
            is_word,
            "line {line}: {word:?} is no word as queries are read: letters alone, in lower case, without accents, one \
             word a line, {MAX_TERM_BYTES} bytes at most"
        );
        if let Some(first) = lines.insert(word, line) {
            anyhow::bail!("line {line}: {word:?} is on line {first} already");
        }
    }
    ensure!(!lines.is_empty(), "it is empty");
    Ok(lines.into_keys().collect())
}

/// Words with their rows.
struct WordRows<'a> {
    dim: usize,
    words: Vec<&'a str>,
    rows: pack::PackedRows,
    /// Words of the vocabulary that the map was fitted on, …
    fitted_on: usize,
    /// … and the mean cosine of their images to their rows.
    cosine: f32,
}

impl<'a> WordRows<'a> {
    fn of(encoder: &Encoder, generic: &GenericRows, listed: &[&'a str]) -> Result<Self> {
        let dim = generic.dim;
        let pieces = encoder.vocabulary();
        let whole = |(piece, row): (&'_ String, &[f32])| {
            let is_word = piece.chars().count() > 1 && piece.chars().all(char::is_alphabetic);
            (is_word && norm(row) > 0.0).then(|| (piece.clone(), row.to_vec()))
        };
        let rows = generic.static_rows.chunks(dim.max(1));
        let (known, rows): (Vec<String>, Vec<Vec<f32>>) =
            pieces.iter().zip(rows).filter_map(whole).unzip();
        ensure!(
            !known.is_empty(),
            "the vocabulary has no word of letters alone: nothing tells how rows of words look"
        );
        let vectors = vectors(encoder, "words of the vocabulary", &known)?;
        let map = Map::fit(
            &vectors.concat(),
            &rows.concat(),
            &vec![1.0; known.len()],
            dim,
        );
        let cosines = vectors.iter().zip(&rows).map(|(vector, row)| {
            let image = map.apply(vector);
            dot(&image, row) / (norm(&image) * norm(row)).max(f32::MIN_POSITIVE)
        });
        let cosine = cosines.sum::<f32>() / known.len() as f32;
        let vocabulary = Vocabulary::new(pieces);
        let in_parts = |word: &&str| {
            let pieces = vocabulary.encode_word(word);
            pieces.is_some_and(|pieces| pieces.len() > 1)
        };
        let words: Vec<&str> = listed.iter().copied().filter(in_parts).collect();
        ensure!(
            !words.is_empty(),
            "the vocabulary has every listed word whole or cannot build it: nothing to add"
        );
        let own = self::vectors(encoder, "words in parts", &words)?;
        let images: Vec<Vec<f32>> = own.iter().map(|vector| map.apply(vector)).collect();
        Ok(Self {
            dim,
            words,
            rows: pack::pack(&images.concat(), dim),
            fitted_on: known.len(),
            cosine,
        })
    }
}

/// What the encoder says of each text: `[dim]`.
fn vectors<T: AsRef<str> + Sync>(
    encoder: &Encoder,
    name: &str,
    texts: &[T],
) -> Result<Vec<Vec<f32>>> {
    let bar = progress(name, texts.len() as u64)?;
    let vector = |text: &T| {
        let query = encoder.encode_query(text.as_ref())?;
        bar.inc(1);
        Ok(query.dense)
    };
    let vectors = texts.par_iter().map(vector).collect();
    bar.finish();
    vectors
}

/// The encoder in `path` with these rows of words.
fn rewritten(path: &Path, rows: &WordRows<'_>) -> Result<Rewritten> {
    let is_word = |name: &str| name.starts_with(pack::WORDS);
    let mut tensors = pack::read_all_but(&path.join(ROWS), is_word)?;
    tensors.extend(pack::word_tensors(&rows.words, &rows.rows, rows.dim));
    let made = json!({
        "words": rows.words.len(), "fitted_on": rows.fitted_on, "mean_cosine": rows.cosine,
    });
    Rewritten::new(path, (ROWS, &pack::bytes(&tensors)?), ("words", made))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use siskin_core::text::{Analyzer, Stemming};

    use super::*;

    #[test]
    fn english_words_are_in_order_and_one_of_each_stem() {
        let words = words_of(ENGLISH).unwrap();
        assert_eq!(words, ENGLISH.lines().collect::<Vec<_>>());
        let analyzer = Analyzer::new(Stemming::English);
        let stems: HashSet<String> = words.iter().map(|word| analyzer.stem(word)).collect();
        assert_eq!(stems.len(), words.len());
        let is_word = |word: &&str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
        assert!(words.iter().all(is_word));
    }

    #[test]
    fn a_list_of_something_else_is_refused_by_line() {
        for (list, reason) in [
            ("errand\n\nredraw", "line 2: \"\" is no word"),
            ("errand\nRedraw", "line 2: \"Redraw\" is no word"),
            ("to do", "line 1: \"to do\" is no word"),
            ("straße", "line 1: \"straße\" is no word"),
            (
                "redraw\nerrand\nredraw",
                "line 3: \"redraw\" is on line 1 already",
            ),
            ("", "it is empty"),
        ] {
            let error = words_of(list).unwrap_err().to_string();
            assert!(error.contains(reason), "{list:?}: {error}");
        }
    }
}
