//! `rows.safetensors`: static rows, rows of words, generic rows and the pooling of passages.
//!
//! ```text
//! static_rows            U8  [pieces, dim / 2]  two 4-bit values a byte, low one first
//! static_scale           F16 [pieces]           value = (4-bit value - 7.5) · scale
//! generic_{j}.dimensions U16 or U32 [pieces, 16]
//! generic_{j}.weights    F16 [pieces, 16]       0 = unused entry
//! alone_{j}.dimensions   U16 or U32 [pieces, 4]
//! alone_{j}.weights      F16 [pieces, 4]
//! words.text             U8  [bytes]            words that have rows of their own, a line each; absent = none
//! words.rows             U8  [words, dim / 2]   as static_rows
//! words.scale            F16 [words]
//! pooling.attention      F32 [dim]              absent = plain mean
//! pooling.bias           F16 [pieces]
//! ```

use std::collections::BTreeMap;

use half::f16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use siskin_core::rows::{GenericRows, PassagePooling};

use crate::error::{EncoderError, Result};
use crate::manifest::{Manifest, ROWS_FILE};

/// The dimensions of one piece with their weights, strongest first.
type Row = Vec<(u32, f32)>;

/// Reads everything but the pooling; synonyms are in a file of their own.
pub(crate) fn generic_rows(bytes: &[u8], manifest: &Manifest) -> Result<GenericRows> {
    let tensors = open(bytes)?;
    let scales = f16s(&tensors, "static_scale")?;
    let per_bucket = |kind: &str| {
        (0..manifest.buckets.len())
            .map(|j| sparse_rows(&tensors, &format!("{kind}_{j}"), scales.len()))
            .collect::<Result<Vec<_>>>()
    };
    Ok(GenericRows {
        dim: manifest.dim,
        static_rows: unpacked(&tensors, "static_rows", &scales, manifest.dim)?,
        generic: per_bucket("generic")?,
        alone: per_bucket("alone")?,
        words: word_rows(&tensors, manifest.dim)?,
        synonyms: BTreeMap::new(),
    })
}

/// Reads the pooling; the plain mean if the file has none.
pub(crate) fn passage_pooling(bytes: &[u8], manifest: &Manifest) -> Result<PassagePooling> {
    let tensors = open(bytes)?;
    if tensors.tensor("pooling.attention").is_err() {
        return Ok(PassagePooling::default());
    }
    let attention = f32s(&tensors, "pooling.attention")?;
    check_length("pooling.attention", attention.len(), manifest.dim)?;
    Ok(PassagePooling {
        attention,
        bias: f16s(&tensors, "pooling.bias")?,
    })
}

fn open(bytes: &[u8]) -> Result<SafeTensors<'_>> {
    SafeTensors::deserialize(bytes)
        .map_err(|error| EncoderError::unfit(ROWS_FILE, error.to_string()))
}

/// Rows of words; none if the file has none.
fn word_rows(tensors: &SafeTensors<'_>, dim: usize) -> Result<BTreeMap<String, Vec<f32>>> {
    if tensors.tensor("words.text").is_err() {
        return Ok(BTreeMap::new());
    }
    let text = typed(tensors, "words.text", &[Dtype::U8])?;
    let text = std::str::from_utf8(text.data())
        .map_err(|error| EncoderError::unfit(ROWS_FILE, format!("words.text: {error}")))?;
    let words: Vec<&str> = text.lines().collect();
    let scales = f16s(tensors, "words.scale")?;
    check_length("words.scale", scales.len(), words.len())?;
    let rows = unpacked(tensors, "words.rows", &scales, dim)?;
    let words = words.into_iter().map(str::to_owned);
    Ok(words
        .zip(rows.chunks(dim.max(1)).map(<[f32]>::to_vec))
        .collect())
}

/// `[rows, dim]` from packed 4-bit values, one scale a row.
fn unpacked(tensors: &SafeTensors<'_>, name: &str, scales: &[f32], dim: usize) -> Result<Vec<f32>> {
    let packed = typed(tensors, name, &[Dtype::U8])?;
    check_length(name, packed.data().len() * 2, scales.len() * dim)?;
    let rows = packed.data().chunks_exact((dim / 2).max(1)).zip(scales);
    let value = |four_bits: u8, scale: f32| (f32::from(four_bits) - 7.5) * scale;
    Ok(rows
        .flat_map(|(row, &scale)| {
            row.iter()
                .flat_map(move |byte| [value(byte & 15, scale), value(byte >> 4, scale)])
        })
        .collect())
}

/// `{name}.dimensions` and `{name}.weights` as one row per piece, unused entries left out.
fn sparse_rows(tensors: &SafeTensors<'_>, name: &str, pieces: usize) -> Result<Vec<Row>> {
    let dimensions = integers(tensors, &format!("{name}.dimensions"))?;
    let weights = f16s(tensors, &format!("{name}.weights"))?;
    check_length(name, dimensions.len(), weights.len())?;
    let width = weights.len() / pieces.max(1);
    check_length(name, weights.len(), width * pieces)?;
    let rows = dimensions
        .chunks(width.max(1))
        .zip(weights.chunks(width.max(1)));
    Ok(rows
        .map(|(dimensions, weights)| sparse_row(dimensions, weights))
        .collect())
}

fn sparse_row(dimensions: &[u32], weights: &[f32]) -> Row {
    let entries = dimensions.iter().copied().zip(weights.iter().copied());
    entries.filter(|&(_, weight)| weight != 0.0).collect()
}

pub(crate) fn f32s(tensors: &SafeTensors<'_>, name: &str) -> Result<Vec<f32>> {
    let tensor = typed(tensors, name, &[Dtype::F32])?;
    Ok(tensor
        .data()
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&bytes| f32::from_le_bytes(bytes))
        .collect())
}

fn f16s(tensors: &SafeTensors<'_>, name: &str) -> Result<Vec<f32>> {
    let tensor = typed(tensors, name, &[Dtype::F16])?;
    let pairs = tensor.data().as_chunks::<2>().0;
    Ok(pairs
        .iter()
        .map(|&bytes| f16::from_le_bytes(bytes).to_f32())
        .collect())
}

fn integers(tensors: &SafeTensors<'_>, name: &str) -> Result<Vec<u32>> {
    let tensor = typed(tensors, name, &[Dtype::U16, Dtype::U32])?;
    let data = tensor.data();
    Ok(match tensor.dtype() {
        Dtype::U16 => data
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&b| u32::from(u16::from_le_bytes(b)))
            .collect(),
        _ => data
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&b| u32::from_le_bytes(b))
            .collect(),
    })
}

fn typed<'a>(tensors: &SafeTensors<'a>, name: &str, allowed: &[Dtype]) -> Result<TensorView<'a>> {
    let tensor = tensors
        .tensor(name)
        .map_err(|error| EncoderError::unfit(ROWS_FILE, error.to_string()))?;
    if !allowed.contains(&tensor.dtype()) {
        let reason = format!("{name} has type {:?}, expected {allowed:?}", tensor.dtype());
        return Err(EncoderError::unfit(ROWS_FILE, reason));
    }
    Ok(tensor)
}

fn check_length(name: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let reason = format!("{name} has {found} values, expected {expected}");
    Err(EncoderError::unfit(ROWS_FILE, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f16_bytes(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|&value| f16::from_f32(value).to_le_bytes())
            .collect()
    }

    fn manifest() -> Manifest {
        let json = serde_json::json!({
            "format": 1, "name": "", "base": "", "licence": "", "quantization": "f32",
            "dim": 4, "max_tokens": 8, "buckets": [{"layer": 1, "n": 70_000, "k": 1}],
            "query_mean": [0.0, 0.0, 0.0, 0.0], "files": {},
        });
        Manifest::of(json).unwrap()
    }

    fn bytes<const N: usize, T>(values: &[T], bytes_of: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
        values.iter().flat_map(bytes_of).collect()
    }

    /// Two pieces, one word, `dim` 4, two generic entries and one lone entry a piece.
    fn file(without: &str) -> Vec<u8> {
        use Dtype::{F16, F32, U8, U16, U32};
        let attention = bytes(&[1f32, 2.0, 3.0, 4.0], |x| x.to_le_bytes());
        let dimensions = bytes(&[69_999u32, 3, 5, 0], |x| x.to_le_bytes());
        let alone = bytes(&[9u16, 0], |x| x.to_le_bytes());
        let weights = f16_bytes(&[1.5, 0.5, 2.0, 0.0]);
        let tensors = [
            ("static_rows", U8, vec![2, 2], vec![0xf0, 0x78, 0x00, 0xff]),
            ("static_scale", F16, vec![2], f16_bytes(&[2.0, 1.0])),
            ("generic_0.dimensions", U32, vec![2, 2], dimensions),
            ("generic_0.weights", F16, vec![2, 2], weights),
            ("alone_0.dimensions", U16, vec![2, 1], alone),
            ("alone_0.weights", F16, vec![2, 1], f16_bytes(&[0.25, 0.0])),
            ("words.text", U8, vec![7], b"errand\n".to_vec()),
            ("words.rows", U8, vec![1, 2], vec![0x0f, 0xf0]),
            ("words.scale", F16, vec![1], f16_bytes(&[0.5])),
            ("pooling.attention", F32, vec![4], attention),
            ("pooling.bias", F16, vec![2], f16_bytes(&[0.5, -0.5])),
        ];
        let views: BTreeMap<&str, TensorView<'_>> = tensors
            .iter()
            .filter(|(name, ..)| *name != without)
            .map(|(name, dtype, shape, data)| {
                (*name, TensorView::new(*dtype, shape.clone(), data).unwrap())
            })
            .collect();
        safetensors::serialize(views, None).unwrap()
    }

    #[test]
    fn low_nibbles_come_first_and_unused_entries_are_dropped() {
        let rows = generic_rows(&file(""), &manifest()).unwrap();
        let first = [-15.0, 15.0, 1.0, -1.0];
        let second = [-7.5, -7.5, 7.5, 7.5];
        assert_eq!(rows.static_rows, [first, second].concat());
        assert_eq!(
            rows.generic,
            [vec![vec![(69_999, 1.5), (3, 0.5)], vec![(5, 2.0)]]]
        );
        assert_eq!(rows.alone, [vec![vec![(9, 0.25)], vec![]]]);
    }

    #[test]
    fn pooling_is_read_or_the_mean() {
        let pooling = passage_pooling(&file(""), &manifest()).unwrap();
        assert_eq!(pooling.attention, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(pooling.bias, [0.5, -0.5]);
        let plain = passage_pooling(&file("pooling.attention"), &manifest()).unwrap();
        assert_eq!(plain, PassagePooling::default());
    }

    #[test]
    fn words_have_rows_of_their_own_or_there_are_none() {
        let words = generic_rows(&file(""), &manifest()).unwrap().words;
        let expected = [("errand".to_owned(), vec![3.75, -3.75, -3.75, 3.75])];
        assert_eq!(words, BTreeMap::from(expected));
        let plain = generic_rows(&file("words.text"), &manifest()).unwrap();
        assert_eq!(plain.words, BTreeMap::new());
        for name in ["words.rows", "words.scale"] {
            let error = generic_rows(&file(name), &manifest()).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn a_missing_tensor_is_named() {
        let error = generic_rows(&file("alone_0.weights"), &manifest())
            .unwrap_err()
            .to_string();
        assert!(error.contains("rows.safetensors does not hold what encoder.json promises"));
        assert!(error.contains("alone_0.weights"), "{error}");
    }

    #[test]
    fn other_bytes_are_refused() {
        let error = generic_rows(b"rows", &manifest()).unwrap_err();
        assert!(matches!(error, EncoderError::Unfit { .. }));
    }
}
