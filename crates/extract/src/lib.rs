//! HTML and Markdown to pages and passages.
//!
//! Owns: which files of a built site are pages, which part of a page is its content, how text
//! falls into sections below headings, and how sections are cut into passages that the encoder
//! can read whole. Does not own: word pieces (passages are cut by an estimate, [`pieces`]) and
//! anything about scoring.
//!
//! ```
//! let html = b"<title>Ducks - Birds</title><main><h2 id=calls>Calls</h2><p>They quack.</main>";
//! let page = siskin_extract::html::page(html, "/ducks.html")?.expect("it has text");
//! assert_eq!(page.title, "Ducks");
//! assert_eq!(page.passages[0].headings, ["Calls"]);
//! assert_eq!(page.passages[0].anchor.as_deref(), Some("calls"));
//! assert_eq!(page.passages[0].text, "They quack.");
//! # Ok::<(), siskin_extract::ExtractError>(())
//! ```

pub mod document;
mod error;
pub mod html;
pub mod markdown;
pub mod outline;
pub mod passages;
pub mod pieces;
pub mod site;
mod text;

pub use error::ExtractError;
