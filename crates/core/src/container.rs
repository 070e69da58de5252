//! The envelope of every binary file of a bundle: magic, version, kind, encoding.
//!
//! ```text
//! offset  bytes  field
//!      0      4  magic "SISK"
//!      4      2  format version, u16 little-endian
//!      6      1  kind (see `Kind`)
//!      7      1  encoding of the payload: 0 = as it is, 1 = raw DEFLATE (RFC 1951)
//!      8      …  payload
//! ```
//!
//! Whether the bytes are those that were written is told by the file's name (see `shards`).

use crate::error::{Error, Result};
use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, compress_to_output, create_comp_flags_from_zip_params,
};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::ops::Range;

/// The format version that this code writes and reads.
pub const FORMAT_VERSION: u16 = 7;
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 8;
const MAGIC: [u8; 4] = *b"SISK";
const PLAIN: u8 = 0;
const DEFLATED: u8 = 1;
/// Most bytes that a byte of a deflated payload may become (the method's own limit is 1,032).
const MAX_INFLATION: usize = 1_100;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Words of the site but the most frequent: postings, rows, pages of like meaning.
    Words = 1,
    /// Words that the site never uses.
    Foreign = 2,
    /// Spellings of the site's words.
    Spelling = 3,
    /// One-bit codes of the dense bucket, by page.
    Codes = 4,
    /// Pages and passages: addresses, titles, headings, text.
    Records = 5,
    /// Which shard holds a dimension's postings, and the sizes of the codes.
    Map = 6,
    /// Postings of one UHD bucket, by dimension.
    Uhd = 7,
    /// The same as `Words` of the most frequent words.
    Common = 8,
    /// What pages can be chosen by and sorted by, and how much they count.
    Attributes = 9,
}

/// All kinds, in the order of their numbers.
pub const KINDS: [Kind; 9] = [
    Kind::Words,
    Kind::Foreign,
    Kind::Spelling,
    Kind::Codes,
    Kind::Records,
    Kind::Map,
    Kind::Uhd,
    Kind::Common,
    Kind::Attributes,
];

impl Kind {
    /// The beginning of the names of its files.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Foreign => "foreign",
            Self::Spelling => "spelling",
            Self::Codes => "codes",
            Self::Records => "records",
            Self::Map => "map",
            Self::Uhd => "uhd",
            Self::Common => "common",
            Self::Attributes => "attributes",
        }
    }
}

/// A file of this payload.
#[must_use]
pub fn wrap(kind: Kind, payload: &[u8]) -> Vec<u8> {
    envelope(kind, PLAIN, payload)
}

/// A file of this payload, deflated if that makes it shorter.
#[must_use]
pub fn wrap_deflated(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let deflated = miniz_oxide::deflate::compress_to_vec(payload, 10);
    if deflated.len() < payload.len() {
        envelope(kind, DEFLATED, &deflated)
    } else {
        wrap(kind, payload)
    }
}

/// A file whose payload is deflated part by part, and where in the file each part stands: the bytes
/// of a part, with an empty last block after them, are a deflated stream of their own.
#[must_use]
pub fn wrap_in_blocks(kind: Kind, parts: &[Vec<u8>]) -> (Vec<u8>, Vec<Range<u32>>) {
    let mut deflated = Vec::new();
    let mut places = Vec::new();
    let mut compressor = CompressorOxide::new(create_comp_flags_from_zip_params(10, -15, 0));
    let mut add = |part: &[u8], flush| {
        let start = HEADER_BYTES + deflated.len();
        // It fails only if its callback refuses bytes.
        let _ = compress_to_output(&mut compressor, part, flush, |bytes| {
            deflated.extend_from_slice(bytes);
            true
        });
        start as u32..(HEADER_BYTES + deflated.len()) as u32
    };
    for part in parts {
        places.push(add(part, TDEFLFlush::Full));
    }
    add(&[], TDEFLFlush::Finish);
    (envelope(kind, DEFLATED, &deflated), places)
}

fn envelope(kind: Kind, encoding: u8, payload: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEADER_BYTES + payload.len());
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    file.extend_from_slice(&[kind as u8, encoding]);
    file.extend_from_slice(payload);
    file
}

/// The payload of a file of the given kind, as it stands in the file.
///
/// # Errors
/// [`Error::NotOurs`], [`Error::TooNew`], [`Error::TooOld`] or [`Error::Corrupt`], in this order
/// of checking; `file` names the bytes in the message.
pub fn unwrap<'a>(file: &str, kind: Kind, bytes: &'a [u8]) -> Result<Payload<'a>> {
    let (header, payload) = split_header(file, bytes)?;
    check_version(file, u16::from_le_bytes([header[4], header[5]]))?;
    let corrupt = |reason: String| Error::Corrupt {
        file: file.to_owned(),
        reason,
    };
    if header[6] != kind as u8 {
        let (found, wanted) = (header[6], kind as u8);
        return Err(corrupt(format!("kind {found} where {wanted} was expected")));
    }
    match header[7] {
        PLAIN => Ok(Payload::Plain(payload)),
        DEFLATED => Ok(Payload::Deflated(payload)),
        encoding => Err(corrupt(format!("an unknown encoding {encoding}"))),
    }
}

/// A payload as it stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// As it is.
    Plain(&'a [u8]),
    /// Raw DEFLATE.
    Deflated(&'a [u8]),
}

/// The plain payload of a whole file, whatever its kind. Browsers inflate by themselves and do
/// not need this.
///
/// # Errors
/// As [`unwrap`], and [`Error::Corrupt`] when the payload cannot be inflated.
pub fn plain_payload(file: &str, kind: Kind, bytes: &[u8]) -> Result<Vec<u8>> {
    match unwrap(file, kind, bytes)? {
        Payload::Plain(payload) => Ok(payload.to_vec()),
        Payload::Deflated(payload) => inflated(file, payload),
    }
}

/// Inflates raw DEFLATE.
///
/// # Errors
/// [`Error::Corrupt`].
pub fn inflated(file: &str, deflated: &[u8]) -> Result<Vec<u8>> {
    let limit = deflated.len().saturating_mul(MAX_INFLATION);
    miniz_oxide::inflate::decompress_to_vec_with_limit(deflated, limit).map_err(|_| {
        Error::Corrupt {
            file: file.to_owned(),
            reason: "a payload that cannot be inflated".to_owned(),
        }
    })
}

/// The kind that a file's header states; the payload is not looked at.
///
/// # Errors
/// As [`unwrap`], and [`Error::Corrupt`] for a kind that does not exist.
pub fn kind(file: &str, bytes: &[u8]) -> Result<Kind> {
    let (header, _) = split_header(file, bytes)?;
    check_version(file, u16::from_le_bytes([header[4], header[5]]))?;
    let found = KINDS.into_iter().find(|kind| *kind as u8 == header[6]);
    found.ok_or_else(|| Error::Corrupt {
        file: file.to_owned(),
        reason: format!("kind {}, which does not exist", header[6]),
    })
}

/// Refuses versions that this code does not read.
///
/// # Errors
/// [`Error::TooNew`] or [`Error::TooOld`].
pub fn check_version(file: &str, found: u16) -> Result<()> {
    let (file, supported) = (file.to_owned(), FORMAT_VERSION);
    match found.cmp(&supported) {
        std::cmp::Ordering::Less => Err(Error::TooOld {
            file,
            found,
            supported,
        }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(Error::TooNew {
            file,
            found,
            supported,
        }),
    }
}

fn split_header<'a>(file: &str, bytes: &'a [u8]) -> Result<(&'a [u8], &'a [u8])> {
    if !bytes.starts_with(&MAGIC) {
        return Err(Error::NotOurs {
            file: file.to_owned(),
        });
    }
    bytes
        .split_at_checked(HEADER_BYTES)
        .ok_or_else(|| Error::Corrupt {
            file: file.to_owned(),
            reason: format!("{} bytes, less than a header", bytes.len()),
        })
}

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_comes_back() {
        let file = wrap(Kind::Codes, b"payload");
        assert_eq!(plain_payload("d", Kind::Codes, &file).unwrap(), b"payload");
        let text = b"again and again and ".repeat(20);
        let file = wrap_deflated(Kind::Records, &text);
        assert!(file.len() < text.len() / 2);
        assert_eq!(plain_payload("r", Kind::Records, &file).unwrap(), text);
        let random = wrap_deflated(Kind::Records, b"x");
        assert_eq!(random[7], PLAIN, "what deflating would lengthen stays");
    }

    #[test]
    fn a_payload_that_cannot_be_inflated_is_refused() {
        let file = envelope(Kind::Records, DEFLATED, &[0xff; 9]);
        let found = plain_payload("r", Kind::Records, &file);
        assert!(matches!(found, Err(Error::Corrupt { .. })));
    }

    #[test]
    fn a_header_states_its_kind() {
        for expected in KINDS {
            assert_eq!(kind("x", &wrap(expected, b"")).unwrap(), expected);
        }
        let mut unknown = wrap(Kind::Words, b"");
        unknown[6] = 99;
        assert!(matches!(kind("x", &unknown), Err(Error::Corrupt { .. })));
        assert!(matches!(kind("x", b"PK"), Err(Error::NotOurs { .. })));
    }

    #[test]
    fn each_kind_of_bad_bytes_has_its_own_error() {
        let good = wrap(Kind::Words, b"payload");
        let altered = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 0x41;
            unwrap("w.bin", Kind::Words, &bytes).unwrap_err()
        };
        assert!(matches!(altered(0), Error::NotOurs { .. }));
        assert!(matches!(altered(5), Error::TooNew { .. }));
        assert!(matches!(altered(6), Error::Corrupt { .. }));
        assert!(matches!(altered(7), Error::Corrupt { .. }));
        let mut old = good.clone();
        old[4] = 1;
        let found = unwrap("w.bin", Kind::Words, &old);
        assert!(matches!(found, Err(Error::TooOld { .. })));
        for length in 4..HEADER_BYTES {
            let found = unwrap("w.bin", Kind::Words, &good[..length]);
            assert!(matches!(found, Err(Error::Corrupt { .. })));
        }
    }
}
