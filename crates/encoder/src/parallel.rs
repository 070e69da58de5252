//! Work on many items at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use crate::Result;

/// Results that may wait for the caller, per thread.
const WAITING_PER_THREAD: usize = 16;

/// Does `work` on all `items` on `threads` threads (at least one), begun in order, and hands each
/// result to `consume` on the calling thread as it comes. A few results wait, never many.
///
/// # Errors
/// The first error of `work` or `consume` that arrives; items not yet begun are left then.
pub(crate) fn for_each<I: Sync, O: Send>(
    items: &[I],
    threads: usize,
    work: impl Fn(&I) -> Result<O> + Sync,
    mut consume: impl FnMut(O) -> Result<()>,
) -> Result<()> {
    let threads = threads.clamp(1, items.len().max(1));
    let (sender, receiver) = sync_channel(threads * WAITING_PER_THREAD);
    let next = AtomicUsize::new(0);
    let (work, next) = (&work, &next);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || {
                // Nobody listens after an error.
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed))
                    && sender.send(work(item)).is_ok()
                {}
            });
        }
        drop(sender);
        receiver.into_iter().try_for_each(|result| consume(result?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EncoderError;

    #[test]
    fn every_item_is_worked_on_once() {
        let items: Vec<usize> = (0..1_000).collect();
        for threads in [0, 1, 3] {
            let mut seen = vec![0; items.len()];
            let count = |item: usize| {
                seen[item] += 1;
                Ok(())
            };
            for_each(&items, threads, |item| Ok(*item), count).unwrap();
            assert!(seen.iter().all(|count| *count == 1), "{threads} threads");
        }
    }

    #[test]
    fn an_error_ends_the_work_early() {
        let items: Vec<usize> = (0..100_000).collect();
        let begun = AtomicUsize::new(0);
        let work = |item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            match item {
                5 => Err(EncoderError::not_an_encoder("item 5")),
                _ => Ok(*item),
            }
        };
        let error = for_each(&items, 2, work, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("item 5"));
        assert!(begun.into_inner() < items.len());
        let refused = |_| Err(EncoderError::not_an_encoder("full"));
        assert!(for_each(&items, 2, |item| Ok(*item), refused).is_err());
    }
}
