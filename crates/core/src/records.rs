//! A shard of records: what a result shows of its page.
//!
//! ```text
//! varint first page; varint pages; per page: string url, string title, varint values of meta, each
//! a string name and a string value; varint passages, and per passage:
//!   varint  heading trail: number of headings kept from the passage before
//!   varint  number of new headings, then each as a string
//!   u8      0 = no anchor, 1 = string anchor follows, 2 = the anchor of the passage before
//!   string  text
//! ```
//!
//! The payload is deflated so that it can also be read in blocks of a few pages: before each block
//! and after the last stands an empty stored block that ends on a byte, and no block refers to text
//! before it (a full flush, as zlib calls it). The bytes of a block with an end marker after them
//! ([`END_OF_BLOCK`]) are a deflated stream of their own. Where the blocks lie is told by the shards
//! of codes.

use crate::bytes::{Reader, Result, Writer};
use crate::container::{self, Kind};
use crate::page::{Attributes, Page, Passage, Weight};

/// Most headings above a passage: HTML has six levels.
pub const MAX_HEADINGS: usize = 8;
/// Text that may come of a payload: so many bytes for each of its own …
const MAX_EXPANSION: usize = 512;
/// … and so many more. Headings and anchors kept from the passage before cost nothing.
const SPARE_TEXT_BYTES: usize = 1 << 20;

/// How shards are cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSize {
    /// A block ends with the page that reaches so many bytes, before it is deflated.
    pub bytes: usize,
    /// Files of up to so many bytes have no blocks: they are fetched whole.
    pub whole_file_bytes: usize,
}

/// What makes a deflated stream of a block's bytes: an empty last block.
pub const END_OF_BLOCK: [u8; 2] = [3, 0];

/// A run of pages of a shard that can be read without the rest of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first page, …
    pub first_page: u32,
    /// … and how many it has.
    pub pages: u32,
    /// Where it stands in the file.
    pub bytes: std::ops::Range<u32>,
    /// Checksum of these bytes.
    pub checksum: u32,
}

impl Block {
    /// The first 32 bits of the XXH64 (seed 0) of a block's bytes.
    #[must_use]
    pub fn checksum_of(bytes: &[u8]) -> u32 {
        (xxhash_rust::xxh64::xxh64(bytes, 0) >> 32) as u32
    }
}

/// The file of a shard, deflated, and its blocks: none when the whole is small.
#[must_use]
pub fn write<P: std::borrow::Borrow<Page>>(
    first_page: u32,
    pages: &[P],
    size: BlockSize,
) -> (Vec<u8>, Vec<Block>) {
    let mut writer = Writer::default();
    writer.varint(first_page);
    writer.length(pages.len());
    let mut parts = vec![writer.into_bytes()];
    let mut counts = Vec::new();
    let (mut writer, mut count) = (Writer::default(), 0);
    for page in pages {
        write_page(&mut writer, page.borrow());
        count += 1;
        if writer.position_bytes() >= size.bytes {
            parts.push(std::mem::take(&mut writer).into_bytes());
            counts.push(std::mem::take(&mut count));
        }
    }
    if count > 0 {
        parts.push(writer.into_bytes());
        counts.push(count);
    }
    let (file, places) = container::wrap_in_blocks(Kind::Records, &parts);
    if file.len() <= size.whole_file_bytes {
        let whole = container::wrap_deflated(Kind::Records, &parts.concat());
        return (whole, Vec::new());
    }
    let mut first_page = first_page;
    let block = |(pages, bytes): (u32, std::ops::Range<u32>)| {
        let block = Block {
            first_page,
            pages,
            checksum: Block::checksum_of(&file[bytes.start as usize..bytes.end as usize]),
            bytes,
        };
        first_page += pages;
        block
    };
    // The first part is the shard's own head.
    let blocks = counts
        .into_iter()
        .zip(places.into_iter().skip(1))
        .map(block)
        .collect();
    (file, blocks)
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
    pub fn read(payload: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(payload);
        let first_page = reader.varint()?;
        let count = reader.count(24)?;
        Self::read_pages(reader, payload.len(), first_page, count)
    }

    /// Reads the inflated bytes of a block.
    ///
    /// # Errors
    /// When the bytes are not the pages of that block.
    pub fn read_block(block: &Block, payload: &[u8]) -> Result<Self> {
        let reader = Reader::new(payload);
        Self::read_pages(
            reader,
            payload.len(),
            block.first_page,
            block.pages as usize,
        )
    }

    fn read_pages(
        mut reader: Reader<'_>,
        payload_bytes: usize,
        first_page: u32,
        count: usize,
    ) -> Result<Self> {
        let mut text_bytes_left = text_limit_bytes(payload_bytes);
        let mut pages = Vec::new();
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
    writer.length(page.attributes.meta.len());
    for (name, value) in &page.attributes.meta {
        writer.string(name);
        writer.string(value);
    }
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
    let meta = read_meta(reader)?;
    let count = reader.count(32)?;
    if count == 0 {
        return Err(reader.damage("a page without passages"));
    }
    let mut passages: Vec<Passage> = Vec::with_capacity(count);
    for _ in 0..count {
        let passage = read_passage(reader, passages.last().unwrap_or(&Passage::default()))?;
        *text_bytes_left = text_bytes_left
            .checked_sub(text_bytes(&passage))
            .ok_or_else(|| reader.damage("passages that repeat too much"))?;
        passages.push(passage);
    }
    Ok(Page {
        url,
        title,
        passages,
        attributes: Attributes {
            meta,
            ..Attributes::default()
        },
        language: None,
    })
}

fn read_meta(reader: &mut Reader<'_>) -> Result<Vec<(String, String)>> {
    let mut meta = Vec::new();
    for _ in 0..reader.count(16)? {
        meta.push((reader.string()?.to_owned(), reader.string()?.to_owned()));
    }
    Ok(meta)
}

fn read_passage(reader: &mut Reader<'_>, before: &Passage) -> Result<Passage> {
    let kept = reader.varint()? as usize;
    let mut headings = before
        .headings
        .get(..kept)
        .ok_or_else(|| reader.damage("a heading that is not there"))?
        .to_vec();
    let new_headings = reader.count(8)?;
    if new_headings > MAX_HEADINGS.saturating_sub(headings.len()) {
        return Err(reader.damage("more headings than a page can nest"));
    }
    for _ in 0..new_headings {
        headings.push(reader.string()?.to_owned());
    }
    let anchor = match reader.u8()? {
        0 => None,
        1 => Some(reader.string()?.to_owned()),
        2 => before.anchor.clone(),
        _ => return Err(reader.damage("an unknown anchor code")),
    };
    Ok(Passage {
        anchor,
        headings,
        text: reader.string()?.to_owned(),
        weight: Weight::default(),
    })
}

/// Most bytes of text that a payload of so many bytes may stand for.
fn text_limit_bytes(payload_bytes: usize) -> usize {
    payload_bytes
        .saturating_mul(MAX_EXPANSION)
        .saturating_add(SPARE_TEXT_BYTES)
}

/// Whether a page's headings and anchors are repeated so much that no reader would take its record.
pub(crate) fn repeats_too_much(page: &Page) -> bool {
    let mut writer = Writer::default();
    write_page(&mut writer, page);
    let text: usize = page.passages.iter().map(text_bytes).sum();
    text > writer.into_bytes().len().saturating_mul(MAX_EXPANSION)
}

/// Bytes of a passage's text, headings and anchor.
fn text_bytes(passage: &Passage) -> usize {
    let headings: usize = passage.headings.iter().map(String::len).sum();
    headings + passage.anchor.as_ref().map_or(0, String::len) + passage.text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error;

    fn passage(anchor: Option<&str>, headings: &[&str], text: &str) -> Passage {
        let headings = headings
            .iter()
            .map(|heading| (*heading).to_owned())
            .collect();
        Passage {
            anchor: anchor.map(str::to_owned),
            headings,
            text: text.to_owned(),
            ..Passage::default()
        }
    }

    fn page(url: &str, passages: Vec<Passage>) -> Page {
        Page {
            url: url.to_owned(),
            title: "T".to_owned(),
            passages,
            ..Page::default()
        }
    }

    const SMALL_BLOCKS: BlockSize = BlockSize {
        bytes: 30,
        whole_file_bytes: 0,
    };

    fn file(first_page: u32, pages: &[Page]) -> Vec<u8> {
        write(first_page, pages, SMALL_BLOCKS).0
    }

    fn open(file: &[u8]) -> error::Result<Records> {
        let payload = container::plain_payload("r", Kind::Records, file)?;
        Records::read(&payload).map_err(|damage| damage.of("r"))
    }

    #[test]
    fn records_come_back() {
        let first = vec![
            passage(None, &[], "intro"),
            passage(Some("a"), &["A", "B"], "one"),
            passage(Some("a"), &["A", "C"], "two"),
        ];
        let mut pages = [
            page("/x", first),
            page("/y", vec![passage(Some("a"), &["A"], "three")]),
        ];
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        pages[1].attributes.meta = vec![pair("author", "Ada"), pair("image", "/a.png")];
        let shard = open(&file(7, &pages)).unwrap();
        assert_eq!(shard.page(7), Some((0, &pages[0])));
        assert_eq!(shard.page(8), Some((1, &pages[1])));
        assert!(shard.page(6).is_none() && shard.page(9).is_none());
    }

    #[test]
    fn blocks_can_be_read_without_the_rest() {
        let pages: Vec<Page> = (0..9)
            .map(|i| {
                page(
                    &format!("/{i}"),
                    vec![passage(Some("a"), &["A"], "some text")],
                )
            })
            .collect();
        let (bytes, blocks) = write(4, &pages, SMALL_BLOCKS);
        assert!(blocks.len() > 2);
        let mut read = Vec::new();
        for block in &blocks {
            let part = &bytes[block.bytes.start as usize..block.bytes.end as usize];
            assert_eq!(Block::checksum_of(part), block.checksum);
            let plain = container::inflated("r", &[part, &END_OF_BLOCK].concat()).unwrap();
            let records = Records::read_block(block, &plain).unwrap();
            read.extend(records.pages().map(|(number, page)| (number, page.clone())));
            assert!(Records::read_block(block, &plain[1..]).is_err());
        }
        assert_eq!(read, (4..).zip(pages.clone()).collect::<Vec<_>>());
        let large = BlockSize {
            whole_file_bytes: bytes.len(),
            ..SMALL_BLOCKS
        };
        let (whole, none) = write(4, &pages, large);
        assert!(none.is_empty() && whole.len() < bytes.len());
        assert_eq!(open(&whole).unwrap().pages, open(&bytes).unwrap().pages);
    }

    #[test]
    fn a_page_without_passages_is_refused() {
        assert!(open(&file(0, &[page("/empty", Vec::new())])).is_err());
    }

    #[test]
    fn headings_are_bounded() {
        let read = |count| {
            let passage = passage(None, &vec!["h"; count], "text");
            open(&file(0, &[page("/", vec![passage])]))
        };
        assert!(read(MAX_HEADINGS).is_ok() && read(MAX_HEADINGS + 1).is_err());
    }

    #[test]
    fn text_repeated_for_nothing_is_bounded() {
        let heading = "h".repeat(10_000);
        let read = |count| {
            let passages = vec![passage(None, &[&heading], ""); count];
            open(&file(0, &[page("/", passages)]))
        };
        assert!(read(100).is_ok() && read(1_000).is_err());
    }

    #[test]
    fn a_cut_payload_is_an_error() {
        let pages = [page("/x", vec![passage(Some("a"), &["A"], "text")])];
        let payload = container::plain_payload("r", Kind::Records, &file(0, &pages)).unwrap();
        assert!((0..payload.len()).all(|end| Records::read(&payload[..end]).is_err()));
    }
}
