//! Why a network could not be read or run.

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeanError {
    /// The file is no ONNX file, or is cut short.
    #[error("the bytes are no ONNX model ({reason})")]
    NotOnnx {
        /// What the reader met.
        reason: String,
    },
    /// The file holds another kind of network: an engine for any network can run it.
    #[error("the network is not of the family that the lean engine runs ({reason})")]
    NotOfFamily {
        /// The first difference.
        reason: String,
    },
    /// A text that the network was not made for.
    #[error("the network does not take this text ({reason})")]
    Text {
        /// Which figure is beyond which limit.
        reason: String,
    },
    /// The weights are such that a value grows beyond 32-bit floats.
    #[error("the network gave a value that is not a number")]
    NotANumber,
}

impl LeanError {
    /// [`LeanError::NotOnnx`] with its reason.
    pub(crate) fn not_onnx(reason: impl Into<String>) -> Self {
        Self::NotOnnx {
            reason: reason.into(),
        }
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, LeanError>;
