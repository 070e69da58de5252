use serde_json::Value;

use crate::support::{encoder, indexed_site, siskin};

fn search(query: &str, extra: &[&str]) -> (i32, Value) {
    let site = indexed_site().to_str().unwrap();
    let arguments = ["search", site, query, "--json"];
    let run = siskin(arguments.iter().chain(extra));
    assert_eq!(run.stderr, "", "{query}");
    (run.code, serde_json::from_str(&run.stdout).unwrap())
}

fn first_url(answer: &Value) -> &str {
    answer["results"][0]["url"].as_str().unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn json_has_the_documented_form() {
    let (code, answer) = search("mutex", &["--limit", "1", "--sections", "2"]);
    assert_eq!(code, 0);
    assert_eq!(
        keys(&answer),
        [
            "mode",
            "query",
            "results",
            "suggestions",
            "took_ms",
            "total"
        ]
    );
    assert_eq!(
        (answer["query"].as_str(), answer["mode"].as_str()),
        (Some("mutex"), Some("table"))
    );
    assert_eq!(answer["results"].as_array().unwrap().len(), 1);
    let result = &answer["results"][0];
    assert_eq!(
        keys(result),
        [
            "excerpt", "filters", "heading", "matches", "meta", "score", "sections", "title", "url"
        ]
    );
    assert_eq!(
        keys(&result["sections"][0]),
        ["excerpt", "heading", "matches", "url"]
    );
    assert_eq!(result["url"], "/guide/threads.html#mutex");
    assert_eq!(result["title"], "Threads");
    assert_eq!(result["heading"], "Sharing a value");
    assert_eq!(keys(&result["matches"][0]), ["kind", "query", "text"]);
    assert!(result["score"].is_number() && answer["took_ms"].is_number());
}

#[test]
fn words_identifiers_and_meanings_find_their_pages() {
    for (query, mode, url) in [
        ("flour", "words", "/bread.html"),
        ("E0308", "words", "/guide/option.html"),
        ("--release", "table", "/guide/panic.html"),
        ("value may be missing", "table", "/guide/option.html"),
        ("crash on purpose", "table", "/guide/panic.html"),
        ("concurrency", "table", "/guide/threads.html#mutex"),
        ("pizza recipe", "table", "/bread.html"),
        ("muffin", "table", "/bread.html"),
        ("doughnut", "table", "/bread.html"),
    ] {
        let (_, answer) = search(query, &["--mode", mode]);
        assert_eq!(first_url(&answer), url, "{query}: {answer}");
    }
}

#[test]
fn mode_full_asks_the_encoder() {
    let encoder = encoder();
    let extra = ["--mode", "full", "--encoder", encoder.to_str().unwrap()];
    let (code, answer) = search("recipe for a loaf", &extra);
    assert_eq!((code, first_url(&answer)), (0, "/bread.html"));
}

#[test]
fn nothing_found_is_said_and_is_exit_code_1() {
    let (code, answer) = search("zzzz qqqq", &[]);
    assert_eq!((code, answer["results"].as_array().unwrap().len()), (1, 0));
    let run = siskin(["search", indexed_site().to_str().unwrap(), "zzzz qqqq"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with("no results"), "{run:?}");
}

#[test]
fn people_read_rank_title_address_and_reason() {
    let bundle = indexed_site().join("siskin");
    let run = siskin([
        "search",
        bundle.to_str().unwrap(),
        "mutex",
        "--explain",
        "--limit",
        "1",
    ]);
    let lines: Vec<_> = run.stdout.lines().map(str::trim).collect();
    assert_eq!(lines.len(), 4, "{run:?}");
    assert_eq!(lines[0], "1. Threads › Sharing a value");
    assert_eq!(lines[1], "/guide/threads.html#mutex");
    assert!(lines[2].starts_with("A mutex lets one thread"), "{run:?}");
    assert!(
        lines[3].starts_with("score ") && lines[3].ends_with("; mutex = mutex"),
        "{run:?}"
    );
    assert!(
        run.stderr.starts_with("1 result in ") && !run.stdout.contains('\u{1b}'),
        "{run:?}"
    );
    let quiet = siskin(["search", bundle.to_str().unwrap(), "mutex", "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
}
