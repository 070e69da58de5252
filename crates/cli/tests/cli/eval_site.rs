use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::support::{Run, encoder, failure, index_arguments, siskin, site};

/// An indexed site with a file of questions.
fn asked(questions: &str) -> (TempDir, Vec<PathBuf>) {
    let site = site();
    assert_eq!(siskin(index_arguments(site.path())).code, 0);
    let queries = site.path().join("questions.tsv");
    fs::write(&queries, questions).unwrap();
    let arguments = vec![
        "eval-site".into(),
        site.path().to_owned(),
        "--queries".into(),
        queries,
    ];
    (site, arguments)
}

fn eval(questions: &str, options: &[&str]) -> Run {
    let (_site, mut arguments) = asked(questions);
    arguments.extend(options.iter().map(PathBuf::from));
    siskin(arguments)
}

#[test]
fn questions_are_counted_by_the_rank_of_their_page() {
    let questions = "# ours\nmutex\t/guide/threads.html\ndough\t/bread.html /\n";
    let encoder = encoder();
    let encoder = ["--encoder", encoder.to_str().unwrap()];
    let run = eval(
        questions,
        &[&["--mode", "words,full"], &encoder[..]].concat(),
    );
    assert_eq!(run.code, 0, "{run:?}");
    for mode in ["words", "full"] {
        let row = run.stdout.lines().find(|line| line.starts_with(mode));
        let counts = row.unwrap().split_whitespace().skip(1).take(3);
        assert_eq!(counts.collect::<Vec<_>>(), ["2/2"; 3], "{run:?}");
    }
}

#[test]
fn questions_without_their_page_are_named() {
    let run = eval("mutex\t/bread.html\n", &["--mode", "words", "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["modes"][0]["found"]["10"], 0);
    let missed = &report["modes"][0]["missed"][0];
    assert_eq!(missed["first"], "/guide/threads.html");
}

#[test]
fn an_address_that_is_no_page_is_refused() {
    let (_site, arguments) = asked("mutex\t/missing.html\n");
    let error = failure(arguments);
    assert!(
        error.ends_with("line 1: /missing.html is not a page of the site"),
        "{error}"
    );
}

#[test]
fn a_pagefind_index_that_is_none_is_refused_when_named_and_passed_over_when_found() {
    let (site, mut arguments) = asked("mutex\t/guide/threads.html\n");
    let found = site.path().join("pagefind");
    fs::create_dir(&found).unwrap();
    fs::write(found.join("pagefind-entry.json"), "{}").unwrap();
    fs::write(found.join("pagefind.js"), "no script").unwrap();
    let run = siskin(arguments.clone());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("not compared with Pagefind"), "{run:?}");
    assert!(!run.stdout.contains("pagefind"), "{run:?}");
    let run = siskin([arguments.clone(), vec!["--no-pagefind".into()]].concat());
    assert!(!run.stderr.contains("Pagefind"), "{run:?}");
    arguments.extend(["--pagefind".into(), site.path().join("guide")]);
    let error = failure(arguments);
    assert!(
        error.contains("guide holds no index of Pagefind's"),
        "{error}"
    );
}
