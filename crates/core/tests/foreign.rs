//! Words that a site never uses, found by what they mean.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod site;

use siskin_core::search::{Engine, Mode, Query};
use siskin_core::text::Stemming;
use site::{PageWords, WORDS, ask, bundle_with_pieces};

/// The parts of `errand`, a word of the list of English words, and what they mean here: *mutex*.
const PARTS: [(&str, usize); 2] = [("er", MUTEX), ("##rand", MUTEX)];
const MUTEX: usize = 5;

/// The title of the best page for a question, if any.
fn best(text: &str, stemming: Stemming, parts: &[(&str, usize)]) -> Option<String> {
    let page = |word: usize| -> PageWords { vec![vec![word], vec![word, (word + 1) % 8]] };
    let pages: Vec<PageWords> = (0..8).map(page).collect();
    let bundle = bundle_with_pieces(&pages, stemming, parts).unwrap();
    let mut engine = Engine::new(bundle.manifest.clone());
    let query = Query {
        text,
        mode: Mode::Table,
        limit: 3,
        ..Query::default()
    };
    let (_, answer) = ask(&mut engine, &bundle, |engine| engine.search(&query)).unwrap();
    let best = answer.results.into_iter().next()?;
    Some(best.title)
}

#[test]
fn an_english_word_of_several_pieces_finds_pages_of_like_meaning() {
    assert_eq!(WORDS[MUTEX], "mutex");
    for text in ["errand", "errands"] {
        let found = best(text, Stemming::English, &PARTS);
        assert_eq!(found.as_deref(), Some("mutex"), "{text}");
    }
}

#[test]
fn what_is_no_english_word_or_has_no_pieces_finds_nothing() {
    for (text, stemming, parts) in [
        ("errand", Stemming::None, &PARTS[..]),
        ("errand", Stemming::English, &PARTS[..1]),
        ("errandrand", Stemming::English, &PARTS[..]),
    ] {
        assert_eq!(best(text, stemming, parts), None, "{text}");
    }
}
