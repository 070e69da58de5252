//! From documentation to figures, by the commands that a person would type, with the real base model:
//! `pairs`, `mine`, `fit`, `rows`, `export`, then `siskin eval` with what came out.
//!
//! Needs the base weights where `cargo xtask base-model` puts them, and the binary `siskin` beside
//! `siskin-train`, where `cargo test --workspace` builds it. Linux only: it reads `/proc`.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

/// All of it takes at most so long, in time of one processor: what else the machine does is not counted.
const LIMIT_S: f64 = 180.0;

/// Chapters that are trained on, and others that are asked about.
const TRAINED: [&str; 6] = [
    "ch03-01", "ch03-02", "ch03-03", "ch04-01", "ch04-02", "ch05-01",
];
const ASKED: [&str; 4] = ["ch08-01", "ch08-02", "ch08-03", "ch09-01"];

struct Work {
    folder: tempfile::TempDir,
}

impl Work {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Copies chapters of the Rust Book to a site of their own.
    fn site(&self, name: &str, chapters: &[&str]) -> Result<()> {
        let book = repository().join("tests/sites/rust-book");
        let site = self.folder.path().join(name);
        std::fs::create_dir(&site)?;
        for entry in std::fs::read_dir(book)? {
            let entry = entry?;
            let file = entry.file_name();
            let file = file.to_string_lossy();
            if chapters.iter().any(|chapter| file.starts_with(chapter)) {
                std::fs::copy(entry.path(), site.join(&*file))?;
            }
        }
        Ok(())
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn base() -> Result<String> {
    let folder = match std::env::var("SISKIN_BASE_MODEL") {
        Ok(folder) => folder,
        Err(_) => std::env::var("HOME").context("HOME is not set")? + "/.cache/siskin/base-model",
    };
    Ok(folder)
}

/// Runs a command line and gives what it printed.
fn run(program: &Path, line: &str) -> Result<String> {
    let output = Command::new(program)
        .args(line.split_whitespace())
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(
        output.status.success(),
        "{} {line}\n{}",
        program.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn documentation_becomes_an_encoder_that_finds_pages_of_another_site() -> Result<()> {
    let begun = Instant::now();
    let work = Work {
        folder: tempfile::tempdir()?,
    };
    work.site("trained", &TRAINED)?;
    work.site("asked", &ASKED)?;
    let train = Path::new(env!("CARGO_BIN_EXE_siskin-train"));
    for line in training(&work)? {
        run(train, &line)?;
    }
    let (asked, encoder) = (work.path("pairs/asked"), work.path("encoder"));
    let report = run(
        &train.with_file_name("siskin"),
        &format!("eval {asked} --split dev --mode table,full --encoder {encoder} --json"),
    )?;
    let report: serde_json::Value = serde_json::from_str(&report)?;
    for system in ["table", "full"] {
        let found = report["systems"][system]["ndcg@10"].as_f64();
        let found = found.with_context(|| format!("{system}: {report}"))?;
        assert!(found > 0.5, "{system}: {found}");
    }
    let (wall_s, processor_s) = (begun.elapsed().as_secs_f64(), processor_seconds()?);
    eprintln!("from pairs to figures in {wall_s:.0} s, {processor_s:.0} s of a processor");
    assert!(processor_s < LIMIT_S, "{processor_s} s");
    Ok(())
}

/// The command lines from two sites to an encoder.
fn training(work: &Work) -> Result<[String; 5]> {
    let base = base()?;
    let [trained, asked, pairs] = ["trained", "asked", "pairs"].map(|name| work.path(name));
    let [checkpoint, negatives] = ["checkpoint", "negatives"].map(|name| work.path(name));
    let [rows, encoder] = ["rows.safetensors", "encoder"].map(|name| work.path(name));
    Ok([
        format!("pairs {trained} {asked} --dev asked --out {pairs}"),
        format!("mine --pairs {pairs}/trained --out {negatives}"),
        format!(
            "fit --recipe docs --base {base} --pairs {pairs}/trained --negatives {negatives} \
             --out {checkpoint} --buckets 6:512:4 --sample-tokens 4000 --steps 3 --warm-up-steps 1 \
             --batch-pairs 6 --held-out-queries 4 --held-out-passages 12"
        ),
        format!(
            "rows --base {base} --checkpoint {checkpoint} --texts {pairs}/trained --out {rows} --held-out 20"
        ),
        format!("export --base {base} --checkpoint {checkpoint} --rows {rows} --out {encoder}"),
    ])
}

/// Seconds that the commands run so far have computed (`proc(5)`: cutime and cstime, in hundredths).
fn processor_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat
        .rsplit_once(')')
        .context("no name in /proc/self/stat")?
        .1;
    let ticks = |field: usize| -> Result<f64> {
        let value = after_name.split_whitespace().nth(field - 3);
        Ok(value
            .context("too few fields in /proc/self/stat")?
            .parse()?)
    };
    Ok((ticks(16)? + ticks(17)?) / 100.0)
}
