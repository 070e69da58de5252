//! Vectors of many texts on disk, appended while they are computed, so that a stopped run goes on
//! where it was.
//!
//! A cache is one file of 16-bit floats, little-endian, one row of `dim` values after the other;
//! text `i` owns `rows[i]` consecutive rows. The name of the file carries a hash of what was
//! encoded: other texts make another file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use half::f16;
use half::slice::HalfFloatSliceExt;

/// Bytes of one stored value.
const VALUE_BYTES: u64 = 2;

/// An append-only file of vectors.
pub struct VectorCache {
    path: PathBuf,
    file: File,
    dim: usize,
    /// Texts whose rows are all in the file.
    done: usize,
    /// Rows of all texts.
    rows: usize,
}

impl VectorCache {
    /// Opens or creates the file for texts that own `rows` rows each, `dim` values a row.
    ///
    /// What a stopped run left of an unfinished text is cut off. One run at a time has the file: others wait until
    /// that one has read it.
    ///
    /// # Errors
    /// When the file cannot be opened or cut.
    pub fn open(path: &Path, rows: &[usize], dim: usize) -> Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path);
        let file = file.with_context(|| format!("opening {}", path.display()))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            crate::say!("waiting for another run that writes {}", path.display());
            file.lock()
                .with_context(|| format!("locking {}", path.display()))?;
        }
        let row_bytes = dim as u64 * VALUE_BYTES;
        let (done, bytes) = complete_texts(file.metadata()?.len(), rows, row_bytes);
        file.set_len(bytes)?;
        Ok(Self {
            path: path.to_path_buf(),
            file,
            dim,
            done,
            rows: rows.iter().sum(),
        })
    }

    /// Texts that need not be encoded again: the first `done` ones.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Appends the rows of the next `texts` texts.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, texts: usize, values: &[f32]) -> Result<()> {
        let mut half = vec![f16::ZERO; values.len()];
        half.convert_from_f32_slice(values);
        let bytes: Vec<u8> = half.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.file
            .write_all(&bytes)
            .with_context(|| format!("writing {}", self.path.display()))?;
        self.done += texts;
        Ok(())
    }

    /// All rows in the file: `[rows, dim]`.
    ///
    /// # Errors
    /// When the file cannot be read, or does not hold just the rows of all texts.
    pub fn read(mut self) -> Result<Vec<f16>> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::new();
        self.file
            .read_to_end(&mut bytes)
            .with_context(|| format!("reading {}", self.path.display()))?;
        let (values, _) = bytes.as_chunks::<2>();
        ensure!(
            values.len() == self.rows * self.dim,
            "{} holds {} values, its texts have {}: delete it",
            self.path.display(),
            values.len(),
            self.rows * self.dim
        );
        Ok(values
            .iter()
            .map(|pair| f16::from_le_bytes(*pair))
            .collect())
    }
}

/// Number of leading texts that `bytes` bytes hold completely, and the bytes of those.
fn complete_texts(bytes: u64, rows: &[usize], row_bytes: u64) -> (usize, u64) {
    let mut used = 0;
    for (text, count) in rows.iter().enumerate() {
        let next = used + *count as u64 * row_bytes;
        if next > bytes {
            return (text, used);
        }
        used = next;
    }
    (rows.len(), used)
}

/// A hash of texts and of what encodes them, for file names (FNV-1a, 64 bits).
pub fn fingerprint<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for part in parts {
        for byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_text_is_cut_off_and_the_rest_resumes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        let rows = [2, 1, 3];
        let mut cache = VectorCache::open(&path, &rows, 2).unwrap();
        cache.append(1, &[1.0, 2.0, 3.0, 4.0]).unwrap();
        cache.append(1, &[5.0, 6.0]).unwrap();
        drop(cache);
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(&[0; 7])
            .unwrap();

        let mut cache = VectorCache::open(&path, &rows, 2).unwrap();
        assert_eq!(cache.done(), 2);
        cache.append(1, &[7.0; 6]).unwrap();
        let values: Vec<f32> = cache
            .read()
            .unwrap()
            .iter()
            .map(|value| value.to_f32())
            .collect();
        assert_eq!(
            values,
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0]
        );
    }

    #[test]
    fn a_second_run_waits_for_the_first_and_finds_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        let mut first = VectorCache::open(&path, &[1, 1], 2).unwrap();
        let second = std::thread::spawn({
            let path = path.clone();
            move || VectorCache::open(&path, &[1, 1], 2).unwrap().done()
        });
        // It has begun, and cannot have ended.
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(!second.is_finished());
        first.append(2, &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(first.read().unwrap().len(), 4);
        assert_eq!(second.join().unwrap(), 2);
    }

    #[test]
    fn a_file_that_lacks_rows_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        std::fs::write(&path, [0; 4]).unwrap();
        let error = VectorCache::open(&path, &[1, 1], 2).unwrap().read();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("delete it"), "{error}");
    }

    #[test]
    fn the_fingerprint_tells_where_texts_end() {
        let hash = |texts: &[&str]| fingerprint(texts.iter().map(|text| text.as_bytes()));
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_eq!(hash(&["ab", "c"]), hash(&["ab", "c"]));
    }
}
