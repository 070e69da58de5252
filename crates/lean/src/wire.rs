//! Protocol buffers as far as ONNX needs them, read without a copy.

use std::ops::Range;

use crate::error::{LeanError, Result};

/// The value of one field.
pub(crate) enum Value {
    /// Integers, booleans and enumerations.
    Integer(u64),
    /// 32-bit floats, as their bits.
    Bits32(u32),
    /// Strings, bytes, messages and packed integers: where they lie in the file.
    Bytes(Range<usize>),
}

/// Iterates over the fields of a message that lies at a range of a file.
pub(crate) struct Fields<'f> {
    file: &'f [u8],
    at: usize,
    end: usize,
}

impl<'f> Fields<'f> {
    /// The fields of the message at `range`, which lies within `file`.
    pub(crate) fn new(file: &'f [u8], range: Range<usize>) -> Self {
        Self {
            file,
            at: range.start,
            end: range.end.min(file.len()),
        }
    }

    /// Number and value of the next field; `None` at the end. Values of 64 fixed bits are skipped.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Value)>> {
        while self.at < self.end {
            let key = self.varint()?;
            let value = match key & 7 {
                0 => Value::Integer(self.varint()?),
                1 => {
                    self.skip(8)?;
                    continue;
                }
                2 => {
                    let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                    Value::Bytes(self.skip(length)?)
                }
                5 => Value::Bits32(self.bits32()?),
                kind => return Err(LeanError::not_onnx(format!("a field of kind {kind}"))),
            };
            return Ok(Some((key >> 3, value)));
        }
        Ok(None)
    }

    /// The rest as integers: the content of a packed field.
    pub(crate) fn packed(mut self) -> Result<Vec<i64>> {
        let mut values = Vec::new();
        while self.at < self.end {
            values.push(self.varint()? as i64);
        }
        Ok(values)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let range = self.skip(1)?;
            let byte = self.file.get(range.start).copied().unwrap_or_default();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(LeanError::not_onnx("an integer of more than 64 bits"))
    }

    fn bits32(&mut self) -> Result<u32> {
        let range = self.skip(4)?;
        let bytes = self.file.get(range).and_then(|bytes| bytes.try_into().ok());
        Ok(u32::from_le_bytes(bytes.unwrap_or_default()))
    }

    fn skip(&mut self, bytes: usize) -> Result<Range<usize>> {
        let start = self.at;
        let end = start.checked_add(bytes).filter(|end| *end <= self.end);
        self.at = end.ok_or_else(|| LeanError::not_onnx("cut short"))?;
        Ok(start..self.at)
    }
}
