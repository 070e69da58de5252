//! What the network does in 32-bit floats, in one order of operations on every machine.
//!
//! Sums run in 16 lanes that are then folded, or one after the other; no product is fused with a
//! sum; `exp` and `erf` are polynomials. So each function gives the same bits whichever
//! instructions it is compiled to: `kernels` compiles it for several.

/// Lanes of a sum.
pub(crate) const LANES: usize = 16;
/// Adding it to a value of less than 2²² rounds to an integer, which is then in the low bits.
const ROUND: f32 = 12_582_912.0;

type Lanes = [f32; LANES];

/// Rounds each row (`[width]`) to 16-bit integers, as fine as sums of `width` products with 8-bit
/// weights fit 32 bits; `pairs`: `[rows, ⌈width / 2⌉]`, `scales`: `[rows]`. See [`quantize`].
#[inline(always)]
pub(crate) fn quantize_rows(rows: &[f32], width: usize, pairs: &mut [i32], scales: &mut [f32]) {
    let limit = (i32::MAX as usize / (128 * width.max(1))).min(32_767) as f32;
    let pairs = pairs.chunks_exact_mut(width.div_ceil(2).max(1));
    for ((row, pairs), scale) in rows.chunks_exact(width.max(1)).zip(pairs).zip(scales) {
        *scale = quantize(row, limit, pairs);
    }
}

/// Rounds `row` to integers of at most `limit` and returns what they are to be multiplied with.
/// Two neighbours share one of `pairs`, the first in the low half; an odd last one stands alone.
///
/// `limit` is at most 32,767.
#[inline(always)]
fn quantize(row: &[f32], limit: f32, pairs: &mut [i32]) -> f32 {
    let largest = largest(row);
    let (scale, inverse) = match largest > 0.0 {
        true => (largest / limit, limit / largest),
        false => (0.0, 0.0),
    };
    // Values so small that 1 / x is infinite count as zeros.
    let inverse = if inverse.is_finite() { inverse } else { 0.0 };
    let (twos, last) = row.as_chunks::<2>();
    for (pair, [low, high]) in pairs.iter_mut().zip(twos) {
        *pair = rounded(low * inverse) & 0xffff | rounded(high * inverse) << 16;
    }
    if let ([last], Some(pair)) = (last, pairs.get_mut(twos.len())) {
        *pair = rounded(last * inverse) & 0xffff;
    }
    scale
}

/// Brings each row (`[width]`) to mean 0 and variance 1, then times `weight` plus `bias`.
#[inline(always)]
pub(crate) fn norm(rows: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    let width = weight.len().max(1);
    for row in rows.chunks_exact_mut(width) {
        let mean = sum(row, |x| x) / width as f32;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / width as f32;
        let scale = 1.0 / (variance + epsilon).sqrt();
        for ((x, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
            *x = (*x - mean) * scale * weight + bias;
        }
    }
}

/// `x · (1 + erf(x / √2)) / 2` of each value.
#[inline(always)]
pub(crate) fn gelu(values: &mut [f32]) {
    for x in values {
        *x = *x * (erf(*x / std::f32::consts::SQRT_2) + 1.0) * 0.5;
    }
}

/// The softmax over the first `tokens` of each row of `width`; what follows them is of no use
/// afterwards.
#[inline(always)]
pub(crate) fn softmax(rows: &mut [f32], width: usize, tokens: usize) {
    for row in rows.chunks_exact_mut(width.max(1)) {
        let (row, _) = row.split_at_mut(tokens.min(width));
        let largest = lanes_of(row, f32::MIN, |a, b| if b > a { b } else { a });
        row.iter_mut().for_each(|x| *x = exp(*x - largest));
        let scale = 1.0 / sum(row, |x| x);
        row.iter_mut().for_each(|x| *x *= scale);
    }
}

/// Adds `more` to `values`.
#[inline(always)]
pub(crate) fn add(values: &mut [f32], more: &[f32]) {
    values.iter_mut().zip(more).for_each(|(x, y)| *x += y);
}

/// Floats from the integer sums of one panel: `sum · row_scale · scale + bias`, the first `wide` of
/// each row written to `out[row · stride ..]`.
#[inline(always)]
pub(crate) fn rescale(
    sums: &[i32],
    row_scales: &[f32],
    [scales, bias]: [&Lanes; 2],
    out: &mut [f32],
    [stride, wide]: [usize; 2],
) {
    let (sums, _) = sums.as_chunks::<LANES>();
    let rows = sums.iter().zip(row_scales);
    for ((sums, row_scale), out) in rows.zip(out.chunks_mut(stride.max(1))) {
        let mut row = [0.0; LANES];
        let columns = sums.iter().zip(scales).zip(bias);
        for (((sum, scale), bias), x) in columns.zip(&mut row) {
            *x = *sum as f32 * (row_scale * scale) + bias;
        }
        match out.first_chunk_mut::<LANES>() {
            Some(out) if wide == LANES => *out = row,
            _ => out
                .iter_mut()
                .zip(row)
                .take(wide)
                .for_each(|(out, x)| *out = x),
        }
    }
}

/// Whether a value of `scores` is above `least`.
#[inline(always)]
pub(crate) fn any_above(scores: &[f32], least: f32, found: &mut bool) {
    *found = scores
        .iter()
        .fold(false, |any, score| any | (*score > least));
}

/// Largest magnitude; 0 for none.
#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    lanes_of(row, 0.0, |a, b| if b.abs() > a { b.abs() } else { a })
}

/// The sum of `of(x)` over a row.
#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        lanes
            .iter_mut()
            .zip(chunk)
            .for_each(|(lane, x)| *lane += of(*x));
    }
    lanes
        .iter_mut()
        .zip(rest)
        .for_each(|(lane, x)| *lane += of(*x));
    fold(lanes, |a, b| a + b)
}

/// A row joined in lanes that begin with `start`, and the lanes then joined.
#[inline(always)]
fn lanes_of(row: &[f32], start: f32, join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [start; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        lanes
            .iter_mut()
            .zip(chunk)
            .for_each(|(lane, x)| *lane = join(*lane, *x));
    }
    lanes
        .iter_mut()
        .zip(rest)
        .for_each(|(lane, x)| *lane = join(*lane, *x));
    fold(lanes, join)
}

/// The lanes joined in halves.
#[inline(always)]
fn fold(mut lanes: Lanes, join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        let (low, high) = lanes.split_at_mut(half);
        low.iter_mut()
            .zip(high)
            .for_each(|(a, b)| *a = join(*a, *b));
        half /= 2;
    }
    lanes[0]
}

/// The nearest integer of a value of less than 2²², of two the even one.
#[inline(always)]
fn rounded(x: f32) -> i32 {
    (x + ROUND).to_bits().wrapping_sub(ROUND.to_bits()) as i32
}

/// `eˣ` for `x` of at most 0, to one part in 2²²; what is below 2⁻¹²⁵ is not told apart.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // ln 2 in two parts (Cephes): the first one's product with a small integer is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let x = if x > -86.0 { x } else { -86.0 };
    let power = x * std::f32::consts::LOG2_E + ROUND;
    let whole = power - ROUND;
    let x = x - whole * LN_2[0] - whole * LN_2[1];
    let mut sum = 1.987_569_1e-4;
    for factor in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5] {
        sum = sum * x + factor;
    }
    let sum = sum * x * x + x + 1.0;
    let exponent = power.to_bits().wrapping_sub(ROUND.to_bits());
    sum * f32::from_bits(exponent.wrapping_add(127) << 23)
}

/// The error function to 2⁻²²: a fraction of polynomials in x² (as in Eigen), 1 beyond 4.
#[inline(always)]
fn erf(x: f32) -> f32 {
    const ABOVE: [f32; 6] = [
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_3e-5,
        -7.349_906_6e-4,
        -2.954_6e-3,
        -1.609_603_4e-2,
    ];
    const BELOW: [f32; 4] = [-2.133_740_5e-4, -1.682_827e-3, -7.373_329e-3, -1.426_474e-2];
    let x = if x > -4.0 { x } else { -4.0 };
    let x = if x < 4.0 { x } else { 4.0 };
    let square = x * x;
    let above = ABOVE
        .iter()
        .fold(-2.726_142_3e-10, |sum, factor| sum * square + factor);
    let below = BELOW
        .iter()
        .fold(-1.456_607_2e-5, |sum, factor| sum * square + factor);
    x * above / below
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// erf by its series, in 64 bits.
    fn exact_erf(x: f64) -> f64 {
        let mut term = x;
        let mut sum = x;
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn erf_is_off_by_less_than_one_part_in_two_million() {
        for step in -4_000..4_000 {
            let x = step as f32 / 1_000.0;
            let (found, wanted) = (f64::from(erf(x)), exact_erf(f64::from(x)));
            assert!((found - wanted).abs() < 5e-7, "{x}: {found} {wanted}");
        }
        assert!((erf(9.0) - 1.0).abs() < 5e-7 && (erf(-9.0) + 1.0).abs() < 5e-7);
    }

    #[test]
    fn exp_is_off_by_less_than_one_part_in_four_million() {
        for step in 0..86_000 {
            let x = -(step as f32) / 1_000.0;
            let (found, wanted) = (f64::from(exp(x)), f64::from(x).exp());
            assert!(
                (found / wanted - 1.0).abs() < 2.4e-7,
                "{x}: {found} {wanted}"
            );
        }
        assert!(exp(-1e9) < 1e-37);
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn a_row_of_zeros_stays_zero() {
        let mut pairs = [7; 2];
        assert_eq!(quantize(&[0.0; 3], 100.0, &mut pairs), 0.0);
        assert_eq!(pairs, [0; 2]);
    }

    proptest! {
        #[test]
        fn rounding_is_off_by_half_a_step(
            row in prop::collection::vec(-9.0f32..9.0, 1..70), limit in 255u16..32_767
        ) {
            let mut pairs = vec![0; row.len().div_ceil(2)];
            let scale = quantize(&row, f32::from(limit), &mut pairs);
            let halves = pairs.iter().flat_map(|pair| [*pair as i16, (pair >> 16) as i16]);
            for (half, x) in halves.zip(&row) {
                prop_assert!(half.unsigned_abs() <= limit);
                prop_assert!((f32::from(half) * scale - x).abs() <= scale * 0.51);
            }
        }

        #[test]
        fn a_softmax_sums_to_one(mut row in prop::collection::vec(-50.0f32..50.0, 1..70)) {
            let tokens = row.len();
            softmax(&mut row, tokens, tokens);
            prop_assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
}
