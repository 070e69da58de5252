//! What comes with the command: the encoder and the browser's files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use siskin_encoder::ROWS_FILE;

use crate::pagefind;
use crate::receipt::{files_below, slashed};

/// Folder of the encoder in a bundle, and beside the browser's files.
pub const ENCODER_FOLDER: &str = "encoder";
/// Where a checkout keeps the released encoder.
const CHECKOUT_ENCODER: &str = "models/siskin-en";
/// The file without which a folder is not the browser's.
const RUNTIME_MARK: &str = "siskin.js";
/// The browser's files that run networks beyond the small module: wasm and its glue.
const TRACT_FILES: [&str; 2] = ["siskin_web_tract.js", "siskin_web_tract_bg.wasm"];
/// What no bundle carries: a report of `cargo xtask dist`, and the script that goes to a folder of its
/// own.
const NOT_IN_BUNDLES: [&str; 2] = ["sizes.json", pagefind::SCRIPT];

/// The folder of the browser's files: the one given, or the one that came with the command.
///
/// # Errors
/// When there is none.
pub fn runtime_folder(given: Option<&Path>) -> Result<PathBuf> {
    let Some(folder) = given else {
        return default_runtime();
    };
    if !folder.join(RUNTIME_MARK).is_file() {
        bail!(
            "no {RUNTIME_MARK} in {}; give the folder that `cargo xtask dist` writes",
            folder.display()
        );
    }
    Ok(folder.to_owned())
}

fn default_runtime() -> Result<PathBuf> {
    let folder = beside_command().context("cannot find where siskin itself is")?;
    if !folder.join(RUNTIME_MARK).is_file() {
        bail!(
            "the browser's files are missing (no {RUNTIME_MARK} in {}); build them with `cargo \
             xtask dist`, name their folder with --runtime, or write the index alone with \
             --no-runtime",
            folder.display()
        );
    }
    Ok(folder)
}

/// `../../dist` seen from the command: where `cargo xtask dist` writes.
fn beside_command() -> std::io::Result<PathBuf> {
    let command = std::env::current_exe()?;
    let target = command.ancestors().nth(2).unwrap_or(&command);
    Ok(target.join("dist"))
}

/// Which of the browser's engines a bundle carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engines {
    /// The small one alone: it runs the encoder.
    Small,
    /// tract too.
    All,
}

/// The browser's files in `folder` but the encoder: names with `/` and contents, sorted.
///
/// # Errors
/// When a file cannot be read.
pub fn runtime_files(folder: &Path, engines: Engines) -> Result<Vec<(String, Vec<u8>)>> {
    let is_wanted = |path: &PathBuf| {
        let is_tract = TRACT_FILES.iter().any(|file| path == Path::new(file));
        let needed = engines == Engines::All || !is_tract;
        let elsewhere = NOT_IN_BUNDLES.iter().any(|file| path == Path::new(file));
        needed && !path.starts_with(ENCODER_FOLDER) && !elsewhere
    };
    files_below(folder)?
        .iter()
        .filter(|path| is_wanted(path))
        .map(|path| Ok((slashed(path), read(&folder.join(path))?)))
        .collect()
}

/// A file's content.
///
/// # Errors
/// When it cannot be read; the message names it.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The folder of the encoder: the one given, or the first complete one of these: beside the
/// browser's files, in the checkout that holds the command, in the checkout we stand in.
///
/// # Errors
/// When there is none.
pub fn encoder_folder(given: Option<&Path>, runtime: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = given {
        return Ok(folder.to_owned());
    }
    let mut candidates: Vec<PathBuf> = runtime
        .iter()
        .map(|folder| folder.join(ENCODER_FOLDER))
        .collect();
    candidates.extend(beside_command().map(|folder| folder.join(ENCODER_FOLDER)));
    let starts = [std::env::current_exe(), std::env::current_dir()];
    for start in starts.iter().flatten() {
        candidates.extend(
            start
                .ancestors()
                .map(|folder| folder.join(CHECKOUT_ENCODER)),
        );
    }
    let complete = candidates
        .into_iter()
        .find(|folder| folder.join(ROWS_FILE).is_file());
    complete.with_context(|| {
        format!(
            "no encoder found; name its folder with --encoder, build it with `cargo xtask dist`, \
             or run siskin in a checkout with {CHECKOUT_ENCODER}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::tempdir;

    #[test]
    fn runtime_files_are_all_but_encoder_and_report() {
        let folder = tempdir().unwrap();
        fs::create_dir(folder.path().join("encoder")).unwrap();
        let names = [
            "siskin.js",
            "pagefind.js",
            "sizes.json",
            "a.wasm",
            "encoder/model.onnx",
        ];
        for name in names.iter().chain(&TRACT_FILES) {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let names = |engines| -> Vec<String> {
            let files = runtime_files(folder.path(), engines).unwrap().into_iter();
            files.map(|(name, _)| name).collect()
        };
        assert_eq!(names(Engines::Small), ["a.wasm", "siskin.js"]);
        let [glue, module] = TRACT_FILES;
        assert_eq!(names(Engines::All), ["a.wasm", "siskin.js", glue, module]);
    }

    #[test]
    fn a_folder_without_siskin_js_is_no_runtime() {
        let folder = tempdir().unwrap();
        let error = runtime_folder(Some(folder.path())).unwrap_err().to_string();
        assert!(
            error.starts_with("no siskin.js in") && error.contains("cargo xtask dist"),
            "{error}"
        );
    }
}
