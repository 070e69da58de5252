//! Every level gives the bits of the plain one.

use super::*;
use proptest::prelude::*;

/// Numbers that look random.
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 ^ self.0 >> 15
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        let float = |bits: u32| (bits >> 8) as f32 / (1 << 20) as f32 - 8.0;
        (0..count).map(|_| float(self.next())).collect()
    }
}

/// What each level makes of the same values.
fn on_all_levels(values: &[f32], work: impl Fn(Level, &mut [f32])) -> Vec<Vec<u32>> {
    let on = |level| {
        let mut values = values.to_vec();
        work(level, &mut values);
        values.iter().map(|value| value.to_bits()).collect()
    };
    Level::all().into_iter().map(on).collect()
}

fn alike(results: &[Vec<u32>]) -> bool {
    results.windows(2).all(|pair| pair[0] == pair[1])
}

proptest! {
    #[test]
    fn sums_are_the_same(rows in 0usize..30, pairs in 1usize..50, seed in any::<u32>()) {
        let mut numbers = Numbers(seed);
        let inputs: Vec<i32> = (0..rows * pairs).map(|_| numbers.next() as i32).collect();
        let panel: Vec<u8> = (0..pairs * PAIR_BYTES).map(|_| numbers.next() as u8).collect();
        let on = |level| {
            let mut sums = vec![-1; rows * PANEL];
            panel_sums(level, &inputs, &panel, &mut sums);
            sums
        };
        let wanted = on(Level::Scalar);
        for level in Level::all() {
            prop_assert_eq!(&on(level), &wanted, "{:?}", level);
        }
    }

    #[test]
    fn elementwise_functions_are_the_same(count in 1usize..200, seed in any::<u32>()) {
        let mut numbers = Numbers(seed);
        let values = numbers.floats(count);
        prop_assert!(alike(&on_all_levels(&values, gelu)));
        prop_assert!(alike(&on_all_levels(&values, |level, x| softmax(level, x, count, count))));
        let (weight, bias) = (numbers.floats(count), numbers.floats(count));
        prop_assert!(alike(&on_all_levels(&values, |level, x| norm(level, x, &weight, &bias, 1e-12))));
    }

    #[test]
    fn products_are_the_same(rows in 1usize..10, depth in 1usize..40, seed in any::<u32>()) {
        let mut numbers = Numbers(seed);
        let (a, b) = (numbers.floats(rows * depth), numbers.floats(depth * 32));
        let a = Floats { values: &a, stride: depth, width: depth };
        let b = Floats { values: &b, stride: 32, width: 32 };
        let out = vec![0.0; rows * 32];
        prop_assert!(alike(&on_all_levels(&out, |level, out| product(level, a, b, out))));
    }

        #[test]
        fn a_product_is_that_of_its_rows_and_columns(
            rows in 1usize..7, depth in 1usize..20, blocks in 1usize..3, seed in any::<u32>()
        ) {
            let columns = blocks * LANES;
            let mut state = seed;
            let mut value = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 24) as f32 - 0.5
            };
            let a: Vec<f32> = (0..rows * (depth + 3)).map(|_| value()).collect();
            let b: Vec<f32> = (0..depth * columns).map(|_| value()).collect();
            let mut out = vec![0.0; rows * columns];
            let left = Floats { values: &a, stride: depth + 3, width: depth };
            let right = Floats { values: &b, stride: columns, width: columns };
            product(Level::Scalar, left, right, &mut out);
            for row in 0..rows {
                for column in 0..columns {
                    let terms = (0..depth).map(|d| a[row * (depth + 3) + d] * b[d * columns + column]);
                    prop_assert_eq!(out[row * columns + column], terms.fold(0.0, |sum, x| sum + x));
                }
            }
        }

    #[test]
    fn rounding_and_rescaling_are_the_same(
        rows in 1usize..6, width in 1usize..60, seed in any::<u32>()
    ) {
        let mut numbers = Numbers(seed);
        let values = numbers.floats(rows * width);
        let scales: [f32; LANES] = std::array::from_fn(|i| i as f32 - 3.7);
        let on = |level| {
            let mut pairs = vec![0; rows * width.div_ceil(2)];
            let mut row_scales = vec![0.0; rows];
            quantize_rows(level, &values, width, &mut pairs, &mut row_scales);
            let mut out = vec![0.0; rows * LANES];
            let sums: Vec<i32> = pairs.iter().copied().cycle().take(rows * LANES).collect();
            rescale(level, &sums, &row_scales, [&scales, &scales], &mut out, [LANES, 1 + width % LANES]);
            (pairs, out)
        };
        let wanted = on(Level::Scalar);
        for level in Level::all() {
            prop_assert_eq!(&on(level), &wanted, "{:?}", level);
        }
    }
}

#[test]
fn the_largest_sums_fit() {
    let width = 1_536;
    let mut pairs = vec![0; width / 2];
    let mut scale = [0.0];
    quantize_rows(
        Level::Scalar,
        &vec![-5.0; width],
        width,
        &mut pairs,
        &mut scale,
    );
    let panel = vec![0x80; width / 2 * PAIR_BYTES];
    for level in Level::all() {
        let mut sums = [0; PANEL];
        panel_sums(level, &pairs, &panel, &mut sums);
        let wanted = 1_536 * 128 * (i32::MAX / (128 * 1_536));
        assert_eq!(sums, [wanted; PANEL], "{level:?}");
    }
}
