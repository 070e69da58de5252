//! Shards as they are loaded, and what is looked up in them: entries of the dictionary, records, maps.

use super::{Engine, Mode};
use crate::attributes::Attributes;
use crate::bytes::{self, Damage};
use crate::codes::Codes;
use crate::container::{self, Kind, Payload};
use crate::dictionary::{Dictionary as Shard, Entry, Shape};
use crate::error::{Error, Result};
use crate::explain::PageTerms;
use crate::page::Page;
use crate::query::{Dictionary, Miss, Part};
use crate::records::{Block, Records};
use crate::shards::{Directory, Need, ShardId, first_word, name_of};
use crate::text::Analyzer;
use crate::uhd::{Lists, Map};
use std::ops::Range;
use std::sync::OnceLock;

/// A shard of records, and the terms of those of its pages that were shown.
#[derive(Debug)]
pub(super) struct Shown {
    records: Records,
    terms: Vec<OnceLock<PageTerms>>,
}

impl Shown {
    fn new(records: Records) -> Self {
        Self {
            terms: records.pages().map(|_| OnceLock::new()).collect(),
            records,
        }
    }

    fn page(&self, page: u32, analyzer: &Analyzer) -> Option<(&Page, &PageTerms)> {
        let (at, record) = self.records.page(page)?;
        let terms = self.terms.get(at)?;
        Some((
            record,
            terms.get_or_init(|| PageTerms::of(record, analyzer)),
        ))
    }
}

/// A shard, by what its kind holds: one map of all of them, since each type of map has its code in
/// the browser's module.
#[derive(Debug)]
pub(super) enum Loaded {
    Dictionary(Shard),
    Codes(Codes),
    Records(Shown),
    Map(Map),
    Lists(Lists),
    Attributes(Attributes),
}

impl Engine {
    /// A shard's path within the bundle.
    ///
    /// # Errors
    /// [`Error::MissingFile`] when the manifest names no such shard.
    pub fn path(&self, id: ShardId) -> Result<String> {
        self.manifest
            .shards
            .path(id)
            .ok_or_else(|| Error::MissingFile {
                file: format!("shard {} of kind {}", id.number, id.kind.prefix()),
            })
    }

    /// Adds a shard: the bytes of its file and, when these are deflated and the caller has
    /// inflated them already, the plain payload.
    ///
    /// # Errors
    /// When the bytes are not those that the manifest names, or damaged.
    pub fn add(&mut self, id: ShardId, file: &[u8], inflated: Option<&[u8]>) -> Result<()> {
        let path = self.path(id)?;
        if self.manifest.shards.name(id) != Some(name_of(file).as_str()) {
            return Err(Error::Corrupt {
                file: path,
                reason: "its content is not what its name says".to_owned(),
            });
        }
        match (container::unwrap(&path, id.kind, file)?, inflated) {
            (Payload::Plain(payload), _) => self.insert(id, &path, payload),
            (Payload::Deflated(_), Some(payload)) => self.insert(id, &path, payload),
            (Payload::Deflated(_), None) => Err(Error::Corrupt {
                file: path,
                reason: "a deflated payload that nobody inflated".to_owned(),
            }),
        }
    }

    /// Adds the block of records that begins with a page: its bytes as they stand in the file, and
    /// inflated.
    ///
    /// # Errors
    /// When no such block was needed, when the bytes are not those that the shard of codes names, or
    /// damaged.
    pub fn add_block(&mut self, page: u32, bytes: &[u8], inflated: &[u8]) -> Result<()> {
        let id = of_page(&self.manifest.shards.records, Kind::Records, page);
        let file = self.path(id)?;
        // Which shard of codes named the block is not told: it need not be that of its first page.
        let mut named = self.loaded.values().filter_map(|loaded| match loaded {
            Loaded::Codes(codes) => codes.block_of(page),
            _ => None,
        });
        let expected = named.next().filter(|block| {
            block.bytes.len() == bytes.len() && block.checksum == Block::checksum_of(bytes)
        });
        let Some(block) = expected else {
            return Err(Error::Corrupt {
                file,
                reason: format!("the bytes sent for page {page} are not those asked for"),
            });
        };
        let records = Records::read_block(block, inflated).map_err(|damage| damage.of(&file))?;
        self.blocks.insert(block.first_page, Shown::new(records));
        Ok(())
    }

    fn block_of(&self, page: u32) -> Option<&Block> {
        let codes = of_page(&self.manifest.shards.codes, Kind::Codes, page);
        match self.loaded.get(&codes)? {
            Loaded::Codes(codes) => codes.block_of(page),
            _ => None,
        }
    }

    fn insert(&mut self, id: ShardId, path: &str, payload: &[u8]) -> Result<()> {
        let loaded = self.read(id, payload).map_err(|damage| damage.of(path))?;
        if let Loaded::Codes(codes) = &loaded
            && codes.pages() != self.pages_of_codes(id)
        {
            return Err(Error::Corrupt {
                file: path.to_owned(),
                reason: "it has other pages than the manifest says".to_owned(),
            });
        }
        self.loaded.insert(id, loaded);
        Ok(())
    }

    fn read(&self, id: ShardId, payload: &[u8]) -> bytes::Result<Loaded> {
        let dim = self.manifest.encoder.dim;
        let pages = self.manifest.pages;
        Ok(match id.kind {
            Kind::Common | Kind::Words | Kind::Foreign | Kind::Spelling => {
                Loaded::Dictionary(Shard::read(payload, Shape { pages, dim })?)
            }
            Kind::Codes => Loaded::Codes(Codes::read(payload, dim, self.manifest.spans)?),
            Kind::Records => Loaded::Records(Shown::new(Records::read(payload)?)),
            Kind::Attributes => Loaded::Attributes(Attributes::read(payload, pages)?),
            Kind::Map => Loaded::Map(Map::read(payload, pages)?),
            Kind::Uhd => {
                let windows = self.map(id.bucket).map_or(0, Map::windows);
                Loaded::Lists(Lists::read(payload, windows)?)
            }
        })
    }

    /// The pages of a shard of codes, by the manifest.
    pub(super) fn pages_of_codes(&self, id: ShardId) -> Range<u32> {
        let starts = &self.manifest.shards.codes.starts;
        let start = |number: u32| starts.get(number as usize).copied();
        let end = start(id.number.saturating_add(1)).unwrap_or(self.manifest.pages);
        start(id.number).unwrap_or_default()..end
    }

    pub(super) fn map(&self, bucket: u32) -> Option<&Map> {
        match self.loaded.get(&map_of(bucket))? {
            Loaded::Map(map) => Some(map),
            _ => None,
        }
    }

    /// A page's record: of its shard or of its block, whichever is there. Where neither is, the shard
    /// of codes that names the block is needed first, if the mode has any use for those: it and the
    /// block are a fraction of a shard of records.
    pub(super) fn record(
        &self,
        page: u32,
        mode: Mode,
    ) -> std::result::Result<(&Page, &PageTerms), Miss> {
        let id = of_page(&self.manifest.shards.records, Kind::Records, page);
        let block = self.block_of(page);
        let shown = match (self.loaded.get(&id), block) {
            (Some(Loaded::Records(shown)), _) => Some(shown),
            (None, Some(block)) => self.blocks.get(&block.first_page),
            _ => None,
        };
        let need = || Need {
            shard: id,
            blocks: block.cloned().into_iter().collect(),
        };
        let codes = of_page(&self.manifest.shards.codes, Kind::Codes, page);
        if shown.is_none() && mode != Mode::Words && self.loaded.get(&codes).is_none() {
            return Err(Miss::Shard(codes.into()));
        }
        let found = shown.ok_or_else(|| Miss::Shard(need()))?;
        found
            .page(page, &self.analyzer)
            .ok_or_else(|| self.misplaced(id))
    }

    pub(super) fn damaged(&self, id: ShardId, damage: Damage) -> Error {
        damage.of(&self.manifest.shards.path(id).unwrap_or_default())
    }

    fn misplaced(&self, id: ShardId) -> Miss {
        let file = self.manifest.shards.path(id).unwrap_or_default();
        Miss::Damaged(Error::Corrupt {
            file,
            reason: "a page that should be in it is not".to_owned(),
        })
    }

    /// The shard of a dictionary that a key would be in, if there is one.
    fn dictionary(
        &self,
        kind: Kind,
        key: &str,
    ) -> std::result::Result<Option<(ShardId, &Shard)>, Miss> {
        let shards = &self.manifest.shards;
        let directory = match kind {
            Kind::Common => &shards.common,
            Kind::Foreign => &shards.foreign,
            Kind::Spelling => &shards.spelling,
            _ => &shards.words,
        };
        let Some(number) = directory.find(key) else {
            return Ok(None);
        };
        let id = shard(kind, number);
        match self.loaded.get(&id) {
            Some(Loaded::Dictionary(found)) => Ok(Some((id, found))),
            _ => Err(Miss::Shard(id.into())),
        }
    }

    fn entry_in(&self, kind: Kind, key: &str) -> std::result::Result<Option<Entry>, Miss> {
        match self.dictionary(kind, key)? {
            None => Ok(None),
            Some((id, shard)) => {
                let damaged = |damage| Miss::Damaged(self.damaged(id, damage));
                shard.get(key).map_err(damaged)
            }
        }
    }

    /// Whether a key of the site is, or would be, among the common ones: there is its first word.
    fn is_common(&self, key: &str) -> std::result::Result<bool, Miss> {
        let word = first_word(key);
        if !self.manifest.shards.common_keys.may_have(word) {
            return Ok(false);
        }
        let shard = self.dictionary(Kind::Common, word)?;
        Ok(shard.is_some_and(|(_, shard)| shard.has(word)))
    }
}

impl Dictionary for Engine {
    fn entry(&self, part: Part, key: &str) -> std::result::Result<Option<Entry>, Miss> {
        let kind = match part {
            Part::Site if self.is_common(key)? => Kind::Common,
            Part::Site => Kind::Words,
            Part::Foreign => Kind::Foreign,
            Part::Spelling => Kind::Spelling,
        };
        self.entry_in(kind, key)
    }

    fn with_prefix(&self, part: Part, prefix: &str) -> std::result::Result<Vec<String>, Miss> {
        let kinds: &[Kind] = match part {
            Part::Site => &[Kind::Common, Kind::Words],
            Part::Foreign => &[Kind::Foreign],
            Part::Spelling => &[Kind::Spelling],
        };
        for kind in kinds {
            if let Some((_, shard)) = self.dictionary(*kind, prefix)? {
                let keys = shard.with_prefix(prefix).map(str::to_owned);
                let keys: Vec<String> = keys.filter(|key| !key.contains(' ')).collect();
                if !keys.is_empty() {
                    return Ok(keys);
                }
            }
        }
        Ok(Vec::new())
    }
}

pub(super) fn shard(kind: Kind, number: u32) -> ShardId {
    ShardId {
        kind,
        bucket: 0,
        number,
    }
}

/// The map of a bucket.
pub(super) fn map_of(bucket: u32) -> ShardId {
    ShardId {
        kind: Kind::Map,
        bucket,
        number: 0,
    }
}

/// The shard that holds a page.
pub(super) fn of_page(directory: &Directory<u32>, kind: Kind, page: u32) -> ShardId {
    shard(kind, directory.find(&page).unwrap_or_default())
}
