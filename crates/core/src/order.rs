//! Orders in which what is asked for together stands together, and is then in one shard.
//!
//! By meaning: items are halved again and again at the median of their projections on the direction
//! in which they differ most (the first principal component, by power iteration).
//!
//! By lists: items are halved again and again so that few lists have items in both halves (recursive
//! graph bisection: Dhulipala et al., KDD 2016, algorithms 1 and 2).

/// Runs this short stay as they are.
const SHORTEST_RUN: usize = 3;
const POWER_ITERATIONS: usize = 8;
/// Halves this short stay as they are: shards are larger.
const SHORTEST_HALVES: usize = 8;
/// Rounds of swaps between two halves, at most.
const SWAP_ROUNDS: usize = 10;

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

/// The items of `order` in an order in which those that share lists are near each other. An item that
/// is in no list stays where its neighbours of `order` go.
#[must_use]
pub fn by_lists(mut order: Vec<u32>, lists: &[Vec<u32>]) -> Vec<u32> {
    let mut halves = Halves::new(order.len(), lists);
    let mut runs = Vec::from([(0, order.len())]);
    while let Some((start, end)) = runs.pop() {
        if end - start <= SHORTEST_HALVES {
            continue;
        }
        let middle = usize::midpoint(start, end);
        let (left, right) = order[start..end].split_at_mut(middle - start);
        for _ in 0..SWAP_ROUNDS {
            if !halves.swap(left, right) {
                break;
            }
        }
        runs.push((start, middle));
        runs.push((middle, end));
    }
    order
}

/// Which lists items are in, and how many items of each list two halves have.
struct Halves {
    lists_of: Vec<Vec<u32>>,
    /// Per list its items in the left and in the right half.
    counts: Vec<[usize; 2]>,
    log2: Vec<f32>,
}

impl Halves {
    fn new(items: usize, lists: &[Vec<u32>]) -> Self {
        let mut lists_of = vec![Vec::new(); items];
        for (list, items) in (0u32..).zip(lists) {
            items
                .iter()
                .for_each(|&item| lists_of[item as usize].push(list));
        }
        let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
        Self {
            lists_of,
            counts: vec![[0; 2]; lists.len()],
            log2: (0..longest + 2)
                .map(|count| (count as f32 + 1.0).log2())
                .collect(),
        }
    }

    /// One round: swaps the items that gain most by it, pair by pair, while there is a gain. Returns
    /// whether any was swapped.
    fn swap(&mut self, left: &mut [u32], right: &mut [u32]) -> bool {
        for (side, items) in [(0, &*left), (1, &*right)] {
            for &item in items {
                for &list in &self.lists_of[item as usize] {
                    self.counts[list as usize][side] += 1;
                }
            }
        }
        let left_gains = self.gains(left, 0);
        let right_gains = self.gains(right, 1);
        for &item in left.iter().chain(&*right) {
            for &list in &self.lists_of[item as usize] {
                self.counts[list as usize] = [0; 2];
            }
        }
        let gain = |&((left, _), (right, _)): &((f32, usize), (f32, usize))| left + right > 0.0;
        let pairs = left_gains.into_iter().zip(right_gains).take_while(gain);
        let swaps =
            pairs.map(|((_, at), (_, other))| std::mem::swap(&mut left[at], &mut right[other]));
        swaps.count() > 0
    }

    /// What each item of a half gains in the other one, with its place, best first.
    fn gains(&self, items: &[u32], side: usize) -> Vec<(f32, usize)> {
        let gain = |item: u32| -> f32 {
            let lists = self.lists_of[item as usize].iter();
            let gains = lists.map(|&list| {
                let before = self.counts[list as usize];
                let mut after = before;
                after[side] -= 1;
                after[1 - side] += 1;
                self.cost(before) - self.cost(after)
            });
            gains.sum()
        };
        let mut gains: Vec<(f32, usize)> = items.iter().map(|&item| gain(item)).zip(0..).collect();
        gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        gains
    }

    /// Bits that a list's items take in two halves of equal size, but for a constant (eq. 1 there).
    fn cost(&self, counts: [usize; 2]) -> f32 {
        let bits = counts.map(|count| count as f32 * self.log2[count]);
        -(bits[0] + bits[1])
    }
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
    fn items_of_one_list_come_together() {
        // Eight lists of eight items, strewn over the order.
        let mut strewn: Vec<u32> = (0..64).collect();
        strewn.sort_by_key(|&item| item.wrapping_mul(2_654_435_761) >> 7);
        let lists: Vec<Vec<u32>> = strewn.chunks(8).map(<[u32]>::to_vec).collect();
        let order = by_lists((0..64).collect(), &lists);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..64).collect::<Vec<u32>>());
        let touched = |order: &[u32]| -> usize {
            let shards = order.chunks(8);
            let of = |shard: &[u32]| {
                lists
                    .iter()
                    .filter(|list| list.iter().any(|i| shard.contains(i)))
                    .count()
            };
            shards.map(of).sum()
        };
        let before: Vec<u32> = (0..64).collect();
        assert!(touched(&order) * 4 < touched(&before) * 3);
    }

    #[test]
    fn without_vectors_the_order_stays() {
        assert_eq!(by_meaning(&[], 5, 0), [0, 1, 2, 3, 4]);
    }
}
