//! Shards as they are written.

use super::BundleFile;
use crate::container::Kind;
use crate::dictionary::{self, Entry, Shape};
use crate::error::{Error, Result};
use crate::manifest::Shards;
use crate::shards::{Directory, ShardId, ShardSize, first_word, runs};
use std::collections::BTreeMap;

/// One shard, whatever its size.
pub(super) const WHOLE: ShardSize = ShardSize {
    target_bytes: usize::MAX,
    most: 1,
};

/// Shards as they are written.
#[derive(Debug, Default)]
pub(super) struct ShardWriter {
    pub(super) shards: Shards,
    pub(super) files: Vec<BundleFile>,
}

impl ShardWriter {
    /// Adds entries by key, in as many shards as needed. A word and the titles that begin with it
    /// stay together.
    pub(super) fn dictionary(
        &mut self,
        kind: Kind,
        entries: &BTreeMap<&str, Entry>,
        shape: Shape,
        size: ShardSize,
    ) {
        let entries: Vec<(&str, Vec<u8>)> = entries
            .iter()
            .map(|(key, entry)| (*key, entry.write(shape)))
            .collect();
        let groups: Vec<&[(&str, Vec<u8>)]> = entries
            .chunk_by(|(a, _), (b, _)| first_word(a) == first_word(b))
            .collect();
        let bytes_of = |(key, bytes): &(&str, Vec<u8>)| key.len() + bytes.len();
        let sizes: Vec<usize> = groups
            .iter()
            .map(|group| group.iter().map(bytes_of).sum())
            .collect();
        let (mut first, mut first_group, mut before) = (0, 0, "");
        for run in runs(&sizes, size) {
            let keys: usize = groups[first_group..first_group + run]
                .iter()
                .map(|group| group.len())
                .sum();
            first_group += run;
            let part = &entries[first..first + keys];
            let file = dictionary::write(
                kind,
                part.iter().map(|(key, bytes)| (*key, bytes.as_slice())),
            );
            let key = part.first().map_or("", |(key, _)| first_word(key));
            let directory = match kind {
                Kind::Common => &mut self.shards.common,
                Kind::Foreign => &mut self.shards.foreign,
                Kind::Spelling => &mut self.shards.spelling,
                _ => &mut self.shards.words,
            };
            let start = if directory.is_empty() {
                ""
            } else {
                shortest_start(before, key)
            };
            directory.push(start.to_owned(), &file);
            let number = directory.len() as u32 - 1;
            self.push(kind, 0, number, file);
            before = part.last().map_or(before, |(key, _)| *key);
            first += keys;
        }
    }

    /// Adds the shard that begins with a page or a place.
    pub(super) fn by_number(&mut self, kind: Kind, bucket: u32, start: u32, file: Vec<u8>) {
        let directory = match kind {
            Kind::Codes => &mut self.shards.codes,
            Kind::Records => &mut self.shards.records,
            Kind::Attributes => &mut self.shards.attributes,
            Kind::Map => of_bucket(&mut self.shards.map, bucket),
            _ => of_bucket(&mut self.shards.uhd, bucket),
        };
        directory.push(start, &file);
        let number = directory.len() as u32 - 1;
        self.push(kind, bucket, number, file);
    }

    fn push(&mut self, kind: Kind, bucket: u32, number: u32, bytes: Vec<u8>) {
        let id = ShardId {
            kind,
            bucket,
            number,
        };
        let path = self.shards.path(id).unwrap_or_default();
        self.files.push(BundleFile { id, path, bytes });
    }

    /// Refuses shards that have one name and are not the same. A name is 30 bits of a checksum, so of 400 shards of a
    /// kind one site in 13,000 has such a pair.
    ///
    /// # Errors
    /// [`Error::Build`].
    pub(super) fn check(&self) -> Result<()> {
        let mut files: Vec<&BundleFile> = self.files.iter().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let is_taken =
            |pair: &&[&BundleFile]| pair[0].path == pair[1].path && pair[0].bytes != pair[1].bytes;
        match files.windows(2).find(is_taken) {
            None => Ok(()),
            Some(pair) => Err(Error::Build {
                reason: format!(
                    "two files would have the name {} by chance; change a word on some page and index again",
                    pair[0].path
                ),
            }),
        }
    }
}

fn of_bucket(directories: &mut Vec<Directory<u32>>, bucket: u32) -> &mut Directory<u32> {
    let needed = bucket as usize + 1;
    directories.resize_with(directories.len().max(needed), Directory::default);
    &mut directories[bucket as usize]
}

/// The shortest beginning of `key` that is greater than `before`.
fn shortest_start<'k>(before: &str, key: &'k str) -> &'k str {
    let mut end = dictionary::shared_prefix_bytes(before, key) + 1;
    while !key.is_char_boundary(end) {
        end += 1;
    }
    key.get(..end).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::name_of;

    #[test]
    fn two_shards_of_one_name_are_refused() {
        let mut by_name = BTreeMap::new();
        let twins = (0_u32..).find_map(|number| {
            let bytes = number.to_le_bytes().to_vec();
            let before = by_name.insert(name_of(&bytes), bytes.clone());
            before.map(|before| [before, bytes])
        });
        let mut writer = ShardWriter::default();
        for (start, bytes) in (0..).zip(twins.unwrap()) {
            assert!(writer.check().is_ok());
            writer.by_number(Kind::Codes, 0, start, bytes);
        }
        let error = writer.check().unwrap_err().to_string();
        assert!(error.contains("by chance"), "{error}");
    }
}
