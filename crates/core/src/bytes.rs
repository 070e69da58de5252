//! Little-endian primitives of the bundle's payloads: one writer, one checked reader.

use crate::error::Error;
use half::f16;

/// Appends primitives to a payload.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// The payload.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Bytes written so far.
    #[must_use]
    pub fn position_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// A 16-bit float: 2 bytes; what is larger than the largest is written as the largest.
    pub fn f16(&mut self, value: f32) {
        let value = value.clamp(f16::MIN.to_f32(), f16::MAX.to_f32());
        self.bytes
            .extend_from_slice(&f16::from_f32(value).to_le_bytes());
    }

    /// An unsigned integer in LEB128: 7 bits a byte, lowest first.
    pub fn varint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// A length, as a varint; lengths above `u32::MAX` do not occur in payloads.
    pub fn length(&mut self, length: usize) {
        self.varint(u32::try_from(length).unwrap_or(u32::MAX));
    }

    /// Bytes without a length.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// UTF-8 text after its length in bytes.
    pub fn string(&mut self, text: &str) {
        self.length(text.len());
        self.raw(text.as_bytes());
    }
}

/// Where a payload stops making sense, and why. A value of three words that needs no clean-up: reading
/// code returns from hundreds of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    reason: &'static str,
    position_bytes: usize,
}

impl Damage {
    /// The error that it is to readers of the file of this name.
    #[must_use]
    pub fn of(self, file: &str) -> Error {
        Error::Corrupt {
            file: file.to_owned(),
            reason: format!(
                "{} at byte {} of the payload",
                self.reason, self.position_bytes
            ),
        }
    }
}

/// What reading a payload gives.
pub type Result<T> = std::result::Result<T, Damage>;

/// Reads primitives from a payload; every read is checked against the end.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Says that the payload stopped making sense here.
    #[must_use]
    pub fn damage(&self, reason: &'static str) -> Damage {
        Damage {
            reason,
            position_bytes: self.position,
        }
    }

    /// Bytes from the payload's start to the next read.
    #[must_use]
    pub fn position_bytes(&self) -> usize {
        self.position
    }

    /// All bytes that are left.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// Takes `count` bytes.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn raw(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self
            .position
            .checked_add(count)
            .filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return Err(self.damage("more bytes wanted than are left"));
        };
        let taken = &self.bytes[self.position..end];
        self.position = end;
        Ok(taken)
    }

    /// One byte.
    ///
    /// # Errors
    /// At the end of the payload.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.raw(1)?[0])
    }

    /// A 16-bit float.
    ///
    /// # Errors
    /// At the end of the payload, or when the value is not finite.
    pub fn f16(&mut self) -> Result<f32> {
        let raw = self.raw(2)?;
        let value = f16::from_le_bytes([raw[0], raw[1]]).to_f32();
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.damage("a number that is not finite"))
        }
    }

    /// A LEB128 integer.
    ///
    /// # Errors
    /// At the end of the payload, or when the value exceeds 32 bits.
    pub fn varint(&mut self) -> Result<u32> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| self.damage("an integer over 32 bits"));
            }
        }
        Err(self.damage("an integer over 32 bits"))
    }

    /// A count of items that take at least `item_bits` bits each, refused when the rest of the
    /// payload cannot hold them: no allocation is larger than the file warrants.
    ///
    /// # Errors
    /// At the end of the payload, or when the count cannot be true.
    pub fn count(&mut self, item_bits: usize) -> Result<usize> {
        let count = self.varint()? as usize;
        let left_bits = (self.bytes.len() - self.position).saturating_mul(8);
        if count.saturating_mul(item_bits) > left_bits {
            return Err(self.damage("more items announced than bytes are left"));
        }
        Ok(count)
    }

    /// UTF-8 text after its length.
    ///
    /// # Errors
    /// When the payload ends or the bytes are not UTF-8.
    pub fn string(&mut self) -> Result<&'a str> {
        let length = self.count(8)?;
        let raw = self.raw(length)?;
        std::str::from_utf8(raw).map_err(|_| self.damage("text that is not UTF-8"))
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// When bytes follow.
    pub fn finish(&self) -> Result<()> {
        if self.position == self.bytes.len() {
            Ok(())
        } else {
            Err(self.damage("bytes after the end"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_come_back(value: u32) {
            let mut writer = Writer::default();
            writer.varint(value);
            let bytes = writer.into_bytes();
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.varint().unwrap(), value);
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes);
            while reader.string().is_ok() && reader.position_bytes() < bytes.len() {}
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for value in [1e9, -1e9, f32::INFINITY] {
            let mut writer = Writer::default();
            writer.f16(value);
            let bytes = writer.into_bytes();
            let read = Reader::new(&bytes).f16().unwrap();
            assert_eq!(read, 65_504.0 * value.signum());
        }
    }

    #[test]
    fn an_impossible_count_is_refused_before_allocating() {
        let mut writer = Writer::default();
        writer.varint(u32::MAX);
        let bytes = writer.into_bytes();
        let error = Reader::new(&bytes).count(8).unwrap_err();
        let error = error.of("x.bin").to_string();
        assert!(error.contains("x.bin is damaged"), "{error}");
    }
}
