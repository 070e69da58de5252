//! Our own commands, compiled.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process::{self, say};
use crate::workspace::Workspace;

/// Indexes, searches, measures and serves.
pub const SISKIN: &str = "siskin";
/// Trains and exports encoders.
pub const SISKIN_TRAIN: &str = "siskin-train";

/// Compiles a binary of the workspace, in release mode.
///
/// The whole workspace is named, so that features are those that the tests compile: `--package` would
/// choose fewer and compile the network's dependencies a second time.
pub fn compile(workspace: &Workspace, name: &str) -> Result<()> {
    say(&format!("command {name}: compiling"));
    let mut cargo = workspace.command("cargo");
    cargo.args([
        "build",
        "--workspace",
        "--release",
        "--locked",
        "--bin",
        name,
    ]);
    process::run(&mut cargo)
}

/// Where [`compile`] puts a binary.
pub fn path(workspace: &Workspace, name: &str) -> PathBuf {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    workspace.target().join("release").join(file)
}

/// Runs a binary that [`compile`] made.
pub fn command(workspace: &Workspace, name: &str) -> Command {
    workspace.command(path(workspace, name))
}
