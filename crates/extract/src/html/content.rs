//! Which part of a page is its content, and what within it is furniture.

use std::sync::LazyLock;

use ego_tree::{NodeRef, iter::Edge};
use scraper::{ElementRef, Html, Node, Selector, node::Element};

use super::Mark;
use super::walk::heading_level;

/// Where generators put the content, the surest first: our own and Pagefind's attributes; Sphinx
/// (furo, pydata); MkDocs Material; Docusaurus; mdBook 0.5; Node; TypeDoc; then what HTML itself offers, and the
/// names that Asciidoctor and others use.
const CONTENT: [&str; 13] = [
    "[data-siskin-body]",
    "[data-pagefind-body]",
    "article#furo-main-content, article.bd-article, article.md-content__inner",
    ARTICLE,
    "#mdbook-content main",
    "#apicontent",
    ".container-main > .col-content",
    "[role=main]",
    "main",
    LONE_ARTICLE,
    "#content, #content ~ #footnotes",
    "body",
    "html",
];

/// The article in which Docusaurus has a page, unless it is a part of the page.
const ARTICLE: &str = "main article";
/// An article without `<main>`, likewise.
const LONE_ARTICLE: &str = "article";

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

/// Links that generators put beside headings and signatures, line numbers, lines of code that the
/// page hides, text meant for the ear alone, lists of pages and sections, facts about a page such
/// as its date, and questions whether it helped.
const STRIPPED_CLASSES: [&str; 31] = [
    "headerlink",
    "header-anchor",
    "hash-link",
    "sl-anchor-link",
    "anchor-link",
    "viewcode-link",
    "linenos",
    "lineno",
    "ln",
    "lnt",
    "line-numbers-wrapper",
    "boring",
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "skip-link",
    "breadcrumb",
    "breadcrumbs",
    "toctree-wrapper",
    "post-meta",
    "post-metadata",
    "post-tags",
    "md-feedback",
    "navheader",
    "navfooter",
    "navpath",
    "tsd-breadcrumb",
    "previous_page",
    "next_page",
    "source-line-no",
    "view-source-button",
];
/// Ids of `<div>`s in Doxygen's pages: the project's name, menus and the path to the page. Elsewhere headings may have
/// them.
const STRIPPED_IDS: [&str; 5] = ["titlearea", "main-nav", "nav-path", "side-nav", "nav-sync"];

/// The same, if what is in it is links with a label at most, or half of it: elsewhere these names mean
/// other things.
const STRIPPED_IF_LINKS: [&str; 3] = ["pagination", "toc", "tags"];
/// Letters of a label such as "Filed under".
const LABEL_LETTERS: usize = 20;

const STRIPPED_ATTRIBUTES: [&str; 2] = ["data-siskin-ignore", "data-pagefind-ignore"];

/// Extensions of what pages are written in.
const SOURCES: [&str; 8] = [
    "md", "mdx", "markdown", "rst", "adoc", "html", "txt", "ipynb",
];

/// Classes of an `<aside>` that belongs to the text: notes and warnings.
const NOTE_CLASSES: [&str; 4] = ["starlight-aside", "admonition", "callout", "note"];

static SELECTORS: LazyLock<Vec<Selector>> = LazyLock::new(|| {
    CONTENT
        .iter()
        .filter_map(|css| Selector::parse(css).ok())
        .collect()
});

/// The content of a page.
#[derive(Default)]
pub(super) struct Content<'a> {
    /// The elements that hold it: all outermost matches of the first selector that matches, in the
    /// page's order.
    pub(super) roots: Vec<ElementRef<'a>>,
    /// The attribute that marks it, if one does.
    pub(super) mark: Option<Mark>,
}

impl<'a> Content<'a> {
    pub(super) fn of(html: &'a Html) -> Self {
        let of_selector = |(place, selector)| {
            let roots = outermost(html, selector);
            let is_part = match CONTENT.get(place) {
                Some(&ARTICLE) => leaves_headings_out(&roots),
                Some(&LONE_ARTICLE) => leaves_title_out(&roots),
                _ => false,
            };
            (!roots.is_empty() && !is_part).then_some((place, roots))
        };
        let found = SELECTORS.iter().enumerate().find_map(of_selector);
        let Some((selector, roots)) = found else {
            return Self::default();
        };
        let mark = match selector {
            0 => Some(Mark::Siskin),
            1 => Some(Mark::Pagefind),
            _ => None,
        };
        Self { roots, mark }
    }
}

/// Whether `articles` are parts of the page, such as cards: the page's `h1`, or a heading before the first of them,
/// stands in the `<main>` around and in none of them.
fn leaves_headings_out(articles: &[ElementRef<'_>]) -> bool {
    let main = articles.first().and_then(|article| {
        let mut above = article.ancestors().filter_map(ElementRef::wrap);
        above.find(|above| above.value().name() == "main")
    });
    let Some(main) = main else {
        return false;
    };
    let is_within = |element: ElementRef<'_>, holds: &dyn Fn(ElementRef<'_>) -> bool| {
        let above = element.ancestors().filter_map(ElementRef::wrap);
        let mut within = above.take_while(|above| above.id() != main.id());
        holds(element) || within.any(holds)
    };
    let is_article =
        |element: ElementRef<'_>| articles.iter().any(|article| article.id() == element.id());
    let is_left_out =
        |element: ElementRef<'_>| is_stripped(element.value()) || is_furniture(element);
    let mut elements = main.descendent_elements();
    let mut is_before = true;
    elements.any(|element| {
        is_before &= !is_article(element);
        let level = heading_level(element.value().name());
        (level == Some(1) || level.is_some() && is_before)
            && !is_within(element, &is_article)
            && !is_within(element, &is_left_out)
    })
}

/// Whether the page's title stands outside of `articles`, none of which has one: an `h1` in an element that holds them,
/// too, and in no header, and no link as the name of a site is.
fn leaves_title_out(articles: &[ElementRef<'_>]) -> bool {
    let is_title = |element: ElementRef<'_>| element.value().name() == "h1";
    let has_title = |article: &ElementRef<'_>| article.descendent_elements().any(is_title);
    let Some(first) = articles.first().filter(|_| !articles.iter().any(has_title)) else {
        return false;
    };
    let around = first.ancestors().filter_map(ElementRef::wrap);
    let around = around.take_while(|above| above.value().name() != "header");
    let mut titles =
        around.flat_map(|above| above.child_elements().filter(|child| is_title(*child)));
    titles.any(|title| {
        let is_link =
            |inner: ElementRef<'_>| inner.value().name() == "a" && inner.attr("href").is_some();
        !is_stripped(title.value()) && !title.descendent_elements().any(is_link)
    })
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
    STRIPPED_TAGS.contains(&element.name()) || is_marked_out(element)
}

/// Whether its attributes leave an element out, whatever it is.
fn is_marked_out(element: &Element) -> bool {
    STRIPPED_ATTRIBUTES
        .iter()
        .any(|name| element.attr(name).is_some())
        || is_excluded(element)
        || element.attr("aria-hidden") == Some("true")
        || matches!(element.attr("role"), Some("navigation" | "search"))
        || element
            .classes()
            .any(|class| STRIPPED_CLASSES.contains(&class))
        || is_part_of_frame(element)
        || is_hidden_for_good(element)
        || (element.name() == "aside" && !is_note(element))
}

/// Whether Doxygen, gtk-doc or pdoc put an element around the text: names that others give to sections and headings.
fn is_part_of_frame(element: &Element) -> bool {
    let has = |class: &str| element.classes().any(|own| own == class);
    let id = element.attr("id").unwrap_or_default();
    match element.name() {
        "div" => STRIPPED_IDS.contains(&id) && !has("section") || has("pdoc-code"),
        "table" => has("navigation"),
        _ => false,
    }
}

/// Whether an element is hidden, and nothing tells that the reader may have it shown: neither an id nor a role.
fn is_hidden_for_good(element: &Element) -> bool {
    let is_found = |value: &str| value.eq_ignore_ascii_case("until-found");
    element.attr("hidden").is_some_and(|value| !is_found(value))
        && element.attr("id").is_none()
        && element.attr("role").is_none()
}

/// Whether an element is something to press or to look at within a heading, whose id is its own.
pub(super) fn is_control(element: &Element) -> bool {
    STRIPPED_TAGS.contains(&element.name())
}

/// Whether an element describes a function or the like without a heading, as pdoc and RDoc write it.
pub(super) fn is_member(element: ElementRef<'_>) -> bool {
    let has = |element: &Element, class: &str| element.classes().any(|own| own == class);
    let own = element.value();
    let is_pdoc =
        |above: ElementRef<'_>| above.value().name() == "main" && has(above.value(), "pdoc");
    let is_within_pdoc = || {
        element
            .ancestors()
            .filter_map(ElementRef::wrap)
            .any(is_pdoc)
    };
    let may_be = own.name() == "section" || has(own, "classattr");
    has(own, "method-detail") || may_be && own.attr("id").is_some() && is_within_pdoc()
}

/// Whether Doxygen has the page's title in an element.
pub(super) fn is_doxygen_title(element: ElementRef<'_>) -> bool {
    let has = |element: &Element, class: &str| element.classes().any(|own| own == class);
    let above = element
        .parent()
        .and_then(|above| above.value().as_element());
    has(element.value(), "title") && above.is_some_and(|above| has(above, "headertitle"))
}

/// Whether an element is the button that a heading consists of, as accordions have it.
pub(super) fn is_heading_itself(element: ElementRef<'_>) -> bool {
    let letters = |element: ElementRef<'_>| {
        let text = element.text().flat_map(str::chars);
        text.filter(|c| !c.is_whitespace()).count()
    };
    let above = element.ancestors().filter_map(ElementRef::wrap);
    let mut headings = above.filter(|above| heading_level(above.value().name()).is_some());
    element.value().name() == "button"
        && !is_marked_out(element.value())
        && headings
            .next()
            .is_some_and(|heading| letters(heading) == letters(element))
}

/// Whether MkDocs Material keeps an element, or the section below a heading, out of its index.
pub(super) fn is_excluded(element: &Element) -> bool {
    element.attr("data-search-exclude").is_some()
}

/// Whether a style keeps readers from copying a part of code: line numbers and prompts.
fn is_beside_code(element: ElementRef<'_>) -> bool {
    let is_code = |above: ElementRef<'_>| matches!(above.value().name(), "pre" | "code" | "tr");
    element.attr("style").is_some_and(cannot_be_selected)
        && element
            .ancestors()
            .filter_map(ElementRef::wrap)
            .any(is_code)
}

fn cannot_be_selected(style: &str) -> bool {
    style.split(';').any(|declaration| {
        let mut words = declaration.split(':').map(str::trim);
        words.next() == Some("user-select") && words.next() == Some("none")
    })
}

fn is_note(aside: &Element) -> bool {
    aside.attr("role") == Some("note") || aside.classes().any(|class| NOTE_CLASSES.contains(&class))
}

/// Whether an element and everything in it is left out for what is in it or around it.
pub(super) fn is_furniture(element: ElementRef<'_>) -> bool {
    let by_name = match element.value().name() {
        "a" => is_bare_anchor(element) || is_page_turn(element) || is_edit_link(element),
        "li" => element.child_elements().any(is_page_turn),
        "p" | "div" | "td" => is_line_of_page_turns(element),
        "span" => is_language_label(element),
        _ => false,
    };
    by_name || is_beside_code(element) || is_list_of_links(element)
}

fn is_list_of_links(element: ElementRef<'_>) -> bool {
    let mut classes = element.value().classes();
    classes.any(|class| STRIPPED_IF_LINKS.contains(&class)) && is_mostly_links(element)
}

/// Whether what is in an element is links with a label at most, or half of it.
fn is_mostly_links(element: ElementRef<'_>) -> bool {
    let links = element.descendent_elements();
    let links = links.filter(|inner| inner.value().name() == "a");
    let linked = links.map(letters).sum::<usize>();
    let beside = letters(element).saturating_sub(linked);
    linked > 0 && beside <= linked.max(LABEL_LETTERS)
}

/// The nodes of `root` that are read, in the page's order.
pub(super) fn read_nodes<'a>(root: ElementRef<'a>) -> impl Iterator<Item = NodeRef<'a, Node>> {
    let mut skipped = None;
    root.traverse().filter_map(move |edge| match edge {
        Edge::Open(node) if skipped.is_none() => {
            let element = ElementRef::wrap(node).filter(|element| element.id() != root.id());
            let is_left_out =
                |element: ElementRef<'_>| is_stripped(element.value()) || is_furniture(element);
            skipped = element
                .filter(|element| is_left_out(*element))
                .map(|_| node.id());
            skipped.is_none().then_some(node)
        }
        Edge::Close(node) if skipped == Some(node.id()) => {
            skipped = None;
            None
        }
        Edge::Open(_) | Edge::Close(_) => None,
    })
}

/// Letters and digits in an element.
pub(super) fn letters(element: ElementRef<'_>) -> usize {
    element.text().map(letters_in).sum()
}

/// Letters and digits of a text.
pub(super) fn letters_in(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Whether a link leads into its own page and shows only a sign such as `#`, `§` or `↩`.
fn is_bare_anchor(link: ElementRef<'_>) -> bool {
    link.attr("href").is_some_and(|href| href.starts_with('#'))
        && !link
            .text()
            .any(|text| text.chars().any(char::is_alphanumeric))
}

/// Whether a link leads to the page before or behind this one.
fn is_page_turn(link: ElementRef<'_>) -> bool {
    let relations = || link.attr("rel").unwrap_or_default().split_whitespace();
    link.value().name() == "a" && relations().any(|rel| matches!(rel, "prev" | "next"))
}

/// Whether a line is little more than links, some to the pages before and behind this one, as in Texinfo's manuals.
fn is_line_of_page_turns(element: ElementRef<'_>) -> bool {
    let is_heading = |inner: ElementRef<'_>| heading_level(inner.value().name()).is_some();
    element.child_elements().any(is_page_turn)
        && is_mostly_links(element)
        && !element.descendent_elements().any(is_heading)
}

/// Whether a link leads to the page's source in an editor, as code hosts address it.
fn is_edit_link(link: ElementRef<'_>) -> bool {
    let is_source = |href: &str| {
        let path = href.split(['?', '#']).next().unwrap_or_default();
        let extension = path.rsplit('.').next().unwrap_or_default();
        path.starts_with("http") && path.contains("/edit/") && SOURCES.contains(&extension)
    };
    link.attr("href").is_some_and(is_source)
}

/// Whether an element names the language of the code that it stands above, as in VitePress.
fn is_language_label(element: ElementRef<'_>) -> bool {
    let is_code = |above: &Element| above.classes().any(|class| class.starts_with("language-"));
    let above = element
        .parent()
        .and_then(|above| above.value().as_element());
    element.value().classes().any(|class| class == "lang") && above.is_some_and(is_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_content_selector_is_valid() {
        assert_eq!(SELECTORS.len(), CONTENT.len());
    }
}
