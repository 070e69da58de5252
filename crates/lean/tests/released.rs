//! The released encoder: every level gives the same bits, and damaged or foreign files are refused.

#![allow(clippy::unwrap_used, clippy::panic)] // tests may: a panic is a failure

use std::sync::LazyLock;

use siskin_lean::{LeanError, Level, Network};

static MODEL: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/siskin-en");
    std::fs::read(format!("{folder}/model.onnx")).unwrap()
});

/// The model with the first `from` replaced by as many bytes.
fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = MODEL.clone();
    let at = bytes.windows(from.len()).position(|found| found == from);
    let at = at.unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
    bytes
}

fn refusal(bytes: Vec<u8>) -> LeanError {
    Network::read(bytes.into()).err().unwrap()
}

#[test]
fn all_levels_give_the_same_bits() {
    let mut network = Network::read(MODEL.as_slice().into()).unwrap();
    for tokens in [0, 1, 2, 7, 13, 61] {
        let pieces: Vec<u32> = (0..tokens).map(|token| 101 + token * 449).collect();
        network = network.at_level(Level::Scalar);
        let wanted = network.run(&pieces).unwrap();
        assert_eq!(wanted.hidden.len(), tokens as usize * network.dim());
        for winners in &wanted.buckets {
            let rows = tokens.saturating_sub(2) as usize;
            assert_eq!(
                winners.dimensions.len(),
                rows * winners.k,
                "{tokens} tokens"
            );
        }
        for level in Level::all() {
            network = network.at_level(level);
            assert_eq!(
                network.run(&pieces).unwrap(),
                wanted,
                "{level:?}, {tokens} tokens"
            );
        }
    }
}

#[test]
fn floats_are_replaced_in_their_place() {
    let hidden = |file: &[u8]| {
        let network = Network::read(file.into()).unwrap();
        network.run(&[101, 7_592, 102]).unwrap().hidden
    };
    let (mut file, zeros) = (MODEL.clone(), [0.0; 384]);
    let name = "hidden.norm_weight";
    siskin_lean::replace(&mut file, [(name, &zeros[..])]).unwrap();
    assert_eq!(file.len(), MODEL.len());
    // A norm of weights 0 leaves its bias, the same for every token.
    let flat = hidden(&file);
    assert_eq!(flat[..384], flat[384..768]);
    assert_ne!(hidden(&MODEL)[..384], hidden(&MODEL)[384..768]);

    let whole = file.clone();
    for (name, values) in [
        ("no.such_constant", &zeros[..]),
        (name, &zeros[..383]),
        ("layer_0.query.product.int8", &zeros[..]),
    ] {
        let both = [("hidden.norm_bias", &zeros[..]), (name, values)];
        let error = siskin_lean::replace(&mut file, both).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert!(file == whole, "{name} changed the file");
    }
}

#[test]
fn texts_beyond_the_network_are_refused() {
    let network = Network::read(MODEL.as_slice().into()).unwrap();
    for (pieces, wanted) in [(vec![101; 129], "129 word pieces"), (vec![30_522], "30522")] {
        let error = network.run(&pieces).unwrap_err();
        assert!(matches!(error, LeanError::Text { .. }));
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn another_graph_is_not_of_the_family() {
    let changes: [(&[u8], &[u8], &str); 3] = [
        (b"\x22\x03Erf", b"\x22\x03Tan", "Tan"),
        (b"\x22\x07Softmax", b"\x22\x07Hardmax", "Hardmax"),
        (
            b"\x22\x10DequantizeLinear",
            b"\x22\x10DequantizeLinxxx",
            "DequantizeLinxxx",
        ),
    ];
    for (from, to, wanted) in changes {
        let error = refusal(replaced(from, to));
        assert!(matches!(error, LeanError::NotOfFamily { .. }), "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
    }
    assert!(!Network::is_of_family(b"model"));
}

#[test]
fn cut_files_are_refused() {
    for cut in [0, 1, 2, 40, 1_000, MODEL.len() / 2, MODEL.len() - 1] {
        let error = refusal(MODEL[..cut].to_vec());
        let known = matches!(
            error,
            LeanError::NotOnnx { .. } | LeanError::NotOfFamily { .. }
        );
        assert!(known, "cut at {cut}: {error}");
    }
}

#[test]
fn altered_bytes_never_panic() {
    // The first thousands of bytes are nodes.
    let mut bytes = MODEL.clone();
    let mut refused = 0;
    for at in (0..12_000).step_by(7) {
        bytes[at] ^= 1 << (at % 8);
        refused += usize::from(!Network::is_of_family(&bytes));
        bytes[at] = MODEL[at];
    }
    // What is left are names of nodes and the like.
    assert!(refused > 1_000, "{refused} of 1715");
}

#[test]
fn a_weight_that_two_nodes_read_is_refused() {
    let error = refusal(replaced(
        b"layer_1.key.product.int8",
        b"layer_0.key.product.int8",
    ));
    assert!(
        error.to_string().contains("alone with its weights"),
        "{error}"
    );
}
