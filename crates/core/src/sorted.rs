//! A map in a sorted array.
//!
//! The engine's maps are small, or written once and read often; a hash map of the standard library,
//! one copy of its code for each type of key, is a thirtieth of the browser's module.

/// Values by key, in the order of the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.cmp(key))
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        let at = self.find(key).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: V) {
        match self.find(&key) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// The value of a key, made first if there is none.
    pub fn get_or_insert_with(&mut self, key: K, value: impl FnOnce(&K) -> V) -> &V {
        let at = self.find(&key).unwrap_or_else(|at| {
            let value = value(&key);
            self.0.insert(at, (key, value));
            at
        });
        &self.0[at].1
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All values, by key.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_map(pairs: Vec<(u8, u32)>, asked: Vec<u8>) {
            let mut map = SortedMap::default();
            let mut expected = BTreeMap::new();
            for (key, value) in pairs {
                map.insert(key, value);
                expected.insert(key, value);
            }
            for key in asked {
                prop_assert_eq!(map.get(&key), expected.get(&key));
                let known = *expected.entry(key).or_insert(u32::from(key));
                prop_assert_eq!(*map.get_or_insert_with(key, |key| u32::from(*key)), known);
            }
            prop_assert!(map.values().eq(expected.values()));
        }
    }
}
