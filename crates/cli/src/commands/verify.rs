//! `siskin verify`: whether a bundle is whole.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use siskin_core::manifest::MANIFEST_FILE;
use siskin_core::search::Engine;
use siskin_encoder::{Encoder, MANIFEST_FILE as ENCODER_MANIFEST};

use super::Outcome;
use crate::arguments::VerifyArguments;
use crate::bundle::BundleFolder;
use crate::failure::one_line;
use crate::receipt::{RECEIPT_FILE, Receipt, Written, files_below, place, slashed};
use crate::resources;
use crate::talk;

/// Runs the command.
pub fn run(arguments: &VerifyArguments) -> Result<Outcome> {
    let bundle = BundleFolder::open(&arguments.bundle)?;
    let report = Report::new(&bundle);
    if arguments.printing.json {
        talk::print_json(&report)?;
    } else if !(arguments.printing.quiet && report.problems.is_empty()) {
        talk::print(&report.text())?;
    }
    match report.problems.is_empty() {
        true => Ok(Outcome::Done),
        false => Ok(Outcome::Problems),
    }
}

/// The result of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    path: String,
    files: usize,
    problems: Vec<String>,
}

impl Report {
    fn new(bundle: &BundleFolder) -> Self {
        let mut check = Check {
            bundle,
            named: BTreeSet::from([RECEIPT_FILE.to_owned(), MANIFEST_FILE.to_owned()]),
            problems: Vec::new(),
        };
        check.index_files();
        check.receipt();
        check.strangers();
        check.encoder();
        Self {
            path: bundle.folder.display().to_string(),
            files: check.named.len(),
            problems: check.problems,
        }
    }

    fn text(&self) -> String {
        if self.problems.is_empty() {
            return format!("{}: all {} files are well\n", self.path, self.files);
        }
        let lines = self.problems.iter().map(|problem| format!("{problem}\n"));
        lines.collect::<String>() + &format!("{}: {} problems\n", self.path, self.problems.len())
    }
}

/// What has been found so far.
struct Check<'a> {
    bundle: &'a BundleFolder,
    /// Files that manifest or receipt names.
    named: BTreeSet<String>,
    problems: Vec<String>,
}

impl Check<'_> {
    fn note<T>(&mut self, outcome: Result<T>) -> Option<T> {
        outcome
            .map_err(|error| self.problems.push(one_line(&error)))
            .ok()
    }

    /// Name, header and content of each shard that the manifest names.
    fn index_files(&mut self) {
        let mut engine = Engine::new(self.bundle.manifest.clone());
        for shard in self.bundle.manifest.shards.all() {
            self.named.extend(self.bundle.manifest.shards.path(shard));
            let loaded = self.bundle.load(&mut engine, shard);
            self.note(loaded);
        }
    }

    /// Length and hash of each other file that was written with the index.
    fn receipt(&mut self) {
        let receipt = match Receipt::read(&self.bundle.folder) {
            Ok(Some(receipt)) => receipt,
            Ok(None) => {
                let missing = format!("{RECEIPT_FILE} is missing; run `siskin index` again");
                return self.problems.push(missing);
            }
            Err(error) => return self.problems.push(one_line(&error)),
        };
        for (name, written) in &receipt.files {
            let is_new = self.named.insert(name.clone());
            if is_new || name == MANIFEST_FILE {
                self.problems
                    .extend(file_problem(&self.bundle.folder, name, written));
            }
        }
    }

    /// Files that neither manifest nor receipt names.
    fn strangers(&mut self) {
        let Some(files) = self.note(files_below(&self.bundle.folder)) else {
            return;
        };
        let names = files.iter().map(|path| slashed(path));
        let strangers = names.filter(|name| !self.named.contains(name));
        let problems = strangers.map(|name| format!("{name} was not written by `siskin index`"));
        self.problems.extend(problems.collect::<Vec<_>>());
    }

    /// Whether the encoder, if there is one, is whole and one that the index answers.
    fn encoder(&mut self) {
        let folder = self.bundle.encoder_folder();
        if folder.join(ENCODER_MANIFEST).is_file() && self.problems.is_empty() {
            let check = Encoder::open(&folder)
                .map_err(anyhow::Error::from)
                .and_then(|encoder| Ok(self.bundle.manifest.check_encoder(encoder.id())?));
            self.note(check);
        }
    }
}

/// What is wrong with a file that the receipt names.
fn file_problem(folder: &Path, name: &str, written: &Written) -> Option<String> {
    let Some(path) = place(folder, name).filter(|path| path.is_file()) else {
        return Some(format!(
            "{name} is missing; run `siskin index` again or upload the whole folder"
        ));
    };
    match resources::read(&path) {
        Err(error) => Some(one_line(&error)),
        Ok(content) => {
            let reason = written.difference(&content)?;
            Some(format!(
                "{name} is damaged ({reason}); run `siskin index` again or download the file again"
            ))
        }
    }
}
