//! A UHD bucket: ultra-sparse binary codes of windows, stored as one posting list a dimension.
//!
//! The code of a window is the set of its tokens' winners (UHD-BERT, eq. 3 and 4), cut to the
//! dimensions with the largest summed activation and binarized. Relevance is the weighted overlap
//! `Σ_{d ∈ Q∩D} q_d · rarity_d / √|D|` (eq. 7 on binary codes, with dimension weights).
//!
//! Dimensions that win together stand together; the map tells each one's place and posting lists
//! are cut into shards by place.
//!
//! ```text
//! map      varint pages; per page: varint windows
//!          per window: u8 size of its code
//!          varint places; per place: varint dimension
//! postings varint first place; varint places; per place: varint bytes of its list
//!          per place: posting list of windows (see `postings`)
//! ```

use crate::bytes::{Reader, Result, Writer};
use crate::codes::best_and_mean;
use crate::container::{self, Kind};
use crate::encoded::PassageCodes;
use crate::{postings, top};
use std::collections::{BTreeMap, HashMap};

/// Largest code of a window: its size is stored in a byte.
const MAX_CODE: usize = 255;

/// How codes are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UhdOptions {
    /// Dimensions kept per window of a page of more than three passages (24 to 96).
    pub long_page_code: usize,
    /// Dimensions kept per window of a page of two or three passages.
    pub short_page_code: usize,
    /// Dimensions kept for a page of one passage.
    pub single_passage_code: usize,
}

impl Default for UhdOptions {
    fn default() -> Self {
        Self {
            long_page_code: 32,
            short_page_code: 64,
            single_passage_code: 96,
        }
    }
}

impl UhdOptions {
    /// Dimensions kept for each window of a page with so many passages.
    #[must_use]
    pub fn code_size(&self, passages_of_page: usize) -> usize {
        let size = match passages_of_page {
            0 | 1 => self.single_passage_code,
            2 | 3 => self.short_page_code,
            _ => self.long_page_code,
        };
        size.min(MAX_CODE)
    }
}

/// The code of a window: the `size` dimensions with the largest summed activation, in order.
#[must_use]
pub fn code_of(window: &[PassageCodes], bucket: usize, size: usize) -> Vec<u32> {
    cut(activations(window, bucket), size)
}

/// What each dimension that wins in a window has there: its activations, summed over tokens.
#[must_use]
pub fn activations(window: &[PassageCodes], bucket: usize) -> HashMap<u32, f32> {
    let mut sums = HashMap::new();
    for winners in window
        .iter()
        .filter_map(|passage| passage.winners.get(bucket))
    {
        for (&dimension, &activation) in winners.dimensions.iter().zip(&winners.activations) {
            *sums.entry(dimension).or_insert(0.0) += activation;
        }
    }
    sums
}

/// The `size` dimensions of largest weight, 255 at most, in order.
#[must_use]
pub fn cut(weights: impl IntoIterator<Item = (u32, f32)>, size: usize) -> Vec<u32> {
    let strongest = strongest(weights, size.min(MAX_CODE)).into_iter();
    let mut code: Vec<u32> = strongest.map(|(dimension, _)| dimension).collect();
    code.sort_unstable();
    code
}

/// The `size` dimensions of largest weight, strongest first; ties go to the lower dimension.
#[must_use]
pub fn strongest(weights: impl IntoIterator<Item = (u32, f32)>, size: usize) -> Vec<(u32, f32)> {
    let mut ranked: Vec<(u32, f32)> = weights.into_iter().collect();
    ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.truncate(size);
    ranked
}

/// The codes of all windows of a site, page by page, and the windows of each dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bucket {
    windows_of_page: Vec<u32>,
    code_sizes: Vec<u8>,
    postings: BTreeMap<u32, Vec<u32>>,
}

impl Bucket {
    /// Adds the next page by the codes of its windows.
    pub fn add_page(&mut self, windows: &[Vec<u32>]) {
        self.windows_of_page.push(windows.len() as u32);
        for code in windows {
            let window = self.code_sizes.len() as u32;
            self.code_sizes.push(code.len() as u8);
            for &dimension in code {
                self.postings.entry(dimension).or_default().push(window);
            }
        }
    }

    /// Dimensions that occur, in order.
    #[must_use]
    pub fn dimensions(&self) -> Vec<u32> {
        self.postings.keys().copied().collect()
    }

    /// The map of a bucket whose dimensions stand in `order`.
    #[must_use]
    pub fn map(&self, order: &[u32]) -> Map {
        let mut first_window = vec![0];
        for windows in &self.windows_of_page {
            first_window.push(first_window.last().copied().unwrap_or_default() + windows);
        }
        Map {
            first_window,
            code_sizes: self.code_sizes.clone(),
            dimensions: order.to_vec(),
            places: places_of(order),
        }
    }

    /// The file of the map.
    #[must_use]
    pub fn write_map(&self, order: &[u32]) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.length(self.windows_of_page.len());
        self.windows_of_page
            .iter()
            .for_each(|&count| writer.varint(count));
        writer.raw(&self.code_sizes);
        writer.length(order.len());
        order.iter().for_each(|&dimension| writer.varint(dimension));
        container::wrap_deflated(Kind::Map, &writer.into_bytes())
    }

    /// The posting list of a dimension, as it stands in a shard.
    #[must_use]
    pub fn write_list(&self, dimension: u32) -> Vec<u8> {
        let mut writer = Writer::default();
        let windows = self.windows_with(dimension);
        postings::write(&mut writer, windows, self.code_sizes.len() as u32);
        writer.into_bytes()
    }

    /// Windows that hold a dimension, ascending.
    #[must_use]
    pub fn windows_with(&self, dimension: u32) -> &[u32] {
        self.postings.get(&dimension).map_or(&[], Vec::as_slice)
    }
}

/// The file of a shard of posting lists.
#[must_use]
pub fn write_shard(first_place: u32, lists: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.varint(first_place);
    writer.length(lists.len());
    lists.iter().for_each(|list| writer.length(list.len()));
    lists.iter().for_each(|list| writer.raw(list));
    container::wrap(Kind::Uhd, &writer.into_bytes())
}

/// Where the windows and the dimensions of a bucket are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// First window of each page, and the number of all.
    first_window: Vec<u32>,
    code_sizes: Vec<u8>,
    /// Dimensions by place.
    dimensions: Vec<u32>,
    /// Places by dimension.
    places: Vec<u32>,
}

impl Map {
    /// Reads the payload of a file of [`Bucket::write_map`] for a site of so many pages.
    ///
    /// # Errors
    /// When the bytes are not such a payload.
    pub fn read(payload: &[u8], pages: u32) -> Result<Self> {
        let mut reader = Reader::new(payload);
        let mut map = Self {
            first_window: vec![0],
            ..Self::default()
        };
        let mut windows = 0u32;
        let count = reader.count(8)?;
        if count != pages as usize {
            return Err(reader.damage("another number of pages than the bundle has"));
        }
        for _ in 0..count {
            windows = windows
                .checked_add(reader.varint()?)
                .ok_or_else(|| reader.damage("windows over 32 bits"))?;
            map.first_window.push(windows);
        }
        map.code_sizes = reader.raw(windows as usize)?.to_vec();
        for _ in 0..reader.count(8)? {
            map.dimensions.push(reader.varint()?);
        }
        map.places = places_of(&map.dimensions);
        reader.finish()?;
        Ok(map)
    }

    /// Number of windows.
    #[must_use]
    pub fn windows(&self) -> u32 {
        self.code_sizes.len() as u32
    }

    /// For each window how many dimensions its code has.
    #[must_use]
    pub fn code_sizes(&self) -> &[u8] {
        &self.code_sizes
    }

    /// The dimensions that occur, by place.
    #[must_use]
    pub fn dimensions(&self) -> &[u32] {
        &self.dimensions
    }

    /// The place of a dimension; `None` when no window has it.
    #[must_use]
    pub fn place(&self, dimension: u32) -> Option<u32> {
        let of = |place: &u32| self.dimensions[*place as usize];
        let at = self.places.partition_point(|place| of(place) < dimension);
        self.places
            .get(at)
            .copied()
            .filter(|place| of(place) == dimension)
    }

    /// Scores of all pages from the weighted overlaps of their windows: `[pages]`.
    #[must_use]
    pub fn page_scores(&self, overlaps: &[f32], mean_share: f32) -> Vec<f32> {
        let score = |pair: &[u32]| {
            let windows = pair[0] as usize..pair[1] as usize;
            let overlaps = overlaps.get(windows.clone()).unwrap_or_default();
            let sizes = self.code_sizes.get(windows).unwrap_or_default();
            let scores = overlaps.iter().zip(sizes);
            let scores = scores.map(|(overlap, &size)| overlap / f32::from(size.max(1)).sqrt());
            best_and_mean(scores, mean_share)
        };
        self.first_window.windows(2).map(score).collect()
    }
}

/// Places by dimension.
fn places_of(dimensions: &[u32]) -> Vec<u32> {
    top::by_rank((0..).zip(dimensions.iter().copied()))
}

/// A shard of posting lists, opened for searching.
#[derive(Debug)]
pub struct Lists {
    first_place: u32,
    ends: Vec<u32>,
    lists: Vec<u8>,
    windows: u32,
}

impl Lists {
    /// Reads the payload of a file of [`write_shard`] for a bucket of so many windows.
    ///
    /// # Errors
    /// When the bytes are not such a payload.
    pub fn read(payload: &[u8], windows: u32) -> Result<Self> {
        let mut reader = Reader::new(payload);
        let first_place = reader.varint()?;
        let mut ends = Vec::new();
        let mut end = 0u32;
        for _ in 0..reader.count(8)? {
            end = end
                .checked_add(reader.varint()?)
                .ok_or_else(|| reader.damage("postings over 4 GiB"))?;
            ends.push(end);
        }
        let lists = reader.raw(end as usize)?.to_vec();
        reader.finish()?;
        Ok(Self {
            first_place,
            ends,
            lists,
            windows,
        })
    }

    /// Windows that hold the dimension at a place, ascending; none for a place that is not of this
    /// shard.
    ///
    /// # Errors
    /// When the postings are damaged.
    pub fn windows_at(&self, place: u32) -> Result<Vec<u32>> {
        let Some(at) = place.checked_sub(self.first_place).map(|at| at as usize) else {
            return Ok(Vec::new());
        };
        let Some(&end) = self.ends.get(at) else {
            return Ok(Vec::new());
        };
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let list = self
            .lists
            .get(start as usize..end as usize)
            .unwrap_or_default();
        postings::read(&mut Reader::new(list), self.windows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoded::TokenWinners;

    fn codes(winners: &[(u32, f32)]) -> PassageCodes {
        let (dimensions, activations) = winners.iter().copied().unzip();
        PassageCodes {
            winners: vec![TokenWinners {
                k: 1,
                dimensions,
                activations,
            }],
            ..PassageCodes::default()
        }
    }

    fn bucket() -> Bucket {
        let mut bucket = Bucket::default();
        bucket.add_page(&[vec![3, 9], vec![9]]);
        bucket.add_page(&[vec![70_000]]);
        bucket
    }

    const ORDER: [u32; 3] = [9, 70_000, 3];

    fn open() -> (Map, Lists) {
        let bucket = bucket();
        let plain = |kind, file: &[u8]| container::plain_payload("u", kind, file).unwrap();
        let map = plain(Kind::Map, &bucket.write_map(&ORDER));
        let lists = ORDER.map(|dimension| bucket.write_list(dimension));
        let shard = plain(Kind::Uhd, &write_shard(0, &lists));
        (Map::read(&map, 2).unwrap(), Lists::read(&shard, 3).unwrap())
    }

    #[test]
    fn codes_are_cut_by_summed_activation() {
        let window = [codes(&[(3, 1.0), (9, 2.0), (3, 1.5)]), codes(&[(4, 0.1)])];
        assert_eq!(code_of(&window, 0, 2), [3, 9]);
        assert_eq!(code_of(&window, 0, 1), [3]);
        assert!(code_of(&window, 7, 2).is_empty());
    }

    #[test]
    fn lists_are_found_by_place() {
        let (map, lists) = open();
        let windows = |dimension| lists.windows_at(map.place(dimension).unwrap()).unwrap();
        assert_eq!(windows(9), [0, 1]);
        assert_eq!(windows(3), [0]);
        assert_eq!(windows(70_000), [2]);
        assert_eq!(map.place(4), None);
        assert!(lists.windows_at(3).unwrap().is_empty());
        assert_eq!(map, bucket().map(&ORDER));
    }

    #[test]
    fn relevance_is_the_weighted_overlap() {
        let (map, _) = open();
        let scores = map.page_scores(&[3.0, 1.0, 0.5], 0.0);
        assert_eq!(scores, [3.0 / 2f32.sqrt(), 0.5]);
    }

    #[test]
    fn a_map_of_another_site_is_refused() {
        let file = bucket().write_map(&ORDER);
        let payload = container::plain_payload("m", Kind::Map, &file).unwrap();
        assert!(Map::read(&payload, 3).is_err());
        assert!((0..payload.len()).all(|end| Map::read(&payload[..end], 2).is_err()));
    }
}
