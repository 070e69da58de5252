//! The envelope of every binary file of a bundle: magic, version, kind, length, checksum.
//!
//! ```text
//! offset  bytes  field
//!      0      4  magic "SISK"
//!      4      2  format version, u16 little-endian
//!      6      1  kind (see `Kind`)
//!      7      1  zero
//!      8      8  payload length in bytes, u64 little-endian
//!     16      8  first 8 bytes of the SHA-256 of the payload
//!     24      …  payload
//! ```

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The format version that this code writes and reads.
pub const FORMAT_VERSION: u16 = 1;
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 24;
const MAGIC: [u8; 4] = *b"SISK";

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Dictionary and postings of words.
    Lexical = 1,
    /// Postings of one UHD bucket.
    Uhd = 2,
    /// One-bit codes of the dense bucket.
    Dense = 3,
    /// Vocabulary, static rows and UHD rows of word pieces.
    Rows = 4,
    /// Pages and passages: addresses, titles, headings, text.
    Passages = 5,
}

/// All kinds, in the order of their numbers.
const KINDS: [Kind; 5] = [
    Kind::Lexical,
    Kind::Uhd,
    Kind::Dense,
    Kind::Rows,
    Kind::Passages,
];

impl Kind {
    /// Its name in manifest and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Uhd => "uhd",
            Self::Dense => "dense",
            Self::Rows => "rows",
            Self::Passages => "passages",
        }
    }
}

/// Wraps a payload.
#[must_use]
pub fn wrap(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEADER_BYTES + payload.len());
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    file.extend_from_slice(&[kind as u8, 0]);
    file.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    file.extend_from_slice(&checksum(payload));
    file.extend_from_slice(payload);
    file
}

/// The payload of a file of the given kind.
///
/// # Errors
/// [`Error::NotOurs`], [`Error::TooNew`], [`Error::TooOld`] or [`Error::Corrupt`], in this order
/// of checking; `file` names the bytes in the message.
pub fn unwrap<'a>(file: &str, kind: Kind, bytes: &'a [u8]) -> Result<&'a [u8]> {
    let (header, payload) = split_header(file, bytes)?;
    check_version(file, u16::from_le_bytes([header[4], header[5]]))?;
    let corrupt = |reason: String| Error::Corrupt {
        file: file.to_owned(),
        reason,
    };
    if header[6] != kind as u8 || header[7] != 0 {
        return Err(corrupt(format!(
            "kind {} where {} was expected",
            header[6], kind as u8
        )));
    }
    if header[8..16] != (payload.len() as u64).to_le_bytes() {
        return Err(corrupt(format!(
            "{} bytes of payload, not as many as its header says",
            payload.len()
        )));
    }
    if header[16..24] != checksum(payload) {
        return Err(corrupt("its checksum differs".to_owned()));
    }
    Ok(payload)
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
            reason: format!("{} bytes, shorter than a header", bytes.len()),
        })
}

fn checksum(payload: &[u8]) -> [u8; 8] {
    let digest = Sha256::digest(payload);
    std::array::from_fn(|i| digest[i])
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
        let file = wrap(Kind::Dense, b"payload");
        assert_eq!(unwrap("d", Kind::Dense, &file).unwrap(), b"payload");
    }

    #[test]
    fn a_header_states_its_kind() {
        for expected in KINDS {
            assert_eq!(kind("x", &wrap(expected, b"")).unwrap(), expected);
        }
        let mut unknown = wrap(Kind::Rows, b"");
        unknown[6] = 99;
        assert!(matches!(kind("x", &unknown), Err(Error::Corrupt { .. })));
        assert!(matches!(kind("x", b"PK"), Err(Error::NotOurs { .. })));
    }

    #[test]
    fn each_kind_of_bad_bytes_has_its_own_error() {
        let good = wrap(Kind::Rows, b"payload");
        let altered = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 0x41;
            unwrap("r.bin", Kind::Rows, &bytes).unwrap_err()
        };
        assert!(matches!(altered(0), Error::NotOurs { .. }));
        assert!(matches!(altered(5), Error::TooNew { .. }));
        assert!(matches!(altered(6), Error::Corrupt { .. }));
        assert!(matches!(altered(8), Error::Corrupt { .. }));
        assert!(matches!(altered(20), Error::Corrupt { .. }));
        assert!(matches!(altered(26), Error::Corrupt { .. }));
        let mut old = good.clone();
        old[4] = 0;
        assert!(matches!(
            unwrap("r.bin", Kind::Rows, &old),
            Err(Error::TooOld { .. })
        ));
        for length in 4..good.len() {
            assert!(matches!(
                unwrap("r.bin", Kind::Rows, &good[..length]),
                Err(Error::Corrupt { .. })
            ));
        }
    }
}
