//! Node and the packages of `www`, `www/site` and `tests/bench`.

use std::path::Path;
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

/// Installs the packages of `www`.
pub fn install_packages(workspace: &Workspace) -> Result<()> {
    let why = "compiler, bundler, wasm-opt, browser driver";
    install(workspace, &workspace.www(), why)
}

/// Installs the packages of `tests/bench`.
pub fn install_bench_packages(workspace: &Workspace) -> Result<()> {
    let why = "the searches that are compared, browser driver";
    install(workspace, &workspace.bench(), why)
}

/// Installs the packages of `tests/bundlers`.
pub fn install_bundlers(workspace: &Workspace) -> Result<()> {
    let why = "the bundlers whose pages are tested";
    install(workspace, &workspace.bundlers(), why)
}

/// Installs the packages of `www/site`.
pub fn install_site_packages(workspace: &Workspace) -> Result<()> {
    let why = "the generator of the project's site";
    install(workspace, &workspace.project_package(), why)
}

/// Installs exactly what the package's lock file names; install scripts are not run, so
/// nothing is downloaded but the packages.
fn install(workspace: &Workspace, package: &Path, why: &str) -> Result<()> {
    let stamp = Inputs::new("npm ci")
        .path(package, "package-lock.json")?
        .stamp_for(&package.join("node_modules/.bin"));
    let lock = package.join("package-lock.json");
    if stamp.is_fresh() {
        say(&format!("npm packages: as in {}", lock.display()));
        return Ok(());
    }
    say(&format!(
        "npm packages: installing those of {} ({why})",
        lock.display()
    ));
    let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    process::run(npm(workspace, package).args(options))?;
    stamp.write()
}

/// `npm run SCRIPT` in `www`, told where things are by these variables:
/// SISKIN_WASM_DIR (wasm-bindgen's output, one folder per module), SISKIN_DIST_DIR
/// (runtime files), SISKIN_SITE_DIR (the indexed sample site), SISKIN_STARLIGHT_DIR (the one
/// with a search box made for Pagefind), SISKIN_PROJECT_DIR (the project's own site), SISKIN_PACKAGES_DIR (the packages),
/// SISKIN_BINARY (the command) and, where one is found, SISKIN_CHROME (the browser).
pub fn script(workspace: &Workspace, name: &str) -> Command {
    let mut command = npm(workspace, &workspace.www());
    command
        .args(["run", "--silent", name])
        .env("SISKIN_WASM_DIR", workspace.wasm())
        .env("SISKIN_DIST_DIR", workspace.dist())
        .env("SISKIN_SITE_DIR", workspace.demo_site())
        .env("SISKIN_STARLIGHT_DIR", workspace.starlight_site())
        .env("SISKIN_PACKAGES_DIR", workspace.packages())
        .env("SISKIN_PROJECT_DIR", workspace.project_site())
        .env("SISKIN_BINARY", binary::path(workspace, binary::SISKIN));
    if let Some(chrome) = crate::chrome::find(workspace) {
        command.env("SISKIN_CHROME", chrome);
    }
    command
}

/// The generator of the project's site, told where to write it by SISKIN_SITE_OUT.
pub fn build_site(workspace: &Workspace, out: &Path) -> Command {
    let mut command = npm(workspace, &workspace.project_package());
    command
        .args(["run", "--silent", "build"])
        .env("SISKIN_SITE_OUT", out);
    command
}

/// The tests of `www/site`.
pub fn site_tests(workspace: &Workspace) -> Command {
    let mut command = npm(workspace, &workspace.project_package());
    command.args(["run", "--silent", "test"]);
    command
}

/// Pagefind's command, of the packages of `tests/bench`.
pub fn pagefind(workspace: &Workspace) -> Command {
    let mut command = workspace.command("node");
    command.arg(
        workspace
            .bench()
            .join("node_modules/pagefind/lib/runner/bin.cjs"),
    );
    command
}

/// The tests of `tests/bench`.
pub fn bench_tests(workspace: &Workspace) -> Command {
    let mut command = npm(workspace, &workspace.bench());
    command.args(["run", "--silent", "test"]);
    command
}

fn npm(workspace: &Workspace, package: &Path) -> Command {
    let mut command = workspace.command("npm");
    command.arg("--prefix").arg(package);
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
