//! From pages and their codes to the shards of a bundle. Same input, same options, same bytes.

use crate::codes;
use crate::container::{self, FORMAT_VERSION, Kind};
use crate::dictionary::{self, Entry, Shape};
use crate::encoded::PassageCodes;
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::lexical::{LexicalBuilder, LexicalOptions};
use crate::manifest::{
    EncoderInfo, MANIFEST_FILE, Manifest, Ranking, Shards, generator, window_of,
};
use crate::meaning::{Neighbourhood, Parts, SAMPLED_QUERIES, Site, lent_postings};
use crate::order::by_meaning;
use crate::page::Page;
use crate::records::{self, MAX_HEADINGS};
use crate::rows::{GenericRows, UhdRow};
use crate::shards::{Directory, ShardId, ShardSize, first_word, runs};
use crate::site_rows::SiteRowsBuilder;
use crate::text::{Analyzer, Stemming, TermKind, is_stop_word};
use crate::uhd::{self, Bucket, UhdOptions};
use crate::wordpiece::Vocabulary;
use std::collections::{BTreeMap, HashSet};

/// A word of several pieces has a row of its own if it occurs so often.
const MIN_OCCURRENCES_OF_PIECED_WORDS: u32 = 3;
/// Words that may be neighbours of others, the most frequent ones; each has so many letters …
const MAX_NEIGHBOUR_WORDS: usize = 12_000;
const MIN_NEIGHBOUR_LETTERS: usize = 3;
/// … and occurs so often. The same holds for spellings.
const MIN_OCCURRENCES: u32 = 2;
/// What a neighbour's postings count for a word that the site never uses, times their cosine.
const NEIGHBOUR_WEIGHT: f32 = 0.7;

/// A site of more passages is large: a page then has so many windows at most, which costs 1.7 points on
/// smaller sites (docs/ranking.md).
const PASSAGES_OF_A_LARGE_SITE: usize = 40_000;
const PAGE_WINDOWS_OF_A_LARGE_SITE: u32 = 4;
/// Passages of a page that are encoded where time matters more than finding what stands deep in a
/// page: its first window.
pub const LITE_PASSAGES: usize = 3;

/// Sizes of shards. The defaults make less than 2,000 files of the largest site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardSizes {
    /// The most frequent words of the site.
    pub common: ShardSize,
    /// All other words of the site.
    pub words: ShardSize,
    /// Words of the vocabulary that the site never uses.
    pub foreign: ShardSize,
    /// One-bit codes.
    pub codes: ShardSize,
    /// Codes that fit into one shard of so many bytes are not cut: every page is then a candidate.
    pub whole_codes_bytes: usize,
    /// Records, before they are deflated.
    pub records: ShardSize,
    /// UHD postings.
    pub uhd: ShardSize,
}

impl Default for ShardSizes {
    fn default() -> Self {
        let size = |target_bytes, most| ShardSize { target_bytes, most };
        Self {
            common: size(9 << 8, 360),
            words: size(8 << 10, 180),
            foreign: size(36 << 10, 100),
            codes: size(1 << 10, 440),
            whole_codes_bytes: 48 << 10,
            records: size(8 << 10, 780),
            uhd: size(8 << 10, 60),
        }
    }
}

/// How a bundle is built.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// How words are stemmed.
    pub stemming: Stemming,
    /// How words are counted.
    pub lexical: LexicalOptions,
    /// How UHD codes are cut.
    pub uhd: UhdOptions,
    /// Passages a window, at least: the unit of UHD codes and of one-bit codes.
    pub window: u32,
    /// Windows of a page, at most.
    pub page_windows: u32,
    /// How systems are fused.
    pub ranking: Ranking,
    /// Sizes of shards.
    pub shards: ShardSizes,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            stemming: Stemming::English,
            lexical: LexicalOptions::default(),
            uhd: UhdOptions::default(),
            window: 3,
            page_windows: u32::MAX,
            ranking: Ranking::default(),
            shards: ShardSizes::default(),
        }
    }
}

impl BuildOptions {
    /// The defaults for a site of so many passages: of a large site fewer codes are kept, since each
    /// query fetches those of many pages.
    #[must_use]
    pub fn for_passages(passages: usize) -> Self {
        let page_windows = match passages > PASSAGES_OF_A_LARGE_SITE {
            true => PAGE_WINDOWS_OF_A_LARGE_SITE,
            false => u32::MAX,
        };
        Self {
            page_windows,
            ..Self::default()
        }
    }
}

/// A bundle in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// Table of contents.
    pub manifest: Manifest,
    /// The shards.
    pub files: Vec<BundleFile>,
    /// `order[i]` is the page, counted as they were added, that the bundle calls `i`.
    pub order: Vec<u32>,
}

/// One shard of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleFile {
    /// Which shard.
    pub id: ShardId,
    /// Its path within the bundle.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Bundle {
    /// The manifest as the text of `siskin.json`.
    ///
    /// # Errors
    /// When the manifest cannot be written as JSON (a ranking weight that is not finite).
    pub fn manifest_json(&self) -> Result<String> {
        let json = serde_json::to_string(&self.manifest);
        json.map(|text| text + "\n").map_err(|error| Error::Build {
            reason: format!("{MANIFEST_FILE}: {error}"),
        })
    }
}

/// Collects pages with their codes, then writes the bundle.
#[derive(Debug)]
pub struct Builder {
    options: BuildOptions,
    encoder: EncoderInfo,
    lexical: LexicalBuilder,
    site_rows: SiteRowsBuilder,
    pages: Vec<Page>,
    windows: Vec<PageWindows>,
}

/// The windows of one page.
#[derive(Clone, Debug, Default)]
struct PageWindows {
    /// Per window the sum of its passages' vectors, and their number.
    dense: Vec<(Vec<f32>, u32)>,
    /// Per bucket the code of each window.
    codes: Vec<Vec<Vec<u32>>>,
}

impl Builder {
    /// An empty bundle for codes of the given encoder.
    #[must_use]
    pub fn new(options: BuildOptions, encoder: EncoderInfo) -> Self {
        let lexical = LexicalBuilder::new(options.lexical, options.stemming);
        Self {
            options,
            encoder,
            lexical,
            site_rows: SiteRowsBuilder::default(),
            pages: Vec::new(),
            windows: Vec::new(),
        }
    }

    /// Adds a page with the codes of its passages, in order, or of its first passages only: the
    /// page's meaning is then theirs alone, see [`LITE_PASSAGES`].
    ///
    /// # Errors
    /// [`Error::Build`] when the page has no passage, when there are more codes than passages or
    /// none, or codes of another shape.
    pub fn add_page(&mut self, page: Page, codes: &[PassageCodes]) -> Result<()> {
        self.check(&page, codes)?;
        self.lexical.add_page(&page);
        codes.iter().for_each(|codes| self.site_rows.add(codes));
        let size = self.options.uhd.code_size(codes.len());
        let BuildOptions {
            window,
            page_windows,
            ..
        } = self.options;
        let windows = codes.chunks(window_of(codes.len(), window, page_windows));
        let code = |bucket| {
            let codes = windows
                .clone()
                .map(|window| uhd::code_of(window, bucket, size));
            codes.collect()
        };
        self.windows.push(PageWindows {
            dense: windows
                .clone()
                .map(|window| dense_sum(window, self.encoder.dim))
                .collect(),
            codes: (0..self.encoder.buckets.len()).map(code).collect(),
        });
        self.pages.push(page);
        Ok(())
    }

    fn check(&self, page: &Page, codes: &[PassageCodes]) -> Result<()> {
        let wrong = |reason: String| {
            Err(Error::Build {
                reason: format!("{}: {reason}", page.url),
            })
        };
        if page.passages.is_empty() {
            return wrong("the page has no passage".to_owned());
        }
        if codes.is_empty() || page.passages.len() < codes.len() {
            return wrong(format!(
                "{} passages but {} codes",
                page.passages.len(),
                codes.len()
            ));
        }
        let deepest = page.passages.iter().map(|passage| passage.headings.len());
        if deepest.max() > Some(MAX_HEADINGS) {
            return wrong(format!("more than {MAX_HEADINGS} headings above a passage"));
        }
        for code in codes {
            if code.dense.len() != self.encoder.dim
                || code.winners.len() != self.encoder.buckets.len()
            {
                return wrong("codes that do not have the encoder's shape".to_owned());
            }
        }
        Ok(())
    }

    /// The bundle. `generic` are the encoder's rows for the pieces of `vocabulary`.
    ///
    /// # Errors
    /// [`Error::Build`] when no page was added or the rows do not fit the vocabulary.
    pub fn finish(self, vocabulary: &[String], generic: &GenericRows) -> Result<Bundle> {
        if self.pages.is_empty() {
            return Err(Error::Build {
                reason: "there is no page".to_owned(),
            });
        }
        if generic.dim != self.encoder.dim
            || generic.static_rows.len() != vocabulary.len() * generic.dim
        {
            return Err(Error::Build {
                reason: "the encoder's rows do not fit its vocabulary".to_owned(),
            });
        }
        let site = Ordered::new(&self, vocabulary, generic);
        let mut writer = ShardWriter::default();
        let spread = site.write_words(&mut writer);
        site.write_codes(&mut writer);
        site.write_records(&mut writer);
        site.write_uhd(&mut writer);
        let order = site.order.clone();
        drop(site);
        Ok(self.assemble(writer, spread, order))
    }

    fn assemble(
        self,
        writer: ShardWriter,
        dense: crate::manifest::Spread,
        order: Vec<u32>,
    ) -> Bundle {
        let paths: Vec<&str> = writer.files.iter().map(|file| file.path.as_str()).collect();
        let passages: usize = self.pages.iter().map(|page| page.passages.len()).sum();
        let manifest = Manifest {
            format: FORMAT_VERSION,
            generator: generator(),
            build: container::sha256_hex(paths.join("\n").as_bytes()),
            stemming: self.options.stemming,
            encoder: self.encoder,
            pages: self.pages.len() as u32,
            passages: passages as u32,
            window: self.options.window.max(1),
            page_windows: self.options.page_windows.max(1),
            ranking: self.options.ranking,
            dense,
            shards: writer.shards,
        };
        Bundle {
            manifest,
            files: writer.files,
            order,
        }
    }
}

fn dense_sum(window: &[PassageCodes], dim: usize) -> (Vec<f32>, u32) {
    let mut sum = vec![0.0; dim];
    for codes in window {
        for (sum, value) in sum.iter_mut().zip(&codes.dense) {
            *sum += value;
        }
    }
    (sum, window.len() as u32)
}

/// A site whose pages stand in their final order.
struct Ordered<'a> {
    builder: &'a Builder,
    vocabulary: Vocabulary,
    shape: Shape,
    /// `order[i]` is the page, as added, that is now page `i`; `place` is the inverse.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Per page the one-bit codes of its windows.
    codes: Vec<Vec<u8>>,
    buckets: Vec<Bucket>,
    static_rows: Vec<f32>,
    uhd_rows: Vec<Vec<UhdRow>>,
}

impl<'a> Ordered<'a> {
    fn new(builder: &'a Builder, vocabulary: &[String], generic: &GenericRows) -> Self {
        let dim = builder.encoder.dim;
        let mean = builder.site_rows.mean();
        let centred: Vec<Vec<Vec<f32>>> = builder
            .windows
            .iter()
            .map(|page| centred(&page.dense, &mean))
            .collect();
        let vectors: Vec<f32> = centred
            .iter()
            .flat_map(|windows| direction(windows, dim))
            .collect();
        let order = by_meaning(&vectors, builder.pages.len(), dim);
        let mut place = vec![0; order.len()];
        for (now, &added) in (0u32..).zip(&order) {
            place[added as usize] = now;
        }
        let codes_of = |&page: &u32| {
            let windows = centred[page as usize].iter();
            windows
                .flat_map(|window| codes::sign_bits(window))
                .collect()
        };
        let bucket = |bucket: usize| {
            let mut postings = Bucket::default();
            for &page in &order {
                postings.add_page(&builder.windows[page as usize].codes[bucket]);
            }
            postings
        };
        let buckets = builder.encoder.buckets.len();
        Self {
            builder,
            vocabulary: Vocabulary::new(vocabulary.to_vec()),
            shape: Shape {
                pages: order.len() as u32,
                dim,
            },
            codes: order.iter().map(codes_of).collect(),
            buckets: (0..buckets).map(bucket).collect(),
            static_rows: builder.site_rows.static_rows(generic),
            uhd_rows: (0..buckets)
                .map(|bucket| builder.site_rows.uhd_rows(bucket, generic))
                .collect(),
            order,
            place,
        }
    }

    /// Words of the site that have a meaning: those that are pieces themselves, and those of
    /// several pieces that occur often enough.
    fn meaningful_words(&self) -> Vec<(&str, &str, u32)> {
        let words = self.builder.lexical.words().iter();
        let words = words.filter(|(word, site)| {
            self.vocabulary.id(word).is_some()
                || (site.occurrences >= MIN_OCCURRENCES_OF_PIECED_WORDS
                    && word.chars().all(char::is_alphabetic)
                    && self.vocabulary.encode_word(word).is_some())
        });
        words
            .map(|(word, site)| (word.as_str(), site.term.as_str(), site.occurrences))
            .collect()
    }

    fn write_words(&self, writer: &mut ShardWriter) -> crate::manifest::Spread {
        let words = self.meaningful_words();
        let texts: Vec<&str> = words.iter().map(|(word, ..)| *word).collect();
        let parts = Parts {
            vocabulary: &self.vocabulary,
            dim: self.shape.dim,
            static_rows: &self.static_rows,
            uhd_rows: &self.uhd_rows,
            buckets: &self.buckets,
            codes: &self.codes,
            mean_share: self.builder.options.ranking.mean_share,
        };
        let site = Site::new(&parts, &texts, &self.sampled_queries());
        let neighbourhood = neighbourhood(&site, &words);
        let postings = self.builder.lexical.postings(&self.place);
        let mut entries: BTreeMap<&str, Entry> = BTreeMap::new();
        for (word, meaning) in self.meanings(&site, &neighbourhood, &words) {
            entries.entry(word).or_default().meaning = Some(meaning);
        }
        let foreign = self.foreign_entries(&site, &neighbourhood, &postings);
        for (term, list) in postings {
            entries.entry(term).or_default().postings = list;
        }
        for (title, pages) in self.builder.lexical.titles() {
            let mut pages: Vec<u32> = pages
                .iter()
                .map(|&page| self.place[page as usize])
                .collect();
            pages.sort_unstable();
            entries.entry(title).or_default().titled = pages;
        }
        let sizes = self.builder.options.shards;
        self.write_site_words(writer, entries);
        writer.dictionary(Kind::Foreign, &foreign, self.shape, sizes.foreign);
        self.write_spellings(writer);
        site.spread()
    }

    /// What readers may ask: titles of pages from all over the site. Words that have nothing in
    /// common would spread less.
    fn sampled_queries(&self) -> Vec<Vec<String>> {
        let analyzer = Analyzer::new(self.builder.options.stemming);
        let pages = self.order.len();
        let query = |i: usize| {
            let page = &self.builder.pages[self.order[i * pages / SAMPLED_QUERIES] as usize];
            let words = |text: &str| -> Vec<String> {
                let terms = analyzer.terms(text).into_iter();
                let words = terms
                    .filter(|term| term.kind == TermKind::Word && !is_stop_word(&term.surface));
                let words = words.map(|term| term.surface);
                words.take(WORDS_OF_A_SAMPLED_QUERY).collect()
            };
            let title = words(&page.title);
            match title.is_empty() {
                true => words(&page.passages[i % page.passages.len()].text),
                false => title,
            }
        };
        (0..SAMPLED_QUERIES).map(query).collect()
    }

    /// Words by frequency in two dictionaries. A title stands beside its first word.
    fn write_site_words(&self, writer: &mut ShardWriter, entries: BTreeMap<&str, Entry>) {
        let sizes = self.builder.options.shards;
        let common = self.common_keys(&entries);
        let (common, others) = entries
            .into_iter()
            .partition(|(key, _)| common.contains(first_word(key)));
        writer.dictionary(Kind::Common, &common, self.shape, sizes.common);
        writer.dictionary(Kind::Words, &others, self.shape, sizes.words);
        let keys: Vec<&str> = common
            .into_keys()
            .filter(|key| !key.contains(' '))
            .collect();
        writer.shards.common_keys = Filter::of(&keys);
    }

    /// The keys of one word that most pages have, themselves or in another form.
    fn common_keys<'b>(&self, entries: &BTreeMap<&'b str, Entry>) -> HashSet<&'b str> {
        let words = self.builder.lexical.words();
        let pages = |key: &str| {
            entries
                .get(key)
                .map_or(0, |entry| entry.postings.entries.len())
        };
        let mut ranked: Vec<(usize, &str)> = entries
            .keys()
            .filter(|key| !key.contains(' '))
            .map(|key| {
                let term = words.get(*key).map_or("", |word| word.term.as_str());
                (pages(key).max(pages(term)), *key)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        ranked.truncate((entries.len() / KEYS_PER_COMMON_KEY).min(MOST_COMMON_KEYS));
        ranked.into_iter().map(|(_, key)| key).collect()
    }

    fn meanings<'b>(
        &self,
        site: &Site<'_>,
        neighbourhood: &Neighbourhood<'_>,
        words: &[(&'b str, &'b str, u32)],
    ) -> Vec<(&'b str, dictionary::Meaning)> {
        let meanings = crate::parallel::map(words.len(), |i| {
            let (word, term, _) = words[i];
            let mut meaning = site.meaning(word)?;
            let near = neighbourhood.of(&meaning.row, term).into_iter();
            meaning.neighbours = near
                .map(|(near, _, cosine)| (near.to_owned(), cosine))
                .collect();
            Some((word, meaning))
        });
        meanings.into_iter().flatten().collect()
    }

    /// Words of the vocabulary that the site never uses.
    fn foreign_entries(
        &self,
        site: &Site<'_>,
        neighbourhood: &Neighbourhood<'_>,
        postings: &BTreeMap<&str, crate::lists::PageList>,
    ) -> BTreeMap<&str, Entry> {
        let known = self.builder.lexical.words();
        let is_foreign = |piece: &&String| {
            piece.chars().count() > 1
                && piece.chars().all(char::is_alphabetic)
                && !known.contains_key(*piece)
        };
        let words: Vec<&str> = self
            .vocabulary
            .pieces()
            .iter()
            .filter(is_foreign)
            .map(String::as_str)
            .collect();
        let entries = crate::parallel::map(words.len(), |i| {
            let mut meaning = site.meaning(words[i])?;
            let near = neighbourhood.of(&meaning.row, words[i]);
            meaning.neighbours = near
                .iter()
                .map(|&(near, _, cosine)| (near.to_owned(), cosine))
                .collect();
            let list = |term: &str| postings.get(term).cloned();
            Some((
                words[i],
                Entry {
                    postings: lent_postings(&near, NEIGHBOUR_WEIGHT, self.order.len(), list),
                    meaning: Some(meaning),
                    ..Entry::default()
                },
            ))
        });
        entries.into_iter().flatten().collect()
    }

    fn write_spellings(&self, writer: &mut ShardWriter) {
        let words = self.builder.lexical.words().iter();
        let words = words.filter(|(word, site)| {
            site.occurrences >= MIN_OCCURRENCES
                && word.chars().count() >= MIN_NEIGHBOUR_LETTERS
                && word.chars().all(char::is_alphabetic)
        });
        let mut by_letter: BTreeMap<char, BTreeMap<&str, Entry>> = BTreeMap::new();
        for (word, _) in words {
            let letter = word.chars().next().unwrap_or_default();
            by_letter
                .entry(letter)
                .or_default()
                .insert(word, Entry::default());
        }
        // Letters without many words share a shard.
        let mut shared: BTreeMap<&str, Entry> = BTreeMap::new();
        for (_, words) in by_letter {
            if !shared.is_empty() && shared.len() + words.len() > SPELLINGS_OF_A_SHARD {
                writer.dictionary(Kind::Spelling, &shared, self.shape, WHOLE);
                shared.clear();
            }
            shared.extend(words);
        }
        writer.dictionary(Kind::Spelling, &shared, self.shape, WHOLE);
    }

    fn write_codes(&self, writer: &mut ShardWriter) {
        let sizes: Vec<usize> = self.codes.iter().map(Vec::len).collect();
        let total: usize = sizes.iter().sum();
        let options = self.builder.options.shards;
        let whole = total <= options.whole_codes_bytes;
        let mut first = 0;
        for run in runs(&sizes, if whole { WHOLE } else { options.codes }) {
            let pages: Vec<&[u8]> = self.codes[first..first + run]
                .iter()
                .map(Vec::as_slice)
                .collect();
            let file = codes::write(first as u32, &pages, self.shape.dim);
            writer.by_number(Kind::Codes, 0, first as u32, file);
            first += run;
        }
    }

    fn write_records(&self, writer: &mut ShardWriter) {
        let pages: Vec<&Page> = self
            .order
            .iter()
            .map(|&page| &self.builder.pages[page as usize])
            .collect();
        let sizes: Vec<usize> = pages.iter().map(|page| records::page_bytes(page)).collect();
        let mut first = 0;
        let mut parts = Vec::new();
        for run in runs(&sizes, self.builder.options.shards.records) {
            parts.push(first..first + run);
            first += run;
        }
        let files = crate::parallel::map(parts.len(), |i| {
            records::write(parts[i].start as u32, &pages[parts[i].clone()])
        });
        for (part, file) in parts.iter().zip(files) {
            writer.by_number(Kind::Records, 0, part.start as u32, file);
        }
    }

    fn write_uhd(&self, writer: &mut ShardWriter) {
        for (number, bucket) in (0u32..).zip(&self.buckets) {
            let order = self.dimension_order(number as usize, bucket);
            writer.by_number(Kind::Map, number, 0, bucket.write_map(&order));
            let lists: Vec<Vec<u8>> = order.iter().map(|&at| bucket.write_list(at)).collect();
            let sizes: Vec<usize> = lists.iter().map(Vec::len).collect();
            let mut first = 0;
            for run in runs(&sizes, self.builder.options.shards.uhd) {
                let file = uhd::write_shard(first as u32, &lists[first..first + run]);
                writer.by_number(Kind::Uhd, number, first as u32, file);
                first += run;
            }
        }
    }

    /// The dimensions of a bucket so that those which words activate together stand together: by
    /// the mean static row of the words that have them, weighted.
    fn dimension_order(&self, number: usize, bucket: &Bucket) -> Vec<u32> {
        let dimensions = bucket.dimensions();
        let dim = self.shape.dim;
        let at: BTreeMap<u32, usize> = dimensions.iter().copied().zip(0..).collect();
        let mut vectors = vec![0.0f32; dimensions.len() * dim];
        let rows = self.uhd_rows[number]
            .iter()
            .zip(self.static_rows.chunks(dim.max(1)));
        for (row, vector) in rows {
            for (dimension, weight) in row {
                let Some(&at) = at.get(dimension) else {
                    continue;
                };
                for (sum, value) in vectors[at * dim..(at + 1) * dim].iter_mut().zip(vector) {
                    *sum += weight * value;
                }
            }
        }
        let order = by_meaning(&vectors, dimensions.len(), dim);
        order
            .into_iter()
            .map(|at| dimensions[at as usize])
            .collect()
    }
}

/// One key in so many is common, …
const KEYS_PER_COMMON_KEY: usize = 8;
/// … and never more than these: their filter takes six bits a key and is part of the manifest.
const MOST_COMMON_KEYS: usize = 6_000;
/// Words of a query that was sampled, at most.
const WORDS_OF_A_SAMPLED_QUERY: usize = 4;
/// One shard, whatever its size.
const WHOLE: ShardSize = ShardSize {
    target_bytes: usize::MAX,
    most: 1,
};
/// Words of a shard of spellings, unless one letter has more.
const SPELLINGS_OF_A_SHARD: usize = 1_500;

/// Words that may be neighbours.
fn neighbourhood<'b>(site: &Site<'_>, words: &[(&'b str, &'b str, u32)]) -> Neighbourhood<'b> {
    let mut frequent: Vec<(&str, &str, u32)> = words
        .iter()
        .copied()
        .filter(|(word, _, occurrences)| {
            *occurrences >= MIN_OCCURRENCES
                && word.chars().count() >= MIN_NEIGHBOUR_LETTERS
                && word.chars().all(char::is_alphabetic)
                && !is_stop_word(word)
        })
        .collect();
    frequent.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(b.0)));
    frequent.truncate(MAX_NEIGHBOUR_WORDS);
    let with_row = |(word, term, _): (&'b str, &'b str, u32)| Some((word, term, site.row(word)?));
    Neighbourhood::new(frequent.into_iter().filter_map(with_row).collect())
}

/// Per window the sum of its passages' centred vectors.
fn centred(windows: &[(Vec<f32>, u32)], mean: &[f32]) -> Vec<Vec<f32>> {
    let centre = |(sum, count): &(Vec<f32>, u32)| {
        let values = sum.iter().zip(mean);
        values
            .map(|(sum, mean)| sum - *count as f32 * mean)
            .collect()
    };
    windows.iter().map(centre).collect()
}

/// The direction of a page: the sum of its windows, of length 1.
fn direction(windows: &[Vec<f32>], dim: usize) -> Vec<f32> {
    let mut sum = vec![0.0f32; dim];
    for window in windows {
        sum.iter_mut()
            .zip(window)
            .for_each(|(sum, value)| *sum += value);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.iter_mut()
        .for_each(|value| *value /= length.max(f32::MIN_POSITIVE));
    sum
}

/// Shards as they are written.
#[derive(Debug, Default)]
struct ShardWriter {
    shards: Shards,
    files: Vec<BundleFile>,
}

impl ShardWriter {
    /// Adds entries by key, in as many shards as needed. A word and the titles that begin with it
    /// stay together.
    fn dictionary(
        &mut self,
        kind: Kind,
        entries: &BTreeMap<&str, Entry>,
        shape: Shape,
        size: ShardSize,
    ) {
        let entries: Vec<(&str, Vec<u8>)> = entries
            .iter()
            .map(|(key, entry)| (*key, entry.write(shape)))
            .collect();
        let groups: Vec<&[(&str, Vec<u8>)]> = entries
            .chunk_by(|(a, _), (b, _)| first_word(a) == first_word(b))
            .collect();
        let bytes_of = |(key, bytes): &(&str, Vec<u8>)| key.len() + bytes.len();
        let sizes: Vec<usize> = groups
            .iter()
            .map(|group| group.iter().map(bytes_of).sum())
            .collect();
        let (mut first, mut first_group, mut before) = (0, 0, "");
        for run in runs(&sizes, size) {
            let keys: usize = groups[first_group..first_group + run]
                .iter()
                .map(|group| group.len())
                .sum();
            first_group += run;
            let part = &entries[first..first + keys];
            let file = dictionary::write(
                kind,
                part.iter().map(|(key, bytes)| (*key, bytes.as_slice())),
            );
            let key = part.first().map_or("", |(key, _)| first_word(key));
            let directory = match kind {
                Kind::Common => &mut self.shards.common,
                Kind::Foreign => &mut self.shards.foreign,
                Kind::Spelling => &mut self.shards.spelling,
                _ => &mut self.shards.words,
            };
            let start = if directory.is_empty() {
                ""
            } else {
                shortest_start(before, key)
            };
            directory.push(start.to_owned(), &file);
            let number = directory.len() as u32 - 1;
            self.push(kind, 0, number, file);
            before = part.last().map_or(before, |(key, _)| *key);
            first += keys;
        }
    }

    /// Adds the shard that begins with a page or a place.
    fn by_number(&mut self, kind: Kind, bucket: u32, start: u32, file: Vec<u8>) {
        let directory = match kind {
            Kind::Codes => &mut self.shards.codes,
            Kind::Records => &mut self.shards.records,
            Kind::Map => of_bucket(&mut self.shards.map, bucket),
            _ => of_bucket(&mut self.shards.uhd, bucket),
        };
        directory.push(start, &file);
        let number = directory.len() as u32 - 1;
        self.push(kind, bucket, number, file);
    }

    fn push(&mut self, kind: Kind, bucket: u32, number: u32, bytes: Vec<u8>) {
        let id = ShardId {
            kind,
            bucket,
            number,
        };
        let path = self.shards.path(id).unwrap_or_default();
        self.files.push(BundleFile { id, path, bytes });
    }
}

fn of_bucket(directories: &mut Vec<Directory<u32>>, bucket: u32) -> &mut Directory<u32> {
    let needed = bucket as usize + 1;
    directories.resize_with(directories.len().max(needed), Directory::default);
    &mut directories[bucket as usize]
}

/// The shortest beginning of `key` that is greater than `before`.
fn shortest_start<'k>(before: &str, key: &'k str) -> &'k str {
    let mut end = dictionary::shared_prefix_bytes(before, key) + 1;
    while !key.is_char_boundary(end) {
        end += 1;
    }
    key.get(..end).unwrap_or(key)
}
