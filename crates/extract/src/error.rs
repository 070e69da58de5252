//! What can go wrong while reading a site.

use std::path::PathBuf;

/// Why a site or a page could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The folder is not there.
    #[error("no such folder: {}; give the folder that your site's generator writes (often public, dist, book or site)", folder.display())]
    NoSuchFolder {
        /// The folder as it was named.
        folder: PathBuf,
    },
    /// The path names a file.
    #[error("not a folder: {}; give the folder that holds the site, not one of its files", path.display())]
    NotAFolder {
        /// The path as it was named.
        path: PathBuf,
    },
    /// The folder holds no `.html` or `.htm` file.
    #[error("no HTML in {} ({files_seen} other files seen); build the site first, then give the folder with the built pages", folder.display())]
    NoHtml {
        /// The folder as it was named.
        folder: PathBuf,
        /// Files of any kind below it.
        files_seen: usize,
    },
    /// There are HTML files, but none of them is a page to index.
    #[error("nothing to index in {}: all {files} HTML files were left out (the first, {}: {reason}); check robots meta tags and where the main content stands", folder.display(), first.display())]
    NothingToIndex {
        /// The folder as it was named.
        folder: PathBuf,
        /// HTML files found.
        files: usize,
        /// One of them.
        first: PathBuf,
        /// Why that one was left out.
        reason: String,
    },
    /// The operating system refused to list a folder.
    #[error("cannot read {}: {source}; check its permissions", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// An element has more attributes than any real one.
    #[error(
        "{url}: an element has {attributes} attributes, more than {limit}; a quotation mark is probably missing"
    )]
    TooManyAttributes {
        /// The page.
        url: String,
        /// Attributes of that element.
        attributes: usize,
        /// The most that is read.
        limit: usize,
    },
    /// Elements are nested deeper than any real page.
    #[error(
        "{url}: elements are nested {depth} deep, more than {limit}; an element is probably never closed"
    )]
    TooDeep {
        /// The page.
        url: String,
        /// Open elements at the deepest place.
        depth: usize,
        /// The most that is read.
        limit: usize,
    },
}
