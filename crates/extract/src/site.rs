//! A folder with a built site: which files are pages, and where they are found.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fmt, fs,
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;
use siskin_core::page::Page;

use crate::{
    ExtractError,
    html::{self, Reading},
};

/// A file that is taken for a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// Path below the site's folder.
    pub path: PathBuf,
    /// Address within the site, percent-encoded: `/guide/` for `guide/index.html`, otherwise
    /// the path.
    pub url: String,
}

/// The files of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Pages in order of their paths.
    pub files: Vec<SourceFile>,
    /// HTML files, folders and links that are left out, in order of their paths.
    pub skipped: Vec<Skipped>,
    /// Files of other kinds.
    pub other_files: usize,
}

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
    /// A folder with an index that `siskin index` wrote.
    SearchIndex,
    /// A symbolic link that leads out of the site or nowhere.
    LinkOutside,
    /// A symbolic link to something that is read anyway.
    LinkInside,
    /// It has the address or the content of another page.
    Duplicate {
        /// The page that was kept.
        of: String,
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
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoIndex => f.write_str("says noindex"),
            Self::Redirect => f.write_str("only redirects"),
            Self::Empty => f.write_str("no text in its main content"),
            Self::NotFoundPage => f.write_str("shown for missing pages"),
            Self::BookSummary => f.write_str("repeats the book"),
            Self::SearchIndex => f.write_str("a search index"),
            Self::LinkOutside => f.write_str("a link that leads out of the site or nowhere"),
            Self::LinkInside => f.write_str("a link to a part of the site"),
            Self::Duplicate { of } => write!(f, "the same as {of}"),
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

/// The `.html` and `.htm` files below `folder`, in order of their paths.
///
/// Left out are folders with a `siskin.json`, hidden folders, `node_modules`, `404.html` and
/// symbolic links. If `a.html` and `a.htm` or the like have one address, the first is kept.
///
/// # Errors
/// When the folder does not exist, holds no HTML, or some folder in it cannot be listed.
pub fn walk(folder: &Path) -> Result<Listing, ExtractError> {
    check_folder(folder)?;
    let io = |source| ExtractError::Io {
        path: folder.to_owned(),
        source,
    };
    let mut walk = Walk {
        root: folder.canonicalize().map_err(io)?,
        listing: Listing::default(),
    };
    walk.folder(Path::new(""))?;
    let mut listing = walk.listing;
    listing.files.sort();
    drop_equal_urls(&mut listing);
    listing.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    if listing.files.is_empty() && !listing.skipped.iter().any(|skipped| is_html(&skipped.path)) {
        return Err(ExtractError::NoHtml {
            folder: folder.to_owned(),
            files_seen: listing.other_files,
        });
    }
    Ok(listing)
}

/// Reads all pages of the site in `folder`, on all cores; `on_progress` is called after each
/// file, from any thread. The result does not depend on the number of cores.
///
/// A page that equals an earlier one in everything but its address is left out.
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
    first_reason(folder, &report).map_or(Ok(report), Err)
}

fn check_folder(folder: &Path) -> Result<(), ExtractError> {
    if folder.is_dir() {
        Ok(())
    } else if folder.exists() {
        Err(ExtractError::NotAFolder {
            path: folder.to_owned(),
        })
    } else {
        Err(ExtractError::NoSuchFolder {
            folder: folder.to_owned(),
        })
    }
}

struct Walk {
    /// Canonical path of the site's folder.
    root: PathBuf,
    listing: Listing,
}

impl Walk {
    /// Lists what is in `folder`, a path below the root, and below it.
    fn folder(&mut self, folder: &Path) -> Result<(), ExtractError> {
        // A loop, not a recursion: folders may be nested deeply.
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            let absolute = self.root.join(&folder);
            let io = |source| ExtractError::Io {
                path: absolute.clone(),
                source,
            };
            for entry in fs::read_dir(&absolute).map_err(io)? {
                let entry = entry.map_err(io)?;
                let kind = entry.file_type().map_err(io)?;
                open.extend(self.entry(folder.join(entry.file_name()), kind));
            }
        }
        Ok(())
    }

    /// Notes a file; returns a folder that is to be listed.
    fn entry(&mut self, path: PathBuf, kind: fs::FileType) -> Option<PathBuf> {
        if kind.is_symlink() {
            self.link(path);
        } else if kind.is_dir() {
            return self.is_site_folder(&path).then_some(path);
        } else if !is_html(&path) {
            self.listing.other_files += 1;
        } else if path.file_stem() == Some(OsStr::new("404")) {
            self.skip(path, SkipReason::NotFoundPage);
        } else {
            self.listing.files.push(SourceFile {
                url: url(&path),
                path,
            });
        }
        None
    }

    fn is_site_folder(&mut self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(b".") || name == "node_modules" {
            return false;
        }
        let is_index = self.root.join(path).join("siskin.json").is_file();
        if is_index {
            self.skip(path.to_owned(), SkipReason::SearchIndex);
        }
        !is_index
    }

    fn link(&mut self, path: PathBuf) {
        let target = self.root.join(&path).canonicalize();
        let is_inside = target.is_ok_and(|target| target.starts_with(&self.root));
        self.skip(
            path,
            if is_inside {
                SkipReason::LinkInside
            } else {
                SkipReason::LinkOutside
            },
        );
    }

    fn skip(&mut self, path: PathBuf, reason: SkipReason) {
        self.listing.skipped.push(Skipped { path, reason });
    }
}

fn is_html(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
    })
}

fn url(path: &Path) -> String {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(percent_encoded(name)),
        _ => None,
    });
    let url: String = names.flat_map(|name| ["/".to_owned(), name]).collect();
    let folder = url
        .strip_suffix("/index.html")
        .or_else(|| url.strip_suffix("/index.htm"));
    folder.map_or(url.clone(), |folder| format!("{folder}/"))
}

/// A path segment as RFC 3986 (3.3) wants it.
fn percent_encoded(name: &OsStr) -> String {
    let mut encoded = String::new();
    for byte in name.as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn drop_equal_urls(listing: &mut Listing) {
    let mut kept: BTreeMap<String, ()> = BTreeMap::new();
    let (files, skipped) = (std::mem::take(&mut listing.files), &mut listing.skipped);
    for file in files {
        if kept.insert(file.url.clone(), ()).is_none() {
            listing.files.push(file);
        } else {
            skipped.push(Skipped {
                path: file.path,
                reason: SkipReason::Duplicate { of: file.url },
            });
        }
    }
}

enum Outcome {
    Page {
        page: Page,
        replaced_bad_bytes: bool,
    },
    Skip(SkipReason),
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
        }) => Outcome::Page {
            page,
            replaced_bad_bytes,
        },
        Ok(Reading::NoIndex) => Outcome::Skip(SkipReason::NoIndex),
        Ok(Reading::Redirect) => Outcome::Skip(SkipReason::Redirect),
        Ok(Reading::Empty) => Outcome::Skip(SkipReason::Empty),
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

fn report(listing: Listing, outcomes: Vec<Outcome>) -> SiteReport {
    let mut report = SiteReport {
        skipped: listing.skipped,
        ..SiteReport::default()
    };
    let mut kept: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (SourceFile { path, .. }, outcome) in listing.files.into_iter().zip(outcomes) {
        match outcome {
            Outcome::Skip(reason) => report.skipped.push(Skipped { path, reason }),
            Outcome::Page {
                page,
                replaced_bad_bytes,
            } => {
                let first_text = page
                    .passages
                    .first()
                    .map(|passage| passage.text.clone())
                    .unwrap_or_default();
                let alike = kept.entry((page.title.clone(), first_text)).or_default();
                let same = alike
                    .iter()
                    .filter_map(|i| report.pages.get(*i))
                    .find(|kept| kept.passages == page.passages);
                if let Some(same) = same {
                    let reason = SkipReason::Duplicate {
                        of: same.url.clone(),
                    };
                    report.skipped.push(Skipped { path, reason });
                    continue;
                }
                alike.push(report.pages.len());
                report.pages.push(page);
                if replaced_bad_bytes {
                    report.bad_bytes.push(path);
                }
            }
        }
    }
    report.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    report
}

/// The error for a site without pages.
fn first_reason(folder: &Path, report: &SiteReport) -> Option<ExtractError> {
    let mut html = report
        .skipped
        .iter()
        .filter(|skipped| is_html(&skipped.path));
    let first = html.next().filter(|_| report.pages.is_empty())?;
    Some(ExtractError::NothingToIndex {
        folder: folder.to_owned(),
        files: html.count() + 1,
        first: first.path.clone(),
        reason: first.reason.to_string(),
    })
}
