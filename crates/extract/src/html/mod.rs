//! One HTML page: its content, title, language and sections.
//!
//! Non-goals: running scripts, and guessing the content of a page by the density of its text.

mod bounds;
mod content;
mod encoding;
mod head;
mod links;
mod walk;

use scraper::Html;
use siskin_core::page::Page;

pub use links::{Link, links};

use crate::{ExtractError, outline::Outline, passages};

/// What became of an HTML file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A page to index.
    Page {
        /// The page, with at least one passage.
        page: Page,
        /// Whether bytes that mean nothing in the page's encoding were replaced by U+FFFD.
        replaced_bad_bytes: bool,
    },
    /// The page asks robots to stay away.
    NoIndex,
    /// The page only sends the reader elsewhere.
    Redirect,
    /// The page has neither text nor a heading.
    Empty,
}

/// The page in `bytes`, or `None` if there is nothing to index: the page says `noindex`, only
/// redirects, or holds no text. `url` is taken over as it is.
///
/// The encoding is that of the byte order mark, else of `<meta charset>`, else UTF-8. Broken
/// HTML is read as browsers read it.
///
/// # Errors
/// [`ExtractError::TooDeep`] and [`ExtractError::TooManyAttributes`] when a page could not be read in
/// reasonable time.
pub fn page(bytes: &[u8], url: &str) -> Result<Option<Page>, ExtractError> {
    match read(bytes, url)? {
        Reading::Page { page, .. } => Ok(Some(page)),
        Reading::NoIndex | Reading::Redirect | Reading::Empty => Ok(None),
    }
}

/// Like [`page`], and says why a page is left out.
///
/// # Errors
/// The same.
pub fn read(bytes: &[u8], url: &str) -> Result<Reading, ExtractError> {
    let (text, replaced_bad_bytes) = encoding::decode(bytes);
    bounds::check(&text, url)?;
    let html = Html::parse_document(&text);
    let head = head::Head::of(&html);
    if head.no_index {
        return Ok(Reading::NoIndex);
    }
    if head.redirects {
        return Ok(Reading::Redirect);
    }
    let page = page_of(&html, head, url);
    if page.passages.is_empty() {
        return Ok(Reading::Empty);
    }
    Ok(Reading::Page {
        page,
        replaced_bad_bytes,
    })
}

/// The blocks of text in a piece of HTML, as one would read them.
pub(crate) fn fragment_blocks(html: &str) -> Vec<String> {
    if bounds::check(html, "").is_err() {
        return Vec::new();
    }
    let html = Html::parse_fragment(html);
    let mut walker = walk::Walker::default();
    walker.walk(html.tree.root());
    let sections = walker.finish().finish("");
    sections
        .into_iter()
        .flat_map(|section| section.headings.into_iter().chain(section.blocks))
        .collect()
}

fn page_of(html: &Html, head: head::Head, url: &str) -> Page {
    let mut walker = walk::Walker::default();
    for root in content::roots(html) {
        walker.walk(*root);
    }
    let title = walker.title().map(str::to_owned).or(head.title);
    let outline: Outline = walker.finish();
    let title = title.or_else(|| outline.first_heading().map(str::to_owned));
    let title = title.unwrap_or_default();
    let sections = outline.finish(&title);
    let passages = passages::cut(&title, &sections);
    Page {
        url: url.to_owned(),
        title,
        language: head.language,
        passages,
    }
}

#[cfg(test)]
mod tests;
