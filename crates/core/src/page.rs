//! What a site consists of: pages, cut into passages.

/// A page as the reader opens it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Address within the site: begins with `/`, no origin, no fragment.
    pub url: String,
    /// The page's own title, without the site's name.
    pub title: String,
    /// Language tag of the page (`en`, `de-AT`), if it states one.
    pub language: Option<String>,
    /// Passages in reading order; never empty for a page worth indexing.
    pub passages: Vec<Passage>,
    /// What its author says of it beside its text.
    pub attributes: Attributes,
}

/// A site's pages are short if they have so many passages on the mean, …
const SHORT_PAGES: f32 = 3.0;
/// … and long from so many on.
const LONG_PAGES: f32 = 9.0;

/// How far the pages of a site are long ones: 0 where each says one thing, as a question with its answer, a post or
/// an abstract, with 3 passages on the mean at most; 1 where they are like those of a documentation, with 9 at least.
#[must_use]
pub fn length(passages: usize, pages: usize) -> f32 {
    let mean = passages as f32 / pages.max(1) as f32;
    ((mean - SHORT_PAGES) / (LONG_PAGES - SHORT_PAGES)).clamp(0.0, 1.0)
}

/// Whether pages are nearer to short ones. Where each says one thing, what answers a question is often a sentence of it:
/// codes are then those of passages' spans of word pieces, and words know which words follow them.
#[must_use]
pub fn are_short(pages: &[Page]) -> bool {
    let passages = pages.iter().map(|page| page.passages.len()).sum();
    length(passages, pages.len()) < 0.5
}

/// What a page's author says of it beside its text: by name, each list in the order of the names and
/// without repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// What a result shows beside title and excerpt: one value a name.
    pub meta: Vec<(String, String)>,
    /// What readers can choose pages by: any number of values a name.
    pub filters: Vec<(String, String)>,
    /// What results can be sorted by: one value a name.
    pub sort: Vec<(String, String)>,
    /// How much the page counts against others.
    pub weight: Weight,
}

/// How much text or a page counts: 0 to 10 in hundredths, 1 unless its author says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(u16);

impl Weight {
    /// The largest weight.
    pub const MOST: f32 = 10.0;

    /// The weight nearest to a number; `None` unless that is 0 to [`Weight::MOST`].
    #[must_use]
    pub fn of(value: f32) -> Option<Self> {
        let is_weight = (0.0..=Self::MOST).contains(&value);
        is_weight.then(|| Self((value * 100.0).round() as u16))
    }

    /// The weight as a number.
    #[must_use]
    pub fn value(self) -> f32 {
        f32::from(self.0) / 100.0
    }

    /// The weight of so many hundredths.
    #[must_use]
    pub fn of_hundredths(hundredths: u16) -> Option<Self> {
        Self::of(f32::from(hundredths) / 100.0)
    }

    /// The weight in hundredths.
    #[must_use]
    pub fn hundredths(self) -> u16 {
        self.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self(100)
    }
}

/// A piece of text short enough for the encoder (about 128 word pieces), below one heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// The id of the nearest heading that has one, without `#`.
    pub anchor: Option<String>,
    /// Headings from the section's outermost to the passage's own; without the page title.
    pub headings: Vec<String>,
    /// Plain text, white space collapsed, code included.
    pub text: String,
    /// How many times its words count.
    pub weight: Weight,
}

impl Passage {
    /// The text that the encoder reads: page title, innermost heading (if it differs from the
    /// title) and body, one a line.
    #[must_use]
    pub fn encoder_text(&self, page_title: &str) -> String {
        let mut text = String::with_capacity(page_title.len() + self.text.len() + 64);
        text.push_str(page_title);
        if let Some(heading) = self
            .headings
            .last()
            .filter(|heading| *heading != page_title)
        {
            text.push('\n');
            text.push_str(heading);
        }
        text.push('\n');
        text.push_str(&self.text);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_passages(count: usize) -> Page {
        Page {
            passages: vec![Passage::default(); count],
            ..Page::default()
        }
    }

    #[test]
    fn pages_are_short_unless_they_are_nearer_to_long_ones() {
        assert_eq!(
            [3, 6, 9].map(|passages| length(passages, 1)),
            [0.0, 0.5, 1.0]
        );
        assert_eq!(
            [1, 5, 6].map(|passages| are_short(&[of_passages(passages), of_passages(passages)])),
            [true, true, false]
        );
    }

    #[test]
    fn a_site_is_long_from_nine_passages_a_page_on() {
        let lengths =
            [(6, 2), (12, 2), (18, 2), (100, 2), (0, 0)].map(|(all, pages)| length(all, pages));
        assert_eq!(lengths, [0.0, 0.5, 1.0, 1.0, 0.0]);
    }
}
