//! One HTML page: its content, title, language and sections.
//!
//! Non-goals: running scripts, and guessing the content of a page by the density of its text.

mod attributes;
mod bounds;
mod content;
mod draft;
mod encoding;
mod head;
mod links;
mod listing;
mod sources;
mod walk;

use scraper::{ElementRef, Html};
use siskin_core::page::Page;

pub use draft::{Draft, TitleSource};
pub use links::{Link, links};

use crate::ExtractError;

/// What became of an HTML file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A page to index, unless nothing is in it.
    Page(Box<Draft>),
    /// The page asks robots to stay away.
    NoIndex,
    /// The page only sends the reader elsewhere.
    Redirect,
    /// The page only lists other pages of its site.
    ListsPages,
    /// The page shows a file of source code, or is a generator's index of names.
    SourceListing,
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
        Reading::Page(draft) => Ok(draft.finish()),
        Reading::NoIndex | Reading::Redirect | Reading::ListsPages | Reading::SourceListing => {
            Ok(None)
        }
    }
}

/// Like [`page`], before it is cut, and says why a page is left out.
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
    let content = content::Content::of(&html);
    if listing::only_lists_pages(&content.roots, &head, url) {
        return Ok(Reading::ListsPages);
    }
    if content.mark.is_none() && sources::is_listing(&html, &content.roots, url) {
        return Ok(Reading::SourceListing);
    }
    let mut draft = draft_of(&html, &content.roots, head, url);
    draft.replaced_bad_bytes = replaced_bad_bytes;
    draft.mark = content.mark;
    Ok(Reading::Page(Box::new(draft)))
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

fn draft_of(html: &Html, roots: &[ElementRef<'_>], head: head::Head, url: &str) -> Draft {
    let said = attributes::read(html, roots);
    let mut walker = walk::Walker::default();
    for root in roots {
        walker.walk(**root);
    }
    let heading = walker.title().map(str::to_owned);
    let outline = walker.finish();
    let first_heading = || outline.first_heading().map(str::to_owned);
    let (title_source, title) = if let Some(title) = said.title {
        (TitleSource::Said, title)
    } else if let Some(title) = heading {
        (TitleSource::Heading, title)
    } else if let Some(title) = head.title.clone() {
        (TitleSource::Head, title)
    } else {
        let title = first_heading().unwrap_or_else(|| draft::name_of(url));
        (TitleSource::Other, title)
    };
    let sections = outline.finish(&title);
    Draft {
        page: Page {
            url: url.to_owned(),
            title,
            language: head.language,
            passages: Vec::new(),
            attributes: said.attributes,
        },
        sections,
        replaced_bad_bytes: false,
        mark: None,
        title_source,
        head_title: head.title,
        title_end: head.title_end,
        canonical_letters: head
            .canonical
            .map(|canonical| draft::canonical_letters(url, &canonical)),
    }
}

#[cfg(test)]
mod tests;
