//! A folder with a built site: which files are pages, and where they are found.

mod shared;
mod walk;

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;
use siskin_core::{
    page::{Page, Passage},
    text::primary_language,
};

pub use self::walk::{Listing, SourceFile, percent_encoded, walk};
use crate::{
    ExtractError,
    html::{self, Draft, Mark, Reading},
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
    /// It shows source code that API documentation was made from, or is a generator's index of names.
    SourceListing,
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
            Self::SourceListing => f.write_str("source code, or an index of names"),
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
/// Of pages that equal each other in everything but their addresses one is kept: the one that says it is published
/// there (`rel=canonical`), else one in a folder that its language names, else the one that lies least deep. If some page marks
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
    Page(Box<Draft>),
    Skip(SkipReason),
}

impl Outcome {
    fn draft(&self) -> Option<&Draft> {
        match self {
            Self::Page(draft) => Some(draft),
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
        Ok(Reading::Page(draft)) => Outcome::Page(draft),
        Ok(Reading::NoIndex) => Outcome::Skip(SkipReason::NoIndex),
        Ok(Reading::Redirect) => Outcome::Skip(SkipReason::Redirect),
        Ok(Reading::ListsPages) => Outcome::Skip(SkipReason::ListsPages),
        Ok(Reading::SourceListing) => Outcome::Skip(SkipReason::SourceListing),
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

fn report(listing: Listing, mut outcomes: Vec<Outcome>) -> SiteReport {
    let is_marked = |outcome: &Outcome| {
        let draft = outcome.draft();
        draft.is_some_and(|draft| draft.mark == Some(Mark::Pagefind))
    };
    let marked_only = outcomes.iter().any(is_marked);
    for outcome in &mut outcomes {
        if marked_only && outcome.draft().is_some_and(|draft| draft.mark.is_none()) {
            *outcome = Outcome::Skip(SkipReason::Unmarked);
        }
    }
    let drafts = outcomes.iter_mut().filter_map(|outcome| match outcome {
        Outcome::Page(draft) => Some(&mut **draft),
        Outcome::Skip(_) => None,
    });
    shared::mend(&mut drafts.collect::<Vec<_>>());
    let mut report = SiteReport {
        skipped: listing.skipped,
        ..SiteReport::default()
    };
    let candidate = |(file, outcome): (SourceFile, Outcome)| match outcome {
        Outcome::Skip(reason) => Err(Skipped {
            path: file.path,
            reason,
        }),
        Outcome::Page(draft) => Candidate::of(file.path, *draft),
    };
    let outcomes = listing.files.into_par_iter().zip(outcomes);
    let candidates: Vec<_> = outcomes.map(candidate).collect();
    let mut pages = Vec::new();
    for candidate in candidates {
        match candidate {
            Ok(page) => pages.push(page),
            Err(skipped) => report.skipped.push(skipped),
        }
    }
    for candidate in without_twins(pages, &mut report.skipped) {
        let bad_bytes = candidate.replaced_bad_bytes.then_some(candidate.path);
        report.bad_bytes.extend(bad_bytes);
        report.pages.push(candidate.page);
    }
    report.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    report
}

/// A page, and what decides whether it is kept beside one that equals it.
struct Candidate {
    path: PathBuf,
    page: Page,
    replaced_bad_bytes: bool,
    /// Smaller is better: whether the site says that it is published elsewhere; letters of its address that it names as
    /// where it is; whether its first folder is not its language; how deep it lies.
    standing: (bool, Reverse<usize>, bool, usize),
}

impl Candidate {
    fn of(path: PathBuf, draft: Draft) -> Result<Self, Skipped> {
        let replaced_bad_bytes = draft.replaced_bad_bytes;
        let canonical_letters = draft.canonical_letters;
        let Some(page) = draft.finish() else {
            let reason = SkipReason::Empty;
            return Err(Skipped { path, reason });
        };
        let first = page.url.split('/').nth(1).unwrap_or_default();
        let is_named = |language: &str| {
            let names = [language, primary_language(language)];
            names.iter().any(|name| first.eq_ignore_ascii_case(name))
        };
        let is_in_its_folder = page.language.as_deref().is_some_and(is_named);
        let standing = (
            canonical_letters == Some(0),
            Reverse(canonical_letters.unwrap_or_default()),
            !is_in_its_folder,
            page.url.trim_end_matches('/').matches('/').count(),
        );
        Ok(Self {
            path,
            page,
            replaced_bad_bytes,
            standing,
        })
    }

    /// Where authors tell pages apart, readers choose by that: versions, languages.
    fn is_twin_of(&self, other: &Self) -> bool {
        let (own, other) = (&self.page, &other.page);
        // Generators may number ids.
        let is_same = |(own, other): (&Passage, &Passage)| {
            own.text == other.text && own.headings == other.headings && own.weight == other.weight
        };
        own.passages.len() == other.passages.len()
            && own.passages.iter().zip(&other.passages).all(is_same)
            && own.attributes == other.attributes
            && own.language == other.language
    }
}

/// Of pages that equal each other in everything but their addresses the one of the best standing, the first of these.
fn without_twins(pages: Vec<Candidate>, skipped: &mut Vec<Skipped>) -> Vec<Candidate> {
    let mut order: Vec<usize> = (0..pages.len()).collect();
    order.sort_by_key(|&at| pages[at].standing);
    let mut by_start: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    let mut twin_of: BTreeMap<usize, String> = BTreeMap::new();
    for at in order {
        let candidate = &pages[at];
        let first = candidate.page.passages.first();
        let text = first.map(|passage| passage.text.as_str());
        let start = (candidate.page.title.as_str(), text.unwrap_or_default());
        let alike = by_start.entry(start).or_default();
        match alike
            .iter()
            .find(|&&other| candidate.is_twin_of(&pages[other]))
        {
            Some(&other) => {
                twin_of.insert(at, pages[other].page.url.clone());
            }
            None => alike.push(at),
        }
    }
    let mut kept = Vec::new();
    for (at, candidate) in pages.into_iter().enumerate() {
        match twin_of.remove(&at) {
            None => kept.push(candidate),
            Some(of) => skipped.push(Skipped {
                path: candidate.path,
                reason: SkipReason::Duplicate { of },
            }),
        }
    }
    kept
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
