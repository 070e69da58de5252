//! How the ranking's constants were chosen: one parameter at a time around the defaults, nDCG@10
//! on train splits.
//!
//! ```text
//! cargo run --release -p siskin-eval --example tune -- ENCODER SWEEP DATASET:SPLIT…
//! ```
//!
//! `SWEEP` is the beginning of a name of [`SWEEPS`], or `all`. Never run it on a split that a report is made of.

#![allow(clippy::print_stdout, reason = "the table is the result")]

use std::error::Error;
use std::path::Path;

use siskin_core::build::BuildOptions;
use siskin_core::encoded::EncodedQuery;
use siskin_core::search::Mode;
use siskin_encoder::Encoder;
use siskin_eval::beir::{self, Dataset};
use siskin_eval::collection::{self, Observer};
use siskin_eval::run::evaluate_mode;
use siskin_eval::site::{Site, encode_queries};

/// Queries asked of one split at most.
const MAX_QUERIES: usize = 400;

/// Sets one parameter.
type Set = fn(&mut BuildOptions, f32);

/// Name, values to try, and how a value is set. Where pages are short, a build doubles the shards of codes
/// and leaves out the rows, whatever is set.
const SWEEPS: [(&str, &[f32], Set); 26] = [
    (
        "pairs",
        &[0.0, 0.1, 0.2, 0.3, 0.4, 0.6],
        |options, value| {
            options.ranking.pairs = value;
        },
    ),
    (
        "span_share",
        &[0.0, 0.2, 0.3, 0.4, 0.6],
        |options, value| {
            options.ranking.span_share = value;
        },
    ),
    ("mean_share", &[0.0, 0.1, 0.2, 0.3], |options, value| {
        options.ranking.mean_share = value;
    }),
    ("heading_weight", &[0.5, 1.0, 2.0, 3.0], |options, value| {
        options.lexical.heading_weight = value;
    }),
    ("short.k1", &[0.6, 0.9, 1.2, 1.6], |options, value| {
        options.lexical.short_pages.k1 = value;
    }),
    ("short.b", &[0.4, 0.6, 0.75, 0.9], |options, value| {
        options.lexical.short_pages.b = value;
    }),
    ("long.k1", &[0.6, 0.9, 1.2, 1.6], |options, value| {
        options.lexical.long_pages.k1 = value;
    }),
    (
        "long.passage_b",
        &[0.3, 0.5, 0.75, 0.9],
        |options, value| {
            options.lexical.long_pages.passage_b = value;
        },
    ),
    ("long.b", &[0.2, 0.4, 0.6, 0.75], |options, value| {
        options.lexical.long_pages.b = value;
    }),
    ("long.share", &[0.5, 0.7, 0.85, 1.0], |options, value| {
        options.lexical.long_pages.share = value;
    }),
    (
        "long.title_weight",
        &[1.0, 2.0, 3.0, 4.0],
        |options, value| options.lexical.long_pages.title_weight = value,
    ),
    (
        "long.title_share",
        &[0.0, 0.1, 0.2, 0.3],
        |options, value| options.lexical.long_pages.title_share = value,
    ),
    (
        "code_shards",
        &[6.0, 8.0, 10.0, 12.0, 1e6],
        |options, value| {
            options.ranking.code_shards = value as usize;
            options.ranking.code_shards_in_full = value as usize;
            options.shards.whole_codes_bytes = 0;
        },
    ),
    (
        "least_matches",
        &[0.0, 1.0, 1.5, 2.0, 4.0],
        |options, value| {
            options.ranking.table.least_matches = value;
            options.ranking.full.least_matches = value;
        },
    ),
    (
        "table.meaning",
        &[0.0, 0.1, 0.2, 0.3, 0.5],
        |options, value| {
            options.ranking.table.meaning = value;
        },
    ),
    (
        "table.meaning_first",
        &[0.3, 0.5, 1.0, 1.5],
        |options, value| options.ranking.table.meaning_first = value,
    ),
    ("table.dense", &[1.2, 1.5, 2.0, 2.5], |options, value| {
        options.ranking.table.dense = value;
    }),
    (
        "feedback",
        &[0.0, 0.45, 0.75, 1.1, 1.5],
        |options, value| {
            options.ranking.table.feedback = value;
            options.ranking.full.feedback = value;
        },
    ),
    ("full.meaning", &[0.0, 0.2, 0.5], |options, value| {
        options.ranking.full.meaning = value;
    }),
    ("full.uhd", &[0.0, 0.2, 0.4, 0.6], |options, value| {
        options.ranking.full.uhd = value;
    }),
    ("full.dense", &[1.2, 1.5, 1.8, 2.1], |options, value| {
        options.ranking.full.dense = value;
    }),
    ("full.query_k", &[16.0, 32.0, 64.0], |options, value| {
        options.ranking.full.query_k = value as usize;
    }),
    ("rows_in_full", &[0.0, 0.4, 0.8, 1.2], |options, value| {
        options.ranking.rows_in_full = value;
    }),
    ("window", &[1.0, 2.0, 3.0, 4.0], |options, value| {
        options.window = value as u32;
    }),
    ("uhd.long", &[24.0, 32.0, 48.0, 64.0], |options, value| {
        options.uhd.long_page_code = value as usize;
    }),
    ("uhd.short", &[32.0, 48.0, 64.0, 96.0], |options, value| {
        options.uhd.short_page_code = value as usize;
    }),
];

/// One split with everything that does not depend on the parameters.
struct Collection {
    dataset: Dataset,
    site: Site,
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

    fn remark(&self, text: &str) {
        eprintln!("{text}");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, sweep, datasets @ ..] = arguments.as_slice() else {
        return Err("usage: tune ENCODER SWEEP DATASET:SPLIT…".into());
    };
    let encoder = Encoder::open(folder)?;
    let reader = Encoder::open_for_queries(folder)?;
    let collections = datasets
        .iter()
        .map(|name| open(name, &encoder, &reader))
        .collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&str> = collections
        .iter()
        .map(|set| set.dataset.name.as_str())
        .collect();
    println!("parameter\tvalue\tmode\tmean\t{}", names.join("\t"));
    report("defaults", f32::NAN, &BuildOptions::default(), &collections)?;
    let asked = |name: &str| sweep == "all" || name.starts_with(sweep.as_str());
    for (name, values, set) in SWEEPS.iter().filter(|(name, ..)| asked(name)) {
        for &value in *values {
            let mut options = BuildOptions::default();
            set(&mut options, value);
            report(name, value, &options, &collections)?;
        }
    }
    Ok(())
}

fn open(name: &str, encoder: &Encoder, reader: &Encoder) -> Result<Collection, Box<dyn Error>> {
    let (folder, split) = name.rsplit_once(':').ok_or("a data set is FOLDER:SPLIT")?;
    let mut dataset = beir::load(Path::new(folder), None, split)?;
    dataset.queries.truncate(MAX_QUERIES);
    let pages = collection::pages(&dataset.documents);
    let cache = siskin_encoder::store::default_folder();
    let site = Site::encode(pages, encoder, cache.as_deref(), &Quiet)?;
    let queries = encode_queries(&dataset.queries, reader)?;
    Ok(Collection {
        dataset,
        site: site.read_by(encoder.info_read_by(reader)?),
        queries,
    })
}

/// Prints one line a mode: the mean over collections, then each.
fn report(
    name: &str,
    value: f32,
    options: &BuildOptions,
    collections: &[Collection],
) -> Result<(), Box<dyn Error>> {
    let engines = collections
        .iter()
        .map(|set| set.site.engine(options.clone(), false))
        .collect::<Result<Vec<_>, _>>()?;
    for mode in [Mode::Words, Mode::Table, Mode::Full] {
        let scores = collections
            .iter()
            .zip(&engines)
            .map(|(set, engine)| evaluate_mode(&set.dataset, engine, mode, &set.queries, None))
            .map(|system| system.map(|system| 100.0 * system.mean().ndcg_at_10))
            .collect::<Result<Vec<f64>, _>>()?;
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let each: Vec<String> = scores.iter().map(|score| format!("{score:.1}")).collect();
        println!("{name}\t{value}\t{mode}\t{mean:.2}\t{}", each.join("\t"));
    }
    Ok(())
}
