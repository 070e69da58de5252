//! The npm packages: `siskin`, the encoder, and the command for this platform.

use std::env::consts;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::platform::{PLATFORMS, Platform};
use super::{VERSION, copy_encoder, copy_files, copy_licences, copy_runtime};
use crate::process::{self, say};
use crate::workspace::Workspace;
use crate::{binary, files};

const MANIFEST: &str = "package.json";
const README: &str = "README.md";

/// Packs all of them into `out`.
pub fn pack(workspace: &Workspace, contents: &Path, out: &Path) -> Result<()> {
    say("npm: packing siskin, its encoder and its command");
    let encoder = encoder(workspace, &contents.join("encoder-en"))?;
    let platform = Platform::of_this_machine()?;
    command(workspace, platform, &contents.join("command"))?;
    package(workspace, &encoder, &contents.join("siskin"))?;
    let mut npm = workspace.command("npm");
    npm.args(["pack", "--silent", "--pack-destination"])
        .arg(out);
    for folder in ["encoder-en", "command", "siskin"] {
        npm.arg(contents.join(folder));
    }
    process::run(&mut npm)
}

/// Fills `to` with the main package, which depends on exactly the `encoder` and on the commands of this
/// version.
fn package(workspace: &Workspace, encoder: &Value, to: &Path) -> Result<()> {
    let source = workspace.root().join("crates/cli/packages/npm/siskin");
    copy_files(&source, &[MANIFEST, README], to)?;
    copy_licences(workspace, to)?;
    copy_runtime(workspace, &to.join("dist"))?;
    for name in ["node", "edge", "bundled"] {
        let built = workspace.target().join(format!("dist-{name}"));
        files::copy_folder(&built, &to.join(name))?;
    }
    // By npm, which keeps the order of the conditions in `exports`: the first that holds counts.
    let mut npm = workspace.command("npm");
    npm.current_dir(to)
        .args(["pkg", "set"])
        .arg(format!("version={VERSION}"))
        .arg(format!(
            "dependencies.{}={}",
            text(encoder, "name")?,
            text(encoder, "version")?
        ))
        .args(PLATFORMS.iter().map(|platform| {
            let name = platform.package();
            format!("optionalDependencies.{name}={VERSION}")
        }));
    process::run(&mut npm)
}

/// Fills `to` with the encoder's package; returns its manifest.
fn encoder(workspace: &Workspace, to: &Path) -> Result<Value> {
    let source = workspace.root().join("crates/cli/packages/npm/encoder-en");
    copy_files(&source, &[MANIFEST], to)?;
    copy_encoder(workspace, to)?;
    copy_files(&workspace.encoder(), &[README], to)?;
    copy_licences(workspace, to)?;
    read_manifest(&source)
}

/// Fills `to` with the package of the command for `platform`, which must be this machine's.
fn command(workspace: &Workspace, platform: &Platform, to: &Path) -> Result<()> {
    let name = platform.package();
    let mut manifest = json!({
        "name": name,
        "version": VERSION,
        "description": format!("The siskin command for {} on {}.", platform.os, platform.cpu),
        "license": "MIT OR Apache-2.0",
        "os": [platform.os],
        "cpu": [platform.cpu],
        "preferUnplugged": true,
    });
    if let Some(libc) = platform.libc {
        manifest["libc"] = json!([libc]);
    }
    let manifest = serde_json::to_string_pretty(&manifest)?;
    write(&to.join(MANIFEST), &(manifest + "\n"))?;
    let readme = format!("# {name}\n\nComes with the package `siskin`, which runs it.\n");
    write(&to.join(README), &readme)?;
    copy_licences(workspace, to)?;
    let file = format!("siskin{}", consts::EXE_SUFFIX);
    let siskin = binary::path(workspace, binary::SISKIN);
    files::copy_file(&siskin, &to.join("bin").join(file))
}

fn text<'m>(manifest: &'m Value, key: &str) -> Result<&'m str> {
    let value = manifest[key].as_str();
    value.with_context(|| format!("a {MANIFEST} has no {key}"))
}

fn read_manifest(folder: &Path) -> Result<Value> {
    let file = folder.join(MANIFEST);
    let cannot = || format!("cannot read {}", file.display());
    let text = fs::read_to_string(&file).with_context(cannot)?;
    serde_json::from_str(&text).with_context(cannot)
}

fn write(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        files::create_folder(folder)?;
    }
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_looked_for_under_the_packages_name() {
        let workspace = Workspace::locate().unwrap();
        let lookup = workspace.www().join("src/node/command.ts");
        let text = fs::read_to_string(lookup).unwrap();
        assert!(text.contains("`@siskin/${process.platform}-${process.arch}`"));
        let package = Platform::of_this_machine().unwrap().package();
        let mut node = workspace.command("node");
        node.args(["--print", "`@siskin/${process.platform}-${process.arch}`"]);
        assert_eq!(process::capture(&mut node).unwrap().trim(), package);
    }

    #[test]
    fn the_encoder_is_looked_for_under_its_packages_name() {
        let workspace = Workspace::locate().unwrap();
        let manifest =
            read_manifest(&workspace.root().join("crates/cli/packages/npm/encoder-en")).unwrap();
        let lookup = fs::read_to_string(workspace.www().join("src/node/command.ts")).unwrap();
        assert!(lookup.contains(&format!("\"{}\"", text(&manifest, "name").unwrap())));
    }
}
