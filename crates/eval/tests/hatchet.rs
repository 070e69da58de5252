//! The loader, BM25 and the metrics together, on real documentation (see its SOURCE.txt).

use std::path::PathBuf;

use siskin_core::bm25::Bm25;
use siskin_eval::beir::{self, Document};
use siskin_eval::metrics::{Metrics, rank};

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/cases/beir")
        .join(name)
}

fn bm25_metrics(dataset: &beir::Dataset) -> Metrics {
    let index = Bm25::new(dataset.documents.iter().map(Document::words));
    let answer = |query: &beir::Query| {
        let ids = dataset
            .documents
            .iter()
            .map(|document| document.id.as_str());
        let found = ids
            .zip(index.scores(&query.text))
            .filter(|&(_, score)| score > 0.0);
        Metrics::of_ranking(&rank(found), &query.judgments)
    };
    Metrics::mean(&dataset.queries.iter().map(answer).collect::<Vec<_>>())
}

/// The figures of Python's bm25s 0.3.16 (method "lucene", k1 1.2, b 0.75, stop words "en",
/// PyStemmer "english"), judged by pytrec_eval-terrier 0.5.11; MRR cut at 10 by hand, since it
/// has no such measure.
#[test]
fn bm25_reproduces_the_figures_of_bm25s() {
    let dataset = beir::load(&folder("hatchet-docs"), None, "dev").unwrap();
    assert_eq!((dataset.documents.len(), dataset.queries.len()), (162, 128));
    let expected = [0.6096, 0.6308, 0.7228, 0.8823, 0.5522, 0.4741];
    for ((name, found), expected) in bm25_metrics(&dataset).columns().into_iter().zip(expected) {
        assert!(
            (found - expected).abs() < 0.0005,
            "{name}: {found:.4}, expected {expected}"
        );
    }
}

#[test]
fn the_mismatch_set_is_hard_for_words() {
    let dataset = beir::load(&folder("hatchet-docs-mismatch"), None, "synhard").unwrap();
    assert_eq!((dataset.documents.len(), dataset.queries.len()), (162, 19));
    assert!(bm25_metrics(&dataset).ndcg_at_10 < 0.3);
}
