//! A folder with a built site: which files are pages, and where they are found.

mod walk;

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;
use siskin_core::page::Page;

pub use self::walk::{Listing, SourceFile, percent_encoded, walk};
use crate::{
    ExtractError,
    html::{self, Mark, Reading},
};

/// A file or folder that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Path below the site's folder.
    pub path: PathBuf,
    /// Why.
    pub reason: SkipReason,
}

/// Why a file or folder was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// It asks robots to stay away.
    NoIndex,
    /// It only sends the reader elsewhere.
    Redirect,
    /// It has neither text nor a heading.
    Empty,
    /// It is what a server shows for missing pages.
    NotFoundPage,
    /// It repeats the whole book (`print.html`) or its contents (`toc.html`), made by mdBook.
    BookSummary,
    /// It only lists other pages: tags, archives, the contents of a folder.
    ListsPages,
    /// Sphinx's own files, and what it adds to the documents: indexes, the search page, sources.
    SphinxExtra,
    /// Other pages of the site mark their content with `data-pagefind-body`, and this one does not.
    Unmarked,
    /// A folder with an index that `siskin index` or Pagefind wrote.
    SearchIndex,
    /// A symbolic link to pages that are not read: out of the site, into a hidden folder, or nowhere.
    LinkOutside,
    /// A symbolic link to something that is read anyway.
    LinkInside,
    /// It has the content of another page, and what is said of that.
    Duplicate {
        /// The page that was kept.
        of: String,
    },
    /// Another file has its address: `index.htm` beside `index.html`.
    SameAddress {
        /// The address.
        url: String,
    },
    /// It could not be read or parsed.
    Unreadable {
        /// The reason, on one line.
        message: String,
    },
}

impl SkipReason {
    /// Whether the site's owner should hear of it, because a page may be missing.
    #[must_use]
    pub fn is_problem(&self) -> bool {
        matches!(self, Self::Unreadable { .. } | Self::LinkOutside)
    }

    /// The reason without the page that it names, so that equal ones can be counted.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Self::Duplicate { .. } => "the same as another page".to_owned(),
            Self::SameAddress { .. } => "another file has its address".to_owned(),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoIndex => f.write_str("says noindex"),
            Self::Redirect => f.write_str("only redirects"),
            Self::Empty => f.write_str("no text in its main content"),
            Self::NotFoundPage => f.write_str("shown for missing pages"),
            Self::BookSummary => f.write_str("repeats the book"),
            Self::ListsPages => f.write_str("only lists other pages"),
            Self::SphinxExtra => f.write_str("added by Sphinx to the documents"),
            Self::Unmarked => f.write_str("without data-pagefind-body, which other pages have"),
            Self::SearchIndex => f.write_str("a search index"),
            Self::LinkOutside => {
                f.write_str("a link that leads out of the site, into a hidden folder or nowhere")
            }
            Self::LinkInside => f.write_str("a link to a part of the site"),
            Self::Duplicate { of } => write!(f, "the same as {of}"),
            Self::SameAddress { url } => write!(f, "another file has its address, {url}"),
            Self::Unreadable { message } => f.write_str(message),
        }
    }
}

/// The pages of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteReport {
    /// Pages in order of their files' paths; each has at least one passage.
    pub pages: Vec<Page>,
    /// What was left out, in order of paths.
    pub skipped: Vec<Skipped>,
    /// Pages in which bytes that mean nothing in the page's encoding were replaced by U+FFFD.
    pub bad_bytes: Vec<PathBuf>,
}

/// How far the reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files read.
    pub done: usize,
    /// Files to read.
    pub total: usize,
}

/// Reads all pages of the site in `folder`, on all cores; `on_progress` is called after each
/// file, from any thread. The result does not depend on the number of cores.
///
/// A page that equals an earlier one in everything but its address is left out. If some page marks
/// its content with `data-pagefind-body`, pages that mark nothing are left out, as Pagefind does.
///
/// # Errors
/// Those of [`walk`], and [`ExtractError::NothingToIndex`] when no page is left.
pub fn pages(
    folder: &Path,
    on_progress: impl Fn(Progress) + Sync,
) -> Result<SiteReport, ExtractError> {
    let listing = walk(folder)?;
    let total = listing.files.len();
    let done = AtomicUsize::new(0);
    let read = |file: &SourceFile| {
        let outcome = read_file(folder, file);
        on_progress(Progress {
            done: done.fetch_add(1, Ordering::Relaxed) + 1,
            total,
        });
        outcome
    };
    let outcomes: Vec<Outcome> = listing.files.par_iter().map(read).collect();
    let report = report(listing, outcomes);
    nothing_to_index(folder, &report).map_or(Ok(report), Err)
}

enum Outcome {
    Page {
        page: Page,
        replaced_bad_bytes: bool,
        mark: Option<Mark>,
        title_end: Option<Box<str>>,
        is_title_of_head: bool,
    },
    Skip(SkipReason),
}

impl Outcome {
    fn mark(&self) -> Option<Mark> {
        match self {
            Self::Page { mark, .. } => *mark,
            Self::Skip(_) => None,
        }
    }

    /// What of its `<title>` was taken for the site's name.
    fn title_end(&self) -> Option<&str> {
        match self {
            Self::Page { title_end, .. } => title_end.as_deref(),
            Self::Skip(_) => None,
        }
    }
}

fn read_file(folder: &Path, file: &SourceFile) -> Outcome {
    let unreadable = |message: String| Outcome::Skip(SkipReason::Unreadable { message });
    let bytes = match fs::read(folder.join(&file.path)) {
        Ok(bytes) => bytes,
        Err(error) => return unreadable(format!("cannot be read: {error}")),
    };
    if is_book_summary(&file.path, &bytes) {
        return Outcome::Skip(SkipReason::BookSummary);
    }
    match html::read(&bytes, &file.url) {
        Ok(Reading::Page {
            page,
            replaced_bad_bytes,
            mark,
            title_end,
            is_title_of_head,
        }) => Outcome::Page {
            page,
            replaced_bad_bytes,
            mark,
            title_end,
            is_title_of_head,
        },
        Ok(Reading::NoIndex) => Outcome::Skip(SkipReason::NoIndex),
        Ok(Reading::Redirect) => Outcome::Skip(SkipReason::Redirect),
        Ok(Reading::Empty) => Outcome::Skip(SkipReason::Empty),
        Ok(Reading::ListsPages) => Outcome::Skip(SkipReason::ListsPages),
        Err(error) => unreadable(error.to_string()),
    }
}

/// mdBook's `print.html` and `toc.html`; a page of that name by another hand is a page.
fn is_book_summary(path: &Path, bytes: &[u8]) -> bool {
    let start = bytes.get(..400).unwrap_or(bytes).to_ascii_lowercase();
    let is_named = path
        .file_name()
        .is_some_and(|name| name == "print.html" || name == "toc.html");
    is_named && start.windows(6).any(|window| window == b"mdbook")
}

/// Gives pages their whole title whose last part is no other page's: it is not the site's name.
fn restore_titles(outcomes: &mut [Outcome]) {
    let mut pages_of: BTreeMap<String, usize> = BTreeMap::new();
    for end in outcomes.iter().filter_map(Outcome::title_end) {
        *pages_of.entry(end.to_owned()).or_default() += 1;
    }
    // Of one page alone nothing can be said.
    if pages_of.values().sum::<usize>() < 2 {
        return;
    }
    for outcome in outcomes {
        if let Outcome::Page {
            page,
            title_end: Some(end),
            is_title_of_head: true,
            ..
        } = outcome
            && pages_of.get(end.as_ref()) == Some(&1)
        {
            page.title.push_str(end);
        }
    }
}

fn report(listing: Listing, mut outcomes: Vec<Outcome>) -> SiteReport {
    restore_titles(&mut outcomes);
    let is_marked = |outcome: &Outcome| outcome.mark() == Some(Mark::Pagefind);
    let mut collector = Collector {
        marked_only: outcomes.iter().any(is_marked),
        ..Collector::default()
    };
    collector.report.skipped = listing.skipped;
    for (file, outcome) in listing.files.into_iter().zip(outcomes) {
        collector.add(file.path, outcome);
    }
    collector.report.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    collector.report
}

/// Gathers pages and leaves out those that equal an earlier one.
#[derive(Default)]
struct Collector {
    report: SiteReport,
    /// Whether pages that do not mark their content are left out.
    marked_only: bool,
    /// Pages of the report by title and first text.
    by_start: BTreeMap<(String, String), Vec<usize>>,
}

impl Collector {
    fn add(&mut self, path: PathBuf, outcome: Outcome) {
        match outcome {
            Outcome::Skip(reason) => self.report.skipped.push(Skipped { path, reason }),
            Outcome::Page { mark: None, .. } if self.marked_only => {
                let reason = SkipReason::Unmarked;
                self.report.skipped.push(Skipped { path, reason });
            }
            Outcome::Page {
                page,
                replaced_bad_bytes,
                ..
            } => self.add_page(path, page, replaced_bad_bytes),
        }
    }

    fn add_page(&mut self, path: PathBuf, page: Page, replaced_bad_bytes: bool) {
        let first_text = page.passages.first().map(|passage| passage.text.clone());
        let alike = self
            .by_start
            .entry((page.title.clone(), first_text.unwrap_or_default()))
            .or_default();
        let mut alike_pages = alike.iter().filter_map(|i| self.report.pages.get(*i));
        // Where authors tell pages apart, readers choose by that: versions, languages.
        let is_twin = |twin: &&Page| {
            twin.passages == page.passages
                && twin.attributes == page.attributes
                && twin.language == page.language
        };
        if let Some(twin) = alike_pages.find(is_twin) {
            let reason = SkipReason::Duplicate {
                of: twin.url.clone(),
            };
            self.report.skipped.push(Skipped { path, reason });
            return;
        }
        alike.push(self.report.pages.len());
        self.report.pages.push(page);
        self.report
            .bad_bytes
            .extend(replaced_bad_bytes.then_some(path));
    }
}

/// The error for a site without pages.
fn nothing_to_index(folder: &Path, report: &SiteReport) -> Option<ExtractError> {
    let mut html = report
        .skipped
        .iter()
        .filter(|skipped| walk::is_html(&skipped.path));
    let first = html.next().filter(|_| report.pages.is_empty())?;
    Some(ExtractError::NothingToIndex {
        folder: folder.to_owned(),
        files: html.count() + 1,
        first: first.path.clone(),
        reason: first.reason.to_string(),
    })
}

#[cfg(test)]
mod tests;
