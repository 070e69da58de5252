//! Phrases: what stands between double quotes in a query.

use super::{Analyzer, Stemming, Term, TermKind};
use std::ops::Range;

const QUOTES: [char; 6] = ['"', '“', '”', '„', '‟', '＂'];

/// Words that must follow each other as they are spelt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Its words in order, at least one; not stemmed. Spans are bytes of the query.
    pub words: Vec<Term>,
    /// Its chunks with symbols, which must stand there too.
    pub verbatims: Vec<Term>,
    /// What stands between the quotes, in bytes of the query.
    pub span: Range<usize>,
}

/// The phrases of a query, in order; a quote without a second one is ignored.
#[must_use]
pub fn phrases(query: &str) -> Vec<Phrase> {
    let mut quotes = query.match_indices(QUOTES);
    let mut phrases = Vec::new();
    while let (Some((open, quote)), Some((close, _))) = (quotes.next(), quotes.next()) {
        phrases.extend(phrase(query, open + quote.len()..close));
    }
    phrases
}

fn phrase(query: &str, span: Range<usize>) -> Option<Phrase> {
    let mut terms = Analyzer::new(Stemming::None).terms(&query[span.clone()]);
    for term in &mut terms {
        term.span = term.span.start + span.start..term.span.end + span.start;
    }
    terms.retain(|term| term.kind != TermKind::Part);
    let (words, verbatims): (Vec<Term>, _) = terms
        .into_iter()
        .partition(|term| term.kind == TermKind::Word);
    (!words.is_empty()).then_some(Phrase {
        words,
        verbatims,
        span,
    })
}

/// Whether a text has the phrase; `terms` are all terms of the text, with any stems.
#[must_use]
pub fn contains_phrase(terms: &[Term], phrase: &Phrase) -> bool {
    if let [word] = &phrase.words[..]
        && phrase.verbatims.is_empty()
    {
        return terms.iter().any(|term| term.surface == word.surface);
    }
    let words: Vec<&Term> = terms
        .iter()
        .filter(|term| term.kind == TermKind::Word)
        .collect();
    let mut places = words.windows(phrase.words.len().max(1));
    places.any(|place| is_phrase(place, terms, phrase))
}

fn is_phrase(place: &[&Term], terms: &[Term], phrase: &Phrase) -> bool {
    let (Some(first), Some(last)) = (place.first(), place.last()) else {
        return false;
    };
    let touches = |term: &Term| term.span.start < last.span.end && first.span.start < term.span.end;
    let has = |verbatim: &Term| {
        let mut found = terms.iter().filter(|term| term.text == verbatim.text);
        found.any(|term| term.kind != TermKind::Word && touches(term))
    };
    let same = place.iter().zip(&phrase.words);
    same.clone().all(|(a, b)| a.surface == b.surface) && phrase.verbatims.iter().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, query: &str) -> bool {
        let terms = Analyzer::new(Stemming::English).terms(text);
        let phrases = phrases(query);
        assert!(!phrases.is_empty(), "{query}");
        phrases.iter().all(|phrase| contains_phrase(&terms, phrase))
    }

    #[test]
    fn phrases_stand_between_quotes() {
        let texts = |query: &str| -> Vec<String> {
            let spans = phrases(query).into_iter().map(|phrase| phrase.span);
            spans.map(|span| query[span].to_owned()).collect()
        };
        assert_eq!(
            texts(r#"how "borrow checker" and “move semantics”"#),
            ["borrow checker", "move semantics"]
        );
        assert_eq!(texts("„das Ende“ \"\" \"…\" \"open"), ["das Ende"]);
        assert!(texts("it's 5\" wide").is_empty());
    }

    #[test]
    fn spans_are_those_of_the_query() {
        let query = "a “Größe von” b";
        for term in &phrases(query)[0].words {
            assert_eq!(super::super::fold(&query[term.span.clone()]), term.surface);
        }
    }

    #[test]
    fn words_must_follow_each_other_as_spelt() {
        let text = "The borrow-checker refuses RefCell borrows; run `cargo test --no-run` twice.";
        for phrase in [
            "\"borrow checker\"",
            "\"checker refuses refcell borrows\"",
            "\"Borrow-Checker\"",
            "\"cargo test --no-run twice\"",
            "\"no run\"",
            "\"checker\"",
            "\"cell\"",
        ] {
            assert!(found(text, phrase), "{phrase}");
        }
        for phrase in [
            "\"borrows checker\"",
            "\"checker borrow\"",
            "\"cell borrows\"",
            "\"borrow checker\" \"not there\"",
        ] {
            assert!(!found(text, phrase), "{phrase}");
        }
    }

    #[test]
    fn phrases_of_scripts_without_spaces_are_found_within_runs() {
        let text = "全文検索エンジンを使う";
        assert!(
            found(text, "\"検索エンジン\"") && found(text, "\"検\"") && found(text, "\"使う\"")
        );
        assert!(!found(text, "\"検索を使う\"") && !found(text, "\"索検\""));
    }
}
