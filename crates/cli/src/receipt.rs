//! `siskin-files.json`: every other file that `siskin index` put into its output folder.
//!
//! The index's own files stand in `siskin.json` too, which the browser reads. The receipt also
//! names siskin.js, WebAssembly and the encoder: `verify` checks them, and `index` replaces no
//! folder that holds anything else.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use siskin_core::container::sha256_hex;

/// Name of the receipt within a bundle.
pub const RECEIPT_FILE: &str = "siskin-files.json";
const FORMAT: u32 = 1;

/// The receipt's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    format: u32,
    /// By path within the bundle, with `/` between folders.
    pub files: BTreeMap<String, Written>,
}

/// One file as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Length.
    pub bytes: u64,
    /// SHA-256, 64 lower-case hexadecimal digits.
    pub sha256: String,
}

impl Written {
    /// Length and hash of `content`.
    pub fn of(content: &[u8]) -> Self {
        Self {
            bytes: content.len() as u64,
            sha256: sha256_hex(content),
        }
    }

    /// How `content` differs from what was written.
    pub fn difference(&self, content: &[u8]) -> Option<String> {
        if content.len() as u64 != self.bytes {
            return Some(format!("{} bytes, expected {}", content.len(), self.bytes));
        }
        (sha256_hex(content) != self.sha256).then(|| "its SHA-256 differs".to_owned())
    }
}

impl Receipt {
    /// A receipt for nothing.
    pub fn empty() -> Self {
        Self {
            format: FORMAT,
            files: BTreeMap::new(),
        }
    }

    /// Reads the receipt in `folder`; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(RECEIPT_FILE);
        if !path.is_file() {
            return Ok(None);
        }
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let damaged = || format!("{} is damaged; remove the folder", path.display());
        let receipt: Self = serde_json::from_slice(&text).with_context(damaged)?;
        if receipt.format != FORMAT {
            bail!(
                "{} has format {}, this version reads {FORMAT}; update siskin or remove the folder",
                path.display(),
                receipt.format
            );
        }
        Ok(Some(receipt))
    }

    /// A file or folder below `folder` that is not of this receipt; looks no further than the
    /// first.
    ///
    /// # Errors
    /// When a folder cannot be listed.
    pub fn stranger_in(&self, folder: &Path) -> Result<Option<PathBuf>> {
        let files = self.files.keys().map(Path::new);
        let known: BTreeSet<&Path> = files
            .chain([Path::new(RECEIPT_FILE)])
            .flat_map(Path::ancestors)
            .collect();
        let mut open = vec![PathBuf::new()];
        while let Some(current) = open.pop() {
            for (name, is_folder) in entries(&folder.join(&current))? {
                let path = current.join(name);
                if !known.contains(path.as_path()) {
                    return Ok(Some(path));
                }
                open.extend(is_folder.then_some(path));
            }
        }
        Ok(None)
    }

    /// The file's text.
    ///
    /// # Errors
    /// Never for a receipt made here.
    pub fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

/// All files below `folder`, as paths below it, sorted. Symbolic links count as files.
///
/// # Errors
/// When a folder cannot be listed.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(current) = open.pop() {
        for (name, is_folder) in entries(&folder.join(&current))? {
            let list = if is_folder { &mut open } else { &mut files };
            list.push(current.join(name));
        }
    }
    files.sort();
    Ok(files)
}

/// The names in a folder, sorted, each with whether it is a folder.
fn entries(folder: &Path) -> Result<Vec<(OsString, bool)>> {
    let list = || -> std::io::Result<Vec<_>> {
        let entry = |entry: std::io::Result<fs::DirEntry>| {
            let entry = entry?;
            Ok((entry.file_name(), entry.file_type()?.is_dir()))
        };
        fs::read_dir(folder)?.map(entry).collect()
    };
    let mut entries = list().with_context(|| format!("cannot list {}", folder.display()))?;
    entries.sort();
    Ok(entries)
}

/// A path below a bundle with `/` between folders, as receipt and manifest write it.
pub fn slashed(path: &Path) -> String {
    let names = path
        .components()
        .map(|name| name.as_os_str().to_string_lossy());
    names.collect::<Vec<_>>().join("/")
}

/// The place of a file that a receipt or manifest names; `None` for a path that leads elsewhere.
pub fn place(folder: &Path, named: &str) -> Option<PathBuf> {
    let path = Path::new(named);
    let is_inside = path
        .components()
        .all(|name| matches!(name, Component::Normal(_)));
    (is_inside && !named.is_empty()).then(|| folder.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_inside_the_folder() {
        let folder = Path::new("site/siskin");
        assert_eq!(
            place(folder, "encoder/a.onnx"),
            Some(folder.join("encoder/a.onnx"))
        );
        assert!(
            ["", "../a", "/etc/passwd", "encoder/../../a"]
                .iter()
                .all(|name| place(folder, name).is_none())
        );
    }

    #[test]
    fn differences_tell_length_and_content_apart() {
        let written = Written::of(b"abc");
        assert_eq!(written.difference(b"abc"), None);
        assert_eq!(written.difference(b"ab").unwrap(), "2 bytes, expected 3");
        assert_eq!(written.difference(b"abd").unwrap(), "its SHA-256 differs");
    }
}
