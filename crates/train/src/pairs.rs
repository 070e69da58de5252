//! The `pairs` step: documentation to training pairs.
//!
//! Three things in a site's own pages say what a passage is about: the heading that it stands below,
//! the words of links that lead to it, and the title of the page that it begins. Each is a query, and
//! the passage, without that heading or title, its answer. What a site owner needs to adapt the encoder
//! to their pages, and no judgments.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use siskin_core::page::Page;
use siskin_extract::html::{self, Link};
use siskin_extract::{document, site};

use crate::collection::Collection;
use crate::files::{beside, remove_folder_if_there};
use crate::random::Random;

/// Random stream of the seed that chooses pairs.
const STREAM: u64 = 3_000;
/// A query with more answers on a site than this ("Examples", "See also") names none of them.
const MOST_ANSWERS: usize = 3;
const LONGEST_QUERY_WORDS: usize = 24;
/// A passage of fewer words says too little to be found by.
const LEAST_PASSAGE_WORDS: usize = 5;
/// Words of links that say nothing of where they lead.
const EMPTY_LINKS: [&str; 14] = [
    "here",
    "click here",
    "this",
    "this page",
    "link",
    "read more",
    "more",
    "learn more",
    "see here",
    "next",
    "previous",
    "back",
    "source",
    "edit this page",
];

/// Arguments of `siskin-train pairs`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folders with built sites (HTML) or collections in the BEIR layout.
    #[arg(required = true)]
    pub sources: Vec<PathBuf>,
    /// Folder to write: a collection in the BEIR layout for each source, by its name.
    #[arg(long)]
    pub out: PathBuf,
    /// Names of sources that are for measuring only: their pairs become the split `dev`, which `fit`
    /// does not read. Pages of one site never stand on both sides.
    #[arg(long, num_args = 1..)]
    pub dev: Vec<String>,
    /// Most pairs of one source, of all kinds alike, so that a large site does not drown others.
    #[arg(long, default_value_t = 5_000)]
    pub cap: usize,
    /// Chooses the pairs where there are more.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Where a query comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Heading,
    Link,
    Title,
    /// A judgment of the `train` split.
    Judged,
}

impl Kind {
    fn plural(self) -> &'static str {
        match self {
            Self::Heading => "headings",
            Self::Link => "words of links",
            Self::Title => "titles",
            Self::Judged => "judgments",
        }
    }
}

/// A query and the place of its answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Found {
    kind: Kind,
    query: String,
    answer: usize,
}

/// Title and text of a passage.
#[derive(Clone, Debug)]
struct Answer {
    title: String,
    text: String,
}

/// What a source gives.
#[derive(Debug, Default)]
struct Pairs {
    answers: Vec<Answer>,
    /// Places of answers by their text: a passage is one answer, with the title that it was first seen with.
    places: HashMap<String, usize>,
    found: BTreeSet<Found>,
}

/// Runs the step; see [`Args`].
///
/// # Errors
/// When a source cannot be read, has no pairs, or a folder cannot be written.
pub fn run(args: &Args) -> Result<()> {
    ensure!(args.cap > 0, "--cap 0 leaves no pairs");
    let mut names = HashSet::new();
    for source in &args.sources {
        let name = source_name(source)?;
        check_free(&args.out.join(&name))?;
        ensure!(
            names.insert(name.clone()),
            "two sources are called {name}: rename one, their pairs would be one collection"
        );
    }
    for name in &args.dev {
        ensure!(
            names.contains(name),
            "--dev {name}: no source is called that"
        );
    }
    // All are read before one is written: a source that cannot be read leaves nothing behind.
    let read = |source: &PathBuf| -> Result<_> {
        let pairs = Pairs::of(source).with_context(|| format!("{}", source.display()))?;
        ensure!(
            !pairs.found.is_empty(),
            "{} has no headings, links or titles to make pairs of",
            source.display()
        );
        Ok((source_name(source)?, pairs))
    };
    let all = args.sources.iter().map(read);
    for (name, pairs) in all.collect::<Result<Vec<_>>>()? {
        let chosen = pairs.chosen(args.cap, args.seed);
        let split = if args.dev.contains(&name) {
            "dev"
        } else {
            "train"
        };
        write(&args.out.join(&name), &pairs.answers, &chosen, split)?;
        crate::say!(
            "{name}: {} pairs ({}), {split}",
            chosen.len(),
            counts(&chosen)
        );
    }
    Ok(())
}

/// Refuses a folder that something lies in.
fn check_free(folder: &Path) -> Result<()> {
    ensure!(
        !folder.exists(),
        "{} is there already: remove it, or name another --out",
        folder.display()
    );
    Ok(())
}

fn source_name(source: &Path) -> Result<String> {
    let full = source
        .canonicalize()
        .with_context(|| format!("cannot read {}", source.display()))?;
    let name = full
        .file_name()
        .context("a source is a folder with a name")?;
    Ok(name.to_string_lossy().into_owned())
}

fn counts(chosen: &[&Found]) -> String {
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for found in chosen {
        *counts.entry(found.kind).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(kind, count)| format!("{count} {}", kind.plural()))
        .collect();
    parts.join(", ")
}

impl Pairs {
    fn of(source: &Path) -> Result<Self> {
        let mut pairs = Self::default();
        if source.join("corpus.jsonl").exists() {
            pairs.add_collection(&Collection::read_and_report(source)?);
        } else {
            let pages = site::pages(source, |_| {})?.pages;
            let links = links(source)?;
            pairs.add_pages(&pages);
            pairs.add_links(&pages, &links);
        }
        pairs.drop_vague();
        Ok(pairs)
    }

    fn add_collection(&mut self, collection: &Collection) {
        let page = |passage| {
            let (title, text) = collection.title_and_text(passage);
            document::page("", title, text)
        };
        let pages: Vec<Page> = (0..collection.passages.len()).map(page).collect();
        self.add_pages(&pages);
        for pair in &collection.pairs {
            let (title, text) = collection.title_and_text(pair.passage);
            self.add(Kind::Judged, &collection.queries[pair.query], title, text);
        }
    }

    fn add_pages(&mut self, pages: &[Page]) {
        for page in pages {
            if let Some(lead) = page.passages.first() {
                self.add(Kind::Title, &page.title, "", &lead.text);
            }
            let mut before = None;
            for passage in &page.passages {
                let heading = passage.headings.last();
                // The first passage of a section; a heading without a text is a passage of its own.
                let begins = heading.is_some() && before != Some(&passage.headings);
                before = Some(&passage.headings);
                if let Some(heading) = heading.filter(|heading| begins && **heading != passage.text)
                {
                    self.add(Kind::Heading, heading, &page.title, &passage.text);
                }
            }
        }
    }

    fn add_links(&mut self, pages: &[Page], links: &[Link]) {
        let by_path: HashMap<&str, &Page> = pages
            .iter()
            .map(|page| (plain_path(&page.url), page))
            .collect();
        for link in links {
            let Some(page) = by_path.get(plain_path(&link.path)) else {
                continue;
            };
            let at_anchor = page
                .passages
                .iter()
                .find(|passage| link.anchor.is_some() && passage.anchor == link.anchor);
            let says_nothing = EMPTY_LINKS.contains(&link.text.to_lowercase().as_str());
            if let Some(passage) = at_anchor.or(page.passages.first())
                && !says_nothing
                && link.text != page.title
            {
                self.add(Kind::Link, &link.text, &page.title, &passage.text);
            }
        }
    }

    fn add(&mut self, kind: Kind, query: &str, title: &str, text: &str) {
        let query = query.trim();
        let words = query.split_whitespace().count();
        let is_query = query.chars().filter(|c| c.is_alphanumeric()).count() > 1;
        let says_enough = text.split_whitespace().count() >= LEAST_PASSAGE_WORDS;
        if !is_query || words > LONGEST_QUERY_WORDS || !says_enough {
            return;
        }
        let answers = &mut self.answers;
        let place = *self.places.entry(text.to_owned()).or_insert_with(|| {
            answers.push(Answer {
                title: title.to_owned(),
                text: text.to_owned(),
            });
            answers.len() - 1
        });
        self.found.insert(Found {
            kind,
            query: query.to_owned(),
            answer: place,
        });
    }

    /// Drops queries that name many passages, and a pair of one kind that another kind has too.
    fn drop_vague(&mut self) {
        let mut answers: HashMap<String, HashSet<usize>> = HashMap::new();
        for found in &self.found {
            let known = answers.entry(found.query.to_lowercase()).or_default();
            known.insert(found.answer);
        }
        let mut seen = HashSet::new();
        self.found.retain(|found| {
            let query = found.query.to_lowercase();
            let is_vague = answers
                .get(&query)
                .is_some_and(|all| all.len() > MOST_ANSWERS);
            let is_judged = found.kind == Kind::Judged;
            (is_judged || !is_vague) && seen.insert((query, found.answer))
        });
    }

    /// At most `cap` pairs, kinds in turns, in an order that depends on `seed` alone.
    fn chosen(&self, cap: usize, seed: u64) -> Vec<&Found> {
        let mut kinds: BTreeMap<Kind, Vec<&Found>> = BTreeMap::new();
        for found in &self.found {
            kinds.entry(found.kind).or_default().push(found);
        }
        for of_kind in kinds.values_mut() {
            Random::new(seed, STREAM).shuffle(of_kind);
        }
        let most = kinds.values().map(Vec::len).max().unwrap_or_default();
        let turns = (0..most).flat_map(|turn| kinds.values().filter_map(move |all| all.get(turn)));
        turns.copied().take(cap).collect()
    }
}

/// The links of all pages of a site.
fn links(folder: &Path) -> Result<Vec<Link>> {
    let mut links = Vec::new();
    for file in site::walk(folder)?.files {
        let path = folder.join(&file.path);
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        // A page that cannot be read was left out of the site's pages too.
        links.extend(html::links(&bytes, &file.url).unwrap_or_default());
    }
    Ok(links)
}

/// An address without what hosts let one leave out.
fn plain_path(path: &str) -> &str {
    let path = path.strip_suffix("index.html").unwrap_or(path);
    let path = path.strip_suffix(".html").unwrap_or(path);
    path.trim_end_matches('/')
}

/// Writes a collection, whole or not at all.
fn write(folder: &Path, answers: &[Answer], chosen: &[&Found], split: &str) -> Result<()> {
    let partial = beside(folder, ".partial");
    remove_folder_if_there(&partial)?;
    let cannot_write = || format!("cannot write {}", partial.display());
    fs::create_dir_all(partial.join("qrels")).with_context(cannot_write)?;
    let corpus = answers
        .iter()
        .enumerate()
        .map(|(i, Answer { title, text })| {
            json!({ "_id": format!("p{i}"), "title": title, "text": text }).to_string()
        });
    lines(&partial.join("corpus.jsonl"), corpus).with_context(cannot_write)?;
    let queries: BTreeMap<&str, usize> = chosen
        .iter()
        .map(|found| found.query.as_str())
        .zip(0..)
        .collect();
    let texts = queries
        .iter()
        .map(|(text, id)| json!({ "_id": format!("q{id}"), "text": text }).to_string());
    lines(&partial.join("queries.jsonl"), texts).with_context(cannot_write)?;
    let judgments = chosen.iter().map(|found| {
        let query = queries
            .get(found.query.as_str())
            .copied()
            .unwrap_or_default();
        format!("q{query}\tp{}\t1", found.answer)
    });
    let header = std::iter::once("query-id\tcorpus-id\tscore".to_owned());
    let file = partial.join("qrels").join(format!("{split}.tsv"));
    lines(&file, header.chain(judgments)).with_context(cannot_write)?;
    fs::rename(&partial, folder).with_context(|| format!("cannot write {}", folder.display()))
}

fn lines(path: &Path, lines: impl Iterator<Item = String>) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    for line in lines {
        writeln!(file, "{line}")?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUCKS: &str =
        "<title>Ducks</title><main><h1>Ducks</h1><p>Birds that swim, dive and quack all day.
        <h2 id=food>What they eat</h2><p>Water plants, insects, seeds and some bread. See
        <a href=geese.html#flight>how geese travel</a> or <a href=geese.html>here</a>.
        <h2>Examples</h2><p>Mallard, teal, pintail, eider, and wigeon.</main>";
    const GEESE: &str =
        "<title>Geese</title><main><h1>Geese</h1><p>Large birds with long necks, loud at night.
        <h2 id=flight>Flight</h2><p>They fly in lines that look like a wedge.
        <h2>Examples</h2><p>Greylag, barnacle, brant, bean and snow goose.</main>";

    fn birds() -> Result<(tempfile::TempDir, PathBuf)> {
        let folder = tempfile::tempdir()?;
        let site = folder.path().join("birds");
        fs::create_dir(&site)?;
        fs::write(site.join("ducks.html"), DUCKS)?;
        fs::write(site.join("geese.html"), GEESE)?;
        Ok((folder, site))
    }

    fn args(line: &str) -> Result<Args> {
        #[derive(clap::Parser)]
        struct Command {
            #[command(flatten)]
            args: Args,
        }
        let words = std::iter::once("pairs").chain(line.split_whitespace());
        Ok(<Command as clap::Parser>::try_parse_from(words)?.args)
    }

    fn texts(pairs: &Pairs) -> Vec<(Kind, &str, &str, &str)> {
        let text = |found: &Found| pairs.answers[found.answer].text.split(' ').next().unwrap();
        let found = pairs.found.iter();
        found
            .map(|pair| {
                let title = pairs.answers[pair.answer].title.as_str();
                (pair.kind, pair.query.as_str(), title, text(pair))
            })
            .collect()
    }

    #[test]
    fn headings_links_and_titles_name_their_passages() -> Result<()> {
        let (_folder, site) = birds()?;
        assert_eq!(
            texts(&Pairs::of(&site)?),
            [
                (Kind::Heading, "Examples", "Ducks", "Mallard,"),
                (Kind::Heading, "Examples", "Geese", "Greylag,"),
                (Kind::Heading, "Flight", "Geese", "They"),
                (Kind::Heading, "What they eat", "Ducks", "Water"),
                (Kind::Link, "how geese travel", "Geese", "They"),
                (Kind::Title, "Ducks", "", "Birds"),
                (Kind::Title, "Geese", "", "Large"),
            ]
        );
        Ok(())
    }

    #[test]
    fn what_names_many_passages_names_none_and_pairs_are_counted_once() {
        let mut pairs = Pairs::default();
        for i in 0..=MOST_ANSWERS {
            pairs.add(
                Kind::Heading,
                "Syntax",
                "T",
                &format!("text {i} of five words"),
            );
        }
        for kind in [Kind::Link, Kind::Heading] {
            pairs.add(kind, "Borrowing", "T", "text 0 of five words");
        }
        pairs.add(Kind::Link, "borrowing", "T", "too short");
        pairs.add(Kind::Link, "§", "T", "text 0 of five words");
        pairs.drop_vague();
        assert_eq!(texts(&pairs), [(Kind::Heading, "Borrowing", "T", "text")]);
    }

    #[test]
    fn a_passage_is_one_answer_whatever_leads_to_it() {
        let mut pairs = Pairs::default();
        let text = "Large birds with long necks";
        pairs.add(Kind::Title, "Geese", "", text);
        pairs.add(Kind::Link, "loud birds", "Geese", text);
        pairs.add(Kind::Judged, "who is loud?", "Geese", text);
        assert_eq!(pairs.answers.len(), 1);
        assert_eq!(pairs.answers[0].title, "", "the title is asked for");
    }

    #[test]
    fn a_cap_takes_from_all_kinds_by_turns() {
        let mut pairs = Pairs::default();
        for i in 0..20 {
            let text = format!("text {i} of five words");
            pairs.add(Kind::Heading, &format!("heading {i}"), "T", &text);
            if i < 2 {
                pairs.add(Kind::Link, &format!("link {i}"), "T", &text);
            }
        }
        let kinds = |seed| -> Vec<Kind> {
            pairs
                .chosen(6, seed)
                .iter()
                .map(|found| found.kind)
                .collect()
        };
        let (heading, link) = (Kind::Heading, Kind::Link);
        assert_eq!(kinds(1), [heading, link, heading, link, heading, heading]);
        assert_eq!(pairs.chosen(6, 1), pairs.chosen(6, 1));
        assert_ne!(pairs.chosen(6, 1), pairs.chosen(6, 2));
    }

    #[test]
    fn a_collection_is_written_for_each_source_and_read_again() -> Result<()> {
        let (folder, site) = birds()?;
        let out = folder.path().join("out");
        let line = format!("{} --out {}", site.display(), out.display());
        run(&args(&line)?)?;
        let read = Collection::read(&out.join("birds"))?;
        assert_eq!(read.pairs.len(), 7);
        assert!(read.left_out.is_empty());
        let again = format!("{:#}", run(&args(&line)?).unwrap_err());
        assert!(again.contains("is there already"), "{again}");
        // A collection is a source too, and a source may be for measuring only.
        let next = folder.path().join("next");
        let birds = out.join("birds");
        run(&args(&format!(
            "{} --out {} --dev birds",
            birds.display(),
            next.display()
        ))?)?;
        assert!(next.join("birds/qrels/dev.tsv").exists());
        assert!(Collection::read(&next.join("birds"))?.pairs.is_empty());
        Ok(())
    }

    #[test]
    fn sources_that_cannot_be_told_apart_or_are_not_there_are_refused() -> Result<()> {
        let (folder, site) = birds()?;
        let [out, empty] = ["out", "empty"].map(|name| folder.path().join(name));
        fs::create_dir(&empty)?;
        let nothing_written = || !folder.path().join("out").exists();
        let (site, out, empty) = (site.display(), out.display(), empty.display());
        for (line, words) in [
            (
                format!("{site} {site} --out {out}"),
                "two sources are called birds",
            ),
            (
                format!("{site} --out {out} --dev fish"),
                "no source is called that",
            ),
            (format!("{site}/fish --out {out}"), "cannot read"),
            (format!("{site} {empty} --out {out}"), "no HTML in"),
            (format!("{site} --out {out} --cap 0"), "leaves no pairs"),
        ] {
            let error = format!("{:#}", run(&args(&line)?).unwrap_err());
            assert!(error.contains(words), "{error}");
            assert!(nothing_written(), "{line}");
        }
        Ok(())
    }
}
