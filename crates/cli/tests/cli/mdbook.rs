//! What `siskin mdbook` says of books that are not as it needs them. Whole books are built by mdBook
//! itself in `tests/integrations`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::tempdir;

/// The one line of error about what mdBook hands over.
fn failure(input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_siskin"))
        .arg("mdbook")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    text.strip_prefix("error: ").unwrap().trim_end().to_owned()
}

/// As mdBook 0.5 hands it over; `book` and more stand beside what is read.
fn context(root: &Path, outputs: &str) -> String {
    let destination = root.join("book/siskin");
    format!(
        r#"{{"version": "0.5.4", "root": {root:?}, "destination": {destination:?},
            "book": {{"items": []}}, "config": {{"book": {{}}, "output": {outputs}}}}}"#
    )
}

#[test]
fn input_that_is_not_mdbooks_is_refused() {
    for input in ["", "[output.html]", "{}"] {
        let error = failure(input);
        assert!(
            error.starts_with("standard input is not what mdBook writes")
                && error.contains("command = \"siskin mdbook\" into book.toml"),
            "{error}"
        );
    }
}

#[test]
fn a_book_without_html_is_told_what_to_add() {
    let book = tempdir().unwrap();
    let error = failure(&context(book.path(), r#"{"siskin": {}}"#));
    assert!(
        error.contains("add it") && error.contains("[output.html]"),
        "{error}"
    );
    let error = failure(&context(book.path(), r#"{"html": {}, "siskin": {}}"#));
    assert!(error.starts_with("no index.html in"), "{error}");
    assert!(error.contains("alphabetical order"), "{error}");
}

#[test]
fn wrong_options_are_refused_before_anything_is_written() {
    let book = tempdir().unwrap();
    fs::create_dir_all(book.path().join("book/html")).unwrap();
    fs::write(book.path().join("book/html/index.html"), "<p>text").unwrap();
    let outputs = r#"{"html": {}, "siskin": {"shortcut": "s"}}"#;
    let error = failure(&context(book.path(), outputs));
    assert!(
        error.starts_with("in [output.siskin] of book.toml: unknown field `shortcut`"),
        "{error}"
    );
    assert!(!book.path().join("book/html/siskin").exists());
}

#[test]
fn a_chapter_where_the_index_belongs_is_named() {
    let book = tempdir().unwrap();
    let pages = book.path().join("book/html");
    fs::create_dir_all(pages.join("siskin")).unwrap();
    fs::write(pages.join("index.html"), "<p>text").unwrap();
    fs::write(pages.join("siskin/bird.html"), "<p>text").unwrap();
    let error = failure(&context(book.path(), r#"{"html": {}, "siskin": {}}"#));
    assert!(
        error.starts_with("the book has a folder siskin of its own, with bird.html"),
        "{error}"
    );
    assert!(error.contains("another name"), "{error}");
    assert!(pages.join("siskin/bird.html").exists());
}
