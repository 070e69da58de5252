//! One HTML page: its content, title, language and sections.
//!
//! Non-goals: running scripts, and guessing the content of a page by the density of its text.

mod attributes;
mod bounds;
mod content;
mod encoding;
mod head;
mod links;
mod listing;
mod walk;

use scraper::{ElementRef, Html};
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
        /// What marks its content, if its author did.
        mark: Option<Mark>,
        /// What of `<title>` was taken for the site's name, with the separator before it.
        title_end: Option<Box<str>>,
        /// Whether the page's title is the rest of `<title>`.
        is_title_of_head: bool,
    },
    /// The page asks robots to stay away.
    NoIndex,
    /// The page only sends the reader elsewhere.
    Redirect,
    /// The page has neither text nor a heading.
    Empty,
    /// The page only lists other pages of its site.
    ListsPages,
}

/// An attribute by which authors mark the content of their pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `data-siskin-body`
    Siskin,
    /// `data-pagefind-body`
    Pagefind,
}

/// The page in `bytes`, or `None` if there is nothing to index: the page says `noindex`, only
/// redirects, only lists other pages, or holds no text. `url` is taken over as it is.
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
        Reading::NoIndex | Reading::Redirect | Reading::Empty | Reading::ListsPages => Ok(None),
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
    let mut head = head::Head::of(&html);
    if head.no_index {
        return Ok(Reading::NoIndex);
    }
    if head.redirects {
        return Ok(Reading::Redirect);
    }
    let content = content::Content::of(&html);
    if listing::only_lists_pages(&content.roots, &head, url) {
        return Ok(Reading::ListsPages);
    }
    let said = attributes::read(&html, &content.roots);
    let title_end = head.title_end.take();
    let (page, is_title_of_head) = page_of(&content.roots, head, said, url);
    if page.passages.is_empty() {
        return Ok(Reading::Empty);
    }
    Ok(Reading::Page {
        page,
        replaced_bad_bytes,
        mark: content.mark,
        title_end,
        is_title_of_head,
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

/// The page, and whether its title is that of its head.
fn page_of(
    roots: &[ElementRef<'_>],
    head: head::Head,
    said: attributes::Said,
    url: &str,
) -> (Page, bool) {
    let mut walker = walk::Walker::default();
    for root in roots {
        walker.walk(**root);
    }
    let title = said.title.or_else(|| walker.title().map(str::to_owned));
    let is_of_head = title.is_none() && head.title.is_some();
    let title = title.or(head.title);
    let outline: Outline = walker.finish();
    let title = title.or_else(|| outline.first_heading().map(str::to_owned));
    let title = title.unwrap_or_default();
    let sections = outline.finish(&title);
    let passages = passages::cut(&title, &sections);
    let page = Page {
        url: url.to_owned(),
        title,
        language: head.language,
        passages,
        attributes: said.attributes,
    };
    (page, is_of_head)
}

#[cfg(test)]
mod tests;
