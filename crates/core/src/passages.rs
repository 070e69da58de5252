//! Passage records: what a result shows, and which page a passage belongs to.
//!
//! ```text
//! varint pages; per page: string url, string title, varint passages, and per passage:
//!   varint  heading trail: number of headings kept from the passage before
//!   varint  number of new headings, then each as a string
//!   u8      0 = no anchor, 1 = string anchor follows, 2 = the anchor of the passage before
//!   string  text
//! ```

use crate::bytes::{Reader, Writer};
use crate::container::{self, Kind};
use crate::error::Result;
use crate::ids::{PageId, PassageId};
use crate::page::{Page, Passage};
use std::ops::Range;

/// Most headings above a passage: HTML has six levels.
pub const MAX_HEADINGS: usize = 8;
/// Text that may come of a file: so many bytes for each of its own …
const MAX_EXPANSION: usize = 64;
/// … and so many more. Headings and anchors kept from the passage before cost the file nothing.
const SPARE_TEXT_BYTES: usize = 1 << 20;

/// The pages of a bundle with their passages.
#[derive(Clone, Debug, Default)]
pub struct Passages {
    pages: Vec<Page>,
    first_passage: Vec<u32>,
}

impl Passages {
    /// Records of pages in order.
    #[must_use]
    pub fn new(pages: Vec<Page>) -> Self {
        let mut first_passage = vec![0];
        let mut count = 0;
        for page in &pages {
            count += page.passages.len() as u32;
            first_passage.push(count);
        }
        Self {
            pages,
            first_passage,
        }
    }

    /// The file of these records.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.length(self.pages.len());
        for page in &self.pages {
            write_page(&mut writer, page);
        }
        container::wrap(Kind::Passages, &writer.into_bytes())
    }

    /// Reads a file written by [`Passages::write`].
    ///
    /// # Errors
    /// When the bytes are not such a file.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self> {
        let payload = container::unwrap(file, Kind::Passages, bytes)?;
        let mut reader = Reader::new(file, payload);
        let mut text_bytes_left = text_limit_bytes(payload.len());
        let count = reader.count(24)?;
        let mut pages = Vec::with_capacity(count);
        for _ in 0..count {
            pages.push(read_page(&mut reader, &mut text_bytes_left)?);
        }
        reader.finish()?;
        Ok(Self::new(pages))
    }

    /// Number of pages.
    #[must_use]
    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// Number of passages.
    #[must_use]
    pub fn passage_count(&self) -> usize {
        self.first_passage.last().map_or(0, |&count| count as usize)
    }

    /// A page by id; ids come from this collection.
    #[must_use]
    pub fn page(&self, page: PageId) -> &Page {
        &self.pages[page.index()]
    }

    /// All pages in order of their ids.
    #[must_use]
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The passages of a page.
    #[must_use]
    pub fn passages_of(&self, page: PageId) -> Range<u32> {
        self.first_passage[page.index()]..self.first_passage[page.index() + 1]
    }

    /// The page of a passage.
    #[must_use]
    pub fn page_of(&self, passage: PassageId) -> PageId {
        PageId(
            self.first_passage
                .partition_point(|&first| first <= passage.0) as u32
                - 1,
        )
    }

    /// A passage by id.
    #[must_use]
    pub fn passage(&self, passage: PassageId) -> &Passage {
        let page = self.page_of(passage);
        &self.pages[page.index()].passages[(passage.0 - self.first_passage[page.index()]) as usize]
    }
}

fn write_page(writer: &mut Writer, page: &Page) {
    writer.string(&page.url);
    writer.string(&page.title);
    writer.length(page.passages.len());
    let mut before = &Passage::default();
    for passage in &page.passages {
        let kept = passage
            .headings
            .iter()
            .zip(&before.headings)
            .take_while(|(a, b)| a == b)
            .count();
        writer.length(kept);
        writer.length(passage.headings.len() - kept);
        passage.headings[kept..]
            .iter()
            .for_each(|heading| writer.string(heading));
        write_anchor(writer, passage.anchor.as_deref(), before.anchor.as_deref());
        writer.string(&passage.text);
        before = passage;
    }
}

fn write_anchor(writer: &mut Writer, anchor: Option<&str>, before: Option<&str>) {
    match anchor {
        None => writer.u8(0),
        Some(_) if anchor == before => writer.u8(2),
        Some(anchor) => {
            writer.u8(1);
            writer.string(anchor);
        }
    }
}

fn read_page(reader: &mut Reader<'_>, text_bytes_left: &mut usize) -> Result<Page> {
    let url = reader.string()?.to_owned();
    let title = reader.string()?.to_owned();
    let count = reader.count(32)?;
    if count == 0 {
        return Err(reader.corrupt("a page without passages"));
    }
    let mut passages: Vec<Passage> = Vec::with_capacity(count);
    for _ in 0..count {
        let passage = read_passage(reader, passages.last().unwrap_or(&Passage::default()))?;
        *text_bytes_left = text_bytes_left
            .checked_sub(text_bytes(&passage))
            .ok_or_else(|| reader.corrupt("passages that repeat too much"))?;
        passages.push(passage);
    }
    Ok(Page {
        url,
        title,
        language: None,
        passages,
    })
}

fn read_passage(reader: &mut Reader<'_>, before: &Passage) -> Result<Passage> {
    let kept = reader.varint()? as usize;
    let mut headings = before
        .headings
        .get(..kept)
        .ok_or_else(|| reader.corrupt("a heading that is not there"))?
        .to_vec();
    let new_headings = reader.count(8)?;
    if new_headings > MAX_HEADINGS.saturating_sub(headings.len()) {
        return Err(reader.corrupt("more headings than a page can nest"));
    }
    for _ in 0..new_headings {
        headings.push(reader.string()?.to_owned());
    }
    let anchor = match reader.u8()? {
        0 => None,
        1 => Some(reader.string()?.to_owned()),
        2 => before.anchor.clone(),
        _ => return Err(reader.corrupt("an unknown anchor code")),
    };
    Ok(Passage {
        anchor,
        headings,
        text: reader.string()?.to_owned(),
    })
}

/// Most bytes of text that a payload of so many bytes may stand for.
fn text_limit_bytes(payload_bytes: usize) -> usize {
    payload_bytes
        .saturating_mul(MAX_EXPANSION)
        .saturating_add(SPARE_TEXT_BYTES)
}

/// Bytes of a passage's text, headings and anchor.
fn text_bytes(passage: &Passage) -> usize {
    let headings: usize = passage.headings.iter().map(String::len).sum();
    headings + passage.anchor.as_ref().map_or(0, String::len) + passage.text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(anchor: Option<&str>, headings: &[&str], text: &str) -> Passage {
        let headings = headings
            .iter()
            .map(|heading| (*heading).to_owned())
            .collect();
        Passage {
            anchor: anchor.map(str::to_owned),
            headings,
            text: text.to_owned(),
        }
    }

    fn sample() -> Passages {
        let first = vec![
            passage(None, &[], "intro"),
            passage(Some("a"), &["A", "B"], "one"),
            passage(Some("a"), &["A", "C"], "two"),
        ];
        let page = |url: &str, passages| Page {
            url: url.to_owned(),
            title: "T".to_owned(),
            language: None,
            passages,
        };
        Passages::new(vec![
            page("/x", first),
            page("/y", vec![passage(Some("a"), &["A"], "three")]),
        ])
    }

    #[test]
    fn records_come_back() {
        let records = sample();
        let read = Passages::read("p", &records.write()).unwrap();
        assert_eq!(read.pages(), records.pages());
        assert_eq!(read.page_of(PassageId(2)), PageId(0));
        assert_eq!(read.page_of(PassageId(3)), PageId(1));
        assert_eq!(read.passage(PassageId(3)).text, "three");
        assert_eq!(read.passages_of(PageId(0)), 0..3);
    }

    #[test]
    fn a_page_without_passages_is_refused() {
        let page = Page {
            url: "/empty".to_owned(),
            ..Page::default()
        };
        let file = Passages::new(vec![page]).write();
        assert!(Passages::read("p", &file).is_err());
    }

    fn page_of(passages: Vec<Passage>) -> Passages {
        let page = Page {
            passages,
            ..Page::default()
        };
        Passages::new(vec![page])
    }

    #[test]
    fn headings_are_bounded() {
        let read = |count| {
            let records = page_of(vec![passage(None, &vec!["h"; count], "text")]);
            Passages::read("p", &records.write())
        };
        assert!(read(MAX_HEADINGS).is_ok() && read(MAX_HEADINGS + 1).is_err());
    }

    #[test]
    fn text_repeated_for_nothing_is_bounded() {
        let heading = "h".repeat(10_000);
        let read = |passages| {
            let records = page_of(vec![passage(None, &[&heading], ""); passages]);
            Passages::read("p", &records.write())
        };
        assert!(read(100).is_ok() && read(1_000).is_err());
    }

    #[test]
    fn a_cut_file_is_an_error() {
        let file = sample().write();
        assert!((0..file.len()).all(|end| Passages::read("p", &file[..end]).is_err()));
    }
}
