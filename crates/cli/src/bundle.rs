//! A bundle on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use siskin_core::error::Error;
use siskin_core::manifest::{FileEntry, MANIFEST_FILE, Manifest};
use siskin_core::search::Engine;

use crate::receipt::{Written, place};
use crate::resources::{self, ENCODER_FOLDER};

/// Folder of the bundle in a site, unless `--output` says otherwise.
pub const DEFAULT_FOLDER: &str = "siskin";

/// A folder with a manifest.
#[derive(Debug)]
pub struct BundleFolder {
    /// Where it is.
    pub folder: PathBuf,
    /// Its table of contents.
    pub manifest: Manifest,
}

impl BundleFolder {
    /// The bundle in `path`, or in the folder `siskin` of the site in `path`.
    ///
    /// # Errors
    /// When there is none, or its manifest is damaged or of another format.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = find(path)?;
        let text = resources::read(&folder.join(MANIFEST_FILE))?;
        let manifest = Manifest::parse(&String::from_utf8_lossy(&text))
            .with_context(|| format!("cannot open the index in {}", folder.display()))?;
        Ok(Self { folder, manifest })
    }

    /// The content of a file, which is as the manifest says.
    ///
    /// # Errors
    /// [`Error::MissingFile`] and [`Error::Corrupt`].
    pub fn read(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        let missing = || Error::MissingFile {
            file: entry.path.clone(),
        };
        let path = place(&self.folder, &entry.path).filter(|path| path.is_file());
        let content = resources::read(&path.ok_or_else(missing)?)?;
        let expected = Written {
            bytes: entry.bytes as u64,
            sha256: entry.sha256.clone(),
        };
        match expected.difference(&content) {
            Some(reason) => Err(Error::Corrupt {
                file: entry.path.clone(),
                reason,
            }
            .into()),
            None => Ok(content),
        }
    }

    /// The engine with all files, each checked against the manifest.
    ///
    /// # Errors
    /// When a file is missing or damaged, or does not fit the others.
    pub fn engine(&self) -> Result<Engine> {
        let open = || -> Result<Engine> {
            let mut files = BTreeMap::new();
            for entry in &self.manifest.files {
                files.insert(entry.path.clone(), self.read(entry)?);
            }
            Ok(Engine::open(self.manifest.clone(), |entry| {
                files.remove(&entry.path)
            })?)
        };
        open().with_context(|| format!("cannot open the index in {}", self.folder.display()))
    }

    /// Where the bundle keeps its encoder.
    pub fn encoder_folder(&self) -> PathBuf {
        self.folder.join(ENCODER_FOLDER)
    }
}

fn find(path: &Path) -> Result<PathBuf> {
    let candidates = [path.to_owned(), path.join(DEFAULT_FOLDER)];
    let found = candidates
        .into_iter()
        .find(|folder| folder.join(MANIFEST_FILE).is_file());
    match found {
        Some(folder) => Ok(folder),
        None if path.exists() => bail!(
            "no index in {}: neither {MANIFEST_FILE} nor {DEFAULT_FOLDER}/{MANIFEST_FILE} is \
             there; run `siskin index` on the site first",
            path.display()
        ),
        None => bail!(
            "no such folder: {}; give a site or the folder that `siskin index` wrote",
            path.display()
        ),
    }
}
