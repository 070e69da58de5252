//! The inner loops, compiled for several instruction sets and chosen at run time.
//!
//! The only module of the workspace that may be unsafe. Products are of integers and exact, and the
//! functions of `math` keep their order of operations, so all levels give the same bits; that of
//! [`Level::Scalar`] is the plain twin that tests hold the others against.

#![allow(unsafe_code)] // instructions that are not on every machine, and loads of whole registers

use crate::math::{self, LANES};
use crate::matrix::{PAIR, PANEL};

/// Bytes of the weights of one pair of inputs in a panel.
const PAIR_BYTES: usize = PANEL * PAIR;

/// An instruction set that the kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What every machine of the target has.
    Scalar,
    /// WebAssembly's 128-bit vectors; known when compiling.
    #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
    Simd128,
    /// 256-bit vectors of x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit vectors of x86-64 with sums of products of integers.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
}

impl Level {
    /// The fastest level of this machine.
    #[must_use]
    pub fn best() -> Self {
        Self::all().pop().unwrap_or(Self::Scalar)
    }

    /// The levels of this machine, the slowest first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut levels = vec![Self::Scalar];
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        levels.push(Self::Simd128);
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                levels.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vnni")
            {
                levels.push(Self::Avx512Vnni);
            }
        }
        levels
    }

    /// The level that is computed on when this one is asked for. Where vectors are known when compiling, it is
    /// always theirs: the plain twin would be bytes of the browser's module that nobody runs.
    #[inline(always)]
    fn compiled(self) -> Self {
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        return Self::Simd128;
        #[cfg(not(all(target_family = "wasm", target_feature = "simd128")))]
        return self;
    }
}

/// For each function of `math` one that picks the copy compiled for a level. Levels that a machine
/// lacks are never made there: [`Level::all`] names those that it has.
macro_rules! for_levels {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $name(level: Level, $($argument: $type),*) {
            match level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512Vnni => {
                    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
                    fn compiled($($argument: $type),*) {
                        math::$name($($argument),*);
                    }
                    // SAFETY: the machine has the features of its levels.
                    unsafe { compiled($($argument),*) }
                }
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => {
                    #[target_feature(enable = "avx2")]
                    fn compiled($($argument: $type),*) {
                        math::$name($($argument),*);
                    }
                    // SAFETY: the machine has the features of its levels.
                    unsafe { compiled($($argument),*) }
                }
                _ => math::$name($($argument),*),
            }
        }
    )*};
}

for_levels! {
    /// See [`math::norm`].
    norm(rows: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32);
    /// See [`math::gelu`].
    gelu(values: &mut [f32]);
    /// See [`math::softmax`].
    softmax(rows: &mut [f32], width: usize, tokens: usize);
    /// See [`math::add`].
    add(values: &mut [f32], more: &[f32]);
    /// See [`math::quantize_rows`].
    quantize_rows(rows: &[f32], width: usize, pairs: &mut [i32], scales: &mut [f32]);
    /// See [`math::rescale`].
    rescale(
        sums: &[i32],
        row_scales: &[f32],
        columns: [&[f32; LANES]; 2],
        out: &mut [f32],
        places: [usize; 2]
    );
    /// See [`math::any_above`].
    any_above(scores: &[f32], least: f32, found: &mut bool);
}

/// A matrix of floats: rows of `width` values, each `stride` after the one before.
#[derive(Clone, Copy)]
pub(crate) struct Floats<'v> {
    pub(crate) values: &'v [f32],
    pub(crate) stride: usize,
    pub(crate) width: usize,
}

impl Floats<'_> {
    /// Whether there are as many rows.
    fn has_rows(self, rows: usize) -> bool {
        let last = rows.saturating_sub(1) * self.stride;
        rows == 0 || self.width <= self.stride && last + self.width <= self.values.len()
    }
}

/// The product of `a` (`[rows, depth]`) and `b` (`[depth, columns]`, `columns` a multiple of 16):
/// `[rows, columns]`, rows without a gap. Products are summed up in the order of `depth`.
pub(crate) fn product(level: Level, a: Floats<'_>, b: Floats<'_>, out: &mut [f32]) {
    let rows = out.len() / b.width.max(1);
    let fits = a.has_rows(rows) && b.has_rows(a.width) && b.width.is_multiple_of(LANES);
    debug_assert!(fits, "a product of matrices that do not fit");
    let mut row = 0;
    while fits && row < rows {
        let count = if rows - row >= FLOAT_ROWS {
            FLOAT_ROWS
        } else {
            1
        };
        for column in (0..b.width).step_by(LANES) {
            let tile = &mut FloatTile {
                a: &a.values[row * a.stride..],
                a_stride: a.stride,
                depth: a.width,
                b: &b.values[column..],
                b_stride: b.stride,
                out: &mut out[row * b.width + column..],
                out_stride: b.width,
            };
            match count {
                1 => float_tile::<1>(level, tile),
                _ => float_tile::<FLOAT_ROWS>(level, tile),
            }
        }
        row += count;
    }
}

/// Rows of a product that are computed together.
const FLOAT_ROWS: usize = 4;

/// Some rows and 16 columns of a product; all slices begin at the tile.
struct FloatTile<'t> {
    a: &'t [f32],
    a_stride: usize,
    depth: usize,
    b: &'t [f32],
    b_stride: usize,
    out: &'t mut [f32],
    out_stride: usize,
}

/// Computes a tile of `ROWS` rows, which all its slices have.
fn float_tile<const ROWS: usize>(level: Level, tile: &mut FloatTile<'_>) {
    match level.compiled() {
        // SAFETY: the machine has the features of its levels, and `product` has seen to lengths.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512Vnni => unsafe { x86::floats_avx512::<ROWS>(tile) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::floats_avx2::<ROWS>(tile) },
        // SAFETY: as above.
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        Level::Simd128 => unsafe { wasm::floats_simd128::<ROWS>(tile) },
        Level::Scalar => floats_scalar::<ROWS>(tile),
    }
}

/// The plain twin of the float tiles.
fn floats_scalar<const ROWS: usize>(tile: &mut FloatTile<'_>) {
    for row in 0..ROWS {
        let mut sums = [0.0; LANES];
        for depth in 0..tile.depth {
            let a = tile.a[row * tile.a_stride + depth];
            let b = &tile.b[depth * tile.b_stride..][..LANES];
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
        tile.out[row * tile.out_stride..][..LANES].copy_from_slice(&sums);
    }
}

/// The integer products of rows with one panel of weights.
///
/// `rows`: `[rows, pairs]`, each two 16-bit inputs, the first in the low half; `panel`:
/// `[pairs, 16, 2]` 8-bit weights; `sums`: `[rows, 16]`. What is in excess is not looked at.
pub(crate) fn panel_sums(level: Level, rows: &[i32], panel: &[u8], sums: &mut [i32]) {
    let pairs = panel.len() / PAIR_BYTES;
    if pairs == 0 {
        return sums.fill(0);
    }
    let panel = &panel[..pairs * PAIR_BYTES];
    match level.compiled() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512Vnni => by_tiles(rows, panel, sums, [12, 8, 4, 1], |tile| {
            // SAFETY: the machine has the features of its levels, and `by_tiles` sees to lengths.
            match tile.count {
                12 => unsafe { x86::avx512::<12>(tile) },
                8 => unsafe { x86::avx512::<8>(tile) },
                4 => unsafe { x86::avx512::<4>(tile) },
                _ => unsafe { x86::avx512::<1>(tile) },
            }
        }),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => by_tiles(rows, panel, sums, [4, 4, 2, 1], |tile| {
            // SAFETY: as above.
            match tile.count {
                4 => unsafe { x86::avx2::<4>(tile) },
                2 => unsafe { x86::avx2::<2>(tile) },
                _ => unsafe { x86::avx2::<1>(tile) },
            }
        }),
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        Level::Simd128 => by_tiles(rows, panel, sums, [4, 4, 2, 1], |tile| {
            // SAFETY: `by_tiles` sees to lengths.
            match tile.count {
                4 => unsafe { wasm::simd128::<4>(tile) },
                2 => unsafe { wasm::simd128::<2>(tile) },
                _ => unsafe { wasm::simd128::<1>(tile) },
            }
        }),
        Level::Scalar => by_tiles(rows, panel, sums, [1; 4], scalar),
    }
}

/// Some rows, one panel, and the place of their sums.
struct Tile<'t> {
    /// Number of rows.
    count: usize,
    /// `[count, pairs]`.
    rows: &'t [i32],
    /// `[pairs, 16, 2]`.
    panel: &'t [u8],
    /// `[count, 16]`.
    sums: &'t mut [i32],
}

/// Cuts the rows into tiles of one of `counts` (falling, the last one 1) and works on each.
fn by_tiles(
    mut rows: &[i32],
    panel: &[u8],
    mut sums: &mut [i32],
    counts: [usize; 4],
    work: impl Fn(&mut Tile<'_>),
) {
    let pairs = panel.len() / PAIR_BYTES;
    loop {
        let left = (rows.len() / pairs).min(sums.len() / PANEL);
        let Some(&count) = counts.iter().find(|count| **count <= left) else {
            return;
        };
        let (own, others) = rows.split_at(count * pairs);
        let (own_sums, other_sums) = sums.split_at_mut(count * PANEL);
        work(&mut Tile {
            count,
            rows: own,
            panel,
            sums: own_sums,
        });
        (rows, sums) = (others, other_sums);
    }
}

/// The plain twin of all kernels.
fn scalar(tile: &mut Tile<'_>) {
    let mut sums = [0i32; PANEL];
    let (weights, _) = tile.panel.as_chunks::<PAIR_BYTES>();
    for (pair, weights) in tile.rows.iter().zip(weights) {
        let (low, high) = (i32::from(*pair as i16), pair >> 16);
        let (weights, _) = weights.as_chunks::<PAIR>();
        for (sum, [even, odd]) in sums.iter_mut().zip(weights) {
            let products = low * i32::from(*even as i8) + high * i32::from(*odd as i8);
            *sum = sum.wrapping_add(products);
        }
    }
    tile.sums.copy_from_slice(&sums);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{FloatTile, PAIR_BYTES, PANEL, Tile};
    use std::arch::x86_64::*;

    /// # Safety
    /// The machine has the features, and the tile has `ROWS` rows.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) unsafe fn avx512<const ROWS: usize>(tile: &mut Tile<'_>) {
        let pairs = tile.panel.len() / PAIR_BYTES;
        let (rows, panel) = (tile.rows.as_ptr(), tile.panel.as_ptr());
        let mut sums = [_mm512_setzero_si512(); ROWS];
        for pair in 0..pairs {
            // SAFETY: a panel has 32 bytes a pair, and each of the `ROWS` rows has all pairs.
            let weights = unsafe { _mm256_loadu_si256(panel.add(pair * PAIR_BYTES).cast()) };
            let weights = _mm512_cvtepi8_epi16(weights);
            for (row, sum) in sums.iter_mut().enumerate() {
                let inputs = _mm512_set1_epi32(unsafe { *rows.add(row * pairs + pair) });
                *sum = _mm512_dpwssd_epi32(*sum, weights, inputs);
            }
        }
        let out = tile.sums.as_mut_ptr();
        for (row, sum) in sums.into_iter().enumerate() {
            // SAFETY: the tile has place for 16 sums a row.
            unsafe { _mm512_storeu_si512(out.add(row * PANEL).cast(), sum) };
        }
    }

    /// # Safety
    /// As [`avx512`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2<const ROWS: usize>(tile: &mut Tile<'_>) {
        let pairs = tile.panel.len() / PAIR_BYTES;
        let (rows, panel) = (tile.rows.as_ptr(), tile.panel.as_ptr());
        let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
        for pair in 0..pairs {
            // SAFETY: a panel has 32 bytes a pair, and each of the `ROWS` rows has all pairs.
            let at = unsafe { panel.add(pair * PAIR_BYTES) };
            let weights = [0, 16].map(|half| unsafe { _mm_loadu_si128(at.add(half).cast()) });
            let weights = weights.map(|half| _mm256_cvtepi8_epi16(half));
            for (row, sums) in sums.iter_mut().enumerate() {
                let inputs = _mm256_set1_epi32(unsafe { *rows.add(row * pairs + pair) });
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(weights, inputs));
                }
            }
        }
        let out = tile.sums.as_mut_ptr();
        for (row, sums) in sums.into_iter().enumerate() {
            for (half, sum) in sums.into_iter().enumerate() {
                // SAFETY: the tile has place for 16 sums a row.
                let out = unsafe { out.add(row * PANEL + half * PANEL / 2) };
                unsafe { _mm256_storeu_si256(out.cast(), sum) };
            }
        }
    }

    /// # Safety
    /// The machine has the features; `a` and `out` have `ROWS` rows, `b` has `depth` rows of 16.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn floats_avx512<const ROWS: usize>(tile: &mut FloatTile<'_>) {
        let (a, b) = (tile.a.as_ptr(), tile.b.as_ptr());
        let mut sums = [_mm512_setzero_ps(); ROWS];
        for depth in 0..tile.depth {
            // SAFETY: see above.
            let column = unsafe { _mm512_loadu_ps(b.add(depth * tile.b_stride)) };
            for (row, sum) in sums.iter_mut().enumerate() {
                let a = _mm512_set1_ps(unsafe { *a.add(row * tile.a_stride + depth) });
                *sum = _mm512_add_ps(*sum, _mm512_mul_ps(a, column));
            }
        }
        for (row, sum) in sums.iter().enumerate() {
            // SAFETY: see above.
            unsafe { _mm512_storeu_ps(tile.out.as_mut_ptr().add(row * tile.out_stride), *sum) };
        }
    }

    /// # Safety
    /// As [`floats_avx512`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn floats_avx2<const ROWS: usize>(tile: &mut FloatTile<'_>) {
        let (a, b) = (tile.a.as_ptr(), tile.b.as_ptr());
        let mut sums = [[_mm256_setzero_ps(); 2]; ROWS];
        for depth in 0..tile.depth {
            // SAFETY: see above.
            let at = unsafe { b.add(depth * tile.b_stride) };
            let columns = [0, 8].map(|half| unsafe { _mm256_loadu_ps(at.add(half)) });
            for (row, sums) in sums.iter_mut().enumerate() {
                let a = _mm256_set1_ps(unsafe { *a.add(row * tile.a_stride + depth) });
                for (sum, column) in sums.iter_mut().zip(columns) {
                    *sum = _mm256_add_ps(*sum, _mm256_mul_ps(a, column));
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (half, sum) in sums.iter().enumerate() {
                let at = row * tile.out_stride + half * 8;
                // SAFETY: see above.
                unsafe { _mm256_storeu_ps(tile.out.as_mut_ptr().add(at), *sum) };
            }
        }
    }
}

#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
mod wasm {
    use super::{FloatTile, PAIR_BYTES, PANEL, Tile};
    use std::arch::wasm32::*;

    /// Half a panel at a time: its sums fit the registers.
    ///
    /// # Safety
    /// The tile has `ROWS` rows.
    pub(super) unsafe fn simd128<const ROWS: usize>(tile: &mut Tile<'_>) {
        let pairs = tile.panel.len() / PAIR_BYTES;
        let rows = tile.rows.as_ptr();
        for half in 0..2 {
            let mut at = tile.panel[half * PAIR_BYTES / 2..].as_ptr();
            let mut sums = [[i32x4_splat(0); 2]; ROWS];
            for pair in 0..pairs {
                // SAFETY: a panel has 32 bytes a pair, and each of the `ROWS` rows has all pairs.
                let weights = unsafe {
                    [
                        i16x8_load_extend_i8x8(at.cast()),
                        i16x8_load_extend_i8x8(at.add(8).cast()),
                    ]
                };
                at = at.wrapping_add(PAIR_BYTES);
                for (row, sums) in sums.iter_mut().enumerate() {
                    let inputs = i32x4_splat(unsafe { *rows.add(row * pairs + pair) });
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        *sum = i32x4_add(*sum, i32x4_dot_i16x8(weights, inputs));
                    }
                }
            }
            for (sums, out) in sums.iter().zip(tile.sums.chunks_exact_mut(PANEL)) {
                for (quarter, sum) in sums.iter().enumerate() {
                    let out = &mut out[half * PANEL / 2 + quarter * 4..][..4];
                    // SAFETY: `out` has 4 integers.
                    unsafe { v128_store(out.as_mut_ptr().cast(), *sum) };
                }
            }
        }
    }

    /// Half of the columns at a time: their sums fit the registers.
    ///
    /// # Safety
    /// `a` and `out` have `ROWS` rows, `b` has `depth` rows of 16.
    pub(super) unsafe fn floats_simd128<const ROWS: usize>(tile: &mut FloatTile<'_>) {
        let (a, b) = (tile.a.as_ptr(), tile.b.as_ptr());
        for half in [0, PANEL / 2] {
            let mut sums = [[f32x4_splat(0.0); 2]; ROWS];
            for depth in 0..tile.depth {
                // SAFETY: see above.
                let at = unsafe { b.add(depth * tile.b_stride + half) };
                let columns = [0, 4].map(|column| unsafe { v128_load(at.add(column).cast()) });
                for (row, sums) in sums.iter_mut().enumerate() {
                    let a = f32x4_splat(unsafe { *a.add(row * tile.a_stride + depth) });
                    for (sum, column) in sums.iter_mut().zip(columns) {
                        *sum = f32x4_add(*sum, f32x4_mul(a, column));
                    }
                }
            }
            for (row, sums) in sums.iter().enumerate() {
                for (quarter, sum) in sums.iter().enumerate() {
                    let at = row * tile.out_stride + half + quarter * 4;
                    // SAFETY: see above.
                    unsafe { v128_store(tile.out.as_mut_ptr().add(at).cast(), *sum) };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
