//! Whole evaluations on real documentation, with the released encoder.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test's helpers may fail it"
)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use siskin_core::container::sha256_hex;
use siskin_core::search::Mode;
use siskin_eval::beir::{self, Dataset};
use siskin_eval::collection::Observer;
use siskin_eval::run::{Baseline, Settings, evaluate};

/// Counts the passages that were encoded; a note is a failure.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Observer for Counter {
    fn encoded(&self, done: usize, _: usize) {
        self.0.fetch_max(done, Ordering::Relaxed);
    }

    fn note(&self, text: &str) {
        panic!("{text}");
    }

    fn remark(&self, text: &str) {
        let bytes = text
            .split(' ')
            .find_map(|word| word.parse::<f64>().ok())
            .unwrap();
        assert!(text.starts_with("uhd: ") && bytes < 160.0, "{text}");
    }
}

const ALL_BASELINES: [Baseline; 4] = [
    Baseline::Bm25,
    Baseline::Dense,
    Baseline::Hybrid,
    Baseline::Uhd,
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn hatchet() -> Dataset {
    beir::load(&root().join("tests/cases/beir/hatchet-docs"), None, "dev").unwrap()
}

/// The documents below 2,500 bytes that some query asks for, and the queries that ask for them.
fn short_hatchet() -> Dataset {
    let mut dataset = hatchet();
    let asked = |id: &String| {
        dataset
            .queries
            .iter()
            .any(|query| query.judgments.contains_key(id))
    };
    dataset
        .documents
        .retain(|document| document.text.len() < 2_500 && asked(&document.id));
    let known = |id: &String| dataset.documents.iter().any(|document| document.id == *id);
    for query in &mut dataset.queries {
        query.judgments.retain(|id, _| known(id));
    }
    dataset.queries.retain(|query| !query.judgments.is_empty());
    dataset
}

#[test]
fn words_are_near_bm25() {
    let settings = Settings {
        modes: vec![Mode::Words],
        baselines: vec![Baseline::Bm25],
        ..Settings::default()
    };
    let report = evaluate(&hatchet(), &settings, &Counter::default()).unwrap();
    let names: Vec<_> = report
        .systems
        .iter()
        .map(|system| system.name.as_str())
        .collect();
    assert_eq!((names, report.queries), (vec!["words", "bm25"], 128));
    let [words, bm25] = [0, 1].map(|at| report.systems[at].mean().ndcg_at_10);
    assert!(words >= 0.97 * bm25, "words {words:.3}, bm25 {bm25:.3}");
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
    let uhd = Settings {
        baselines: vec![Baseline::Uhd],
        ..Settings::default()
    };
    for (settings, expected) in [
        (full, "full needs an encoder"),
        (uhd, "uhd needs an encoder"),
        (hybrid, "hybrid needs an enc"),
    ] {
        let error = evaluate(&hatchet(), &settings, &Counter::default())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn baselines_are_read_by_the_names_that_they_print() {
    for baseline in ALL_BASELINES {
        assert_eq!(baseline.to_string().parse::<Baseline>().unwrap(), baseline);
    }
    let error = "tfidf".parse::<Baseline>().unwrap_err().to_string();
    assert!(error.contains("bm25, dense, hybrid and uhd"), "{error}");
}

#[test]
fn all_systems_answer_and_a_second_run_takes_its_codes_from_the_cache() {
    let (dataset, cache) = (short_hatchet(), tempfile::tempdir().unwrap());
    let encoder = root().join("models/siskin-en");
    let settings = Settings {
        modes: vec![Mode::Words, Mode::Table, Mode::Full],
        baselines: ALL_BASELINES.to_vec(),
        encoder: Some(encoder.clone()),
        baseline_encoder: Some(encoder),
        cache: Some(cache.path().to_owned()),
        ..Settings::default()
    };
    let (first, second) = (Counter::default(), Counter::default());
    let report = evaluate(&dataset, &settings, &first).unwrap();
    let names: Vec<_> = report
        .systems
        .iter()
        .map(|system| system.name.as_str())
        .collect();
    let all = ["words", "table", "full", "bm25", "dense", "hybrid", "uhd"];
    assert_eq!(names, all);
    for system in &report.systems {
        assert!(system.mean().ndcg_at_10 > 0.6, "{}", report.table());
    }
    assert!(first.0.into_inner() > dataset.documents.len());
    assert_eq!(evaluate(&dataset, &settings, &second).unwrap(), report);
    assert_eq!(second.0.into_inner(), 0);
}

/// A copy of the released encoder whose network says nothing of use while it reads queries.
fn encoder_that_misreads_queries() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let released = root().join("models/siskin-en");
    for entry in std::fs::read_dir(&released).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    let header = br#"{"hidden.norm_bias":{"dtype":"F32","shape":[384],"data_offsets":[0,1536]}}"#;
    let mut values = (header.len() as u64).to_le_bytes().to_vec();
    values.extend(header);
    values.extend([9.0_f32, -9.0].map(f32::to_le_bytes).concat().repeat(192));
    let json = std::fs::read(released.join("encoder.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_slice(&json).unwrap();
    manifest["files"]["queries.safetensors"] =
        serde_json::json!({"bytes": values.len(), "sha256": sha256_hex(&values)});
    std::fs::write(copy.path().join("queries.safetensors"), values).unwrap();
    std::fs::write(copy.path().join("encoder.json"), manifest.to_string()).unwrap();
    copy
}

#[test]
fn queries_and_no_passages_are_read_by_what_an_encoder_has_for_queries() {
    let dataset = short_hatchet();
    let means = |encoder: PathBuf| {
        let settings = Settings {
            modes: vec![Mode::Table, Mode::Full],
            baselines: vec![Baseline::Uhd, Baseline::Dense],
            baseline_encoder: Some(encoder.clone()),
            encoder: Some(encoder),
            ..Settings::default()
        };
        let report = evaluate(&dataset, &settings, &Counter::default()).unwrap();
        let systems = report.systems.iter();
        systems.map(|s| s.mean().ndcg_at_10).collect::<Vec<_>>()
    };
    let misread = encoder_that_misreads_queries();
    let (released, misread) = (
        means(root().join("models/siskin-en")),
        means(misread.path().to_owned()),
    );
    let lost: Vec<_> = released.iter().zip(&misread).map(|(a, b)| a - b).collect();
    let [table, full, dense_or_uhd @ ..] = lost.as_slice() else {
        panic!("{lost:?}");
    };
    assert_eq!(*table, 0.0);
    assert!(*full > 0.02, "{lost:?}");
    // The baseline of vectors is the network itself, which stays as it is.
    assert!(dense_or_uhd[0] > 0.2 && dense_or_uhd[1] == 0.0, "{lost:?}");
}
