use std::fs;

use crate::support::{encoder, failure, index_arguments, siskin, site};

#[test]
fn questions_are_counted_by_the_rank_of_their_page() {
    let site = site();
    assert_eq!(siskin(index_arguments(site.path())).code, 0);
    let queries = site.path().join("questions.tsv");
    fs::write(
        &queries,
        "# ours\nmutex\t/guide/threads.html\ndough\t/bread.html /\n",
    )
    .unwrap();
    let eval = |more: &[&str]| {
        let mut arguments = vec!["eval-site", site.path().to_str().unwrap(), "--queries"];
        arguments.push(queries.to_str().unwrap());
        arguments.extend(more);
        siskin(arguments)
    };
    let encoder = encoder();
    let run = eval(&[
        "--mode",
        "words,full",
        "--encoder",
        encoder.to_str().unwrap(),
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    let found = |mode: &str| {
        let row = run.stdout.lines().find(|line| line.starts_with(mode));
        row.unwrap()
            .split_whitespace()
            .skip(1)
            .take(3)
            .collect::<Vec<_>>()
    };
    assert_eq!(found("words"), ["2/2"; 3]);
    assert_eq!(found("full"), ["2/2"; 3]);

    fs::write(&queries, "mutex\t/bread.html\n").unwrap();
    let run = eval(&["--mode", "words", "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["modes"][0]["found"]["10"], 0);
    assert_eq!(
        report["modes"][0]["missed"][0]["first"],
        "/guide/threads.html"
    );

    fs::write(&queries, "mutex\t/missing.html\n").unwrap();
    let error = failure([
        "eval-site".as_ref(),
        site.path().as_os_str(),
        "--queries".as_ref(),
        queries.as_os_str(),
    ]);
    assert!(
        error.ends_with("line 1: /missing.html is not a page of the site"),
        "{error}"
    );
}
