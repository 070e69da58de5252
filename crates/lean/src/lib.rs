//! A small engine for one family of networks: BERT of any depth, width and number of heads with
//! winner-take-all buckets, as `siskin-train` writes it with 8-bit weights.
//!
//! Activations are rounded to 16-bit integers, row by row, so that all large products are sums of
//! integers: exact, and the same bits on every machine. Attention, norms and activation functions
//! are 32-bit floats in a fixed order of operations. Non-goals: any other network (tract runs
//! those), training, word pieces.
//!
//! ```no_run
//! use siskin_lean::Network;
//!
//! let network = Network::read(std::fs::read("models/siskin-en/model.onnx")?.into())?;
//! let output = network.run(&[101, 7592, 102])?;
//! assert_eq!(output.hidden.len(), 3 * network.dim());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod family;
mod kernels;
mod math;
mod matrix;
mod network;
mod onnx;
mod replace;
mod winners;
mod wire;

/// Changes whenever the same network and text give other bits.
pub const VERSION: &str = "lean-1";

pub use error::{LeanError, Result};
pub use kernels::Level;
pub use network::{Network, Output};
pub use replace::replace;
pub use winners::Winners;
