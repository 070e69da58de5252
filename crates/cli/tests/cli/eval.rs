use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{failure, query_encoder, siskin};

fn dataset() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/beir/hatchet-docs")
}

#[test]
fn systems_are_measured_side_by_side() {
    let dataset = dataset();
    let run = siskin([
        "eval",
        dataset.to_str().unwrap(),
        "--mode",
        "words",
        "--baseline",
        "bm25",
        "--json",
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["dataset"], "hatchet-docs");
    assert_eq!(report["split"], "dev");
    for system in ["words", "bm25"] {
        let ndcg = report["systems"][system]["ndcg@10"].as_f64().unwrap();
        assert!((0.3..1.0).contains(&ndcg), "{system}: {report}");
    }
}

#[test]
fn a_split_that_does_not_exist_is_an_error() {
    let error = failure(["eval", dataset().to_str().unwrap(), "--split", "moon"]);
    assert!(
        error.contains("has no qrels/moon.tsv; its splits: dev"),
        "{error}"
    );
}

#[test]
fn a_reader_of_queries_that_nothing_asks_is_an_error() {
    let (dataset, reader) = (dataset(), query_encoder());
    let eval = |asked: [&str; 2]| {
        let [dataset, reader] = [&dataset, &reader].map(|path| path.to_str().unwrap());
        failure([
            "eval",
            dataset,
            "--query-encoder",
            reader,
            asked[0],
            asked[1],
        ])
    };
    for asked in [["--mode", "table"], ["--baseline", "dense"]] {
        let error = eval(asked);
        assert!(
            error.contains("of mode full and baseline uhd alone"),
            "{error}"
        );
    }
}
