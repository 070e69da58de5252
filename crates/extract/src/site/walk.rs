//! Which files of a folder are pages, and at which addresses.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    path::{Component, Path, PathBuf},
};

use super::{SkipReason, Skipped};
use crate::ExtractError;

/// Files that tell a folder with a search index: ours and Pagefind's.
const SEARCH_INDEXES: [&str; 2] = ["siskin.json", "pagefind-entry.json"];

/// What Sphinx writes beside the documents, as files or, with its builder `dirhtml`, as folders.
const SPHINX_EXTRAS: [&str; 5] = ["_static", "_sources", "_modules", "genindex", "search"];

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

/// The `.html` and `.htm` files below `folder`, in order of their paths.
///
/// Left out are folders with a search index, hidden folders, `node_modules`, what Sphinx adds to its
/// documents, `404.html` and symbolic links. Of `index.html` and `index.htm`, which have one address, the former is kept.
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
    walk.run()?;
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
    /// Lists everything below the root; a loop, because folders may be nested deeply.
    fn run(&mut self) -> Result<(), ExtractError> {
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let absolute = self.root.join(&folder);
            let io = |source| ExtractError::Io {
                path: absolute.clone(),
                source,
            };
            for entry in fs::read_dir(&absolute).map_err(io)? {
                let entry = entry.map_err(io)?;
                let kind = entry.file_type().map_err(io)?;
                open.extend(self.note(folder.join(entry.file_name()), kind));
            }
        }
        Ok(())
    }

    /// Notes a file; returns a folder that is to be listed.
    fn note(&mut self, path: PathBuf, kind: fs::FileType) -> Option<PathBuf> {
        if kind.is_symlink() {
            self.link(path);
        } else if kind.is_dir() {
            return self.is_site_folder(&path).then_some(path);
        } else if !is_html(&path) {
            self.listing.other_files += 1;
        } else if !kind.is_file() {
            let message = "no plain file".to_owned();
            self.skip(path, SkipReason::Unreadable { message });
        } else if path.file_stem() == Some(OsStr::new("404")) {
            self.skip(path, SkipReason::NotFoundPage);
        } else if self.is_sphinx_extra(&path) {
            self.skip(path, SkipReason::SphinxExtra);
        } else {
            self.listing.files.push(SourceFile {
                url: url(&path),
                path,
            });
        }
        None
    }

    fn is_site_folder(&mut self, path: &Path) -> bool {
        if is_passed_over(path) {
            return false;
        }
        let absolute = self.root.join(path);
        let is_index = |file: &&str| absolute.join(file).is_file();
        if SEARCH_INDEXES.iter().any(is_index) {
            self.skip(path.to_owned(), SkipReason::SearchIndex);
        } else if self.is_sphinx_extra(path) {
            self.skip(path.to_owned(), SkipReason::SphinxExtra);
        } else {
            return true;
        }
        false
    }

    /// Whether a file or folder lies at the root of what Sphinx built and is none of the documents.
    fn is_sphinx_extra(&self, path: &Path) -> bool {
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let is_named = SPHINX_EXTRAS.contains(&name)
            || name.starts_with("genindex-")
            || name.ends_with("-modindex");
        let options = path.with_file_name("_static/documentation_options.js");
        let absolute = self.root.join(path);
        is_named
            && self.root.join(options).is_file()
            && (name.starts_with('_') || !absolute.is_dir() || holds_one_page(&absolute))
    }

    /// Notes a symbolic link, unless no page is behind it.
    fn link(&mut self, path: PathBuf) {
        let target = self.root.join(&path).canonicalize().ok();
        // Of what is not there the name alone tells: `site.css`.
        let has_ending = || path.extension().is_some();
        let is_file = target.as_deref().map_or_else(has_ending, Path::is_file);
        if is_passed_over(&path) {
            return;
        }
        if is_file && !is_html(&path) {
            self.listing.other_files += 1;
            return;
        }
        let below = target
            .as_deref()
            .and_then(|target| target.strip_prefix(&self.root).ok());
        let is_read =
            below.is_some_and(|below| !below.iter().any(|name| is_passed_over(Path::new(name))));
        self.skip(
            path,
            if is_read {
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

/// Whether a file or folder is hidden, or holds packages: it is left out unnamed.
fn is_passed_over(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".") || name == "node_modules"
}

/// Whether a folder is what Sphinx's builder `dirhtml` makes of one page.
fn holds_one_page(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else {
        return false;
    };
    entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "index.html"))
}

pub(super) fn is_html(path: &Path) -> bool {
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
#[must_use]
pub fn percent_encoded(name: &OsStr) -> String {
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
    let mut kept = BTreeSet::new();
    let (files, skipped) = (std::mem::take(&mut listing.files), &mut listing.skipped);
    // From the last on: `index.html` before `index.htm`, as servers have it.
    for file in files.into_iter().rev() {
        if kept.insert(file.url.clone()) {
            listing.files.push(file);
        } else {
            skipped.push(Skipped {
                path: file.path,
                reason: SkipReason::SameAddress { url: file.url },
            });
        }
    }
    listing.files.reverse();
}
