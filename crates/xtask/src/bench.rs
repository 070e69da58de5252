//! `cargo xtask bench`: Siskin measured beside other searches.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};

use crate::process::{self, say};
use crate::workspace::Workspace;
use crate::{binary, chrome, dist, npm, setup};

const SISKIN: &str = "siskin";

/// What is measured.
#[derive(Subcommand)]
pub enum Bench {
    /// Compare with Pagefind, MiniSearch, Orama and lunr; write docs/benchmarks.md.
    ///
    /// Measures bytes, requests, times and memory in Chromium, cost of indexing, and nDCG@10.
    /// Results are merged into OUT/results.json, so that any part can be run again.
    Rivals(Arguments),
    /// Measure how fast posting lists are decoded and counted, natively and in WebAssembly with and
    /// without simd128; write docs/codecs.md.
    Codecs,
}

/// Options of the comparison.
#[derive(Args)]
pub struct Arguments {
    /// Folder with rust-book, opensearch and mdn: Markdown, as folders or .tar.gz.
    #[arg(long, value_name = "FOLDER")]
    docs: Option<PathBuf>,
    /// Folder with docs-SITE-anchors: BEIR collections, as folders or .tar.gz; not for --growth.
    #[arg(long, value_name = "FOLDER")]
    beir: Option<PathBuf>,
    /// Measure on this site only: rust-book, opensearch or mdn; may be given several times.
    #[arg(long, value_name = "SITE")]
    site: Vec<String>,
    /// Measure this system only; may be given several times.
    #[arg(long, value_name = "SYSTEM")]
    system: Vec<String>,
    /// Measure this part only: index, browser or quality; may be given several times.
    #[arg(long, value_name = "PART")]
    part: Vec<String>,
    /// Take Siskin's index from here instead of making it; needs one --site.
    ///
    /// What it cost is read from FOLDER.cost.json, if tests/bench/measure.py wrote that.
    #[arg(long, value_name = "FOLDER")]
    bundle: Option<PathBuf>,
    /// Longest time of indexing, in minutes.
    #[arg(long, value_name = "MINUTES", default_value_t = 120)]
    limit: u32,
    /// Where results, sites and indexes go [default: TARGET/bench].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Measure Siskin and Pagefind on an eighth, a quarter, half and all of MDN.
    #[arg(long, conflicts_with_all = ["site", "part", "bundle"])]
    growth: bool,
}

/// Runs what was asked for.
pub fn run(workspace: &Workspace, bench: &Bench) -> Result<()> {
    match bench {
        Bench::Rivals(arguments) => rivals(workspace, arguments),
        Bench::Codecs => codecs(workspace),
    }
}

const CODECS: &str = "siskin-bench-codecs";
/// WebAssembly with a clock, which Node runs.
const WASI: &str = "wasm32-wasip1";
const CODECS_PAGE: &str = "\
# How fast posting lists are read

Written by `cargo xtask bench codecs`: lists over 14,593 units, 64 of each kind, nanoseconds a posting in
the fastest of 15 rounds. *Plain* is the rival of the same run: numbers of 32 bits, copied and counted alike.
*Counted* is decoding and counting per unit how many lists have it, as overlaps are counted. Lists of up to
some 30 % are interpolative codes, denser ones bitmaps (the shorter is chosen); in clustered lists half of
the units of a run of 32 are in the list. Times differ by a third from run to run on a shared machine.

Why this code: the positions of MDN's 6,000 most frequent words took 1,279 KB as gaps packed in blocks of 128,
969 KB as Rice codes with a parameter for each list, 837 KB as interpolative codes. Elias-Fano takes about
2 + log2(units / postings) bits wherever the postings stand, so it cannot gain from pages that are alike having
near numbers.

| | density | bits a posting | decoded, ns | plain, ns | counted, ns | plain, ns |
|---|---|---:|---:|---:|---:|---:|
";

fn codecs(workspace: &Workspace) -> Result<()> {
    npm::check_node(workspace)?;
    process::run(Command::new("rustup").args(["target", "add", WASI]))?;
    let mut page = CODECS_PAGE.to_owned();
    let build = |target: Option<&str>, features: &str| -> Result<PathBuf> {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--package", CODECS]);
        cargo.current_dir(workspace.root());
        // A folder of its own: what the workspace was built with is left alone.
        let folder = workspace.target().join("codecs").join(features);
        cargo.env("CARGO_TARGET_DIR", &folder);
        if let Some(target) = target {
            cargo.args(["--target", target]);
            cargo.env("RUSTFLAGS", features);
        }
        process::run(&mut cargo)?;
        Ok(folder.join(target.unwrap_or_default()).join("release"))
    };
    let native = build(None, "native")?.join(CODECS);
    page += &process::capture(Command::new(native).arg("native"))?;
    for (name, features) in [
        ("WebAssembly", "-Ctarget-feature=-simd128"),
        ("WebAssembly, simd128", "-Ctarget-feature=+simd128"),
    ] {
        let module = build(Some(WASI), features)?.join(format!("{CODECS}.wasm"));
        let mut node = node(workspace, "wasi.js");
        page += &process::capture(node.arg(module).arg(name))?;
    }
    let path = workspace.root().join("docs/codecs.md");
    std::fs::write(&path, &page).with_context(|| format!("cannot write {}", path.display()))?;
    say(&format!("bench: written to {}", path.display()));
    Ok(())
}

fn rivals(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let inputs = inputs(arguments)?;
    npm::check_node(workspace)?;
    npm::install_bench_packages(workspace)?;
    chrome::install(workspace)?;
    if arguments.indexes_siskin() {
        setup::build_tools(workspace)?;
        dist::run(workspace)?;
        binary::compile(workspace, binary::SISKIN)?;
    }
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| workspace.target().join("bench"));
    say("bench: rendering, indexing and asking; minutes a site and system, hours for mdn");
    let measured = process::run(&mut measure_command(workspace, arguments, &inputs, &out));
    report(workspace, &out)?;
    measured.context("a measurement of Siskin, or the bench itself, failed")
}

/// Node's options for the two folders; without them nothing can be measured.
fn inputs(arguments: &Arguments) -> Result<Vec<&Path>> {
    let beir = arguments.beir.as_deref();
    let (Some(docs), true) = (&arguments.docs, beir.is_some() || arguments.growth) else {
        bail!(
            "the bench reads documentation that is not in the repository: name with --docs a folder \
             with rust-book, opensearch and mdn (Markdown; folders or .tar.gz), and with --beir one \
             with docs-SITE-anchors (BEIR; folders or .tar.gz)"
        );
    };
    if arguments.bundle.is_some() && arguments.site.len() != 1 {
        bail!("--bundle holds the index of one site: name it with --site");
    }
    let mut inputs = vec![Path::new("--docs"), docs.as_path()];
    if let Some(beir) = beir {
        inputs.extend([Path::new("--beir"), beir]);
    }
    Ok(inputs)
}

impl Arguments {
    fn indexes_siskin(&self) -> bool {
        let has_siskin = self.system.is_empty() || self.system.iter().any(|name| name == SISKIN);
        let has_index = self.part.is_empty() || self.part.iter().any(|part| part == "index");
        has_siskin && has_index && self.bundle.is_none()
    }
}

fn measure_command(
    workspace: &Workspace,
    arguments: &Arguments,
    inputs: &[&Path],
    out: &Path,
) -> Command {
    let mut node = node(workspace, "bench.js");
    node.args(inputs).arg("--out").arg(out);
    node.arg("--limit").arg(arguments.limit.to_string());
    for (option, values) in [
        ("--site", &arguments.site),
        ("--system", &arguments.system),
        ("--part", &arguments.part),
    ] {
        for value in values {
            node.args([option, value]);
        }
    }
    if let Some(bundle) = &arguments.bundle {
        node.arg("--bundle").arg(bundle);
    }
    if arguments.growth {
        node.arg("--growth");
    }
    node
}

fn report(workspace: &Workspace, out: &Path) -> Result<()> {
    if !out.join("results.json").is_file() {
        say("bench: no comparison yet, so docs/benchmarks.md is left as it is");
        return Ok(());
    }
    let docs = workspace.root().join("docs");
    process::run(node(workspace, "report.js").arg(out).arg(&docs))?;
    say(&format!(
        "bench: written to {}",
        docs.join("benchmarks.md").display()
    ));
    Ok(())
}

/// A script of the bench, told where things are as the npm scripts of `www` are.
fn node(workspace: &Workspace, script: &str) -> Command {
    let mut command = workspace.command("node");
    command
        .arg(workspace.bench().join(script))
        .env("SISKIN_BINARY", binary::path(workspace, binary::SISKIN))
        .env("SISKIN_DIST_DIR", workspace.dist())
        .env("SISKIN_ENCODER_DIR", workspace.encoder());
    if let Some(browser) = chrome::find(workspace) {
        command.env("SISKIN_CHROME", browser);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments() -> Arguments {
        Arguments {
            docs: Some("docs".into()),
            beir: Some("beir".into()),
            site: Vec::new(),
            system: Vec::new(),
            part: Vec::new(),
            bundle: None,
            limit: 120,
            out: None,
            growth: false,
        }
    }

    #[test]
    fn without_the_folders_it_says_what_it_needs() {
        let mut missing = arguments();
        missing.beir = None;
        let error = inputs(&missing).unwrap_err().to_string();
        assert!(
            error.contains("--docs") && error.contains("--beir"),
            "{error}"
        );
    }

    #[test]
    fn growth_needs_no_judgments() {
        let mut given = arguments();
        given.beir = None;
        given.growth = true;
        assert_eq!(inputs(&given).unwrap().len(), 2);
    }

    #[test]
    fn a_bundle_belongs_to_one_site() {
        let mut given = arguments();
        given.bundle = Some("bundle".into());
        assert!(inputs(&given).is_err());
        given.site = vec!["mdn".to_owned()];
        assert!(inputs(&given).is_ok());
    }

    #[test]
    fn siskin_is_built_only_where_it_is_indexed() {
        let mut given = arguments();
        assert!(given.indexes_siskin());
        given.system = vec!["pagefind".to_owned()];
        assert!(!given.indexes_siskin());
        given.system.push("siskin".to_owned());
        assert!(given.indexes_siskin());
        given.part = vec!["quality".to_owned()];
        assert!(!given.indexes_siskin());
    }
}
