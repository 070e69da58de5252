//! `cargo xtask demo`: the sample site with its index, served.

use anyhow::{Result, bail};
use clap::Args;

use crate::process::{self, say};
use crate::stamp::{Inputs, Stamp};
use crate::workspace::Workspace;
use crate::{dist, files, setup};

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
    build_command(workspace)?;
    index_site(workspace)?;
    if arguments.no_serve {
        return Ok(());
    }
    serve(workspace, arguments.port)
}

/// Compiles the `siskin` command, with the features that the tests compile: `--package siskin-cli`
/// would choose fewer and compile the network's dependencies a second time.
pub fn build_command(workspace: &Workspace) -> Result<()> {
    say("command siskin: compiling");
    let mut cargo = workspace.command("cargo");
    cargo.args(["build", "--workspace", "--release", "--locked"]);
    process::run(cargo.args(["--bin", "siskin"]))
}

/// Copies the sample site to TARGET/demo/rust-book, indexes it with the compiled command
/// and adds the demo page; leaves it alone if nothing changed.
pub fn index_site(workspace: &Workspace) -> Result<()> {
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
    files::copy_folder(&workspace.www().join("demo"), &staging.join("demo"))?;
    files::replace(&workspace.demo_site(), &staging)?;
    stamp.write()
}

fn index_command(workspace: &Workspace, site: &std::path::Path) -> std::process::Command {
    let mut siskin = workspace.command(workspace.release_binary("siskin"));
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
    let binary = workspace.release_binary("siskin");
    let inputs = Inputs::new(&files::sha256(&binary)?)
        .path(workspace.root(), "tests/sites/rust-book")?
        .path(workspace.root(), "models/siskin-en")?
        .path(workspace.root(), "www/demo")?
        .path(workspace.target(), "dist.stamp")?;
    Ok(inputs.stamp_for(&workspace.demo_site()))
}

fn serve(workspace: &Workspace, port: u16) -> Result<()> {
    say(&format!(
        "open http://localhost:{port}/demo/ and ask the book a question; Ctrl-C stops"
    ));
    let mut siskin = workspace.command(workspace.release_binary("siskin"));
    siskin
        .arg("serve")
        .arg(workspace.demo_site())
        .arg("--port")
        .arg(port.to_string());
    process::run(&mut siskin)
}
