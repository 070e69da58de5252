//! `siskin index`: a built site becomes a bundle.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use siskin_core::build::{BuildOptions, Builder, Bundle, LITE_PASSAGES};
use siskin_core::encoded::PassageCodes;
use siskin_core::manifest::{EncoderInfo, MANIFEST_FILE};
use siskin_core::page::Page;
use siskin_core::text::{Stemming, primary_language};
use siskin_encoder::store::{self, Codes, PassageStore, Pooling, Progress};
use siskin_encoder::{Encoder, QueryFiles, runs_without_tract};
use siskin_extract::site::{self, SiteReport, Skipped};

use super::Outcome;
use crate::arguments::IndexArguments;
use crate::bundle::DEFAULT_FOLDER;
use crate::config::Config;
use crate::output::{Output, Staging};
use crate::pagefind::DropIn;
use crate::receipt::Receipt;
use crate::resources::{self, ENCODER_FOLDER, Engines};
use crate::talk::{self, Talk};

/// Runs the command.
pub fn run(arguments: &IndexArguments) -> Result<Outcome> {
    let started = Instant::now();
    let talk = Talk::new(arguments.printing.quiet);
    let mut completed = arguments.clone();
    Config::find(arguments.config.as_deref())?.complete(&mut completed);
    let settings = Settings::new(&completed)?;
    let mut site = read_site(&settings.site, talk)?;
    let mut staging = Staging::create(settings.output.clone())?;
    let encoder = opened("opening the encoder", talk, || {
        Encoder::open(&settings.encoder)
    })?;
    let (reader, info) = opened("opening the encoder of queries", talk, || {
        let reader = QueryFiles::read(settings.reader())?;
        let info = encoder.info_read_by(&reader.open()?)?;
        Ok((reader, info))
    })?;
    let pages = std::mem::take(&mut site.pages);
    let built = build(pages, &encoder, info, &settings, talk)?;
    write(&built.bundle, &mut staging)?;
    if let Some(runtime) = &settings.runtime {
        write_runtime(runtime, &reader, &mut staging)?;
    }
    let drop_in = settings.drop_in.as_ref();
    let receipt = staging.put_in_place(talk, || drop_in.map_or(Ok(()), DropIn::write))?;
    report_problems(&site, arguments.verbose, talk);
    let summary = Summary::new(&settings.output_folder, &site, built, &receipt, started);
    summary.print(arguments)?;
    Ok(outcome(&site))
}

/// Arguments that were found to make sense.
struct Settings {
    site: PathBuf,
    output: Output,
    output_folder: PathBuf,
    encoder: PathBuf,
    /// The encoder that reads queries, where it is another one.
    query_encoder: Option<PathBuf>,
    runtime: Option<PathBuf>,
    /// The script in Pagefind's place, where one is wanted.
    drop_in: Option<DropIn>,
    /// Folder of encoded passages; `None` keeps none.
    cache: Option<PathBuf>,
    /// Passages of a page that are encoded, at most.
    passages: usize,
}

impl Settings {
    /// Checks all that can be checked before the long work.
    fn new(arguments: &IndexArguments) -> Result<Self> {
        let site = Config::default().site(arguments.site.as_deref())?;
        site::walk(&site)?;
        let output = arguments.output.clone();
        let output = Output::check(&output.unwrap_or_else(|| site.join(DEFAULT_FOLDER)))?;
        let runtime = match arguments.no_runtime {
            true => None,
            false => Some(resources::runtime_folder(arguments.runtime.as_deref())?),
        };
        let drop_in = match &runtime {
            Some(runtime) if arguments.pagefind => {
                Some(DropIn::prepare(&site, output.folder(), runtime)?)
            }
            _ => None,
        };
        let encoder = resources::encoder_folder(arguments.encoder.as_deref())?;
        Ok(Self {
            site,
            output_folder: output.folder().to_owned(),
            output,
            encoder,
            query_encoder: arguments.query_encoder.clone(),
            runtime,
            drop_in,
            passages: match arguments.lite {
                true => LITE_PASSAGES,
                false => usize::MAX,
            },
            cache: match arguments.no_cache {
                true => None,
                false => arguments.cache.clone().or_else(store::default_folder),
            },
        })
    }

    /// Folder of the encoder that reads queries.
    fn reader(&self) -> &Path {
        self.query_encoder.as_deref().unwrap_or(&self.encoder)
    }
}

/// The site's pages, with a bar while they are read.
///
/// # Errors
/// When nothing in `folder` can be indexed.
pub(super) fn read_site(folder: &Path, talk: Talk) -> Result<SiteReport> {
    let bar = talk.bar("reading pages", 0);
    let report = site::pages(folder, |progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
    });
    bar.finish_and_clear();
    Ok(report?)
}

/// What `open` gives, with a spinner meanwhile.
fn opened<T>(
    what: &'static str,
    talk: Talk,
    open: impl FnOnce() -> siskin_encoder::Result<T>,
) -> Result<T> {
    let spinner = talk.spinner(what);
    let opened = open();
    spinner.finish_and_clear();
    Ok(opened?)
}

/// A bundle, and where the codes of its passages came from.
struct Built {
    bundle: Bundle,
    encoded: Encoded,
}

/// The bundle of `pages`, whose passages may be known from earlier runs; `info` is what it says of the encoder.
///
/// # Errors
/// When the network fails, the encoder has no rows or the codes cannot be kept.
fn build(
    pages: Vec<Page>,
    encoder: &Encoder,
    info: EncoderInfo,
    settings: &Settings,
    talk: Talk,
) -> Result<Built> {
    let passages = pages.iter().map(|page| page.passages.len()).sum();
    let options = BuildOptions {
        stemming: stemming(&pages),
        ..BuildOptions::for_passages(passages)
    };
    let rows = encoder.generic_rows()?;
    let note = |text: &str| talk.problem(text);
    let pooling = Pooling::of_site(&pages);
    let mut store = encoder.passage_store(settings.cache.as_deref(), pooling, note)?;
    let texts = passage_texts(&pages, settings.passages);
    let (mut codes, progress) = encode(&texts, &mut store, talk)?;
    let spinner = talk.spinner("building the index");
    let mut builder = Builder::new(options, info);
    for page in pages {
        let own = codes
            .by_ref()
            .take(page.passages.len().min(settings.passages));
        let own: Vec<PassageCodes> = own.collect::<siskin_encoder::Result<_>>()?;
        builder.add_page(page, &own)?;
    }
    drop(codes);
    let bundle = builder.finish(&encoder.vocabulary(), &rows);
    spinner.finish_and_clear();
    Ok(Built {
        bundle: bundle?,
        encoded: Encoded::new(progress, &store),
    })
}

/// The codes of all texts in order, read as they are asked for.
fn encode<'s>(
    texts: &[String],
    store: &'s mut PassageStore<'_>,
    talk: Talk,
) -> Result<(Codes<'s>, Progress)> {
    let threads = thread::available_parallelism().map_or(1, Into::into);
    let bar = talk.bar("encoding passages", 0);
    let mut last = Progress::default();
    let codes = store.encode(texts, threads, |progress| {
        if progress.encoded == 0 && progress.known > 0 {
            let Progress { known, missing, .. } = progress;
            bar.suspend(|| {
                talk.remark(&format!(
                    "{known} of {} passages are known",
                    known + missing
                ));
            });
        }
        bar.set_length(progress.missing as u64);
        bar.set_position(progress.encoded as u64);
        last = progress;
    });
    bar.finish_and_clear();
    Ok((codes.context("cannot encode the site's passages")?, last))
}

/// Where the codes of the passages came from.
#[derive(Debug, Serialize)]
struct Encoded {
    /// Passages that went through the network.
    encoded: usize,
    /// Passages known from an earlier run, or equal to another one.
    known: usize,
    /// The encoder's folder of passages; none with `--no-cache`.
    cache: Option<String>,
    /// Bytes of all passages in it, those of other sites too.
    cache_bytes: u64,
}

impl Encoded {
    fn new(progress: Progress, store: &PassageStore<'_>) -> Self {
        Self {
            encoded: progress.encoded,
            known: progress.known,
            cache: store.folder().map(|folder| folder.display().to_string()),
            cache_bytes: store.bytes(),
        }
    }

    /// A line for people; nothing without a cache.
    fn text(&self) -> String {
        let Some(folder) = &self.cache else {
            return String::new();
        };
        let (known, encoded) = (self.known, self.encoded);
        let size = talk::size(self.cache_bytes);
        format!(
            "{known} passages were known, {encoded} encoded; kept for the next run, {size}: {folder}\n"
        )
    }
}

/// What the encoder reads of each page, of its first passages only.
fn passage_texts(pages: &[Page], most: usize) -> Vec<String> {
    let of_page = |page: &Page| -> Vec<String> {
        let passages = page.passages.iter().take(most);
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
        *counts
            .entry(primary_language(language).to_ascii_lowercase())
            .or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(_, count)| **count);
    most.map_or(Stemming::English, |(language, _)| {
        Stemming::for_language(language)
    })
}

fn write(bundle: &Bundle, staging: &mut Staging) -> Result<()> {
    for file in &bundle.files {
        staging.write(&file.path, &file.bytes)?;
    }
    staging.write(MANIFEST_FILE, bundle.manifest_json()?.as_bytes())
}

fn write_runtime(runtime: &Path, reader: &QueryFiles, staging: &mut Staging) -> Result<()> {
    let engines = match runs_without_tract(&reader.tokenizer, &reader.model) {
        true => Engines::Small,
        false => Engines::All,
    };
    for (name, content) in resources::runtime_files(runtime, engines)? {
        staging.write(&name, &content)?;
    }
    for (name, content) in reader.iter() {
        staging.write(&format!("{ENCODER_FOLDER}/{name}"), content)?;
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
pub(super) fn report_problems(site: &SiteReport, verbose: bool, talk: Talk) {
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
    codes: Encoded,
}

/// A file that was left out.
#[derive(Debug, Serialize)]
pub(super) struct SkippedFile {
    pub(super) path: String,
    pub(super) reason: String,
    /// The reason without the page that it names.
    #[serde(skip)]
    pub(super) kind: String,
    /// Whether a page may be missing for it.
    pub(super) problem: bool,
}

impl SkippedFile {
    pub(super) fn new(skipped: &Skipped) -> Self {
        Self {
            path: skipped.path.display().to_string(),
            reason: skipped.reason.to_string(),
            kind: skipped.reason.kind(),
            problem: skipped.reason.is_problem(),
        }
    }
}

impl Summary {
    fn new(
        output: &Path,
        site: &SiteReport,
        Built { bundle, encoded }: Built,
        receipt: &Receipt,
        started: Instant,
    ) -> Self {
        let bad_bytes = site.bad_bytes.iter();
        Self {
            output: output.display().to_string(),
            pages: bundle.manifest.pages,
            passages: bundle.manifest.passages,
            skipped: site.skipped.iter().map(SkippedFile::new).collect(),
            bad_bytes: bad_bytes.map(|path| path.display().to_string()).collect(),
            index_bytes: bundle.files.iter().map(|file| file.bytes.len()).sum(),
            total_bytes: receipt.files.values().map(|file| file.bytes).sum(),
            seconds: (started.elapsed().as_secs_f64() * 10.0).round() / 10.0,
            codes: encoded,
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
        text += &self.codes.text();
        if !self.bad_bytes.is_empty() {
            text += &format!(
                "with replaced bytes {}: named above\n",
                self.bad_bytes.len()
            );
        }
        if !self.skipped.is_empty() {
            text += &format!(
                "left out {}: {}\n",
                self.skipped.len(),
                skip_counts(&self.skipped)
            );
        }
        text
    }
}

/// How often each reason occurred; reasons that name another page are counted together.
pub(super) fn skip_counts(skipped: &[SkippedFile]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for skipped in skipped {
        let reason = if skipped.problem {
            "named above"
        } else {
            &skipped.kind
        };
        *counts.entry(reason).or_default() += 1;
    }
    let counted = counts
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"));
    counted.collect::<Vec<_>>().join(", ")
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
