//! Why a passage answers a query, and the piece of text that shows it.

use crate::page::{Page, Passage};
use crate::query::{AnalyzedQuery, QueryWord, Relation, word_vector};
use crate::rows::Rows;
use crate::search::{Match, MatchKind};
use crate::site_rows::cosine;
use crate::text::{Analyzer, Stemming, Term, TermKind, is_stop_word};

/// Length of an excerpt, in characters.
const EXCERPT_CHARACTERS: usize = 240;
/// Characters shown before the first match.
const LEAD_CHARACTERS: usize = 60;
/// How alike a word must be to be named as the meaning of another (cosine of static rows).
const MIN_MEANING_SIMILARITY: f32 = 0.45;

/// Query words that a passage lacks whose meaning is sought in it, the first ones: each costs a pass
/// over the passage's words.
const MAX_MEANINGS_SOUGHT: usize = 24;

/// What a result shows beside its address.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// Matched words and meanings.
    pub matches: Vec<Match>,
    /// Text around the first match.
    pub excerpt: String,
}

/// Explains one passage of a page.
#[must_use]
pub fn passage(
    query: &AnalyzedQuery,
    page: &Page,
    passage: &Passage,
    stemming: Stemming,
    rows: Option<&Rows>,
) -> Explanation {
    let analyzer = Analyzer::new(stemming);
    let texts = std::iter::once(&passage.text)
        .chain(passage.headings.last())
        .chain(std::iter::once(&page.title));
    let fields: Vec<(&str, Vec<Term>)> = texts
        .map(|text| (text.as_str(), analyzer.terms(text)))
        .collect();
    let mut explanation = Explanation::default();
    let mut first_match = None;
    let mut meanings_left = MAX_MEANINGS_SOUGHT;
    for word in query
        .words
        .iter()
        .filter(|word| word.term.kind != TermKind::Part && !word.stop_word)
    {
        if let Some((found, position)) = best_match(word, &fields, rows, &mut meanings_left) {
            first_match = [first_match, position].into_iter().flatten().min();
            explanation.matches.push(found);
        }
    }
    explanation.excerpt = excerpt(&passage.text, first_match.unwrap_or_default());
    explanation
}

/// The passage's best answer to a query word, and where it stands if in the body.
fn best_match(
    word: &QueryWord,
    fields: &[(&str, Vec<Term>)],
    rows: Option<&Rows>,
    meanings_left: &mut usize,
) -> Option<(Match, Option<usize>)> {
    let same = fields
        .iter()
        .enumerate()
        .find_map(|(field, (text, terms))| {
            let term = terms.iter().find(|term| term.text == word.term.text)?;
            Some((field, &text[term.span.clone()], term.span.start))
        });
    let (kind, found) = match same {
        Some(found) => (MatchKind::Word, Some(found)),
        None => {
            *meanings_left = meanings_left.checked_sub(1)?;
            (MatchKind::Meaning, nearest(word, fields, rows?))
        }
    };
    let (field, text, start) = found?;
    let query = word.term.surface.clone();
    Some((
        Match {
            kind,
            query,
            text: text.to_owned(),
        },
        (field == 0).then_some(start),
    ))
}

/// The word of the passage that is nearest in meaning to a word that the passage lacks.
fn nearest<'a>(
    word: &QueryWord,
    fields: &[(&'a str, Vec<Term>)],
    rows: &Rows,
) -> Option<(usize, &'a str, usize)> {
    if word.term.kind != TermKind::Word || word.relation == Relation::Completion {
        return None;
    }
    let own = word_vector(&word.term.surface, rows)?;
    let mut best = (MIN_MEANING_SIMILARITY, None);
    for (field, (text, terms)) in fields.iter().enumerate() {
        for term in terms.iter().filter(|term| can_explain(term)) {
            let similarity =
                word_vector(&term.surface, rows).map_or(0.0, |vector| cosine(&own, &vector));
            if similarity > best.0 {
                best = (
                    similarity,
                    Some((field, &text[term.span.clone()], term.span.start)),
                );
            }
        }
    }
    best.1
}

fn can_explain(term: &Term) -> bool {
    term.kind == TermKind::Word
        && !is_stop_word(&term.surface)
        && term.surface.chars().all(char::is_alphabetic)
}

/// At most [`EXCERPT_CHARACTERS`] of `text` around byte `position`, cut between words.
fn excerpt(text: &str, position: usize) -> String {
    let start = start_of_excerpt(text, position);
    let end = text[start..]
        .char_indices()
        .nth(EXCERPT_CHARACTERS)
        .map_or(text.len(), |(offset, _)| start + offset);
    let end = if end < text.len() {
        last_space(&text[start..end]).map_or(end, |space| start + space)
    } else {
        end
    };
    let before = if start > 0 { "… " } else { "" };
    let after = if end < text.len() { " …" } else { "" };
    format!(
        "{before}{}{after}",
        text[start..end]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    )
}

fn start_of_excerpt(text: &str, position: usize) -> usize {
    let mut back = text[..position].char_indices().rev();
    let lead = back.nth(LEAD_CHARACTERS).map_or(0, |(offset, _)| offset);
    if lead == 0 || text.chars().count() <= EXCERPT_CHARACTERS {
        return 0;
    }
    text[lead..position]
        .find(char::is_whitespace)
        .map_or(position, |space| lead + space)
}

fn last_space(text: &str) -> Option<usize> {
    text.rfind(char::is_whitespace).filter(|space| *space > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::{Lexical, LexicalBuilder, LexicalOptions};
    use crate::rows;

    #[test]
    fn excerpts_are_cut_between_words_around_the_match() {
        let text = "word ".repeat(40) + "needle " + &"tail ".repeat(80);
        let excerpt = excerpt(&text, text.find("needle").unwrap());
        assert!(
            excerpt.starts_with("… word") && excerpt.ends_with("tail …"),
            "{excerpt}"
        );
        assert!(excerpt.contains("needle") && excerpt.chars().count() <= EXCERPT_CHARACTERS + 4);
    }

    #[test]
    fn short_texts_are_shown_whole() {
        assert_eq!(excerpt("Ünïcode text", 9), "Ünïcode text");
    }

    #[test]
    fn of_many_words_the_first_are_sought_by_meaning() {
        let words: Vec<String> = ('a'..='z').map(|c| format!("foreign{c}")).collect();
        let mut pieces = words.clone();
        pieces.push("local".to_owned());
        let same_rows = vec![1.0; pieces.len()];
        let file = rows::write(&pieces, 1, &same_rows, &[]);
        let rows = Rows::read("r", &file).unwrap();
        let local = Passage {
            text: "local".to_owned(),
            ..Passage::default()
        };
        let site = LexicalBuilder::new(LexicalOptions::default(), Stemming::None).write();
        let site = Lexical::read("l", &site).unwrap();
        let query = AnalyzedQuery::new(&words.join(" "), &site, Some(&rows)).unwrap();
        let page = Page::default();
        let explanation = super::passage(&query, &page, &local, Stemming::None, Some(&rows));
        assert_eq!(explanation.matches.len(), MAX_MEANINGS_SOUGHT);
    }
}
