//! `siskin serve --watch`: the index follows the site.
//!
//! The pages' files are listed and compared every second rather than watched by the system: a generator
//! may remove the whole folder and write it anew, which ends a watch, and what matters is known only
//! from the list, namely whether pages have changed and whether the generator is done.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use siskin_extract::site;

/// Time between two looks. Two that see the same mean that nobody is writing.
const INTERVAL: Duration = Duration::from_secs(1);

/// A site's pages, by path: when they were changed, and their length in bytes.
type State = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Calls `on_change` when the pages of `site` have changed and have been left alone for a second, the
/// first time at once if there are any; goes on for ever.
pub fn follow(site: &Path, mut on_change: impl FnMut()) {
    let mut follower = Follower::default();
    loop {
        if follower.look(state(site)) {
            on_change();
        }
        thread::sleep(INTERVAL);
    }
}

#[derive(Debug, Default)]
struct Follower {
    /// Whether the caller was ever told.
    has_begun: bool,
    /// What was there when the caller was last told.
    told: State,
    /// What was there at the last look.
    seen: State,
}

impl Follower {
    /// Whether the caller is to be told of a change.
    fn look(&mut self, state: State) -> bool {
        let at_rest = state == self.seen || !self.has_begun;
        self.seen = state;
        if self.seen.is_empty() {
            // Whoever empties the folder removes the index too.
            self.told.clear();
        }
        let changed = at_rest && !self.seen.is_empty() && self.seen != self.told;
        if changed {
            self.told = self.seen.clone();
            self.has_begun = true;
        }
        changed
    }
}

/// Nothing for a folder that cannot be read, or holds no page, at the moment.
fn state(site: &Path) -> State {
    let files = site::walk(site).map(|listing| listing.files);
    let files = files.unwrap_or_default().into_iter();
    files
        .filter_map(|file| {
            let metadata = fs::metadata(site.join(&file.path)).ok()?;
            Some((file.path, (metadata.modified().ok(), metadata.len())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(lengths: &[u64]) -> State {
        let names = ["a.html", "b.html"].map(PathBuf::from);
        let times = lengths.iter().map(|&length| (None, length));
        names.into_iter().zip(times).collect()
    }

    #[test]
    fn changes_are_told_once_and_when_the_site_is_at_rest() {
        let mut follower = Follower::default();
        let mut told = |lengths: &[u64]| follower.look(pages(lengths));
        assert!(told(&[1, 1]), "what is there at first");
        assert!(!told(&[1, 1]));
        assert!(!told(&[2]), "still being written");
        assert!(!told(&[2, 1]), "still being written");
        assert!(told(&[2, 1]));
        assert!(!told(&[2, 1]));
        assert!(!told(&[]) && !told(&[]), "the folder is being emptied");
        assert!(!told(&[2, 1]), "perhaps still being written");
        assert!(told(&[2, 1]), "the same pages, without the index");
    }

    #[test]
    fn only_pages_count() {
        let site = tempfile::tempdir().unwrap();
        let write = |name: &str, text| {
            let path = site.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("index.html", "one");
        let before = state(site.path());
        for index in [
            "siskin/siskin.json",
            "siskin/a.html",
            ".partial/a.html",
            "a.css",
        ] {
            write(index, "{}");
        }
        assert_eq!(state(site.path()), before);
        write("index.html", "longer");
        assert_ne!(state(site.path()), before);
        assert_eq!(state(&site.path().join("gone")), State::new());
    }
}
