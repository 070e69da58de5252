//! SHA-256 in hex: what tells files and data apart.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The digest of bytes, 64 lower-case digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as lower-case digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_published_one() {
        assert!(sha256_hex(b"").starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
    }
}
