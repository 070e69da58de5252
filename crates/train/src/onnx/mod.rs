//! ONNX files of BERT with winner-take-all buckets (opset 17).
//!
//! candle writes no ONNX, so the few messages of the format that a model needs are declared here
//! and the graph is built node by node. What was written is [`read`] back where an encoder teaches another.

mod bert;
mod graph;
mod messages;
pub mod read;
mod weights;

pub use bert::{Network, write};
pub use weights::Quantization;
