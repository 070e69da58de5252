//! A small documentation built by each generator, read as `siskin index` reads it: every page must
//! say what its Markdown says, below the same headings.
//!
//! The sites are those of `tests/sites/NAME`, or of `$SISKIN_SITES_DIR/NAME` where newly built ones
//! are to be tested (`tests/sites/build.sh --out FOLDER`).

// The lint's exception for tests does not reach the helpers of an integration test.
#![allow(clippy::expect_used)]

use std::{
    env, fmt, fs,
    path::{Path, PathBuf},
};

use scraper::{ElementRef, Html, Selector};
use siskin_core::page::{Page, Passage};
use siskin_extract::{markdown, site};

/// What a generator makes of the documentation.
struct Site {
    name: &'static str,
    addresses: Addresses,
    /// Pages besides those of [`CONTENT`].
    more: &'static [&'static str],
    /// What is left out, with the reasons.
    skipped: &'static [&'static str],
    /// Text that its overlay adds above code and notes: a file's name, a tab, the kind of note.
    labels: &'static [&'static str],
}

/// How a generator addresses `guide/install.md`.
#[derive(Clone, Copy)]
enum Addresses {
    /// `/guide/install.html`
    Files,
    /// `/guide/install/`
    Folders,
}

/// The pages of `source/content` that are to be found, without `.md`; all but `private`.
const CONTENT: [&str; 6] = [
    "guide/install",
    "guide/requests",
    "guide/streams",
    "index",
    "reference/errors",
    "reference/options",
];

const SPHINX: Site = Site {
    name: "",
    addresses: Addresses::Files,
    more: &["/api.html"],
    skipped: &[
        "_modules: added by Sphinx to the documents",
        "_static: added by Sphinx to the documents",
        "genindex.html: added by Sphinx to the documents",
        "private.html: says noindex",
        "py-modindex.html: added by Sphinx to the documents",
        "search.html: added by Sphinx to the documents",
    ],
    labels: &[],
};

const SITES: [Site; 10] = [
    Site {
        name: "docusaurus",
        addresses: Addresses::Files,
        more: &[],
        skipped: &[
            "404.html: shown for missing pages",
            "category/guide.html: only lists other pages",
            "install/index.html: only redirects",
            "private.html: says noindex",
            "tags/code.html: only lists other pages",
            "tags/network.html: only lists other pages",
            "tags.html: only lists other pages",
        ],
        labels: &["birds.js", "tip"],
    },
    Site {
        name: "eleventy",
        addresses: Addresses::Folders,
        more: &[],
        skipped: &[
            "404.html: shown for missing pages",
            "private/index.html: says noindex",
            "tags/code/index.html: only lists other pages",
            "tags/index.html: only lists other pages",
            "tags/network/index.html: only lists other pages",
        ],
        labels: &[],
    },
    Site {
        name: "hugo",
        addresses: Addresses::Folders,
        more: &[],
        skipped: &[
            "404.html: shown for missing pages",
            "categories/beginners/index.html: only lists other pages",
            "categories/beginners/page/1/index.html: says noindex",
            "categories/index.html: only lists other pages",
            "guide/index.html: only lists other pages",
            "guide/page/1/index.html: says noindex",
            "guide/page/2/index.html: only lists other pages",
            "private/index.html: says noindex",
            "reference/index.html: only lists other pages",
            "reference/page/1/index.html: says noindex",
            "requests/index.html: says noindex",
            "tags/code/index.html: only lists other pages",
            "tags/code/page/1/index.html: says noindex",
            "tags/index.html: only lists other pages",
            "tags/network/index.html: only lists other pages",
            "tags/network/page/1/index.html: says noindex",
            "tags/network/page/2/index.html: only lists other pages",
            "tags/setup/index.html: only lists other pages",
            "tags/setup/page/1/index.html: says noindex",
        ],
        labels: &[],
    },
    Site {
        name: "mdbook",
        addresses: Addresses::Files,
        more: &[],
        skipped: &[
            "404.html: shown for missing pages",
            "print.html: repeats the book",
            "private.html: says noindex",
            "setup.html: only redirects",
            "toc.html: repeats the book",
        ],
        labels: &[],
    },
    Site {
        name: "mkdocs-material",
        addresses: Addresses::Folders,
        more: &[],
        skipped: &[
            "404.html: shown for missing pages",
            "private/index.html: says noindex",
            "tags/index.html: only lists other pages",
        ],
        labels: &[],
    },
    Site {
        name: "sphinx-alabaster",
        ..SPHINX
    },
    Site {
        name: "sphinx-furo",
        ..SPHINX
    },
    Site {
        name: "sphinx-pydata",
        ..SPHINX
    },
    Site {
        name: "starlight",
        addresses: Addresses::Folders,
        more: &[],
        skipped: &[
            "404.html: shown for missing pages",
            "install/index.html: says noindex",
            "pagefind: a search index",
            "private/index.html: says noindex",
        ],
        labels: &["birds.js"],
    },
    Site {
        name: "vitepress",
        addresses: Addresses::Files,
        more: &[],
        skipped: &[
            "404.html: shown for missing pages",
            "private.html: says noindex",
        ],
        labels: &["Terminal", "TIP"],
    },
];

fn sites_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sites")
}

impl Site {
    fn folder(&self) -> PathBuf {
        env::var_os("SISKIN_SITES_DIR")
            .map_or_else(sites_folder, PathBuf::from)
            .join(self.name)
    }

    fn read(&self) -> site::SiteReport {
        site::pages(&self.folder(), |_| ()).expect("the site can be read")
    }

    fn url(&self, page: &str) -> String {
        let path = format!("/{page}");
        match (path.strip_suffix("/index"), self.addresses) {
            (Some(folder), _) => format!("{folder}/"),
            (None, Addresses::Files) => format!("{path}.html"),
            (None, Addresses::Folders) => format!("{path}/"),
        }
    }

    fn without_labels(&self, text: String) -> String {
        self.labels.iter().fold(text, |text, label| {
            text.replacen(&format!("{label} "), "", 1)
        })
    }

    fn html(&self, url: &str) -> Html {
        let mut path = self.folder().join(url.trim_start_matches('/'));
        if url.ends_with('/') {
            path.push("index.html");
        }
        Html::parse_document(&fs::read_to_string(path).expect("the page's file"))
    }
}

/// What is wrong with the sites, gathered, so that one run tells all of it.
struct Faults {
    site: &'static str,
    lines: Vec<String>,
}

impl Faults {
    fn unless_equal<T, U>(&mut self, what: &str, found: &T, expected: &U)
    where
        T: PartialEq<U> + fmt::Debug + ?Sized,
        U: fmt::Debug + ?Sized,
    {
        if found != expected {
            let site = self.site;
            self.lines.push(format!(
                "{site}, {what}:\n  found    {found:?}\n  expected {expected:?}"
            ));
        }
    }
}

fn for_every_site(check: impl Fn(&Site, &site::SiteReport, &mut Faults)) {
    let mut faults = Faults {
        site: "",
        lines: Vec::new(),
    };
    for site in &SITES {
        faults.site = site.name;
        check(site, &site.read(), &mut faults);
    }
    assert!(faults.lines.is_empty(), "{}", faults.lines.join("\n"));
}

/// The page that the Markdown source describes.
fn source(page: &str) -> Page {
    let path = sites_folder().join(format!("source/content/{page}.md"));
    let text = fs::read_to_string(path).expect("the page's source");
    markdown::page(&text, page).expect("it has text")
}

/// Headings and text of every section, however it was cut into passages. Quotation marks are
/// written as they were typed, because some generators curl them.
fn sections(page: &Page) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut last = None;
    for Passage {
        headings,
        anchor,
        text,
        ..
    } in &page.passages
    {
        let text = plain(text);
        let place = Some((headings, anchor));
        match sections.last_mut().filter(|_| last == place) {
            Some((_, before)) => *before = format!("{before} {text}"),
            None => sections.push((plain(&headings.join(" > ")), text)),
        }
        last = place;
    }
    sections
}

fn plain(text: &str) -> String {
    let straight = text.replace(['‘', '’'], "'").replace(['“', '”'], "\"");
    let words: Vec<_> = straight.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn exactly_the_pages_are_found_and_the_rest_is_left_out_with_a_reason() {
    for_every_site(|site, report, faults| {
        let mut found: Vec<_> = report.pages.iter().map(|page| page.url.clone()).collect();
        let mut expected: Vec<_> = CONTENT.iter().map(|page| site.url(page)).collect();
        expected.extend(site.more.iter().map(|url| (*url).to_owned()));
        found.sort();
        expected.sort();
        faults.unless_equal("pages", &found, &expected);
        let skipped: Vec<_> = report
            .skipped
            .iter()
            .map(|skipped| format!("{}: {}", skipped.path.display(), skipped.reason))
            .collect();
        faults.unless_equal("skipped", skipped.as_slice(), site.skipped);
    });
}

#[test]
fn every_page_says_what_its_source_says_below_the_same_headings() {
    for_every_site(|site, report, faults| {
        for name in CONTENT {
            let url = site.url(name);
            let expected = source(name);
            let found = report.pages.iter().find(|page| page.url == url);
            let found = found.cloned().unwrap_or_default();
            faults.unless_equal(&format!("title of {url}"), &found.title, &expected.title);
            let found = sections(&found)
                .into_iter()
                .map(|(trail, text)| (trail, site.without_labels(text)));
            faults.unless_equal(&url, &found.collect::<Vec<_>>(), &sections(&expected));
        }
    });
}

#[test]
fn every_anchor_leads_to_the_heading_of_its_passage() {
    for_every_site(|site, report, faults| {
        for page in &report.pages {
            let html = site.html(&page.url);
            for passage in &page.passages {
                let heading = passage.headings.last();
                let Some(anchor) = &passage.anchor else {
                    faults.unless_equal(&format!("no anchor in {}", page.url), &heading, &None);
                    continue;
                };
                let target = plain(&named(&html, anchor).unwrap_or_default());
                let expected = plain(heading.unwrap_or(&page.title));
                let is_right = !target.is_empty() && target.starts_with(&expected);
                let place = format!("{}#{anchor} leads to {target}, not {expected}", page.url);
                faults.unless_equal(&place, &is_right, &true);
            }
        }
    });
}

/// The text of the heading or term that an id leads to.
fn named(html: &Html, id: &str) -> Option<String> {
    let all = Selector::parse("[id]").expect("a valid selector");
    let titles = Selector::parse("h1, h2, h3, h4, h5, h6, dt").expect("a valid selector");
    let element = html
        .select(&all)
        .find(|element| element.attr("id") == Some(id))?;
    let above = element.ancestors().filter_map(ElementRef::wrap);
    let title = std::iter::once(element)
        .chain(above)
        .find(|element| titles.matches(element))
        .or_else(|| element.select(&titles).next())?;
    Some(title.text().collect())
}

/// Headings, anchor and text of what Sphinx makes of `source/sphinx/api.md`.
const INTERFACE: [(&str, &str, &str); 7] = [
    (
        "",
        "programming-interface",
        "What the module offers to programs in Python.",
    ),
    (
        "Functions and classes",
        "module-heron",
        "Send requests and read answers piece by piece.",
    ),
    (
        "Functions and classes > class heron.Answer",
        "heron.Answer",
        "What a server sent back. An answer keeps the connection open until it was read.",
    ),
    (
        "Functions and classes > class heron.Answer > discard()",
        "heron.Answer.discard",
        "Close the connection without reading the rest.",
    ),
    (
        "Functions and classes > class heron.Answer > pieces()",
        "heron.Answer.pieces",
        "Read the body piece by piece.",
    ),
    (
        "Functions and classes > heron.send(address, timeout=30000)",
        "heron.send",
        "Send a request and wait for the headers. Parameters: address – Where the request goes. \
         timeout – Milliseconds that everything may take together.",
    ),
    (
        "Constants > heron.LIMIT",
        "heron.LIMIT",
        "Bytes that an answer may have.",
    ),
];

#[test]
fn entries_of_a_programming_interface_are_sections() {
    let expected = INTERFACE.map(|(trail, anchor, text)| [trail, anchor, text].map(str::to_owned));
    for_every_site(|site, report, faults| {
        let page = report.pages.iter().find(|page| page.url == "/api.html");
        let is_expected = site.more.contains(&"/api.html");
        faults.unless_equal("has an interface", &page.is_some(), &is_expected);
        let found: Vec<_> = page
            .iter()
            .flat_map(|page| &page.passages)
            .map(row)
            .collect();
        if is_expected {
            faults.unless_equal("its interface", found.as_slice(), &expected);
        }
    });
}

fn row(passage: &Passage) -> [String; 3] {
    let anchor = passage.anchor.clone().unwrap_or_default();
    [passage.headings.join(" > "), anchor, plain(&passage.text)]
}

#[test]
fn reading_twice_gives_the_same() {
    for_every_site(|site, report, faults| {
        let is_equal = site.read() == *report;
        faults.unless_equal("read twice", &is_equal, &true);
    });
}
