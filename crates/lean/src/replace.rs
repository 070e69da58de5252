//! Other values for constants of a file, written in their place.

use std::ops::Range;

use crate::error::{LeanError, Result};
use crate::onnx::{Element, Graph};

/// Writes `values` (name, 32-bit floats) where the constants of these names have theirs. The file keeps its length.
///
/// # Errors
/// [`LeanError::NotOnnx`] when the file is none; [`LeanError::NotOfFamily`] when a constant is not there, holds
/// something else than floats, or another number of them. The file is then as it was.
pub fn replace<'v>(
    file: &mut [u8],
    values: impl IntoIterator<Item = (&'v str, &'v [f32])>,
) -> Result<()> {
    let graph = Graph::read(file)?;
    let placed = values.into_iter().map(|(name, values)| {
        let misfit = |what: &str| LeanError::NotOfFamily {
            reason: format!("{what} to put other values into: {name}"),
        };
        let constant = graph.constant(name);
        let constant = constant.ok_or_else(|| misfit("there is no constant"))?;
        if !constant.is(Element::Float) || constant.place.len() != 4 * values.len() {
            return Err(misfit("of another type or size is the constant"));
        }
        Ok((constant.place.clone(), values))
    });
    let placed: Vec<(Range<usize>, &[f32])> = placed.collect::<Result<_>>()?;
    for (place, values) in placed {
        let bytes = file.get_mut(place).unwrap_or_default();
        for (bytes, value) in bytes.chunks_exact_mut(4).zip(values) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }
    Ok(())
}
