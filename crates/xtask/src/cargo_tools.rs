//! Tools that `cargo install` builds from source: wasm-bindgen, wasm-pack and geckodriver.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use crate::process::{self, say};
use crate::workspace::Workspace;

/// wasm-pack's version; any that knows `--profile` and wasm-bindgen's version will do.
const WASM_PACK_VERSION: &str = "0.15.1";

/// geckodriver's version; newer ones drive newer Firefoxes.
const GECKODRIVER_VERSION: &str = "0.37.1";

/// These tools run for seconds and compile for minutes, so they are compiled quickly.
const BUILD_SETTINGS: [(&str, &str); 4] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
];

struct CargoTool {
    package: &'static str,
    binary: &'static str,
    version: String,
    /// Why this version.
    reason: &'static str,
    features: &'static [&'static str],
}

/// Installs wasm-bindgen at the version of the crate in Cargo.lock, and wasm-pack.
pub fn install(workspace: &Workspace) -> Result<()> {
    let lock_file = workspace.root().join("Cargo.lock");
    ensure(workspace, &wasm_bindgen(&lock_file)?)?;
    ensure(workspace, &wasm_pack())
}

/// Installs geckodriver, by which the browser tests drive Firefox.
pub fn install_geckodriver(workspace: &Workspace) -> Result<()> {
    let tool = CargoTool {
        package: "geckodriver",
        binary: "geckodriver",
        version: GECKODRIVER_VERSION.to_owned(),
        reason: "it drives Firefox",
        features: &[],
    };
    ensure(workspace, &tool)
}

/// Versions of the tools that turn Rust into browser modules, for stamps.
pub fn versions(workspace: &Workspace) -> Result<String> {
    let lock_file = workspace.root().join("Cargo.lock");
    let wasm_bindgen = wasm_bindgen(&lock_file)?.version;
    Ok(format!(
        "wasm-bindgen {wasm_bindgen}, wasm-pack {WASM_PACK_VERSION}"
    ))
}

fn wasm_bindgen(lock_file: &Path) -> Result<CargoTool> {
    let lock = std::fs::read_to_string(lock_file)
        .with_context(|| format!("cannot read {}", lock_file.display()))?;
    Ok(CargoTool {
        package: "wasm-bindgen-cli",
        binary: "wasm-bindgen",
        version: locked_version(&lock, "wasm-bindgen")?,
        reason: "it must equal the wasm-bindgen crate in Cargo.lock",
        // The features only choose how its test runner speaks TLS; it is not built.
        features: &["--no-default-features", "--bin", "wasm-bindgen"],
    })
}

fn wasm_pack() -> CargoTool {
    CargoTool {
        package: "wasm-pack",
        binary: "wasm-pack",
        version: WASM_PACK_VERSION.to_owned(),
        reason: "it builds the browser modules",
        features: &[],
    }
}

/// The version of `package` in the text of a Cargo.lock.
///
/// Fails where the lock holds no such package, or several versions of it.
fn locked_version(lock: &str, package: &str) -> Result<String> {
    let name_line = format!("name = \"{package}\"");
    let mut versions = lock
        .split("[[package]]")
        .filter(|entry| entry.lines().any(|line| line == name_line))
        .filter_map(|entry| quoted_value(entry, "version"));
    let version = versions
        .next()
        .ok_or_else(|| anyhow!("Cargo.lock holds no package {package}"))?;
    if versions.next().is_some() {
        bail!("Cargo.lock holds several versions of {package}: cargo tree -i {package} tells why");
    }
    Ok(version.to_owned())
}

fn quoted_value<'a>(entry: &'a str, key: &str) -> Option<&'a str> {
    entry.lines().find_map(|line| {
        line.strip_prefix(key)?
            .strip_prefix(" = \"")?
            .strip_suffix('"')
    })
}

fn ensure(workspace: &Workspace, tool: &CargoTool) -> Result<()> {
    let CargoTool {
        binary, version, ..
    } = tool;
    if installed_version(workspace, binary).as_deref() == Some(version) {
        say(&format!("{binary} {version}: found"));
        return Ok(());
    }
    say(&format!(
        "{binary} {version}: building it, a few minutes ({})",
        tool.reason
    ));
    build(workspace, tool)
}

/// The version that `BINARY --version` prints as its second word, if it runs at all.
fn installed_version(workspace: &Workspace, binary: &str) -> Option<String> {
    let program = workspace.find_program(binary)?;
    let printed = process::capture(workspace.command(program).arg("--version")).ok()?;
    printed.split_whitespace().nth(1).map(str::to_owned)
}

/// Tries the tool's own lock file first. A registry mirror may lag behind it; then the
/// newest releases that the mirror has are used.
fn build(workspace: &Workspace, tool: &CargoTool) -> Result<()> {
    let locked = process::run(cargo_install(workspace, tool).arg("--locked"));
    let Err(error) = locked else { return Ok(()) };
    say(&format!(
        "{error}: its lock file may name releases this registry lacks; trying without it"
    ));
    process::run(&mut cargo_install(workspace, tool))
}

fn cargo_install(workspace: &Workspace, tool: &CargoTool) -> Command {
    let tools = workspace.tools();
    let mut command = workspace.command("cargo");
    command
        .args(["install", tool.package])
        .arg(format!("--version={}", tool.version))
        .args(tool.features)
        .arg("--root")
        .arg(&tools)
        // One build folder for all tools: they share many dependencies.
        .env("CARGO_TARGET_DIR", tools.join("build"))
        .envs(BUILD_SETTINGS);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 4

[[package]]
name = "wasm-bindgen"
version = "0.2.130"
source = "registry"
dependencies = [
 "cfg-if",
 "wasm-bindgen-macro",
]

[[package]]
name = "wasm-bindgen-macro"
version = "0.2.131"

[[package]]
name = "zip"
version = "1.0.0"

[[package]]
name = "zip"
version = "2.0.0"
"#;

    #[test]
    fn the_locked_version_is_of_exactly_that_package() {
        assert_eq!(locked_version(LOCK, "wasm-bindgen").unwrap(), "0.2.130");
    }

    #[test]
    fn a_package_that_is_not_locked_is_named() {
        let error = locked_version(LOCK, "wasm").unwrap_err();
        assert_eq!(error.to_string(), "Cargo.lock holds no package wasm");
    }

    #[test]
    fn two_locked_versions_are_refused() {
        let error = locked_version(LOCK, "zip").unwrap_err();
        assert!(error.to_string().contains("several versions of zip"));
    }

    #[test]
    fn the_workspaces_own_lock_file_is_understood() {
        let lock_file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        let version = wasm_bindgen(&lock_file).unwrap().version;
        assert_eq!(version.split('.').count(), 3, "{version}");
    }
}
