//! The browser modules: wasm-pack, then wasm-opt.

use std::path::Path;

use anyhow::Result;

use crate::process::{self, say};
use crate::stamp::{Inputs, Stamp};
use crate::workspace::Workspace;
use crate::{cargo_tools, files};

/// One browser module.
struct Module {
    /// Folder of its crate.
    crate_folder: &'static str,
    /// Folder of its output under [`Workspace::wasm`].
    output: &'static str,
    /// Name of its files.
    stem: &'static str,
    /// Features of its crate.
    features: &'static str,
    /// Cargo's profile.
    profile: &'static str,
    /// What wasm-opt does after [`WASM_PASSES`].
    passes: &'static [&'static str],
    /// What it is compiled from.
    sources: &'static [&'static str],
}

const ENCODER_SOURCES: [&str; 5] = [
    "crates/core",
    "crates/encoder",
    "crates/lean",
    "web/edge",
    "web/encoder",
];

const MODULES: [Module; 3] = [
    Module {
        crate_folder: "web/search",
        output: "search",
        stem: "siskin_web",
        features: "",
        profile: "wasm",
        passes: &[],
        sources: &["crates/core", "web/edge", "web/search"],
    },
    Module {
        crate_folder: "web/encoder",
        output: "encoder",
        stem: "siskin_web_encoder",
        features: "",
        profile: "wasm-encoder",
        // Fewer bytes in brotli here, more of the other modules.
        passes: &["-O1"],
        sources: &ENCODER_SOURCES,
    },
    Module {
        crate_folder: "web/encoder",
        output: "tract",
        stem: "siskin_web_tract",
        features: "tract",
        profile: "wasm",
        passes: &[],
        sources: &ENCODER_SOURCES,
    },
];

const BUILD_FILES: [&str; 4] = [
    "Cargo.lock",
    "Cargo.toml",
    ".cargo/config.toml",
    "rust-toolchain.toml",
];

/// What wasm-opt does: it leaves out names and tool versions, a quarter of the bytes, and functions that are there
/// twice or that nothing calls. `-Oz` on top takes minutes and yields fewer bytes raw but more in brotli.
const WASM_PASSES: [&str; 5] = [
    "--strip-debug",
    "--strip-producers",
    "--strip-target-features",
    "--duplicate-function-elimination",
    "--remove-unused-module-elements",
];

/// What wasm-opt may meet: the features that the Rust toolchain and simd128 emit.
/// All are in every browser since 2023.
const WASM_FEATURES: [&str; 7] = [
    "--enable-simd",
    "--enable-bulk-memory",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Builds all modules into TARGET/wasm-modules/{search,encoder,tract}; leaves unchanged ones alone.
pub fn build(workspace: &Workspace) -> Result<()> {
    for module in &MODULES {
        build_module(workspace, module)?;
    }
    Ok(())
}

fn build_module(workspace: &Workspace, module: &Module) -> Result<()> {
    let output = workspace.wasm().join(module.output);
    let stamp = stamp(workspace, module, &output)?;
    if stamp.is_fresh() {
        say(&format!("wasm module {}: unchanged", module.stem));
        return Ok(());
    }
    say(&format!(
        "wasm module {}: compiling for size, with link-time optimisation",
        module.stem
    ));
    let staging = files::staging_beside(&output)?;
    compile(workspace, module, &staging)?;
    optimize(workspace, module, &staging)?;
    files::replace(&output, &staging)?;
    stamp.write()
}

fn stamp(workspace: &Workspace, module: &Module, output: &Path) -> Result<Stamp> {
    let settings = format!(
        "{} {WASM_PASSES:?} {:?} {WASM_FEATURES:?} {} {}",
        cargo_tools::versions(workspace)?,
        module.passes,
        module.profile,
        module.features
    );
    let mut inputs = Inputs::new(&settings);
    for source in BUILD_FILES.iter().chain(module.sources) {
        inputs = inputs.path(workspace.root(), source)?;
    }
    Ok(inputs.stamp_for(output))
}

/// `--mode no-install`: wasm-pack otherwise downloads binaries. `--no-opt`: wasm-opt is
/// run by [`optimize`].
fn compile(workspace: &Workspace, module: &Module, staging: &Path) -> Result<()> {
    let mut wasm_pack = workspace.command("wasm-pack");
    wasm_pack
        .args(["build", "--mode", "no-install", "--target", "web"])
        .args(["--profile", module.profile, "--no-opt", "--no-pack"])
        .args(["--out-name", module.stem, "--out-dir"])
        .arg(staging)
        .arg(workspace.root().join(module.crate_folder))
        .args(["--", "--locked", "--features", module.features]);
    process::run(&mut wasm_pack)
}

fn optimize(workspace: &Workspace, module: &Module, staging: &Path) -> Result<()> {
    let wasm = staging.join(format!("{}_bg.wasm", module.stem));
    let mut wasm_opt = workspace.command("wasm-opt");
    wasm_opt
        .args(WASM_PASSES)
        .args(module.passes)
        .args(WASM_FEATURES)
        .arg(&wasm)
        .arg("-o")
        .arg(&wasm);
    process::run(&mut wasm_opt)
}
