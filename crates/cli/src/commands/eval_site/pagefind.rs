//! A site's Pagefind index, asked by Pagefind's own script in Node.js.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::arguments::EvalSiteArguments;
use crate::failure::one_line;
use crate::pagefind;
use crate::talk::{Talk, harmless};

const SCRIPT: &str = include_str!("ask-pagefind.js");

/// The pages that Pagefind finds for each question, best first, at most `limit`; `None` where the site has
/// no index of Pagefind's, or, as `talk` is told then, it cannot be asked.
///
/// # Errors
/// When an index that `--pagefind` names cannot be asked.
pub fn rankings(
    arguments: &EvalSiteArguments,
    questions: &[&str],
    limit: usize,
    talk: Talk,
) -> Result<Option<Vec<Vec<String>>>> {
    if let Some(folder) = &arguments.pagefind {
        return ask(folder, questions, limit, talk).map(Some);
    }
    let folder: PathBuf = arguments.site.join(pagefind::FOLDER);
    if arguments.no_pagefind || !pagefind::is_of_pagefind(&folder) {
        return Ok(None);
    }
    match ask(&folder, questions, limit, talk) {
        Ok(rankings) => Ok(Some(rankings)),
        Err(error) => {
            talk.problem(&format!("not compared with Pagefind: {}", one_line(&error)));
            Ok(None)
        }
    }
}

/// What the script prints.
#[derive(Deserialize)]
struct Answer {
    /// The one that was asked for, where the index has several.
    language: Option<String>,
    rankings: Vec<Vec<String>>,
}

fn ask(folder: &Path, questions: &[&str], limit: usize, talk: Talk) -> Result<Vec<Vec<String>>> {
    if !pagefind::is_of_pagefind(folder) {
        bail!(
            "{} holds no index of Pagefind's, or its pagefind.js was replaced by siskin's; run pagefind \
             with --output-path and name that folder",
            folder.display()
        );
    }
    let folder = folder
        .canonicalize()
        .with_context(|| format!("cannot read {}", folder.display()))?;
    let mut node = Command::new("node");
    node.args(["--input-type=module", "--eval", SCRIPT, "--"])
        .arg(&folder)
        .arg(limit.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = match node.spawn() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("Pagefind's index is asked by its own script: install Node.js 20 or newer")
        }
        running => running.context("cannot run node")?,
    };
    let questions = serde_json::to_vec(questions)?;
    let input = running.stdin.take();
    // Written beside: a process that fails early, or answers early, need not read all of it.
    let writer = thread::spawn(move || input.map(|mut input| input.write_all(&questions)));
    let output = running.wait_with_output().context("cannot run node")?;
    let _ = writer.join();
    if !output.status.success() {
        let told = harmless(&String::from_utf8_lossy(&output.stderr));
        let reason = match told.trim() {
            "" => "its script ended without an answer",
            reason => reason,
        };
        bail!(
            "the index in {} cannot be asked: {reason}",
            folder.display()
        );
    }
    let Answer { language, rankings } =
        serde_json::from_slice(&output.stdout).context("Pagefind's script gave no answer")?;
    if let Some(language) = language {
        talk.problem(&format!(
            "Pagefind searches one language at a time, and was asked for pages in {language} only"
        ));
    }
    Ok(rankings)
}
