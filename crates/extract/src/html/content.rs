//! Which part of a page is its content, and what within it is furniture.

use std::sync::LazyLock;

use scraper::{ElementRef, Html, Selector, node::Element};

/// Where generators put the content, the surest first: our own and Pagefind's attributes; Sphinx
/// (furo, pydata); MkDocs Material; Docusaurus; mdBook 0.5; then what HTML itself offers.
const CONTENT: [&str; 11] = [
    "[data-siskin-body]",
    "[data-pagefind-body]",
    "article#furo-main-content, article.bd-article, article.md-content__inner",
    "main article",
    "#mdbook-content main",
    "[role=main]",
    "main",
    "article",
    "#content",
    "body",
    "html",
];

const STRIPPED_TAGS: [&str; 22] = [
    "nav",
    "footer",
    "script",
    "style",
    "template",
    "noscript",
    "head",
    "svg",
    "canvas",
    "iframe",
    "object",
    "video",
    "audio",
    "button",
    "input",
    "select",
    "textarea",
    "dialog",
    "datalist",
    "annotation",
    "rp",
    "map",
];

/// Links that generators put beside headings, line numbers, copy buttons' labels, lines of code
/// that the page hides, and text meant for the ear alone.
const STRIPPED_CLASSES: [&str; 12] = [
    "headerlink",
    "header-anchor",
    "hash-link",
    "sl-anchor-link",
    "anchor-link",
    "linenos",
    "line-numbers-wrapper",
    "boring",
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "skip-link",
];

const STRIPPED_ATTRIBUTES: [&str; 2] = ["data-siskin-ignore", "data-pagefind-ignore"];

/// Classes of an `<aside>` that belongs to the text: notes and warnings.
const NOTE_CLASSES: [&str; 4] = ["starlight-aside", "admonition", "callout", "note"];

static SELECTORS: LazyLock<Vec<Selector>> = LazyLock::new(|| {
    CONTENT
        .iter()
        .filter_map(|css| Selector::parse(css).ok())
        .collect()
});

/// The elements that hold the page's content: all outermost matches of the first selector that
/// matches, in the page's order.
pub(super) fn roots(html: &Html) -> Vec<ElementRef<'_>> {
    SELECTORS
        .iter()
        .map(|selector| outermost(html, selector))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn outermost<'a>(html: &'a Html, selector: &Selector) -> Vec<ElementRef<'a>> {
    let mut found: Vec<ElementRef<'a>> = Vec::new();
    for element in html.select(selector) {
        let nested = found
            .last()
            .is_some_and(|last| element.ancestors().any(|above| above.id() == last.id()));
        if !nested {
            found.push(element);
        }
    }
    found
}

/// Whether an element and everything in it is left out.
pub(super) fn is_stripped(element: &Element) -> bool {
    STRIPPED_TAGS.contains(&element.name())
        || STRIPPED_ATTRIBUTES
            .iter()
            .any(|name| element.attr(name).is_some())
        || element.attr("aria-hidden") == Some("true")
        || matches!(element.attr("role"), Some("navigation" | "search"))
        || element
            .classes()
            .any(|class| STRIPPED_CLASSES.contains(&class))
        || (element.name() == "aside" && !is_note(element))
}

fn is_note(aside: &Element) -> bool {
    aside.attr("role") == Some("note") || aside.classes().any(|class| NOTE_CLASSES.contains(&class))
}

/// Whether a link leads into its own page and shows only a sign such as `#`, `§` or `↩`.
pub(super) fn is_bare_anchor(element: ElementRef<'_>) -> bool {
    element.value().name() == "a"
        && element
            .attr("href")
            .is_some_and(|href| href.starts_with('#'))
        && !element
            .text()
            .any(|text| text.chars().any(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_content_selector_is_valid() {
        assert_eq!(SELECTORS.len(), CONTENT.len());
    }
}
