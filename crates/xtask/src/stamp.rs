//! Stamps: a hash of everything a step reads, kept beside what it wrote.
//!
//! A step whose stamp is unchanged has nothing to do. Contents count, not times, so a
//! fresh clone over an old target folder rebuilds only what differs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::files;

/// Collects what a step reads.
pub struct Inputs {
    hasher: Sha256,
}

impl Inputs {
    /// Starts with the step's own settings: versions, options.
    pub fn new(settings: &str) -> Self {
        let mut inputs = Self {
            hasher: Sha256::new(),
        };
        inputs.add(settings.as_bytes());
        inputs
    }

    /// Adds a file, or all source files of a folder, by relative name and content.
    ///
    /// A path that does not exist counts as such, so that creating it changes the stamp.
    pub fn path(mut self, root: &Path, relative: &str) -> Result<Self> {
        let path = root.join(relative);
        if path.is_dir() {
            for file in files::source_files(&path)? {
                self.file(&file, &file.strip_prefix(root)?.to_string_lossy())?;
            }
        } else if path.is_file() {
            self.file(&path, relative)?;
        } else {
            self.add(format!("missing {relative}").as_bytes());
        }
        Ok(self)
    }

    fn file(&mut self, file: &Path, name: &str) -> Result<()> {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        self.add(name.as_bytes());
        self.add(&bytes);
        Ok(())
    }

    /// Length first, so that no two lists of inputs look alike.
    fn add(&mut self, bytes: &[u8]) {
        self.hasher.update((bytes.len() as u64).to_le_bytes());
        self.hasher.update(bytes);
    }

    /// The stamp of the inputs, for the output `folder`.
    pub fn stamp_for(self, folder: &Path) -> Stamp {
        let mut name = folder.file_name().unwrap_or_default().to_owned();
        name.push(".stamp");
        Stamp {
            file: folder.with_file_name(name),
            output: folder.to_owned(),
            hash: files::hex(&self.hasher.finalize()),
        }
    }
}

/// Tells whether an output folder was made from the same inputs.
pub struct Stamp {
    file: PathBuf,
    output: PathBuf,
    hash: String,
}

impl Stamp {
    /// Whether the output exists and was made from these inputs.
    pub fn is_fresh(&self) -> bool {
        self.output.exists()
            && fs::read_to_string(&self.file).is_ok_and(|written| written == self.hash)
    }

    /// Records that the output is now made from these inputs.
    pub fn write(&self) -> Result<()> {
        fs::write(&self.file, &self.hash)
            .with_context(|| format!("cannot write {}", self.file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(root: &Path, settings: &str) -> Stamp {
        Inputs::new(settings)
            .path(root, "src")
            .unwrap()
            .stamp_for(&root.join("made"))
    }

    fn project() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("src")).unwrap();
        fs::create_dir_all(root.path().join("made")).unwrap();
        fs::write(root.path().join("src/a.rs"), "one").unwrap();
        stamp(root.path(), "z").write().unwrap();
        root
    }

    #[test]
    fn unchanged_inputs_are_fresh() {
        let root = project();
        assert!(stamp(root.path(), "z").is_fresh());
    }

    #[test]
    fn a_changed_file_a_new_file_and_a_changed_setting_are_not_fresh() {
        let root = project();
        assert!(!stamp(root.path(), "other").is_fresh());
        fs::write(root.path().join("src/b.rs"), "").unwrap();
        assert!(!stamp(root.path(), "z").is_fresh());
        fs::remove_file(root.path().join("src/b.rs")).unwrap();
        fs::write(root.path().join("src/a.rs"), "two").unwrap();
        assert!(!stamp(root.path(), "z").is_fresh());
    }

    #[test]
    fn a_removed_output_is_not_fresh() {
        let root = project();
        fs::remove_dir(root.path().join("made")).unwrap();
        assert!(!stamp(root.path(), "z").is_fresh());
    }
}
