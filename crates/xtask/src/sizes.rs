//! Sizes of the runtime files: raw, and brotli as a host would send them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::process;
use crate::workspace::Workspace;

/// Name of the report in the runtime folder.
const FILE_NAME: &str = "sizes.json";

/// Brotli's best quality takes about a minute for 20 MB of weights, which hardly shrink.
const BEST_QUALITY_LIMIT_BYTES: u64 = 8 << 20;
const BEST_QUALITY: u8 = 11;
const QUICK_QUALITY: u8 = 5;

const SCRIPT: &str = include_str!("sizes.mjs");

/// `sizes.json`: the runtime files by path, in order.
#[derive(Serialize, Deserialize)]
pub struct Report {
    format: u32,
    files: Vec<FileSize>,
}

#[derive(Serialize, Deserialize)]
struct FileSize {
    /// Path in the runtime folder, with `/`.
    path: String,
    raw_bytes: u64,
    brotli_bytes: u64,
    brotli_quality: u8,
}

/// What the script prints for one file.
#[derive(Deserialize)]
struct Measured {
    raw_bytes: u64,
    brotli_bytes: u64,
}

/// Measures every file in the folder.
pub fn measure(workspace: &Workspace, folder: &Path) -> Result<Report> {
    let paths = files::source_files(folder)?;
    let qualities = paths
        .iter()
        .map(|path| quality_for(path))
        .collect::<Result<Vec<_>>>()?;
    let measured = run_script(workspace, &paths, &qualities)?;
    if measured.len() != paths.len() {
        bail!(
            "measured {} files where there are {}",
            measured.len(),
            paths.len()
        );
    }
    let rows = paths.iter().zip(measured).zip(qualities);
    let files = rows
        .map(|((path, size), quality)| file_size(folder, path, &size, quality))
        .collect::<Result<_>>()?;
    Ok(Report { format: 1, files })
}

fn quality_for(path: &Path) -> Result<u8> {
    let raw_bytes = fs::metadata(path)
        .with_context(|| format!("cannot read {}", path.display()))?
        .len();
    if raw_bytes > BEST_QUALITY_LIMIT_BYTES {
        Ok(QUICK_QUALITY)
    } else {
        Ok(BEST_QUALITY)
    }
}

fn run_script(workspace: &Workspace, paths: &[PathBuf], qualities: &[u8]) -> Result<Vec<Measured>> {
    let mut node = workspace.command("node");
    node.args(["--input-type=module", "--eval", SCRIPT, "--"]);
    for (path, quality) in paths.iter().zip(qualities) {
        node.arg(format!("{quality}:{}", path.display()));
    }
    serde_json::from_str(&process::capture(&mut node)?).context("the size script's output")
}

fn file_size(folder: &Path, path: &Path, size: &Measured, quality: u8) -> Result<FileSize> {
    let relative = path.strip_prefix(folder)?.to_string_lossy();
    Ok(FileSize {
        path: relative.replace(std::path::MAIN_SEPARATOR, "/"),
        raw_bytes: size.raw_bytes,
        brotli_bytes: size.brotli_bytes,
        brotli_quality: quality,
    })
}

impl Report {
    /// Reads the `sizes.json` of the folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = folder.join(FILE_NAME);
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))
    }

    /// Writes `sizes.json` into the folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let file = folder.join(FILE_NAME);
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    /// A table for people, one line a file and a total.
    pub fn table(&self) -> String {
        let mut lines = vec![row("file", "raw bytes", "brotli bytes", "quality")];
        for file in &self.files {
            lines.push(row(
                &file.path,
                &file.raw_bytes.to_string(),
                &file.brotli_bytes.to_string(),
                &file.brotli_quality.to_string(),
            ));
        }
        let raw_bytes: u64 = self.files.iter().map(|file| file.raw_bytes).sum();
        let brotli_bytes: u64 = self.files.iter().map(|file| file.brotli_bytes).sum();
        lines.push(row(
            "total",
            &raw_bytes.to_string(),
            &brotli_bytes.to_string(),
            "",
        ));
        lines.join("\n")
    }
}

fn row(path: &str, raw: &str, brotli: &str, quality: &str) -> String {
    format!("{path:<34} {raw:>12} {brotli:>13} {quality:>8}")
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_ends_with_the_total() {
        let file = |path: &str, raw_bytes, brotli_bytes| FileSize {
            path: path.to_owned(),
            raw_bytes,
            brotli_bytes,
            brotli_quality: 11,
        };
        let report = Report {
            format: 1,
            files: vec![file("a.js", 100, 30), file("b.wasm", 1000, 400)],
        };
        let table = report.table();
        let last = table.lines().last().unwrap();
        let words: Vec<_> = last.split_whitespace().collect();
        assert_eq!(words, ["total", "1100", "430"]);
    }

    #[test]
    fn the_script_measures_real_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a b.txt"), "a".repeat(10_000)).unwrap();
        let workspace = Workspace::locate().unwrap();
        let report = measure(&workspace, folder.path()).unwrap();
        assert_eq!(report.files.len(), 1);
        let file = &report.files[0];
        assert_eq!(
            (file.path.as_str(), file.raw_bytes, file.brotli_quality),
            ("a b.txt", 10_000, 11)
        );
        assert!(file.brotli_bytes < 100, "{}", file.brotli_bytes);
        report.write(folder.path()).unwrap();
        assert_eq!(Report::read(folder.path()).unwrap().table(), report.table());
    }
}
