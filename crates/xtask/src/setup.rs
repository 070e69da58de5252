//! `cargo xtask setup`: installs what is missing, and says so.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::{self, say};
use crate::workspace::Workspace;
use crate::{cargo_tools, chrome, engines, npm};

const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// All that building and testing need.
pub fn everything(workspace: &Workspace) -> Result<()> {
    build_tools(workspace)?;
    chrome::install(workspace)?;
    engines::install(workspace)
}

/// All that building needs: everything but the browsers.
pub fn build_tools(workspace: &Workspace) -> Result<()> {
    install_rust_components(workspace)?;
    install_wasm_target(workspace)?;
    npm::check_node(workspace)?;
    npm::install_packages(workspace)?;
    check_wasm_opt(workspace)?;
    cargo_tools::install(workspace)
}

/// rust-toolchain.toml names them too, but rustup may be told not to install by itself.
fn install_rust_components(workspace: &Workspace) -> Result<()> {
    for (component, program) in [("clippy", "cargo-clippy"), ("rustfmt", "cargo-fmt")] {
        if process::succeeds(workspace.command(program).arg("--version")) {
            continue;
        }
        say(&format!(
            "Rust component {component}: installing (the tests run it)"
        ));
        process::run(
            workspace
                .command("rustup")
                .args(["component", "add", component]),
        )
        .with_context(|| format!("install Rust through rustup, or add {component} to yours"))?;
    }
    Ok(())
}

fn install_wasm_target(workspace: &Workspace) -> Result<()> {
    if has_wasm_target(workspace)? {
        say(&format!("Rust target {WASM_TARGET}: found"));
        return Ok(());
    }
    say(&format!(
        "Rust target {WASM_TARGET}: installing (the browser modules are built for it)"
    ));
    process::run(
        workspace
            .command("rustup")
            .args(["target", "add", WASM_TARGET]),
    )
    .with_context(|| {
        format!("install Rust through rustup, or add the target {WASM_TARGET} to yours")
    })
}

/// Asks rustc, not rustup, so that other installations of Rust do as well.
fn has_wasm_target(workspace: &Workspace) -> Result<bool> {
    let mut rustc = workspace.command("rustc");
    rustc.args(["--print", "target-libdir", "--target", WASM_TARGET]);
    Ok(Path::new(process::capture(&mut rustc)?.trim()).is_dir())
}

fn check_wasm_opt(workspace: &Workspace) -> Result<()> {
    if workspace.find_program("wasm-opt").is_none() {
        bail!("wasm-opt is not in www/node_modules: add binaryen to www's devDependencies");
    }
    Ok(())
}
