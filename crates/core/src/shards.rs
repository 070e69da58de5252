//! Shards: the files of a bundle, found by range and named by what they hold.
//!
//! A shard's name is the first 30 bits of the XXH64 of its bytes, as six letters of RFC 4648's base 32
//! in lower case. A name is therefore also the check of what was fetched under it, and two thousand of
//! them cost a manifest seven kilobytes.

use crate::container::Kind;
use crate::records::Block;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::borrow::Borrow;
use xxhash_rust::xxh64::xxh64;

/// Letters of a name.
pub const NAME_LETTERS: usize = 6;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Which shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId {
    /// What it holds.
    pub kind: Kind,
    /// For UHD postings the encoder's bucket, else 0.
    pub bucket: u32,
    /// Its place in the directory of its kind.
    pub number: u32,
}

/// What has to be added before a query can go on: a shard, or blocks of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The shard. To add all of it is always right.
    pub shard: ShardId,
    /// Of a shard of records the blocks that will do, if it has blocks.
    pub blocks: Vec<Block>,
}

impl From<ShardId> for Need {
    fn from(shard: ShardId) -> Self {
        Self {
            shard,
            blocks: Vec::new(),
        }
    }
}

/// The first word of a key: titles have several.
#[must_use]
pub fn first_word(key: &str) -> &str {
    key.split(' ').next().unwrap_or_default()
}

/// The name of a shard of these bytes.
#[must_use]
pub fn name_of(bytes: &[u8]) -> String {
    let hash = xxh64(bytes, 0);
    let letter = |i: usize| char::from(ALPHABET[(hash >> (59 - 5 * i)) as usize & 31]);
    (0..NAME_LETTERS).map(letter).collect()
}

/// The shards of one kind in the order of what they hold: shard `i` holds what is at least
/// `starts[i]` and below `starts[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory<K> {
    /// Where each shard begins; the first begins with the smallest key there is.
    pub starts: Vec<K>,
    /// The shards' names, one after the other.
    pub names: String,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// Where a shard begins. In a manifest the starts of a directory are one text, a line each.
pub trait Start: Ord {
    /// The line for this start, after the one before it.
    #[must_use]
    fn line(&self, before: Option<&Self>) -> String;

    /// The start that a line stands for.
    #[must_use]
    fn of_line(line: &str, before: Option<&Self>) -> Option<Self>
    where
        Self: Sized;
}

/// Keys are words, and titles with single spaces: they have no line feeds.
impl Start for String {
    fn line(&self, _: Option<&Self>) -> String {
        self.clone()
    }

    fn of_line(line: &str, _: Option<&Self>) -> Option<Self> {
        Some(line.to_owned())
    }
}

/// Numbers stand as the difference from the one before.
impl Start for u32 {
    fn line(&self, before: Option<&Self>) -> String {
        self.saturating_sub(before.copied().unwrap_or_default())
            .to_string()
    }

    fn of_line(line: &str, before: Option<&Self>) -> Option<Self> {
        before
            .copied()
            .unwrap_or_default()
            .checked_add(line.parse().ok()?)
    }
}

impl<K: Start> Serialize for Directory<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let before = std::iter::once(None).chain(self.starts.iter().map(Some));
        let pairs = self.starts.iter().zip(before);
        let lines: Vec<String> = pairs.map(|(start, before)| start.line(before)).collect();
        let mut fields = serializer.serialize_struct("Directory", 3)?;
        fields.serialize_field("starts", &lines.join("\n"))?;
        fields.serialize_field("names", &self.names)?;
        fields.serialize_field("bytes", &self.bytes)?;
        fields.end()
    }
}

impl<K: Start> Directory<K> {
    /// The directory of these values in a manifest; `None` unless every shard has a name and they are
    /// in order.
    #[must_use]
    pub fn read(starts: &str, names: String, bytes: u64) -> Option<Self> {
        let mut read = Vec::new();
        if !names.is_empty() {
            for line in starts.split('\n') {
                let start = K::of_line(line, read.last())?;
                if read.last().is_some_and(|before| *before >= start) {
                    return None;
                }
                read.push(start);
            }
        }
        let letters = names.bytes().all(|letter| ALPHABET.contains(&letter));
        let named = names.len() == read.len() * NAME_LETTERS;
        (letters && named).then_some(Self {
            starts: read,
            names,
            bytes,
        })
    }
}

impl<K: Ord> Directory<K> {
    /// No shards.
    #[must_use]
    pub fn none() -> Self {
        Self {
            starts: Vec::new(),
            names: String::new(),
            bytes: 0,
        }
    }

    /// Number of shards.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no shard.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The shard that holds a key, if any shard can.
    #[must_use]
    pub fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        let after = self.starts.partition_point(|start| start.borrow() <= key);
        after.checked_sub(1).map(|number| number as u32)
    }

    /// The name of a shard.
    #[must_use]
    pub fn name(&self, number: u32) -> Option<&str> {
        let start = number as usize * NAME_LETTERS;
        self.names.get(start..start + NAME_LETTERS)
    }

    /// Adds a shard of these bytes at the end.
    pub fn push(&mut self, start: K, bytes: &[u8]) {
        self.starts.push(start);
        self.names.push_str(&name_of(bytes));
        self.bytes += bytes.len() as u64;
    }
}

/// Size of the shards of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardSize {
    /// Shards are of about this size, …
    pub target_bytes: usize,
    /// … unless that makes more of them than this.
    pub most: usize,
}

/// Cuts items of the given sizes into runs: the length of each.
#[must_use]
pub fn runs(sizes_bytes: &[usize], size: ShardSize) -> Vec<usize> {
    let total: usize = sizes_bytes.iter().sum();
    let target = size
        .target_bytes
        .max(total.div_ceil(size.most.max(1)))
        .max(1);
    let mut runs = Vec::new();
    let (mut count, mut end) = (0usize, 0usize);
    for &bytes in sizes_bytes {
        // A run ends where that is nearest to the next multiple of the target.
        if count > 0 && end + bytes / 2 > (runs.len() + 1).saturating_mul(target) {
            runs.push(count);
            count = 0;
        }
        count += 1;
        end += bytes;
    }
    if count > 0 {
        runs.push(count);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn directory() -> Directory<String> {
        let mut directory = Directory::default();
        for start in ["", "cat", "dog"] {
            directory.push(start.to_owned(), start.as_bytes());
        }
        directory
    }

    #[test]
    fn a_key_is_in_the_last_shard_that_begins_before_it() {
        let found = |key: &str| directory().find(key);
        assert_eq!(found("apple"), Some(0));
        assert_eq!(found("cat"), Some(1));
        assert_eq!(found("cats"), Some(1));
        assert_eq!(found("zoo"), Some(2));
        assert_eq!(Directory::<String>::default().find("a"), None);
    }

    #[test]
    fn names_are_letters_of_the_content() {
        let directory = directory();
        assert_eq!(directory.name(1), Some(name_of(b"cat").as_str()));
        assert_eq!(directory.name(3), None);
        assert_eq!(name_of(b"").len(), NAME_LETTERS);
        assert_ne!(name_of(b"a"), name_of(b"b"));
    }

    #[test]
    fn numbers_stand_in_a_manifest_as_differences() {
        let mut directory = Directory::default();
        for start in [0u32, 30, 64] {
            directory.push(start, b"shard");
        }
        let json = serde_json::to_value(&directory).unwrap();
        assert_eq!(json["starts"], "0\n30\n34");
        let names = directory.names.clone();
        assert_eq!(
            Directory::read("0\n30\n34", names, directory.bytes),
            Some(directory)
        );
    }

    #[test]
    fn a_directory_that_names_too_few_or_is_out_of_order_is_refused() {
        let Directory { names, bytes, .. } = directory();
        let read = |starts: &str, letters: usize| {
            Directory::<String>::read(starts, names[..letters].to_owned(), bytes)
        };
        let all = names.len();
        assert_eq!(read("\ncat\ndog", all), Some(directory()));
        assert_eq!(
            read("", 0),
            Some(Directory {
                bytes,
                ..Directory::default()
            })
        );
        assert_eq!(read("\ndog\ncat", all), None);
        assert_eq!(read("\ncat\ndog", all - 1), None);
        assert_eq!(read("\ncat", all), None);
        assert_eq!(
            Directory::<u32>::read("0\nx\n1", names.clone(), bytes),
            None
        );
        let upper = names.to_uppercase();
        assert_eq!(Directory::<String>::read("\ncat\ndog", upper, bytes), None);
    }

    proptest! {
        #[test]
        fn runs_hold_everything_and_are_bounded(
            sizes in proptest::collection::vec(0usize..50, 0..200),
            target in 1usize..100,
            most in 1usize..20,
        ) {
            let size = ShardSize { target_bytes: target, most };
            let runs = runs(&sizes, size);
            prop_assert_eq!(runs.iter().sum::<usize>(), sizes.len());
            prop_assert!(runs.iter().all(|&run| run > 0));
            prop_assert!(runs.len() <= most + 1);
        }
    }
}
