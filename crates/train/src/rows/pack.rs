//! Writes the rows' file: static rows at 4 bits a value, tables of dimensions, pooling.
//!
//! Layout of a packed static row of `dim` values: byte `i` holds value `2i` in its low nibble and
//! value `2i + 1` in its high one; value = (nibble − 7.5) · scale, one 16-bit scale a row.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use half::f16;
use rayon::prelude::*;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};

use crate::files::write_whole;

/// Names of the tensors of static rows.
const STATIC_ROWS: &str = "static_rows";
const STATIC_SCALE: &str = "static_scale";
/// Beginning of the names of tensors of words.
pub const WORDS: &str = "words.";
/// Beginnings of the names of tables; the bucket's number follows.
const GENERIC: &str = "generic_";
const ALONE: &str = "alone_";
/// Middle of the 16 levels: half of them lie below.
const MIDDLE: f32 = 7.5;
/// Highest level.
const TOP: f32 = 15.0;
/// Scales tried per row, as parts of the scale that just reaches the largest value.
const SCALE_STEPS: usize = 24;

/// Static rows at 4 bits a value.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedRows {
    /// `[rows, dim / 2]`, low nibble first.
    pub nibbles: Vec<u8>,
    /// `[rows]`.
    pub scales: Vec<f16>,
}

/// Packs rows of `dim` values; `dim` is even. Each row's scale is the one of the least squared
/// error among [`SCALE_STEPS`].
pub fn pack(values: &[f32], dim: usize) -> PackedRows {
    let rows: Vec<(f16, Vec<u8>)> = values.par_chunks(dim).map(pack_row).collect();
    PackedRows {
        scales: rows.iter().map(|(scale, _)| *scale).collect(),
        nibbles: rows.into_iter().flat_map(|(_, nibbles)| nibbles).collect(),
    }
}

fn pack_row(row: &[f32]) -> (f16, Vec<u8>) {
    let largest = row.iter().fold(0f32, |largest, x| largest.max(x.abs()));
    let full = largest / MIDDLE;
    let scale = (1..=SCALE_STEPS)
        .map(|step| f16::from_f32(full * step as f32 / SCALE_STEPS as f32))
        .min_by(|a, b| squared_error(row, a.to_f32()).total_cmp(&squared_error(row, b.to_f32())))
        .unwrap_or(f16::ZERO);
    let (pairs, _) = row.as_chunks::<2>();
    let pack_pair =
        |[low, high]: &[f32; 2]| level(*low, scale.to_f32()) | level(*high, scale.to_f32()) << 4;
    (scale, pairs.iter().map(pack_pair).collect())
}

fn squared_error(row: &[f32], scale: f32) -> f32 {
    row.iter()
        .map(|x| (x - unpack_level(level(*x, scale), scale)).powi(2))
        .sum()
}

/// Nearest of the 16 levels.
fn level(value: f32, scale: f32) -> u8 {
    if scale == 0.0 {
        return 0;
    }
    (value / scale + MIDDLE).round().clamp(0.0, TOP) as u8
}

fn unpack_level(level: u8, scale: f32) -> f32 {
    (f32::from(level) - MIDDLE) * scale
}

/// The values that readers of [`PackedRows`] see: `[rows, dim]`.
pub fn unpack(packed: &PackedRows, dim: usize) -> Vec<f32> {
    let rows = packed.nibbles.chunks(dim / 2).zip(&packed.scales);
    rows.flat_map(|(nibbles, scale)| {
        let scale = scale.to_f32();
        nibbles.iter().flat_map(move |byte| {
            [
                unpack_level(byte & 15, scale),
                unpack_level(byte >> 4, scale),
            ]
        })
    })
    .collect()
}

/// For every piece its strongest dimensions: the tables of one bucket.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DimensionTable {
    /// Entries a piece has at most.
    pub width: usize,
    /// `(dimension, weight)` per piece, strongest first.
    pub rows: Vec<Vec<(u32, f32)>>,
}

/// All that `rows.safetensors` holds.
pub struct RowsFile<'a> {
    /// Width of a static row.
    pub dim: usize,
    /// Static rows.
    pub static_rows: &'a PackedRows,
    /// Per bucket: counted over generic passages.
    pub generic: &'a [DimensionTable],
    /// Per bucket: winners of the piece alone.
    pub alone: &'a [DimensionTable],
    /// Attention vector `[dim]` and bias `[pieces]`.
    pub pooling: (&'a [f32], &'a [f32]),
}

/// A tensor that owns its bytes.
pub struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Writes the file.
///
/// # Errors
/// When it cannot be written.
pub fn write(rows: &RowsFile, path: &Path) -> Result<()> {
    write_tensors(&tensors(rows), path)
}

/// Writes tensors as they are.
///
/// # Errors
/// When the file cannot be written.
pub fn write_tensors(tensors: &[Tensor], path: &Path) -> Result<()> {
    write_whole(path, &bytes(tensors)?)
}

/// Tensors as the bytes of a file.
///
/// # Errors
/// When a tensor's shape does not fit its bytes.
pub fn bytes(tensors: &[Tensor]) -> Result<Vec<u8>> {
    let views: Result<Vec<(&str, TensorView)>> = tensors
        .iter()
        .map(|t| {
            Ok((
                t.name.as_str(),
                TensorView::new(t.dtype, t.shape.clone(), &t.bytes)?,
            ))
        })
        .collect();
    Ok(serialize(views?, None)?)
}

/// The tensors of a rows' file, tables of dimensions left out.
///
/// # Errors
/// When the file cannot be read.
pub fn read_all_but_tables(path: &Path) -> Result<Vec<Tensor>> {
    read_all_but(path, |name| {
        name.starts_with(GENERIC) || name.starts_with(ALONE)
    })
}

/// The tensors of a rows' file but those of some names.
///
/// # Errors
/// When the file cannot be read.
pub fn read_all_but(path: &Path, left_out: impl Fn(&str) -> bool) -> Result<Vec<Tensor>> {
    let cannot = || format!("cannot read rows {}", path.display());
    let bytes = std::fs::read(path).with_context(cannot)?;
    let file = SafeTensors::deserialize(&bytes).with_context(cannot)?;
    let kept = file.iter().filter(|(name, _)| !left_out(name));
    let tensors = kept.map(|(name, view)| Tensor {
        name: name.to_owned(),
        dtype: view.dtype(),
        shape: view.shape().to_vec(),
        bytes: view.data().to_vec(),
    });
    Ok(tensors.collect())
}

/// Static rows of a rows' file as its readers see them: `[pieces, dim]`.
///
/// # Errors
/// When the file cannot be read, has no static rows, or they are of another width.
pub fn read_static_rows(path: &Path, dim: usize) -> Result<Vec<f32>> {
    let cannot = || format!("cannot read rows {}", path.display());
    let bytes = std::fs::read(path).with_context(cannot)?;
    let file = SafeTensors::deserialize(&bytes).with_context(cannot)?;
    let nibbles = file.tensor(STATIC_ROWS).with_context(cannot)?;
    let scales = file.tensor(STATIC_SCALE).with_context(cannot)?;
    let has_types = nibbles.dtype() == Dtype::U8 && scales.dtype() == Dtype::F16;
    let pieces = scales.data().len() / 2;
    ensure!(
        has_types && dim >= 2 && dim.is_multiple_of(2) && nibbles.shape() == [pieces, dim / 2],
        "{} has no static rows of {dim} values",
        path.display()
    );
    let (pairs, _) = scales.data().as_chunks::<2>();
    let packed = PackedRows {
        nibbles: nibbles.data().to_vec(),
        scales: pairs.iter().map(|pair| f16::from_le_bytes(*pair)).collect(),
    };
    Ok(unpack(&packed, dim))
}

/// The tensors of words and their rows of `dim` values.
pub fn word_tensors(words: &[&str], rows: &PackedRows, dim: usize) -> [Tensor; 3] {
    let text: Vec<u8> = words
        .iter()
        .flat_map(|word| [word.as_bytes(), b"\n"].concat())
        .collect();
    let named = |name: &str| format!("{WORDS}{name}");
    [
        Tensor {
            name: named("text"),
            dtype: Dtype::U8,
            shape: vec![text.len()],
            bytes: text,
        },
        Tensor {
            name: named("rows"),
            dtype: Dtype::U8,
            shape: vec![words.len(), dim / 2],
            bytes: rows.nibbles.clone(),
        },
        half_tensor(
            &named("scale"),
            vec![words.len()],
            rows.scales.iter().copied(),
        ),
    ]
}

/// The tensors of the tables of all buckets.
pub fn tables(generic: &[DimensionTable], alone: &[DimensionTable]) -> Vec<Tensor> {
    let named = |kind: &str, tables: &[DimensionTable]| -> Vec<Tensor> {
        let tables = tables.iter().enumerate();
        tables
            .flat_map(|(bucket, table)| table_tensors(&format!("{kind}{bucket}"), table))
            .collect()
    };
    let mut tensors = named(GENERIC, generic);
    tensors.extend(named(ALONE, alone));
    tensors
}

fn tensors(rows: &RowsFile) -> Vec<Tensor> {
    let pieces = rows.static_rows.scales.len();
    let mut tensors = vec![
        Tensor {
            name: STATIC_ROWS.into(),
            dtype: Dtype::U8,
            shape: vec![pieces, rows.dim / 2],
            bytes: rows.static_rows.nibbles.clone(),
        },
        half_tensor(
            STATIC_SCALE,
            vec![pieces],
            rows.static_rows.scales.iter().copied(),
        ),
    ];
    tensors.extend(tables(rows.generic, rows.alone));
    let (attention, bias) = rows.pooling;
    tensors.push(Tensor {
        name: "pooling.attention".into(),
        dtype: Dtype::F32,
        shape: vec![attention.len()],
        bytes: attention.iter().flat_map(|x| x.to_le_bytes()).collect(),
    });
    tensors.push(half_tensor(
        "pooling.bias",
        vec![bias.len()],
        bias.iter().map(|x| f16::from_f32(*x)),
    ));
    tensors
}

fn half_tensor(name: &str, shape: Vec<usize>, values: impl Iterator<Item = f16>) -> Tensor {
    let bytes = values.flat_map(f16::to_le_bytes).collect();
    Tensor {
        name: name.into(),
        dtype: Dtype::F16,
        shape,
        bytes,
    }
}

/// `NAME.dimensions` (16 bits if every dimension fits, else 32) and `NAME.weights`; unused entries
/// are 0.
fn table_tensors(name: &str, table: &DimensionTable) -> [Tensor; 2] {
    let entries = || {
        table
            .rows
            .iter()
            .flat_map(|row| (0..table.width).map(|i| row.get(i).copied().unwrap_or_default()))
    };
    let shape = vec![table.rows.len(), table.width];
    let narrow = entries().all(|(dimension, _)| dimension <= u32::from(u16::MAX));
    let (dtype, bytes) = if narrow {
        (
            Dtype::U16,
            entries()
                .flat_map(|(dimension, _)| (dimension as u16).to_le_bytes())
                .collect(),
        )
    } else {
        (
            Dtype::U32,
            entries()
                .flat_map(|(dimension, _)| dimension.to_le_bytes())
                .collect(),
        )
    };
    let dimensions = Tensor {
        name: format!("{name}.dimensions"),
        dtype,
        shape: shape.clone(),
        bytes,
    };
    let weights = entries().map(|(_, weight)| f16::from_f32(weight));
    [
        dimensions,
        half_tensor(&format!("{name}.weights"), shape, weights),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(count: usize) -> Vec<f32> {
        (0..count)
            .map(|i| (i as f32 * 0.7).sin() * (1.0 + i as f32 / 50.0))
            .collect()
    }

    #[test]
    fn unpacked_values_are_within_half_a_level_or_clipped() {
        let values = wave(64);
        let packed = pack(&values, 16);
        let seen = unpack(&packed, 16);
        for ((row, seen), scale) in values.chunks(16).zip(seen.chunks(16)).zip(&packed.scales) {
            let scale = scale.to_f32();
            for (x, y) in row.iter().zip(seen) {
                let clipped = x.abs() > MIDDLE * scale && x.signum() == y.signum();
                assert!((x - y).abs() <= 0.51 * scale || clipped, "{x} {y} {scale}");
            }
        }
    }

    #[test]
    fn packing_what_was_unpacked_changes_nothing() {
        let packed = pack(&wave(96), 32);
        let seen = unpack(&packed, 32);
        assert_eq!(pack(&seen, 32), packed);
    }

    #[test]
    fn a_row_of_zeros_stays_small() {
        assert!(unpack(&pack(&[0.0; 8], 8), 8).iter().all(|x| *x == 0.0));
    }

    #[test]
    fn the_file_holds_what_the_format_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.safetensors");
        let static_rows = pack(&wave(12), 4);
        let table = |row: Vec<(u32, f32)>| DimensionTable {
            width: 2,
            rows: vec![row, vec![], vec![(1, 0.5)]],
        };
        let rows = RowsFile {
            dim: 4,
            static_rows: &static_rows,
            generic: &[table(vec![(7, 1.0), (3, 0.25)])],
            alone: &[table(vec![(70_000, 2.0)])],
            pooling: (&[0.5; 4], &[0.0, 1.0, -1.0]),
        };
        write(&rows, &path).unwrap();

        let bytes = std::fs::read(&path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let view = |name: &str| file.tensor(name).unwrap();
        assert_eq!(
            (view("static_rows").dtype(), view("static_rows").shape()),
            (Dtype::U8, &[3, 2][..])
        );
        assert_eq!(view("static_scale").dtype(), Dtype::F16);
        assert_eq!(
            view("generic_0.dimensions").data(),
            [7, 0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0]
        );
        assert_eq!(view("alone_0.dimensions").dtype(), Dtype::U32);
        assert_eq!(view("generic_0.weights").shape(), [3, 2]);
        assert_eq!(view("pooling.attention").dtype(), Dtype::F32);
        assert_eq!(view("pooling.bias").data().len(), 6);

        let mut kept = read_all_but_tables(&path).unwrap();
        assert_eq!(kept.len(), 4);
        kept.extend(tables(rows.generic, rows.alone));
        let again = folder.path().join("again.safetensors");
        write_tensors(&kept, &again).unwrap();
        assert_eq!(std::fs::read(&again).unwrap(), bytes);
    }
}
