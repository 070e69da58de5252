//! Trains UHD-BERT encoders with candle and exports them.
//!
//! The crate is the inside of the binary `siskin-train`, so it reports errors through `anyhow`.
//! Beside core and the lean engine it knows the crate that reads sites, for [`pairs`], and the one that reads
//! encoders, for [`words`]. What it writes is a folder of files with golden vectors, and the encoder crate reads that.
//!
//! * [`bert`], [`tokenize`], [`encode`], [`wta`]: the network, from text to winners.
//! * [`base`], [`fetch`], [`collection`], [`checkpoint`]: the files that come in and those that go out.
//! * [`pairs`], [`mine`]: documentation to training pairs, and hard negatives for them.
//! * [`sample`], [`init`]: heads without a gradient step.
//! * [`fit`], [`loss`], [`optimizer`], [`fused`]: training.
//! * [`distil`]: a small network that reads queries for an encoder.
//! * [`adapt`]: all steps for one site.
//! * [`experiments`]: the paper's tables and figures on cached token vectors.
//! * [`measure`], [`export`], [`onnx`], [`rows`]: what a checkpoint is worth, and what is made of it.
//! * [`words`]: rows of whole words for an encoder that was exported; [`queries`]: what its network has instead while it
//!   reads queries.

pub mod adapt;
pub mod base;
pub mod bert;
pub mod checkpoint;
pub mod collection;
pub mod device;
pub mod distil;
pub mod encode;
pub mod experiments;
pub mod export;
pub mod fetch;
mod files;
pub mod fit;
pub mod fused;
pub mod init;
mod linear;
pub mod loss;
mod manifest;
pub mod measure;
mod metrics;
pub mod mine;
pub mod onnx;
pub mod optimizer;
pub mod pairs;
pub mod queries;
pub mod random;
mod resume;
pub mod rows;
pub mod sample;
pub mod statistics;
pub mod synonyms;
mod talk;
pub mod tokenize;
pub mod vocabulary;
mod weighting;
pub mod words;
pub mod wta;

pub(crate) use talk::say;
