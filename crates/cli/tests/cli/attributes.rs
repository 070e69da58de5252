//! What pages say of themselves in attributes, from the index to the answer.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{encoder, index_arguments, siskin};

/// Six pages on birds: of two kinds, with falling dates, one of another language, one of less weight.
fn birds() -> TempDir {
    let site = tempfile::tempdir().unwrap();
    for (number, bird) in ["duck", "goose", "swan", "heron", "crane", "stork"]
        .iter()
        .enumerate()
    {
        let kind = if number < 3 { "water" } else { "wading" };
        let language = if number == 4 { "de" } else { "en" };
        let weight = if number == 0 { "0.2" } else { "1" };
        let page = format!(
            "<!doctype html><html lang={language}><meta data-siskin-filter=\"author[content]\" content=Ada>\
             <title>The {bird}</title><main data-siskin-weight={weight}><h1>The {bird}</h1>\
             <p data-pagefind-filter=kind>{kind}</p><time data-siskin-sort=\"date[datetime]\" datetime=20{}-01-01></time>\
             <p data-siskin-meta=\"by:Ada\">A bird with feathers and a bill. The {bird} builds a nest.",
            30 - number
        );
        fs::write(site.path().join(format!("{bird}.html")), page).unwrap();
    }
    let run = siskin(index_arguments(site.path()));
    assert_eq!(run.code, 0, "{run:?}");
    site
}

fn search(site: &TempDir, query: &str, options: &[&str]) -> Value {
    let bundle = site.path().join("siskin");
    let bundle = bundle.to_str().unwrap();
    let arguments = [&["search", "--json", bundle, query], options].concat();
    let run = siskin(&arguments);
    serde_json::from_str(&run.stdout).unwrap()
}

fn urls(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap();
    results
        .iter()
        .map(|result| result["url"].as_str().unwrap())
        .collect()
}

#[test]
fn pages_are_chosen_sorted_weighed_and_counted() {
    let site = birds();
    let all = search(&site, "bird with feathers", &["--facets"]);
    assert_eq!(urls(&all).len(), 6);
    assert_eq!(
        urls(&all).last(),
        Some(&"/duck.html"),
        "the page of less weight"
    );
    assert_eq!(all["results"][0]["meta"], json!({"by": "Ada"}));
    let facets = json!([
        {"filter": "author", "value": "Ada", "found": 6, "pages": 6},
        {"filter": "kind", "value": "wading", "found": 3, "pages": 3},
        {"filter": "kind", "value": "water", "found": 3, "pages": 3},
        {"filter": "language", "value": "de", "found": 1, "pages": 1},
        {"filter": "language", "value": "en", "found": 5, "pages": 5},
    ]);
    assert_eq!(all["facets"], facets);

    let sorted = search(&site, "bird", &["--filter", "kind=water", "--sort", "date"]);
    assert_eq!(urls(&sorted), ["/swan.html", "/goose.html", "/duck.html"]);
    let newest = search(&site, "", &["--filter", "kind=wading", "--sort", "-date"]);
    assert_eq!(urls(&newest), ["/heron.html", "/crane.html", "/stork.html"]);
    let both = search(
        &site,
        "bird",
        &["--filter", "kind=water", "--filter", "kind=wading"],
    );
    assert_eq!(both["total"], 6);
    let german = search(&site, "bird", &["--language", "de-AT"]);
    assert_eq!(urls(&german), ["/crane.html"]);
    let french = search(&site, "bird", &["--language", "fr"]);
    assert_eq!(french["total"], 6, "the site has no page in French");
}

#[test]
fn a_filter_that_no_page_has_finds_nothing_and_one_without_a_value_is_refused() {
    let site = birds();
    assert_eq!(
        search(&site, "bird", &["--filter", "kind=flying"])["total"],
        0
    );
    let bundle = site.path().join("siskin");
    let bundle_path = bundle.to_str().unwrap();
    let run = siskin(["search", bundle_path, "bird", "--filter", "kinds=water"]);
    assert_eq!(run.code, 2);
    let names = "no page has a filter `kinds`; there are: author, kind, language";
    assert!(run.stderr.contains(names), "{run:?}");
    let run = siskin(["search", bundle_path, "bird", "--limit", "0"]);
    assert!(run.stderr.contains("give a number, 1 or more"), "{run:?}");
    let encoder = encoder();
    let full = ["--mode", "full", "--encoder", encoder.to_str().unwrap()];
    let listed = search(
        &site,
        "",
        &[&["--filter", "kind=water"], &full[..]].concat(),
    );
    assert_eq!(listed["total"], 3);
    let run = siskin([
        "search",
        bundle.to_str().unwrap(),
        "bird",
        "--filter",
        "kind",
    ]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("NAME=VALUE, such as kind=guide"),
        "{run:?}"
    );
    let run = siskin([
        "search",
        bundle.to_str().unwrap(),
        "bird",
        "--facets",
        "--quiet",
    ]);
    assert!(run.stdout.contains("kind: water 3 of 3\n"), "{run:?}");
}
