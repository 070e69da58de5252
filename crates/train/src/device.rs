//! Where tensors live.

use anyhow::Result;
use candle_core::Device;

/// The first CUDA GPU where the build (feature `cuda`) and the machine have one, else the CPU.
///
/// # Errors
/// When a GPU is present and cannot be opened.
pub fn automatic() -> Result<Device> {
    Ok(Device::cuda_if_available(0)?)
}

/// Whether an error says that the GPU's memory is full.
#[must_use]
pub fn is_full(error: &anyhow::Error) -> bool {
    let text = format!("{error:?}").to_lowercase();
    let said = ["out of memory", "out_of_memory"];
    said.iter().any(|words| text.contains(words))
}

/// Adds what to do about a full GPU where no setting of the network can be lowered: first `what`.
#[must_use]
pub fn advised(error: anyhow::Error, what: &str) -> anyhow::Error {
    if !is_full(&error) {
        return error;
    }
    error.context(format!(
        "the GPU's memory is full: {what}, or hide it from this command with CUDA_VISIBLE_DEVICES= (empty), which \
         then takes the CPU"
    ))
}

/// What helps a command that has nothing to lower.
pub const END_OTHERS: &str = "end what else uses it";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_gpu_is_told_with_a_way_on() {
        let full = anyhow::anyhow!("DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")");
        let full = format!("{:#}", advised(full, END_OTHERS));
        assert!(full.contains("CUDA_VISIBLE_DEVICES="), "{full}");
        let other = format!("{:#}", advised(anyhow::anyhow!("no such file"), END_OTHERS));
        assert_eq!(other, "no such file");
    }
}
