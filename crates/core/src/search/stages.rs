//! The two stages of ranking by meaning: which pages are looked at, and by what codes.

use super::loaded::{Loaded, map_of, of_page, shard};
use super::{Engine, Mode, Query};
use crate::codes::{Codes, DenseQuery, best_and_mean};
use crate::container::Kind;
use crate::encoded::{self, EncodedQuery};
use crate::error::{Error, Result};
use crate::feedback;
use crate::fusion::Moments;
use crate::impact::rarity;
use crate::manifest::Weights;
use crate::query::{AnalyzedQuery, Wanted};
use crate::quoted;
use crate::ranked::Ranked;
use crate::shards::ShardId;
use crate::top;
use crate::uhd::Map;

/// Pages of the second stage, at least: where pages are long, a shard of codes holds but one or two.
const LEAST_CANDIDATES: usize = 50;

impl Engine {
    /// Codes of which there is but one shard are needed whatever the words find: with the words' shards
    /// they cost no round trip of their own.
    pub(super) fn want_whole_codes(&self, wanted: &mut Wanted) {
        let whole = shard(Kind::Codes, 0);
        if self.manifest.shards.codes.len() == 1 && self.loaded.get(&whole).is_none() {
            wanted.insert(whole);
        }
    }

    /// Pages by the codes of their windows: all pages of the shards that hold the best ones.
    pub(super) fn second_stage(
        &self,
        vector: &[f32],
        weights: &Weights,
        code_shards: usize,
        ranked: &mut Ranked,
        wanted: &mut Wanted,
    ) {
        let mut shards = Vec::new();
        for id in self.best_code_shards(ranked, code_shards) {
            match self.loaded.get(&id) {
                Some(Loaded::Codes(codes)) => shards.push(codes),
                _ => wanted.insert(id),
            }
        }
        if !wanted.is_empty() {
            return;
        }
        let dense = DenseQuery::new(vector);
        let (spread, share) = (self.manifest.dense, self.manifest.ranking.mean_share);
        self.score_windows(&shards, &dense, &mut |page, mut windows| {
            for score in &mut windows {
                *score = match dense.is_zero() {
                    true => 0.0,
                    false => (*score - spread.mean) / spread.deviation.max(f32::EPSILON),
                };
            }
            let score = best_and_mean(windows.iter().copied(), share);
            ranked.add_dense(page, weights.dense * score, windows);
        });
        ranked.finish_candidates(LEAST_CANDIDATES);
        if weights.feedback > 0.0 && !dense.is_zero() {
            self.feed_back(weights.feedback, &dense, &shards, ranked);
        }
    }

    /// Adds to all candidates how much they are like the best ones.
    fn feed_back(&self, weight: f32, query: &DenseQuery, shards: &[&Codes], ranked: &mut Ranked) {
        let best = ranked.order(feedback::PAGES);
        let best_score = best.first().map_or(0.0, |page| ranked.score(*page));
        let mut sought = vec![0.0; self.manifest.encoder.dim];
        for page in best.into_iter().take(feedback::PAGES) {
            let codes = shards.iter().find_map(|codes| codes.of_page(page));
            let nearest = codes.and_then(|codes| codes.nearest(ranked.best_window(page), query));
            if let Some(code) = nearest {
                let weight = feedback::weight(best_score - ranked.score(page));
                feedback::add(&mut sought, weight, code);
            }
        }
        let share = self.manifest.ranking.mean_share;
        let (mut pages, mut likeness) = (Vec::new(), Vec::new());
        self.score_windows(shards, &DenseQuery::new(&sought), &mut |page, windows| {
            pages.push(page);
            likeness.push(best_and_mean(windows.iter().copied(), share));
        });
        let moments = Moments::of(&likeness);
        for (page, likeness) in pages.into_iter().zip(likeness) {
            ranked.add(page, weight * moments.z(likeness));
        }
    }

    /// Scores the windows of every page of some shards.
    fn score_windows(
        &self,
        shards: &[&Codes],
        query: &DenseQuery,
        each: &mut dyn FnMut(u32, Vec<f32>),
    ) {
        let share = self.manifest.ranking.span_share;
        for codes in shards {
            for page in codes.pages() {
                let windows = codes.of_page(page);
                let scores = windows.map(|codes| codes.window_scores(query, share).collect());
                each(page, scores.unwrap_or_default());
            }
        }
    }

    /// The shards of codes that hold the best pages of the first stage, `count` of them; more where
    /// these hold few pages, or pages have to be looked through for phrases. Where a filter leaves but
    /// some pages of each, twice as many.
    fn best_code_shards(&self, ranked: &Ranked, count: usize) -> Vec<ShardId> {
        let codes = &self.manifest.shards.codes;
        let mut chosen = Vec::new();
        let (mut pages, mut candidates) = (0, 0);
        let pages_to_look_through = ranked.quoted.as_ref().map_or(0, |_| quoted::MOST_PAGES);
        for (at, page) in ranked.best().into_iter().enumerate() {
            let enough_shards = match candidates < LEAST_CANDIDATES {
                true => count.saturating_mul(2),
                false => count,
            };
            let enough = pages >= LEAST_CANDIDATES && at >= pages_to_look_through;
            if enough && chosen.len() >= enough_shards {
                break;
            }
            let id = of_page(codes, Kind::Codes, page);
            if !chosen.contains(&id) {
                chosen.push(id);
                let its = self.pages_of_codes(id);
                pages += its.len();
                candidates += its.filter(|page| ranked.may_be_found(*page)).count();
            }
        }
        chosen
    }

    /// The query's dense vector: the sum of its words' rows, in mode `full` beside the network's.
    pub(super) fn query_vector(
        &self,
        query: &Query<'_>,
        analyzed: &AnalyzedQuery,
    ) -> Result<Vec<f32>> {
        let dim = self.manifest.encoder.dim;
        let mut by_rows = vec![0.0; dim];
        for (meaning, weight) in analyzed
            .words
            .iter()
            .filter_map(|word| word.meaning.as_ref())
        {
            for (sum, value) in by_rows.iter_mut().zip(&meaning.row) {
                *sum += weight * value;
            }
        }
        if query.mode != Mode::Full {
            return Ok(by_rows);
        }
        let encoded = self.encoded(query)?;
        let share = self.manifest.ranking.rows_in_full;
        Ok(encoded::joined(&encoded.dense, &by_rows, share))
    }

    fn encoded<'a>(&self, query: &Query<'a>) -> Result<&'a EncodedQuery> {
        let encoded = query.encoded.ok_or(Error::QueryNotEncoded)?;
        let check = |what: &str, found: usize, expected: usize| {
            let reason = format!("{found} {what}, not {expected}");
            (found == expected)
                .then_some(())
                .ok_or(Error::QueryMisfit { reason })
        };
        let encoder = &self.manifest.encoder;
        check("buckets", encoded.buckets.len(), encoder.buckets.len())?;
        check("dense values", encoded.dense.len(), encoder.dim)?;
        Ok(encoded)
    }

    /// In mode `full`, per bucket its share of their weight and the score of every page by weighted overlap (eq. 7).
    pub(super) fn overlaps(
        &self,
        query: &Query<'_>,
        wanted: &mut Wanted,
    ) -> Result<Vec<(f32, Vec<f32>)>> {
        let mut scores = Vec::new();
        if query.mode != Mode::Full {
            return Ok(scores);
        }
        let encoded = self.encoded(query)?;
        let shares = self.manifest.encoder.bucket_shares();
        for (bucket, (code, share)) in (0u32..).zip(encoded.buckets.iter().zip(shares)) {
            match self.map(bucket) {
                _ if share == 0.0 => {}
                Some(map) => scores.push((share, self.overlap(bucket, map, code, wanted)?)),
                None => wanted.insert(map_of(bucket)),
            }
        }
        Ok(scores)
    }

    /// The code is binary: a dimension counts by its rarity alone.
    fn overlap(
        &self,
        bucket: u32,
        map: &Map,
        code: &[(u32, f32)],
        wanted: &mut Wanted,
    ) -> Result<Vec<f32>> {
        let windows = map.windows();
        let mut lists = Vec::new();
        for (dimension, _) in code {
            let Some(place) = map.place(*dimension) else {
                continue;
            };
            let directory = self.manifest.shards.uhd.get(bucket as usize);
            let Some(number) = directory.and_then(|directory| directory.find(&place)) else {
                continue;
            };
            let id = ShardId {
                kind: Kind::Uhd,
                bucket,
                number,
            };
            let Some(Loaded::Lists(shard)) = self.loaded.get(&id) else {
                wanted.insert(id);
                continue;
            };
            let list = shard.windows_at(place);
            let list = list.map_err(|damage| self.damaged(id, damage))?;
            lists.push((rarity(windows as usize, list.len()), list));
        }
        let mut overlaps = vec![0.0; windows as usize];
        let query_k = self.manifest.ranking.full.query_k;
        let strongest = top::by_score((0..).zip(lists.iter().map(|(weight, _)| *weight)));
        for at in strongest.into_iter().take(query_k) {
            let (weight, list) = &lists[at as usize];
            for &window in list {
                overlaps[window as usize] += weight;
            }
        }
        Ok(map.page_scores(&overlaps, self.manifest.ranking.mean_share))
    }
}
