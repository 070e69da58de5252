//! What comes with the command: the encoder and the browser's files.
//!
//! Where an installation has them is told in docs/packages.md.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use siskin_encoder::ROWS_FILE;

use crate::pagefind;
use crate::receipt::{files_below, slashed};

/// Folder of the encoder in a bundle, and in an installation.
pub const ENCODER_FOLDER: &str = "encoder";
/// Folder of the browser's files in an installation, and in cargo's target folder.
const RUNTIME_FOLDER: &str = "dist";
/// Names the folder of the browser's files, where `--runtime` does not.
const RUNTIME_VARIABLE: &str = "SISKIN_RUNTIME";
/// Names the folder of the encoder, where `--encoder` does not.
const ENCODER_VARIABLE: &str = "SISKIN_ENCODER";
/// Where a checkout keeps the released encoder.
const CHECKOUT_ENCODER: &str = "models/siskin-en";
/// The file without which a folder is not the browser's.
const RUNTIME_MARK: &str = "siskin.js";
/// The browser's files that run networks beyond the small module: wasm and its glue.
const TRACT_FILES: [&str; 2] = ["siskin_web_tract.js", "siskin_web_tract_bg.wasm"];
/// What no bundle carries: a report of `cargo xtask dist`, and the script that goes to a folder of its
/// own.
const NOT_IN_BUNDLES: [&str; 2] = ["sizes.json", pagefind::SCRIPT];

/// The folder of the browser's files: the one given, the one that [`RUNTIME_VARIABLE`] names, that of the
/// installation, or that of the checkout.
///
/// # Errors
/// When there is none, or the one that was named holds something else.
pub fn runtime_folder(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = named(given, RUNTIME_VARIABLE) {
        if !is_runtime(&folder) {
            bail!(
                "no {RUNTIME_MARK} in {}; give the folder that `cargo xtask dist` writes, or dist of \
                 the npm package siskin",
                folder.display()
            );
        }
        return Ok(folder);
    }
    let command = command()?;
    let installed = share(&command).join(RUNTIME_FOLDER);
    let mut places = vec![installed.clone()];
    places.extend(built(&command));
    let found = places.into_iter().find(|folder| is_runtime(folder));
    found.with_context(|| {
        format!(
            "the browser's files are missing (no {RUNTIME_MARK} in {}): they come with siskin from npm \
             and from pip, not with `cargo install`; name their folder with --runtime or \
             {RUNTIME_VARIABLE}, build them in a checkout with `cargo xtask dist`, or write the index \
             alone with --no-runtime",
            installed.display()
        )
    })
}

fn is_runtime(folder: &Path) -> bool {
    folder.join(RUNTIME_MARK).is_file()
}

/// What an option names or, without it, an environment variable that is not empty.
fn named(given: Option<&Path>, variable: &str) -> Option<PathBuf> {
    let set = || env::var_os(variable).filter(|value| !value.is_empty());
    given.map(Path::to_owned).or_else(|| set().map(Into::into))
}

/// The command's own file; links to it are followed.
fn command() -> Result<PathBuf> {
    let command = env::current_exe().and_then(fs::canonicalize);
    command.context("cannot find where siskin itself is")
}

/// `PREFIX/share/siskin` of a command that is `PREFIX/bin/siskin`.
fn share(command: &Path) -> PathBuf {
    let prefix = command.ancestors().nth(2).unwrap_or(command);
    prefix.join("share/siskin")
}

/// Where `cargo xtask dist` writes, for a command that is `TARGET/release/siskin`.
fn built(command: &Path) -> Option<PathBuf> {
    command
        .ancestors()
        .nth(2)
        .map(|target| target.join(RUNTIME_FOLDER))
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

/// The folder of the encoder: the one given, the one that [`ENCODER_VARIABLE`] names, that of the
/// installation, that of the checkout which holds the command, that of the checkout we stand in.
///
/// # Errors
/// When there is none.
pub fn encoder_folder(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = named(given, ENCODER_VARIABLE) {
        return Ok(folder);
    }
    let command = command()?;
    let installed = share(&command).join(ENCODER_FOLDER);
    let mut places = vec![installed.clone()];
    for start in [Some(command), env::current_dir().ok()].iter().flatten() {
        let above = start.ancestors();
        places.extend(above.map(|folder| folder.join(CHECKOUT_ENCODER)));
    }
    let complete = places
        .into_iter()
        .find(|folder| folder.join(ROWS_FILE).is_file());
    complete.with_context(|| {
        format!(
            "no encoder found (no {ROWS_FILE} in {}): it comes with siskin from npm and from pip, not \
             with `cargo install`; name its folder with --encoder or {ENCODER_VARIABLE}, or run siskin \
             in a checkout with {CHECKOUT_ENCODER}",
            installed.display()
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
