//! A whole evaluation on real documentation. Modes and baselines that need an encoder are covered
//! where one is at hand; here the error without it is.

use std::path::PathBuf;

use siskin_core::search::Mode;
use siskin_eval::beir::{self, Dataset};
use siskin_eval::collection::Observer;
use siskin_eval::run::{Baseline, Settings, evaluate};

struct Silent;

impl Observer for Silent {
    fn encoded(&self, _: usize, _: usize) {}
    fn note(&self, _: &str) {}
}

fn hatchet() -> Dataset {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/beir");
    beir::load(&folder.join("hatchet-docs"), None, "dev").unwrap()
}

#[test]
fn words_are_at_least_as_good_as_bm25() {
    let settings = Settings {
        modes: vec![Mode::Words],
        baselines: vec![Baseline::Bm25],
        ..Settings::default()
    };
    let report = evaluate(&hatchet(), &settings, &Silent).unwrap();
    let names: Vec<_> = report
        .systems
        .iter()
        .map(|system| system.name.as_str())
        .collect();
    assert_eq!((names, report.queries), (vec!["words", "bm25"], 128));
    let [words, bm25] = [0, 1].map(|at| report.systems[at].mean().ndcg_at_10);
    assert!(words >= bm25, "words {words:.3}, bm25 {bm25:.3}");
}

#[test]
fn a_system_without_its_encoder_is_named() {
    let full = Settings {
        modes: vec![Mode::Words, Mode::Full],
        ..Settings::default()
    };
    let hybrid = Settings {
        baselines: vec![Baseline::Hybrid],
        ..Settings::default()
    };
    for (settings, expected) in [
        (full, "full needs an encoder"),
        (hybrid, "hybrid needs an enc"),
    ] {
        let error = evaluate(&hatchet(), &settings, &Silent)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn baselines_are_read_by_the_names_that_they_print() {
    for baseline in [Baseline::Bm25, Baseline::Dense, Baseline::Hybrid] {
        assert_eq!(baseline.to_string().parse::<Baseline>().unwrap(), baseline);
    }
    let error = "tfidf".parse::<Baseline>().unwrap_err().to_string();
    assert!(error.contains("bm25, dense and hybrid"), "{error}");
}
