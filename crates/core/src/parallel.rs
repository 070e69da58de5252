//! Work on all cores while indexing.

/// `work` of every number below `count`, in order; on as many threads as the machine has.
pub(crate) fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let share = count.div_ceil(threads).max(1);
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    std::thread::scope(|scope| {
        for (part, slots) in results.chunks_mut(share).enumerate() {
            let work = &work;
            scope.spawn(move || {
                for (i, slot) in slots.iter_mut().enumerate() {
                    *slot = Some(work(part * share + i));
                }
            });
        }
    });
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_their_order() {
        for count in [0, 1, 2, 7, 100] {
            let expected: Vec<usize> = (0..count).map(|i| i * i).collect();
            assert_eq!(super::map(count, |i| i * i), expected);
        }
    }
}
