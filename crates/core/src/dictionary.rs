//! A shard of the dictionary: a run of keys in order, and what the site knows of each.
//!
//! Keys are terms (stems and verbatim chunks), words as they are written, and titles of several
//! words. One entry has all that a query needs of its key, so that a word costs one shard.
//!
//! ```text
//! varint  entries; per entry, sorted by key: varint bytes shared with the key before,
//!         string rest, varint bytes of what follows for it
//! per entry:
//!   u8    parts: 1 = postings, 2 = titled, 4 = meaning, 8 = followers
//!   postings: page list of the pages that have the term (see `lists`)
//!   followers: which words follow it on each of these pages (see `pairs`)
//!   titled:   posting list of the pages with this title (see `postings`)
//!   meaning:  static row of the word (see `rows`), page list of the pages of like meaning,
//!             u8 neighbours, each a string and a u8: 255 · how near (a word of the site: the cosine)
//! ```

use crate::bytes::{Reader, Result, Writer};
use crate::container::{self, Kind};
use crate::lists::PageList;
use crate::pairs::{self, Followers};
use crate::{postings, rows};

/// Longest key, in bytes: a title of several words is the longest there is.
pub const MAX_KEY_BYTES: usize = 160;
const POSTINGS: u8 = 1;
const TITLED: u8 = 2;
const MEANING: u8 = 4;
const FOLLOWERS: u8 = 8;

/// What the site knows of one key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// Pages that have the term. Of a word that the site never uses: pages that have words near
    /// to it in meaning.
    pub postings: PageList,
    /// Which words follow it on each of these pages; empty where pages are long.
    pub followers: Vec<Followers>,
    /// Pages with this title.
    pub titled: Vec<u32>,
    /// What the word means.
    pub meaning: Option<Meaning>,
}

/// What a word means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meaning {
    /// Static row: `[dim]`.
    pub row: Vec<f32>,
    /// Pages nearest to the word by its UHD row and its static row together.
    pub pages: PageList,
    /// Words of the site nearest in meaning and how near they are, at most 1, nearest first.
    pub neighbours: Vec<(String, f32)>,
}

/// The shape of the bundle that entries are read and written with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Pages of the site.
    pub pages: u32,
    /// Values of a static row.
    pub dim: usize,
}

impl Entry {
    /// The entry's bytes within a shard.
    #[must_use]
    pub fn write(&self, shape: Shape) -> Vec<u8> {
        let mut writer = Writer::default();
        let part = |present: bool, bit: u8| if present { bit } else { 0 };
        writer.u8(part(!self.postings.entries.is_empty(), POSTINGS)
            | part(!self.titled.is_empty(), TITLED)
            | part(self.meaning.is_some(), MEANING)
            | part(!self.followers.is_empty(), FOLLOWERS));
        if !self.postings.entries.is_empty() {
            self.postings.write(&mut writer, shape.pages);
        }
        pairs::write(&mut writer, &self.followers);
        if !self.titled.is_empty() {
            postings::write(&mut writer, &self.titled, shape.pages);
        }
        if let Some(meaning) = &self.meaning {
            meaning.write(&mut writer, shape);
        }
        writer.into_bytes()
    }

    /// Gives page `i` of every list the number `place[i]`.
    pub(crate) fn renumber(&mut self, place: &[u32]) {
        if !self.followers.is_empty() {
            let pages = self.postings.entries.iter().map(|(page, _)| *page);
            let mut sets: Vec<(u32, Followers)> = pages.zip(self.followers.drain(..)).collect();
            sets.sort_unstable_by_key(|(page, _)| place[*page as usize]);
            self.followers = sets.into_iter().map(|(_, set)| set).collect();
        }
        self.postings.renumber(place);
        if let Some(meaning) = &mut self.meaning {
            meaning.pages.renumber(place);
        }
        let titled = self.titled.iter_mut();
        titled.for_each(|page| *page = place[*page as usize]);
        self.titled.sort_unstable();
    }

    fn read(reader: &mut Reader<'_>, shape: Shape) -> Result<Self> {
        let parts = reader.u8()?;
        if parts & !(POSTINGS | TITLED | MEANING | FOLLOWERS) != 0 {
            return Err(reader.damage("an entry with unknown parts"));
        }
        let mut entry = Self::default();
        if parts & POSTINGS != 0 {
            entry.postings = PageList::read(reader, shape.pages)?;
        }
        if parts & FOLLOWERS != 0 {
            entry.followers = pairs::read(reader, entry.postings.entries.len())?;
        }
        if parts & TITLED != 0 {
            entry.titled = postings::read(reader, shape.pages)?;
        }
        if parts & MEANING != 0 {
            entry.meaning = Some(Meaning::read(reader, shape)?);
        }
        Ok(entry)
    }
}

impl Meaning {
    fn write(&self, writer: &mut Writer, shape: Shape) {
        rows::write(writer, &self.row);
        self.pages.write(writer, shape.pages);
        writer.u8(self.neighbours.len().min(255) as u8);
        for (word, cosine) in self.neighbours.iter().take(255) {
            writer.string(word);
            writer.u8((cosine * 255.0).round().clamp(0.0, 255.0) as u8);
        }
    }

    fn read(reader: &mut Reader<'_>, shape: Shape) -> Result<Self> {
        let row = rows::read(reader, shape.dim)?;
        let pages = PageList::read(reader, shape.pages)?;
        let neighbours = (0..reader.u8()?)
            .map(|_| Ok((reader.string()?.to_owned(), f32::from(reader.u8()?) / 255.0)))
            .collect::<Result<_>>()?;
        Ok(Self {
            row,
            pages,
            neighbours,
        })
    }
}

/// The file of a shard: keys in ascending order, each with the bytes of its [`Entry`].
#[must_use]
pub fn write<'a>(
    kind: Kind,
    entries: impl Iterator<Item = (&'a str, &'a [u8])> + Clone,
) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.length(entries.clone().count());
    let mut before = "";
    for (key, bytes) in entries.clone() {
        let shared = shared_prefix_bytes(before, key);
        writer.length(shared);
        writer.string(&key[shared..]);
        writer.length(bytes.len());
        before = key;
    }
    entries.for_each(|(_, bytes)| writer.raw(bytes));
    match kind {
        // Nothing but text: the one kind of shard that deflates well.
        Kind::Spelling => container::wrap_deflated(kind, &writer.into_bytes()),
        _ => container::wrap(kind, &writer.into_bytes()),
    }
}

/// Bytes that two texts have in common at their beginning, cut at a character.
#[must_use]
pub fn shared_prefix_bytes(a: &str, b: &str) -> usize {
    let mut shared = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    while !b.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}

/// A shard, opened for searching.
#[derive(Debug)]
pub struct Dictionary {
    shape: Shape,
    keys: Vec<String>,
    ends: Vec<u32>,
    entries: Vec<u8>,
}

impl Dictionary {
    /// Reads the payload of a file of [`write`].
    ///
    /// # Errors
    /// When the bytes are not such a payload.
    pub fn read(payload: &[u8], shape: Shape) -> Result<Self> {
        let mut reader = Reader::new(payload);
        let mut shard = Self {
            shape,
            keys: Vec::new(),
            ends: Vec::new(),
            entries: Vec::new(),
        };
        let mut end = 0u32;
        for _ in 0..reader.count(24)? {
            let key = read_key(&mut reader, shard.keys.last().map_or("", String::as_str))?;
            end = end
                .checked_add(reader.varint()?)
                .ok_or_else(|| reader.damage("entries over 4 GiB"))?;
            shard.keys.push(key);
            shard.ends.push(end);
        }
        shard.entries = reader.raw(end as usize)?.to_vec();
        reader.finish()?;
        Ok(shard)
    }

    /// Keys in order.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Whether it has a key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        let found = self.keys.binary_search_by(|other| other.as_str().cmp(key));
        found.is_ok()
    }

    /// What is known of a key.
    ///
    /// # Errors
    /// When its entry is damaged.
    pub fn get(&self, key: &str) -> Result<Option<Entry>> {
        let found = self.keys.binary_search_by(|other| other.as_str().cmp(key));
        found.ok().map(|at| self.entry(at)).transpose()
    }

    /// The entry of the key at a place in [`Dictionary::keys`].
    ///
    /// # Errors
    /// When it is damaged.
    pub fn entry(&self, at: usize) -> Result<Entry> {
        let end = self.ends.get(at).copied().unwrap_or_default() as usize;
        let start = at
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        let mut reader = Reader::new(self.entries.get(start..end).unwrap_or_default());
        let entry = Entry::read(&mut reader, self.shape)?;
        reader.finish()?;
        Ok(entry)
    }

    /// Keys that begin with `prefix`, in order.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        let start = self.keys.partition_point(|key| key.as_str() < prefix);
        let keys = self.keys[start..].iter().map(String::as_str);
        keys.take_while(move |key| key.starts_with(prefix))
    }
}

fn read_key(reader: &mut Reader<'_>, before: &str) -> Result<String> {
    let shared = reader.varint()? as usize;
    let kept = before
        .get(..shared)
        .ok_or_else(|| reader.damage("a key that shares more than there is"))?;
    let key = format!("{kept}{}", reader.string()?);
    if key.as_str() <= before {
        return Err(reader.damage("keys out of order"));
    }
    if key.len() > MAX_KEY_BYTES {
        return Err(reader.damage("a key that is too long"));
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error;

    const SHAPE: Shape = Shape { pages: 9, dim: 3 };

    fn sample() -> Vec<(&'static str, Entry)> {
        let postings = PageList::of_scores(vec![(1, 1.0), (4, 0.5)]);
        let meaning = Meaning {
            row: rows::quantized(&[1.0, -2.0, 0.5]),
            pages: PageList::of_scores(vec![(8, 0.25)]),
            neighbours: vec![("abort".to_owned(), 0.6)],
        };
        let word = Entry {
            postings: postings.clone(),
            followers: vec![1 << 7 | 1 << 30, 0],
            meaning: Some(meaning),
            ..Entry::default()
        };
        let titled = Entry {
            titled: vec![2, 3],
            ..Entry::default()
        };
        vec![
            ("cancel", word),
            ("cancel an order", titled),
            (
                "cat",
                Entry {
                    postings,
                    ..Entry::default()
                },
            ),
        ]
    }

    fn file(entries: &[(&str, Entry)]) -> Vec<u8> {
        let bytes: Vec<_> = entries
            .iter()
            .map(|(_, entry)| entry.write(SHAPE))
            .collect();
        let keys = entries.iter().map(|(key, _)| *key);
        write(Kind::Words, keys.zip(bytes.iter().map(Vec::as_slice)))
    }

    fn open(file: &[u8]) -> error::Result<Dictionary> {
        let payload = container::plain_payload("w", Kind::Words, file)?;
        Dictionary::read(&payload, SHAPE).map_err(|damage| damage.of("w"))
    }

    #[test]
    fn entries_come_back() {
        let shard = open(&file(&sample())).unwrap();
        for (key, expected) in sample() {
            let mut found = shard.get(key).unwrap().unwrap();
            if let Some(meaning) = &mut found.meaning {
                assert!((meaning.neighbours[0].1 - 0.6).abs() < 0.003);
                meaning.neighbours[0].1 = 0.6;
                meaning.row = rows::quantized(&[1.0, -2.0, 0.5]);
            }
            assert_eq!(found, expected, "{key}");
        }
        assert_eq!(shard.get("dog").unwrap(), None);
        let found: Vec<&str> = shard.with_prefix("canc").collect();
        assert_eq!(found, ["cancel", "cancel an order"]);
    }

    #[test]
    fn pages_get_other_numbers_with_all_that_is_known_of_them() {
        let list = |entries: &[(u32, u8)]| PageList {
            scale: 1.0,
            entries: entries.to_vec(),
        };
        let mut entry = Entry {
            postings: list(&[(0, 3), (1, 9), (2, 5)]),
            followers: vec![1, 2, 4],
            titled: vec![0, 1],
            meaning: Some(Meaning {
                pages: list(&[(0, 7), (2, 8)]),
                ..Meaning::default()
            }),
        };
        entry.renumber(&[2, 0, 1]);
        assert_eq!(entry.postings, list(&[(0, 9), (1, 5), (2, 3)]));
        assert_eq!(entry.followers, [2, 4, 1]);
        assert_eq!(entry.titled, [0, 2]);
        let meaning = entry.meaning.unwrap();
        assert_eq!(meaning.pages, list(&[(1, 8), (2, 7)]));
    }

    #[test]
    fn keys_that_are_long_or_out_of_order_are_refused() {
        let longest = "x".repeat(MAX_KEY_BYTES);
        let named = |keys: &[&str]| {
            let entries: Vec<_> = keys.iter().map(|&key| (key, Entry::default())).collect();
            open(&file(&entries))
        };
        assert!(named(&["cat", "cats", &longest]).is_ok());
        assert!(named(&["cat", "cat"]).is_err());
        assert!(named(&["dog", "cat"]).is_err());
        assert!(named(&[&format!("{longest}x")]).is_err());
    }

    #[test]
    fn a_cut_file_is_an_error() {
        let file = file(&sample());
        assert!((0..file.len()).all(|end| open(&file[..end]).is_err()));
    }
}
