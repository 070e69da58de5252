//! WordNet's files (its manual's wndb(5)): for each word what its senses name beside it.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};

/// The files of each part of speech.
const PARTS: [&str; 4] = ["noun", "verb", "adj", "adv"];
/// Senses of a word in each part of speech, the most frequent first, that count.
const SENSES: usize = 8;
/// What a sense counts less than the one before: 1 / (1 + this · rank).
const LESS_A_SENSE: f32 = 0.3;
/// What words of a broader, narrower, similar or see-also sense count against those of the same.
const RELATED: f32 = 0.5;
/// Pointers to a broader sense, a similar one and another to see.
const POINTERS: [&str; 3] = ["@", "&", "^"];

/// Per word other words, each with how near: above 0, 1 = a synonym in a part of speech's first sense.
pub type Near = HashMap<String, HashMap<String, f32>>;

/// A set of synonyms.
#[derive(Debug)]
struct Synset {
    words: Vec<String>,
    /// Offsets of senses related to it within the same part of speech.
    related: Vec<String>,
}

/// Reads `data.*` and `index.*` of WordNet's folder `dict`.
///
/// # Errors
/// When a file cannot be read, or a line is none of WordNet's.
pub fn read(dict: &Path) -> Result<Near> {
    let mut near = Near::new();
    for part in PARTS {
        let synsets = synsets(dict, part)?;
        for_each_line(&dict.join(format!("index.{part}")), |line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let senses: usize = fields.get(2)?.parse().ok()?;
            let offsets = fields.get(fields.len().checked_sub(senses)?..)?;
            if is_word(fields[0]) {
                let word = near.entry(fields[0].to_owned()).or_default();
                add_senses(word, fields[0], offsets, &synsets)?;
            }
            Some(())
        })?;
    }
    near.retain(|_, words| !words.is_empty());
    Ok(near)
}

/// The release that a folder says it is, as `WordNet 3.1`; empty if it says nothing.
///
/// # Errors
/// When `data.noun` cannot be read.
pub fn release(dict: &Path) -> Result<String> {
    let text = text(&dict.join("data.noun"))?;
    let licence = text.lines().take_while(|line| line.starts_with(' '));
    let release = licence.filter_map(|line| {
        let (release, _) = line.split_once(" Copyright ")?;
        Some(release[release.find("WordNet ")?..].to_owned())
    });
    Ok(release.last().unwrap_or_default())
}

/// Adds what the senses at `offsets` name beside `word`.
fn add_senses(
    near: &mut HashMap<String, f32>,
    word: &str,
    offsets: &[&str],
    synsets: &HashMap<String, Synset>,
) -> Option<()> {
    for (rank, offset) in (0u8..).zip(offsets.iter().take(SENSES)) {
        let weight = 1.0 / (1.0 + LESS_A_SENSE * f32::from(rank));
        let sense = synsets.get(*offset)?;
        let mut add = |synset: &Synset, weight: f32| {
            for other in synset.words.iter().filter(|other| *other != word) {
                let known = near.entry(other.clone()).or_default();
                *known = known.max(weight);
            }
        };
        add(sense, weight);
        for related in &sense.related {
            add(synsets.get(related)?, RELATED * weight);
        }
    }
    Some(())
}

/// The synsets of a part of speech by their offset; each related to those that point to it, too.
fn synsets(dict: &Path, part: &str) -> Result<HashMap<String, Synset>> {
    let mut synsets = HashMap::new();
    for_each_line(&dict.join(format!("data.{part}")), |line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let count = usize::from(u8::from_str_radix(fields.get(3)?, 16).ok()?);
        let words = fields.get(4..4 + 2 * count)?.chunks(2);
        let words = words
            .map(|word| lemma(word[0]))
            .filter(|word| is_word(word));
        let pointers = usize::from(fields.get(4 + 2 * count)?.parse::<u16>().ok()?);
        let first = 5 + 2 * count;
        let pointers = fields.get(first..first + 4 * pointers)?.chunks(4);
        let tags = match part {
            "noun" => ["n", "n"],
            "verb" => ["v", "v"],
            "adj" => ["a", "s"],
            _ => ["r", "r"],
        };
        let related =
            pointers.filter(|pointer| POINTERS.contains(&pointer[0]) && tags.contains(&pointer[2]));
        let synset = Synset {
            words: words.collect(),
            related: related.map(|pointer| pointer[1].to_owned()).collect(),
        };
        synsets.insert(fields[0].to_owned(), synset);
        Some(())
    })?;
    let pairs: Vec<(String, String)> = synsets
        .iter()
        .flat_map(|(offset, synset)| synset.related.iter().map(|to| (to.clone(), offset.clone())))
        .collect();
    for (to, from) in pairs {
        if let Some(synset) = synsets.get_mut(&to)
            && !synset.related.contains(&from)
        {
            synset.related.push(from);
        }
    }
    Ok(synsets)
}

/// Calls `each` with every line but those of the licence, which begin with spaces; it returns `None` for one that is
/// none of WordNet's.
fn for_each_line(path: &Path, mut each: impl FnMut(&str) -> Option<()>) -> Result<()> {
    let name = path.display();
    for (line, number) in text(path)?.lines().zip(1..) {
        if !line.starts_with(' ') {
            each(line).with_context(|| {
                format!("{name}, line {number}, is none of WordNet's: fetch the database again")
            })?;
        }
    }
    Ok(())
}

fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| {
        let name = path.display();
        format!("cannot read {name}: --wordnet is the folder `dict` of WordNet's database")
    })
}

/// A word without its syntactic marker, in lower case: `galore(ip)`.
fn lemma(word: &str) -> String {
    let end = word.find('(').unwrap_or(word.len());
    word[..end].to_lowercase()
}

fn is_word(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `dict` with these nouns and no other word.
    fn dict(data: &str, index: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for part in PARTS {
            let files = if part == "noun" {
                (data, index)
            } else {
                ("", "")
            };
            std::fs::write(folder.path().join(format!("data.{part}")), files.0).unwrap();
            std::fs::write(folder.path().join(format!("index.{part}")), files.1).unwrap();
        }
        folder
    }

    const DATA: &str = "  1 This software and database is being provided to you\n\
        \x20 2 WordNet 3.1 Copyright 2011 by Princeton University.\n\
        00001 04 n 02 errand 0 Job 0 001 @ 00002 n 0000 | a short trip\n\
        00002 04 n 02 task 0 piece_of_work 0 000 | work to do\n\
        00003 04 n 02 mission 0 errand 1 002 ^ 00009 v 0000 + 00002 n 0000 | a special assignment\n";
    const INDEX: &str = "  1 This software and database is being provided to you\n\
        errand n 2 1 @ 2 0 00001 00003\n\
        task n 1 1 ~ 1 0 00002\n";

    #[test]
    fn synonyms_count_by_their_sense_and_broader_and_narrower_words_half() {
        let dict = dict(DATA, INDEX);
        assert_eq!(release(dict.path()).unwrap(), "WordNet 3.1");
        let near = read(dict.path()).unwrap();
        let expected = |words: &[(&str, f32)]| {
            let words = words.iter().map(|&(word, near)| (word.to_owned(), near));
            words.collect::<HashMap<_, _>>()
        };
        let errand = expected(&[("job", 1.0), ("task", 0.5), ("mission", 1.0 / 1.3)]);
        assert_eq!(near["errand"], errand);
        assert_eq!(near["task"], expected(&[("errand", 0.5), ("job", 0.5)]));
        assert_eq!(near.len(), 2);
    }

    #[test]
    fn other_files_are_refused_by_line() {
        for (data, index, reason) in [
            ("errand\n", INDEX, "data.noun, line 1, is none"),
            (
                DATA,
                "errand n 2 1 @ 2 0 00001\n",
                "index.noun, line 1, is none",
            ),
            (
                DATA,
                "errand n 1 1 @ 1 0 00009\n",
                "index.noun, line 1, is none",
            ),
        ] {
            let error = format!("{:#}", read(dict(data, index).path()).unwrap_err());
            assert!(error.contains(reason), "{error}");
        }
        let empty = tempfile::tempdir().unwrap();
        let error = format!("{:#}", read(empty.path()).unwrap_err());
        assert!(
            error.contains("data.noun: --wordnet is the folder"),
            "{error}"
        );
    }
}
