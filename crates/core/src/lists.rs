//! Lists of pages with a score each: postings of words, and pages of like meaning.
//!
//! ```text
//! posting list of the pages (see `postings`)
//! if not empty: f16 scale, then 4-bit impacts, two a byte, low half first
//! ```
//!
//! A page's score is `scale · impact / 15`.

use crate::bytes::{Reader, Result, Writer};
use crate::postings;

/// Highest impact.
pub const MAX_IMPACT: u8 = 15;

/// Pages in ascending order with their impacts, 1 to 15, and what an impact of 15 is worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageList {
    /// Score of impact 15.
    pub scale: f32,
    /// `(page, impact)`, ascending by page.
    pub entries: Vec<(u32, u8)>,
}

impl PageList {
    /// The list of `scores`, `(page, score above 0)` in any order, quantized to 15 steps of the
    /// largest.
    #[must_use]
    pub fn of_scores(mut scores: Vec<(u32, f32)>) -> Self {
        scores.retain(|&(_, score)| score > 0.0);
        scores.sort_unstable_by_key(|&(page, _)| page);
        let largest = scores.iter().map(|&(_, score)| score).fold(0.0, f32::max);
        let impact = |score: f32| quantized(score / largest);
        let entries = scores
            .iter()
            .map(|&(page, score)| (page, impact(score)))
            .collect();
        Self {
            scale: largest,
            entries,
        }
    }

    /// `(page, score)`, ascending by page.
    pub fn scores(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        let step = self.scale / f32::from(MAX_IMPACT);
        self.entries
            .iter()
            .map(move |&(page, impact)| (page, step * f32::from(impact)))
    }

    /// Gives page `i` the number `place[i]`.
    pub(crate) fn renumber(&mut self, place: &[u32]) {
        for (page, _) in &mut self.entries {
            *page = place[*page as usize];
        }
        self.entries.sort_unstable();
    }

    /// Appends the list; `pages` are those of the site.
    pub fn write(&self, writer: &mut Writer, pages: u32) {
        let numbers: Vec<u32> = self.entries.iter().map(|&(page, _)| page).collect();
        postings::write(writer, &numbers, pages);
        if self.entries.is_empty() {
            return;
        }
        writer.f16(self.scale);
        for pair in self.entries.chunks(2) {
            writer.u8(pair[0].1 | pair.get(1).map_or(0, |&(_, impact)| impact) << 4);
        }
    }

    /// Reads a list of [`PageList::write`].
    ///
    /// # Errors
    /// When the bytes are not such a list.
    pub fn read(reader: &mut Reader<'_>, pages: u32) -> Result<Self> {
        let numbers = postings::read(reader, pages)?;
        if numbers.is_empty() {
            return Ok(Self::default());
        }
        let scale = reader.f16()?;
        let impacts = reader.raw(numbers.len().div_ceil(2))?;
        let impact = |i: usize| impacts[i / 2] >> (4 * (i % 2)) & 15;
        let entries = numbers.into_iter().enumerate();
        Ok(Self {
            scale,
            entries: entries.map(|(i, page)| (page, impact(i))).collect(),
        })
    }
}

/// A share of 0 to 1 in steps of 15ths, at least 1.
#[must_use]
pub fn quantized(share: f32) -> u8 {
    let highest = f32::from(MAX_IMPACT);
    (share * highest).round().clamp(1.0, highest) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn lists_come_back(scores: BTreeMap<u16, u8>) {
            let scores = scores.into_iter().map(|(page, score)| (u32::from(page), f32::from(score)));
            let list = PageList::of_scores(scores.collect());
            let mut writer = Writer::default();
            list.write(&mut writer, 65_536);
            let bytes = writer.into_bytes();
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(PageList::read(&mut reader, 65_536).unwrap(), list);
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn any_bytes_give_a_list_of_the_site_or_an_error(bytes: Vec<u8>) {
            if let Ok(list) = PageList::read(&mut Reader::new(&bytes), 99) {
                prop_assert!(list.scores().all(|(page, score)| page < 99 && score.is_finite()));
            }
        }
    }

    #[test]
    fn scores_keep_their_proportion() {
        let list = PageList::of_scores(vec![(9, 2.0), (3, 4.0), (5, 0.0), (7, 0.01)]);
        assert_eq!(list.entries, [(3, 15), (7, 1), (9, 8)]);
        let scores: Vec<_> = list.scores().collect();
        assert_eq!(scores[0], (3, 4.0));
    }
}
