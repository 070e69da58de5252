//! `siskin inspect`: what an index, one of its files or an encoder holds and weighs.
//!
//! * `dimensions`: what the dimensions of a bucket stand for and how often they occur.
//! * `page`, `picture`: the same as a page for people (`--html`).

mod dimensions;
mod page;
mod picture;

pub(super) use page::escaped;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use siskin_core::container::{self, KINDS, Kind};
use siskin_core::manifest::{BucketInfo, EncoderInfo, MANIFEST_FILE, Manifest};
use siskin_core::text::Stemming;
use siskin_encoder::{Encoder, MANIFEST_FILE as ENCODER_MANIFEST};

use super::Outcome;
use crate::arguments::InspectArguments;
use crate::bundle::BundleFolder;
use crate::receipt::Receipt;
use crate::resources::{self, ENCODER_FOLDER};
use crate::talk::{self, Talk, size};
use dimensions::Codes;
use page::{BucketPart, Group, Page, Sized};

/// What brotli spends on a file that a host compresses once: the most.
const BROTLI_QUALITY: u32 = 11;
/// Brotli's window, as powers of two: the largest that browsers accept.
const BROTLI_WINDOW_BITS: u32 = 24;
const BROTLI_BUFFER_BYTES: usize = 1 << 16;

/// Begins the names of the box's languages.
const LANGUAGE_PREFIX: &str = "siskin-words-";

/// Runs the command.
pub fn run(arguments: &InspectArguments) -> Result<Outcome> {
    let talk = Talk::new(arguments.printing.quiet);
    if arguments.path.is_file() {
        ensure!(
            arguments.html.is_none(),
            "--html shows an index or an encoder; {} is one file",
            arguments.path.display()
        );
        let name = arguments
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let report = FileReport::new(&name, &resources::read(&arguments.path)?)?;
        return show(arguments.printing.json, &report, FileReport::text);
    }
    if arguments.path.join(ENCODER_MANIFEST).is_file() {
        return inspect_encoder(arguments, talk);
    }
    let bundle = BundleFolder::open(&arguments.path)?;
    let report = BundleReport::new(&bundle, talk)?;
    if let Some(path) = &arguments.html {
        let spinner = talk.spinner("reading postings");
        let page = report.page(&bundle, arguments.encoder.as_deref())?;
        spinner.finish_and_clear();
        return write_page(path, &page, talk);
    }
    show(arguments.printing.json, &report, BundleReport::text)
}

/// Writes the page; a file that is none of this command's stays.
fn write_page(path: &Path, page: &Page, talk: Talk) -> Result<Outcome> {
    let is_page = || std::fs::read(path).is_ok_and(|known| holds_text(&known, page::MARK));
    ensure!(
        !path.exists() || is_page(),
        "{} is there already and no page of siskin inspect: name another file",
        path.display()
    );
    std::fs::write(path, page.html())
        .with_context(|| format!("cannot write {}", path.display()))?;
    talk.remark(&format!("written: {}", path.display()));
    Ok(Outcome::Done)
}

fn holds_text(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// An encoder folder: its files, and the dimensions that its word pieces have.
fn inspect_encoder(arguments: &InspectArguments, talk: Talk) -> Result<Outcome> {
    let encoder = Encoder::open(&arguments.path)?;
    let report = EncoderReport::new(&arguments.path, &encoder)?;
    let Some(path) = &arguments.html else {
        return show(arguments.printing.json, &report, EncoderReport::text);
    };
    let mut page = Page {
        title: format!(
            "Encoder {} in {}",
            report.encoder.name,
            arguments.path.display()
        ),
        figures: vec![
            ("id", short(&report.encoder.id)),
            ("values of a vector", report.encoder.dim.to_string()),
        ],
        groups: vec![Group {
            title: "Encoder",
            rows: report.files.iter().map(EncoderFile::sized).collect(),
        }],
        buckets: Vec::new(),
    };
    for (j, bucket) in report.encoder.buckets.iter().enumerate() {
        let terms = match &encoder.manifest().queries_for {
            None => dimensions::terms(&encoder, j).map_err(|error| error.to_string()),
            Some(teacher) => Err(format!(
                "This encoder reads queries alone. Its dimensions are those of the encoder that it was distilled from, {}: \
                 inspect that one to see what they stand for.",
                short(teacher)
            )),
        };
        page.buckets.push(BucketPart {
            title: heading(j, bucket),
            unit: "word pieces",
            code_sizes: Vec::new(),
            frequencies: dimensions::pieces_with(&encoder, j).unwrap_or_default(),
            terms,
        });
    }
    write_page(path, &page, talk)
}

/// An encoder.
#[derive(Debug, Serialize)]
struct EncoderReport {
    encoder: EncoderInfo,
    files: Vec<EncoderFile>,
}

impl EncoderReport {
    fn new(folder: &Path, encoder: &Encoder) -> Result<Self> {
        let files = encoder.manifest().files.iter().map(|(path, entry)| {
            let place = folder.join(path);
            let cannot = || format!("cannot read {}", place.display());
            let bytes = std::fs::metadata(&place).with_context(cannot)?.len();
            ensure!(
                bytes == entry.bytes,
                "{} has {bytes} bytes, and {ENCODER_MANIFEST} says {}: export the encoder again",
                place.display(),
                entry.bytes
            );
            Ok(EncoderFile {
                path: path.clone(),
                bytes,
            })
        });
        Ok(Self {
            encoder: encoder.info(),
            files: files.collect::<Result<_>>()?,
        })
    }

    fn text(&self) -> String {
        let EncoderInfo { name, id, dim, .. } = &self.encoder;
        let id = short(id);
        let mut text = format!(
            "encoder {name} ({id}), {dim} values; {}\n\n",
            buckets(&self.encoder)
        );
        self.files.iter().for_each(|file| text += &file.text());
        text
    }
}

fn show<T: Serialize>(json: bool, report: &T, text: impl Fn(&T) -> String) -> Result<Outcome> {
    match json {
        true => talk::print_json(report)?,
        false => talk::print(&text(report))?,
    }
    Ok(Outcome::Done)
}

/// One shard.
#[derive(Debug, Serialize)]
struct FileReport {
    path: String,
    kind: Kind,
    bytes: usize,
    /// Its payload, inflated.
    payload_bytes: usize,
}

impl FileReport {
    fn new(path: &str, bytes: &[u8]) -> Result<Self> {
        let kind = container::kind(path, bytes)?;
        Ok(Self {
            path: path.to_owned(),
            kind,
            bytes: bytes.len(),
            payload_bytes: container::plain_payload(path, kind, bytes)?.len(),
        })
    }

    fn text(&self) -> String {
        format!(
            "{}: a shard of {}, {}, {} inflated\n",
            self.path,
            holds(self.kind),
            size(self.bytes as u64),
            size(self.payload_bytes as u64)
        )
    }
}

/// All shards of a kind.
#[derive(Debug, Serialize)]
struct KindReport {
    kind: Kind,
    bucket: u32,
    files: usize,
    bytes: u64,
    bytes_per_page: f64,
    median_bytes: u64,
    largest_bytes: u64,
}

impl KindReport {
    /// What the files of a kind and bucket weigh; `None` when there are none.
    fn new(bundle: &BundleFolder, kind: Kind, bucket: u32) -> Result<Option<Self>> {
        let shards = bundle.manifest.shards.all().into_iter();
        let mut sizes = shards
            .filter(|shard| (shard.kind, shard.bucket) == (kind, bucket))
            .map(|shard| Ok(bundle.read(shard)?.1.len() as u64))
            .collect::<Result<Vec<_>>>()?;
        sizes.sort_unstable();
        let Some(&largest_bytes) = sizes.last() else {
            return Ok(None);
        };
        let bytes: u64 = sizes.iter().sum();
        Ok(Some(Self {
            kind,
            bucket,
            files: sizes.len(),
            bytes,
            bytes_per_page: (bytes as f64 / f64::from(bundle.manifest.pages.max(1))).round(),
            median_bytes: sizes[sizes.len() / 2],
            largest_bytes,
        }))
    }

    fn header() -> String {
        format!(
            "{:<10} {:>6} {:>10} {:>9} {:>9} {:>9}  hold",
            "shards", "files", "size", "per page", "median", "largest"
        )
    }

    fn row(&self) -> String {
        format!(
            "{:<10} {:>6} {:>10} {:>7} B {:>9} {:>9}  {}\n",
            self.kind.prefix(),
            self.files,
            size(self.bytes),
            self.bytes_per_page,
            size(self.median_bytes),
            size(self.largest_bytes),
            holds(self.kind)
        )
    }
}

impl KindReport {
    /// The files as a line of a page; `several`: whether there are several buckets.
    fn sized(&self, several: bool) -> Sized {
        let of = match (several, self.kind) {
            (true, Kind::Map | Kind::Uhd) => format!(" of bucket {}", self.bucket),
            _ => String::new(),
        };
        let files = match self.files {
            1 => "1 file".to_owned(),
            files => format!("{files} files of at most {}", size(self.largest_bytes)),
        };
        Sized {
            name: self.kind.prefix().to_owned() + &of,
            holds: format!("{}; {files}", holds(self.kind)),
            bytes: self.bytes,
        }
    }
}

fn holds(kind: Kind) -> &'static str {
    match kind {
        Kind::Common => "most frequent words of the site",
        Kind::Words => "other words of the site: postings, rows, pages of like meaning",
        Kind::Foreign => "words that the site never uses",
        Kind::Spelling => "spellings of the site's words",
        Kind::Codes => "one-bit codes of pages",
        Kind::Records => "text and addresses of pages",
        Kind::Attributes => "filters, sort keys and weights of pages",
        Kind::Map => "where each dimension of a bucket is (mode full)",
        Kind::Uhd => "postings of dimensions (mode full)",
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

impl EncoderFile {
    fn text(&self) -> String {
        format!("{:<34} {:>10}\n", self.path, size(self.bytes))
    }

    fn sized(&self) -> Sized {
        Sized {
            name: self.path.clone(),
            holds: String::new(),
            bytes: self.bytes,
        }
    }
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
    index_bytes: u64,
    shards: Vec<KindReport>,
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
        let shards = kind_reports(bundle)?;
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
            index_bytes: manifest_bytes as u64 + shards.iter().map(|kind| kind.bytes).sum::<u64>(),
            shards,
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
            short(&self.encoder.id),
            self.encoder.dim,
            buckets(&self.encoder) + &queries_by(&self.encoder),
            KindReport::header(),
        );
        self.shards.iter().for_each(|kind| text += &kind.row());
        text += &format!(
            "{:<34} {:>10}\n",
            MANIFEST_FILE,
            size(self.manifest_bytes as u64)
        );
        text += &format!(
            "{:<34} {:>10}\n",
            "index, all files",
            size(self.index_bytes)
        );
        text + &self.runtime_text() + &self.encoder_text()
    }

    /// The report as a page, with terms of dimensions from the encoder in `given`, or the one that came with
    /// siskin.
    fn page(&self, bundle: &BundleFolder, given: Option<&Path>) -> Result<Page> {
        let encoder = self.encoder_with_rows(given);
        let mut figures = self.figures();
        let mut buckets = Vec::new();
        for (j, bucket) in self.encoder.buckets.iter().enumerate() {
            let codes = Codes::read(bundle, j as u32)?;
            if j == 0 {
                figures.push(("windows", codes.sizes.len().to_string()));
            }
            let terms = match &encoder {
                Ok(encoder) => dimensions::terms(encoder, j).map_err(|error| error.to_string()),
                Err(reason) => Err(reason.clone()),
            };
            buckets.push(BucketPart {
                title: heading(j, bucket),
                unit: "windows",
                code_sizes: codes.sizes,
                frequencies: codes.windows_with,
                terms,
            });
        }
        Ok(Page {
            title: format!("Siskin index in {}", self.path),
            figures,
            groups: self.groups(),
            buckets,
        })
    }

    /// What is said of the index in numbers and names.
    fn figures(&self) -> Vec<(&'static str, String)> {
        let of_foreign = self.shards.iter().filter(|kind| kind.kind == Kind::Foreign);
        let foreign: u64 = of_foreign.map(|kind| kind.bytes).sum();
        let grows = (self.index_bytes - foreign) / u64::from(self.pages.max(1));
        let mut figures = vec![
            ("pages", self.pages.to_string()),
            ("passages", self.passages.to_string()),
            ("index", size(self.index_bytes)),
            ("a page, but for foreign words", size(grows)),
            (
                "encoder",
                format!("{} ({})", self.encoder.name, short(&self.encoder.id)),
            ),
            ("words are stemmed as", format!("{:?}", self.stemming)),
            (
                "made by",
                format!("{}, format {}", self.generator, self.format),
            ),
        ];
        if let Some(id) = &self.encoder.query_id {
            figures.push(("queries are read by", short(id)));
        }
        figures
    }

    /// All files, as groups of a page.
    fn groups(&self) -> Vec<Group> {
        let several = self.encoder.buckets.len() > 1;
        let mut index: Vec<Sized> = self.shards.iter().map(|kind| kind.sized(several)).collect();
        index.push(Sized {
            name: MANIFEST_FILE.to_owned(),
            holds: "names, sizes and hashes of all files".to_owned(),
            bytes: self.manifest_bytes as u64,
        });
        let groups = [
            ("Index", index),
            ("Scripts and WebAssembly", sized_runtime(&self.runtime)),
            (
                "Network, for mode full",
                self.encoder_files.iter().map(EncoderFile::sized).collect(),
            ),
        ];
        let groups = groups.into_iter().filter(|(_, rows)| !rows.is_empty());
        groups.map(|(title, rows)| Group { title, rows }).collect()
    }

    /// The encoder that the index was made with, or why there is none to tell terms.
    fn encoder_with_rows(&self, given: Option<&Path>) -> Result<Encoder, String> {
        let open = || Ok::<_, anyhow::Error>(Encoder::open(resources::encoder_folder(given)?)?);
        let encoder = open().map_err(|error| format!("No terms: {error:#}."))?;
        if encoder.id() == self.encoder.id {
            return Ok(encoder);
        }
        Err(format!(
            "No terms: the index was made with another encoder, {}; name its folder with --encoder.",
            self.encoder.name
        ))
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
        self.encoder_files.iter().map(EncoderFile::text).collect()
    }
}

/// Files for the browser as lines of a page; languages of the box, of which a reader loads one, are one line.
fn sized_runtime(files: &[RuntimeFile]) -> Vec<Sized> {
    let is_language = |file: &&RuntimeFile| file.path.starts_with(LANGUAGE_PREFIX);
    let (languages, others): (Vec<_>, Vec<_>) = files.iter().partition(is_language);
    let mut rows: Vec<Sized> = others
        .into_iter()
        .map(|file| Sized {
            name: file.path.clone(),
            holds: format!("{} with brotli", size(file.brotli_bytes as u64)),
            bytes: file.raw_bytes as u64,
        })
        .collect();
    if !languages.is_empty() {
        let bytes = languages.iter().map(|file| file.raw_bytes as u64);
        rows.push(Sized {
            name: format!("{LANGUAGE_PREFIX}….js"),
            holds: format!(
                "{} languages of the box: a reader loads one",
                languages.len()
            ),
            bytes: bytes.sum(),
        });
    }
    rows
}

fn short(id: &str) -> String {
    id.chars().take(12).collect()
}

/// What reads queries, where that is another encoder.
fn queries_by(encoder: &EncoderInfo) -> String {
    let id = encoder.query_id.as_deref();
    id.map_or_else(String::new, |id| {
        format!("\nqueries of mode full are read by encoder {}", short(id))
    })
}

fn buckets(encoder: &EncoderInfo) -> String {
    if encoder.buckets.is_empty() {
        return "no buckets".to_owned();
    }
    let numbered = encoder.buckets.iter().enumerate();
    let names: Vec<String> = numbered.map(|(j, bucket)| bucket_name(j, bucket)).collect();
    names.join("; ")
}

fn heading(j: usize, bucket: &BucketInfo) -> String {
    format!("Bucket {j}: {}", shape(bucket))
}

fn bucket_name(j: usize, bucket: &BucketInfo) -> String {
    format!("bucket {j}: {}", shape(bucket))
}

fn shape(bucket: &BucketInfo) -> String {
    let BucketInfo {
        layer,
        n,
        k,
        weight,
    } = bucket;
    let counts = match *weight == 1.0 {
        true => String::new(),
        false => format!(", weight {weight}"),
    };
    format!("layer {layer}, {n} dimensions, {k} winners a token{counts}")
}

fn kind_reports(bundle: &BundleFolder) -> Result<Vec<KindReport>> {
    let mut reports = Vec::new();
    for kind in KINDS {
        for bucket in 0..bundle.manifest.encoder.buckets.len().max(1) as u32 {
            reports.extend(KindReport::new(bundle, kind, bucket)?);
        }
    }
    Ok(reports)
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
}
