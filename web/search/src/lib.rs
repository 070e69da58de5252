//! The small browser module: words and table.
