//! The questions of `tests/mismatch` are what its README says they are.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test's helpers may fail it"
)]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use siskin_core::page::Page;
use siskin_core::text::{Analyzer, Stemming, TermKind, is_stop_word};
use siskin_extract::site;

const SITES: [&str; 3] = ["rust-book", "opensearch", "react"];
/// Questions over all sites, at least.
const LEAST_QUESTIONS: usize = 150;
/// Verbs and the like that say as little as function words, beside those of the engine's own list.
const SAYS_LITTLE: [&str; 68] = [
    "again",
    "another",
    "anyone",
    "anything",
    "around",
    "away",
    "back",
    "both",
    "each",
    "else",
    "even",
    "ever",
    "everyone",
    "everything",
    "few",
    "first",
    "get",
    "give",
    "go",
    "got",
    "keep",
    "last",
    "let",
    "like",
    "make",
    "many",
    "may",
    "might",
    "more",
    "most",
    "much",
    "must",
    "need",
    "never",
    "new",
    "nothing",
    "now",
    "one",
    "other",
    "own",
    "part",
    "please",
    "possible",
    "put",
    "rather",
    "real",
    "really",
    "right",
    "same",
    "say",
    "see",
    "show",
    "some",
    "something",
    "still",
    "such",
    "thing",
    "time",
    "try",
    "two",
    "use",
    "very",
    "want",
    "way",
    "well",
    "whatever",
    "whole",
    "yet",
];
/// Questions of one page, at most.
const MOST_OF_A_PAGE: usize = 2;

fn folder(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests")
        .join(path)
}

/// Questions with the ids of their pages, the one that they were written for first.
fn questions(name: &str) -> Vec<(String, String)> {
    let folder = folder("mismatch").join(name);
    let texts: HashMap<String, String> = fs::read_to_string(folder.join("queries.jsonl"))
        .unwrap()
        .lines()
        .map(|line| {
            let query: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| query[key].as_str().unwrap().to_owned();
            (text("_id"), text("text"))
        })
        .collect();
    let judgments = fs::read_to_string(folder.join("qrels/dev.tsv")).unwrap();
    let mut lines = judgments.lines();
    assert_eq!(lines.next(), Some("query-id\tcorpus-id\tscore"));
    let found: Vec<(String, String)> = lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            assert_eq!((fields.len(), fields[2]), (3, "1"), "{name}: {line}");
            (texts[fields[0]].clone(), fields[1].to_owned())
        })
        .collect();
    let judged: HashSet<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(
        judged.len(),
        texts.len(),
        "{name}: each question has a page"
    );
    found
}

/// Stems of the words that say something.
fn stems(text: &str, analyzer: &Analyzer) -> HashSet<String> {
    let words = analyzer.terms(text).into_iter();
    words
        .filter(|term| term.kind == TermKind::Word && !is_stop_word(&term.surface))
        .filter(|term| {
            !SAYS_LITTLE.contains(&term.surface.as_str())
                && !SAYS_LITTLE.contains(&term.text.as_str())
        })
        .map(|term| term.text)
        .collect()
}

#[test]
fn there_are_enough_questions_and_no_page_has_many() {
    let mut count = 0;
    let mut seen = HashSet::new();
    for name in SITES {
        let mut of_page: HashMap<String, usize> = HashMap::new();
        for (text, page) in questions(name) {
            if seen.insert(text) {
                count += 1;
                *of_page.entry(page).or_default() += 1;
            }
        }
        let most = of_page.values().max().copied().unwrap_or_default();
        assert!(
            most <= MOST_OF_A_PAGE,
            "{name}: {most} questions of one page"
        );
    }
    assert!(count >= LEAST_QUESTIONS, "{count}");
}

#[test]
fn questions_about_the_rust_book_are_in_other_words_than_their_pages() {
    let analyzer = Analyzer::new(Stemming::English);
    let pages = site::pages(&folder("sites/rust-book"), |_| {})
        .unwrap()
        .pages;
    let by_id: HashMap<&str, &Page> = pages
        .iter()
        .map(|page| {
            (
                page.url.trim_start_matches('/').trim_end_matches(".html"),
                page,
            )
        })
        .collect();
    let all = questions("rust-book");
    let mut share = 0.0;
    for (text, id) in &all {
        let page = by_id
            .get(id.as_str())
            .unwrap_or_else(|| panic!("no page {id}"));
        let passages = page.passages.iter();
        let headings: Vec<&str> = passages
            .clone()
            .flat_map(|passage| passage.headings.iter().map(String::as_str))
            .chain([page.title.as_str()])
            .collect();
        let texts: Vec<&str> = passages.map(|passage| passage.text.as_str()).collect();
        let asked = stems(text, &analyzer);
        let in_headings = stems(&headings.join("\n"), &analyzer);
        let shared: Vec<&String> = asked.intersection(&in_headings).collect();
        assert!(shared.is_empty(), "{text}: {shared:?} in headings of {id}");
        let on_page = stems(&texts.join("\n"), &analyzer);
        let met = asked.intersection(&on_page).count();
        // The page as it was rendered has words that its source has not, such as code and labels of examples.
        share += met as f64 / asked.len().max(1) as f64 / all.len() as f64;
    }
    assert!(share <= 1.0 / 3.0, "{share} of the words are on the pages");
}
