//! The box in the pages that mdBook wrote.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::search_box::SearchBox;
use crate::bundle::DEFAULT_FOLDER;
use crate::receipt::files_below;

/// What an owner's template has who puts the box elsewhere.
const ELEMENT: &str = "<siskin-search";
const HEAD_END: &str = "</head>";
/// Where the box comes: first on the right of the bar.
const BAR: &str = "<div class=\"right-buttons\">";

/// mdBook's themes have other names than `dark` and `light`, so the box takes their colours. One `rem` is
/// 10 pixels in its pages.
const STYLE: &str = "<style>
siskin-search { display: inline-block; vertical-align: middle;
  --siskin-background: var(--bg); --siskin-text: var(--fg);
  --siskin-muted: color-mix(in srgb, var(--fg) 80%, var(--bg));
  --siskin-border: var(--theme-popup-border); --siskin-accent: var(--links);
  --siskin-active: var(--theme-hover); --siskin-layer: 200;
  --siskin-font: 1.6rem/1.45 \"Open Sans\", sans-serif; }
siskin-search::part(button) { padding: .2em .6em; font-size: 1.4rem; }
@media (min-width: 40rem) { siskin-search::part(dialog) { width: min(70rem, 100vw - 2rem); } }
@media print { siskin-search { display: none; } }
</style>
";

/// Adds the box to every page below `folder` that has mdBook's bar and no box yet.
///
/// # Errors
/// When a page cannot be read or written, or none has a place for the box.
pub fn add(folder: &Path, search_box: &SearchBox) -> Result<()> {
    let mut pages_with_box = 0;
    for path in files_below(folder)? {
        let is_page = path
            .extension()
            .is_some_and(|extension| extension == "html");
        if !is_page || path.starts_with(DEFAULT_FOLDER) {
            continue;
        }
        let file = folder.join(&path);
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        // mdBook writes UTF-8: others are pages that the book brought along, without its bar.
        let Ok(page) = String::from_utf8(bytes) else {
            continue;
        };
        if page.contains(ELEMENT) {
            pages_with_box += 1;
        } else if let Some(page) = with_box(&page, &root_of(&path), search_box) {
            fs::write(&file, page).with_context(|| format!("cannot write {}", file.display()))?;
            pages_with_box += 1;
        }
    }
    if pages_with_box == 0 {
        bail!(
            "no page in {} has a place for the search box: the book's theme/index.hbs lacks {BAR}; \
             put <siskin-search></siskin-search> and its script where they belong",
            folder.display()
        );
    }
    Ok(())
}

/// The page with script, colours and box; nothing where it has no bar.
fn with_box(page: &str, root: &str, search_box: &SearchBox) -> Option<String> {
    let (head, body) = page.split_once(HEAD_END)?;
    let (before, after) = body.split_once(BAR)?;
    let attributes = &search_box.attributes;
    Some(format!(
        "{head}<script type=\"module\" src=\"{root}{DEFAULT_FOLDER}/siskin.js\"></script>\n\
         {STYLE}{HEAD_END}{before}{BAR}\n{ELEMENT}{attributes}></siskin-search>{after}"
    ))
}

/// The way from a page to the book's first folder: `../` for each folder above it.
fn root_of(page: &Path) -> String {
    "../".repeat(page.components().count().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::tempdir;

    const PAGE: &str =
        "<head></head><main><div class=\"right-buttons\"><a href=print.html>p</a></div></main>";

    fn search_box() -> SearchBox {
        SearchBox {
            attributes: " modal".to_owned(),
        }
    }

    #[test]
    fn every_page_with_a_bar_gets_one_box_however_often_it_is_added() {
        let book = tempdir().unwrap();
        fs::create_dir_all(book.path().join("a/b")).unwrap();
        for page in ["index.html", "a/b/page.html"] {
            fs::write(book.path().join(page), PAGE).unwrap();
        }
        fs::write(book.path().join("toc.html"), "<head></head>").unwrap();
        add(book.path(), &search_box()).unwrap();
        add(book.path(), &search_box()).unwrap();
        let read = |page: &str| fs::read_to_string(book.path().join(page)).unwrap();
        assert_eq!(read("toc.html"), "<head></head>");
        assert!(read("index.html").contains("src=\"siskin/siskin.js\""));
        let page = read("a/b/page.html");
        assert!(page.contains("src=\"../../siskin/siskin.js\""), "{page}");
        assert_eq!(page.matches("<siskin-search modal>").count(), 1, "{page}");
    }

    #[test]
    fn pages_that_are_not_utf8_stay_as_they_are() {
        let book = tempdir().unwrap();
        let latin1 = b"<head></head><h1>V\xf6gel</h1><div class=\"right-buttons\">";
        fs::write(book.path().join("index.html"), PAGE).unwrap();
        fs::write(book.path().join("old.html"), latin1).unwrap();
        add(book.path(), &search_box()).unwrap();
        assert_eq!(fs::read(book.path().join("old.html")).unwrap(), latin1);
        let index = fs::read_to_string(book.path().join("index.html")).unwrap();
        assert!(index.contains(ELEMENT), "{index}");
    }

    #[test]
    fn a_book_without_a_place_is_named() {
        let book = tempdir().unwrap();
        fs::write(book.path().join("index.html"), "<head></head>").unwrap();
        let error = add(book.path(), &search_box()).unwrap_err().to_string();
        assert!(error.contains("theme/index.hbs lacks"), "{error}");
    }
}
