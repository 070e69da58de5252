//! Where encoded collections are kept between runs.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use crate::collection::EncodedPassages;
use crate::encoded_file;
use crate::error::Result;

/// The user's folder for encoded collections: `siskin/encoded` in `$XDG_CACHE_HOME` or in
/// `~/.cache`; `None` without a home folder. Deleting it costs time only.
#[must_use]
pub fn default_folder() -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .and_then(absolute);
    let base = base.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    Some(base.join("siskin").join("encoded"))
}

/// The collection stored under `key` in `folder`; if there is none, or a damaged one, that of
/// `encode`, which is then stored. What goes wrong with the cache is told to `note` and does not
/// stop the work.
///
/// # Errors
/// Those of `encode`.
pub(crate) fn load_or_encode(
    folder: &Path,
    key: &str,
    note: impl Fn(&str),
    encode: impl FnOnce() -> Result<EncodedPassages>,
) -> Result<EncodedPassages> {
    let path = folder.join(format!("{key}.siskenc"));
    match load(&path) {
        Ok(Some(passages)) => return Ok(passages),
        Ok(None) => {}
        Err(problem) => note(&format!(
            "encoding again, since the cache is of no use: {problem}"
        )),
    }
    let passages = encode()?;
    if let Err(problem) = store(&path, &encoded_file::write(&passages)) {
        note(&format!(
            "cannot keep the encoded collection in {}: {problem}",
            path.display()
        ));
    }
    Ok(passages)
}

fn load(path: &Path) -> std::result::Result<Option<EncodedPassages>, String> {
    let name = path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => encoded_file::read(&name, &bytes)
            .map(Some)
            .map_err(|error| error.to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read {name}: {error}")),
    }
}

/// Writes beside the file and renames, so that no reader sees half of it.
fn store(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = path.with_extension(format!("{}.tmp", process::id()));
    let written = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn some(dim: usize) -> EncodedPassages {
        EncodedPassages {
            dim,
            ..EncodedPassages::default()
        }
    }

    #[test]
    fn a_stored_collection_is_not_encoded_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("new");
        let silent = |note: &str| panic!("{note}");
        assert_eq!(
            load_or_encode(&cache, "a", silent, || Ok(some(3))).unwrap(),
            some(3)
        );
        let again = load_or_encode(&cache, "a", silent, || panic!("encoded again"));
        assert_eq!(again.unwrap(), some(3));
        assert_eq!(
            load_or_encode(&cache, "b", silent, || Ok(some(4))).unwrap(),
            some(4)
        );
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 2);
    }

    #[test]
    fn a_damaged_file_is_replaced_with_a_note() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.siskenc");
        fs::write(&path, "not ours at all").unwrap();
        let notes = RefCell::new(Vec::new());
        let note = |text: &str| notes.borrow_mut().push(text.to_owned());
        assert_eq!(
            load_or_encode(folder.path(), "a", note, || Ok(some(3))).unwrap(),
            some(3)
        );
        assert_eq!(notes.borrow().len(), 1);
        assert!(notes.borrow()[0].contains("a.siskenc"), "{notes:?}");
        assert_eq!(load(&path).unwrap(), Some(some(3)));
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_noted_and_left() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let notes = RefCell::new(Vec::new());
        let note = |text: &str| notes.borrow_mut().push(text.to_owned());
        assert_eq!(
            load_or_encode(&file, "a", note, || Ok(some(3))).unwrap(),
            some(3)
        );
        assert!(
            notes
                .borrow()
                .iter()
                .any(|note| note.contains("cannot keep")),
            "{notes:?}"
        );
    }
}
