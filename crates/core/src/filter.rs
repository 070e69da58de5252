//! A set of keys that is told from others by a few bits a key (Bloom 1970): it knows all its own keys,
//! and takes six in a hundred others for its own.

use serde::Serialize;
use xxhash_rust::xxh64::xxh64;

const BITS_PER_KEY: usize = 6;
const PROBES: u32 = 4;
/// Smaller filters would err more often: bits come in lumps.
const LEAST_BITS: usize = 512;
/// Bits of a letter.
const LETTER_BITS: usize = 6;
/// Letters of the digits 0 to 63: base64 (RFC 4648).
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The filter's bits, six a letter, lowest first: a key has four places by double hashing (Kirsch &
/// Mitzenmacher 2006) with the two halves of its XXH64.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Filter {
    letters: String,
}

impl Filter {
    /// The filter of `keys`.
    #[must_use]
    pub fn of(keys: &[&str]) -> Self {
        let bits = (keys.len() * BITS_PER_KEY).max(LEAST_BITS);
        let mut digits = vec![0u8; bits.div_ceil(LETTER_BITS)];
        for key in keys {
            for place in places(key, digits.len()) {
                digits[place / LETTER_BITS] |= 1 << (place % LETTER_BITS);
            }
        }
        let letters = digits
            .iter()
            .map(|&digit| char::from(ALPHABET[usize::from(digit)]));
        Self {
            letters: letters.collect(),
        }
    }

    /// The filter of these letters in a manifest; `None` when there are others.
    #[must_use]
    pub fn read(letters: String) -> Option<Self> {
        let known = letters.bytes().all(|letter| digit(letter).is_some());
        known.then_some(Self { letters })
    }

    /// Whether the set may have the key: always so for its own keys.
    #[must_use]
    pub fn may_have(&self, key: &str) -> bool {
        let letters = self.letters.as_bytes();
        let is_set = |place: usize| {
            let digit = digit(letters[place / LETTER_BITS]).unwrap_or_default();
            digit >> (place % LETTER_BITS) & 1 == 1
        };
        !letters.is_empty() && places(key, letters.len()).all(is_set)
    }
}

fn digit(letter: u8) -> Option<usize> {
    ALPHABET.iter().position(|known| *known == letter)
}

fn places(key: &str, letters: usize) -> impl Iterator<Item = usize> {
    let hash = xxh64(key.as_bytes(), 0);
    let (first, step) = (hash as u32, (hash >> 32) as u32 | 1);
    let bits = letters * LETTER_BITS;
    (0..PROBES).map(move |i| first.wrapping_add(step.wrapping_mul(i)) as usize % bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_keys_are_known_and_few_others() {
        let keys: Vec<String> = (0..4_000).map(|i| format!("key{i}")).collect();
        let (own, others) = keys.split_at(2_000);
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let filter = Filter::of(&own);
        assert!(own.iter().all(|key| filter.may_have(key)));
        let wrong = others.iter().filter(|key| filter.may_have(key)).count();
        assert!(wrong < 200, "{wrong} of 2000");
        assert!(!Filter::default().may_have("key"));
        assert_eq!(Filter::read(filter.letters.clone()), Some(filter));
        assert_eq!(Filter::read("no filter".to_owned()), None);
    }
}
