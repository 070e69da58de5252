//! A set of keys that is told from others by a few bits a key (Bloom 1970): it knows all its own keys,
//! and takes six in a hundred others for its own.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh64::xxh64;

const BITS_PER_KEY: usize = 6;
const PROBES: u32 = 4;
/// Smaller filters would err more often: bits come in lumps.
const LEAST_WORDS: usize = 16;

/// The filter's bits, 32 a number, lowest first: a key has four places by double hashing (Kirsch &
/// Mitzenmacher 2006) with the two halves of its XXH64.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Filter {
    words: Vec<u32>,
}

impl Filter {
    /// The filter of `keys`.
    #[must_use]
    pub fn of(keys: &[&str]) -> Self {
        let mut filter = Self {
            words: vec![0; (keys.len() * BITS_PER_KEY).div_ceil(32).max(LEAST_WORDS)],
        };
        for key in keys {
            for place in places(key, filter.words.len()) {
                filter.words[place / 32] |= 1 << (place % 32);
            }
        }
        filter
    }

    /// Whether the set may have the key: always so for its own keys.
    #[must_use]
    pub fn may_have(&self, key: &str) -> bool {
        let words = &self.words;
        !words.is_empty()
            && places(key, words.len()).all(|place| words[place / 32] >> (place % 32) & 1 == 1)
    }
}

fn places(key: &str, words: usize) -> impl Iterator<Item = usize> {
    let hash = xxh64(key.as_bytes(), 0);
    let (first, step) = (hash as u32, (hash >> 32) as u32 | 1);
    let bits = words * 32;
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
    }
}
