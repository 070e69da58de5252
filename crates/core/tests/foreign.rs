//! Words that a site never uses, found by what they mean.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod site;

use siskin_core::search::{Engine, Mode, Query};
use siskin_core::text::Stemming;
use site::{PageWords, WORDS, ask, bundle_with_words};

/// The parts of `errand`, a word that the encoder knows, and what they mean here: *threads*.
const PARTS: [(&str, usize); 2] = [("er", THREADS), ("##rand", THREADS)];
const THREADS: usize = 4;
/// What `errand` itself means here.
const MUTEX: usize = 5;

/// Titles of the pages found for a question, best first.
fn found(text: &str, (stemming, mode): (Stemming, Mode), synonyms: &[(&str, &str)]) -> Vec<String> {
    let page = |word: usize| -> PageWords { vec![vec![word], vec![word, (word + 1) % 8]] };
    let pages: Vec<PageWords> = (0..8).map(page).collect();
    let words = [("errand", MUTEX)];
    let words = (&PARTS[..], &words[..]);
    let bundle = bundle_with_words(&pages, stemming, words, synonyms).unwrap();
    let mut engine = Engine::new(bundle.manifest.clone());
    let query = Query {
        text,
        mode,
        limit: 8,
        ..Query::default()
    };
    let (_, answer) = ask(&mut engine, &bundle, |engine| engine.search(&query)).unwrap();
    answer
        .results
        .into_iter()
        .map(|result| result.title)
        .collect()
}

/// The title of the best page for a question, if any.
fn best(text: &str, stemming: Stemming) -> Option<String> {
    found(text, (stemming, Mode::Table), &[]).into_iter().next()
}

#[test]
fn a_word_in_parts_finds_pages_of_its_own_meaning_not_of_its_parts() {
    assert_eq!(WORDS[MUTEX], "mutex");
    for text in ["errand", "errands"] {
        let found = best(text, Stemming::English);
        assert_eq!(found.as_deref(), Some("mutex"), "{text}");
    }
}

#[test]
fn a_word_of_another_language_or_one_that_nobody_knows_finds_nothing() {
    for (text, stemming) in [
        ("errand", Stemming::None),
        ("errandrand", Stemming::English),
    ] {
        assert_eq!(best(text, stemming), None, "{text}");
    }
}

#[test]
fn a_synonym_lends_its_pages_in_any_form_on_a_site_of_its_language() {
    let has_panic = |stemming, synonyms: &[(&str, &str)]| {
        let titles = found("kittens", (stemming, Mode::Words), synonyms);
        titles.iter().any(|title| title == "panic")
    };
    assert!(!has_panic(Stemming::English, &[]));
    assert!(has_panic(Stemming::English, &[("kitten", "panics")]));
    let titles = found(
        "kitten",
        (Stemming::None, Mode::Words),
        &[("kitten", "panic")],
    );
    assert!(
        !titles.is_empty() && !titles.contains(&"panic".to_owned()),
        "{titles:?}"
    );
}
