//! Pairs for training and held-out sets, as word pieces.

use std::collections::{HashMap, HashSet};

use anyhow::{Result, ensure};
use siskin_core::container::sha256_hex;

use super::settings::Settings;
use crate::collection::{Collection, Pair};
use crate::random::Random;
use crate::tokenize::Tokenizer;

/// Random streams of the seed, beside those that the heads use.
const HOLD_OUT_STREAM: u64 = 1_000;
const ORDER_STREAM: u64 = 2_000;

/// A training pair, with what tells it from others.
#[derive(Clone, Debug)]
struct TrainingPair {
    query: Vec<u32>,
    passage: Vec<u32>,
    /// All passages that answer the query, this pair's included: (collection, passage).
    relevant: Vec<(usize, usize)>,
    /// This pair's passage.
    passage_id: (usize, usize),
}

/// Queries and passages of one collection that training does not see.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// The collection's name.
    pub name: String,
    /// Word pieces of the queries.
    pub queries: Vec<Vec<u32>>,
    /// Word pieces of the passages to rank.
    pub passages: Vec<Vec<u32>>,
    /// For each query the passages that answer it.
    pub relevant: Vec<HashSet<usize>>,
}

/// Everything that `fit` reads from collections.
#[derive(Clone, Debug)]
pub struct Data {
    training: Vec<TrainingPair>,
    /// One set per collection that has enough pairs.
    pub held_out: Vec<HeldOut>,
}

/// The texts of one step: row `i` of both is a pair.
#[derive(Clone, Debug)]
pub struct PairBatch<'a> {
    /// Word pieces of the queries.
    pub queries: Vec<&'a [u32]>,
    /// Word pieces of their passages.
    pub passages: Vec<&'a [u32]>,
}

impl Data {
    /// Splits each collection's pairs by passage: a held-out passage is in no training pair.
    ///
    /// # Errors
    /// When a text cannot be tokenized or too few pairs are left.
    pub fn new(
        collections: &[Collection],
        tokenizer: &Tokenizer,
        settings: &Settings,
    ) -> Result<Self> {
        let mut data = Self {
            training: Vec::new(),
            held_out: Vec::new(),
        };
        for (index, collection) in collections.iter().enumerate() {
            let split = Split::new(collection, index, settings);
            if !split.held_out.is_empty() {
                data.held_out.push(split.held_out_set(tokenizer, settings)?);
            }
            data.training.extend(split.training_pairs(tokenizer)?);
        }
        let (count, batch) = (data.training.len(), settings.batch_pairs);
        ensure!(
            count >= batch,
            "{count} training pairs do not fill a batch of {batch}"
        );
        ensure!(
            !data.epoch((0..count).collect(), batch).is_empty(),
            "the {count} training pairs share so many passages or queries that none of them fill a \
             batch of {batch}: lower --batch-pairs"
        );
        Ok(data)
    }

    /// Batches of pair positions without end: epoch after epoch, each in its own random order, so
    /// that batch `i` depends on nothing but the data, `size` and `seed`.
    pub fn batches(&self, size: usize, seed: u64) -> impl Iterator<Item = Vec<usize>> + '_ {
        (0_u64..).flat_map(move |epoch| {
            let mut order: Vec<usize> = (0..self.training.len()).collect();
            Random::new(seed, ORDER_STREAM + epoch).shuffle(&mut order);
            self.epoch(order, size)
        })
    }

    /// Cuts `order` into batches in which no passage answers two queries and no query text occurs
    /// twice; what clashes waits for a later batch. The incomplete rest is left out.
    fn epoch(&self, order: Vec<usize>, size: usize) -> Vec<Vec<usize>> {
        let mut batches = Vec::new();
        let mut waiting = order;
        while waiting.len() >= size {
            let mut batch = Clashes::default();
            let mut later = Vec::new();
            for position in waiting {
                let pair = &self.training[position];
                if batch.positions.len() == size || !batch.admit(position, pair) {
                    later.push(position);
                }
            }
            if batch.positions.len() < size {
                break;
            }
            batches.push(batch.positions);
            waiting = later;
        }
        batches
    }

    /// SHA-256 of the training pairs in hex: what a run goes on with must be what it began with.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut bytes = Vec::new();
        for pair in &self.training {
            for pieces in [&pair.query, &pair.passage] {
                bytes.extend((pieces.len() as u64).to_le_bytes());
                bytes.extend(pieces.iter().flat_map(|piece| piece.to_le_bytes()));
            }
        }
        sha256_hex(&bytes)
    }

    /// The texts of one batch of [`Data::batches`].
    #[must_use]
    pub fn batch(&self, positions: &[usize]) -> PairBatch<'_> {
        let pairs = || positions.iter().map(|&position| &self.training[position]);
        PairBatch {
            queries: pairs().map(|pair| pair.query.as_slice()).collect(),
            passages: pairs().map(|pair| pair.passage.as_slice()).collect(),
        }
    }
}

/// A batch being filled, with what it already holds.
#[derive(Default)]
struct Clashes<'a> {
    positions: Vec<usize>,
    queries: HashSet<&'a [u32]>,
    texts: HashSet<&'a [u32]>,
    passages: HashSet<(usize, usize)>,
    relevant: HashSet<(usize, usize)>,
}

impl<'a> Clashes<'a> {
    /// Adds `pair` unless it would make a false negative; says whether it did.
    fn admit(&mut self, position: usize, pair: &'a TrainingPair) -> bool {
        let clashes = self.queries.contains(pair.query.as_slice())
            || self.texts.contains(pair.passage.as_slice())
            || self.relevant.contains(&pair.passage_id)
            || pair
                .relevant
                .iter()
                .any(|passage| self.passages.contains(passage));
        if !clashes {
            self.positions.push(position);
            self.queries.insert(&pair.query);
            self.texts.insert(&pair.passage);
            self.passages.insert(pair.passage_id);
            self.relevant.extend(&pair.relevant);
        }
        !clashes
    }
}

/// One collection's pairs in random order, parted by passage.
struct Split<'a> {
    collection: &'a Collection,
    index: usize,
    /// Relevant passages by query.
    relevant: HashMap<usize, Vec<usize>>,
    held_out: Vec<Pair>,
    training: Vec<Pair>,
}

impl<'a> Split<'a> {
    /// Holds out whole passages until there are enough queries, but at most a fifth of the pairs.
    fn new(collection: &'a Collection, index: usize, settings: &Settings) -> Self {
        let mut pairs = collection.pairs.clone();
        Random::new(settings.seed, HOLD_OUT_STREAM + index as u64).shuffle(&mut pairs);
        let wanted = settings.held_out_queries.min(pairs.len() / 5);
        let passages: HashSet<usize> = pairs.iter().take(wanted).map(|pair| pair.passage).collect();
        let mut relevant: HashMap<usize, Vec<usize>> = HashMap::new();
        for pair in &pairs {
            relevant.entry(pair.query).or_default().push(pair.passage);
        }
        let answers_held_out = |query| {
            relevant
                .get(&query)
                .is_some_and(|answers| answers.iter().any(|passage| passages.contains(passage)))
        };
        let training = pairs
            .iter()
            .copied()
            .filter(|pair| !answers_held_out(pair.query));
        let training = training.take(settings.pairs_per_collection).collect();
        pairs.truncate(wanted);
        Self {
            collection,
            index,
            relevant,
            held_out: pairs,
            training,
        }
    }

    fn training_pairs(&self, tokenizer: &Tokenizer) -> Result<Vec<TrainingPair>> {
        let pairs = self.training.iter().map(|pair| {
            let relevant = self.relevant.get(&pair.query).into_iter().flatten();
            Ok(TrainingPair {
                query: tokenizer.encode(&self.collection.queries[pair.query])?,
                passage: tokenizer.encode(&self.collection.passages[pair.passage])?,
                relevant: relevant.map(|&passage| (self.index, passage)).collect(),
                passage_id: (self.index, pair.passage),
            })
        });
        pairs.collect()
    }

    /// The held-out queries with all their passages and random others.
    fn held_out_set(&self, tokenizer: &Tokenizer, settings: &Settings) -> Result<HeldOut> {
        let mut queries: Vec<usize> = self.held_out.iter().map(|pair| pair.query).collect();
        queries.sort_unstable();
        queries.dedup();
        let answers = |query: &usize| self.relevant.get(query).into_iter().flatten().copied();
        let passages = self.candidates(queries.iter().flat_map(answers), settings);
        let places: HashMap<usize, usize> = passages.iter().copied().zip(0..).collect();
        let relevant = queries
            .iter()
            .map(|query| answers(query).filter_map(|passage| places.get(&passage).copied()))
            .map(Iterator::collect);
        Ok(HeldOut {
            name: self.collection.name.clone(),
            relevant: relevant.collect(),
            queries: encode_all(tokenizer, &self.collection.queries, &queries)?,
            passages: encode_all(tokenizer, &self.collection.passages, &passages)?,
        })
    }

    /// `answers`, then random passages until there are enough; no passage twice.
    fn candidates(&self, answers: impl Iterator<Item = usize>, settings: &Settings) -> Vec<usize> {
        let mut others: Vec<usize> = (0..self.collection.passages.len()).collect();
        Random::new(settings.seed, HOLD_OUT_STREAM + self.index as u64).shuffle(&mut others);
        let mut seen = HashSet::new();
        let mut candidates: Vec<usize> = answers.filter(|&passage| seen.insert(passage)).collect();
        let missing = settings.held_out_passages.saturating_sub(candidates.len());
        candidates.extend(
            others
                .into_iter()
                .filter(|passage| !seen.contains(passage))
                .take(missing),
        );
        candidates
    }
}

/// Word pieces of the texts at `positions`.
fn encode_all(
    tokenizer: &Tokenizer,
    texts: &[String],
    positions: &[usize],
) -> Result<Vec<Vec<u32>>> {
    let pieces = positions
        .iter()
        .map(|&position| tokenizer.encode(&texts[position]));
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(query: u32, passage: usize, relevant: &[usize]) -> TrainingPair {
        TrainingPair {
            query: vec![query],
            passage: vec![u32::try_from(passage).unwrap()],
            relevant: relevant.iter().map(|&passage| (0, passage)).collect(),
            passage_id: (0, passage),
        }
    }

    #[test]
    fn no_batch_holds_a_false_negative() {
        // Queries 1 and 2 share passage 10; query 3 is answered by 11 and 12; query 4 occurs twice.
        let training = vec![
            pair(1, 10, &[10]),
            pair(2, 10, &[10]),
            pair(3, 11, &[11, 12]),
            pair(5, 12, &[12]),
            pair(4, 13, &[13]),
            pair(4, 14, &[14]),
        ];
        let data = Data {
            training,
            held_out: Vec::new(),
        };
        for batch in data.batches(2, 1).take(60) {
            for clash in [[0, 1], [2, 3], [4, 5]] {
                assert!(!clash.iter().all(|pair| batch.contains(pair)), "{batch:?}");
            }
        }
    }

    #[test]
    fn every_pair_is_seen_and_the_order_depends_on_the_seed() {
        let training = (0..12).map(|i| pair(i as u32, i, &[i])).collect();
        let data = Data {
            training,
            held_out: Vec::new(),
        };
        let epoch = |seed| data.batches(4, seed).take(3).flatten().collect::<Vec<_>>();
        assert_eq!(epoch(1).iter().collect::<HashSet<_>>().len(), 12);
        assert_eq!(epoch(1), epoch(1));
        assert_ne!(epoch(1), epoch(2));
    }
}
