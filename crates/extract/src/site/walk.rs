//! Which files of a folder are pages, and at which addresses.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    path::{Component, Path, PathBuf},
};

use super::{SkipReason, Skipped};
use crate::ExtractError;

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
    for file in files {
        if kept.insert(file.url.clone()) {
            listing.files.push(file);
        } else {
            skipped.push(Skipped {
                path: file.path,
                reason: SkipReason::Duplicate { of: file.url },
            });
        }
    }
}
