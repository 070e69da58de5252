//! The folder that `siskin index` writes: whose files it holds, and how a new one takes its place.
//!
//! Everything is written to a hidden folder beside the output. When it is complete, two renames
//! put it in place. A run that fails or is interrupted removes it, a run that was killed leaves it to the
//! next. A hidden file beside both is locked from before the first to after the last change, so that of
//! two runs at once the second is told to wait.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use same_file::Handle;

use crate::failure::one_line;
use crate::interrupt::{self, writing};
use crate::receipt::{RECEIPT_FILE, Receipt, Written};
use crate::talk::Talk;

/// What the name of the locked file ends with.
const LOCK_EXTENSION: &str = "siskin-lock";

/// An output folder that may be written: absent, empty, or entirely ours.
#[derive(Clone, Debug)]
pub struct Output {
    folder: PathBuf,
}

impl Output {
    /// Checks that `folder` may be replaced. Writes nothing.
    ///
    /// # Errors
    /// When it is a file, holds files that Siskin did not write, or has no folder above it.
    pub fn check(folder: &Path) -> Result<Self> {
        let folder = resolve(folder)?;
        if folder.exists() {
            check_owner(&folder)?;
        }
        Ok(Self { folder })
    }

    /// The folder's path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a hidden folder or file beside the output.
    fn beside(&self, role: &str) -> PathBuf {
        let name = self.folder.file_name().unwrap_or_default();
        self.folder
            .with_file_name(format!(".{}.siskin-{role}", name.to_string_lossy()))
    }

    /// Where the new output is written.
    fn partial(&self) -> PathBuf {
        self.beside("partial")
    }

    /// The file that is locked while a run writes.
    fn lock(&self) -> PathBuf {
        self.partial().with_extension(LOCK_EXTENSION)
    }

    /// Where the output before this one waits while the new one takes its place.
    fn previous(&self) -> PathBuf {
        self.beside("previous")
    }

    /// Puts an output back that an interrupted run had moved away, and clears what it replaced.
    fn recover(&self) -> Result<()> {
        let previous = self.previous();
        if !previous.exists() {
            return Ok(());
        }
        let has_receipt = previous.join(RECEIPT_FILE).is_file();
        if !has_receipt && !is_empty(&previous)? {
            bail!(
                "{} is in the way and not ours; move or remove it",
                previous.display()
            );
        }
        if has_receipt && !self.folder.exists() {
            return rename(&previous, &self.folder);
        }
        remove(&previous)
    }
}

/// `folder` without links and dots.
fn resolve(folder: &Path) -> Result<PathBuf> {
    let unreadable = || format!("cannot read {}", folder.display());
    if folder.exists() {
        return folder.canonicalize().with_context(unreadable);
    }
    let absolute = std::path::absolute(folder).with_context(unreadable)?;
    let (Some(above), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        bail!(
            "cannot write to {}; name another folder with --output",
            folder.display()
        );
    };
    let missing = || format!("no such folder: {}; create it first", above.display());
    Ok(above.canonicalize().with_context(missing)?.join(name))
}

fn check_owner(folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        bail!(
            "{} is a file; name another folder with --output",
            folder.display()
        );
    }
    let receipt = Receipt::read(folder)?.unwrap_or_else(Receipt::empty);
    match receipt.stranger_in(folder)? {
        Some(stranger) => bail!(
            "{} holds files that siskin did not write ({}); name another folder with --output, or \
             remove it yourself",
            folder.display(),
            stranger.display()
        ),
        None => Ok(()),
    }
}

/// A new output, as it is being written.
#[derive(Debug)]
pub struct Staging {
    output: Output,
    folder: PathBuf,
    receipt: Receipt,
    /// Let go of last.
    _lock: Lock,
}

impl Staging {
    /// An empty hidden folder beside `output`; removed when dropped.
    ///
    /// # Errors
    /// When it cannot be made, or another run is writing the same output.
    pub fn create(output: Output) -> Result<Self> {
        let folder = output.partial();
        interrupt::prepare(|folder| {
            let _ = remove(folder);
            let _ = fs::remove_file(folder.with_extension(LOCK_EXTENSION));
        });
        let lock = {
            let mut writing = writing();
            let lock = Lock::take(output.lock())?;
            claim(&folder)?;
            *writing = Some(folder.clone());
            lock
        };
        let staging = Self {
            output,
            folder,
            receipt: Receipt::empty(),
            _lock: lock,
        };
        staging.output.recover()?;
        // Another run may have been at work since the first look.
        Output::check(&staging.output.folder)?;
        Ok(staging)
    }

    /// Writes one file; `name` has `/` between folders.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.folder.join(name);
        let cannot = || format!("cannot write {}", path.display());
        let writing = writing();
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).with_context(cannot)?;
        }
        fs::write(&path, content).with_context(cannot)?;
        drop(writing);
        self.receipt
            .files
            .insert(name.to_owned(), Written::of(content));
        Ok(())
    }

    /// Puts the new output in the place of the old one, does what has to be done `before_others` may
    /// write there, and says what it holds. That the old one could not be removed is a problem told to
    /// `talk`.
    ///
    /// # Errors
    /// When a folder cannot be renamed; the old output then stays where it was. When `before_others`
    /// fails; the new output then stays.
    pub fn put_in_place(
        self,
        talk: Talk,
        before_others: impl FnOnce() -> Result<()>,
    ) -> Result<Receipt> {
        let mut writing = writing();
        write_receipt(&self.folder, &self.receipt)?;
        self.swap(talk)?;
        before_others()?;
        *writing = None;
        drop(writing);
        Ok(self.receipt.clone())
    }

    fn swap(&self, talk: Talk) -> Result<()> {
        let (output, previous) = (&self.output.folder, self.output.previous());
        if !output.exists() {
            return rename(&self.folder, output);
        }
        rename(output, &previous)?;
        if let Err(error) = rename(&self.folder, output) {
            rename(&previous, output)?;
            return Err(error);
        }
        if let Err(error) = remove(&previous) {
            talk.problem(&format!("the older index stays: {}", one_line(&error)));
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        *writing() = None;
        if self.folder.exists() {
            let _ = remove(&self.folder);
        }
    }
}

/// A locked file, removed when dropped: for as long as it is held, no other run writes the same output.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    fn take(path: PathBuf) -> Result<Self> {
        let cannot = || format!("cannot write {}", path.display());
        loop {
            let file = File::create(&path).with_context(cannot)?;
            match file.try_lock() {
                // Another run may have removed the file between the two lines above, and a third one
                // have made another of its name.
                Ok(()) if !is_at(&file, &path).with_context(cannot)? => {}
                Ok(()) => return Ok(Self { path, _file: file }),
                Err(TryLockError::WouldBlock) => bail!(
                    "another siskin index is writing beside {}; wait until it is done",
                    path.display()
                ),
                Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
            }
        }
    }
}

/// Whether `path` names the very file that is open.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match Handle::from_path(path) {
        Ok(there) => Ok(there == Handle::from_file(file.try_clone()?)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes `folder` or clears what a killed run left there, and marks it as ours.
fn claim(folder: &Path) -> Result<()> {
    if folder.exists() && !folder.join(RECEIPT_FILE).exists() && !is_empty(folder)? {
        bail!(
            "{} is in the way and not ours; move or remove it",
            folder.display()
        );
    }
    let cannot = || format!("cannot write {}", folder.display());
    fs::create_dir_all(folder).with_context(cannot)?;
    clear(folder).with_context(cannot)?;
    write_receipt(folder, &Receipt::empty())
}

fn write_receipt(folder: &Path, receipt: &Receipt) -> Result<()> {
    let path = folder.join(RECEIPT_FILE);
    fs::write(&path, receipt.to_json()?).with_context(|| format!("cannot write {}", path.display()))
}

/// Removes everything in `folder` but the receipt, which marks it as ours.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else if entry.file_name() != RECEIPT_FILE {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to)
        .with_context(|| format!("cannot rename {} to {}", from.display(), to.display()))
}

/// Removes `folder`; the receipt goes last, so that what a killed run leaves is known as ours.
fn remove(folder: &Path) -> Result<()> {
    let remove = || -> io::Result<()> {
        clear(folder)?;
        match fs::remove_file(folder.join(RECEIPT_FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::remove_dir(folder),
        }
    };
    remove().with_context(|| format!("cannot remove {}", folder.display()))
}

fn is_empty(folder: &Path) -> Result<bool> {
    let mut entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    Ok(entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;
    use tempfile::tempdir;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn staging(output: &Path) -> Result<Staging> {
        Staging::create(Output::check(output)?)
    }

    #[test]
    fn a_finished_output_replaces_the_old_one_whole() {
        let site = tempdir().unwrap();
        let output = site.path().join("siskin");
        for content in ["one", "two"] {
            let mut staging = staging(&output).unwrap();
            staging
                .write(&format!("{content}/a.bin"), content.as_bytes())
                .unwrap();
            staging.put_in_place(Talk::Quiet, || Ok(())).unwrap();
        }
        assert_eq!(names(&output), ["siskin-files.json", "two"]);
        assert_eq!(names(site.path()), ["siskin"]);
    }

    #[test]
    fn an_unfinished_output_leaves_the_old_one_and_no_trace() {
        let site = tempdir().unwrap();
        let output = site.path().join("siskin");
        let mut first = staging(&output).unwrap();
        first.write("a.bin", b"first").unwrap();
        first.put_in_place(Talk::Quiet, || Ok(())).unwrap();
        let mut second = staging(&output).unwrap();
        second.write("a.bin", b"second").unwrap();
        drop(second);
        assert_eq!(fs::read(output.join("a.bin")).unwrap(), b"first");
        assert_eq!(names(site.path()), ["siskin"]);
    }

    #[test]
    fn what_a_killed_run_left_is_cleared() {
        let site = tempdir().unwrap();
        let left = site.path().join(".siskin.siskin-partial");
        fs::create_dir_all(left.join("encoder")).unwrap();
        fs::write(left.join(RECEIPT_FILE), "{}").unwrap();
        fs::write(site.path().join(".siskin.siskin-lock"), "").unwrap();
        fs::write(left.join("encoder/half"), "x").unwrap();
        let mut staging = staging(&site.path().join("siskin")).unwrap();
        staging.write("a.bin", b"a").unwrap();
        staging.put_in_place(Talk::Quiet, || Ok(())).unwrap();
        assert_eq!(names(site.path()), ["siskin"]);
        assert_eq!(
            names(&site.path().join("siskin")),
            ["a.bin", "siskin-files.json"]
        );
    }

    #[test]
    fn an_output_that_a_killed_run_moved_away_comes_back() {
        let site = tempdir().unwrap();
        let output = site.path().join("siskin");
        let mut first = staging(&output).unwrap();
        first.write("a.bin", b"first").unwrap();
        first.put_in_place(Talk::Quiet, || Ok(())).unwrap();
        fs::rename(&output, site.path().join(".siskin.siskin-previous")).unwrap();
        drop(staging(&output).unwrap());
        assert_eq!(names(site.path()), ["siskin"]);
        assert_eq!(fs::read(output.join("a.bin")).unwrap(), b"first");
    }

    #[test]
    fn an_older_output_that_a_killed_run_half_removed_is_cleared() {
        let site = tempdir().unwrap();
        let output = site.path().join("siskin");
        let previous = site.path().join(".siskin.siskin-previous");
        staging(&output)
            .unwrap()
            .put_in_place(Talk::Quiet, || Ok(()))
            .unwrap();
        for leftover in [&["rows.bin", RECEIPT_FILE][..], &[RECEIPT_FILE], &[]] {
            fs::create_dir(&previous).unwrap();
            for name in leftover {
                fs::write(previous.join(name), "x").unwrap();
            }
            let mut staging = staging(&output).unwrap();
            staging.write("a.bin", b"a").unwrap();
            staging.put_in_place(Talk::Quiet, || Ok(())).unwrap();
            assert_eq!(names(site.path()), ["siskin"]);
        }
    }

    #[test]
    fn a_stranger_where_the_older_output_waits_is_refused_early() {
        let site = tempdir().unwrap();
        let previous = site.path().join(".siskin.siskin-previous");
        fs::create_dir(&previous).unwrap();
        fs::write(previous.join("diary"), "mine").unwrap();
        let error = staging(&site.path().join("siskin")).unwrap_err();
        assert!(error.to_string().ends_with("not ours; move or remove it"));
        assert_eq!(names(&previous), ["diary"]);
    }

    #[test]
    fn two_runs_do_not_write_the_same_output() {
        let site = tempdir().unwrap();
        let output = site.path().join("siskin");
        let first = staging(&output).unwrap();
        let error = staging(&output).unwrap_err().to_string();
        assert!(
            error.starts_with("another siskin index is writing"),
            "{error}"
        );
        drop(first);
        assert!(staging(&output).is_ok());
    }

    #[test]
    fn of_many_runs_at_once_each_is_finished_or_told_to_wait() {
        let site = tempdir().unwrap();
        let output = Output::check(&site.path().join("siskin")).unwrap();
        let run = &|run: usize| {
            let mut refused = 0;
            for turn in 0..20 {
                let mut staging = loop {
                    match Staging::create(output.clone()) {
                        Ok(staging) => break staging,
                        Err(error) => {
                            let error = error.to_string();
                            assert!(error.starts_with("another siskin index"), "{error}");
                            refused += 1;
                            thread::sleep(Duration::from_millis(1));
                        }
                    }
                };
                staging.write(&format!("{run}-{turn}"), b"a").unwrap();
                staging.put_in_place(Talk::Quiet, || Ok(())).unwrap();
            }
            refused
        };
        let refused: u32 = thread::scope(|scope| {
            let runs: Vec<_> = (0..3).map(|name| scope.spawn(move || run(name))).collect();
            runs.into_iter().map(|run| run.join().unwrap()).sum()
        });
        assert!(refused > 0, "no two runs met");
        assert_eq!(names(output.folder()).len(), 2);
        assert_eq!(names(site.path()), ["siskin"]);
    }

    #[test]
    fn a_lock_is_held_by_one_alone_even_where_others_remove_and_make_it() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("lock");
        let holders = AtomicUsize::new(0);
        let hold_some = || {
            let mut taken = 0;
            while taken < 300 {
                let lock = match Lock::take(path.clone()) {
                    Ok(lock) => lock,
                    Err(error) => {
                        let error = error.to_string();
                        assert!(error.starts_with("another siskin index"), "{error}");
                        thread::yield_now();
                        continue;
                    }
                };
                assert_eq!(
                    holders.fetch_add(1, Ordering::SeqCst),
                    0,
                    "two hold the lock"
                );
                thread::yield_now();
                holders.fetch_sub(1, Ordering::SeqCst);
                drop(lock);
                taken += 1;
            }
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(hold_some);
            }
        });
        assert!(!path.exists());
    }

    #[test]
    fn folders_with_other_peoples_files_are_refused() {
        let site = tempdir().unwrap();
        fs::write(site.path().join("notes.txt"), "mine").unwrap();
        let error = Output::check(site.path()).unwrap_err().to_string();
        assert!(error.contains("did not write (notes.txt)"), "{error}");
        let error = Output::check(&site.path().join("notes.txt"))
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("is a file; name another folder with --output"),
            "{error}"
        );
        let error = Output::check(&site.path().join("no/siskin"))
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("no; create it first"), "{error}");
        assert_eq!(names(site.path()), ["notes.txt"]);
    }

    #[test]
    fn a_stranger_in_the_hidden_place_is_left_alone() {
        let site = tempdir().unwrap();
        let hidden = site.path().join(".siskin.siskin-partial");
        fs::create_dir(&hidden).unwrap();
        fs::write(hidden.join("diary"), "mine").unwrap();
        let error = staging(&site.path().join("siskin"))
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("not ours; move or remove it"), "{error}");
        assert_eq!(names(&hidden), ["diary"]);
    }
}
