//! BEIR collections, retrieval metrics, baselines.
//!
//! A collection is [`beir::load`]ed, each system ranks its documents, [`metrics::Metrics`] judges
//! the rankings and [`report::Report`] prints them.

pub mod baselines;
pub mod beir;
pub mod collection;
mod error;
pub mod metrics;
pub mod report;
pub mod run;
pub mod significance;
pub mod site;
pub mod uhd;

pub use error::{Error, Result};
