//! Encoded passages kept between runs, so that no passage goes through the network twice.
//!
//! A folder per encoder holds packs (see `pack`) of records (see `record`); a record is found by
//! the text that was encoded. Several processes may use a folder at once. Nothing is ever thrown
//! out: deleting the folder costs time only.

mod pack;
mod record;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use sha2::{Digest, Sha256};
use siskin_core::encoded::{Encode, EncodedText, PassageCodes};
use siskin_core::page::{self, Page};
use siskin_core::rows::PassagePooling;

use crate::error::{EncoderError, Result};
use crate::pool::{passage_pool, span_pool};
use crate::{Encoder, parallel};
use pack::{Key, Pack, Place};

/// Changes with the layout of records and with what their values mean.
const VERSION: u32 = 1;
/// Hexadecimal digits of the encoder's id in its folder's name.
const ID_DIGITS: usize = 32;

/// The user's folder for encoded passages: `siskin/passages` in `$XDG_CACHE_HOME` or in
/// `~/.cache`; `None` without a home folder. Deleting it costs time only.
#[must_use]
pub fn default_folder() -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .and_then(absolute);
    let base = base.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    Some(base.join("siskin").join("passages"))
}

/// How token vectors become a passage's dense vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// As the encoder wants it: what an index holds.
    Own,
    /// The same, and besides the vectors of the passage's spans of pieces: what an index of short pages holds.
    Spans,
    /// The plain mean of all tokens: what a dense baseline compares.
    Mean,
}

impl Pooling {
    /// What an index of these pages holds.
    #[must_use]
    pub fn of_site(pages: &[Page]) -> Self {
        match page::are_short(pages) {
            true => Self::Spans,
            false => Self::Own,
        }
    }
}

/// How far the work is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Passages that need no network: known from an earlier run, or equal to another one.
    pub known: usize,
    /// Passages that have been encoded.
    pub encoded: usize,
    /// Passages that have to be encoded.
    pub missing: usize,
}

/// An encoder with the passages that it has encoded.
pub struct PassageStore<'e> {
    encoder: &'e Encoder,
    pooling: PassagePooling,
    records: Records,
}

impl Encoder {
    /// The encoder's store in `folder` (see [`default_folder`]), where each encoder has a folder
    /// of its own; without a folder, one that is gone when it is dropped.
    ///
    /// What is wrong with a folder or a file in it is told to `note`; the passages concerned are
    /// encoded again.
    ///
    /// # Errors
    /// When the encoder's rows are altered, or when no temporary file can be made;
    /// [`EncoderError::QueriesOnly`](crate::EncoderError::QueriesOnly) for one that was distilled to read queries.
    pub fn passage_store(
        &self,
        folder: Option<&Path>,
        pooling: Pooling,
        mut note: impl FnMut(&str),
    ) -> Result<PassageStore<'_>> {
        self.check_reads_passages()?;
        let own = self.passage_pooling()?;
        let mean = PassagePooling::default();
        let spans = pooling == Pooling::Spans;
        let (pooling, suffix) = match pooling {
            Pooling::Mean if own != mean => (mean, "-mean"),
            Pooling::Spans => (own, "-spans"),
            _ => (own, ""),
        };
        let name = folder_name(self.id(), self.engine().version(), suffix);
        let records = match folder {
            Some(folder) => Records::open_or_temporary(&folder.join(name), &mut note),
            None => Records::temporary(),
        };
        let mut records = records?;
        records.spans = spans;
        Ok(PassageStore {
            encoder: self,
            pooling,
            records,
        })
    }
}

/// The engine is part of the name: another one, or another release, may round otherwise.
fn folder_name(encoder_id: &str, engine: &str, suffix: &str) -> String {
    let id = encoder_id.get(..ID_DIGITS).unwrap_or(encoder_id);
    format!("{id}-{VERSION}-{engine}{suffix}")
}

impl PassageStore<'_> {
    /// The codes of `texts` in their order. Those that the store lacks are encoded first, on
    /// `threads` threads (at least one), the longest first, and stored as they come: a run that
    /// is killed is taken up where it was.
    ///
    /// Activations and dense values are rounded to 16-bit floats, fresh or stored. Memory grows
    /// by some 50 bytes a text, not by the codes.
    ///
    /// `on_progress` is called at the start and for each passage encoded, on the calling thread.
    ///
    /// # Errors
    /// When the network fails or the store cannot be written; what was encoded before is kept.
    pub fn encode<T: AsRef<str> + Sync>(
        &mut self,
        texts: &[T],
        threads: usize,
        on_progress: impl FnMut(Progress),
    ) -> Result<Codes<'_>> {
        let (encoder, pooling, spans) = (self.encoder, &self.pooling, self.records.spans);
        let encode = |text: &str| {
            let text = encoder.encode(text)?;
            passage_codes(text, pooling, spans)
        };
        self.records.encode(texts, threads, encode, on_progress)
    }

    /// Bytes that the store takes, on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.records.packs.iter().map(Pack::bytes).sum()
    }

    /// The folder of this encoder's passages; `None` for a store that does not stay.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.records.folder.as_deref()
    }
}

fn passage_codes(
    text: EncodedText,
    pooling: &PassagePooling,
    with_spans: bool,
) -> Result<PassageCodes> {
    let tokens = text.pieces.len();
    let dense = passage_pool(&text, pooling);
    let spans = match with_spans {
        true => span_pool(&text),
        false => Vec::new(),
    };
    let codes = PassageCodes::new(text, dense, spans);
    let activations = codes
        .winners
        .iter()
        .flat_map(|winners| &winners.activations);
    match codes
        .dense
        .iter()
        .chain(&codes.spans)
        .chain(activations)
        .any(|value| value.is_nan())
    {
        true => Err(EncoderError::Network {
            tokens,
            reason: "it gave a value that is not a number".to_owned(),
        }),
        false => Ok(codes),
    }
}

/// The codes of some texts, read one by one in the order of the texts.
pub struct Codes<'s> {
    records: &'s mut Records,
    keys: std::vec::IntoIter<Key>,
}

impl Iterator for Codes<'_> {
    type Item = Result<PassageCodes>;

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.keys.next()?;
        Some(self.records.read(key))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.keys.size_hint()
    }
}

impl ExactSizeIterator for Codes<'_> {}

/// Packs and where each record lies in them.
#[derive(Debug, Default)]
struct Records {
    folder: Option<PathBuf>,
    /// Whether records have spans.
    spans: bool,
    packs: Vec<Pack>,
    /// Number of the pack and place in it.
    places: HashMap<Key, (usize, Place)>,
}

impl Records {
    fn open_or_temporary(folder: &Path, note: &mut dyn FnMut(&str)) -> Result<Self> {
        match Self::open(folder, note) {
            Ok(records) => Ok(records),
            Err(error) => {
                let folder = folder.display();
                note(&format!(
                    "cannot keep encoded passages in {folder}: {error}"
                ));
                Self::temporary()
            }
        }
    }

    fn temporary() -> Result<Self> {
        let path = env::temp_dir();
        let file = tempfile::tempfile().and_then(|file| Pack::begin(path.clone(), file));
        Ok(Self {
            packs: vec![file.map_err(|error| EncoderError::store(&path, error))?],
            ..Self::default()
        })
    }

    /// Opens all packs in `folder` and makes one that can be written, unless there is one.
    fn open(folder: &Path, note: &mut dyn FnMut(&str)) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut records = Self {
            folder: Some(folder.to_owned()),
            ..Self::default()
        };
        for path in pack_paths(folder)? {
            records.add(&path, note);
        }
        if !records.packs.iter().any(Pack::appends) {
            records.packs.push(new_pack(folder)?);
        }
        Ok(records)
    }

    /// Adds the records of one file; one that is of no use is noted.
    fn add(&mut self, path: &Path, note: &mut dyn FnMut(&str)) {
        let may_append = !self.packs.iter().any(Pack::appends);
        let (pack, found) = match Pack::open(path, may_append) {
            Ok(opened) => opened,
            Err(error) => {
                let path = path.display();
                return note(&format!(
                    "cannot use the encoded passages in {path}: {error}"
                ));
            }
        };
        if found.damaged > 0 || (found.torn_bytes > 0 && pack.appends()) {
            note(&format!(
                "{}: {} damaged records and {} bytes of a torn end; their passages are encoded \
                 again",
                path.display(),
                found.damaged,
                found.torn_bytes
            ));
        }
        let number = self.packs.len();
        let places = found.records.into_iter();
        self.places
            .extend(places.map(|(key, place)| (key, (number, place))));
        self.packs.push(pack);
    }

    /// See [`PassageStore::encode`]; `encode` is the network.
    fn encode<T: AsRef<str> + Sync>(
        &mut self,
        texts: &[T],
        threads: usize,
        encode: impl Fn(&str) -> Result<PassageCodes> + Sync,
        mut on_progress: impl FnMut(Progress),
    ) -> Result<Codes<'_>> {
        let keys: Vec<Key> = texts.iter().map(|text| key(text.as_ref())).collect();
        let missing = self.missing(texts, &keys);
        let mut progress = Progress {
            known: texts.len() - missing.len(),
            encoded: 0,
            missing: missing.len(),
        };
        on_progress(progress);
        let spans = self.spans;
        let to_record =
            |&(at, text): &(usize, &str)| Ok((at, record::write(&encode(text)?, spans)));
        parallel::for_each(&missing, threads, to_record, |(at, record)| {
            if let Some(key) = keys.get(at) {
                self.append(*key, &record)?;
            }
            progress.encoded += 1;
            on_progress(progress);
            Ok(())
        })?;
        Ok(Codes {
            records: self,
            keys: keys.into_iter(),
        })
    }

    /// Texts without a record, each once, with their numbers; the longest first, so that the
    /// threads end together.
    fn missing<'t, T: AsRef<str>>(&self, texts: &'t [T], keys: &[Key]) -> Vec<(usize, &'t str)> {
        let mut seen = std::collections::HashSet::new();
        let numbered = texts.iter().map(AsRef::as_ref).enumerate().zip(keys);
        let mut missing: Vec<(usize, &str)> = numbered
            .filter(|(_, key)| !self.places.contains_key(*key) && seen.insert(**key))
            .map(|(text, _)| text)
            .collect();
        missing.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
        missing
    }

    fn append(&mut self, key: Key, record: &[u8]) -> Result<()> {
        let mut packs = self.packs.iter_mut().enumerate();
        let writable = packs.find(|(_, pack)| pack.appends());
        let (number, pack) = writable.ok_or_else(|| self_inconsistent("no pack to write"))?;
        let place = pack.append(key, record);
        let place = place.map_err(|error| EncoderError::store(pack.path(), error))?;
        self.places.insert(key, (number, place));
        Ok(())
    }

    fn read(&mut self, key: Key) -> Result<PassageCodes> {
        let absent = || self_inconsistent("no record of a passage");
        let &(number, place) = self.places.get(&key).ok_or_else(absent)?;
        let pack = self.packs.get_mut(number).ok_or_else(absent)?;
        let bytes = pack.read(key, place);
        let bytes = bytes.map_err(|error| EncoderError::store(pack.path(), error))?;
        record::read(&bytes, self.spans).map_err(|damage| {
            let error = damage.of(&pack.path().display().to_string());
            EncoderError::store(pack.path(), io::Error::other(error))
        })
    }
}

fn self_inconsistent(reason: &str) -> EncoderError {
    EncoderError::store(Path::new(""), io::Error::other(reason.to_owned()))
}

/// The exact text that the network reads names its record.
fn key(text: &str) -> Key {
    let mut key = Key::default();
    let digest = Sha256::digest(text);
    let length = key.len();
    key.copy_from_slice(&digest[..length]);
    key
}

fn pack_paths(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "pack")
        {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// A pack under the first number that no file has yet.
fn new_pack(folder: &Path) -> io::Result<Pack> {
    let mut number = 0u32;
    loop {
        match Pack::create(&folder.join(format!("{number:04}.pack"))) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            pack => return pack,
        }
    }
}

#[cfg(test)]
mod tests;
