//! A folder that appears whole or not at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use siskin_core::container::sha256_hex;
use siskin_encoder::OPTIONAL_FILES;

use crate::files::{place_of, remove_folder_if_there};
use crate::manifest::File;

/// An encoder folder being written beside its final place.
pub struct Folder {
    name: String,
    final_path: PathBuf,
    partial_path: PathBuf,
    files: BTreeMap<String, File>,
}

impl Folder {
    /// Begins a folder that will replace `path`.
    ///
    /// # Errors
    /// When `path` holds something else than an encoder, or cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        // What a link leads to is replaced, not the link.
        let path = &place_of(path);
        check_replaceable(path)?;
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .with_context(|| format!("{} names no folder", path.display()))?;
        recover(path, &old_path(path, name))?;
        let partial_path = path.with_file_name(format!(".{name}.partial"));
        remove_folder_if_there(&partial_path)?;
        std::fs::create_dir_all(&partial_path)
            .with_context(|| format!("cannot create {}", partial_path.display()))?;
        Ok(Self {
            name: name.to_owned(),
            final_path: path.to_owned(),
            partial_path,
            files: BTreeMap::new(),
        })
    }

    /// The folder's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The files written so far.
    pub fn files(&self) -> &BTreeMap<String, File> {
        &self.files
    }

    /// Writes one file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.partial_path.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        let file = File {
            bytes: bytes.len() as u64,
            sha256: sha256_hex(bytes),
        };
        self.files.insert(name.to_owned(), file);
        Ok(())
    }

    /// Copies along what an older folder has and the encoder does not list, such as a model card, so that the new
    /// one lacks nothing but its place.
    ///
    /// # Errors
    /// When a file cannot be copied.
    fn complete(&self) -> Result<()> {
        match self.final_path.exists() {
            true => self.copy_foreign_files(),
            false => Ok(()),
        }
    }

    /// Completes the folder and puts it in its place.
    ///
    /// # Errors
    /// When a file cannot be copied or a folder moved; the older folder then stands as it was.
    pub fn finish(self) -> Result<()> {
        self.complete()?;
        let old = old_path(&self.final_path, &self.name);
        if self.final_path.exists() {
            rename(&self.final_path, &old)?;
        }
        if let Err(error) = rename(&self.partial_path, &self.final_path) {
            recover(&self.final_path, &old)?;
            return Err(error);
        }
        remove_folder_if_there(&old)
    }

    fn copy_foreign_files(&self) -> Result<()> {
        for entry in std::fs::read_dir(&self.final_path)? {
            let entry = entry?;
            let name = entry.file_name();
            let written = name.to_str().is_some_and(|name| {
                self.files.contains_key(name) || OPTIONAL_FILES.contains(&name)
            });
            if !written {
                copy_all(&entry.path(), &self.partial_path.join(&name))?;
            }
        }
        Ok(())
    }
}

/// Copies a file, or a folder with all that is in it.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    let cannot = || format!("cannot copy {}", from.display());
    if !from.is_dir() {
        std::fs::copy(from, to).with_context(cannot)?;
        return Ok(());
    }
    std::fs::create_dir(to).with_context(cannot)?;
    for entry in std::fs::read_dir(from).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// What was not put in its place goes.
impl Drop for Folder {
    fn drop(&mut self) {
        if self.partial_path.exists() {
            let _ = std::fs::remove_dir_all(&self.partial_path);
        }
    }
}

/// Refuses a place that an encoder must not take.
///
/// # Errors
/// When `path` holds something else than an encoder.
pub fn check_replaceable(path: &Path) -> Result<()> {
    let encoder = path.join("encoder.json").is_file();
    if encoder || !path.exists() || is_empty_folder(path) {
        return Ok(());
    }
    bail!(
        "{} exists and is not an encoder folder: name another with --out",
        path.display()
    )
}

/// Where the older folder stands while the new one takes its place.
fn old_path(path: &Path, name: &str) -> PathBuf {
    path.with_file_name(format!(".{name}.old"))
}

/// Mends what an interrupted run left: the older folder returns to its place if that is empty,
/// and goes if the new one has arrived.
fn recover(path: &Path, old: &Path) -> Result<()> {
    if !old.exists() {
        return Ok(());
    }
    if path.exists() && !is_empty_folder(path) {
        return std::fs::remove_dir_all(old)
            .with_context(|| format!("cannot remove {}", old.display()));
    }
    rename(old, path)
}

fn is_empty_folder(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to)
        .with_context(|| format!("cannot move {} to {}", from.display(), to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, files: &[&str]) -> Result<()> {
        let mut folder = Folder::create(path)?;
        for name in files {
            folder.write(name, name.as_bytes())?;
        }
        folder.finish()
    }

    #[test]
    fn an_interrupted_run_loses_nothing() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("encoder");
        write(&path, &["encoder.json"])?;
        std::fs::write(path.join("README.md"), "card")?;
        std::fs::rename(&path, folder.path().join(".encoder.old"))?;
        write(&path, &["encoder.json"])?;
        assert_eq!(names(&path), ["README.md", "encoder.json"]);
        Ok(())
    }

    fn names(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_an_older_export_and_keeps_the_model_card() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("small");
        write(&path, &[&["encoder.json"], &OPTIONAL_FILES[..]].concat()).unwrap();
        std::fs::write(path.join("README.md"), "card").unwrap();
        write(&path, &["encoder.json", "golden.json"]).unwrap();
        assert_eq!(names(&path), ["README.md", "encoder.json", "golden.json"]);
        assert_eq!(names(place.path()), ["small"]);
    }

    #[test]
    fn refuses_a_folder_of_other_files() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("thesis.tex"), "").unwrap();
        let error = write(place.path(), &["encoder.json"]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("is not an encoder folder: name another with --out")
        );
        assert_eq!(names(place.path()), ["thesis.tex"]);
    }

    #[test]
    fn hashes_what_it_writes() {
        let place = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(&place.path().join("e")).unwrap();
        folder.write("a", b"abc").unwrap();
        let file = &folder.files()["a"];
        assert_eq!(file.bytes, 3);
        assert!(file.sha256.starts_with("ba7816bf8f01cfea"));
    }
}
