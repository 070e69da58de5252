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
