//! `cargo xtask dist`: the runtime files that go beside an index.

use std::path::Path;

use anyhow::{Result, bail};

use crate::process::{self, say};
use crate::stamp::{Inputs, Stamp};
use crate::workspace::Workspace;
use crate::{files, npm, sizes, wasm};

/// What the browser needs of the encoder folder; its rows travel in the index.
const ENCODER_FILES: [&str; 3] = ["encoder.json", "model.onnx", "tokenizer.json"];

/// Builds TARGET/dist and prints its sizes; leaves it alone if nothing changed.
pub fn run(workspace: &Workspace) -> Result<()> {
    check_encoder(&workspace.encoder())?;
    wasm::build(workspace)?;
    let stamp = stamp(workspace)?;
    if stamp.is_fresh() {
        say(&format!(
            "runtime files: unchanged in {}",
            workspace.dist().display()
        ));
        return print_sizes(workspace);
    }
    let staging = files::staging_beside(&workspace.dist())?;
    bundle(workspace, &staging)?;
    copy_encoder(&workspace.encoder(), &staging.join("encoder"))?;
    write_sizes(workspace, &staging)?;
    files::replace(&workspace.dist(), &staging)?;
    stamp.write()?;
    say(&format!(
        "runtime files: written to {}",
        workspace.dist().display()
    ));
    print_sizes(workspace)
}

fn check_encoder(encoder: &Path) -> Result<()> {
    for name in ENCODER_FILES {
        if !encoder.join(name).is_file() {
            bail!(
                "{} is missing: check out models/siskin-en, or export it with siskin-train",
                encoder.join(name).display()
            );
        }
    }
    Ok(())
}

fn stamp(workspace: &Workspace) -> Result<Stamp> {
    let inputs = Inputs::new("dist 1")
        .path(&workspace.www(), "src")?
        .path(&workspace.www(), "scripts")?
        .path(&workspace.www(), "package-lock.json")?
        .path(&workspace.www(), "tsconfig.json")?
        .path(&workspace.www(), "tsconfig.build.json")?
        .path(workspace.root(), "models/siskin-en")?
        .path(workspace.target(), "wasm-modules")?;
    Ok(inputs.stamp_for(&workspace.dist()))
}

fn bundle(workspace: &Workspace, staging: &Path) -> Result<()> {
    say("JavaScript: bundling www for the page and its worker");
    process::run(npm::script(workspace, "build").env("SISKIN_DIST_DIR", staging))
}

fn copy_encoder(from: &Path, to: &Path) -> Result<()> {
    for name in ENCODER_FILES {
        files::copy_file(&from.join(name), &to.join(name))?;
    }
    Ok(())
}

fn write_sizes(workspace: &Workspace, staging: &Path) -> Result<()> {
    say("sizes: compressing every file once, as a host would");
    sizes::measure(workspace, staging)?.write(staging)
}

fn print_sizes(workspace: &Workspace) -> Result<()> {
    println!("{}", sizes::Report::read(&workspace.dist())?.table());
    Ok(())
}
