//! Many texts at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use siskin_core::encoded::{Encode, EncodedText};

use crate::{Encoder, Result};

/// Results that may wait for the caller, per thread.
const WAITING_PER_THREAD: usize = 16;

impl Encoder {
    /// Encodes `texts` on `threads` threads (at least one) and hands each result to
    /// `consume(index, text)`, in the order of `texts`, on the calling thread.
    ///
    /// `on_progress` gets the number of texts encoded so far, from any thread. A few results wait
    /// in memory, never all.
    ///
    /// # Errors
    /// The first error of the network; texts before it have been consumed.
    pub fn encode_all<T: AsRef<str> + Sync>(
        &self,
        texts: &[T],
        threads: usize,
        on_progress: impl Fn(usize) + Sync,
        consume: impl FnMut(usize, EncodedText),
    ) -> Result<()> {
        let threads = threads.clamp(1, texts.len().max(1));
        let (sender, receiver) = sync_channel(threads * WAITING_PER_THREAD);
        let queue = Queue {
            encoder: self,
            texts,
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
        };
        let (queue, on_progress) = (&queue, &on_progress);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let sender = sender.clone();
                scope.spawn(move || queue.work(&sender, on_progress));
            }
            drop(sender);
            consume_in_order(receiver, consume)
        })
    }
}

type Encoded = (usize, Result<EncodedText>);

struct Queue<'a, T> {
    encoder: &'a Encoder,
    texts: &'a [T],
    next: AtomicUsize,
    done: AtomicUsize,
}

impl<T: AsRef<str> + Sync> Queue<'_, T> {
    /// Encodes texts until none is left or nobody listens.
    fn work(&self, sender: &SyncSender<Encoded>, on_progress: &(impl Fn(usize) + Sync)) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = self.texts.get(index) else {
                return;
            };
            let encoded = self.encoder.encode(text.as_ref());
            on_progress(self.done.fetch_add(1, Ordering::Relaxed) + 1);
            if sender.send((index, encoded)).is_err() {
                return;
            }
        }
    }
}

/// Passes results on in order of index; results that come early wait.
fn consume_in_order(
    receiver: Receiver<Encoded>,
    mut consume: impl FnMut(usize, EncodedText),
) -> Result<()> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (index, encoded) in receiver {
        early.insert(index, encoded);
        while let Some(encoded) = early.remove(&next) {
            consume(next, encoded?);
            next += 1;
        }
    }
    Ok(())
}
