//! `siskin mdbook`: a backend of mdBook. It indexes what mdBook's HTML renderer wrote, and puts the box
//! into the bar above its pages.
//!
//! mdBook runs its renderers in alphabetical order, each with the book as JSON on its standard input, and
//! gives each a folder of its own once there are several: `book/html`, `book/siskin`. The index is put
//! into the first; the second stays empty.

mod pages;
mod search_box;

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{Outcome, index};
use crate::arguments::IndexArguments;
use crate::bundle::DEFAULT_FOLDER;
use crate::config::CONFIG_FILE;
use crate::receipt::RECEIPT_FILE;
use search_box::SearchBox;

/// The lines without which mdBook does not run both renderers.
const TABLES: &str = "[output.html] and [output.siskin] with command = \"siskin mdbook\"";

/// Runs the command. What is wrong with single pages is warned of; mdBook takes any exit code but 0 for
/// a failure.
pub fn run() -> Result<Outcome> {
    let book = Book::read()?;
    let pages = book.pages()?;
    let search_box = SearchBox::new(&book.config.output)?;
    index::run(&IndexArguments {
        output: Some(index_folder(&pages)?),
        config: Some(book.root.join(CONFIG_FILE)).filter(|file| file.is_file()),
        site: Some(pages.clone()),
        ..IndexArguments::default()
    })?;
    pages::add(&pages, &search_box)?;
    Ok(Outcome::Done)
}

/// Where the index belongs, below the book's pages.
///
/// # Errors
/// When the book itself has something there: mdBook emptied the folder of its pages before it wrote them.
fn index_folder(pages: &Path) -> Result<PathBuf> {
    let folder = pages.join(DEFAULT_FOLDER);
    let is_siskins = folder.join(RECEIPT_FILE).is_file();
    let first = folder.read_dir().ok().and_then(|mut files| files.next());
    match first {
        Some(Ok(file)) if !is_siskins => bail!(
            "the book has a folder {DEFAULT_FOLDER} of its own, with {}, where the search index belongs: \
             give that folder of its sources another name",
            file.file_name().display()
        ),
        _ => Ok(folder),
    }
}

/// What is needed of mdBook's `RenderContext`.
#[derive(Deserialize)]
struct Book {
    /// The folder of `book.toml`.
    root: PathBuf,
    /// The folder that this renderer may write to.
    destination: PathBuf,
    config: BookConfig,
}

#[derive(Deserialize)]
struct BookConfig {
    #[serde(default)]
    output: Outputs,
}

/// The tables below `[output]` that count here.
#[derive(Default, Deserialize)]
struct Outputs {
    html: Option<HtmlTable>,
    siskin: Option<serde_json::Value>,
}

/// Of `[output.html]`: whether mdBook's own search is there too.
#[derive(Default, Deserialize)]
struct HtmlTable {
    #[serde(default)]
    search: SearchTable,
}

#[derive(Default, Deserialize)]
struct SearchTable {
    enable: Option<bool>,
}

impl Outputs {
    /// Whether mdBook's own search is in the pages; it is unless it was switched off.
    fn has_own_search(&self) -> bool {
        let table = self.html.as_ref();
        table.is_none_or(|html| html.search.enable != Some(false))
    }
}

impl Book {
    /// # Errors
    /// When standard input holds something else than mdBook writes to it.
    fn read() -> Result<Self> {
        let mut input = std::io::stdin().lock();
        if input.is_terminal() {
            bail!("siskin mdbook is run by mdBook: write {TABLES} into book.toml");
        }
        let mut text = String::new();
        input
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        serde_json::from_str(&text).with_context(|| {
            format!(
                "standard input is not what mdBook writes to a renderer; write {TABLES} into book.toml"
            )
        })
    }

    /// The folder that the HTML renderer wrote.
    ///
    /// # Errors
    /// When it did not run.
    fn pages(&self) -> Result<PathBuf> {
        if self.config.output.html.is_none() {
            bail!(
                "mdBook wrote no HTML to index: it does so beside other renderers only where \
                 book.toml has the line [output.html]; add it"
            );
        }
        let pages = self.destination.with_file_name("html");
        if !pages.join("index.html").is_file() {
            bail!(
                "no index.html in {}: mdBook runs its renderers in alphabetical order, so name \
                 this one's table [output.siskin]",
                pages.display()
            );
        }
        Ok(pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(text: &str) -> Outputs {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn mdbooks_own_search_is_there_unless_it_was_switched_off() {
        assert!(outputs(r#"{"html": {}}"#).has_own_search());
        assert!(outputs(r#"{"html": {"search": {"limit-results": 5}}}"#).has_own_search());
        assert!(!outputs(r#"{"html": {"search": {"enable": false}}}"#).has_own_search());
    }
}
