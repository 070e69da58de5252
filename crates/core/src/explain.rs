//! Which passage of a page answers a query, why, and the piece of text that shows it.

use crate::page::{Page, Passage};
use crate::query::{AnalyzedQuery, QueryWord};
use crate::search::{Match, MatchKind};
use crate::text::{Analyzer, Term, TermKind};

/// Length of an excerpt, in characters.
const EXCERPT_CHARACTERS: usize = 240;
/// Characters shown before the first match.
const LEAD_CHARACTERS: usize = 60;
/// What a word in the passage's own heading counts, against one in its text.
const HEADING_WEIGHT: f32 = 2.0;
/// What a word's neighbour counts, times their cosine.
const NEIGHBOUR_WEIGHT: f32 = 0.7;
/// How much all words of the query count against a deviation of the dense score, when the passage
/// of a page is chosen.
const WORDS_WEIGHT: f32 = 3.0;

/// What a result shows beside its address.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// Matched words and meanings.
    pub matches: Vec<Match>,
    /// Text around the first match.
    pub excerpt: String,
}

/// The passage of a page that answers best: by the query's words in it and its dense score.
/// `dense` gives the score of a passage in deviations.
#[must_use]
pub fn best_passage(
    query: &AnalyzedQuery,
    page: &Page,
    analyzer: &Analyzer,
    dense: impl Fn(usize) -> f32,
) -> usize {
    let mut best = (f32::NEG_INFINITY, 0);
    for (at, passage) in page.passages.iter().enumerate() {
        let score = WORDS_WEIGHT * words_share(query, passage, analyzer) + dense(at);
        if score > best.0 {
            best = (score, at);
        }
    }
    best.1
}

/// Which share of the query's words, by rarity, a passage has: 0 to [`HEADING_WEIGHT`].
fn words_share(query: &AnalyzedQuery, passage: &Passage, analyzer: &Analyzer) -> f32 {
    let terms = |text: &str| -> Vec<String> {
        let terms = analyzer.terms(text).into_iter();
        terms.map(|term| term.text).collect()
    };
    let text = terms(&passage.text);
    let heading = passage
        .headings
        .last()
        .map(|heading| terms(heading))
        .unwrap_or_default();
    let (mut found, mut all) = (0.0, 0.0);
    for word in &query.words {
        let weight = word.lists.iter().map(|(list, weight)| list.scale * weight);
        let weight = weight.fold(0.0, f32::max);
        let share = |terms: &[String]| share_of_word(word, terms, analyzer);
        all += weight;
        found += weight * (HEADING_WEIGHT * share(&heading)).max(share(&text));
    }
    if all > 0.0 { found / all } else { 0.0 }
}

/// 1 when a word is among terms, less when one of its neighbours is, else 0.
fn share_of_word(word: &QueryWord, terms: &[String], analyzer: &Analyzer) -> f32 {
    if word.terms.iter().any(|term| terms.contains(term)) {
        return 1.0;
    }
    let neighbours = word
        .meaning
        .iter()
        .flat_map(|(meaning, _)| &meaning.neighbours);
    let near = neighbours.filter(|(near, _)| terms.contains(&analyzer.stem(near)));
    near.map(|(_, cosine)| NEIGHBOUR_WEIGHT * cosine)
        .fold(0.0, f32::max)
}

/// Explains one passage of a page.
#[must_use]
pub fn passage(
    query: &AnalyzedQuery,
    page: &Page,
    passage: &Passage,
    analyzer: &Analyzer,
) -> Explanation {
    let texts = std::iter::once(&passage.text)
        .chain(passage.headings.last())
        .chain(std::iter::once(&page.title));
    let fields: Vec<(&str, Vec<Term>)> = texts
        .map(|text| (text.as_str(), analyzer.terms(text)))
        .collect();
    let mut explanation = Explanation::default();
    let mut first_match = None;
    for word in query
        .words
        .iter()
        .filter(|word| word.term.kind != TermKind::Part && !word.stop_word)
    {
        if let Some((found, position)) = best_match(word, &fields, analyzer) {
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
    analyzer: &Analyzer,
) -> Option<(Match, Option<usize>)> {
    let find = |is_match: &dyn Fn(&Term) -> bool| {
        fields
            .iter()
            .enumerate()
            .find_map(|(field, (text, terms))| {
                let term = terms.iter().find(|term| is_match(term))?;
                Some((field, &text[term.span.clone()], term.span.start))
            })
    };
    let same = find(&|term| term.text == word.term.text || word.terms.contains(&term.text));
    let neighbours = word
        .meaning
        .iter()
        .flat_map(|(meaning, _)| &meaning.neighbours);
    let near = || {
        neighbours.clone().find_map(|(near, _)| {
            let stem = analyzer.stem(near);
            find(&|term| term.kind == TermKind::Word && term.text == stem)
        })
    };
    let (kind, found) = match same {
        Some(found) => (MatchKind::Word, found),
        None => (MatchKind::Meaning, near()?),
    };
    let (field, text, start) = found;
    let found = Match {
        kind,
        query: word.term.surface.clone(),
        text: text.to_owned(),
    };
    Some((found, (field == 0).then_some(start)))
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
    use crate::dictionary::Meaning;
    use crate::lists::PageList;
    use crate::query::Relation;
    use crate::text::Stemming;

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

    fn word(text: &str, neighbours: &[&str]) -> QueryWord {
        let analyzer = Analyzer::new(Stemming::None);
        let neighbours = neighbours.iter().map(|near| ((*near).to_owned(), 0.6));
        let meaning = Meaning {
            neighbours: neighbours.collect(),
            ..Meaning::default()
        };
        QueryWord {
            term: analyzer.terms(text).remove(0),
            relation: Relation::Exact,
            terms: vec![text.to_owned()],
            lists: vec![(PageList::of_scores(vec![(0, 1.0)]), 1.0)],
            meaning: Some((meaning, 1.0)),
            stop_word: false,
        }
    }

    fn page(texts: &[&str]) -> Page {
        let passages = texts.iter().map(|text| Passage {
            text: (*text).to_owned(),
            ..Passage::default()
        });
        Page {
            passages: passages.collect(),
            ..Page::default()
        }
    }

    #[test]
    fn words_and_meanings_are_told_apart() {
        let query = AnalyzedQuery {
            words: vec![word("request", &[]), word("stop", &["cancel", "abort"])],
            ..AnalyzedQuery::default()
        };
        let page = page(&["To Abort a request"]);
        let analyzer = Analyzer::new(Stemming::None);
        let found = passage(&query, &page, &page.passages[0], &analyzer).matches;
        let expected = |kind, query: &str, text: &str| Match {
            kind,
            query: query.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(found[0], expected(MatchKind::Word, "request", "request"));
        assert_eq!(found[1], expected(MatchKind::Meaning, "stop", "Abort"));
    }

    #[test]
    fn the_passage_with_the_words_is_chosen_unless_another_means_them() {
        let query = AnalyzedQuery {
            words: vec![word("needle", &[])],
            ..AnalyzedQuery::default()
        };
        let page = page(&["hay", "a needle", "hay"]);
        let analyzer = Analyzer::new(Stemming::None);
        assert_eq!(best_passage(&query, &page, &analyzer, |_| 0.0), 1);
        let dense = |at| if at == 2 { 9.0 } else { 0.0 };
        assert_eq!(best_passage(&query, &page, &analyzer, dense), 2);
    }
}
