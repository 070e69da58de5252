//! What a query gives: pages in order, and what of each is shown.

use super::loaded::{Loaded, shard};
use super::{Engine, Query};
use crate::attributes::{Attributes, Facet, FilterValue};
use crate::container::Kind;
use crate::explain::{PageTerms, Sought};
use crate::manifest::Windows;
use crate::page::Page;
use crate::ranked::Ranked;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// One page found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchResult {
    /// Address within the site with the passage's anchor, begins with `/`.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Innermost heading of the passage; empty when it stands below the title itself.
    pub heading: String,
    /// Plain text around the first match.
    pub excerpt: String,
    /// Fused score: comparable within one query only.
    pub score: f32,
    /// Why it was found.
    pub matches: Vec<Match>,
    /// What its author says of the page, by name.
    #[serde(serialize_with = "as_map")]
    pub meta: Vec<(String, String)>,
    /// The page's values of filters; none unless facets were asked for.
    pub filters: Vec<FilterValue>,
    /// Sections of the page that answer, best first, the one shown above among them; none unless
    /// they were asked for.
    pub sections: Vec<Section>,
}

/// Names with values as an object of that many keys.
fn as_map<S: Serializer>(
    pairs: &[(String, String)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// A section of a page found: what stands below one heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Address within the site with the section's anchor.
    pub url: String,
    /// The section's own heading; empty above the page's first.
    pub heading: String,
    /// Plain text around the first match.
    pub excerpt: String,
    /// Why it answers.
    pub matches: Vec<Match>,
}

/// What links the query with the passage shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// Same word, or same meaning.
    pub kind: MatchKind,
    /// The query's word.
    pub query: String,
    /// The passage's word, as it stands there.
    pub text: String,
}

/// How a [`Match`] came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchKind {
    /// The same word in some form.
    Word,
    /// Another word with nearly the same meaning.
    Meaning,
}

/// The answer to a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// Pages found, from which `first` and `limit` choose; with phrases in quotes, which only a
    /// page's text can confirm, at most so many.
    pub total: usize,
    /// Best first.
    pub results: Vec<SearchResult>,
    /// Words that the reader may have meant instead of those that the site does not know.
    pub suggestions: Vec<String>,
    /// All values of the site's filters with what was found; none unless they were asked for.
    pub facets: Vec<Facet>,
}

/// Pages that are sorted by a key instead of their scores, the best ones.
const MOST_SORTED: usize = 50;

/// What a passage gets that has a phrase in quotes, when the passage of a page is chosen: more than
/// all words and any dense score.
const QUOTED_BONUS: f32 = 100.0;

impl Engine {
    pub(super) fn result(
        &self,
        page: u32,
        (record, terms): (&Page, &PageTerms),
        sought: &Sought<'_>,
        ranked: &Ranked,
        query: &Query<'_>,
    ) -> Option<SearchResult> {
        let sections = query.sections;
        let quoted = match &ranked.quoted {
            None => None,
            Some((quoted, _)) => Some(quoted.passages(record, &self.analyzer)?),
        };
        let windows = ranked.windows_of(page);
        let rule = Windows {
            window: self.manifest.window,
            page_windows: self.manifest.page_windows,
        };
        let window = rule.as_written(record.passages.len(), windows.len());
        let dense = |passage: usize| {
            let score = windows.get(passage / window);
            let quoted = quoted.as_ref().and_then(|quoted| quoted.get(passage));
            let bonus = f32::from(u8::from(quoted.copied().unwrap_or_default())) * QUOTED_BONUS;
            score.copied().unwrap_or_default() + bonus
        };
        let best = sought.best_passages(record, terms, dense, sections.max(1));
        let mut answering = best
            .into_iter()
            .map(|passage| section(record, passage, sought, terms));
        let shown = answering.next()?;
        let rest = answering.filter(|section| !section.matches.is_empty());
        let all = std::iter::once(shown.clone()).chain(rest);
        Some(SearchResult {
            title: record.title.clone(),
            score: ranked.scores.pages[page as usize],
            sections: all.take(sections).collect(),
            url: shown.url,
            heading: shown.heading,
            excerpt: shown.excerpt,
            matches: shown.matches,
            meta: record.attributes.meta.clone(),
            filters: match query.facets {
                true => self.filters_of(page),
                false => Vec::new(),
            },
        })
    }

    fn filters_of(&self, page: u32) -> Vec<FilterValue> {
        match self.loaded.get(&shard(Kind::Attributes, 0)) {
            Some(Loaded::Attributes(attributes)) => attributes.filters_of(page),
            _ => Vec::new(),
        }
    }
}

/// Pages found.
pub(super) struct Ordered<'a> {
    /// As they are wanted, as far as they are.
    pub(super) order: Vec<u32>,
    /// Which pages of the site are found.
    pub(super) found: Cow<'a, [bool]>,
    /// How many these are.
    pub(super) total: usize,
}

/// The pages found in the order that is wanted. By a sort key come the best pages only: a question finds
/// every page that has to do with it at all, and those would come first by chance. By a key that no page
/// has nothing is sorted.
pub(super) fn order<'a>(
    ranked: &'a Ranked,
    query: &Query<'_>,
    attributes: Option<&Attributes>,
) -> Ordered<'a> {
    let end = query.first.saturating_add(query.limit);
    let found = &ranked.scores.found;
    let sort = query.sort.zip(attributes);
    let Some((sort, attributes)) = sort.filter(|(sort, all)| all.has_sort_key(sort.key)) else {
        return Ordered {
            order: ranked.order(end),
            found: found.into(),
            total: ranked.scores.count(),
        };
    };
    let most = match ranked.query.words.is_empty() {
        true => found.len(),
        false => MOST_SORTED,
    };
    let best = ranked.order(most);
    let mut is_best = vec![false; found.len()];
    best.iter().for_each(|&page| is_best[page as usize] = true);
    Ordered {
        order: attributes.sorted(&best, sort),
        found: is_best.into(),
        total: best.len(),
    }
}

/// The section of a page that a passage stands in, as that passage shows it.
fn section(page: &Page, passage: usize, sought: &Sought<'_>, terms: &PageTerms) -> Section {
    let explanation = sought.explain(page, passage, terms);
    let passage = page.passages.get(passage);
    let anchor = passage.and_then(|passage| passage.anchor.as_ref());
    let anchor = anchor.map(|anchor| format!("#{}", fragment(anchor)));
    let heading = passage.and_then(|passage| passage.headings.last());
    Section {
        url: format!("{}{}", page.url, anchor.unwrap_or_default()),
        heading: heading.cloned().unwrap_or_default(),
        excerpt: explanation.excerpt,
        matches: explanation.matches,
    }
}

/// An anchor as the fragment of an address: what RFC 3986, section 3.5, does not allow there is
/// percent-encoded.
fn fragment(anchor: &str) -> String {
    let mut fragment = String::with_capacity(anchor.len());
    for byte in anchor.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            fragment.push(char::from(byte));
        } else {
            fragment.push_str(&format!("%{byte:02X}"));
        }
    }
    fragment
}
