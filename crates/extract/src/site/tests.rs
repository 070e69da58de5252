use super::*;

/// A folder with the files, each given as path and content.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
    folder
}

fn pages_of(files: &[(&str, &[u8])]) -> SiteReport {
    pages(folder(files).path(), |_| ()).expect("pages")
}

fn html(text: &str) -> Vec<u8> {
    format!("<title>{text}</title><main><p>{text}</main>").into_bytes()
}

fn skipped(report: &SiteReport) -> Vec<(String, String)> {
    let text = |skipped: &Skipped| {
        (
            skipped.path.display().to_string(),
            skipped.reason.to_string(),
        )
    };
    report.skipped.iter().map(text).collect()
}

fn urls(report: &SiteReport) -> Vec<&str> {
    report.pages.iter().map(|page| page.url.as_str()).collect()
}

#[test]
fn addresses_are_those_that_a_server_gives() {
    let names = [
        "index.html",
        "a/index.html",
        "a/x.HTML",
        "b/index.htm",
        "c d/ä#?%.html",
        "e/myindex.html",
    ];
    let pages: Vec<_> = names.iter().map(|name| (*name, html(name))).collect();
    let pages: Vec<_> = pages
        .iter()
        .map(|(name, content)| (*name, content.as_slice()))
        .collect();
    let folder = folder(&pages);
    let report = super::pages(folder.path(), |_| ()).expect("pages");
    assert_eq!(
        urls(&report),
        [
            "/a/",
            "/a/x.HTML",
            "/b/",
            "/c%20d/%C3%A4%23%3F%25.html",
            "/e/myindex.html",
            "/"
        ]
    );
}

#[test]
fn what_is_no_page_is_left_out_and_named() {
    let page = html("page");
    let folder = folder(&[
        ("404.html", &page),
        ("a.html", &page),
        ("b.html", &page),
        ("c/index.htm", b"<main>c"),
        ("c/index.html", b"<main>d"),
        ("empty.html", b"<main></main>"),
        (
            "moved.html",
            b"<meta http-equiv=refresh content='0; URL=a.html'>Moved",
        ),
        ("node_modules/x.html", b"<main>x"),
        (
            "noindex.html",
            b"<meta name=robots content='nofollow, NoIndex'><main>e",
        ),
        ("notes.txt", b"text"),
        ("print.html", b"<!-- Book generated using mdBook --><main>f"),
        ("g/print.html", b"<main>how to print"),
        (".git/x.html", b"<main>x"),
        (
            "tags/index.html",
            b"<main><h1>Tags</h1><a href=/a.html>page</a>",
        ),
    ]);
    let report = pages(folder.path(), |_| ()).expect("pages");
    assert_eq!(urls(&report), ["/a.html", "/c/", "/g/print.html"]);
    let expected = [
        ("404.html", "shown for missing pages"),
        ("b.html", "the same as /a.html"),
        ("c/index.htm", "another file has its address, /c/"),
        ("empty.html", "no text in its main content"),
        ("moved.html", "only redirects"),
        ("noindex.html", "says noindex"),
        ("print.html", "repeats the book"),
        ("tags/index.html", "only lists other pages"),
    ];
    assert_eq!(
        skipped(&report),
        expected.map(|(path, reason)| (path.to_owned(), reason.to_owned()))
    );
    assert!(
        !report
            .skipped
            .iter()
            .any(|skipped| skipped.reason.is_problem())
    );
}

#[test]
fn folders_with_a_search_index_are_left_out() {
    let report = pages_of(&[
        ("a.html", b"<main>a"),
        ("siskin/siskin.json", b"{}"),
        ("siskin/demo.html", b"<main>x"),
        ("docs/pagefind/pagefind-entry.json", b"{}"),
        ("docs/pagefind/demo.html", b"<main>x"),
    ]);
    assert_eq!(urls(&report), ["/a.html"]);
    let expected = ["docs/pagefind", "siskin"];
    assert_eq!(
        skipped(&report),
        expected.map(|path| (path.to_owned(), "a search index".to_owned()))
    );
}

#[test]
fn what_sphinx_adds_to_its_documents_is_left_out() {
    let options = ("v1/_static/documentation_options.js", b"".as_slice());
    let names = [
        "genindex.html",
        "search.html",
        "v1/_modules/x.html",
        "v1/_static/macros.html",
        "v1/genindex-A.html",
        "v1/guide/search.html",
        "v1/py-modindex/index.html",
        "v1/search.html",
    ];
    let pages: Vec<_> = names.iter().map(|name| (*name, html(name))).collect();
    let mut files: Vec<_> = pages
        .iter()
        .map(|(name, content)| (*name, content.as_slice()))
        .collect();
    files.push(options);
    let report = pages_of(&files);
    assert_eq!(
        urls(&report),
        ["/genindex.html", "/search.html", "/v1/guide/search.html"]
    );
    let reason = "added by Sphinx to the documents";
    let left_out = [
        "v1/_modules",
        "v1/_static",
        "v1/genindex-A.html",
        "v1/py-modindex",
        "v1/search.html",
    ];
    assert_eq!(
        skipped(&report),
        left_out.map(|path| (path.to_owned(), reason.to_owned()))
    );
}

#[test]
fn pages_that_mark_no_content_are_left_out_where_others_do_so_for_pagefind() {
    let site = [
        ("a.html", b"<main data-pagefind-body>a".as_slice()),
        ("b.html", b"<main>b"),
        ("c.html", b"<main data-siskin-body>c"),
    ];
    let report = pages_of(&site);
    assert_eq!(urls(&report), ["/a.html", "/c.html"]);
    assert_eq!(
        skipped(&report),
        [(
            "b.html".to_owned(),
            "without data-pagefind-body, which other pages have".to_owned()
        )]
    );
    assert_eq!(
        urls(&pages_of(&site[1..])),
        ["/b.html", "/c.html"],
        "our own mark asks nothing of other pages"
    );
}

#[test]
fn pages_that_differ_in_what_is_said_of_them_are_all_read() {
    let page = |version: &str| {
        format!(
            "<main><h1>Install</h1><p>Run it.<p data-siskin-filter='version[title]' title='{version}'>"
        )
    };
    let said = |language: &str| format!("<html lang={language}><main><h1>Limits</h1><p>Memory.");
    let site = folder(&[
        ("v1/install.html", page("1").as_bytes()),
        ("v2/install.html", page("2").as_bytes()),
        ("v3/install.html", page("2").as_bytes()),
        ("de/limits.html", said("de").as_bytes()),
        ("en/limits.html", said("en").as_bytes()),
    ]);
    let report = pages(site.path(), |_| ()).expect("pages");
    assert_eq!(
        urls(&report),
        [
            "/de/limits.html",
            "/en/limits.html",
            "/v1/install.html",
            "/v2/install.html"
        ]
    );
}

#[test]
fn the_end_of_a_title_is_cut_only_where_pages_share_it() {
    let page = |title: &str, text: &str| format!("<title>{title}</title><main>{text}");
    let titles = |site: &[(&str, &str)]| {
        let files: Vec<_> = site.iter().map(|(title, text)| page(title, text)).collect();
        let names: Vec<String> = (0..files.len()).map(|i| format!("{i}.html")).collect();
        let files = names
            .iter()
            .map(String::as_str)
            .zip(files.iter().map(|file| file.as_bytes()));
        let site = folder(&files.collect::<Vec<_>>());
        let report = pages(site.path(), |_| ()).expect("pages");
        report
            .pages
            .into_iter()
            .map(|page| page.title)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        titles(&[("Install - Linux", "a"), ("Install - Windows", "b")]),
        ["Install - Linux", "Install - Windows"]
    );
    assert_eq!(
        titles(&[
            ("Ducks - Birds", "a"),
            ("Geese - Birds", "b"),
            ("Calls - Ducks", "c")
        ]),
        ["Ducks", "Geese", "Calls - Ducks"]
    );
    assert_eq!(titles(&[("Ducks - Birds", "a")]), ["Ducks"]);
    // A page with a heading of its own tells of the site's name, too.
    assert_eq!(
        titles(&[
            ("Birds - Home", "a"),
            ("Ducks - Birds", "b"),
            ("Geese - Birds", "<h1>Geese</h1>c")
        ]),
        ["Birds - Home", "Ducks", "Geese"]
    );
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let elsewhere = folder(&[("secret.html", &html("secret"))]);
    let site = folder(&[("a/page.html", &html("page"))]);
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, site.path().join(name)).expect("a link");
    };
    link(&elsewhere.path().join("secret.html"), "secret.html");
    link(elsewhere.path(), "folder");
    link(Path::new("nowhere.html"), "broken.html");
    link(Path::new("a"), "copy");
    link(Path::new(".."), "a/loop");
    std::fs::create_dir(site.path().join(".build")).expect("a folder");
    link(Path::new(".build"), "docs");
    link(elsewhere.path(), "v1.2");
    // No page is behind these.
    link(elsewhere.path(), "node_modules");
    link(Path::new("/nowhere/site.css"), "site.css");
    link(elsewhere.path(), ".cache");
    let report = pages(site.path(), |_| ()).expect("pages");
    assert_eq!(urls(&report), ["/a/page.html"]);
    let problems: Vec<_> = report
        .skipped
        .iter()
        .filter(|skipped| skipped.reason.is_problem())
        .collect();
    let problems: Vec<_> = problems
        .iter()
        .map(|skipped| skipped.path.display().to_string())
        .collect();
    assert_eq!(
        problems,
        ["broken.html", "docs", "folder", "secret.html", "v1.2"]
    );
    assert_eq!(report.skipped.len(), 7, "{:?}", report.skipped);
}

#[test]
fn a_page_that_cannot_be_parsed_is_a_problem_and_the_others_are_read() {
    let site = folder(&[
        ("deep.html", "<div>".repeat(9000).as_bytes()),
        ("a.html", &html("a")),
    ]);
    let report = pages(site.path(), |_| ()).expect("pages");
    assert_eq!(urls(&report), ["/a.html"]);
    assert!(report.skipped[0].reason.is_problem());
    assert!(
        report.skipped[0]
            .reason
            .to_string()
            .contains("nested 9000 deep")
    );
}

#[test]
fn bad_bytes_are_replaced_and_reported() {
    let site = folder(&[
        ("a.html", b"<main>caf\xe9"),
        ("b.html", b"<meta charset=latin1><main>caf\xe9"),
    ]);
    let report = pages(site.path(), |_| ()).expect("pages");
    assert_eq!(report.pages[0].passages[0].text, "caf\u{fffd}");
    assert_eq!(report.pages[1].passages[0].text, "café");
    assert_eq!(report.bad_bytes, [PathBuf::from("a.html")]);
}

#[test]
fn every_file_is_counted_once_in_the_progress() {
    let site = folder(&[
        ("a.html", &html("a")),
        ("b.html", &html("b")),
        ("c.html", b""),
    ]);
    let seen = std::sync::Mutex::new(Vec::new());
    pages(site.path(), |progress| {
        seen.lock().expect("no panic").push(progress);
    })
    .expect("pages");
    let mut seen = seen.into_inner().expect("no panic");
    seen.sort_by_key(|progress| progress.done);
    assert_eq!(seen, [1, 2, 3].map(|done| Progress { done, total: 3 }));
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    let empty = folder(&[("a.md", b""), ("b/c.css", b"")]);
    let error = |path: &Path| pages(path, |_| ()).expect_err("no pages").to_string();
    let at = |name: &str| empty.path().join(name).display().to_string();
    assert!(
        error(&empty.path().join("x")).starts_with(&format!("no such folder: {}; give", at("x")))
    );
    assert!(
        error(&empty.path().join("a.md"))
            .starts_with(&format!("not a folder: {}; give", at("a.md")))
    );
    assert!(error(empty.path()).contains("(2 other files seen); build the site first"));
    fs::write(
        empty.path().join("x.html"),
        "<meta name=robots content=none><main>x",
    )
    .expect("a file");
    let nothing = error(empty.path());
    assert!(
        nothing.contains("all 1 HTML files were left out (the first, x.html: says noindex)"),
        "{nothing}"
    );
    assert_eq!(nothing.lines().count(), 1);
}

#[test]
fn of_equal_pages_the_published_one_is_kept() {
    let page = |canonical: &str| {
        format!("<html lang=en><title>T</title>{canonical}<main><p>same</main>").into_bytes()
    };
    let kept = |names: &[&str], canonical: &str| -> Vec<String> {
        let content = page(canonical);
        let files: Vec<_> = names
            .iter()
            .map(|name| (*name, content.as_slice()))
            .collect();
        let report = pages_of(&files);
        assert_eq!(report.skipped.len() + 1, names.len());
        urls(&report).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(kept(&["da/a.html", "en/a.html"], ""), ["/en/a.html"]);
    assert_eq!(kept(&["category/birds.html", "index.html"], ""), ["/"]);
    assert_eq!(kept(&["b.html", "a.html"], ""), ["/a.html"]);
    let numbered =
        |id: u32| format!("<title>T</title><main><p>a<h2 id=id{id}>B</h2><p>c").into_bytes();
    let (one, two) = (numbered(1), numbered(2));
    let report = pages_of(&[("a.html", &one), ("b.html", &two)]);
    assert_eq!(urls(&report), ["/a.html"], "ids may be numbered");
    let canonical = "<link rel=canonical href=/docs/guide>";
    assert_eq!(
        kept(&["a-old.html", "guide.html"], canonical),
        ["/guide.html"]
    );
}

#[test]
fn what_most_pages_share_is_no_page_s_own() {
    let files: Vec<(String, Vec<u8>)> = (0..9)
        .map(|number| {
            let head = format!("<title>Part {number} | Birds 1.0</title>");
            let body = format!(
                "<p>Menu of all birds</p><p>Text {number}.</p><h2>More</h2><p>Lines {number}.</p><p>Report a bug</p>\
                <h2>Legal</h2><p>Mind the ducks.</p>"
            );
            let page = format!("{head}<h1>Birds</h1><h2>Part {number}</h2>{body}");
            (format!("{number}.html"), page.into_bytes())
        })
        .collect();
    let files: Vec<_> = files
        .iter()
        .map(|(name, page)| (name.as_str(), page.as_slice()))
        .collect();
    let report = pages_of(&files);
    for (number, page) in report.pages.iter().enumerate() {
        assert_eq!(page.title, format!("Part {number}"));
        assert!(page.passages[0].headings.is_empty(), "it is the title");
        let texts: Vec<_> = page.passages.iter().map(|passage| &passage.text).collect();
        let own = ["Text", "Lines"].map(|word| format!("{word} {number}."));
        // A heading keeps its only text.
        let legal = "Mind the ducks.".to_owned();
        assert_eq!(texts, own.iter().chain([&legal]).collect::<Vec<_>>());
    }
    // Of three pages nothing is said, and a page that has nothing else keeps it.
    assert_eq!(pages_of(&files[..3]).pages[0].title, "Birds");
    let alike: Vec<_> = (0..9)
        .map(|number| {
            let page = format!("<title>T{number}</title><main><p>the same").into_bytes();
            (format!("{number}.html"), page)
        })
        .collect();
    let alike: Vec<_> = alike
        .iter()
        .map(|(name, page)| (name.as_str(), page.as_slice()))
        .collect();
    assert_eq!(pages_of(&alike).pages.len(), 9);
}

#[cfg(unix)]
#[test]
fn what_is_no_plain_file_is_named_and_not_read() {
    let folder = folder(&[("a.html", &html("a"))]);
    let pipe = folder.path().join("pipe.html");
    std::os::unix::net::UnixListener::bind(&pipe).expect("a socket");
    let report = super::pages(folder.path(), |_| ()).expect("pages");
    let expected = ("pipe.html".to_owned(), "no plain file".to_owned());
    assert_eq!(skipped(&report), [expected]);
}

#[test]
fn the_site_s_name_is_cut_off_titles_wherever_most_have_it() {
    for (before, behind) in [
        ("JSDoc: ", ""),
        ("", ": Birds Manual"),
        ("", " (Birds 1.0)"),
    ] {
        let page = |number: u32| {
            let title = format!("<title>{before}Part {number}{behind}</title>");
            format!("{title}<main><p>Text {number}").into_bytes()
        };
        let files: Vec<_> = (0..4)
            .map(|number| (format!("{number}.html"), page(number)))
            .collect();
        let files: Vec<_> = files
            .iter()
            .map(|(name, page)| (name.as_str(), page.as_slice()))
            .collect();
        let titles = |files| pages_of(files).pages.into_iter().map(|page| page.title);
        let own = ["Part 0", "Part 1", "Part 2", "Part 3"];
        assert!(titles(&files).eq(own), "{before}{behind}");
        assert!(titles(&files[..3]).all(|title| title.len() > "Part 0".len()));
    }
}
