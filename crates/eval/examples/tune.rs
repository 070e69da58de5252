//! How the ranking's constants were chosen: one parameter at a time around the defaults, nDCG@10
//! on train splits.
//!
//! ```text
//! cargo run --release -p siskin-eval --example tune -- ENCODER SWEEP DATASET:SPLIT…
//! ```
//!
//! `SWEEP` is a name of [`SWEEPS`], or `all`. Never run it on a split that a report is made of.

use std::error::Error;
use std::path::Path;

use siskin_core::build::{BuildOptions, Builder, Bundle};
use siskin_core::encoded::{EncodedQuery, PassageCodes};
use siskin_core::manifest::{BucketInfo, EncoderInfo};
use siskin_core::page::Page;
use siskin_core::rows::GenericRows;
use siskin_core::search::{Engine, Mode, Query};
use siskin_encoder::Encoder;
use siskin_eval::beir::{self, Dataset};
use siskin_eval::collection::{self, EncodedPassages, Observer};
use siskin_eval::metrics::{Metrics, rank};

/// Sets one parameter.
type Set = fn(&mut BuildOptions, f32);

/// Name, values to try, and how a value is set.
const SWEEPS: [(&str, &[f32], Set); 16] = [
    ("page_share", &[0.0, 0.3, 0.5, 0.7, 1.0], |options, value| options.ranking.page_share = value),
    ("title_weight", &[0.5, 1.0, 2.0, 3.0], |options, value| options.lexical.title_weight = value),
    ("heading_weight", &[0.5, 1.0, 2.0, 3.0], |options, value| options.lexical.heading_weight = value),
    ("k1", &[0.6, 0.9, 1.2, 1.6], |options, value| options.lexical.k1 = value),
    ("b", &[0.3, 0.5, 0.75, 0.9], |options, value| options.lexical.b = value),
    ("table.uhd", &[0.0, 0.3, 0.5, 0.8], |options, value| options.ranking.table.uhd = value),
    ("table.dense", &[0.6, 0.9, 1.2, 1.5], |options, value| options.ranking.table.dense = value),
    ("table.query_k", &[16.0, 32.0, 64.0], |options, value| options.ranking.table.query_k = value as usize),
    ("full.uhd", &[0.0, 0.3, 0.5, 0.8], |options, value| options.ranking.full.uhd = value),
    ("full.dense", &[0.9, 1.2, 1.5, 2.0], |options, value| options.ranking.full.dense = value),
    ("full.query_k", &[16.0, 32.0, 64.0], |options, value| options.ranking.full.query_k = value as usize),
    ("uhd.window", &[1.0, 2.0, 3.0], |options, value| options.uhd.window = value as u32),
    ("uhd.long", &[24.0, 32.0, 48.0, 64.0], |options, value| options.uhd.long_page_code = value as usize),
    ("uhd.short", &[32.0, 48.0, 64.0, 96.0], |options, value| options.uhd.short_page_code = value as usize),
    ("uhd.single", &[64.0, 96.0, 128.0], |options, value| options.uhd.single_passage_code = value as usize),
    ("dense.window", &[1.0, 2.0, 3.0], |options, value| options.dense_window = value as u32),
];

/// One split with everything that does not depend on the parameters.
struct Collection {
    dataset: Dataset,
    pages: Vec<Page>,
    encoded: EncodedPassages,
    queries: Vec<EncodedQuery>,
}

struct Quiet;

impl Observer for Quiet {
    fn encoded(&self, done: usize, total: usize) {
        if done.is_multiple_of(500) {
            eprintln!("encoded {done} of {total}");
        }
    }

    fn note(&self, text: &str) {
        eprintln!("{text}");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, sweep, datasets @ ..] = arguments.as_slice() else {
        return Err("usage: tune ENCODER SWEEP DATASET:SPLIT…".into());
    };
    let encoder = Encoder::open(folder)?;
    let rows = encoder.generic_rows()?;
    let collections =
        datasets.iter().map(|name| open(name, &encoder)).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&str> = collections.iter().map(|set| set.dataset.name.as_str()).collect();
    println!("parameter\tvalue\tmode\tmean\t{}", names.join("\t"));
    report("defaults", f32::NAN, &BuildOptions::default(), &encoder, &rows, &collections)?;
    for (name, values, set) in SWEEPS.iter().filter(|(name, ..)| sweep == "all" || name.starts_with(sweep.as_str())) {
        for &value in *values {
            let mut options = BuildOptions::default();
            set(&mut options, value);
            report(name, value, &options, &encoder, &rows, &collections)?;
        }
    }
    Ok(())
}

fn open(name: &str, encoder: &Encoder) -> Result<Collection, Box<dyn Error>> {
    let (folder, split) = name.rsplit_once(':').ok_or("a data set is FOLDER:SPLIT")?;
    let mut dataset = beir::load(Path::new(folder), None, split)?;
    dataset.queries.truncate(400);
    let pages = collection::pages(&dataset.documents);
    let cache = siskin_eval::cache::default_folder();
    let encoded = collection::encode(&pages, encoder, cache.as_deref(), &Quiet)?;
    let queries =
        dataset.queries.iter().map(|query| encoder.encode_query(&query.text)).collect::<Result<_, _>>()?;
    Ok(Collection { dataset, pages, encoded, queries })
}

/// Prints one line a mode: the mean over collections, then each.
fn report(
    name: &str,
    value: f32,
    options: &BuildOptions,
    encoder: &Encoder,
    rows: &GenericRows,
    collections: &[Collection],
) -> Result<(), Box<dyn Error>> {
    let engines =
        collections.iter().map(|set| set.engine(options, encoder, rows)).collect::<Result<Vec<_>, _>>()?;
    for mode in [Mode::Words, Mode::Table, Mode::Full] {
        let scores = collections
            .iter()
            .zip(&engines)
            .map(|(set, engine)| set.ndcg(engine, mode))
            .collect::<Result<Vec<f64>, _>>()?;
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let each: Vec<String> = scores.iter().map(|score| format!("{:.1}", 100.0 * score)).collect();
        println!("{name}\t{value}\t{mode}\t{:.2}\t{}", 100.0 * mean, each.join("\t"));
    }
    Ok(())
}

impl Collection {
    fn engine(&self, options: &BuildOptions, encoder: &Encoder, rows: &GenericRows) -> Result<Engine, Box<dyn Error>> {
        let mut builder = Builder::new(options.clone(), info(encoder));
        let mut passages = self.encoded.passages.iter();
        for page in &self.pages {
            let codes: Vec<PassageCodes> =
                passages.by_ref().take(page.passages.len()).map(|passage| passage.codes.clone()).collect();
            builder.add_page(page.clone(), &codes)?;
        }
        let Bundle { manifest, files } = builder.finish(&encoder.vocabulary(), rows, &self.encoded.statistics)?;
        let mut files = manifest.files.iter().map(|file| file.path.clone()).zip(files).collect::<Vec<_>>();
        let engine = Engine::open(manifest, |entry| {
            files.iter_mut().find(|(path, _)| *path == entry.path).map(|(_, bytes)| std::mem::take(bytes))
        })?;
        Ok(engine)
    }

    fn ndcg(&self, engine: &Engine, mode: Mode) -> Result<f64, Box<dyn Error>> {
        let mut metrics = Vec::new();
        for (query, encoded) in self.dataset.queries.iter().zip(&self.queries) {
            let asked = Query { text: &query.text, mode, limit: 100, encoded: Some(encoded) };
            let pages = engine.score(&asked).map(|scores| scores.pages).unwrap_or_else(|_| vec![0.0; self.pages.len()]);
            let ids = self.dataset.documents.iter().map(|document| document.id.as_str());
            let ranking = rank(ids.zip(pages.into_iter().map(f64::from)));
            metrics.push(Metrics::of_ranking(&ranking, &query.judgments));
        }
        Ok(Metrics::mean(&metrics).ndcg_at_10)
    }
}

fn info(encoder: &Encoder) -> EncoderInfo {
    let manifest = encoder.manifest();
    let bucket = |bucket: &siskin_encoder::manifest::Bucket| BucketInfo {
        layer: bucket.layer,
        n: bucket.n as usize,
        k: bucket.k,
    };
    EncoderInfo {
        id: encoder.id().to_owned(),
        name: manifest.name.clone(),
        dim: manifest.dim,
        buckets: manifest.buckets.iter().map(bucket).collect(),
    }
}
