//! The crates of the command, as cargo would publish them.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::VERSION;
use crate::files;
use crate::process::{self, say};
use crate::workspace::Workspace;

/// The crates that are published, each after those that it needs.
const CRATES: [&str; 6] = [
    "siskin-core",
    "siskin-lean",
    "siskin-extract",
    "siskin-encoder",
    "siskin-eval",
    "siskin-cli",
];
/// The crate with the command.
const COMMAND: &str = "siskin-cli";

/// Packs them into `out`. Whether they compile from there is [`check`]'s to find out.
pub fn pack(workspace: &Workspace, contents: &Path, out: &Path) -> Result<()> {
    say("crates: packing those of the command");
    let target = contents.join("crates");
    let mut cargo = workspace.command("cargo");
    cargo
        .args([
            "package",
            "--quiet",
            "--no-verify",
            "--allow-dirty",
            "--locked",
        ])
        .args(CRATES.map(|name| format!("--package={name}")))
        .arg("--target-dir")
        .arg(&target);
    process::run(&mut cargo)?;
    for name in CRATES {
        let file = file_of(name);
        files::copy_file(&target.join("package").join(&file), &out.join(&file))?;
    }
    Ok(())
}

fn file_of(name: &str) -> String {
    format!("{name}-{VERSION}.crate")
}

/// Installs the command from the packed crates, compiling all of it, and uses it outside of the checkout:
/// without the browser's files it must say what it lacks, with them it must index and find.
pub fn check(workspace: &Workspace) -> Result<()> {
    let folder = files::staging_beside(&env::temp_dir().join("siskin-crates"))?;
    let siskin = install(workspace, &folder)?;
    let site = folder.join("site");
    files::copy_folder(&workspace.root().join("tests/sites/mkdocs-material"), &site)?;
    let command = |words: &[&str]| {
        let mut command = workspace.command(&siskin);
        command.args(words).current_dir(&folder);
        command
    };
    let mut index = command(&["index", "site", "--no-cache"]);
    let alone = index
        .output()
        .with_context(|| process::cannot_start(&index))?;
    let told = String::from_utf8_lossy(&alone.stderr);
    if alone.status.success() || !told.contains("SISKIN_RUNTIME") {
        bail!("without the browser's files siskin index said: {told}");
    }
    index.env("SISKIN_RUNTIME", workspace.dist());
    process::run(index.env("SISKIN_ENCODER", workspace.encoder()))?;
    let found = process::capture(&mut command(&["search", "site", "stop a request halfway"]))?;
    if !found.starts_with("1. Making requests › Cancel a request") {
        bail!("the installed command found: {found}");
    }
    files::remove_folder(&folder)
}

/// `cargo install` of the unpacked crates, which are taken from there for each other too; returns the
/// command, which is below `folder`. What is compiled is kept in the target folder.
fn install(workspace: &Workspace, folder: &Path) -> Result<PathBuf> {
    let mut cargo = workspace.command("cargo");
    cargo
        .args(["install", "--path"])
        .arg(unpacked(folder, COMMAND));
    cargo.arg("--root").arg(folder).arg("--target-dir");
    cargo.arg(workspace.target().join("crates-installed"));
    for name in CRATES {
        let mut tar = workspace.command("tar");
        tar.args(["--extract", "--gzip", "--file"])
            .arg(workspace.packages().join(file_of(name)))
            .arg("--directory")
            .arg(folder);
        process::run(&mut tar)?;
        let path = serde_json::to_string(&unpacked(folder, name))?;
        cargo.args(["--config", &format!("patch.crates-io.{name}.path={path}")]);
    }
    process::run(&mut cargo)?;
    let file = format!("siskin{}", env::consts::EXE_SUFFIX);
    Ok(folder.join("bin").join(file))
}

fn unpacked(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}-{VERSION}"))
}
