//! Where everything lies: the checkout, cargo's target folder, the cache.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow};

use crate::process;

/// The folders that the steps read and write.
pub struct Workspace {
    root: PathBuf,
    target: PathBuf,
    cache: PathBuf,
}

impl Workspace {
    /// Asks cargo for the checkout's root and target folder.
    ///
    /// Fails outside a cargo workspace, or where neither HOME nor SISKIN_CACHE is set.
    pub fn locate() -> Result<Self> {
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
        let metadata: serde_json::Value = serde_json::from_str(&process::capture(&mut cargo)?)
            .context("cargo metadata printed something other than JSON")?;
        Ok(Self {
            root: folder_in(&metadata, "workspace_root")?,
            target: folder_in(&metadata, "target_directory")?,
            cache: cache_folder()?,
        })
    }

    /// The checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Cargo's target folder.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// What outlives the target folder: tools and downloaded models.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Root of `cargo install`: binaries are in its `bin`.
    pub fn tools(&self) -> PathBuf {
        self.cache.join("tools")
    }

    /// The npm package.
    pub fn www(&self) -> PathBuf {
        self.root.join("www")
    }

    /// The comparison with other searches, an npm package of its own.
    pub fn bench(&self) -> PathBuf {
        self.root.join("tests/bench")
    }

    /// Pages that are bundled, an npm package of its own.
    pub fn bundlers(&self) -> PathBuf {
        self.root.join("tests/bundlers")
    }

    /// The released encoder.
    pub fn encoder(&self) -> PathBuf {
        self.root.join("models/siskin-en")
    }

    /// The released encoder that reads queries alone, for indexes of [`Self::encoder`].
    pub fn query_encoder(&self) -> PathBuf {
        self.root.join("models/siskin-en-small")
    }

    /// The sample site, as committed.
    pub fn sample_site(&self) -> PathBuf {
        self.root.join("tests/sites/rust-book")
    }

    /// wasm-bindgen's output, one folder per module. (`wasm` is cargo's, for the profile.)
    pub fn wasm(&self) -> PathBuf {
        self.target.join("wasm-modules")
    }

    /// The runtime files that the `siskin` command puts beside an index.
    pub fn dist(&self) -> PathBuf {
        self.target.join("dist")
    }

    /// The packages of a release.
    pub fn packages(&self) -> PathBuf {
        self.target.join("packages")
    }

    /// A copy of the sample site with its index.
    pub fn demo_site(&self) -> PathBuf {
        self.target.join("demo/rust-book")
    }

    /// A copy of the site that Starlight built, indexed in Pagefind's place.
    pub fn starlight_site(&self) -> PathBuf {
        self.target.join("demo/starlight")
    }

    /// The generator of the project's own site, an npm package of its own.
    pub fn project_package(&self) -> PathBuf {
        self.root.join("www/site")
    }

    /// The project's own site with its index and the demo, ready to serve.
    pub fn project_site(&self) -> PathBuf {
        self.target.join("demo/project")
    }

    /// A copy of the site that the demo searches, with the indexes of both searches.
    pub fn shown_site(&self) -> PathBuf {
        self.target.join("demo/shown")
    }

    /// A command that runs in the checkout and finds our tools before others.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env("PATH", self.search_path())
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// PATH with our tools in front; unchanged PATH where it cannot be extended.
    pub fn search_path(&self) -> std::ffi::OsString {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let ours = [
            self.tools().join("bin"),
            self.www().join("node_modules/.bin"),
        ];
        env::join_paths(ours.into_iter().chain(env::split_paths(&inherited))).unwrap_or(inherited)
    }

    /// The first file of that name in the folders of [`Self::search_path`].
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        env::split_paths(&self.search_path())
            .map(|folder| folder.join(format!("{name}{}", env::consts::EXE_SUFFIX)))
            .find(|file| file.is_file())
    }
}

fn folder_in(metadata: &serde_json::Value, key: &str) -> Result<PathBuf> {
    metadata
        .get(key)
        .and_then(serde_json::Value::as_str)
        .map(PathBuf::from)
        .ok_or_else(|| anyhow!("cargo metadata names no {key}"))
}

fn cache_folder() -> Result<PathBuf> {
    if let Some(folder) = env::var_os("SISKIN_CACHE") {
        return Ok(folder.into());
    }
    let home = env::home_dir().context("HOME is not set: set it, or set SISKIN_CACHE")?;
    Ok(home.join(".cache/siskin"))
}
