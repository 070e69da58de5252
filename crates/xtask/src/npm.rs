//! Node and the packages of `www`.

use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use crate::binary;
use crate::process::{self, say};
use crate::stamp::Inputs;
use crate::workspace::Workspace;

const OLDEST_NODE_MAJOR: u32 = 20;

/// Fails, with the remedy, where Node is missing or too old.
pub fn check_node(workspace: &Workspace) -> Result<()> {
    let remedy = format!(
        "install Node {OLDEST_NODE_MAJOR} or newer, with npm, from nodejs.org or your system's packages"
    );
    let printed = process::capture(workspace.command("node").arg("--version"))
        .with_context(|| remedy.clone())?;
    let version = printed.trim();
    if major(version)? < OLDEST_NODE_MAJOR {
        bail!("Node {version} is too old: {remedy}");
    }
    say(&format!("Node {version}: found"));
    Ok(())
}

/// Installs exactly what `www/package-lock.json` names; install scripts are not run, so
/// nothing is downloaded but the packages.
pub fn install_packages(workspace: &Workspace) -> Result<()> {
    let packages = workspace.www().join("node_modules");
    let stamp = Inputs::new("npm ci")
        .path(&workspace.www(), "package-lock.json")?
        .stamp_for(&packages.join(".bin"));
    if stamp.is_fresh() {
        say("npm packages: as in package-lock.json");
        return Ok(());
    }
    say(
        "npm packages: installing those of www/package-lock.json (compiler, bundler, wasm-opt, browser driver)",
    );
    process::run(npm(workspace).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
    stamp.write()
}

/// `npm run SCRIPT` in `www`, told where things are by these variables:
/// SISKIN_WASM_DIR (wasm-bindgen's output, one folder per module), SISKIN_DIST_DIR
/// (runtime files), SISKIN_SITE_DIR (the indexed sample site), SISKIN_BINARY (the
/// command) and, where one is found, SISKIN_CHROME (the browser).
pub fn script(workspace: &Workspace, name: &str) -> Command {
    let mut command = npm(workspace);
    command
        .args(["run", "--silent", name])
        .env("SISKIN_WASM_DIR", workspace.wasm())
        .env("SISKIN_DIST_DIR", workspace.dist())
        .env("SISKIN_SITE_DIR", workspace.demo_site())
        .env("SISKIN_BINARY", binary::path(workspace, binary::SISKIN));
    if let Some(chrome) = crate::chrome::find(workspace) {
        command.env("SISKIN_CHROME", chrome);
    }
    command
}

fn npm(workspace: &Workspace) -> Command {
    let mut command = workspace.command("npm");
    command.arg("--prefix").arg(workspace.www());
    command
}

/// The first number of a version such as `v20.1.2`.
fn major(version: &str) -> Result<u32> {
    version
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| anyhow!("node --version printed {version:?}, which is no version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_the_first_number() {
        assert_eq!(major("v20.20.2").unwrap(), 20);
        assert_eq!(major("v9.0.0").unwrap(), 9);
        assert!(major("twenty").is_err());
    }
}
