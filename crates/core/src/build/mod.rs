//! From pages and their codes to the shards of a bundle. Same input, same options, same bytes.

mod shard_writer;
mod site;
mod words;

use self::shard_writer::ShardWriter;
use self::site::SiteCodes;
use self::words::Words;
use crate::attributes::Attributes;
use crate::container::{self, FORMAT_VERSION};
use crate::encoded::PassageCodes;
use crate::error::{Error, Result};
use crate::impact::LexicalOptions;
use crate::lexical::LexicalBuilder;
use crate::manifest::{EncoderInfo, MANIFEST_FILE, Manifest, Ranking, Spread, Windows, generator};
use crate::page::{self, Page};
use crate::records::{self, BlockSize, MAX_HEADINGS};
use crate::rows::GenericRows;
use crate::shards::{ShardId, ShardSize};
use crate::site_rows::SiteRowsBuilder;
use crate::text::Stemming;
use crate::uhd::{self, UhdOptions};
use crate::wordpiece::Vocabulary;

/// Words that are offered as neighbours or as spellings have so many letters …
const MIN_NEIGHBOUR_LETTERS: usize = 3;
/// … and occur so often.
const MIN_OCCURRENCES: u32 = 2;

/// A site of more passages is large: a page then has so many windows at most, which costs 1.7 points on
/// smaller sites (docs/ranking.md).
const PASSAGES_OF_A_LARGE_SITE: usize = 40_000;
const PAGE_WINDOWS_OF_A_LARGE_SITE: u32 = 4;
/// On a large site rarer words of several pieces count as words only: that costs 0.05 points on MDN, and
/// a fifth of the bytes of its rarer words.
const PIECED_WORD_OCCURRENCES_OF_A_LARGE_SITE: u32 = 8;
/// Passages of a page that are encoded where time matters more than finding what stands deep in a
/// page: the first window of a long one.
pub const LITE_PASSAGES: usize = 3;

/// Sizes of shards. The defaults make less than 2,000 files of the largest site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardSizes {
    /// The most frequent words of the site.
    pub common: ShardSize,
    /// All other words of the site.
    pub words: ShardSize,
    /// Words that the site never uses.
    pub foreign: ShardSize,
    /// One-bit codes.
    pub codes: ShardSize,
    /// Codes that fit into one shard of so many bytes are not cut: every page is then a candidate.
    pub whole_codes_bytes: usize,
    /// Records, before they are deflated.
    pub records: ShardSize,
    /// Blocks of records.
    pub record_blocks: BlockSize,
    /// UHD postings.
    pub uhd: ShardSize,
}

impl Default for ShardSizes {
    fn default() -> Self {
        let size = |target_bytes, most| ShardSize { target_bytes, most };
        Self {
            common: size(9 << 8, 440),
            words: size(4 << 10, 420),
            foreign: size(36 << 10, 80),
            codes: size(3 << 10, 412),
            whole_codes_bytes: 64 << 10,
            records: size(8 << 10, 560),
            record_blocks: BlockSize {
                bytes: 6 << 10,
                whole_file_bytes: 6 << 10,
            },
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
    /// Passages a window, at least, of a page that has more; of others each passage is one, unless that makes
    /// more than `page_windows`. The unit of UHD codes and of one-bit codes.
    pub window: u32,
    /// Windows of a page, at most.
    pub page_windows: u32,
    /// Occurrences from which on a word of several pieces has a meaning of its own.
    pub pieced_word_occurrences: u32,
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
            pieced_word_occurrences: 3,
            ranking: Ranking::default(),
            shards: ShardSizes::default(),
        }
    }
}

impl BuildOptions {
    /// The defaults for a site of so many passages: of a large site fewer codes and fewer meanings are
    /// kept, since each query fetches what stands beside those that it needs.
    #[must_use]
    pub fn for_passages(passages: usize) -> Self {
        let defaults = Self::default();
        match passages > PASSAGES_OF_A_LARGE_SITE {
            true => Self {
                page_windows: PAGE_WINDOWS_OF_A_LARGE_SITE,
                pieced_word_occurrences: PIECED_WORD_OCCURRENCES_OF_A_LARGE_SITE,
                ..defaults
            },
            false => defaults,
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
    /// Whether codes are those of spans: until a passage without any is added.
    has_spans: bool,
}

/// The windows of one page.
#[derive(Clone, Debug, Default)]
struct PageWindows {
    /// Per window the sum of its passages' vectors, and their number.
    dense: Vec<(Vec<f32>, u32)>,
    /// Per window the vectors of its passages' spans: `[spans, dim]`.
    spans: Vec<Vec<f32>>,
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
            has_spans: true,
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
        let rule = Windows {
            window: self.options.window,
            page_windows: self.options.page_windows,
        };
        let windows = codes.chunks(rule.to_write(page.passages.len(), codes.len()));
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
            spans: windows.clone().map(spans_of).collect(),
            codes: (0..self.encoder.buckets.len()).map(code).collect(),
        });
        self.has_spans &= codes.iter().all(|codes| !codes.spans.is_empty());
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
        if records::repeats_too_much(page) {
            return wrong("its headings or anchors are too long for so many passages".to_owned());
        }
        for code in codes {
            if code.dense.len() != self.encoder.dim
                || code.spans.len() % self.encoder.dim.max(1) != 0
                || code.winners.len() != self.encoder.buckets.len()
            {
                return wrong("codes that do not have the encoder's shape".to_owned());
            }
        }
        Ok(())
    }

    /// The bundle. `generic` are the encoder's rows for words and the pieces of `vocabulary`.
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
            || generic.words.values().any(|row| row.len() != generic.dim)
        {
            return Err(Error::Build {
                reason: "the encoder's rows do not fit its vocabulary".to_owned(),
            });
        }
        let vocabulary = Vocabulary::new(vocabulary.to_vec());
        let mut site = SiteCodes::new(&self, &vocabulary, generic);
        let mut words = Words::of(&site);
        site.order_pages(&mut words);
        let spread = words.spread;
        let mut writer = ShardWriter::default();
        let attributes = site.attributes();
        site.write(words, &attributes, &mut writer);
        writer.check()?;
        let order = std::mem::take(&mut site.order);
        drop(site);
        Ok(self.assemble(writer, spread, &attributes, order))
    }

    fn assemble(
        self,
        writer: ShardWriter,
        dense: Spread,
        attributes: &Attributes,
        order: Vec<u32>,
    ) -> Bundle {
        let paths: Vec<&str> = writer.files.iter().map(|file| file.path.as_str()).collect();
        let passages: usize = self.pages.iter().map(|page| page.passages.len()).sum();
        let mut ranking = self.options.ranking;
        let length = page::length(passages, self.pages.len());
        if !self.encoder.smaller_reader {
            ranking.rows_in_full *= length;
        }
        // Short pages are many in a shard, but words tell less well which.
        for shards in [&mut ranking.code_shards, &mut ranking.code_shards_in_full] {
            let more = (1.0 - length) * *shards as f32;
            *shards = shards.saturating_add(more as usize);
        }
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
            spans: self.has_spans,
            ranking,
            dense,
            languages: attributes.languages(),
            weighted_pages: attributes.weighted_pages(),
            shards: writer.shards,
        };
        Bundle {
            manifest,
            files: writer.files,
            order,
        }
    }
}

fn spans_of(window: &[PassageCodes]) -> Vec<f32> {
    window
        .iter()
        .flat_map(|codes| &codes.spans)
        .copied()
        .collect()
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
