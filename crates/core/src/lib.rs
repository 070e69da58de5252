//! Codes, buckets, posting lists, bundle format, scoring and ranking.
//!
//! Everything that native code and the browser must agree on lives here, once.
//! Non-goals: files, network, clocks, randomness, HTML, the neural network.

pub mod encoded;
pub mod ids;
pub mod page;
pub mod rows;
