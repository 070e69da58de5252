//! Pages that generators of API documentation make beside it: source code with its lines numbered, and indexes of names.

use scraper::{ElementRef, Html};

/// Classes of `<body>`: javadoc's pages of sources, its indexes and lists of uses; with `rustdoc` before them the
/// sources of rustdoc.
const JAVADOC_BODIES: [&str; 5] = [
    "source-page",
    "index-page",
    "package-use-page",
    "class-use-page",
    "source-index-page",
];
const RUSTDOC_SOURCES: [&str; 2] = ["src", "source"];
/// What Doxygen appends to the name of a file, and to that of a class whose members it lists.
const DOXYGEN_ENDS: [&str; 2] = ["_source.html", "-members.html"];

/// Whether the page with the content `roots` is one of them.
pub(super) fn is_listing(html: &Html, roots: &[ElementRef<'_>], url: &str) -> bool {
    let root = html.tree.root().children().find_map(ElementRef::wrap);
    let parts = root.iter().flat_map(|root| root.child_elements());
    let mut bodies = parts.filter(|part| part.value().name() == "body");
    let body = bodies.next();
    let has =
        |element: ElementRef<'_>, class: &str| element.value().classes().any(|own| own == class);
    let is_by_body = body.is_some_and(|body| {
        JAVADOC_BODIES.iter().any(|class| has(body, class))
            || has(body, "rustdoc") && RUSTDOC_SOURCES.iter().any(|class| has(body, class))
    });
    let is_by_doxygen = || {
        let ends = DOXYGEN_ENDS.iter().any(|end| url.ends_with(end));
        ends && says_doxygen(html)
    };
    is_by_body || is_by_doxygen() || roots.iter().any(|root| is_source_in(*root))
}

fn says_doxygen(html: &Html) -> bool {
    let mut elements = html.root_element().descendent_elements();
    elements.any(|element| {
        let element = element.value();
        let content = element.attr("content").unwrap_or_default();
        element.name() == "meta"
            && element.attr("name") == Some("generator")
            && content.starts_with("Doxygen")
    })
}

/// Whether the content is a file of code as older javadoc and JSDoc show it, or DocBook's index.
fn is_source_in(root: ElementRef<'_>) -> bool {
    let mut elements = root.descendent_elements();
    elements.any(|element| {
        let has = |class: &str| element.value().classes().any(|own| own == class);
        match element.value().name() {
            "div" => has("source-container") || has("index") && has_docbook_entries(element),
            "pre" => has("source") && has("linenums"),
            _ => false,
        }
    })
}

/// Whether an element holds the letters' parts of DocBook's index.
fn has_docbook_entries(element: ElementRef<'_>) -> bool {
    let mut inner = element
        .child_elements()
        .flat_map(|child| child.child_elements());
    inner.any(|child| child.value().classes().any(|class| class == "indexdiv"))
}
