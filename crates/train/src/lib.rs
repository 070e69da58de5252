//! Trains UHD-BERT encoders with candle and exports them.
//!
//! The crate is the inside of the binary `siskin-train`, so it reports errors through `anyhow`.
//! It knows nothing of Siskin's other crates: what it writes is a folder of files with golden
//! vectors, and the encoder crate reads that.
//!
//! * [`bert`], [`tokenize`], [`wta`]: the network, from text to winners.
//! * [`base`], [`checkpoint`]: the files that come in and those that go out.
//! * [`export`], [`onnx`], [`rows`]: what is made of a checkpoint.

pub mod base;
pub mod bert;
pub mod checkpoint;
pub mod export;
pub mod onnx;
pub mod rows;
pub mod tokenize;
pub mod wta;
