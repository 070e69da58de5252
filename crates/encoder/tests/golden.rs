//! Both engines agree with the trainer's own forward pass on the golden vectors, and with each
//! other.
//!
//! Runs on the released encoders, or on the one in `SISKIN_TEST_ENCODER`.

#![allow(clippy::unwrap_used, clippy::panic)] // tests may: a panic is a failure

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use siskin_core::encoded::{Encode, EncodedText, PassageCodes, TokenWinners, inner_tokens};
use siskin_encoder::store::{Pooling, Progress};
use siskin_encoder::{Encoder, Engine, Quantization, mean_pool, span_pool};

#[derive(Deserialize)]
struct Golden {
    texts: Vec<GoldenText>,
}

#[derive(Deserialize)]
struct GoldenText {
    text: String,
    pieces: Vec<u32>,
    winners: Vec<Vec<Vec<u32>>>,
    dense: Vec<f32>,
}

/// What the exporter promises for each way of storing weights.
struct Tolerance {
    mean_jaccard: f64,
    cosine: f32,
}

/// An encoder's folder, opened by the engine that it takes itself and by tract, the reference.
struct Opened {
    folder: PathBuf,
    encoder: Encoder,
    by_tract: Encoder,
    golden: Golden,
}

impl Opened {
    fn new(folder: PathBuf) -> Self {
        let golden = std::fs::read(folder.join("golden.json")).unwrap();
        Self {
            encoder: Encoder::open(&folder).unwrap(),
            by_tract: Encoder::open_with(Some(Engine::Tract), &folder).unwrap(),
            golden: serde_json::from_slice(&golden).unwrap(),
            folder,
        }
    }
}

/// The encoders under test, opened once for all tests.
fn opened() -> &'static [Opened] {
    static OPENED: LazyLock<Vec<Opened>> = LazyLock::new(|| {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let released = ["siskin-en", "siskin-en-small"].map(|name| models.join(name));
        let folders = std::env::var_os("SISKIN_TEST_ENCODER")
            .map_or(released.to_vec(), |folder| vec![folder.into()]);
        folders.into_iter().map(Opened::new).collect()
    });
    &OPENED
}

/// The first encoder under test, of the released ones that for passages.
fn first() -> (&'static Encoder, &'static Golden) {
    let first = &opened()[0];
    (&first.encoder, &first.golden)
}

fn tolerance(quantization: Quantization) -> Tolerance {
    match quantization {
        Quantization::F32 => Tolerance {
            mean_jaccard: 0.97,
            cosine: 0.999_99,
        },
        Quantization::Int8 => Tolerance {
            mean_jaccard: 0.85,
            cosine: 0.995,
        },
    }
}

/// Mean over tokens of |A ∩ B| / |A ∪ B|; none for a text without tokens.
fn jaccard(found: &TokenWinners, wanted: &[Vec<u32>]) -> Option<f64> {
    assert_eq!(found.dimensions.len(), found.k * wanted.len());
    let tokens = found
        .dimensions
        .chunks(found.k)
        .zip(wanted)
        .map(|(found, wanted)| {
            let found: HashSet<u32> = found.iter().copied().collect();
            let wanted: HashSet<u32> = wanted.iter().copied().collect();
            found.intersection(&wanted).count() as f64 / found.union(&wanted).count() as f64
        });
    let sum = tokens.sum::<f64>();
    (!wanted.is_empty()).then_some(sum / wanted.len() as f64)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn pieces(text: &EncodedText) -> Vec<u32> {
    text.pieces.iter().map(|piece| piece.0).collect()
}

#[test]
fn agrees_with_the_golden_vectors() {
    for opened in opened() {
        for encoder in [&opened.encoder, &opened.by_tract] {
            eprintln!("{}, {:?}:", opened.folder.display(), encoder.engine());
            check_against(encoder, &opened.golden);
        }
    }
}

/// Both read the same 8-bit weights; what differs is how activations are rounded.
#[test]
fn the_lean_engine_agrees_with_tract() {
    for opened in opened() {
        // 32-bit weights are of no family that the lean engine runs.
        if opened.encoder.manifest().quantization == Quantization::Int8 {
            check_lean_against_tract(opened);
        }
    }
}

fn check_lean_against_tract(opened: &Opened) {
    // By name: on some processors tract is what is taken unasked.
    let encoder = Encoder::open_with(Some(Engine::Lean), &opened.folder).unwrap();
    let mut overlaps = vec![];
    let mut least_cosine = f32::MAX;
    for text in &opened.golden.texts {
        let found = encoder.encode(&text.text).unwrap();
        let wanted = opened.by_tract.encode(&text.text).unwrap();
        assert_eq!(found.pieces, wanted.pieces);
        for (found, wanted) in found.buckets.iter().zip(&wanted.buckets) {
            let rows: Vec<Vec<u32>> = wanted.dimensions.chunks(wanted.k).map(Vec::from).collect();
            overlaps.extend(jaccard(found, &rows));
        }
        least_cosine = least_cosine.min(cosine(&mean_pool(&found), &mean_pool(&wanted)));
    }
    let mean = overlaps.iter().sum::<f64>() / overlaps.len().max(1) as f64;
    eprintln!("lean against tract: mean Jaccard {mean:.4}, least cosine {least_cosine:.6}");
    assert!(mean >= 0.97, "Jaccard {mean}");
    assert!(least_cosine >= 0.999_9, "cosine {least_cosine}");
}

fn check_against(encoder: &Encoder, golden: &Golden) {
    let Tolerance {
        mean_jaccard,
        cosine: least_cosine,
    } = tolerance(encoder.manifest().quantization);
    let mut overlaps = vec![vec![]; encoder.manifest().buckets.len()];
    let mut cosines = vec![];
    for wanted in &golden.texts {
        let found = encoder.encode(&wanted.text).unwrap();
        assert_eq!(pieces(&found), wanted.pieces, "{}", wanted.text);
        assert_eq!(found.buckets.len(), wanted.winners.len());
        for (j, (found, wanted)) in found.buckets.iter().zip(&wanted.winners).enumerate() {
            overlaps[j].extend(jaccard(found, inner_tokens(wanted)));
        }
        cosines.push((cosine(&mean_pool(&found), &wanted.dense), &wanted.text));
    }
    assert!(golden.texts.len() >= 40);
    for (j, overlaps) in overlaps.iter().enumerate() {
        let mean = overlaps.iter().sum::<f64>() / overlaps.len() as f64;
        eprintln!("bucket {j}: mean Jaccard {mean:.4}");
        assert!(mean >= mean_jaccard, "bucket {j}: Jaccard {mean}");
    }
    let worst = cosines.iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let mean = cosines.iter().map(|(cosine, _)| cosine).sum::<f32>() / cosines.len() as f32;
    eprintln!("dense cosine: mean {mean:.6}, least {:.6}", worst.0);
    assert!(
        worst.0 >= least_cosine,
        "cosine {} on {:?}",
        worst.0,
        worst.1
    );
}

#[test]
fn a_long_text_is_cut_and_keeps_its_end_mark() {
    let (encoder, _) = first();
    let pieces = encoder.pieces(&"word ".repeat(1_000)).unwrap();
    let ends = [pieces[0].0, pieces[pieces.len() - 1].0];
    assert_eq!(pieces.len(), encoder.manifest().max_tokens);
    let empty = encoder.pieces("").unwrap();
    assert_eq!(ends, [empty[0].0, empty[1].0]);
    assert_eq!(empty.len(), 2);
}

#[test]
fn a_literal_end_mark_is_text() {
    let (encoder, _) = first();
    let ends = encoder.pieces("").unwrap();
    let pieces = encoder.pieces("before [SEP] after").unwrap();
    assert_eq!(pieces.iter().filter(|piece| **piece == ends[1]).count(), 1);
    assert!(pieces.len() > 5);
}

#[test]
fn an_empty_query_has_no_dimensions() {
    for Opened { encoder, .. } in opened() {
        let query = encoder.encode_query("").unwrap();
        assert!(query.buckets.iter().all(Vec::is_empty));
        assert_eq!(query.dense.len(), encoder.manifest().dim);
    }
}

#[test]
fn an_encoder_for_queries_alone_names_the_encoder_of_passages_and_encodes_none() {
    let [passages, queries] = opened() else {
        return; // one of its own is under test
    };
    assert_eq!(
        queries.encoder.manifest().queries_for.as_deref(),
        Some(passages.encoder.id())
    );
    let refusal = queries
        .encoder
        .passage_store(None, Pooling::Mean, |note| panic!("{note}"));
    let message = refusal.err().unwrap().to_string();
    assert!(message.contains("siskin-en-small"), "{message}");
}

#[test]
fn the_vocabulary_names_pieces_by_id() {
    let (encoder, _) = first();
    let vocabulary = encoder.vocabulary();
    let pieces = encoder.pieces("unbelievable rust").unwrap();
    let names: Vec<&str> = pieces
        .iter()
        .map(|piece| vocabulary[piece.index()].as_str())
        .collect();
    assert_eq!(names, ["[CLS]", "unbelievable", "rust", "[SEP]"]);
    assert_eq!(vocabulary.len(), 30_522);
    assert!(vocabulary.iter().any(|piece| piece == "##ing"));
}

#[test]
fn many_texts_come_in_order_and_equal_single_ones() {
    let (encoder, golden) = first();
    if encoder.manifest().queries_for.is_some() {
        return; // it encodes no passages
    }
    let texts: Vec<&str> = golden
        .texts
        .iter()
        .rev()
        .map(|golden| golden.text.as_str())
        .collect();
    let mut last = Progress::default();
    let mut store = encoder
        .passage_store(None, Pooling::Mean, |note| panic!("{note}"))
        .unwrap();
    let codes = store.encode(&texts, 2, |progress| last = progress).unwrap();
    let found: Vec<PassageCodes> = codes.collect::<Result<_, _>>().unwrap();
    assert_eq!(found.len(), texts.len());
    assert_eq!(
        (last.known + last.missing, last.encoded),
        (texts.len(), last.missing)
    );
    let mut store = encoder
        .passage_store(None, Pooling::Spans, |note| panic!("{note}"))
        .unwrap();
    let codes = store.encode(&texts, 2, |_| ()).unwrap();
    let with_spans: Vec<PassageCodes> = codes.collect::<Result<_, _>>().unwrap();
    let found = found.iter().zip(&with_spans).zip(&texts);
    for ((found, with_spans), text) in found.step_by(7) {
        let text = encoder.encode(text).unwrap();
        let dense = mean_pool(&text);
        let spans = span_pool(&text);
        let wanted = PassageCodes::new(text, dense, spans);
        assert_eq!(found.pieces, wanted.pieces);
        let close = |found: &[f32], wanted: &[f32]| {
            let mut pairs = found.iter().zip(wanted);
            found.len() == wanted.len()
                && pairs
                    .all(|(found, wanted)| (found - wanted).abs() <= wanted.abs() / 1024.0 + 1e-7)
        };
        assert!(close(&found.dense, &wanted.dense));
        assert!(found.spans.is_empty() && close(&with_spans.spans, &wanted.spans));
        for (found, wanted) in found.winners.iter().zip(&wanted.winners) {
            assert_eq!((found.k, &found.dimensions), (wanted.k, &wanted.dimensions));
            assert!(close(&found.activations, &wanted.activations));
        }
    }
}
