//! The shard of attributes: what pages can be chosen by, sorted by, and how much they count.
//!
//! ```text
//! varint values of filters; per value, in order: string filter, string value, posting list of the
//!   pages that have it (see `postings`)
//! varint sort keys; per key, in order: string name, posting list of the pages that have it, and
//!   per such page: varint rank of its value, equal values having the same
//! posting list of the pages whose weight is not 1; per such page: varint weight in hundredths
//! ```

use crate::bytes::{Reader, Result, Writer};
use crate::container::{self, Kind};
use crate::fields::{Fields, Reading};
use crate::page::{self, Weight};
use crate::text::primary_language;
use crate::{postings, top};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The filter that pages of a site with several languages have of themselves: the tag of each page's
/// language in lower case.
pub const LANGUAGE: &str = "language";
/// The weight that lower ones count as: their logarithm has no bound.
const LEAST_WEIGHT: f32 = 0.01;
/// Deepest nesting of conditions.
const MOST_NESTED: usize = 16;

/// Which pages are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Those that have a value of a filter.
    Is(FilterValue),
    /// Those that meet so many of these.
    Of(Rule, Vec<Self>),
}

/// How many of several conditions a page has to meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All of them.
    All,
    /// One at least, unless there is none.
    Any,
    /// None of them.
    None,
}

impl Rule {
    fn allows(self, met: usize, of: usize) -> bool {
        match self {
            Self::All => met == of,
            Self::Any => met > 0 || of == 0,
            Self::None => met == 0,
        }
    }
}

/// A value of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FilterValue {
    /// Name of the filter.
    pub filter: String,
    /// The value.
    pub value: String,
}

impl Condition {
    /// Reads `{filter, value}`, `{all: […]}`, `{any: […]}` or `{none: […]}`, one of them; what it is not is
    /// told by [`Reading::misfit`].
    #[must_use]
    pub fn read<F: Fields>(fields: &Reading<'_, F>) -> Self {
        Self::read_nested(fields, MOST_NESTED)
    }

    fn read_nested<F: Fields>(fields: &Reading<'_, F>, depth: usize) -> Self {
        if depth == 0 {
            fields.misfit("filter");
            return Self::Is(FilterValue::default());
        }
        let mut rules = Vec::new();
        for (name, rule) in [("all", Rule::All), ("any", Rule::Any), ("none", Rule::None)] {
            if let Some(parts) = fields.optional(name, Reading::objects) {
                let parts = parts.iter().map(|part| Self::read_nested(part, depth - 1));
                rules.push(Self::Of(rule, parts.collect()));
            }
        }
        // More than one in an object would leave open how they belong together.
        let value = fields.optional("filter", Reading::text);
        if rules.len() + usize::from(value.is_some()) > 1 {
            fields.misfit("filter");
        }
        if let Some(rule) = rules.pop() {
            return rule;
        }
        Self::Is(FilterValue {
            filter: fields.text("filter"),
            value: fields.text("value"),
        })
    }
}

/// What results are sorted by instead of their scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort<'a> {
    /// Name of the sort key.
    pub key: &'a str,
    /// Whether the largest value comes first. Pages without a value come last in both orders.
    pub descending: bool,
}

/// A value of a filter with the pages that have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facet {
    /// The filter and its value.
    #[serde(flatten)]
    pub value: FilterValue,
    /// Pages found that have it.
    pub found: usize,
    /// Pages of the site that have it.
    pub pages: usize,
}

/// Pages with the rank of their values under one sort key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SortKey {
    name: String,
    ranks: Vec<(u32, u32)>,
}

/// The attributes of a site's pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Values of filters in order, with the pages that have them.
    filters: Vec<(FilterValue, Vec<u32>)>,
    sort: Vec<SortKey>,
    weights: Vec<(u32, Weight)>,
}

impl Attributes {
    /// The attributes of pages in the site's order. Where pages state several languages, and none has a
    /// filter [`LANGUAGE`] of its own, they get one.
    #[must_use]
    pub fn of(pages: &[&page::Page]) -> Self {
        let numbered = || (0u32..).zip(pages.iter().copied());
        let mut filters: BTreeMap<(String, String), BTreeSet<u32>> = BTreeMap::new();
        let mut sort: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
        for (number, page) in numbered() {
            for pair in &page.attributes.filters {
                filters.entry(pair.clone()).or_default().insert(number);
            }
            for (name, value) in &page.attributes.sort {
                sort.entry(name).or_default().push((number, value));
            }
        }
        let has_own = filters.keys().any(|(name, _)| name == LANGUAGE);
        let languages = by_language(numbered());
        let tags = languages.keys().map(|(_, tag)| primary_language(tag));
        if tags.collect::<BTreeSet<_>>().len() > 1 && !has_own {
            filters.extend(languages);
        }
        let value = |((filter, value), pages): ((String, String), BTreeSet<u32>)| {
            (FilterValue { filter, value }, pages.into_iter().collect())
        };
        let weight = |(number, page): (u32, &page::Page)| (number, page.attributes.weight);
        Self {
            filters: filters.into_iter().map(value).collect(),
            sort: sort
                .into_iter()
                .map(|(name, values)| SortKey {
                    name: name.to_owned(),
                    ranks: ranks(&values),
                })
                .collect(),
            weights: numbered()
                .map(weight)
                .filter(|(_, weight)| *weight != Weight::default())
                .collect(),
        }
    }

    /// Whether pages have no attributes at all: no shard is written then.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty() && self.sort.is_empty() && self.weights.is_empty()
    }

    /// How many pages have a weight of their own.
    #[must_use]
    pub fn weighted_pages(&self) -> u32 {
        self.weights.len() as u32
    }

    /// How many values the filter [`LANGUAGE`] has.
    #[must_use]
    pub fn languages(&self) -> u32 {
        self.languages_of_pages().count() as u32
    }

    fn languages_of_pages(&self) -> impl Iterator<Item = (&str, &[u32])> {
        let languages = self
            .filters
            .iter()
            .filter(|(value, _)| value.filter == LANGUAGE);
        languages.map(|(value, pages)| (value.value.as_str(), pages.as_slice()))
    }

    /// The shard's file, deflated.
    #[must_use]
    pub fn write(&self, pages: u32) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.length(self.filters.len());
        for (FilterValue { filter, value }, list) in &self.filters {
            writer.string(filter);
            writer.string(value);
            postings::write(&mut writer, list, pages);
        }
        writer.length(self.sort.len());
        for key in &self.sort {
            writer.string(&key.name);
            write_numbers(&mut writer, &key.ranks, pages);
        }
        let weights: Vec<_> = self
            .weights
            .iter()
            .map(|&(page, weight)| (page, weight.hundredths().into()))
            .collect();
        write_numbers(&mut writer, &weights, pages);
        container::wrap_deflated(Kind::Attributes, &writer.into_bytes())
    }

    /// Reads the payload of a file of [`Attributes::write`].
    ///
    /// # Errors
    /// When the bytes are not such a payload.
    pub fn read(payload: &[u8], pages: u32) -> Result<Self> {
        let mut reader = Reader::new(payload);
        let mut all = Self::default();
        for _ in 0..reader.count(24)? {
            let (filter, value) = (reader.string()?.to_owned(), reader.string()?.to_owned());
            let list = postings::read(&mut reader, pages)?;
            all.filters.push((FilterValue { filter, value }, list));
        }
        for _ in 0..reader.count(16)? {
            let name = reader.string()?.to_owned();
            let ranks = read_numbers(&mut reader, pages)?;
            all.sort.push(SortKey { name, ranks });
        }
        for (page, hundredths) in read_numbers(&mut reader, pages)? {
            let weight = u16::try_from(hundredths)
                .ok()
                .and_then(Weight::of_hundredths);
            let weight = weight.ok_or_else(|| reader.damage("a weight that is none"))?;
            all.weights.push((page, weight));
        }
        reader.finish()?;
        Ok(all)
    }

    /// Which of so many pages meet a condition. What no page has, no page meets.
    #[must_use]
    pub fn meeting(&self, condition: &Condition, pages: usize) -> Vec<bool> {
        let mut met = vec![0; pages];
        match condition {
            Condition::Is(wanted) => {
                let mut values = self.filters.iter();
                let found = values.find(|(value, _)| value == wanted);
                for &page in found.map_or(&[][..], |(_, pages)| pages) {
                    met[page as usize] = 1;
                }
                met.iter().map(|&met| met == 1).collect()
            }
            Condition::Of(rule, parts) => {
                for part in parts {
                    for (met, meets) in met.iter_mut().zip(self.meeting(part, pages)) {
                        *met += usize::from(meets);
                    }
                }
                met.iter()
                    .map(|&met| rule.allows(met, parts.len()))
                    .collect()
            }
        }
    }

    /// The pages in the language of this tag, with those that state none; `None` where the site has
    /// other languages only. `de-AT` means `de-AT` and `de`, where there is no `de-AT` all whose first
    /// part is `de`; so does `de`.
    #[must_use]
    pub fn in_language(&self, tag: &str, pages: usize) -> Option<Vec<bool>> {
        let same = |known: &str| known.eq_ignore_ascii_case(tag);
        let exact = self.languages_of_pages().any(|(known, _)| same(known));
        let is_whole = |tag: &str| primary_language(tag).len() == tag.len();
        let is_meant = |known: &str| {
            let is_near = is_whole(known) || is_whole(tag) || !exact || same(known);
            is_near && primary_language(known).eq_ignore_ascii_case(primary_language(tag))
        };
        let mut wanted = vec![true; pages];
        let mut found = false;
        // A page may be in several languages: those that are meant have the last word.
        for meant in [false, true] {
            let languages = self.languages_of_pages();
            for (_, list) in languages.filter(|(known, _)| is_meant(known) == meant) {
                list.iter().for_each(|&page| wanted[page as usize] = meant);
                found |= meant;
            }
        }
        found.then_some(wanted)
    }

    /// Pages in the order of a sort key, those without a value last; pages that are equal keep their
    /// order.
    #[must_use]
    pub fn sorted(&self, order: &[u32], sort: Sort<'_>) -> Vec<u32> {
        let key = self.sort.iter().find(|key| key.name == sort.key);
        let ranks = key.map_or(&[][..], |key| &key.ranks);
        let rank = |page: u32| match ranks.binary_search_by_key(&page, |(page, _)| *page) {
            Ok(at) if sort.descending => (u32::MAX - 1).saturating_sub(ranks[at].1),
            Ok(at) => ranks[at].1,
            Err(_) => u32::MAX,
        };
        let places = (0..).zip(order).map(|(place, &page)| (place, rank(page)));
        let places = top::by_rank(places).into_iter();
        places.map(|place| order[place as usize]).collect()
    }

    /// Whether any page has a value of this sort key.
    #[must_use]
    pub fn has_sort_key(&self, name: &str) -> bool {
        self.sort.iter().any(|key| key.name == name)
    }

    /// Every value of every filter, and how many of the pages `found` have it.
    #[must_use]
    pub fn facets(&self, found: &[bool]) -> Vec<Facet> {
        let facet = |(value, pages): &(FilterValue, Vec<u32>)| Facet {
            value: value.clone(),
            found: pages.iter().filter(|page| found[**page as usize]).count(),
            pages: pages.len(),
        };
        self.filters.iter().map(facet).collect()
    }

    /// The values that a page has.
    #[must_use]
    pub fn filters_of(&self, page: u32) -> Vec<FilterValue> {
        let values = self.filters.iter();
        let its = values.filter(|(_, pages)| pages.binary_search(&page).is_ok());
        its.map(|(value, _)| value.clone()).collect()
    }
}

/// What is known of pages before a query is read: which of them it may find, and how much they count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    allowed: Option<Vec<bool>>,
    bonus: Vec<(u32, f32)>,
}

impl Choice {
    /// The choice among so many pages by a condition and the tag of a language, where these are given.
    pub(crate) fn of(
        attributes: &Attributes,
        condition: Option<&Condition>,
        language: Option<&str>,
        pages: usize,
    ) -> Self {
        let met = condition.map(|condition| attributes.meeting(condition, pages));
        let readable = language.and_then(|tag| attributes.in_language(tag, pages));
        let both = |met: Vec<bool>, readable: Vec<bool>| {
            met.iter()
                .zip(readable)
                .map(|(met, readable)| *met && readable)
                .collect()
        };
        let bonus = |(page, weight): &(u32, Weight)| (*page, weight.value().max(LEAST_WEIGHT).ln());
        Self {
            allowed: match (met, readable) {
                (Some(met), Some(readable)) => Some(both(met, readable)),
                (met, readable) => met.or(readable),
            },
            bonus: attributes.weights.iter().map(bonus).collect(),
        }
    }

    /// Whether a page may be found.
    pub(crate) fn allows(&self, page: u32) -> bool {
        let allowed = self.allowed.as_ref();
        allowed.is_none_or(|allowed| allowed[page as usize])
    }

    /// What pages get for their weight: its logarithm, as prior odds would count beside a sum of scores.
    pub(crate) fn bonus(&self) -> &[(u32, f32)] {
        &self.bonus
    }
}

/// Pages by the tags of their languages in lower case, as values of [`LANGUAGE`].
fn by_language<'a>(
    pages: impl Iterator<Item = (u32, &'a page::Page)>,
) -> BTreeMap<(String, String), BTreeSet<u32>> {
    let mut languages: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
    for (number, page) in pages {
        if let Some(tag) = &page.language {
            let value = (LANGUAGE.to_owned(), tag.to_ascii_lowercase());
            languages.entry(value).or_default().insert(number);
        }
    }
    languages
}

/// The rank of each page's value: by number if all values are numbers, else by text.
fn ranks(values: &[(u32, &str)]) -> Vec<(u32, u32)> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let numbers: Option<Vec<f64>> = values.iter().map(|(_, text)| number(text)).collect();
    let compare = |a: usize, b: usize| match &numbers {
        Some(numbers) => numbers[a].total_cmp(&numbers[b]),
        None => values[a].1.cmp(values[b].1),
    };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| compare(a, b));
    let mut ranks: Vec<(u32, u32)> = values.iter().map(|(page, _)| (*page, 0)).collect();
    let mut rank = 0;
    for pair in order.windows(2) {
        rank += u32::from(compare(pair[0], pair[1]).is_ne());
        ranks[pair[1]].1 = rank;
    }
    ranks
}

/// Pages in ascending order with a number each.
fn write_numbers(writer: &mut Writer, numbers: &[(u32, u32)], pages: u32) {
    let list: Vec<u32> = numbers.iter().map(|(page, _)| *page).collect();
    postings::write(writer, &list, pages);
    numbers
        .iter()
        .for_each(|(_, number)| writer.varint(*number));
}

fn read_numbers(reader: &mut Reader<'_>, pages: u32) -> Result<Vec<(u32, u32)>> {
    let list = postings::read(reader, pages)?;
    list.into_iter()
        .map(|page| Ok((page, reader.varint()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Page;
    use serde_json::json;
    use std::cell::Cell;

    fn page(language: &str, filters: &[(&str, &str)], date: &str, weight: f32) -> Page {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        let attributes = page::Attributes {
            filters: filters.iter().map(owned).collect(),
            sort: [("date", date)]
                .iter()
                .filter(|(_, date)| !date.is_empty())
                .map(owned)
                .collect(),
            weight: Weight::of(weight).unwrap(),
            ..Default::default()
        };
        let language = (!language.is_empty()).then(|| language.to_owned());
        Page {
            language,
            attributes,
            ..Default::default()
        }
    }

    fn site() -> Attributes {
        let pages = [
            page(
                "en",
                &[("kind", "guide"), ("os", "linux"), ("os", "mac")],
                "9",
                1.0,
            ),
            page("de-AT", &[("kind", "guide")], "10", 2.5),
            page("", &[("kind", "api"), ("os", "linux")], "", 0.0),
            page("en", &[], "9", 1.0),
        ];
        let written = Attributes::of(&pages.iter().collect::<Vec<_>>());
        let file = written.write(4);
        let payload = container::plain_payload("a", Kind::Attributes, &file).unwrap();
        let read = Attributes::read(&payload, 4).unwrap();
        assert_eq!(read, written);
        (0..payload.len()).for_each(|end| assert!(Attributes::read(&payload[..end], 4).is_err()));
        read
    }

    fn condition(json: serde_json::Value) -> Option<Condition> {
        let misfit = Cell::new(None);
        let condition = Condition::read(&Reading::new(json, &misfit));
        misfit.get().is_none().then_some(condition)
    }

    fn meeting(json: serde_json::Value) -> Vec<u32> {
        let met = site().meeting(&condition(json).unwrap(), 4);
        (0..)
            .zip(met)
            .filter_map(|(page, met)| met.then_some(page))
            .collect()
    }

    #[test]
    fn pages_are_chosen_by_conditions() {
        let is = |filter: &str, value: &str| json!({"filter": filter, "value": value});
        assert_eq!(meeting(is("kind", "guide")), [0, 1]);
        assert!(meeting(is("kind", "blog")).is_empty());
        assert!(meeting(is("colour", "red")).is_empty());
        let linux_guide = [is("kind", "guide"), is("os", "linux")];
        assert_eq!(meeting(json!({"all": linux_guide})), [0]);
        assert_eq!(meeting(json!({"any": linux_guide})), [0, 1, 2]);
        assert_eq!(meeting(json!({"none": linux_guide})), [3]);
        assert_eq!(
            meeting(json!({"all": [{"any": linux_guide}, {"none": [is("os", "mac")]}]})),
            [1, 2]
        );
        for empty in ["all", "any", "none"] {
            assert_eq!(meeting(json!({empty: []})), [0, 1, 2, 3], "{empty}");
        }
    }

    #[test]
    fn what_is_no_condition_is_told() {
        assert!(condition(json!({"filter": "kind"})).is_none());
        assert!(condition(json!({"any": "guide"})).is_none());
        assert!(condition(json!({"all": [], "none": []})).is_none());
        assert!(condition(json!({"filter": "kind", "value": "guide", "none": []})).is_none());
        let mut deep = json!({"all": []});
        for _ in 0..MOST_NESTED {
            deep = json!({"all": [deep]});
        }
        assert!(condition(deep).is_none());
    }

    #[test]
    fn facets_count_pages_found_and_pages_of_the_site() {
        let facets = site().facets(&[true, false, true, false]);
        let row =
            |Facet {
                 value,
                 found,
                 pages,
             }: &Facet| { format!("{}:{} {found}/{pages}", value.filter, value.value) };
        let rows: Vec<String> = facets.iter().map(row).collect();
        assert_eq!(
            rows,
            [
                "kind:api 1/1",
                "kind:guide 1/2",
                "language:de-at 0/1",
                "language:en 1/2",
                "os:linux 2/2",
                "os:mac 1/1"
            ]
        );
        let rows = site().filters_of(2).into_iter();
        let rows: Vec<_> = rows
            .map(|value| value.filter + ":" + &value.value)
            .collect();
        assert_eq!(rows, ["kind:api", "os:linux"]);
    }

    #[test]
    fn numbers_are_sorted_as_numbers_and_pages_without_one_come_last() {
        let sorted = |descending| {
            site().sorted(
                &[3, 2, 1, 0],
                Sort {
                    key: "date",
                    descending,
                },
            )
        };
        assert_eq!(sorted(false), [3, 0, 1, 2]);
        assert_eq!(sorted(true), [1, 3, 0, 2]);
        let other = Sort {
            key: "author",
            descending: true,
        };
        assert_eq!(site().sorted(&[3, 2, 1, 0], other), [3, 2, 1, 0]);
        let text = ranks(&[(0, "b"), (1, "10"), (2, "9"), (3, "b")]);
        assert_eq!(text, [(0, 2), (1, 0), (2, 1), (3, 2)]);
    }

    #[test]
    fn pages_of_a_language_are_those_of_its_tag_or_of_its_primary_language() {
        let site = site();
        let pages = |tag: &str| {
            let wanted = site.in_language(tag, 4)?;
            Some((0..4).filter(|&page| wanted[page]).collect::<Vec<_>>())
        };
        assert_eq!(pages("en"), Some(vec![0, 2, 3]));
        assert_eq!(pages("EN-gb"), Some(vec![0, 2, 3]));
        assert_eq!(pages("de-AT"), Some(vec![1, 2]));
        assert_eq!(pages("de"), Some(vec![1, 2]));
        assert_eq!(pages("fr"), None);
    }

    #[test]
    fn a_page_in_several_languages_is_found_in_each() {
        let both = page("", &[("language", "de"), ("language", "en")], "", 1.0);
        let site = Attributes::of(&[&both, &page("", &[("language", "en")], "", 1.0)]);
        assert_eq!(site.in_language("de", 2), Some(vec![true, false]));
        assert_eq!(site.in_language("en", 2), Some(vec![true, true]));
    }

    #[test]
    fn regions_of_one_language_are_told_apart_only_beside_each_other() {
        let tagged = |tags: &[&str]| {
            let pages: Vec<Page> = tags.iter().map(|tag| page(tag, &[], "", 1.0)).collect();
            Attributes::of(&pages.iter().collect::<Vec<_>>())
        };
        assert!(tagged(&["en", "en-US", "en_GB"]).is_empty());
        let site = tagged(&["en", "en-US", "en-GB", "de"]);
        let found = |tag| site.in_language(tag, 4).unwrap_or_default();
        assert_eq!(found("en"), [true, true, true, false]);
        assert_eq!(found("en-US"), [true, true, false, false]);
        assert_eq!(found("en-AU"), [true, true, true, false]);
        assert_eq!(found("de-CH"), [false, false, false, true]);
    }

    #[test]
    fn a_site_of_one_language_has_no_filter_of_languages() {
        let site = Attributes::of(&[&page("en", &[], "", 1.0), &page("en", &[], "", 1.0)]);
        assert!(site.is_empty() && site.languages() == 0);
    }

    #[test]
    fn weights_are_those_of_pages_that_have_one() {
        let weights: Vec<_> = site()
            .weights
            .iter()
            .map(|(page, weight)| (*page, weight.value()))
            .collect();
        assert_eq!(weights, [(1, 2.5), (2, 0.0)]);
        assert_eq!(
            [Weight::of(10.01), Weight::of(-0.1), Weight::of(f32::NAN)],
            [None; 3]
        );
    }
}
