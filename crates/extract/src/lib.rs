//! HTML and Markdown to pages and passages.
