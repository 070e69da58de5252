//! `cargo xtask demo`: the sample site with its index, served.

use anyhow::{Result, bail};
use clap::Args;

use crate::process::{self, say};
use crate::stamp::{Inputs, Stamp};
use crate::workspace::Workspace;
use crate::{binary, dist, files, setup};

/// Options of the demo.
#[derive(Args)]
pub struct Arguments {
    /// Port of the local server.
    #[arg(long, default_value_t = 4173)]
    port: u16,
    /// Build and index only; leave serving to another program.
    #[arg(long)]
    no_serve: bool,
}

/// Sets up, builds, indexes and, unless told not to, serves until it is stopped.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    setup::build_tools(workspace)?;
    dist::run(workspace)?;
    index_site(workspace)?;
    if arguments.no_serve {
        return Ok(());
    }
    serve(workspace, arguments.port)
}

/// Compiles the `siskin` command, copies the sample site to TARGET/demo/rust-book, indexes it twice and
/// adds the demo page; leaves the site alone if nothing changed. Queries to `siskin` are read by the
/// encoder of the passages, those to `siskin-small` by the small one.
pub fn index_site(workspace: &Workspace) -> Result<()> {
    binary::compile(workspace, binary::SISKIN)?;
    let stamp = stamp(workspace)?;
    if stamp.is_fresh() {
        say(&format!(
            "sample site: unchanged in {}",
            workspace.demo_site().display()
        ));
        return Ok(());
    }
    say("sample site: copying and indexing the Rust Book");
    let site = workspace.sample_site();
    if !site.is_dir() {
        bail!(
            "{} is missing: check it out from the repository",
            site.display()
        );
    }
    let staging = files::staging_beside(&workspace.demo_site())?;
    files::copy_folder(&site, &staging)?;
    process::run(&mut index_command(workspace, &staging))?;
    process::run(
        index_command(workspace, &staging)
            .arg("--query-encoder")
            .arg(workspace.query_encoder())
            .arg("--output")
            .arg(staging.join("siskin-small")),
    )?;
    files::copy_folder(&workspace.www().join("demo"), &staging.join("demo"))?;
    files::replace(&workspace.demo_site(), &staging)?;
    stamp.write()
}

/// Copies the site that Starlight built to TARGET/demo/starlight and indexes it with a script in the place
/// of Pagefind's; for the tests of its own search box.
pub fn index_starlight(workspace: &Workspace) -> Result<()> {
    let site = workspace.starlight_site();
    let stamp = inputs(workspace, "tests/sites/starlight")?.stamp_for(&site);
    if stamp.is_fresh() {
        say(&format!(
            "Starlight's site: unchanged in {}",
            site.display()
        ));
        return Ok(());
    }
    say("Starlight's site: copying and indexing");
    let staging = files::staging_beside(&site)?;
    files::copy_folder(&workspace.root().join("tests/sites/starlight"), &staging)?;
    process::run(index_command(workspace, &staging).arg("--pagefind"))?;
    files::replace(&site, &staging)?;
    stamp.write()
}

fn index_command(workspace: &Workspace, site: &std::path::Path) -> std::process::Command {
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

fn stamp(workspace: &Workspace) -> Result<Stamp> {
    let inputs = inputs(workspace, "tests/sites/rust-book")?.path(workspace.root(), "www/demo")?;
    Ok(inputs.stamp_for(&workspace.demo_site()))
}

/// What an index of `site` is made from.
fn inputs(workspace: &Workspace, site: &str) -> Result<Inputs> {
    let siskin = files::sha256(&binary::path(workspace, binary::SISKIN))?;
    Inputs::new(&siskin)
        .path(workspace.root(), site)?
        .path(workspace.root(), "models")?
        .path(workspace.target(), "dist.stamp")
}

fn serve(workspace: &Workspace, port: u16) -> Result<()> {
    say(&format!(
        "open http://localhost:{port}/demo/ and ask the book a question; Ctrl-C stops"
    ));
    let mut siskin = binary::command(workspace, binary::SISKIN);
    siskin
        .arg("serve")
        .arg(workspace.demo_site())
        .arg("--port")
        .arg(port.to_string());
    process::run(&mut siskin)
}
