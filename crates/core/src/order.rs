//! Order by meaning: what is alike stands together, so that what is asked for together is in one
//! shard.
//!
//! Items are halved again and again at the median of their projections on the direction in which
//! they differ most (the first principal component, by power iteration). The result depends on the
//! vectors only.

/// Runs this short stay as they are.
const SHORTEST_RUN: usize = 3;
const POWER_ITERATIONS: usize = 8;

/// The items' numbers in an order in which neighbours are alike. `vectors` is `[items, dim]`,
/// row-major; without vectors (`dim` 0) the order stays.
#[must_use]
pub fn by_meaning(vectors: &[f32], items: usize, dim: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..items as u32).collect();
    if dim == 0 || vectors.len() < items.saturating_mul(dim) {
        return order;
    }
    let row = |item: u32| &vectors[item as usize * dim..(item as usize + 1) * dim];
    let mut runs = Vec::from([(0, items)]);
    while let Some((start, end)) = runs.pop() {
        let run = start..end;
        if run.len() <= SHORTEST_RUN {
            continue;
        }
        let part = &mut order[run.clone()];
        let direction = principal_direction(part, &row, dim);
        let mut projected: Vec<(f32, u32)> = part
            .iter()
            .map(|&item| (dot(row(item), &direction), item))
            .collect();
        projected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (slot, (_, item)) in part.iter_mut().zip(projected) {
            *slot = item;
        }
        let middle = run.start + run.len() / 2;
        runs.push((start, middle));
        runs.push((middle, end));
    }
    order
}

fn principal_direction<'a>(items: &[u32], row: &impl Fn(u32) -> &'a [f32], dim: usize) -> Vec<f32> {
    let mut mean = vec![0.0f32; dim];
    for &item in items {
        add(&mut mean, row(item), 1.0 / items.len() as f32);
    }
    // The item farthest from the mean gives a start that is not at right angles to the direction.
    let farthest = items.iter().copied().max_by(|&a, &b| {
        let distance = |item| squared_distance(row(item), &mean);
        distance(a).total_cmp(&distance(b)).then(b.cmp(&a))
    });
    let mut direction = vec![0.0; dim];
    if let Some(farthest) = farthest {
        add(&mut direction, row(farthest), 1.0);
        add(&mut direction, &mean, -1.0);
    }
    for _ in 0..POWER_ITERATIONS {
        let offset = dot(&mean, &direction);
        let mut next = vec![0.0; dim];
        let mut total = 0.0;
        for &item in items {
            let projection = dot(row(item), &direction) - offset;
            add(&mut next, row(item), projection);
            total += projection;
        }
        add(&mut next, &mean, -total);
        let length = dot(&next, &next).sqrt();
        if length <= f32::MIN_POSITIVE {
            break;
        }
        next.iter_mut().for_each(|value| *value /= length);
        direction = next;
    }
    direction
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn add(sum: &mut [f32], row: &[f32], scale: f32) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum += scale * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn every_item_has_one_place(
            vectors in proptest::collection::vec(proptest::array::uniform4(-1f32..1.0), 0..80),
        ) {
            let flat: Vec<f32> = vectors.iter().flatten().copied().collect();
            let order = by_meaning(&flat, vectors.len(), 4);
            let places: BTreeSet<u32> = order.iter().copied().collect();
            prop_assert_eq!(order.len(), vectors.len());
            prop_assert_eq!(places.len(), vectors.len());
            prop_assert_eq!(order, by_meaning(&flat, vectors.len(), 4));
        }
    }

    #[test]
    fn what_is_alike_stands_together() {
        // Four groups, given interleaved.
        let centres = [[1.0, 0.0], [-1.0, 0.1], [0.1, 1.0], [0.0, -1.2]];
        let vectors: Vec<f32> = (0..32)
            .flat_map(|i| centres[i % 4].map(|value| value + 0.001 * (i / 4) as f32))
            .collect();
        let order = by_meaning(&vectors, 32, 2);
        for group in order.chunks(8) {
            assert!(
                group.iter().all(|item| item % 4 == group[0] % 4),
                "{order:?}"
            );
        }
    }

    #[test]
    fn without_vectors_the_order_stays() {
        assert_eq!(by_meaning(&[], 5, 0), [0, 1, 2, 3, 4]);
    }
}
