use std::fs;

use crate::support::{failure, folder, html, names, siskin, site};

#[test]
fn what_an_owner_may_want_to_mend_is_named_and_nothing_is_written() {
    let words = "Some words that fill the page so that it is not thin at all. ".repeat(3);
    let page = |title| html(title, &format!("<p>{words}{title}</p>"));
    let site = folder(&[
        ("index.html", page("Start")),
        (
            "a/index.html",
            page("Same title").replace("title</p>", "a</p>"),
        ),
        ("b/index.html", page("Same title")),
        ("thin.html", html("Thin", "<p>Nothing.</p>")),
        (
            "plain.html",
            html(
                "Plain",
                &format!("<h2 id=here>Here</h2><p>{words}</p><h2>There</h2><p>{words}</p>"),
            ),
        ),
        ("deep.html", "<div>".repeat(5000)),
        ("404.html", page("Lost")),
    ]);
    let before = names(site.path());
    let run = siskin(["check".as_ref(), site.path().as_os_str()]);
    assert_eq!(run.code, 1, "{run:?}");
    for line in [
        "5 pages, 6 passages, ",
        "left out 2: 1 named above, 1 shown for missing pages",
        "  /plain.html: There",
        "  Same title: /a/; /b/",
        "  /thin.html",
    ] {
        assert!(
            run.stdout.lines().any(|found| found.starts_with(line)),
            "{line}: {run:?}"
        );
    }
    assert!(run.stderr.contains("left out deep.html"), "{run:?}");
    assert_eq!(names(site.path()), before);

    let run = siskin(["check".as_ref(), site.path().as_os_str(), "--json".as_ref()]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["pages"].as_array().unwrap().len(), 5);
    assert_eq!(report["headings_without_anchor"]["/plain.html"][0], "There");
}

#[test]
fn a_site_in_order_is_done() {
    let site = site();
    for name in ["index.html", "404.html"] {
        fs::remove_file(site.path().join(name)).unwrap();
    }
    fs::remove_file(site.path().join("bread.html")).unwrap();
    let run = siskin(["check".as_ref(), site.path().as_os_str()]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.starts_with("3 pages, "), "{run:?}");
}

#[test]
fn a_folder_without_pages_fails() {
    let empty = folder(&[("notes.txt", "x")]);
    let error = failure(["check".as_ref(), empty.path().as_os_str()]);
    assert!(error.contains("no HTML"), "{error}");
}
