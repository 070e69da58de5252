//! `siskin index`: a built site becomes a bundle.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use siskin_core::build::{BuildOptions, Builder, Bundle};
use siskin_core::encoded::{PassageCodes, PieceStatistics};
use siskin_core::manifest::MANIFEST_FILE;
use siskin_core::page::Page;
use siskin_core::text::Stemming;
use siskin_encoder::{
    Encoder, MANIFEST_FILE as ENCODER_MANIFEST, MODEL_FILE, TOKENIZER_FILE, passage_pool,
};
use siskin_extract::site::{self, SiteReport};

use super::Outcome;
use crate::arguments::IndexArguments;
use crate::bundle::DEFAULT_FOLDER;
use crate::output::{Output, Staging};
use crate::receipt::Receipt;
use crate::resources::{self, ENCODER_FOLDER};
use crate::talk::{self, Talk};

/// What the browser needs of the encoder; its rows travel in the index.
const ENCODER_FILES: [&str; 3] = [ENCODER_MANIFEST, TOKENIZER_FILE, MODEL_FILE];

/// Runs the command.
pub fn run(arguments: &IndexArguments) -> Result<Outcome> {
    let started = Instant::now();
    let talk = Talk::new(arguments.printing.quiet);
    let settings = Settings::new(arguments)?;
    let mut site = read_site(&settings.site, talk)?;
    let mut staging = Staging::create(settings.output)?;
    let encoder = open_encoder(&settings.encoder, talk)?;
    let bundle = build(std::mem::take(&mut site.pages), &encoder, talk)?;
    write(&bundle, &mut staging)?;
    if let Some(runtime) = &settings.runtime {
        write_runtime(runtime, &settings.encoder, &mut staging)?;
    }
    let receipt = staging.put_in_place(talk)?;
    report_problems(&site, arguments.verbose, talk);
    let summary = Summary::new(&settings.output_folder, &site, &bundle, &receipt, started);
    summary.print(arguments)?;
    Ok(outcome(&site))
}

/// Arguments that were found to make sense.
struct Settings {
    site: PathBuf,
    output: Output,
    output_folder: PathBuf,
    encoder: PathBuf,
    runtime: Option<PathBuf>,
}

impl Settings {
    /// Checks all that can be checked before the long work.
    fn new(arguments: &IndexArguments) -> Result<Self> {
        let site = arguments.site.clone();
        site::walk(&site)?;
        let output = arguments.output.clone();
        let output = Output::check(&output.unwrap_or_else(|| site.join(DEFAULT_FOLDER)))?;
        let runtime = match arguments.no_runtime {
            true => None,
            false => Some(resources::runtime_folder(arguments.runtime.as_deref())?),
        };
        let encoder = resources::encoder_folder(arguments.encoder.as_deref(), runtime.as_deref())?;
        Ok(Self {
            site,
            output_folder: output.folder().to_owned(),
            output,
            encoder,
            runtime,
        })
    }
}

fn read_site(folder: &Path, talk: Talk) -> Result<SiteReport> {
    let bar = talk.bar("reading pages", 0);
    let report = site::pages(folder, |progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
    });
    bar.finish_and_clear();
    Ok(report?)
}

fn open_encoder(folder: &Path, talk: Talk) -> Result<Encoder> {
    let spinner = talk.spinner("opening the encoder");
    let encoder = Encoder::open(folder);
    spinner.finish_and_clear();
    Ok(encoder?)
}

/// The bundle of `pages`.
///
/// # Errors
/// When the network fails or the encoder has no rows.
fn build(pages: Vec<Page>, encoder: &Encoder, talk: Talk) -> Result<Bundle> {
    let options = BuildOptions {
        stemming: stemming(&pages),
        ..BuildOptions::default()
    };
    let rows = encoder.generic_rows()?;
    let (codes, statistics) = encode(&pages, encoder, talk)?;
    let spinner = talk.spinner("building the index");
    let mut builder = Builder::new(options, encoder.info());
    let mut codes = codes.into_iter();
    for page in pages {
        let own: Vec<_> = codes.by_ref().take(page.passages.len()).collect();
        builder.add_page(page, &own)?;
    }
    let bundle = builder.finish(&encoder.vocabulary(), &rows, &statistics);
    spinner.finish_and_clear();
    Ok(bundle?)
}

/// The codes of all passages in order, and what the word pieces mean on this site.
fn encode(
    pages: &[Page],
    encoder: &Encoder,
    talk: Talk,
) -> Result<(Vec<PassageCodes>, PieceStatistics)> {
    let texts = passage_texts(pages);
    let pooling = encoder.passage_pooling()?;
    let threads = thread::available_parallelism().map_or(1, Into::into);
    let bar = talk.bar("encoding passages", texts.len());
    let mut codes = Vec::with_capacity(texts.len());
    let mut statistics = PieceStatistics::default();
    let progress = |done| bar.set_position(done as u64);
    let encoded = encoder.encode_all(&texts, threads, progress, |_, text| {
        statistics.add(&text);
        codes.push(PassageCodes::new(&text, passage_pool(&text, &pooling)));
    });
    bar.finish_and_clear();
    encoded.context("cannot encode the site's passages")?;
    Ok((codes, statistics))
}

fn passage_texts(pages: &[Page]) -> Vec<String> {
    let of_page = |page: &Page| -> Vec<String> {
        let passages = page.passages.iter();
        passages
            .map(|passage| passage.encoder_text(&page.title))
            .collect()
    };
    pages.iter().flat_map(of_page).collect()
}

/// The stemming for the language that most pages state; English if none states any.
fn stemming(pages: &[Page]) -> Stemming {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for language in pages.iter().filter_map(|page| page.language.as_deref()) {
        let primary = language.split('-').next().unwrap_or_default();
        *counts.entry(primary.to_ascii_lowercase()).or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(_, count)| **count);
    most.map_or(Stemming::English, |(language, _)| {
        Stemming::for_language(language)
    })
}

fn write(bundle: &Bundle, staging: &mut Staging) -> Result<()> {
    for (entry, content) in bundle.manifest.files.iter().zip(&bundle.files) {
        staging.write(&entry.path, content)?;
    }
    staging.write(MANIFEST_FILE, bundle.manifest_json()?.as_bytes())
}

fn write_runtime(runtime: &Path, encoder: &Path, staging: &mut Staging) -> Result<()> {
    for (name, content) in resources::runtime_files(runtime)? {
        staging.write(&name, &content)?;
    }
    for name in ENCODER_FILES {
        let content = resources::read(&encoder.join(name))?;
        staging.write(&format!("{ENCODER_FOLDER}/{name}"), &content)?;
    }
    Ok(())
}

fn outcome(site: &SiteReport) -> Outcome {
    let mut skipped = site.skipped.iter();
    match skipped.any(|skipped| skipped.reason.is_problem()) || !site.bad_bytes.is_empty() {
        true => Outcome::Problems,
        false => Outcome::Done,
    }
}

/// Names the files that should have been indexed and were not, or not as they are; with
/// `verbose`, all that were left out.
fn report_problems(site: &SiteReport, verbose: bool, talk: Talk) {
    for path in &site.bad_bytes {
        talk.problem(&format!(
            "{}: some bytes mean nothing in its encoding and were replaced",
            path.display()
        ));
    }
    for skipped in &site.skipped {
        let line = format!("left out {}: {}", skipped.path.display(), skipped.reason);
        if skipped.reason.is_problem() {
            talk.problem(&line);
        } else if verbose {
            talk.remark(&line);
        }
    }
}

/// What was done; as JSON the result of `--json`.
#[derive(Debug, Serialize)]
struct Summary {
    output: String,
    pages: u32,
    passages: u32,
    skipped: Vec<SkippedFile>,
    /// Pages in which bytes that mean nothing were replaced.
    bad_bytes: Vec<String>,
    index_bytes: usize,
    total_bytes: u64,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct SkippedFile {
    path: String,
    reason: String,
    problem: bool,
}

impl Summary {
    fn new(
        output: &Path,
        site: &SiteReport,
        bundle: &Bundle,
        receipt: &Receipt,
        started: Instant,
    ) -> Self {
        let skipped = site.skipped.iter().map(|skipped| SkippedFile {
            path: skipped.path.display().to_string(),
            reason: skipped.reason.to_string(),
            problem: skipped.reason.is_problem(),
        });
        let bad_bytes = site.bad_bytes.iter();
        Self {
            output: output.display().to_string(),
            pages: bundle.manifest.pages,
            passages: bundle.manifest.passages,
            skipped: skipped.collect(),
            bad_bytes: bad_bytes.map(|path| path.display().to_string()).collect(),
            index_bytes: bundle.files.iter().map(Vec::len).sum(),
            total_bytes: receipt.files.values().map(|file| file.bytes).sum(),
            seconds: (started.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        }
    }

    fn print(&self, arguments: &IndexArguments) -> Result<()> {
        if arguments.printing.json {
            talk::print_json(self)
        } else if arguments.printing.quiet {
            Ok(())
        } else {
            talk::print(&self.text())
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} pages, {} passages in {:.1} s\nindex {}, with everything {}: {}\n",
            self.pages,
            self.passages,
            self.seconds,
            talk::size(self.index_bytes as u64),
            talk::size(self.total_bytes),
            self.output,
        );
        if !self.bad_bytes.is_empty() {
            text += &format!(
                "with replaced bytes {}: named above\n",
                self.bad_bytes.len()
            );
        }
        if !self.skipped.is_empty() {
            text += &format!("left out {}: {}\n", self.skipped.len(), self.reasons());
        }
        text
    }

    /// How often each reason occurred; reasons that name another page are counted together.
    fn reasons(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for skipped in &self.skipped {
            let reason = match skipped.reason.starts_with("the same as") {
                true => "the same as another page",
                false if skipped.problem => "named above",
                false => &skipped.reason,
            };
            *counts.entry(reason).or_default() += 1;
        }
        let counted = counts
            .iter()
            .map(|(reason, count)| format!("{count} {reason}"));
        counted.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(languages: &[Option<&str>]) -> Vec<Page> {
        let page = |language: &Option<&str>| Page {
            language: language.map(str::to_owned),
            ..Page::default()
        };
        languages.iter().map(page).collect()
    }

    #[test]
    fn most_pages_decide_how_words_are_stemmed() {
        assert_eq!(stemming(&pages(&[None, None])), Stemming::English);
        assert_eq!(
            stemming(&pages(&[Some("en-GB"), Some("en"), Some("de")])),
            Stemming::English
        );
        assert_eq!(
            stemming(&pages(&[Some("de"), Some("de-AT"), Some("en"), None])),
            Stemming::None
        );
    }
}
