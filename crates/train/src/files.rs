//! Files that are there whole or not at all, wherever a program stops.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Tensor};

/// Writes a file beside its place and then puts it there; folders that are missing are made.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(cannot)?;
    }
    let partial = beside(path, ".partial");
    std::fs::write(&partial, bytes).with_context(cannot)?;
    std::fs::rename(&partial, path).with_context(cannot)
}

/// The content of a file; `None` where there is none.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Lists files that are all written but not all in their places.
pub(crate) const REPLACING: &str = "replacing";

/// Files written under temporary names, then renamed all together.
pub(crate) struct Replacement<'a> {
    folder: &'a Path,
    /// Names of files; after [`GOES`] of those that are to be removed.
    names: Vec<String>,
}

/// Begins the name of a file that is removed.
const GOES: char = '-';

impl<'a> Replacement<'a> {
    /// None yet, for `folder`.
    pub(crate) fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            names: Vec::new(),
        }
    }

    /// Writes tensors to what becomes the file `name`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn tensors(&mut self, name: &str, tensors: &HashMap<String, Tensor>) -> Result<()> {
        for (weight, tensor) in tensors {
            ensure!(
                is_finite(tensor)?,
                "{weight} has values that are no numbers, so {name} is left as it was: lower the learning rates"
            );
        }
        let path = self.add(name);
        candle_core::safetensors::save(tensors, &path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        to_disk(&path)
    }

    /// Writes a text to what becomes the file `name`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn text(&mut self, name: &str, text: &str) -> Result<()> {
        let path = self.add(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        to_disk(&path)
    }

    /// The file `name` goes when the others come.
    pub(crate) fn without(&mut self, name: &str) {
        self.names.push(format!("{GOES}{name}"));
    }

    fn add(&mut self, name: &str) -> PathBuf {
        self.names.push(name.to_owned());
        partial(self.folder, name)
    }

    /// Puts all of them in their places.
    ///
    /// # Errors
    /// When a file cannot be replaced; [`finish_replacing`] goes on then.
    pub(crate) fn commit(mut self) -> Result<()> {
        let names = self.names.join("\n");
        self.text(REPLACING, &names)?;
        rename(
            &partial(self.folder, REPLACING),
            &self.folder.join(REPLACING),
        )?;
        finish_replacing(self.folder)
    }
}

/// Whether no value of `tensor` is NaN or infinite.
pub(crate) fn is_finite(tensor: &Tensor) -> Result<bool> {
    if !tensor.dtype().is_float() || tensor.elem_count() == 0 {
        return Ok(true);
    }
    // 0 times a number is 0, and times anything else is none.
    let sum = (tensor.detach().to_dtype(DType::F32)? * 0.0)?.sum_all()?;
    Ok(sum.to_scalar::<f32>()? == 0.0)
}

/// Where a folder lies, whatever links lead there; `.` has no name.
pub(crate) fn place_of(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// `out` with `suffix` on its name: where what leads to it is kept.
pub(crate) fn beside(out: &Path, suffix: &str) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    out.with_file_name(name)
}

/// Puts files in their places if that was begun. Can itself be interrupted.
pub(crate) fn finish_replacing(folder: &Path) -> Result<()> {
    let list = folder.join(REPLACING);
    let names = match std::fs::read_to_string(&list) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).context(format!("cannot read {}", list.display())),
    };
    for name in names.lines() {
        if let Some(name) = name.strip_prefix(GOES) {
            remove_if_there(&folder.join(name))?;
            continue;
        }
        let from = partial(folder, name);
        if from.exists() {
            rename(&from, &folder.join(name))?;
        }
    }
    std::fs::remove_file(&list).with_context(|| format!("cannot remove {}", list.display()))
}

/// Removes a file; one that is not there is no error.
pub(crate) fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Removes a folder with all that is in it; one that is not there is no error.
pub(crate) fn remove_folder_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Where the file `name` lies while it is written.
pub(crate) fn partial(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.partial"))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).with_context(|| format!("cannot replace {}", to.display()))
}

/// Waits until the file's content is on the disk.
fn to_disk(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.with_context(|| format!("cannot write {}", path.display()))
}

/// Keeps `folder`, which is made if it is missing, for this run as long as what is returned lives.
///
/// # Errors
/// When another run has it, or the folder cannot be written.
pub(crate) fn lock(folder: &Path) -> Result<File> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(".lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    // Where files cannot be locked, nothing is.
    let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    ensure!(
        !is_taken,
        "another run writes to {}: wait for it, or name another folder",
        folder.display()
    );
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn files_come_and_go_together() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let old = folder.path().join("old");
        write_whole(&old, b"1")?;
        let mut files = Replacement::new(folder.path());
        files.text("new", "2")?;
        files.without("old");
        files.without("never");
        let new = folder.path().join("new");
        assert!(old.exists() && !new.exists(), "not yet");
        files.commit()?;
        assert!(!old.exists());
        assert_eq!(read_if_there(&new)?.as_deref(), Some("2"));
        assert_eq!(read_if_there(&old)?, None);
        Ok(())
    }

    #[test]
    fn what_is_no_number_is_not_written() -> Result<()> {
        let folder = tempfile::tempdir()?;
        for (value, is_number) in [(1.0_f32, true), (f32::NAN, false), (f32::INFINITY, false)] {
            let tensors =
                HashMap::from([("w".to_owned(), Tensor::new(&[0.0, value], &Device::Cpu)?)]);
            let written = Replacement::new(folder.path()).tensors("weights", &tensors);
            assert_eq!(written.is_ok(), is_number, "{value}");
        }
        Ok(())
    }
}
