//! The command line as it was typed. Each command turns its part into checked settings.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use siskin_core::search::{DEFAULT_LIMIT, Mode};
use siskin_eval::run::Baseline;

const EXAMPLES: &str = "\
Examples:
  siskin check public                  what would be indexed, and what to mend first
  siskin index public                  index the built site in public, into public/siskin
  siskin serve public                  try it: http://127.0.0.1:4173/
  siskin search public \"cancel a job\"  search it here

Exit codes: 0 done, 1 done with problems to look at (or nothing found), 2 failed.";

/// Searches static sites by meaning, in the reader's browser.
#[derive(Debug, Parser)]
#[command(name = "siskin", version, about, after_help = EXAMPLES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Index(IndexArguments),
    Check(CheckArguments),
    Search(SearchArguments),
    Serve(ServeArguments),
    Eval(EvalArguments),
    EvalSite(EvalSiteArguments),
    Inspect(InspectArguments),
    Verify(VerifyArguments),
    Mdbook(MdbookArguments),
}

/// How results and talk are printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Printing {
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress and no remarks: results and errors only.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Index a built site.
///
/// Reads the HTML below SITE and writes a folder that is complete in itself: the index,
/// siskin.js with its worker and WebAssembly, and the encoder. An older index is replaced only
/// once the new one is complete.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = "\
Examples:
  siskin index public
  siskin index book --output book/search
  siskin index public --no-runtime --json
  siskin index dist --pagefind         after a build whose search box loads /pagefind/pagefind.js

Options may stand in siskin.toml: site = \"public\", pagefind = true, …; those typed here count more.

Then add to the site's pages:
  <script type=\"module\" src=\"/siskin/siskin.js\"></script><siskin-search></siskin-search>")]
pub struct IndexArguments {
    /// Folder that the site's generator wrote: often public, dist, book or site [default: what
    /// siskin.toml says].
    #[arg(value_name = "SITE")]
    pub site: Option<PathBuf>,
    /// File with options, instead of siskin.toml in the current folder.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder to write; the folder above it must exist [default: SITE/siskin].
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Folder with the encoder [default: the one that came with siskin].
    #[arg(long, value_name = "DIR")]
    pub encoder: Option<PathBuf>,
    /// Folder with the encoder that pages load to read the queries of mode full: one that was distilled from
    /// --encoder, and smaller [default: as --encoder].
    #[arg(long, value_name = "DIR", conflicts_with = "no_runtime")]
    pub query_encoder: Option<PathBuf>,
    /// Folder with the browser's files [default: the one that came with siskin].
    #[arg(long, value_name = "DIR")]
    pub runtime: Option<PathBuf>,
    /// Write the index only, without siskin.js, WebAssembly and encoder.
    #[arg(long, conflicts_with = "runtime")]
    pub no_runtime: bool,
    /// Also write SITE/pagefind/pagefind.js, which answers in Pagefind's place: search boxes made for
    /// Pagefind (Starlight's, Nextra's, its own) then search by meaning, unchanged.
    #[arg(long, conflicts_with = "no_runtime")]
    pub pagefind: bool,
    /// Encode the first three passages of each page only: several times faster; meanings deep in a
    /// page are not found, words are.
    #[arg(long)]
    pub lite: bool,
    /// Folder of passages encoded by earlier runs, which are not encoded again [default:
    /// siskin/passages in $XDG_CACHE_HOME or ~/.cache].
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Encode every passage, and keep none.
    #[arg(long, conflicts_with = "cache")]
    pub no_cache: bool,
    /// Name every file that was left out.
    #[arg(long, short)]
    pub verbose: bool,
    #[command(flatten)]
    pub printing: Printing,
}

/// Tell what would be indexed, and what to mend first.
///
/// Reads the site as `siskin index` does and writes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  siskin check public
  siskin check public --verbose        every page, and every file left out

Named are headings without an id of their own, titles that several pages share, pages of hardly any
words, files that cannot be read. Exit codes: 0 nothing to mend, 1 something named, 2 failed.")]
pub struct CheckArguments {
    /// Folder that the site's generator wrote [default: what siskin.toml says].
    #[arg(value_name = "SITE")]
    pub site: Option<PathBuf>,
    /// Name every page, every file that was left out and every finding.
    #[arg(long, short)]
    pub verbose: bool,
    #[command(flatten)]
    pub printing: Printing,
}

/// Search an index.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  siskin search public \"share data between threads\"
  siskin search public/siskin --mode full --limit 3 --explain \"value may be missing\"
  siskin search public --json E0382

Modes: words (words only), table (words and meaning, no network), full (the network reads the
query). With --json: {\"query\",\"mode\",\"took_ms\",\"total\",\"results\":[{\"url\",\"title\",
\"heading\",\"excerpt\",\"score\",\"matches\":[{\"kind\",\"query\",\"text\"}],\"meta\",\"filters\",
\"sections\":[{\"url\",\"heading\",\"excerpt\",\"matches\"}]}],\"suggestions\",\"facets\"}")]
pub struct SearchArguments {
    /// Folder with siskin.json, or the site's folder.
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// What to look for.
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    pub query: String,
    /// Most results.
    #[arg(long, short, value_name = "N", default_value_t = DEFAULT_LIMIT, value_parser = one_or_more)]
    pub limit: usize,
    /// Results to pass over, for a further page of them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub first: usize,
    /// Most sections of each result's page.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub sections: usize,
    /// Only pages with this value of a filter; of several values of one filter any will do.
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub filter: Vec<(String, String)>,
    /// Sort the best results by this key, from the smallest value; behind a `-` from the largest.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub sort: Option<String>,
    /// Only pages in this language, such as `de`, where the site has any.
    #[arg(long, value_name = "TAG")]
    pub language: Option<String>,
    /// Print the site's filters, too, with the pages found and all pages that have each value.
    #[arg(long)]
    pub facets: bool,
    /// How to search: words, table or full.
    #[arg(long, short, value_name = "MODE", default_value_t = Mode::default())]
    pub mode: Mode,
    /// Say why each result was found.
    #[arg(long)]
    pub explain: bool,
    /// Folder with the encoder for mode full [default: the bundle's own].
    #[arg(long, value_name = "DIR")]
    pub encoder: Option<PathBuf>,
    #[command(flatten)]
    pub printing: Printing,
}

/// Serve a folder to browsers on this machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  siskin serve public
  siskin serve public --watch          index it now, and again when its pages change
  siskin serve public --port 8080
  siskin serve public --host 0.0.0.0   let other machines in")]
pub struct ServeArguments {
    /// The site's folder [default: what siskin.toml says].
    #[arg(value_name = "SITE")]
    pub site: Option<PathBuf>,
    /// Port to listen on; 0 takes any that is free.
    #[arg(long, short, default_value_t = 4173)]
    pub port: u16,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Index the site, and again whenever its pages change.
    #[arg(long)]
    pub watch: bool,
    /// Print the address only.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Measure how well a data set's questions are answered.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  siskin eval tests/cases/beir/hatchet-docs
  siskin eval scifact --split test --mode table --baseline bm25 --json

DATASET is a folder in the form of BEIR: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv. Encoded
passages are kept and used again, those of siskin index too. The last column is a system's nDCG@10
less the hybrid's (the last system's where it is not asked), with the interval that holds 95 of 100
resamples of the questions.")]
pub struct EvalArguments {
    /// Folder of the data set.
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// Shards of codes whose pages the first stage passes on to the second [default: as the index says].
    #[arg(long, value_name = "SHARDS")]
    pub code_shards: Option<usize>,
    /// Encode the first passages of each page only, as `siskin index --lite` does.
    #[arg(long)]
    pub lite: bool,
    /// Which judgments to use: qrels/SPLIT.tsv.
    #[arg(long, default_value = "dev")]
    pub split: String,
    /// Modes to measure: words, table, full [default: all, unless --baseline is given].
    #[arg(long, value_name = "MODES", value_delimiter = ',')]
    pub mode: Vec<Mode>,
    /// Systems to compare with: bm25, dense, hybrid [default: these three, unless --mode is given], or uhd: the
    /// encoder's binary codes alone, without words.
    #[arg(long, value_name = "SYSTEMS", value_delimiter = ',')]
    pub baseline: Vec<Baseline>,
    /// Folder with corpus.jsonl, if DATASET has none.
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// Folder with the encoder [default: the one that came with siskin].
    #[arg(long, value_name = "DIR")]
    pub encoder: Option<PathBuf>,
    /// Folder with the encoder that reads the queries of mode full and baseline uhd: one that was distilled from
    /// --encoder [default: as --encoder].
    #[arg(long, value_name = "DIR")]
    pub query_encoder: Option<PathBuf>,
    /// Folder with the encoder of the baselines dense and hybrid [default: as --encoder].
    #[arg(long, value_name = "DIR")]
    pub dense_encoder: Option<PathBuf>,
    #[command(flatten)]
    pub printing: Printing,
}

/// Measure how well your own questions find the pages that you expect.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  siskin eval-site public --queries questions.tsv
  siskin eval-site public --queries questions.tsv --mode words,table,full --json
  siskin eval-site public --queries questions.tsv --pagefind ../old/pagefind

A line of the file is a question, a tab, and the addresses of the pages that answer it with spaces
between, as in the site: /guide/abort.html. Exit codes: 0 all found, 1 some question has none of its
pages among the first ten in the last mode, 2 failed.")]
pub struct EvalSiteArguments {
    /// Folder of the indexed site.
    #[arg(value_name = "SITE")]
    pub site: PathBuf,
    /// File with questions and addresses.
    #[arg(long, value_name = "FILE")]
    pub queries: PathBuf,
    /// Folder of the index [default: SITE/siskin].
    #[arg(long, value_name = "DIR")]
    pub bundle: Option<PathBuf>,
    /// Modes to measure: words, table, full [default: words,table].
    #[arg(long, value_name = "MODES", value_delimiter = ',')]
    pub mode: Vec<Mode>,
    /// Folder with the encoder for mode full [default: the index's own].
    #[arg(long, value_name = "DIR")]
    pub encoder: Option<PathBuf>,
    /// Folder of a Pagefind index to compare with, asked by its own script, which needs Node.js
    /// [default: SITE/pagefind, if one is there].
    #[arg(long, value_name = "DIR", conflicts_with = "no_pagefind")]
    pub pagefind: Option<PathBuf>,
    /// Compare with no Pagefind index.
    #[arg(long)]
    pub no_pagefind: bool,
    /// Name every question whose pages were not found.
    #[arg(long, short)]
    pub verbose: bool,
    #[command(flatten)]
    pub printing: Printing,
}

/// Show what an index, one of its files or an encoder holds and weighs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  siskin inspect public
  siskin inspect public --html codes.html
  siskin inspect public/siskin/codes-a2b3c4.bin --json")]
pub struct InspectArguments {
    /// Folder with siskin.json, the site's folder, one .bin file, or an encoder's folder.
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Write a page with pictures instead: sizes, sizes of codes, how often dimensions occur and what they stand for.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub html: Option<PathBuf>,
    /// Folder with the encoder that names the terms of dimensions [default: the one that came with siskin].
    #[arg(long, value_name = "DIR", requires = "html")]
    pub encoder: Option<PathBuf>,
    #[command(flatten)]
    pub printing: Printing,
}

/// Check that every file of an index is there and undamaged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  siskin verify public

Exit codes: 0 all is well, 1 something is damaged or missing, 2 could not check.")]
pub struct VerifyArguments {
    /// Folder with siskin.json, or the site's folder.
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    #[command(flatten)]
    pub printing: Printing,
}

/// Be a backend of mdBook: index its HTML and put the search box into it.
#[derive(Debug, Args)]
#[command(after_help = "\
mdBook runs it, where book.toml has

  [output.html]

  [output.siskin]
  command = \"siskin mdbook\"

The book is then in book/html. Further lines below [output.siskin] are attributes of <siskin-search>:
mode = \"full\", limit = 5, modal = false, … Options of siskin index are read from siskin.toml beside
book.toml.")]
pub struct MdbookArguments {}

fn one_or_more(text: &str) -> Result<usize, String> {
    let number: NonZeroUsize = text.parse().map_err(|_| "give a number, 1 or more")?;
    Ok(number.get())
}

/// The two sides of `NAME=VALUE`.
fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or_default();
    match name.is_empty() || value.is_empty() {
        true => Err("give a filter as NAME=VALUE, such as kind=guide".to_owned()),
        false => Ok((name.to_owned(), value.to_owned())),
    }
}
