//! Codes, buckets, posting lists, bundle format, scoring and ranking.
//!
//! Everything that native code and the browser must agree on lives here, once.
//! Non-goals: files, network, clocks, randomness, HTML, the neural network.

pub mod attributes;
pub mod bm25;
pub mod build;
pub mod bytes;
pub mod codes;
pub mod container;
pub mod dictionary;
pub mod encoded;
pub mod error;
pub mod explain;
mod feedback;
pub mod fields;
pub mod filter;
pub mod fusion;
pub mod ids;
pub mod impact;
pub mod lexical;
pub mod lists;
pub mod manifest;
mod meaning;
pub mod order;
pub mod page;
mod pairs;
mod parallel;
pub mod postings;
pub mod query;
pub mod quoted;
mod ranked;
pub mod records;
pub mod rows;
pub mod search;
pub mod shards;
pub mod site_rows;
mod sorted;
pub mod text;
pub mod top;
pub mod uhd;
mod unicode;
pub mod wordpiece;
