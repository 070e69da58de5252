//! `siskin inspect`: what an index or one of its files holds and weighs.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use siskin_core::container::{self, HEADER_BYTES, Kind};
use siskin_core::dense::Dense;
use siskin_core::lexical::Lexical;
use siskin_core::manifest::{EncoderInfo, MANIFEST_FILE, Manifest};
use siskin_core::passages::Passages;
use siskin_core::rows::Rows;
use siskin_core::text::Stemming;
use siskin_core::uhd::Uhd;

use super::Outcome;
use crate::arguments::InspectArguments;
use crate::bundle::BundleFolder;
use crate::receipt::Receipt;
use crate::resources::{self, ENCODER_FOLDER};
use crate::talk::{self, Talk, size};

/// What brotli spends on a file that a host compresses once: the most.
const BROTLI_QUALITY: u32 = 11;
/// Brotli's window, as powers of two: the largest that browsers accept.
const BROTLI_WINDOW_BITS: u32 = 24;
const BROTLI_BUFFER_BYTES: usize = 1 << 16;

/// Runs the command.
pub fn run(arguments: &InspectArguments) -> Result<Outcome> {
    let talk = Talk::new(arguments.printing.quiet);
    if arguments.path.is_file() {
        let name = arguments
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let report = FileReport::new(&name, &resources::read(&arguments.path)?, None)?;
        return show(arguments.printing.json, &report, FileReport::text);
    }
    let bundle = BundleFolder::open(&arguments.path)?;
    show(
        arguments.printing.json,
        &BundleReport::new(&bundle, talk)?,
        BundleReport::text,
    )
}

fn show<T: Serialize>(json: bool, report: &T, text: impl Fn(&T) -> String) -> Result<Outcome> {
    match json {
        true => talk::print_json(report)?,
        false => talk::print(&text(report))?,
    }
    Ok(Outcome::Done)
}

/// One binary file.
#[derive(Debug, Serialize)]
struct FileReport {
    path: String,
    kind: Kind,
    bucket: Option<usize>,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_passage: Option<f64>,
    holds: Content,
}

/// What the kinds hold.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content {
    Lexical {
        terms: usize,
        passages: usize,
    },
    Uhd {
        units: usize,
        passages_per_unit: u32,
    },
    Dense {
        units: usize,
        passages_per_unit: u32,
        dim: usize,
    },
    Rows {
        pieces: usize,
        dim: usize,
    },
    Passages {
        pages: usize,
        passages: usize,
    },
}

impl FileReport {
    /// Reads the file; `passages` are those of its bundle, if it is seen as part of one.
    fn new(path: &str, bytes: &[u8], passages: Option<u32>) -> Result<Self> {
        let kind = container::kind(path, bytes)?;
        Ok(Self {
            path: path.to_owned(),
            kind,
            bucket: None,
            bytes: bytes.len(),
            bytes_per_passage: passages.map(|passages| per_passage(bytes.len(), passages)),
            holds: Content::read(path, kind, bytes)?,
        })
    }

    fn text(&self) -> String {
        format!("{}\n{}", Self::header(), self.row())
    }

    fn header() -> String {
        format!("{:<34} {:>10} {:>11}  holds", "file", "size", "per passage")
    }

    fn row(&self) -> String {
        let per_passage = self.bytes_per_passage.map(|bytes| format!("{bytes:.1} B"));
        format!(
            "{:<34} {:>10} {:>11}  {}\n",
            self.path,
            size(self.bytes as u64),
            per_passage.unwrap_or_default(),
            self.holds.text()
        )
    }
}

fn per_passage(bytes: usize, passages: u32) -> f64 {
    let payload = bytes.saturating_sub(HEADER_BYTES) as f64;
    (payload / f64::from(passages.max(1)) * 10.0).round() / 10.0
}

impl Content {
    fn read(file: &str, kind: Kind, bytes: &[u8]) -> Result<Self> {
        Ok(match kind {
            Kind::Lexical => {
                let lexical = Lexical::read(file, bytes)?;
                Self::Lexical {
                    terms: lexical.term_count(),
                    passages: lexical.passage_count(),
                }
            }
            Kind::Uhd => {
                let uhd = Uhd::read(file, bytes)?;
                Self::Uhd {
                    units: uhd.unit_count(),
                    passages_per_unit: uhd.window(),
                }
            }
            Kind::Dense => {
                let dense = Dense::read(file, bytes)?;
                Self::Dense {
                    units: dense.unit_count(),
                    passages_per_unit: dense.window(),
                    dim: dense.dim(),
                }
            }
            Kind::Rows => {
                let rows = Rows::read(file, bytes)?;
                Self::Rows {
                    pieces: rows.vocabulary().len(),
                    dim: rows.dim(),
                }
            }
            Kind::Passages => {
                let records = Passages::read(file, bytes)?;
                Self::Passages {
                    pages: records.page_count(),
                    passages: records.passage_count(),
                }
            }
        })
    }

    fn text(&self) -> String {
        match self {
            Self::Lexical { terms, passages } => format!("{terms} terms of {passages} passages"),
            Self::Uhd {
                units,
                passages_per_unit,
            } => {
                format!("{units} units of up to {passages_per_unit} passages")
            }
            Self::Dense {
                units,
                passages_per_unit,
                dim,
            } => {
                format!("{units} units of up to {passages_per_unit} passages, {dim} bits each")
            }
            Self::Rows { pieces, dim } => {
                format!("rows of {pieces} word pieces, {dim} values; the same size for every site")
            }
            Self::Passages { pages, passages } => {
                format!("text and addresses of {pages} pages, {passages} passages")
            }
        }
    }
}

/// A file of the browser's.
#[derive(Debug, Serialize)]
struct RuntimeFile {
    path: String,
    raw_bytes: usize,
    brotli_bytes: usize,
}

/// A file of the encoder's.
#[derive(Debug, Serialize)]
struct EncoderFile {
    path: String,
    bytes: u64,
}

/// A whole bundle.
#[derive(Debug, Serialize)]
struct BundleReport {
    path: String,
    format: u16,
    generator: String,
    build: String,
    stemming: Stemming,
    pages: u32,
    passages: u32,
    encoder: EncoderInfo,
    manifest_bytes: usize,
    index_bytes: usize,
    files: Vec<FileReport>,
    runtime: Vec<RuntimeFile>,
    encoder_files: Vec<EncoderFile>,
}

impl BundleReport {
    fn new(bundle: &BundleFolder, talk: Talk) -> Result<Self> {
        let Manifest {
            format,
            stemming,
            pages,
            passages,
            ..
        } = bundle.manifest;
        let manifest_bytes = resources::read(&bundle.folder.join(MANIFEST_FILE))?.len();
        let files = file_reports(bundle)?;
        let receipt = Receipt::read(&bundle.folder)?.unwrap_or_else(Receipt::empty);
        Ok(Self {
            path: bundle.folder.display().to_string(),
            format,
            generator: bundle.manifest.generator.clone(),
            build: bundle.manifest.build.clone(),
            stemming,
            pages,
            passages,
            encoder: bundle.manifest.encoder.clone(),
            manifest_bytes,
            index_bytes: manifest_bytes + files.iter().map(|file| file.bytes).sum::<usize>(),
            files,
            runtime: runtime_files(&bundle.folder, &receipt, talk)?,
            encoder_files: encoder_files(&receipt),
        })
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{}\nformat {}, {}, stemming {:?}, {} pages, {} passages\nencoder {} ({}), {} values; {}\n\n{}\n",
            self.path,
            self.format,
            self.generator,
            self.stemming,
            self.pages,
            self.passages,
            self.encoder.name,
            self.encoder.id.chars().take(12).collect::<String>(),
            self.encoder.dim,
            self.buckets(),
            FileReport::header(),
        );
        self.files.iter().for_each(|file| text += &file.row());
        text += &format!(
            "{:<34} {:>10}\n",
            MANIFEST_FILE,
            size(self.manifest_bytes as u64)
        );
        text += &format!(
            "{:<34} {:>10}\n",
            "index, all files",
            size(self.index_bytes as u64)
        );
        text + &self.runtime_text() + &self.encoder_text()
    }

    fn buckets(&self) -> String {
        let numbered = self.encoder.buckets.iter().enumerate();
        let buckets = numbered.map(|(i, bucket)| {
            format!(
                "bucket {i}: layer {}, {} dimensions, {} winners a token",
                bucket.layer, bucket.n, bucket.k
            )
        });
        buckets.collect::<Vec<_>>().join("; ")
    }

    fn runtime_text(&self) -> String {
        if self.runtime.is_empty() {
            return "\nno files for the browser (--no-runtime)\n".to_owned();
        }
        let mut text = format!(
            "\n{:<34} {:>10} {:>11}\n",
            "for the browser", "raw", "brotli"
        );
        for file in &self.runtime {
            let (raw, brotli) = (size(file.raw_bytes as u64), size(file.brotli_bytes as u64));
            text += &format!("{:<34} {raw:>10} {brotli:>11}\n", file.path);
        }
        text
    }

    fn encoder_text(&self) -> String {
        let rows = self
            .encoder_files
            .iter()
            .map(|file| format!("{:<34} {:>10}\n", file.path, size(file.bytes)));
        rows.collect()
    }
}

fn file_reports(bundle: &BundleFolder) -> Result<Vec<FileReport>> {
    let passages = Some(bundle.manifest.passages);
    let report = |entry: &siskin_core::manifest::FileEntry| {
        let mut report = FileReport::new(&entry.path, &bundle.read(entry)?, passages)?;
        report.bucket = entry.bucket;
        Ok(report)
    };
    bundle.manifest.files.iter().map(report).collect()
}

/// The scripts and WebAssembly that the receipt names, each compressed once.
fn runtime_files(folder: &Path, receipt: &Receipt, talk: Talk) -> Result<Vec<RuntimeFile>> {
    let names = receipt.files.keys();
    let code: Vec<_> = names
        .filter(|name| name.ends_with(".js") || name.ends_with(".wasm"))
        .collect();
    let bar = talk.bar("compressing", code.len());
    let mut files = Vec::new();
    for name in code {
        let content = resources::read(&folder.join(name))?;
        files.push(RuntimeFile {
            path: name.clone(),
            raw_bytes: content.len(),
            brotli_bytes: brotli_bytes(&content)
                .with_context(|| format!("cannot compress {name}"))?,
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(files)
}

fn brotli_bytes(content: &[u8]) -> std::io::Result<usize> {
    let mut compressed = Vec::new();
    let mut writer = brotli::CompressorWriter::new(
        &mut compressed,
        BROTLI_BUFFER_BYTES,
        BROTLI_QUALITY,
        BROTLI_WINDOW_BITS,
    );
    writer.write_all(content)?;
    drop(writer);
    Ok(compressed.len())
}

fn encoder_files(receipt: &Receipt) -> Vec<EncoderFile> {
    let files = receipt.files.iter();
    let of_encoder = files.filter(|(name, _)| Path::new(name).starts_with(ENCODER_FOLDER));
    let file = |(name, written): (&String, &crate::receipt::Written)| EncoderFile {
        path: name.clone(),
        bytes: written.bytes,
    };
    of_encoder.map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brotli_makes_repetition_short_and_comes_back() {
        let text = b"wasm ".repeat(2_000);
        assert!(brotli_bytes(&text).unwrap() < 60);
    }

    #[test]
    fn bytes_per_passage_leave_the_header_out() {
        assert!((per_passage(HEADER_BYTES + 480, 10) - 48.0).abs() < 1e-9);
        assert!(per_passage(3, 0).abs() < 1e-9);
    }
}
