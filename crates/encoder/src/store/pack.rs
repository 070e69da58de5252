//! Files of records that only grow.
//!
//! ```text
//! 8 bytes   magic "SISKPAS\n"
//! then records:
//!   u32       bytes of the content, little-endian
//!   16 bytes  key
//!   content
//!   8 bytes   first bytes of the SHA-256 of all of the record before them
//! ```
//!
//! One process at a time appends to a pack; it holds the file's lock. A process that was killed
//! leaves half a record at the end: whoever gets the lock next cuts it off.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"SISKPAS\n";
const KEY_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 8;
const HEAD_BYTES: usize = 4 + KEY_BYTES;
/// Longer records do not occur: a length above this is damage.
const LONGEST_CONTENT_BYTES: usize = 1 << 24;
const LONGEST_RECORD_BYTES: usize = HEAD_BYTES + LONGEST_CONTENT_BYTES + CHECKSUM_BYTES;

/// What a record is found by.
pub(super) type Key = [u8; KEY_BYTES];

/// Where a record lies in its pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// First byte of the record.
    at: u64,
    /// Bytes of the content.
    length: usize,
}

/// An open pack.
#[derive(Debug)]
pub(super) struct Pack {
    path: PathBuf,
    file: File,
    /// End of the last whole record.
    end: u64,
    appends: bool,
}

/// What was found in a pack.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Whole records in order of their place.
    pub(super) records: Vec<(Key, Place)>,
    /// Places between whole records that hold none.
    pub(super) damaged: usize,
    /// Bytes behind the last whole record.
    pub(super) torn_bytes: u64,
}

impl Pack {
    /// A new pack in a file that must not be there yet. Where files cannot be locked, its new
    /// name alone keeps others away.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .append(true)
            .create_new(true)
            .open(path)?;
        let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if taken || file.metadata()?.len() > 0 {
            // Another process found the file before this one could lock it.
            return Err(ErrorKind::AlreadyExists.into());
        }
        Self::begin(path.to_owned(), file)
    }

    /// A pack in an empty file.
    pub(super) fn begin(path: PathBuf, mut file: File) -> io::Result<Self> {
        file.write_all(MAGIC)?;
        Ok(Self {
            path,
            file,
            end: MAGIC.len() as u64,
            appends: true,
        })
    }

    /// Opens a pack and finds its records. If no other process holds it and `may_append`, this
    /// one may append from now on, and a torn end is cut off.
    ///
    /// # Errors
    /// When the file cannot be read or is no pack ([`ErrorKind::InvalidData`]).
    pub(super) fn open(path: &Path, may_append: bool) -> io::Result<(Self, Found)> {
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        let appends = may_append && file.try_lock().is_ok();
        let length = file.metadata()?.len();
        let (found, end) = scan(&file, length)?;
        let mut pack = Self {
            path: path.to_owned(),
            file,
            end,
            appends,
        };
        if appends && end < length {
            pack.file.set_len(end)?;
        }
        if appends && end == 0 {
            pack.file.write_all(MAGIC)?;
            pack.end = MAGIC.len() as u64;
        }
        Ok((pack, found))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this process appends to the pack.
    pub(super) fn appends(&self) -> bool {
        self.appends
    }

    /// Bytes of whole records, as far as this process knows.
    pub(super) fn bytes(&self) -> u64 {
        self.end
    }

    /// Appends a record; half a record is left only if the process dies here.
    pub(super) fn append(&mut self, key: Key, content: &[u8]) -> io::Result<Place> {
        let length = u32::try_from(content.len())
            .ok()
            .filter(|length| *length as usize <= LONGEST_CONTENT_BYTES)
            .ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "a record of over 16 MiB"))?;
        let mut record = Vec::with_capacity(HEAD_BYTES + content.len() + CHECKSUM_BYTES);
        record.extend_from_slice(&length.to_le_bytes());
        record.extend_from_slice(&key);
        record.extend_from_slice(content);
        record.extend_from_slice(&checksum(&record));
        self.file.seek(SeekFrom::Start(self.end))?;
        if let Err(error) = self.file.write_all(&record) {
            // A full disk takes part of a record: the next one must not follow it.
            self.file.set_len(self.end)?;
            return Err(error);
        }
        let place = Place {
            at: self.end,
            length: content.len(),
        };
        self.end += record.len() as u64;
        Ok(place)
    }

    /// The content of the record of `key` at `place`.
    ///
    /// # Errors
    /// When it cannot be read or has changed since it was found ([`ErrorKind::InvalidData`]).
    pub(super) fn read(&mut self, key: Key, place: Place) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(place.at))?;
        let mut record = vec![0; HEAD_BYTES + place.length + CHECKSUM_BYTES];
        self.file.read_exact(&mut record)?;
        let (signed, sum) = record.split_at(HEAD_BYTES + place.length);
        if sum != checksum(signed) || signed.get(4..HEAD_BYTES) != Some(&key[..]) {
            return Err(invalid("a record changed while it was in use"));
        }
        record.truncate(HEAD_BYTES + place.length);
        record.drain(..HEAD_BYTES);
        Ok(record)
    }
}

/// All whole records of a file of `length` bytes, and the end of the last one; 0 if not even
/// the magic is whole.
fn scan(file: &File, length: u64) -> io::Result<(Found, u64)> {
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut magic = [0; MAGIC.len()];
    let magic_length = (length as usize).min(MAGIC.len());
    reader.read_exact(&mut magic[..magic_length])?;
    if magic[..magic_length] != MAGIC[..magic_length] {
        return Err(invalid("not a pack of passages"));
    }
    let mut found = Found::default();
    if magic_length < MAGIC.len() {
        found.torn_bytes = length;
        return Ok((found, 0));
    }
    let (mut at, mut end) = (MAGIC.len() as u64, MAGIC.len() as u64);
    let mut record = Vec::new();
    loop {
        while let Some((Some(key), content)) = next_record(&mut reader, &mut record, length - at)? {
            found.damaged += usize::from(at > end);
            let place = Place {
                at,
                length: content,
            };
            found.records.push((key, place));
            at += record.len() as u64;
            end = at;
        }
        let Some(next) = next_whole(&mut reader, at, length)? else {
            found.torn_bytes = length - end;
            return Ok((found, end));
        };
        at = next;
        reader.seek(SeekFrom::Start(at))?;
    }
}

/// Where behind `at`, where none is, the next whole record begins: of what is damaged the length may be, too.
fn next_whole(reader: &mut (impl Read + Seek), at: u64, length: u64) -> io::Result<Option<u64>> {
    let mut from = at + 1;
    let mut window = Vec::new();
    while from < length {
        window.clear();
        reader.seek(SeekFrom::Start(from))?;
        reader
            .take(2 * LONGEST_RECORD_BYTES as u64)
            .read_to_end(&mut window)?;
        let is_last = from + window.len() as u64 >= length;
        let starts = match is_last {
            true => window.len(),
            false => window.len().saturating_sub(LONGEST_RECORD_BYTES),
        };
        if let Some(found) = (0..starts).find(|&start| begins_whole(&window[start..])) {
            return Ok(Some(from + found as u64));
        }
        from += starts.max(1) as u64;
    }
    Ok(None)
}

/// Whether the bytes begin with a record whose checksum is right.
fn begins_whole(bytes: &[u8]) -> bool {
    let Some(&length) = bytes.first_chunk() else {
        return false;
    };
    let content = u32::from_le_bytes(length) as usize;
    let signed = HEAD_BYTES + content.min(LONGEST_CONTENT_BYTES + 1);
    let record = bytes.get(..signed + CHECKSUM_BYTES);
    content <= LONGEST_CONTENT_BYTES
        && record.is_some_and(|record| record[signed..] == checksum(&record[..signed]))
}

/// Reads a record into `record`: its key, unless the checksum is wrong, and the bytes of its
/// content. `None` when no whole record is among the `left` bytes.
fn next_record(
    reader: &mut impl Read,
    record: &mut Vec<u8>,
    left: u64,
) -> io::Result<Option<(Option<Key>, usize)>> {
    if left < HEAD_BYTES as u64 {
        return Ok(None);
    }
    let mut head = [0; HEAD_BYTES];
    reader.read_exact(&mut head)?;
    let [a, b, c, d, key @ ..] = head;
    let content = u32::from_le_bytes([a, b, c, d]) as usize;
    let total = HEAD_BYTES + content + CHECKSUM_BYTES;
    if content > LONGEST_CONTENT_BYTES || total as u64 > left {
        return Ok(None);
    }
    record.clear();
    record.resize(total, 0);
    record[..HEAD_BYTES].copy_from_slice(&head);
    reader.read_exact(&mut record[HEAD_BYTES..])?;
    let (signed, sum) = record.split_at(HEAD_BYTES + content);
    Ok(Some(((sum == checksum(signed)).then_some(key), content)))
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut sum = [0; CHECKSUM_BYTES];
    sum.copy_from_slice(&Sha256::digest(bytes)[..CHECKSUM_BYTES]);
    sum
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [Key; 3] = [[1; 16], [2; 16], [3; 16]];

    /// A file with three records and the ends of the magic and of each record.
    fn file() -> (tempfile::TempDir, PathBuf, Vec<usize>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.pack");
        let mut pack = Pack::create(&path).unwrap();
        let mut ends = vec![pack.bytes() as usize];
        for (key, content) in KEYS.into_iter().zip(["one", "", "three"]) {
            pack.append(key, content.as_bytes()).unwrap();
            ends.push(pack.bytes() as usize);
        }
        (folder, path, ends)
    }

    fn keys(found: &Found) -> Vec<Key> {
        found.records.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn a_pack_cut_at_any_byte_keeps_its_whole_records_and_grows_on() {
        let (_folder, path, ends) = file();
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut pack, found) = Pack::open(&path, true).unwrap();
            let kept = ends
                .iter()
                .filter(|end| **end <= cut)
                .count()
                .saturating_sub(1);
            assert_eq!(keys(&found), KEYS[..kept], "cut at {cut}");
            let torn = if ends.contains(&cut) || cut == 0 {
                0
            } else {
                1
            };
            assert_eq!(found.torn_bytes.min(1), torn, "cut at {cut}");
            let place = pack.append([9; 16], b"new").unwrap();
            assert_eq!(pack.read([9; 16], place).unwrap(), b"new");
            drop(pack);
            let (mut pack, found) = Pack::open(&path, true).unwrap();
            assert_eq!((found.torn_bytes, found.damaged), (0, 0), "cut at {cut}");
            assert_eq!(found.records.len(), kept + 1, "cut at {cut}");
            for (&(key, place), content) in
                found.records.iter().zip(["one", "", "three"]).take(kept)
            {
                assert_eq!(pack.read(key, place).unwrap(), content.as_bytes());
            }
        }
    }

    #[test]
    fn any_altered_byte_costs_no_other_record() {
        let (_folder, path, ends) = file();
        let whole = std::fs::read(&path).unwrap();
        for at in 8..whole.len() {
            let mut altered = whole.clone();
            altered[at] ^= 0x10;
            std::fs::write(&path, altered).unwrap();
            let (_, found) = Pack::open(&path, false).unwrap();
            let hit = ends.iter().filter(|end| **end <= at).count() - 1;
            let others = KEYS.into_iter().filter(|key| *key != KEYS[hit]);
            assert_eq!(keys(&found), others.collect::<Vec<_>>(), "byte {at}");
            assert!(found.damaged > 0 || found.torn_bytes > 0, "byte {at}");
        }
    }

    #[test]
    fn a_damaged_record_does_not_cost_the_next_ones() {
        let (_folder, path, ends) = file();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[ends[0] + HEAD_BYTES] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let (_, found) = Pack::open(&path, true).unwrap();
        assert_eq!(
            (keys(&found), found.damaged, found.torn_bytes),
            (KEYS[1..].to_vec(), 1, 0)
        );
    }

    #[test]
    fn a_pack_in_use_is_read_and_not_cut() {
        let (_folder, path, _) = file();
        let (mut first, _) = Pack::open(&path, true).unwrap();
        let mut other = OpenOptions::new().append(true).open(&path).unwrap();
        other.write_all(&[7; 30]).unwrap();
        let (second, found) = Pack::open(&path, true).unwrap();
        assert!(first.appends() && !second.appends());
        assert_eq!((found.records.len(), found.torn_bytes), (3, 30));
        assert_eq!(std::fs::metadata(&path).unwrap().len(), first.bytes() + 30);
        let (key, place) = found.records[2];
        assert_eq!(first.read(key, place).unwrap(), b"three");
        assert!(first.read(KEYS[0], place).is_err(), "another key's record");
    }

    #[test]
    fn other_files_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.pack");
        for content in ["not ours at all", "SISKENC\n", "x"] {
            std::fs::write(&path, content).unwrap();
            let error = Pack::open(&path, true).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{content}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
        assert!(Pack::create(&path).is_err());
    }
}
