//! Ctrl-C, or another program that ends this one: what is half written goes too.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The folder that is half written. Whoever writes in it holds the lock, so that nothing is added to it
/// once it is being removed.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The folder that is half written, to be set by whoever begins and ends it. Waits until no one else
/// writes; for ever, once the process is being ended.
pub fn writing() -> MutexGuard<'static, Option<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on an interruption lets `remove` remove the folder that [`writing`] holds, if any.
///
/// Where signals cannot be waited for, the folder stays for the next run, which removes it.
#[cfg(unix)]
pub fn prepare(remove: fn(&Path)) {
    use std::sync::Once;
    use std::thread;

    use signal_hook::consts::TERM_SIGNALS;
    use signal_hook::iterator::Signals;

    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        if let Ok(mut signals) = Signals::new(TERM_SIGNALS) {
            thread::spawn(move || signals.forever().for_each(|signal| end(signal, remove)));
        }
    });
}

#[cfg(not(unix))]
pub fn prepare(_remove: fn(&Path)) {}

/// Ends the process as `signal` would have.
#[cfg(unix)]
fn end(signal: i32, remove: fn(&Path)) {
    // Held to the end: the thread that writes waits.
    let unfinished = writing();
    if let Some(folder) = unfinished.as_deref() {
        remove(folder);
    }
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}
