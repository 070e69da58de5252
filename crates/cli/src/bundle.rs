//! A bundle on disk.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use siskin_core::container::{self, Payload};
use siskin_core::error::Error;
use siskin_core::manifest::{MANIFEST_FILE, Manifest};
use siskin_core::search::{Engine, Step};
use siskin_core::shards::ShardId;

use crate::receipt::place;
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

    /// The content of a shard's file. Whether it is what its name says is seen by the engine.
    ///
    /// # Errors
    /// [`Error::MissingFile`].
    pub fn read(&self, shard: ShardId) -> Result<(String, Vec<u8>)> {
        let path = self.manifest.shards.path(shard);
        let missing = || Error::MissingFile {
            file: path.clone().unwrap_or_default(),
        };
        let path = path.clone().ok_or_else(missing)?;
        let place = place(&self.folder, &path).filter(|place| place.is_file());
        let content = resources::read(&place.ok_or_else(missing)?)?;
        Ok((path, content))
    }

    /// Adds a shard to an engine of this bundle.
    ///
    /// # Errors
    /// When its file is missing or damaged.
    pub fn load(&self, engine: &mut Engine, shard: ShardId) -> Result<()> {
        let (path, content) = self.read(shard)?;
        let payload = match container::unwrap(&path, shard.kind, &content)? {
            Payload::Plain(_) => None,
            Payload::Deflated(_) => Some(container::plain_payload(&path, shard.kind, &content)?),
        };
        Ok(engine.add(shard, &content, payload.as_deref())?)
    }

    /// Asks until nothing is missing; shards are read as they are needed.
    ///
    /// # Errors
    /// When a file is missing or damaged, or the engine refuses the query.
    pub fn ask<T>(
        &self,
        engine: &mut Engine,
        ask: impl Fn(&Engine) -> siskin_core::error::Result<Step<T>>,
    ) -> Result<T> {
        loop {
            match ask(engine)? {
                Step::Done(answer) => return Ok(answer),
                Step::Needs(needs) => {
                    for need in needs {
                        self.load(engine, need.shard).with_context(|| {
                            format!("cannot open the index in {}", self.folder.display())
                        })?;
                    }
                }
            }
        }
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
