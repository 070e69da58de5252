//! `siskin.json`: the one small file that names all others.

use crate::container::{self, Kind};
use crate::error::{Error, Result};
use crate::fields::{Fields, Reading};
use crate::filter::Filter;
use crate::shards::{Directory, NAME_LETTERS, ShardId, Start};
use crate::text::Stemming;
use serde::Serialize;
use std::cell::Cell;

/// Name of the manifest within a bundle.
pub const MANIFEST_FILE: &str = "siskin.json";

/// A bundle's table of contents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// Format version, [`container::FORMAT_VERSION`].
    pub format: u16,
    /// Program that wrote the bundle.
    pub generator: String,
    /// SHA-256 over the names of all shards in order, in hex: changes when anything does.
    pub build: String,
    /// How words were stemmed.
    pub stemming: Stemming,
    /// The encoder whose codes the bundle holds.
    pub encoder: EncoderInfo,
    /// Number of pages.
    pub pages: u32,
    /// Number of passages.
    pub passages: u32,
    /// Passages a window, at least, of a page that has more; of others each passage is one. The unit of UHD
    /// postings and of one-bit codes.
    pub window: u32,
    /// Windows of a page, at most: those of a long page are larger.
    pub page_windows: u32,
    /// Whether a window has a one-bit code for each of its spans of word pieces, not one in all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spans: bool,
    /// How systems are fused.
    pub ranking: Ranking,
    /// How scores of the dense bucket are spread over the pages.
    pub dense: Spread,
    /// Languages that pages state; missing where that is one or none.
    #[serde(skip_serializing_if = "is_zero")]
    pub languages: u32,
    /// Pages that have a weight of their own; missing where none has.
    #[serde(skip_serializing_if = "is_zero")]
    pub weighted_pages: u32,
    /// The shards.
    pub shards: Shards,
}

/// Mean and deviation over pages of the dot product of a query vector of length 1 with a page's
/// best code: measured while indexing, since a search sees the codes of a few pages only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Mean over pages and queries.
    pub mean: f32,
    /// Mean over queries of the deviation over pages.
    pub deviation: f32,
}

/// All shards, by what they hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Shards {
    /// The most frequent words of the site, by key: most words of most queries, in small shards.
    pub common: Directory<String>,
    /// Tells most other keys from those of `common`.
    pub common_keys: Filter,
    /// All other words of the site, by key.
    pub words: Directory<String>,
    /// Words that the site never uses, by key.
    pub foreign: Directory<String>,
    /// Spellings, by first letter.
    pub spelling: Directory<String>,
    /// One-bit codes, by page.
    pub codes: Directory<u32>,
    /// Pages and passages, by page.
    pub records: Directory<u32>,
    /// What pages can be chosen by and sorted by: one shard, or none and missing.
    #[serde(skip_serializing_if = "Directory::is_empty")]
    pub attributes: Directory<u32>,
    /// Per bucket of the encoder the map of its dimensions: one shard each.
    pub map: Vec<Directory<u32>>,
    /// Per bucket its postings, by place in the order of its map.
    pub uhd: Vec<Directory<u32>>,
}

impl Shards {
    /// Number of shards of a kind and bucket, their bytes, and the name of each.
    #[must_use]
    pub fn of(&self, kind: Kind, bucket: u32) -> (usize, u64, &str) {
        fn of<K: Ord>(directory: &Directory<K>) -> (usize, u64, &str) {
            (directory.len(), directory.bytes, &directory.names)
        }
        let bucket = bucket as usize;
        match kind {
            Kind::Common => of(&self.common),
            Kind::Words => of(&self.words),
            Kind::Foreign => of(&self.foreign),
            Kind::Spelling => of(&self.spelling),
            Kind::Codes => of(&self.codes),
            Kind::Records => of(&self.records),
            Kind::Attributes => of(&self.attributes),
            Kind::Map => self.map.get(bucket).map_or((0, 0, ""), of),
            Kind::Uhd => self.uhd.get(bucket).map_or((0, 0, ""), of),
        }
    }

    /// Every shard, kind by kind.
    #[must_use]
    pub fn all(&self) -> Vec<ShardId> {
        let mut all = Vec::new();
        for kind in container::KINDS {
            for bucket in 0..self.map.len().max(1) as u32 {
                if bucket > 0 && !matches!(kind, Kind::Map | Kind::Uhd) {
                    continue;
                }
                let count = self.of(kind, bucket).0 as u32;
                all.extend((0..count).map(|number| ShardId {
                    kind,
                    bucket,
                    number,
                }));
            }
        }
        all
    }

    /// A shard's name, if there is such a shard.
    #[must_use]
    pub fn name(&self, id: ShardId) -> Option<&str> {
        let (_, _, names) = self.of(id.kind, id.bucket);
        let start = id.number as usize * NAME_LETTERS;
        names.get(start..start + NAME_LETTERS)
    }

    /// A shard's path within the bundle, if there is such a shard.
    #[must_use]
    pub fn path(&self, id: ShardId) -> Option<String> {
        let name = self.name(id)?;
        Some(format!("{}-{name}.bin", id.kind.prefix()))
    }

    /// The shard at a path within the bundle.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<ShardId> {
        let (prefix, name) = path.strip_suffix(".bin")?.split_once('-')?;
        let of_kind = |id: &ShardId| id.kind.prefix() == prefix;
        let mut shards = self.all().into_iter().filter(of_kind);
        shards.find(|id| self.name(*id) == Some(name))
    }

    fn read<F: Fields>(fields: &Reading<'_, F>) -> Self {
        let filter = Filter::read(fields.text("common_keys"));
        if filter.is_none() {
            fields.misfit("common_keys");
        }
        Self {
            common: directory(&fields.object("common")),
            common_keys: filter.unwrap_or_default(),
            words: directory(&fields.object("words")),
            foreign: directory(&fields.object("foreign")),
            spelling: directory(&fields.object("spelling")),
            codes: directory(&fields.object("codes")),
            records: directory(&fields.object("records")),
            attributes: fields
                .optional("attributes", Reading::object)
                .map_or_else(Directory::none, |fields| directory(&fields)),
            map: fields.objects("map").iter().map(directory).collect(),
            uhd: fields.objects("uhd").iter().map(directory).collect(),
        }
    }
}

fn directory<K: Start, F: Fields>(fields: &Reading<'_, F>) -> Directory<K> {
    let (starts, names) = (fields.text("starts"), fields.text("names"));
    let directory = Directory::read(&starts, names, fields.number("bytes") as u64);
    if directory.is_none() {
        fields.misfit("names");
    }
    directory.unwrap_or_else(Directory::none)
}

impl Spread {
    fn read<F: Fields>(fields: &Reading<'_, F>) -> Self {
        Self {
            mean: fields.weight("mean"),
            deviation: fields.weight("deviation"),
        }
    }
}

/// Which encoder made the codes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EncoderInfo {
    /// SHA-256 of the encoder's `encoder.json`, in hex.
    pub id: String,
    /// The same of the encoder that reads queries, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_id: Option<String>,
    /// Whether that one's network is smaller; told to the builder, and not kept.
    #[serde(skip)]
    pub smaller_reader: bool,
    /// Its name.
    pub name: String,
    /// Width of the dense vector.
    pub dim: usize,
    /// Its buckets.
    pub buckets: Vec<BucketInfo>,
}

impl EncoderInfo {
    /// The share of the UHD buckets' weight that each has: together 1.
    #[must_use]
    pub fn bucket_shares(&self) -> Vec<f32> {
        let weights = self.buckets.iter().map(|bucket| bucket.weight);
        let sum: f32 = weights.clone().sum();
        weights
            .map(|weight| weight / sum.max(f32::MIN_POSITIVE))
            .collect()
    }

    fn read<F: Fields>(fields: &Reading<'_, F>) -> Self {
        let bucket = |fields: &Reading<'_, F>| BucketInfo {
            layer: fields.count("layer") as usize,
            n: fields.count("n") as usize,
            k: fields.count("k") as usize,
            weight: fields.optional("weight", bucket_weight).unwrap_or(1.0),
        };
        Self {
            id: fields.text("id"),
            query_id: fields.optional("query_id", Reading::text),
            smaller_reader: false,
            name: fields.text("name"),
            dim: fields.count("dim") as usize,
            buckets: fields.objects("buckets").iter().map(bucket).collect(),
        }
    }
}

/// What a bucket counts: at least 0, and no more than leaves sums finite.
fn bucket_weight<F: Fields>(fields: &Reading<'_, F>, name: &'static str) -> f32 {
    let weight = fields.weight(name);
    if !(0.0..=BucketInfo::MOST_WEIGHT).contains(&weight) {
        fields.misfit(name);
    }
    weight
}

/// One UHD bucket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BucketInfo {
    /// Layer of the network whose token vectors it reads; 0 is the embedding.
    pub layer: usize,
    /// Dimensions.
    pub n: usize,
    /// Winners a token.
    pub k: usize,
    /// What it counts beside the other buckets, 0 or more. Default 1.
    #[serde(skip_serializing_if = "is_one")]
    pub weight: f32,
}

impl BucketInfo {
    /// The largest weight.
    pub const MOST_WEIGHT: f32 = 1e6;
}

impl Default for BucketInfo {
    fn default() -> Self {
        Self {
            layer: 0,
            n: 0,
            k: 0,
            weight: 1.0,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_one(weight: &f32) -> bool {
    *weight == 1.0
}

/// How systems are scored and fused (sum of weighted z-scores). The defaults were chosen on train
/// splits; docs/ranking.md has the measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// Share of the mean over a page's windows against its best window, for UHD and dense (0 to 1).
    pub mean_share: f32,
    /// Share of the mean over a window's codes against the nearest one, where it has several (0 to 1). Default 0.3.
    pub span_share: f32,
    /// What two words of the query that stand side by side on a page count against one word as rare, beside what each
    /// counts by itself. Default 0.2.
    pub pairs: f32,
    /// Shards of codes that a query without the network fetches: those of the best pages of the first
    /// stage. All their pages are candidates of the second; where they hold fewer than 50 pages, more are
    /// fetched. A build is given the number for long pages, and takes up to twice as many where pages are short.
    pub code_shards: usize,
    /// Shards of codes that a query of mode `full` fetches, chosen alike.
    pub code_shards_in_full: usize,
    /// Weights without a network.
    pub table: Weights,
    /// Weights with the network.
    pub full: Weights,
    /// Weight of the vector by rows beside the network's, both of length 1, in mode `full`. Default 0.8; on sites
    /// of short pages down to 0 ([`crate::page::length`]), unless a smaller network than that of the passages reads queries.
    pub rows_in_full: f32,
}

/// Share of the pages, at most, that are taken to have all words of the query: so one that has them stands up to
/// 4.5 deviations out, as far as codes put the best page (3 deviations, times 1.5). Of fewer than 30 pages none can
/// stand out much farther.
const MOST_MATCHING: f32 = 0.05;
/// Pages of an index at most: a reader has some numbers for each.
const MAX_PAGES: u32 = 1 << 24;

/// One mode's weights.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weights {
    /// Weight of the words.
    pub words: f32,
    /// Pages that are taken to have all words of the query, at least, where words' scores are made z-scores: so
    /// few words found by chance do not stand many deviations out.
    pub least_matches: f32,
    /// Weight of the pages of like meaning when candidates are chosen.
    pub meaning_first: f32,
    /// Their weight in the final score.
    pub meaning: f32,
    /// Weight of the UHD buckets (by the network's codes of the query), which share it by [`BucketInfo::weight`].
    pub uhd: f32,
    /// Weight of the dense bucket.
    pub dense: f32,
    /// Weight of how much a page's codes are like those of the best pages.
    pub feedback: f32,
    /// Of the query's dimensions in a UHD bucket so many count, the rarest first.
    pub query_k: usize,
}

impl Ranking {
    fn read<F: Fields>(fields: &Reading<'_, F>) -> Self {
        let code_shards = fields.count("code_shards");
        let in_full = fields.optional("code_shards_in_full", Reading::count);
        Self {
            mean_share: fields.weight("mean_share"),
            span_share: fields.weight("span_share"),
            pairs: fields.weight("pairs"),
            code_shards: code_shards as usize,
            code_shards_in_full: in_full.unwrap_or(code_shards) as usize,
            table: Weights::read(&fields.object("table")),
            full: Weights::read(&fields.object("full")),
            rows_in_full: fields.weight("rows_in_full"),
        }
    }
}

impl Weights {
    /// Share of `pages` that are taken to have all words of a query, at least: [`Self::least_matches`] of them, but
    /// not more than a twentieth.
    #[must_use]
    pub fn least_share(&self, pages: usize) -> f32 {
        (self.least_matches / pages.max(1) as f32).min(MOST_MATCHING)
    }

    fn read<F: Fields>(fields: &Reading<'_, F>) -> Self {
        Self {
            words: fields.weight("words"),
            least_matches: fields
                .optional("least_matches", Reading::weight)
                .unwrap_or_default(),
            meaning_first: fields.weight("meaning_first"),
            meaning: fields.weight("meaning"),
            uhd: fields.weight("uhd"),
            dense: fields.weight("dense"),
            feedback: fields
                .optional("feedback", Reading::weight)
                .unwrap_or_default(),
            query_k: fields.count("query_k") as usize,
        }
    }
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            mean_share: 0.1,
            span_share: 0.3,
            pairs: 0.2,
            code_shards: 6,
            code_shards_in_full: 12,
            table: Weights {
                words: 1.0,
                least_matches: 1.5,
                meaning_first: 0.5,
                meaning: 0.1,
                uhd: 0.0,
                dense: 1.5,
                feedback: 1.1,
                query_k: 32,
            },
            full: Weights {
                words: 1.0,
                least_matches: 1.5,
                meaning_first: 0.5,
                meaning: 0.0,
                uhd: 0.4,
                dense: 1.8,
                feedback: 0.75,
                query_k: 64,
            },
            rows_in_full: 0.8,
        }
    }
}

/// How a page's passages make windows.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Passages a window, at least, where windows have several.
    pub window: u32,
    /// Windows of a page, at most.
    pub page_windows: u32,
}

impl Windows {
    /// Passages in each window but the last, at least 1, of a page of so many `passages`, of which so many
    /// were `encoded`. The passages that one window would hold are told apart (docs/ranking-short-pages.md).
    #[must_use]
    pub fn to_write(self, passages: usize, encoded: usize) -> usize {
        let all_encoded = encoded == passages;
        match all_encoded && passages <= self.window.min(self.page_windows) as usize {
            true => 1,
            false => self.several(encoded),
        }
    }

    /// The same of a page that was written with so many `windows`.
    #[must_use]
    pub fn as_written(self, passages: usize, windows: usize) -> usize {
        match windows == passages {
            true => 1,
            false => self.several(passages),
        }
    }

    fn several(self, passages: usize) -> usize {
        let evenly = passages.div_ceil(self.page_windows.max(1) as usize);
        evenly.max(self.window as usize).max(1)
    }
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// When the text is not one, or of another format version.
    pub fn parse(text: &str) -> Result<Self> {
        let file = MANIFEST_FILE.to_owned();
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
            let (file, reason) = (file.clone(), error.to_string());
            match text.starts_with('{') && error.is_eof() {
                true => Error::Corrupt { file, reason },
                false => Error::NotOurs { file },
            }
        })?;
        Self::of(value)
    }

    /// Reads a manifest that has been parsed as JSON.
    ///
    /// # Errors
    /// When the value is not a manifest, or of another format version.
    pub fn of(fields: impl Fields) -> Result<Self> {
        let misfit = Cell::new(None);
        let fields = Reading::new(fields, &misfit);
        let version = fields.count("format");
        if misfit.get().is_some() {
            return Err(Error::NotOurs {
                file: MANIFEST_FILE.to_owned(),
            });
        }
        container::check_version(MANIFEST_FILE, version.min(u16::MAX.into()) as u16)?;
        let stemming = Stemming::named(&fields.text("stemming"));
        if stemming.is_none() {
            fields.misfit("stemming");
        }
        let manifest = Self {
            format: container::FORMAT_VERSION,
            generator: fields.text("generator"),
            build: fields.text("build"),
            stemming: stemming.unwrap_or(Stemming::None),
            encoder: EncoderInfo::read(&fields.object("encoder")),
            pages: fields.count("pages"),
            passages: fields.count("passages"),
            window: fields.count("window"),
            page_windows: fields.count("page_windows"),
            spans: fields.flag("spans").unwrap_or_default(),
            ranking: Ranking::read(&fields.object("ranking")),
            dense: Spread::read(&fields.object("dense")),
            languages: fields
                .optional("languages", Reading::count)
                .unwrap_or_default(),
            weighted_pages: fields
                .optional("weighted_pages", Reading::count)
                .unwrap_or_default(),
            shards: Shards::read(&fields.object("shards")),
        };
        if manifest.counts_disagree() {
            fields.misfit("pages");
        }
        match misfit.get() {
            None => Ok(manifest),
            Some(name) => Err(Error::Corrupt {
                file: MANIFEST_FILE.to_owned(),
                reason: format!("`{name}` is missing or not what it should be"),
            }),
        }
    }

    /// Whether there are fewer pages than shards begin with, or more than passages or than any index has.
    fn counts_disagree(&self) -> bool {
        let Shards {
            codes,
            records,
            attributes,
            ..
        } = &self.shards;
        let starts = [codes, records, attributes].map(|pages| pages.starts.last());
        let last = starts.into_iter().flatten().max();
        let most = self.passages.min(MAX_PAGES);
        self.pages > most || last.is_some_and(|last| *last >= self.pages)
    }

    /// Refuses to read queries by an encoder other than the one that made the codes, or the one that the bundle
    /// names for queries.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`].
    pub fn check_encoder(&self, id: &str) -> Result<()> {
        let EncoderInfo {
            id: own, query_id, ..
        } = &self.encoder;
        if own == id || query_id.as_deref() == Some(id) {
            return Ok(());
        }
        let short = |id: &str| id.chars().take(12).collect::<String>();
        Err(Error::EncoderMismatch {
            bundle: short(&self.encoder.id),
            encoder: short(id),
        })
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over references"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A manifest's fixed beginning.
#[must_use]
pub fn generator() -> String {
    format!("siskin {}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_find_the_windows_that_were_written() {
        for (window, page_windows) in [(3, u32::MAX), (3, 4), (3, 2), (1, 4), (0, 0)] {
            let rule = Windows {
                window,
                page_windows,
            };
            for passages in 1usize..60 {
                let size = rule.to_write(passages, passages);
                let windows = passages.div_ceil(size);
                assert!(windows <= page_windows.max(1) as usize);
                assert_eq!(
                    rule.as_written(passages, windows),
                    size,
                    "{rule:?}, {passages}"
                );
            }
        }
    }

    #[test]
    fn short_pages_have_a_window_for_each_passage() {
        let rule = Windows {
            window: 3,
            page_windows: 4,
        };
        let windows = |passages: usize| passages.div_ceil(rule.to_write(passages, passages));
        assert_eq!([1, 2, 3, 4, 12, 13].map(windows), [1, 2, 3, 2, 4, 4]);
        // Of long pages that were encoded in part, one; of a short one too, which readers could not tell.
        assert_eq!(
            [(40, 3), (3, 2)].map(|(all, some)| rule.to_write(all, some)),
            [3, 3]
        );
    }
}
