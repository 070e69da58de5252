//! Units: windows of neighbouring passages of one page, the grain of the UHD and dense buckets.

use crate::ids::PageId;
use crate::passages::Passages;
use std::ops::Range;

/// The passages of a page of `passages` passages cut into windows of at most `window`.
pub fn windows(passages: Range<u32>, window: u32) -> impl Iterator<Item = Range<u32>> {
    let (start, end, step) = (passages.start, passages.end, window.max(1));
    (start..end)
        .step_by(step as usize)
        .map(move |first| first..end.min(first + step))
}

/// Which unit each passage belongs to, for one window size.
#[derive(Clone, Debug, Default)]
pub struct Units {
    first_unit: Vec<u32>,
    window: u32,
}

impl Units {
    /// The units of all pages.
    #[must_use]
    pub fn new(records: &Passages, window: u32) -> Self {
        let mut first_unit = vec![0];
        let mut count = 0;
        for page in 0..records.page_count() as u32 {
            count += windows(records.passages_of(PageId(page)), window).count() as u32;
            first_unit.push(count);
        }
        Self {
            first_unit,
            window: window.max(1),
        }
    }

    /// Number of units.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first_unit.last().map_or(0, |&count| count as usize)
    }

    /// Whether there is no unit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of pages.
    #[must_use]
    pub fn page_count(&self) -> usize {
        self.first_unit.len().saturating_sub(1)
    }

    /// The units of a page.
    #[must_use]
    pub fn of_page(&self, page: PageId) -> Range<usize> {
        self.first_unit[page.index()] as usize..self.first_unit[page.index() + 1] as usize
    }

    /// The unit of the `nth` passage of a page.
    #[must_use]
    pub fn of_passage(&self, page: PageId, nth: u32) -> usize {
        (self.first_unit[page.index()] + nth / self.window) as usize
    }
}
