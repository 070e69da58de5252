//! A UHD bucket: ultra-sparse binary codes of windows, stored as one posting list a dimension.
//!
//! The code of a unit is the set of its tokens' winners (UHD-BERT, eq. 3 and 4), cut to the
//! dimensions with the largest summed activation and binarized. Relevance is the weighted overlap
//! `Σ_{d ∈ Q∩D} q_d · rarity_d / √|D|` (eq. 7 on binary codes, with dimension weights).
//!
//! ```text
//! u8      passages a window
//! varint  units
//! per unit: u8 size of its code
//! varint  dimensions with postings; per dimension: varint gap from the one before,
//!         varint bytes of its list
//! per dimension: posting list (see `postings`)
//! ```

use crate::bytes::{Reader, Writer};
use crate::container::{self, Kind};
use crate::encoded::PassageCodes;
use crate::error::Result;
use crate::lexical::rarity;
use crate::postings;
use std::collections::{BTreeMap, HashMap};

/// Largest code of a unit: its size is stored in a byte.
const MAX_CODE: usize = 255;

/// How codes are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UhdOptions {
    /// Passages a unit. 1 is finest; 3 divides the bytes by three.
    pub window: u32,
    /// Dimensions kept per unit of a page of more than three passages (24 to 96).
    pub long_page_code: usize,
    /// Dimensions kept per unit of a page of two or three passages.
    pub short_page_code: usize,
    /// Dimensions kept for a page of one passage.
    pub single_passage_code: usize,
}

impl Default for UhdOptions {
    fn default() -> Self {
        Self {
            window: 3,
            long_page_code: 32,
            short_page_code: 64,
            single_passage_code: 96,
        }
    }
}

impl UhdOptions {
    /// Dimensions kept for each unit of a page with so many passages.
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

/// Collects the codes of units and writes the file.
#[derive(Debug)]
pub struct UhdBuilder {
    bucket: usize,
    window: u32,
    code_sizes: Vec<u8>,
    postings: BTreeMap<u32, Vec<u32>>,
}

impl UhdBuilder {
    /// An empty bucket; `bucket` is its place among the encoder's buckets.
    #[must_use]
    pub fn new(bucket: usize, options: UhdOptions) -> Self {
        Self {
            bucket,
            window: options.window,
            code_sizes: Vec::new(),
            postings: BTreeMap::new(),
        }
    }

    /// Adds the next unit: the passages of one window, cut to `code_size` dimensions.
    pub fn add(&mut self, window: &[PassageCodes], code_size: usize) {
        let unit = self.code_sizes.len() as u32;
        let code = strongest(
            summed_activations(window, self.bucket),
            code_size.min(MAX_CODE),
        );
        self.code_sizes.push(code.len() as u8);
        for (dimension, _) in code {
            self.postings.entry(dimension).or_default().push(unit);
        }
    }

    /// The file of the bucket.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let units = self.code_sizes.len() as u32;
        let mut writer = Writer::default();
        writer.u8(self.window.clamp(1, 255) as u8);
        writer.varint(units);
        writer.raw(&self.code_sizes);
        writer.length(self.postings.len());
        let mut lists = Writer::default();
        let mut next = 0;
        for (&dimension, list) in &self.postings {
            let start = lists.position_bytes();
            postings::write(&mut lists, list, units);
            writer.varint(dimension - next);
            writer.length(lists.position_bytes() - start);
            next = dimension + 1;
        }
        writer.raw(&lists.into_bytes());
        container::wrap(Kind::Uhd, &writer.into_bytes())
    }
}

/// Winners' activations summed over all tokens of the passages.
fn summed_activations(window: &[PassageCodes], bucket: usize) -> HashMap<u32, f32> {
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

/// The `size` dimensions of largest weight, strongest first; ties go to the lower dimension.
pub(crate) fn strongest(
    weights: impl IntoIterator<Item = (u32, f32)>,
    size: usize,
) -> Vec<(u32, f32)> {
    let mut ranked: Vec<(u32, f32)> = weights.into_iter().collect();
    ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.truncate(size);
    ranked
}

/// A UHD bucket, opened for searching.
#[derive(Debug)]
pub struct Uhd {
    file: String,
    window: u32,
    code_sizes: Vec<u8>,
    dimensions: Vec<u32>,
    list_ends: Vec<u32>,
    lists: Vec<u8>,
}

impl Uhd {
    /// Reads a file written by [`UhdBuilder::write`].
    ///
    /// # Errors
    /// When the bytes are not such a file.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(file, container::unwrap(file, Kind::Uhd, bytes)?);
        let window = reader.window()?;
        let units = reader.count(8)?;
        let code_sizes = reader.raw(units)?.to_vec();
        let (dimensions, list_ends) = read_dimensions(&mut reader)?;
        let lists = reader
            .raw(list_ends.last().copied().unwrap_or_default() as usize)?
            .to_vec();
        reader.finish()?;
        Ok(Self {
            file: file.to_owned(),
            window,
            code_sizes,
            dimensions,
            list_ends,
            lists,
        })
    }

    /// Passages a unit.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Number of units.
    #[must_use]
    pub fn unit_count(&self) -> usize {
        self.code_sizes.len()
    }

    /// Units that hold a dimension, ascending.
    ///
    /// # Errors
    /// When the postings are damaged.
    pub fn units_with(&self, dimension: u32) -> Result<Vec<u32>> {
        let Ok(at) = self.dimensions.binary_search(&dimension) else {
            return Ok(Vec::new());
        };
        let start = at
            .checked_sub(1)
            .map_or(0, |before| self.list_ends[before] as usize);
        let list = &self.lists[start..self.list_ends[at] as usize];
        postings::read(&mut Reader::new(&self.file, list), self.unit_count() as u32)
    }

    /// Weighted overlap of every unit with a query: `[units]`. Of the query's dimensions the
    /// `query_k` of largest weight × rarity count.
    ///
    /// # Errors
    /// When postings are damaged.
    pub fn score(&self, query: &[(u32, f32)], query_k: usize) -> Result<Vec<f32>> {
        let mut lists = HashMap::new();
        let mut weights = Vec::with_capacity(query.len());
        for &(dimension, weight) in query {
            let units = self.units_with(dimension)?;
            weights.push((dimension, weight * rarity(self.unit_count(), units.len())));
            lists.insert(dimension, units);
        }
        let mut scores = vec![0.0; self.unit_count()];
        for (dimension, weight) in strongest(weights, query_k) {
            for &unit in lists.get(&dimension).into_iter().flatten() {
                scores[unit as usize] += weight;
            }
        }
        for (score, &size) in scores.iter_mut().zip(&self.code_sizes) {
            *score /= f32::from(size.max(1)).sqrt();
        }
        Ok(scores)
    }
}

fn read_dimensions(reader: &mut Reader<'_>) -> Result<(Vec<u32>, Vec<u32>)> {
    let count = reader.count(16)?;
    let (mut dimensions, mut list_ends) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let (mut next, mut end) = (0u32, 0u32);
    for _ in 0..count {
        let dimension = next
            .checked_add(reader.varint()?)
            .filter(|dimension| *dimension < u32::MAX);
        let dimension = dimension.ok_or_else(|| reader.corrupt("a dimension over 32 bits"))?;
        end = end
            .checked_add(reader.varint()?)
            .ok_or_else(|| reader.corrupt("postings over 4 GiB"))?;
        dimensions.push(dimension);
        list_ends.push(end);
        next = dimension + 1;
    }
    Ok((dimensions, list_ends))
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

    fn bucket() -> Uhd {
        let mut builder = UhdBuilder::new(0, UhdOptions::default());
        builder.add(
            &[codes(&[(3, 1.0), (9, 2.0), (3, 1.5)]), codes(&[(4, 0.1)])],
            2,
        );
        builder.add(&[codes(&[(9, 1.0)])], 2);
        builder.add(&[codes(&[(70_000, 1.0)])], 2);
        Uhd::read("u", &builder.write()).unwrap()
    }

    #[test]
    fn codes_are_cut_by_summed_activation() {
        let uhd = bucket();
        assert_eq!(uhd.units_with(3).unwrap(), [0]);
        assert_eq!(uhd.units_with(9).unwrap(), [0, 1]);
        assert_eq!(uhd.units_with(70_000).unwrap(), [2]);
        assert!(
            uhd.units_with(4).unwrap().is_empty(),
            "the weakest dimension is cut"
        );
    }

    #[test]
    fn relevance_is_the_weighted_overlap() {
        let scores = bucket().score(&[(3, 1.0), (9, 1.0)], 8).unwrap();
        let expected = (rarity(3, 1) + rarity(3, 2)) / 2f32.sqrt();
        assert!((scores[0] - expected).abs() < 1e-6);
        assert!(scores[0] > scores[1] && scores[2] == 0.0);
    }

    #[test]
    fn query_k_keeps_the_strongest() {
        let scores = bucket().score(&[(3, 1.0), (9, 1.0)], 1).unwrap();
        assert!((scores[0] - rarity(3, 1) / 2f32.sqrt()).abs() < 1e-6 && scores[1] == 0.0);
    }

    #[test]
    fn a_window_of_no_passages_is_refused() {
        let read = |window| Uhd::read("u", &container::wrap(Kind::Uhd, &[window, 0, 0]));
        assert!(read(1).is_ok() && read(0).is_err());
    }

    #[test]
    fn a_cut_file_is_an_error() {
        let mut builder = UhdBuilder::new(0, UhdOptions::default());
        builder.add(&[codes(&[(3, 1.0)])], 2);
        let file = builder.write();
        assert!((0..file.len()).all(|end| Uhd::read("u", &file[..end]).is_err()));
    }
}
