//! ONNX files of BERT with winner-take-all buckets (opset 17).
//!
//! candle writes no ONNX, so the few messages of the format that a model needs are declared here
//! and the graph is built node by node.

mod bert;
mod graph;
mod messages;
mod weights;

pub use bert::{Network, write};
pub use weights::Quantization;
