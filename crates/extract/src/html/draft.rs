//! A page as it was read, before it is cut into passages: what stands on most pages of a site is told by all of them.

use siskin_core::page::Page;

use super::Mark;
use crate::{
    outline::{Section, leave_title_out},
    passages,
};

/// A page that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The page without its passages.
    pub page: Page,
    /// What is to be cut into them.
    pub sections: Vec<Section>,
    /// Whether bytes that mean nothing in the page's encoding were replaced by U+FFFD.
    pub replaced_bad_bytes: bool,
    /// What marks its content, if its author did.
    pub mark: Option<Mark>,
    /// Where its title is from.
    pub title_source: TitleSource,
    /// `<title>` without what was taken for the site's name.
    pub head_title: Option<String>,
    /// What of `<title>` was taken for that, with the separator before it.
    pub title_end: Option<Box<str>>,
    /// How far `<link rel=canonical>`, where there is one, says that the page is published at its own address: the
    /// letters of that, or 0.
    pub canonical_letters: Option<usize>,
}

/// Where a page's title is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TitleSource {
    /// An attribute such as `data-siskin-meta="title"`.
    Said,
    /// Its first `h1`.
    Heading,
    /// `<title>`.
    Head,
    /// Its first heading of any level, or its address.
    #[default]
    Other,
}

impl Draft {
    /// The page with its passages; `None` where it has neither text nor a heading.
    #[must_use]
    pub fn finish(self) -> Option<Page> {
        if self.sections.is_empty() {
            return None;
        }
        let mut page = self.page;
        page.passages = passages::cut(&page.title, &self.sections);
        (!page.passages.is_empty()).then_some(page)
    }

    /// Gives it the title of its head, where it has one.
    pub(crate) fn take_head_title(&mut self) {
        if let Some(title) = &self.head_title {
            self.page.title.clone_from(title);
            self.title_source = TitleSource::Head;
            // The banner's own section, which has no text.
            let is_bare =
                |section: &Section| section.headings.is_empty() && section.blocks.is_empty();
            self.sections.retain(|section| !is_bare(section));
            leave_title_out(&mut self.sections, title);
        }
    }
}

/// Letters of the address `url` with which the address `canonical` ends; 0 where it is another one. The site may be
/// published below a folder.
pub(super) fn canonical_letters(url: &str, canonical: &str) -> usize {
    let page = super::links::site().and_then(|site| site.join(url).ok());
    let published = page.and_then(|page| page.join(canonical).ok());
    let own = bare(url);
    match published {
        Some(published) if bare(published.path()).ends_with(own) => own.len() + 1,
        _ => 0,
    }
}

/// An address without what hosts leave out of it.
fn bare(path: &str) -> &str {
    let path = path.strip_suffix(".html").unwrap_or(path);
    let path = path.strip_suffix("/index").unwrap_or(path);
    path.trim_end_matches('/')
}

/// What a page without any title is called: its file or folder.
pub(super) fn name_of(url: &str) -> String {
    let name = url.trim_end_matches('/').rsplit('/').next();
    let name = name.unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.replace(['-', '_'], " ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_may_be_published_below_a_folder_and_without_endings() {
        for canonical in ["/guide.html", "guide", "https://x.example/docs/guide/"] {
            assert_eq!(
                canonical_letters("/guide.html", canonical),
                7,
                "{canonical}"
            );
        }
        assert_eq!(canonical_letters("/old-guide.html", "/other/guide.html"), 0);
        assert_eq!(canonical_letters("/latest/guide", "/latest/guide"), 14);
        assert_eq!(
            canonical_letters("/index.html", "/docs/"),
            1,
            "nobody can tell"
        );
    }

    #[test]
    fn a_page_without_a_title_is_called_what_its_file_is() {
        assert_eq!(name_of("/api/class_pond.html"), "class pond");
        assert_eq!(name_of("/the-pond/"), "the pond");
    }
}
