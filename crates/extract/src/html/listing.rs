//! Pages that only list other pages: tags, categories, archives and the contents of a folder, which
//! generators assemble from titles, links and beginnings of pages.

use ego_tree::{NodeId, iter::Edge};
use scraper::{ElementRef, node::Element};
use url::Url;

use super::{content, head::Head, links, walk};

/// A page is a list if links to other pages make up so much of its text, in percent: of pages that
/// introduce a chapter, whose links stand in sentences, almost none has so many.
const LINKED_PERCENT: usize = 90;
/// The same for a page whose address has one of [`LIST_NAMES`], or that is a further page of a list:
/// `page/2`.
const LINKED_PERCENT_OF_NAMED: usize = 60;
/// Folders and files that generators write lists to.
const LIST_NAMES: [&str; 7] = [
    "tags",
    "tag",
    "categories",
    "category",
    "archive",
    "archives",
    "authors",
];

/// Whether the page with the content `roots` at the address `url` within its site only lists other pages.
///
/// It does if nearly all of its text below the title stands in links to them, or if every heading below
/// the title, of two at least, is such a link and more text follows the first one than comes before it. The site's
/// first page is not asked: it is looked for by its own name.
pub(super) fn only_lists_pages(roots: &[ElementRef<'_>], head: &Head, url: &str) -> bool {
    let Some(base) = links::site().and_then(|site| site.join(url).ok()) else {
        return false;
    };
    let mut census = Census::new(base, head.canonical.as_deref());
    for root in roots {
        census.count(*root);
    }
    let (percent, least_headings) = match is_named_as_list(url) {
        true => (LINKED_PERCENT_OF_NAMED, 1),
        false => (LINKED_PERCENT, 2),
    };
    url != "/" && census.is_list(percent, least_headings)
}

fn is_named_as_list(url: &str) -> bool {
    let names: Vec<String> = url.split(['/', '.']).map(str::to_ascii_lowercase).collect();
    let is_further_page = |pair: &[String]| pair[0] == "page" && pair[1].parse::<u32>().is_ok();
    names.iter().any(|name| LIST_NAMES.contains(&name.as_str()))
        || names.windows(2).any(is_further_page)
}

/// Letters and digits of a page by where they stand.
struct Census {
    /// Addresses of the page: within its site, and where the site says it is published.
    addresses: Vec<Url>,
    /// The innermost elements of these kinds around the text.
    title: Option<NodeId>,
    heading: Option<NodeId>,
    link: Option<NodeId>,
    skipped: Option<NodeId>,
    all: usize,
    linked: usize,
    in_headings: usize,
    linked_in_headings: usize,
    before_headings: usize,
    /// Headings that are links to other pages, and the last of them.
    linked_headings: usize,
    counted: Option<NodeId>,
}

impl Census {
    fn new(base: Url, canonical: Option<&str>) -> Self {
        let published = canonical.and_then(|address| base.join(address).ok());
        Self {
            addresses: std::iter::once(base).chain(published).collect(),
            title: None,
            heading: None,
            link: None,
            skipped: None,
            all: 0,
            linked: 0,
            in_headings: 0,
            linked_in_headings: 0,
            before_headings: 0,
            linked_headings: 0,
            counted: None,
        }
    }

    fn is_list(&self, percent: usize, least_headings: usize) -> bool {
        let mostly_links = self.linked > 0 && self.linked * 100 >= self.all * percent;
        let below_headings = self.all - self.before_headings - self.in_headings;
        let headings_are_links = self.linked_headings >= least_headings
            && self.in_headings > 0
            && self.linked_in_headings == self.in_headings
            && self.before_headings < below_headings;
        mostly_links || headings_are_links
    }

    fn count(&mut self, root: ElementRef<'_>) {
        for edge in root.traverse() {
            match edge {
                Edge::Open(node) if self.skipped.is_none() => {
                    if let Some(text) = node.value().as_text() {
                        self.text(text);
                    } else if let Some(element) = ElementRef::wrap(node) {
                        self.open(element, element.id() == root.id());
                    }
                }
                Edge::Close(node) => self.close(node.id()),
                Edge::Open(_) => {}
            }
        }
    }

    fn open(&mut self, element: ElementRef<'_>, is_root: bool) {
        let (id, name) = (Some(element.id()), element.value().name());
        let is_furniture = content::is_stripped(element.value())
            || content::is_furniture(element)
            || name == "time";
        if !is_root && is_furniture {
            self.skipped = id;
        } else if name == "h1" {
            self.title = id;
        } else if walk::heading_level(name).is_some() {
            self.heading = id;
        } else if name == "a" && self.leads_to_another_page(element.value()) {
            self.link = id;
        }
    }

    fn close(&mut self, id: NodeId) {
        for open in [
            &mut self.title,
            &mut self.heading,
            &mut self.link,
            &mut self.skipped,
        ] {
            *open = open.filter(|open| *open != id);
        }
    }

    fn leads_to_another_page(&self, link: &Element) -> bool {
        let target = link.attr("href").zip(self.addresses.first());
        let Some(target) = target.and_then(|(href, base)| base.join(href).ok()) else {
            return false;
        };
        let of_site = |own: &Url| own.origin() == target.origin();
        self.addresses.iter().any(of_site)
            && is_page(&target)
            && !self.addresses.iter().any(|own| is_same_page(own, &target))
    }

    fn text(&mut self, text: &str) {
        if self.title.is_some() {
            return;
        }
        let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
        let linked = if self.link.is_some() { letters } else { 0 };
        if linked > 0 && self.heading.is_some() && self.heading != self.counted {
            self.linked_headings += 1;
            self.counted = self.heading;
        }
        self.all += letters;
        self.linked += linked;
        if self.heading.is_some() {
            self.in_headings += letters;
            self.linked_in_headings += linked;
        } else if self.in_headings == 0 {
            self.before_headings += letters;
        }
    }
}

/// Whether an address looks like that of a page, not of a picture or an archive.
fn is_page(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.')
        .is_none_or(|(_, extension)| matches!(extension, "html" | "htm"))
}

/// Whether a link leads to the page itself: hosts serve `/a/`, `/a` and `/a.html` alike, and a site may be
/// published below a folder.
fn is_same_page(own: &Url, target: &Url) -> bool {
    let (own, target) = (plain(own.path()), plain(target.path()));
    own == target || (!own.is_empty() && target.ends_with(own))
}

/// A path without what hosts may leave out at its end.
fn plain(path: &str) -> &str {
    let path = path.strip_suffix(".html").unwrap_or(path);
    let path = path.strip_suffix("/index").unwrap_or(path);
    path.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use scraper::Html;

    use super::*;

    fn is_list(content: &str) -> bool {
        is_list_at("/tags/a/", content)
    }

    fn is_list_at(url: &str, content: &str) -> bool {
        let html = format!(
            "<link rel=canonical href='https://x.example/tags/a/'><nav><a href=/>no</a></nav><main>{content}"
        );
        let html = Html::parse_document(&html);
        let content = content::Content::of(&html);
        only_lists_pages(&content.roots, &Head::of(&html), url)
    }

    #[test]
    fn links_without_other_text_are_a_list() {
        for list in [
            "<h1>Pages about ducks</h1><ul><li><a href=/ducks>Ducks</a> <time>1 May 2026</time></ul>",
            "<h2>D</h2><ul><li><a href=../ducks>Ducks</a><li><a href=../drakes>Drakes</a></ul>",
            "<h1>Birds</h1><article><a href=/ducks><h2>Ducks</h2><p>They quack.</p></a></article>",
            "<h1>T</h1><a href='https://x.example/ducks'>Ducks</a>",
        ] {
            assert!(is_list(list), "{list}");
        }
    }

    #[test]
    fn headings_that_are_links_above_beginnings_of_pages_are_a_list() {
        let entry = |name: &str| {
            format!("<div><h2><a href=/{name}>{name}</a></h2><p>They quack all day.</div>")
        };
        assert!(is_list(&format!("<h1>T</h1>{}", entry("ducks"))));
        assert!(is_list(&format!(
            "<h1>T</h1><p>All posts.</p>{}{}",
            entry("ducks"),
            entry("geese")
        )));
        assert!(!is_list(&format!(
            "{}<h2>Unlinked</h2>text",
            entry("ducks")
        )));
        let long = "A page with much to say, and links to more. ".repeat(3);
        assert!(!is_list(&format!("{long}{}", entry("ducks"))));
    }

    #[test]
    fn a_post_with_its_own_title_as_a_link_and_a_page_of_downloads_are_pages() {
        let post = "<p>May</p><h2><a href=/x/posts/ducks>Ducks</a></h2><p>They quack all day.";
        assert!(!is_list_at("/posts/ducks/", post));
        assert!(!is_list_at("/posts/ducks.html", post));
        assert!(!is_list_at(
            "/news/",
            "<h2><a href=/ducks/>Ducks</a></h2><p>They quack all day.</p>"
        ));
        assert!(!is_list("<h1>T</h1><a href=/manual.pdf>The manual</a>"));
    }

    #[test]
    fn text_with_links_is_a_page() {
        for page in [
            "<h1>T</h1><p>See <a href=/ducks>ducks</a> and what they say.",
            "<h1>T</h1><ul><li><a href=#a>Its own parts</a><li><a href='https://x.example/tags/a/#b'>b</a></ul>",
            "<h1>T</h1><ul><li><a href='https://elsewhere.example/'>Elsewhere on the web</a></ul>",
            "<h1><a href=/ducks>T</a></h1>",
            "",
        ] {
            assert!(!is_list(page), "{page}");
        }
    }

    #[test]
    fn the_first_page_is_none() {
        assert!(!is_list_at("/", "<a href=/ducks>Ducks</a>"));
        assert!(is_list_at("/birds/", "<a href=/ducks>Ducks</a>"));
    }
}
