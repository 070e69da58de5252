//! What a page's author says of it in `data-siskin-*` attributes, or in Pagefind's.
//!
//! `meta`, `default-meta`, `filter` and `sort` name values. Each holds items between commas:
//!
//! - `author`: the element's text is the value,
//! - `author[content]`: the attribute `content` of the element is the value,
//! - `author:Ada Lovelace`: what stands behind the colon is the value, commas too.
//!
//! They are read all over the page, also outside its content, but not within
//! `data-pagefind-ignore="all"`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use scraper::{ElementRef, Html, Selector, node::Element};
use siskin_core::page::{Attributes, Weight};

use super::content;
use crate::text;

/// Longest name and longest value that are kept, in bytes: what is longer is a mistake, such as an
/// image within its address.
const MOST_NAME_BYTES: usize = 64;
const MOST_VALUE_BYTES: usize = 500;
/// The value of `meta` that replaces the page's title.
const TITLE: &str = "title";

/// Our attribute and Pagefind's.
const META: [&str; 2] = ["data-siskin-meta", "data-pagefind-meta"];
const DEFAULT_META: [&str; 2] = ["data-siskin-default-meta", "data-pagefind-default-meta"];
const FILTER: [&str; 2] = ["data-siskin-filter", "data-pagefind-filter"];
const SORT: [&str; 2] = ["data-siskin-sort", "data-pagefind-sort"];
const WEIGHT: [&str; 2] = ["data-siskin-weight", "data-pagefind-weight"];

static NAMING: LazyLock<Option<Selector>> = LazyLock::new(|| {
    let names = [META, DEFAULT_META, FILTER, SORT];
    let selectors: Vec<String> = names
        .concat()
        .iter()
        .map(|name| format!("[{name}]"))
        .collect();
    Selector::parse(&selectors.join(",")).ok()
});

fn stated<'a>(element: &'a Element, names: [&str; 2]) -> Option<&'a str> {
    names.iter().find_map(|name| element.attr(name))
}

/// The weight that an element states for all that is in it; `None` too for what is no weight.
pub(super) fn weight(element: &Element) -> Option<Weight> {
    let weight = stated(element, WEIGHT)?.trim().parse().ok()?;
    Weight::of(weight)
}

/// What a page says of itself.
pub(super) struct Said {
    /// Its attributes.
    pub(super) attributes: Attributes,
    /// The title that it names as such.
    pub(super) title: Option<String>,
}

/// Reads what a page with this content says of itself.
pub(super) fn read(html: &Html, roots: &[ElementRef<'_>]) -> Said {
    let mut meta = image(roots);
    let mut said_meta = BTreeMap::new();
    let mut filters = BTreeSet::new();
    let mut sort = BTreeMap::new();
    let naming = NAMING.as_ref().map(|selector| html.select(selector));
    for element in naming
        .into_iter()
        .flatten()
        .filter(|element| !is_ignored(*element))
    {
        said_meta.extend(items(element, META));
        for (name, value) in items(element, DEFAULT_META) {
            meta.insert(name, value);
        }
        filters.extend(items(element, FILTER));
        for (name, value) in items(element, SORT) {
            sort.entry(name).or_insert(value);
        }
    }
    meta.extend(said_meta);
    let title = meta.remove(TITLE);
    let weight = roots.first().and_then(|root| {
        let around = root.ancestors().filter_map(ElementRef::wrap);
        let mut elements = std::iter::once(*root).chain(around);
        elements.find_map(|element| weight(element.value()))
    });
    let attributes = Attributes {
        meta: meta.into_iter().collect(),
        filters: filters.into_iter().collect(),
        sort: sort.into_iter().collect(),
        weight: weight.unwrap_or_default(),
    };
    Said { attributes, title }
}

fn is_ignored(element: ElementRef<'_>) -> bool {
    let around = element.ancestors().filter_map(ElementRef::wrap);
    let mut elements = std::iter::once(element).chain(around);
    elements.any(|element| element.attr("data-pagefind-ignore") == Some("all"))
}

/// The first picture of the content, as Pagefind takes it: `image` and `image_alt`.
fn image(roots: &[ElementRef<'_>]) -> BTreeMap<String, String> {
    let is_shown = |image: &ElementRef<'_>| {
        let around = image.ancestors().filter_map(ElementRef::wrap);
        !around
            .clone()
            .any(|element| content::is_stripped(element.value()))
    };
    let mut images = roots
        .iter()
        .flat_map(|root| root.descendent_elements())
        .filter(|element| element.value().name() == "img" && is_shown(element));
    let image = images.find_map(|image| {
        let source = image
            .attr("src")
            .filter(|source| fits(source, MOST_VALUE_BYTES) && !source.starts_with("data:"))?;
        Some((source, image.attr("alt").unwrap_or_default()))
    });
    let Some((source, alt)) = image else {
        return BTreeMap::new();
    };
    let alt = Some(text::collapse(alt)).filter(|alt| fits(alt, MOST_VALUE_BYTES));
    let alt = alt.map(|alt| ("image_alt".to_owned(), alt));
    std::iter::once(("image".to_owned(), source.to_owned()))
        .chain(alt)
        .collect()
}

fn fits(text: &str, most_bytes: usize) -> bool {
    (1..=most_bytes).contains(&text.len())
}

/// Names and values that an attribute of an element gives; those that are empty or too long are left
/// out.
fn items(element: ElementRef<'_>, names: [&str; 2]) -> Vec<(String, String)> {
    let mut items = Vec::new();
    let mut rest = stated(element.value(), names).unwrap_or_default();
    while !rest.is_empty() {
        let (item, after) = rest.split_at(end_of_item(rest));
        let value;
        (value, rest) = match after.strip_prefix(':') {
            Some(value) => (value.to_owned(), ""),
            None => (value_of(element, item), after.get(1..).unwrap_or_default()),
        };
        let name = item.split('[').next().unwrap_or_default();
        let (name, value) = (text::collapse(name), text::collapse(&value));
        if fits(&name, MOST_NAME_BYTES) && fits(&value, MOST_VALUE_BYTES) {
            items.push((name, value));
        }
    }
    items
}

/// Where the first item ends: at a comma or a colon outside brackets. A bracket that is not closed
/// before the next one opens is none.
fn end_of_item(items: &str) -> usize {
    let mut is_in_brackets = false;
    let mut characters = items.char_indices();
    let end = characters.find(|&(at, character)| {
        is_in_brackets = match character {
            '[' => {
                let next = items[at + 1..].find(['[', ']']);
                next.is_some_and(|next| items[at + 1 + next..].starts_with(']'))
            }
            ']' => false,
            _ => is_in_brackets,
        };
        !is_in_brackets && matches!(character, ',' | ':')
    });
    end.map_or(items.len(), |(at, _)| at)
}

/// The value of `name[attribute]`, or of `name`: the element's text.
fn value_of(element: ElementRef<'_>, item: &str) -> String {
    let attribute = item
        .split_once('[')
        .and_then(|(_, rest)| rest.trim_end().strip_suffix(']'));
    match attribute {
        Some(attribute) => element
            .attr(attribute.trim())
            .unwrap_or_default()
            .to_owned(),
        None => element.text().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(html: &str) -> Said {
        let html = Html::parse_document(html);
        let content = content::Content::of(&html);
        read(&html, &content.roots)
    }

    fn pairs(pairs: &[(String, String)]) -> Vec<String> {
        pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    #[test]
    fn values_are_texts_attributes_or_written_out() {
        let said = said(
            "<head><meta data-siskin-filter='author[content]' content='Ada'></head>\
             <body><p data-pagefind-filter='tag, kind[data-kind], area[xml:lang], place:Paris, Texas' data-kind=guide xml:lang=de> a  tag </p>\
             <main><h1>T</h1><time data-siskin-sort='date[datetime]' datetime=2024-05-01>May</time>\
             <p data-siskin-sort='date:later' data-siskin-meta='by:Ada'>x",
        );
        assert_eq!(
            pairs(&said.attributes.filters),
            [
                "area=de",
                "author=Ada",
                "kind=guide",
                "place=Paris, Texas",
                "tag=a tag"
            ]
        );
        assert_eq!(pairs(&said.attributes.sort), ["date=2024-05-01"]);
        assert_eq!(pairs(&said.attributes.meta), ["by=Ada"]);
    }

    #[test]
    fn a_bracket_that_is_never_closed_takes_no_item_along() {
        let said = said("<main><p data-siskin-filter='kind[data-kind, os:linux'>guide");
        assert_eq!(pairs(&said.attributes.filters), ["kind=guide", "os=linux"]);
        let said = self::said(
            "<main><p data-siskin-filter='kind[data-kind, os[data-os], area[xml:lang]' data-os=mac xml:lang=de>guide",
        );
        assert_eq!(
            pairs(&said.attributes.filters),
            ["area=de", "kind=guide", "os=mac"]
        );
    }

    #[test]
    fn filters_have_several_values_and_meta_the_last_one_before_any_default() {
        let said = said(
            "<main><p data-pagefind-filter=os>mac<p data-siskin-filter=os>linux\
             <p data-siskin-meta=by>Ada<p data-siskin-meta=by>Bea<p data-siskin-default-meta='by:Cy'>x",
        );
        assert_eq!(pairs(&said.attributes.filters), ["os=linux", "os=mac"]);
        assert_eq!(pairs(&said.attributes.meta), ["by=Bea"]);
    }

    #[test]
    fn what_is_ignored_altogether_says_nothing() {
        let said = said(
            "<main><div data-pagefind-ignore=all><p data-siskin-filter=os>mac</div>\
             <div data-pagefind-ignore><p data-siskin-filter=os>linux</div>",
        );
        assert_eq!(pairs(&said.attributes.filters), ["os=linux"]);
    }

    #[test]
    fn a_title_among_the_meta_is_the_pages_title() {
        let said = said("<main><h1>Page</h1><p data-siskin-meta=title>Name");
        assert_eq!(said.title.as_deref(), Some("Name"));
        assert!(said.attributes.meta.is_empty());
    }

    #[test]
    fn the_first_picture_of_the_content_is_taken_unless_its_address_is_the_picture() {
        let inline = format!("<img src='data:image/png;base64,{}'>", "A".repeat(600));
        let html = format!(
            "<img src=logo.png><main><nav><img src=menu.png></nav>{inline}<img src=a.png alt=' A  bird '><img src=b.png>"
        );
        assert_eq!(
            pairs(&said(&html).attributes.meta),
            ["image=a.png", "image_alt=A bird"]
        );
        let named = said("<main><img src=a.png><p data-siskin-meta='image:b.png'>x");
        assert_eq!(pairs(&named.attributes.meta), ["image=b.png"]);
    }

    #[test]
    fn empty_and_endless_names_and_values_are_left_out() {
        let long = "x".repeat(501);
        let said = said(&format!(
            "<main><p data-siskin-filter=', :v'>x<p data-siskin-filter='os'> \
             <p data-siskin-filter='os:{long}'>x<p data-siskin-filter='{long}:v'>x<p data-siskin-filter='os[no]'>x"
        ));
        assert!(
            said.attributes.filters.is_empty(),
            "{:?}",
            said.attributes.filters
        );
    }

    #[test]
    fn the_weight_of_a_page_is_stated_on_its_content_or_around_it() {
        let weight = |html: &str| said(html).attributes.weight.value();
        assert_eq!(weight("<main data-siskin-weight=2.5>x"), 2.5);
        assert_eq!(weight("<body data-pagefind-weight=' 0.5 '><main>x"), 0.5);
        assert_eq!(
            weight("<body data-pagefind-weight=3><main data-siskin-weight=0>x"),
            0.0
        );
        for none in ["11", "-1", "heavy", ""] {
            assert_eq!(
                weight(&format!("<main data-siskin-weight='{none}'>x")),
                1.0,
                "{none}"
            );
        }
        assert_eq!(weight("<main><p data-siskin-weight=4>x"), 1.0);
    }
}
