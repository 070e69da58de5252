//! Folders copied and replaced whole, and hashes of files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Names that are outputs or private to a tool, never inputs of ours.
const SKIPPED_NAMES: [&str; 4] = ["node_modules", "dist", "target", "out"];

/// All files under `folder`, sorted; without outputs ([`SKIPPED_NAMES`]) and hidden names.
pub fn source_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(folder, &|name| !is_skipped(name), &mut files)?;
    files.sort();
    Ok(files)
}

fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || SKIPPED_NAMES.contains(&name)
}

fn collect(folder: &Path, wanted: &dyn Fn(&str) -> bool, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read folder {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !wanted(&name) {
            continue;
        }
        if path.is_dir() {
            collect(&path, wanted, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Copies every file under `from` to the same place under `to`; creates folders.
pub fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    let mut files = Vec::new();
    collect(from, &|_| true, &mut files)?;
    for file in files {
        copy_file(&file, &to.join(file.strip_prefix(from)?))?;
    }
    Ok(())
}

/// Copies one file; creates the folder it goes to.
pub fn copy_file(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        create_folder(folder)?;
    }
    fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Creates the folder and those above it.
pub fn create_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Removes the folder and all in it; nothing to do where there is none.
pub fn remove_folder(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))
}

/// An empty folder beside `folder`, to be filled and then put in its place by [`replace`].
pub fn staging_beside(folder: &Path) -> Result<PathBuf> {
    let staging = beside(folder, "partial");
    remove_folder(&staging)?;
    create_folder(&staging)?;
    Ok(staging)
}

/// Puts the whole `staging` folder where `folder` is; a reader sees the old one or the new one.
pub fn replace(folder: &Path, staging: &Path) -> Result<()> {
    let old = beside(folder, "old");
    remove_folder(&old)?;
    if folder.exists() {
        rename(folder, &old)?;
    }
    rename(staging, folder)?;
    remove_folder(&old)
}

fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    folder.with_file_name(name)
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to)
        .with_context(|| format!("cannot move {} to {}", from.display(), to.display()))
}

/// SHA-256 of a file, in hex.
pub fn sha256(file: &Path) -> Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(hex(&Sha256::digest(bytes)))
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(file: &Path, text: &str) {
        create_folder(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn source_files_leave_out_outputs_and_hidden_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.ts", "a/c.ts", "node_modules/x.js", ".cache/y", "dist/z"] {
            write(&folder.path().join(name), "text");
        }
        let files = source_files(folder.path()).unwrap();
        assert_eq!(
            files,
            [folder.path().join("a/c.ts"), folder.path().join("b.ts")]
        );
    }

    #[test]
    fn a_replaced_folder_keeps_nothing_of_the_old_one() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("dist");
        write(&folder.join("old.js"), "old");
        let staging = staging_beside(&folder).unwrap();
        write(&staging.join("new.js"), "new");
        replace(&folder, &staging).unwrap();
        assert!(folder.join("new.js").exists());
        assert!(!folder.join("old.js").exists());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn sha256_is_that_of_the_standard() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("abc"), "abc");
        assert_eq!(
            sha256(&folder.path().join("abc")).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
