//! Pages that generators of API documentation make beside it: source code with its lines numbered, and indexes of names.

use scraper::{ElementRef, Html};

use super::content;

/// Classes of `<body>`: javadoc's pages of sources, its indexes and lists of uses.
const JAVADOC_BODIES: [&str; 5] = [
    "source-page",
    "index-page",
    "package-use-page",
    "class-use-page",
    "source-index-page",
];
/// The same of rustdoc's sources, with `rustdoc` before them.
const RUSTDOC_SOURCES: [&str; 2] = ["src", "source"];
/// What Doxygen appends to the name of a file, and to that of a class whose members it lists.
const DOXYGEN_ENDS: [&str; 2] = ["_source.html", "-members.html"];
/// A page is a listing if so much of its text is, in percent.
const LISTED_PERCENT: usize = 80;

/// Whether the page with the content `roots` is one of them.
pub(super) fn is_listing(html: &Html, roots: &[ElementRef<'_>], url: &str) -> bool {
    let root = html.tree.root().children().find_map(ElementRef::wrap);
    let parts = root.iter().flat_map(|root| root.child_elements());
    let mut bodies = parts.filter(|part| part.value().name() == "body");
    let body = bodies.next();
    let has = |class: &str| body.is_some_and(|body| body.value().classes().any(|own| own == class));
    let is_javadoc = JAVADOC_BODIES.iter().any(|class| has(class)) && is_made_by(html, "javadoc");
    let is_rustdoc = has("rustdoc") && RUSTDOC_SOURCES.iter().any(|class| has(class));
    let ends_as_doxygen = DOXYGEN_ENDS.iter().any(|end| url.ends_with(end));
    is_javadoc
        || is_rustdoc
        || ends_as_doxygen && is_made_by(html, "Doxygen")
        || is_mostly_listing(roots)
}

/// Whether the page names its generator, whose name begins so.
fn is_made_by(html: &Html, generator: &str) -> bool {
    let mut elements = html.tree.root().descendants().filter_map(ElementRef::wrap);
    elements.any(|element| {
        let element = element.value();
        let content = element.attr("content").unwrap_or_default();
        element.name() == "meta"
            && element.attr("name") == Some("generator")
            && content.starts_with(generator)
    })
}

/// Whether nearly all of the content is a file of code as older javadoc and JSDoc show it, or DocBook's index.
fn is_mostly_listing(roots: &[ElementRef<'_>]) -> bool {
    let listing = roots.iter().find_map(|root| {
        let mut elements = root.descendent_elements();
        elements.find(|element| is_listing_itself(*element))
    });
    let read = roots.iter().flat_map(|root| content::read_nodes(*root));
    let texts = read.filter_map(|node| node.value().as_text());
    let all: usize = texts.map(|text| content::letters_in(text)).sum();
    listing.is_some_and(|listing| content::letters(listing) * 100 >= all * LISTED_PERCENT)
}

fn is_listing_itself(element: ElementRef<'_>) -> bool {
    let has = |class: &str| element.value().classes().any(|own| own == class);
    match element.value().name() {
        "div" => has("source-container") || has("index") && has_docbook_entries(element),
        "pre" => has("source") && has("linenums"),
        _ => false,
    }
}

/// Whether an element holds the letters' parts of DocBook's index.
fn has_docbook_entries(element: ElementRef<'_>) -> bool {
    let inner = element.child_elements();
    let mut inner = inner.flat_map(|child| child.child_elements().chain([child]));
    inner.any(|child| child.value().classes().any(|class| class == "indexdiv"))
}
