//! `--pagefind`: a `pagefind.js` that answers in Pagefind's place, for search boxes that load one.
//!
//! The script comes with the browser's files and names the bundle by its address; that is all that is
//! written. A folder that Pagefind made keeps its other files, among them the scripts of its own box.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::resources;

/// Folder within a site, named so by Pagefind.
pub const FOLDER: &str = "pagefind";
/// Name of the script, in the site as among the browser's files.
pub const SCRIPT: &str = "pagefind.js";
/// Where the script, as built, says that the bundle is: a JavaScript string, once in the file.
const BUNDLE_ADDRESS: &str = "\"../siskin/\"";
/// How scripts of ours begin when they are written.
const MARK: &str = "/* Siskin, in place of Pagefind */\n";
/// Only Pagefind writes this beside a `pagefind.js`.
const PAGEFIND_ENTRY: &str = "pagefind-entry.json";

/// The script, ready to be written.
#[derive(Debug)]
pub struct DropIn {
    path: PathBuf,
    content: String,
}

impl DropIn {
    /// The script for the site in `site`, whose bundle will be in `bundle`. Writes nothing.
    ///
    /// # Errors
    /// When the bundle is not below the site, where no address leads to it; when the browser's files in
    /// `runtime` lack the script; when the site has a `pagefind.js` that is neither Pagefind's nor ours.
    pub fn prepare(site: &Path, bundle: &Path, runtime: &Path) -> Result<Self> {
        let site = site
            .canonicalize()
            .with_context(|| format!("cannot read {}", site.display()))?;
        let path = site.join(FOLDER).join(SCRIPT);
        check_owner(&path)?;
        let Ok(below) = bundle.strip_prefix(&site) else {
            bail!(
                "--pagefind needs the index inside the site, and {} is not below {}",
                bundle.display(),
                site.display()
            );
        };
        let source = runtime.join(SCRIPT);
        let script = String::from_utf8(resources::read(&source)?);
        let script = script.unwrap_or_default();
        if script.matches(BUNDLE_ADDRESS).count() != 1 {
            bail!(
                "{} is not of this version; build the browser's files anew with `cargo xtask dist`",
                source.display()
            );
        }
        let address = serde_json::to_string(&address(below))?;
        Ok(Self {
            path,
            content: MARK.to_owned() + &script.replace(BUNDLE_ADDRESS, &address),
        })
    }

    /// Writes the script, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self) -> Result<()> {
        let cannot = || format!("cannot write {}", self.path.display());
        let partial = self.path.with_extension("js.siskin-partial");
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).with_context(cannot)?;
        }
        fs::write(&partial, &self.content).with_context(cannot)?;
        fs::rename(&partial, &self.path).with_context(cannot)
    }
}

/// Whether `folder` holds an index that Pagefind wrote, with its own script.
pub fn is_of_pagefind(folder: &Path) -> bool {
    let script = fs::read(folder.join(SCRIPT));
    folder.join(PAGEFIND_ENTRY).is_file()
        && script.is_ok_and(|script| !script.starts_with(MARK.as_bytes()))
}

/// Refuses to replace a script that is neither Pagefind's nor ours.
fn check_owner(path: &Path) -> Result<()> {
    if !path.exists() || path.with_file_name(PAGEFIND_ENTRY).is_file() {
        return Ok(());
    }
    if resources::read(path)?.starts_with(MARK.as_bytes()) {
        return Ok(());
    }
    bail!(
        "{} is neither Pagefind's nor written by siskin; move or remove it",
        path.display()
    )
}

/// The bundle's folder as seen from the script: percent-encoded, with a slash at the end.
fn address(below_site: &Path) -> String {
    let names = below_site.components().filter_map(|name| match name {
        Component::Normal(name) => Some(siskin_extract::site::percent_encoded(name)),
        _ => None,
    });
    names.fold("../".to_owned(), |address, name| address + &name + "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::{TempDir, tempdir};

    fn runtime(script: &str) -> TempDir {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join(SCRIPT), script).unwrap();
        folder
    }

    fn written(site: &Path, bundle: &str) -> Result<String> {
        let runtime = runtime("open(\"../siskin/\")");
        let bundle = site.canonicalize().unwrap().join(bundle);
        DropIn::prepare(site, &bundle, runtime.path())?.write()?;
        Ok(fs::read_to_string(site.join("pagefind/pagefind.js"))?)
    }

    #[test]
    fn the_script_names_the_bundle_by_its_address() {
        for (bundle, address) in [
            ("siskin", "../siskin/"),
            ("a b/\"c\"", "../a%20b/%22c%22/"),
            ("", "../"),
        ] {
            let site = tempdir().unwrap();
            for _ in 0..2 {
                let expected = format!("{MARK}open(\"{address}\")");
                assert_eq!(written(site.path(), bundle).unwrap(), expected);
            }
        }
    }

    #[test]
    fn other_files_of_pagefind_stay() {
        let site = tempdir().unwrap();
        let folder = site.path().join(FOLDER);
        fs::create_dir(&folder).unwrap();
        for name in [SCRIPT, PAGEFIND_ENTRY, "pagefind-ui.js"] {
            fs::write(folder.join(name), "theirs").unwrap();
        }
        assert!(written(site.path(), "siskin").unwrap().starts_with(MARK));
        let box_of_theirs = fs::read_to_string(folder.join("pagefind-ui.js")).unwrap();
        assert_eq!(box_of_theirs, "theirs");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    }

    #[test]
    fn a_script_of_the_owners_own_is_not_replaced() {
        let site = tempdir().unwrap();
        fs::create_dir(site.path().join(FOLDER)).unwrap();
        fs::write(site.path().join("pagefind/pagefind.js"), "mine").unwrap();
        let error = written(site.path(), "siskin").unwrap_err().to_string();
        assert!(error.ends_with("move or remove it"), "{error}");
    }

    #[test]
    fn a_bundle_elsewhere_and_a_script_of_another_version_are_refused() {
        let (site, elsewhere) = (tempdir().unwrap(), tempdir().unwrap());
        let prepare = |bundle: &Path, script| {
            let error = DropIn::prepare(site.path(), bundle, runtime(script).path());
            error.unwrap_err().to_string()
        };
        let inside = site.path().canonicalize().unwrap().join("siskin");
        assert!(prepare(elsewhere.path(), "").contains("inside the site"));
        assert!(prepare(&inside, "").contains("not of this version"));
        assert_eq!(fs::read_dir(site.path()).unwrap().count(), 0);
    }
}
