//! Pairs for training and held-out sets, as word pieces.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Result, ensure};
use siskin_core::container::sha256_hex;

use super::settings::{Batching, Settings};
use crate::collection::{Collection, Pair};
use crate::mine::Negatives;
use crate::random::Random;
use crate::sample::candidates;
use crate::tokenize::Tokenizer;

/// Random streams of the seed, beside those that the heads use.
const HOLD_OUT_STREAM: u64 = 1_000;
const ORDER_STREAM: u64 = 2_000;
const CANDIDATES_STREAM: u64 = 3_000_000_000;
/// As many streams as there are steps.
const NEGATIVES_STREAM: u64 = 1_000_000_000;

/// A training pair, with what tells it from others.
#[derive(Clone, Debug)]
struct TrainingPair {
    query: Vec<u32>,
    passage: Vec<u32>,
    /// All passages that answer the query, this pair's included: (collection, passage).
    relevant: Vec<(usize, usize)>,
    /// This pair's passage.
    passage_id: (usize, usize),
    /// Passages that look like an answer and are none.
    negatives: Vec<(usize, usize)>,
}

/// Queries and passages of one collection that training does not see.
#[derive(Clone, Debug)]
pub struct HeldOutSet {
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
    batching: Batching,
    hard_negatives: usize,
    /// Word pieces of the hard negatives.
    negatives: HashMap<(usize, usize), Vec<u32>>,
    /// One set per collection that has enough pairs.
    pub held_out: Vec<HeldOutSet>,
}

/// The texts of one step: row `i` of both is a pair; further passages are hard negatives.
#[derive(Clone, Debug)]
pub struct PairBatch<'a> {
    /// Word pieces of the queries as the collection has them.
    pub asked: Vec<&'a [u32]>,
    /// Word pieces of the queries as they are trained on.
    pub queries: Vec<Cow<'a, [u32]>>,
    /// Word pieces of their passages, then of hard negatives.
    pub passages: Vec<&'a [u32]>,
    /// What tells the passages apart: (collection, passage).
    pub passage_ids: Vec<(usize, usize)>,
    /// BM25 of `queries` for `passages`, row after row, where the loss has it; else empty.
    pub words: Vec<f32>,
}

impl Data {
    /// Splits each collection's pairs by passage: one that answers a held-out query is in no training pair and no
    /// hard negative. `negatives`: those of each collection, or none at all.
    ///
    /// # Errors
    /// When a text cannot be tokenized or too few pairs are left.
    pub fn new(
        collections: &[Collection],
        negatives: &[Negatives],
        tokenizer: &Tokenizer,
        settings: &Settings,
    ) -> Result<Self> {
        let mut data = Self {
            training: Vec::new(),
            batching: settings.batching,
            hard_negatives: settings.hard_negatives,
            negatives: HashMap::new(),
            held_out: Vec::new(),
        };
        for (index, collection) in collections.iter().enumerate() {
            let split = Split::new(collection, index, settings);
            if !split.held_out.is_empty() {
                data.held_out.push(split.held_out_set(tokenizer, settings)?);
            }
            let mined = negatives.get(index);
            let pairs = split.training_pairs(mined, tokenizer, settings.max_pieces)?;
            for &(_, passage) in pairs.iter().flat_map(|pair| &pair.negatives) {
                let pieces = tokenizer.encode(&collection.passages[passage])?;
                let pieces = cut_to(pieces, settings.max_pieces);
                data.negatives.insert((index, passage), pieces);
            }
            data.training.extend(pairs);
        }
        let (count, batch) = (data.training.len(), settings.batch_pairs);
        ensure!(
            count >= batch,
            "{count} training pairs do not fill a batch of {batch}"
        );
        ensure!(
            !data.epoch(0, batch, settings.seed).is_empty(),
            "the {count} training pairs share so many passages or queries that none of them fill a \
             batch of {batch}: lower --batch-pairs"
        );
        if settings.batching == Batching::ByCollection {
            data.name_small(collections, batch);
        }
        Ok(data)
    }

    /// Names the collections that fill no batch alone.
    fn name_small(&self, collections: &[Collection], batch: usize) {
        for (index, collection) in collections.iter().enumerate() {
            let own = |pair: &&TrainingPair| pair.passage_id.0 == index;
            let count = self.training.iter().filter(own).count();
            if count < batch {
                crate::say!(
                    "{}: its {count} pairs fill no batch of {batch} and are not trained on; lower --batch-pairs for them",
                    collection.name
                );
            }
        }
    }

    /// Batches of pair positions without end: epoch after epoch, each in its own random order, so
    /// that batch `i` depends on nothing but the data, `size` and `seed`.
    pub fn batches(&self, size: usize, seed: u64) -> impl Iterator<Item = Vec<usize>> + '_ {
        (0_u64..).flat_map(move |epoch| self.epoch(epoch, size, seed))
    }

    /// The batches of one epoch.
    fn epoch(&self, epoch: u64, size: usize, seed: u64) -> Vec<Vec<usize>> {
        let mut random = Random::new(seed, ORDER_STREAM + epoch);
        let mut order: Vec<usize> = (0..self.training.len()).collect();
        random.shuffle(&mut order);
        if self.batching == Batching::Mixed {
            return self.cut(order, size);
        }
        let mut collections: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for position in order {
            let (collection, _) = self.training[position].passage_id;
            collections.entry(collection).or_default().push(position);
        }
        let mut batches: Vec<Vec<usize>> = collections
            .into_values()
            .flat_map(|order| self.cut(order, size))
            .collect();
        random.shuffle(&mut batches);
        batches
    }

    /// Cuts `order` into batches in which no passage answers two queries and no query text occurs
    /// twice; what clashes waits for a later batch. The incomplete rest is left out.
    fn cut(&self, order: Vec<usize>, size: usize) -> Vec<Vec<usize>> {
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

    /// Word pieces of all passages that training reads, hard negatives among them; some more than once.
    pub fn passages(&self) -> impl Iterator<Item = ((usize, usize), &[u32])> {
        let own = self.training.iter();
        let own = own.map(|pair| (pair.passage_id, pair.passage.as_slice()));
        // In order, so that an index of them is the same each time.
        let hard: BTreeMap<_, _> = self.negatives.iter().collect();
        own.chain(
            hard.into_iter()
                .map(|(id, pieces)| (*id, pieces.as_slice())),
        )
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
            for (collection, passage) in &pair.negatives {
                bytes.extend(
                    [*collection as u64, *passage as u64]
                        .map(u64::to_le_bytes)
                        .concat(),
                );
            }
        }
        sha256_hex(&bytes)
    }

    /// The texts of batch `number` of [`Data::batches`]; `seed` chooses among hard negatives.
    #[must_use]
    pub fn batch(&self, positions: &[usize], number: usize, seed: u64) -> PairBatch<'_> {
        let pairs = || positions.iter().map(|&position| &self.training[position]);
        let mut random = Random::new(seed, NEGATIVES_STREAM + number as u64);
        let own = pairs().map(|pair| (pair.passage_id, pair.passage.as_slice()));
        let hard = self.hard_negatives(pairs(), &mut random);
        let (passage_ids, passages) = own.chain(hard).unzip();
        let asked: Vec<&[u32]> = pairs().map(|pair| pair.query.as_slice()).collect();
        PairBatch {
            queries: asked.iter().copied().map(Cow::Borrowed).collect(),
            asked,
            passages,
            passage_ids,
            words: Vec::new(),
        }
    }

    /// Some hard negatives of each pair: none that answers a query of the batch, none twice.
    fn hard_negatives<'a>(
        &'a self,
        pairs: impl Iterator<Item = &'a TrainingPair> + Clone,
        random: &mut Random,
    ) -> Vec<((usize, usize), &'a [u32])> {
        let mut taken: HashSet<(usize, usize)> = HashSet::new();
        let mut texts: HashSet<&[u32]> = HashSet::new();
        for pair in pairs.clone() {
            taken.extend(&pair.relevant);
            texts.insert(&pair.passage);
        }
        let mut chosen = Vec::new();
        for pair in pairs {
            let mut negatives = pair.negatives.clone();
            random.shuffle(&mut negatives);
            let fresh = negatives.into_iter().filter_map(|negative| {
                let pieces = self.negatives.get(&negative)?.as_slice();
                (taken.insert(negative) && texts.insert(pieces)).then_some((negative, pieces))
            });
            chosen.extend(fresh.take(self.hard_negatives));
        }
        chosen
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
    /// Held-out queries, in order.
    held_out: Vec<usize>,
    /// All passages that answer one of them.
    reserved: HashSet<usize>,
    training: Vec<Pair>,
}

impl<'a> Split<'a> {
    /// Holds out queries of at most a fifth of the pairs, with all their answers: a query that one of these answers,
    /// too, is neither trained on nor measured.
    fn new(collection: &'a Collection, index: usize, settings: &Settings) -> Self {
        let mut pairs = collection.pairs.clone();
        Random::new(settings.seed, HOLD_OUT_STREAM + index as u64).shuffle(&mut pairs);
        let wanted = settings.held_out_queries.min(pairs.len() / 5);
        let mut relevant: HashMap<usize, Vec<usize>> = HashMap::new();
        for pair in &pairs {
            relevant.entry(pair.query).or_default().push(pair.passage);
        }
        let mut held_out: Vec<usize> = pairs.iter().take(wanted).map(|pair| pair.query).collect();
        held_out.sort_unstable();
        held_out.dedup();
        let reserved: HashSet<usize> = held_out
            .iter()
            .flat_map(|query| &relevant[query])
            .copied()
            .collect();
        let is_trained = |pair: &Pair| {
            let mut answers = relevant[&pair.query].iter();
            !answers.any(|passage| reserved.contains(passage))
        };
        let training = pairs.into_iter().filter(is_trained);
        let training = training.take(settings.pairs_per_collection).collect();
        Self {
            collection,
            index,
            relevant,
            held_out,
            reserved,
            training,
        }
    }

    fn training_pairs(
        &self,
        mined: Option<&Negatives>,
        tokenizer: &Tokenizer,
        max_pieces: usize,
    ) -> Result<Vec<TrainingPair>> {
        let pieces =
            |text: &str| Ok::<_, anyhow::Error>(cut_to(tokenizer.encode(text)?, max_pieces));
        let pairs = self.training.iter().map(|pair| {
            let negatives = mined.and_then(|mined| mined.get(&pair.query));
            let negatives = negatives
                .into_iter()
                .flatten()
                .filter(|passage| !self.reserved.contains(passage));
            let relevant = self.relevant.get(&pair.query).into_iter().flatten();
            Ok(TrainingPair {
                query: pieces(&self.collection.queries[pair.query])?,
                passage: pieces(&self.collection.passages[pair.passage])?,
                relevant: relevant.map(|&passage| (self.index, passage)).collect(),
                passage_id: (self.index, pair.passage),
                negatives: negatives.map(|&passage| (self.index, passage)).collect(),
            })
        });
        pairs.collect()
    }

    /// The held-out queries with all their passages and random others.
    fn held_out_set(&self, tokenizer: &Tokenizer, settings: &Settings) -> Result<HeldOutSet> {
        let queries = &self.held_out;
        let answers = |query: &usize| self.relevant.get(query).into_iter().flatten().copied();
        let streams = [HOLD_OUT_STREAM, CANDIDATES_STREAM].map(|stream| stream + self.index as u64);
        let passages = candidates(
            queries.iter().flat_map(answers),
            (self.collection.passages.len(), settings.held_out_passages),
            (settings.seed, streams),
        );
        let places: HashMap<usize, usize> = passages.iter().copied().zip(0..).collect();
        let relevant = queries
            .iter()
            .map(|query| answers(query).filter_map(|passage| places.get(&passage).copied()))
            .map(Iterator::collect);
        Ok(HeldOutSet {
            name: self.collection.name.clone(),
            relevant: relevant.collect(),
            queries: encode_all(tokenizer, &self.collection.queries, queries)?,
            passages: encode_all(tokenizer, &self.collection.passages, &passages)?,
        })
    }
}

/// At most `max_pieces` of `pieces`, where that is above 0: the first ones, and the last, `[SEP]`.
fn cut_to(mut pieces: Vec<u32>, max_pieces: usize) -> Vec<u32> {
    if max_pieces > 0 && pieces.len() > max_pieces {
        let left_out = max_pieces - 1..pieces.len() - 1;
        pieces.drain(left_out);
    }
    pieces
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
            negatives: Vec::new(),
        }
    }

    fn data(training: Vec<TrainingPair>) -> Data {
        Data {
            training,
            batching: Batching::Mixed,
            hard_negatives: 1,
            negatives: HashMap::new(),
            held_out: Vec::new(),
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
        let data = data(training);
        for batch in data.batches(2, 1).take(60) {
            for clash in [[0, 1], [2, 3], [4, 5]] {
                assert!(!clash.iter().all(|pair| batch.contains(pair)), "{batch:?}");
            }
        }
    }

    #[test]
    fn a_batch_by_collection_stays_within_one() {
        let training = (0..12).map(|i| TrainingPair {
            passage_id: (i % 3, i),
            ..pair(i as u32, i, &[i])
        });
        let data = Data {
            batching: Batching::ByCollection,
            ..data(training.collect())
        };
        let batches: Vec<_> = data.batches(2, 1).take(6).collect();
        assert!(batches.iter().all(|batch| batch[0] % 3 == batch[1] % 3));
        assert_eq!(batches.concat().iter().collect::<HashSet<_>>().len(), 12);
    }

    #[test]
    fn what_answers_a_held_out_query_is_not_trained_on() -> Result<()> {
        // Query i is answered by passages i and i + 1.
        let pairs =
            (0..40).flat_map(|query| [query, query + 1].map(|passage| Pair { query, passage }));
        let collection = Collection {
            pairs: pairs.collect(),
            ..Collection::default()
        };
        let settings = Settings {
            held_out_queries: 5,
            ..Settings::defaults()?
        };
        let split = Split::new(&collection, 0, &settings);
        assert!((1..=5).contains(&split.held_out.len()));
        assert!(split.reserved.len() > split.held_out.len());
        assert!(!split.training.is_empty());
        for pair in &split.training {
            assert!(!split.held_out.contains(&pair.query));
            assert!(!split.reserved.contains(&pair.passage));
        }
        Ok(())
    }

    #[test]
    fn texts_that_are_cut_keep_their_last_piece() {
        assert_eq!(cut_to(vec![1, 5, 6, 7, 2], 4), [1, 5, 6, 2]);
        assert_eq!(cut_to(vec![1, 5, 2], 4), [1, 5, 2]);
        assert_eq!(cut_to(vec![1, 5, 6, 2], 0), [1, 5, 6, 2]);
    }

    #[test]
    fn hard_negatives_answer_no_query_of_the_batch() {
        let with = |pair: TrainingPair, negatives: &[usize]| TrainingPair {
            negatives: negatives.iter().map(|&passage| (0, passage)).collect(),
            ..pair
        };
        let mut data = data(vec![
            with(pair(1, 10, &[10, 13]), &[11, 20]),
            with(pair(2, 11, &[11]), &[13, 20, 21]),
            pair(3, 12, &[12]),
        ]);
        let pieces = |passage: usize| ((0, passage), vec![passage as u32]);
        data.negatives = [11, 13, 20, 21].map(pieces).into();
        let hard = |number| data.batch(&[0, 1, 2], number, 1).passages[3..].to_vec();
        for number in 0..20 {
            let mut hard = hard(number);
            hard.sort_unstable();
            assert_eq!(hard, [&[20], &[21]], "batch {number}");
        }
        data.hard_negatives = 0;
        assert_eq!(data.batch(&[0, 1, 2], 0, 1).passages.len(), 3);
    }

    #[test]
    fn every_pair_is_seen_and_the_order_depends_on_the_seed() {
        let data = data((0..12).map(|i| pair(i as u32, i, &[i])).collect());
        let epoch = |seed| data.batches(4, seed).take(3).flatten().collect::<Vec<_>>();
        assert_eq!(epoch(1).iter().collect::<HashSet<_>>().len(), 12);
        assert_eq!(epoch(1), epoch(1));
        assert_ne!(epoch(1), epoch(2));
    }
}
