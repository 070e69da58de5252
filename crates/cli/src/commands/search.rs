//! `siskin search`: a question to a bundle.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use console::style;
use serde::Serialize;
use siskin_core::attributes::{Condition, Facet, FilterValue, Rule, Sort};
use siskin_core::encoded::EncodedQuery;
use siskin_core::manifest::Manifest;
use siskin_core::search::{Engine, Match, MatchKind, Mode, Query, SearchResult};
use siskin_encoder::Encoder;

use super::Outcome;
use crate::arguments::SearchArguments;
use crate::bundle::BundleFolder;
use crate::talk::{self, Talk, harmless};

/// Runs the command; nothing found counts as a problem, as in grep.
pub fn run(arguments: &SearchArguments) -> Result<Outcome> {
    let answer = answer(arguments)?;
    if arguments.printing.json {
        talk::print_json(&answer)?;
    } else {
        talk::print(&answer.text(arguments.explain))?;
        Talk::new(arguments.printing.quiet).remark(&answer.remark());
    }
    match answer.results.is_empty() {
        true => Ok(Outcome::Problems),
        false => Ok(Outcome::Done),
    }
}

fn answer(arguments: &SearchArguments) -> Result<Answer<'_>> {
    let bundle = BundleFolder::open(&arguments.bundle)?;
    let mut engine = Engine::new(bundle.manifest.clone());
    let filter = condition(&arguments.filter);
    let query = Query {
        text: &arguments.query,
        mode: arguments.mode,
        first: arguments.first,
        limit: arguments.limit,
        sections: arguments.sections,
        filter: filter.as_ref(),
        sort: arguments.sort.as_deref().map(sort),
        language: arguments.language.as_deref(),
        facets: arguments.facets,
        encoded: None,
    };
    let encoder = match arguments.mode {
        Mode::Words | Mode::Table => None,
        Mode::Full => {
            refuse_unanswerable(&bundle, &mut engine, &query)?;
            Some(encoder(&bundle, arguments.encoder.as_deref())?)
        }
    };
    let started = Instant::now();
    let encoded = encoder.map(|encoder| encode(&encoder, &arguments.query));
    let encoded = encoded.transpose()?;
    let query = Query {
        encoded: encoded.as_ref(),
        ..query
    };
    let found = bundle.ask(&mut engine, |engine| engine.search(&query))?;
    if found.results.is_empty() {
        refuse_unknown(&bundle, &mut engine, &arguments.filter)?;
    }
    Ok(Answer {
        query: &arguments.query,
        mode: arguments.mode,
        took_ms: (started.elapsed().as_secs_f64() * 1e6).round() / 1e3,
        first: arguments.first,
        total: found.total,
        results: found.results,
        suggestions: found.suggestions,
        facets: found.facets,
    })
}

/// The condition that all filters are met, each by one of its values.
fn condition(filters: &[(String, String)]) -> Option<Condition> {
    let mut by_name: BTreeMap<&str, Vec<Condition>> = BTreeMap::new();
    for (filter, value) in filters {
        by_name
            .entry(filter)
            .or_default()
            .push(Condition::Is(FilterValue {
                filter: filter.clone(),
                value: value.clone(),
            }));
    }
    let any = by_name
        .into_values()
        .map(|any| Condition::Of(Rule::Any, any));
    (!filters.is_empty()).then(|| Condition::Of(Rule::All, any.collect()))
}

fn sort(text: &str) -> Sort<'_> {
    let largest_first = text.strip_prefix('-');
    Sort {
        key: largest_first.unwrap_or(text),
        descending: largest_first.is_some(),
    }
}

/// Fails for a query that no mode answers, before the encoder is opened for it.
fn refuse_unanswerable(
    bundle: &BundleFolder,
    engine: &mut Engine,
    query: &Query<'_>,
) -> Result<()> {
    let query = Query {
        mode: Mode::Words,
        first: 0,
        limit: 1,
        ..*query
    };
    bundle.ask(engine, |engine| engine.search(&query))?;
    Ok(())
}

/// Fails for a filter that no page has. A value that no page has finds nothing, as it may tomorrow.
fn refuse_unknown(
    bundle: &BundleFolder,
    engine: &mut Engine,
    filters: &[(String, String)],
) -> Result<()> {
    if filters.is_empty() {
        return Ok(());
    }
    let all = Condition::Of(Rule::All, Vec::new());
    let query = Query {
        text: "",
        mode: Mode::Words,
        limit: 1,
        filter: Some(&all),
        facets: true,
        ..Query::default()
    };
    let answer = bundle.ask(engine, |engine| engine.search(&query))?;
    let names: BTreeSet<String> = answer
        .facets
        .into_iter()
        .map(|facet| facet.value.filter)
        .collect();
    let Some((unknown, _)) = filters.iter().find(|(name, _)| !names.contains(name)) else {
        return Ok(());
    };
    let names: Vec<String> = names.into_iter().collect();
    match names.is_empty() {
        true => bail!("no page has a filter, so none `{unknown}`"),
        false => bail!(
            "no page has a filter `{unknown}`; there are: {}",
            names.join(", ")
        ),
    }
}

/// The encoder given, or the bundle's own; it must be one that the index answers.
///
/// # Errors
/// When it cannot be opened or is another one.
pub(super) fn encoder(bundle: &BundleFolder, given: Option<&Path>) -> Result<Encoder> {
    let folder = given.map_or_else(|| bundle.encoder_folder(), Path::to_owned);
    let encoder = Encoder::open_for_queries(folder)?;
    let passages = &encoder.manifest().queries_for;
    Manifest::check_encoder(
        &bundle.manifest,
        passages.as_deref().unwrap_or(encoder.id()),
    )?;
    Ok(encoder)
}

fn encode(encoder: &Encoder, query: &str) -> Result<EncodedQuery> {
    Ok(encoder.encode_query(query)?)
}

/// The result of `--json`.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    query: &'a str,
    mode: Mode,
    took_ms: f64,
    /// Results that were passed over.
    #[serde(skip)]
    first: usize,
    /// Pages found, of which the results are some.
    total: usize,
    results: Vec<SearchResult>,
    /// Words that may have been meant.
    suggestions: Vec<String>,
    /// The values of the site's filters, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    facets: Vec<Facet>,
}

impl Answer<'_> {
    fn text(&self, explain: bool) -> String {
        let numbered = self.results.iter().zip(self.first + 1..);
        let entry = |(result, rank)| entry(rank, result, explain);
        let entries = numbered.map(entry);
        entries
            .chain(self.facets_text())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// `kind: guide 3 of 7`, a line for each value of a filter.
    fn facets_text(&self) -> Option<String> {
        let line = |Facet {
                        value,
                        found,
                        pages,
                    }: &Facet| {
            let value = format!("{}: {}", value.filter, value.value);
            format!("{} {found} of {pages}\n", harmless(&value))
        };
        let lines: String = self.facets.iter().map(line).collect();
        (!lines.is_empty()).then_some(lines)
    }

    fn remark(&self) -> String {
        let (mode, took_ms) = (self.mode, self.took_ms);
        match self.results.len() {
            0 if self.suggestions.is_empty() => {
                format!("no results for this query in mode {mode}; try other or fewer words")
            }
            0 => format!(
                "no results for this query in mode {mode}; did you mean {}?",
                harmless(&self.suggestions.join(", "))
            ),
            1 => format!("1 result in {took_ms:.1} ms ({mode})"),
            count => format!("{count} results in {took_ms:.1} ms ({mode})"),
        }
    }
}

/// One result as people read it.
fn entry(rank: usize, result: &SearchResult, explain: bool) -> String {
    let title = match result.heading.is_empty() {
        true => result.title.clone(),
        false => format!("{} › {}", result.title, result.heading),
    };
    let mut entry = format!(
        "{rank}. {}\n   {}\n   {}\n",
        style(harmless(&title)).bold(),
        style(harmless(&result.url)).cyan(),
        marked(&harmless(&result.excerpt), &result.matches),
    );
    for section in result
        .sections
        .iter()
        .filter(|section| section.url != result.url)
    {
        entry += &format!(
            "   - {}  {}\n",
            harmless(&section.heading),
            style(harmless(&section.url)).cyan()
        );
    }
    if explain {
        entry += &format!("   {}\n", explanation(result));
    }
    entry
}

/// Why a result was found: `score 2.10; threads = thread; safely ≈ safe`.
fn explanation(result: &SearchResult) -> String {
    let matches = result.matches.iter().map(|found| {
        let sign = match found.kind {
            MatchKind::Word => "=",
            MatchKind::Meaning => "≈",
        };
        harmless(&format!("{} {sign} {}", found.query, found.text))
    });
    let score = std::iter::once(format!("score {:.2}", result.score));
    score.chain(matches).collect::<Vec<_>>().join("; ")
}

/// `text` with the matched words in yellow, if stdout is a terminal.
fn marked(text: &str, matches: &[Match]) -> String {
    let mut marked = String::new();
    let mut end = 0;
    for range in occurrences(text, matches) {
        marked += &text[end..range.start];
        marked += &style(&text[range.clone()]).yellow().bold().to_string();
        end = range.end;
    }
    marked + &text[end..]
}

/// Where matched words stand in `text` as whole words: in order, none overlapping another.
fn occurrences(text: &str, matches: &[Match]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = matches
        .iter()
        .filter(|found| !found.text.is_empty())
        .flat_map(|found| text.match_indices(&found.text))
        .map(|(start, word)| start..start + word.len())
        .filter(|range| is_whole_word(text, range))
        .collect();
    found.sort_by_key(|range| (range.start, usize::MAX - range.end));
    let mut end = 0;
    found.retain(|range| {
        let is_free = range.start >= end;
        end = if is_free { range.end } else { end };
        is_free
    });
    found
}

fn is_whole_word(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].chars().next_back();
    let after = text[range.end..].chars().next();
    ![before, after]
        .into_iter()
        .flatten()
        .any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Match {
        Match {
            kind: MatchKind::Word,
            query: text.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn whole_words_are_found_once_and_the_longest_wins() {
        let text = "Rc and Arc: Rc<RefCell<T>> in über-Rc, Überrc";
        let found = occurrences(text, &[word("Rc"), word("Rc<RefCell<T>>"), word("")]);
        let words: Vec<_> = found.into_iter().map(|range| &text[range]).collect();
        assert_eq!(words, ["Rc", "Rc<RefCell<T>>", "Rc"]);
    }

    #[test]
    fn explanations_tell_words_and_meanings_apart() {
        let meaning = Match {
            kind: MatchKind::Meaning,
            query: "abort".to_owned(),
            text: "cancel".to_owned(),
        };
        let result = SearchResult {
            meta: Vec::new(),
            filters: Vec::new(),
            url: "/a#b".to_owned(),
            title: "A".to_owned(),
            heading: "B".to_owned(),
            excerpt: "cancel a\u{1b}[2J job".to_owned(),
            score: 1.5,
            matches: vec![word("job"), meaning],
            sections: Vec::new(),
        };
        assert_eq!(
            explanation(&result),
            "score 1.50; job = job; abort ≈ cancel"
        );
        assert!(!entry(1, &result, true).contains("\u{1b}[2J"));
    }
}
