//! The sites of the tests, copied to where they may be written to, and indexed.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::process::{self, say};
use crate::stamp::Inputs;
use crate::workspace::Workspace;
use crate::{binary, files};

/// Copies the sample site to TARGET/demo/rust-book and indexes it twice; leaves it alone if nothing
/// changed. Queries to `siskin` are read by the encoder of the passages, those to `siskin-small` by the
/// small one.
pub fn index_sample(workspace: &Workspace) -> Result<()> {
    let site = workspace.demo_site();
    let stamp = inputs(workspace, "")?
        .path(workspace.root(), "tests/sites/rust-book")?
        .stamp_for(&site);
    if stamp.is_fresh() {
        say(&format!("sample site: unchanged in {}", site.display()));
        return Ok(());
    }
    say("sample site: copying and indexing the Rust Book");
    let staging = staging_with(&workspace.sample_site(), &site)?;
    process::run(&mut index_command(workspace, &staging))?;
    process::run(
        index_command(workspace, &staging)
            .arg("--query-encoder")
            .arg(workspace.query_encoder())
            .arg("--output")
            .arg(staging.join("siskin-small")),
    )?;
    files::replace(&site, &staging)?;
    stamp.write()
}

/// Copies the site that Starlight built to TARGET/demo/starlight and indexes it with a script in the place
/// of Pagefind's; for the tests of its own search box.
pub fn index_starlight(workspace: &Workspace) -> Result<()> {
    let site = workspace.starlight_site();
    let stamp = inputs(workspace, "")?
        .path(workspace.root(), "tests/sites/starlight")?
        .stamp_for(&site);
    if stamp.is_fresh() {
        say(&format!(
            "Starlight's site: unchanged in {}",
            site.display()
        ));
        return Ok(());
    }
    say("Starlight's site: copying and indexing");
    let staging = staging_with(&workspace.root().join("tests/sites/starlight"), &site)?;
    process::run(index_command(workspace, &staging).arg("--pagefind"))?;
    files::replace(&site, &staging)?;
    stamp.write()
}

/// A copy of the folder `from` beside `to`, to be put in its place by [`files::replace`].
pub fn staging_with(from: &Path, to: &Path) -> Result<std::path::PathBuf> {
    if !from.is_dir() {
        bail!(
            "{} is missing: name a folder that exists, or check it out from the repository",
            from.display()
        );
    }
    let staging = files::staging_beside(to)?;
    files::copy_folder(from, &staging)?;
    Ok(staging)
}

/// `siskin index` of the folder `site`, with what this checkout built.
pub fn index_command(workspace: &Workspace, site: &Path) -> Command {
    let mut siskin = binary::command(workspace, binary::SISKIN);
    siskin
        .arg("index")
        .arg(site)
        .arg("--encoder")
        .arg(workspace.encoder())
        .arg("--runtime")
        .arg(workspace.dist());
    siskin
}

/// What every index is made from besides its site: the command, the encoders, the browser's files; and
/// the step's own `settings`.
pub fn inputs(workspace: &Workspace, settings: &str) -> Result<Inputs> {
    let siskin = files::sha256(&binary::path(workspace, binary::SISKIN))?;
    Inputs::new(&format!("{siskin} {settings}"))
        .path(workspace.root(), "models")?
        .path(workspace.target(), "dist.stamp")
}
