//! A shard of records: what a result shows of its page.
//!
//! ```text
//! varint first page; varint pages; per page: string url, string title, varint passages, and per
//! passage:
//!   varint  heading trail: number of headings kept from the passage before
//!   varint  number of new headings, then each as a string
//!   u8      0 = no anchor, 1 = string anchor follows, 2 = the anchor of the passage before
//!   string  text
//! ```

use crate::bytes::{Reader, Writer};
use crate::container::{self, Kind};
use crate::error::Result;
use crate::page::{Page, Passage};

/// Most headings above a passage: HTML has six levels.
pub const MAX_HEADINGS: usize = 8;
/// Text that may come of a payload: so many bytes for each of its own …
const MAX_EXPANSION: usize = 64;
/// … and so many more. Headings and anchors kept from the passage before cost nothing.
const SPARE_TEXT_BYTES: usize = 1 << 20;

/// The file of a shard, deflated.
#[must_use]
pub fn write<P: std::borrow::Borrow<Page>>(first_page: u32, pages: &[P]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.varint(first_page);
    writer.length(pages.len());
    pages
        .iter()
        .for_each(|page| write_page(&mut writer, page.borrow()));
    container::wrap_deflated(Kind::Records, &writer.into_bytes())
}

/// Bytes of a page's record before it is deflated.
#[must_use]
pub fn page_bytes(page: &Page) -> usize {
    let mut writer = Writer::default();
    write_page(&mut writer, page);
    writer.position_bytes()
}

/// A shard, opened for searching.
#[derive(Clone, Debug, Default)]
pub struct Records {
    first_page: u32,
    pages: Vec<Page>,
}

impl Records {
    /// Reads the payload of a file of [`write`].
    ///
    /// # Errors
    /// When the bytes are not such a payload.
    pub fn read(file: &str, payload: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(file, payload);
        let first_page = reader.varint()?;
        let mut text_bytes_left = text_limit_bytes(payload.len());
        let count = reader.count(24)?;
        let mut pages = Vec::with_capacity(count);
        for _ in 0..count {
            pages.push(read_page(&mut reader, &mut text_bytes_left)?);
        }
        reader.finish()?;
        Ok(Self { first_page, pages })
    }

    /// A page of the site and its place in the shard; `None` when it is not of this shard.
    #[must_use]
    pub fn page(&self, page: u32) -> Option<(usize, &Page)> {
        let at = page.checked_sub(self.first_page)? as usize;
        Some((at, self.pages.get(at)?))
    }

    /// All pages of the shard with their numbers on the site.
    pub fn pages(&self) -> impl Iterator<Item = (u32, &Page)> {
        (self.first_page..).zip(&self.pages)
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

    fn page(url: &str, passages: Vec<Passage>) -> Page {
        Page {
            url: url.to_owned(),
            title: "T".to_owned(),
            language: None,
            passages,
        }
    }

    fn open(file: &[u8]) -> Result<Records> {
        Records::read("r", &container::plain_payload("r", Kind::Records, file)?)
    }

    #[test]
    fn records_come_back() {
        let first = vec![
            passage(None, &[], "intro"),
            passage(Some("a"), &["A", "B"], "one"),
            passage(Some("a"), &["A", "C"], "two"),
        ];
        let pages = [
            page("/x", first),
            page("/y", vec![passage(Some("a"), &["A"], "three")]),
        ];
        let shard = open(&write(7, &pages)).unwrap();
        assert_eq!(shard.page(7), Some((0, &pages[0])));
        assert_eq!(shard.page(8), Some((1, &pages[1])));
        assert!(shard.page(6).is_none() && shard.page(9).is_none());
    }

    #[test]
    fn a_page_without_passages_is_refused() {
        assert!(open(&write(0, &[page("/empty", Vec::new())])).is_err());
    }

    #[test]
    fn headings_are_bounded() {
        let read = |count| {
            let passage = passage(None, &vec!["h"; count], "text");
            open(&write(0, &[page("/", vec![passage])]))
        };
        assert!(read(MAX_HEADINGS).is_ok() && read(MAX_HEADINGS + 1).is_err());
    }

    #[test]
    fn text_repeated_for_nothing_is_bounded() {
        let heading = "h".repeat(10_000);
        let read = |count| {
            let passages = vec![passage(None, &[&heading], ""); count];
            open(&write(0, &[page("/", passages)]))
        };
        assert!(read(100).is_ok() && read(1_000).is_err());
    }

    #[test]
    fn a_cut_payload_is_an_error() {
        let pages = [page("/x", vec![passage(Some("a"), &["A"], "text")])];
        let payload = container::plain_payload("r", Kind::Records, &write(0, &pages)).unwrap();
        assert!((0..payload.len()).all(|end| Records::read("r", &payload[..end]).is_err()));
    }
}
