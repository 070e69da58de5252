//! Orders by number: each item becomes a 64-bit key, so that all orders share one sort. In the
//! browser's module a sort of its own for every type is a tenth of the bytes.

/// Items by score, highest first; equal scores by the lower item. Not a number comes last.
#[must_use]
pub fn by_score(items: impl IntoIterator<Item = (u32, f32)>) -> Vec<u32> {
    ordered(
        items
            .into_iter()
            .map(|(item, score)| (!ascending(score), item)),
    )
}

/// Items by rank, lowest first; equal ranks by the lower item.
#[must_use]
pub fn by_rank(items: impl IntoIterator<Item = (u32, u32)>) -> Vec<u32> {
    ordered(items.into_iter().map(|(item, rank)| (rank, item)))
}

fn ordered(ranks: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let keys = ranks.map(|(rank, item)| u64::from(rank) << 32 | u64::from(item));
    let mut keys: Vec<u64> = keys.collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| key as u32).collect()
}

/// Bits that stand in the order of the numbers (IEEE 754 `totalOrder`).
fn ascending(score: f32) -> u32 {
    let score = if score.is_nan() {
        f32::NEG_INFINITY
    } else {
        score
    };
    let bits = score.to_bits();
    if bits >> 31 == 1 {
        !bits
    } else {
        bits | 1 << 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_the_numbers(scores in proptest::collection::vec(-2f32..2.0, 0..20)) {
            let mut naive: Vec<u32> = (0..scores.len() as u32).collect();
            let score = |item: u32| scores[item as usize];
            naive.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
            prop_assert_eq!(by_score((0u32..).zip(scores.iter().copied())), naive);
        }
    }

    #[test]
    fn equal_items_stand_by_number_and_what_is_no_number_last() {
        let scores = [
            (3, 1.0),
            (1, 1.0),
            (0, f32::NAN),
            (2, f32::NEG_INFINITY),
            (4, f32::INFINITY),
        ];
        assert_eq!(by_score(scores), [4, 1, 3, 0, 2]);
        assert_eq!(by_rank([(5, 2), (1, 9), (0, 2)]), [0, 5, 1]);
    }
}
