//! The sample site, read as `siskin index` reads it.

// The lint's exception for tests does not reach the helpers of an integration test.
#![allow(clippy::expect_used)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use scraper::{Html, Selector};
use siskin_core::page::Page;
use siskin_extract::{pieces, site};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sites/rust-book")
}

static REPORT: LazyLock<site::SiteReport> = LazyLock::new(read);

fn read() -> site::SiteReport {
    site::pages(&folder(), |_| ()).expect("the sample site can be read")
}

fn page(url: &str) -> &'static Page {
    REPORT
        .pages
        .iter()
        .find(|page| page.url == url)
        .expect("the site has this page")
}

fn html(url: &str) -> String {
    let name = if url == "/" {
        "index.html"
    } else {
        url.trim_start_matches('/')
    };
    fs::read_to_string(folder().join(name)).expect("the page's file")
}

#[test]
fn all_chapters_are_pages_and_the_rest_is_left_out_with_a_reason() {
    let report = &REPORT;
    assert_eq!(report.pages.len(), 111);
    let skipped: Vec<_> = report
        .skipped
        .iter()
        .map(|skipped| format!("{}: {}", skipped.path.display(), skipped.reason))
        .collect();
    assert_eq!(
        skipped,
        [
            "404.html: shown for missing pages",
            "title-page.html: the same as /",
            "toc.html: repeats the book"
        ]
    );
    assert!(report.bad_bytes.is_empty());
    assert!(
        report
            .pages
            .iter()
            .all(|page| page.language.as_deref() == Some("en"))
    );
}

#[test]
fn every_anchor_is_an_id_in_its_page() {
    let with_id = Selector::parse("[id]").expect("a valid selector");
    for page in &REPORT.pages {
        let url = &page.url;
        let html = Html::parse_document(&html(url));
        let ids: BTreeSet<_> = html
            .select(&with_id)
            .filter_map(|element| element.value().id())
            .collect();
        for passage in &page.passages {
            let anchor = passage
                .anchor
                .as_deref()
                .expect("mdBook gives every heading an id");
            assert!(ids.contains(anchor), "{url}#{anchor}");
        }
    }
}

#[test]
fn known_sections_are_found_with_trail_and_anchor() {
    for (url, title, trail, anchor, text) in [
        (
            "/ch16-03-shared-state.html",
            "Shared-State Concurrency",
            "Controlling Access with Mutexes > Atomic Reference Counting with Arc<T>",
            "atomic-reference-counting-with-arct",
            "Fortunately, Arc<T> is a type like Rc<T> that is safe to use in concurrent situations.",
        ),
        (
            "/ch09-01-unrecoverable-errors-with-panic.html",
            "Unrecoverable Errors with panic!",
            "Unwinding the Stack or Aborting in Response to a Panic",
            "unwinding-the-stack-or-aborting-in-response-to-a-panic",
            "panic = 'abort'",
        ),
        (
            "/ch04-01-what-is-ownership.html",
            "What is Ownership?",
            "Variables and Data Interacting with Move",
            "variables-and-data-interacting-with-move",
            "error[E0382]: borrow of moved value",
        ),
        (
            "/ch14-01-release-profiles.html",
            "Customizing Builds with Release Profiles",
            "",
            "customizing-builds-with-release-profiles",
            "cargo build --release",
        ),
    ] {
        let page = page(url);
        assert_eq!(page.title, title);
        let found = page
            .passages
            .iter()
            .find(|passage| passage.text.contains(text));
        let found = found.unwrap_or_else(|| panic!("{url} holds “{text}”"));
        assert!(
            found.headings.join(" > ").ends_with(trail),
            "{:?}",
            found.headings
        );
        assert_eq!(found.anchor.as_deref(), Some(anchor));
    }
}

#[test]
fn no_navigation_script_or_invisible_text_is_read() {
    for page in &REPORT.pages {
        let url = &page.url;
        for passage in &page.passages {
            let text = passage.encoder_text(&page.title);
            for furniture in [
                "Keyboard shortcuts",
                "Toggle table of contents",
                "localStorage",
                "¶",
                "\u{200b}",
                "{{#",
                "Previous chapter",
            ] {
                assert!(!text.contains(furniture), "{url}: {text}");
            }
            assert!(
                !passage.text.is_empty() && !passage.text.contains("  "),
                "{url}: {text}"
            );
        }
    }
}

#[test]
fn passages_are_of_the_size_that_the_encoder_reads() {
    let sizes: Vec<usize> = REPORT
        .pages
        .iter()
        .flat_map(|page| {
            page.passages
                .iter()
                .map(|passage| pieces::estimate(&passage.encoder_text(&page.title)))
        })
        .collect();
    let mean = sizes.iter().sum::<usize>() / sizes.len();
    assert!(
        (2500..3500).contains(&sizes.len()),
        "{} passages",
        sizes.len()
    );
    assert!((100..120).contains(&mean), "{mean} pieces on average");
    assert!(sizes.iter().all(|size| *size <= 140));
}

#[test]
fn reading_twice_gives_the_same() {
    assert_eq!(read(), read());
}
