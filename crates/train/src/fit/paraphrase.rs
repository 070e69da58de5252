//! Queries in other words: some of their words swapped for words of nearly the same meaning, and some that the
//! passage has left out, so that only meaning is left to find it by.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result};
use candle_core::{D, Device, Tensor};
use siskin_core::container::sha256_hex;

use super::data::PairBatch;
use super::static_queries::StaticRows;
use crate::random::Random;
use crate::tokenize::Tokenizer;
use crate::vocabulary::Vocabulary;

/// Letters that a word has at least: shorter ones have no near words worth the name.
const FEWEST_LETTERS: usize = 4;
/// Near words of a word, at most, and the least cosine of their static rows.
const NEAR_WORDS: usize = 5;
const LEAST_COSINE: f32 = 0.5;
/// Words whose cosines are computed at once.
const BLOCK: usize = 1_024;
/// As many streams of the seed as there are steps.
const STREAM: u64 = 2_000_000_000;

/// By word (its pieces) the words of nearly the same meaning, nearest first.
pub type Near = BTreeMap<Vec<u32>, Vec<Vec<u32>>>;

/// What is changed, and how often.
#[derive(Clone, Debug)]
pub struct Paraphraser {
    near: Near,
    vocabulary: Vocabulary,
    swapped: f64,
    left_out: f64,
    seed: u64,
}

impl Paraphraser {
    /// Swaps a word with the probability `swapped` for one that is `near`, and leaves one out that the passage has with
    /// `left_out`.
    #[must_use]
    pub fn new(
        near: Near,
        vocabulary: Vocabulary,
        (swapped, left_out): (f64, f64),
        seed: u64,
    ) -> Self {
        Self {
            near,
            vocabulary,
            swapped,
            left_out,
            seed,
        }
    }

    /// SHA-256 in hex of `pairs`, a fingerprint, and of the near words.
    #[must_use]
    pub fn fingerprint(&self, pairs: &str) -> String {
        sha256_hex(format!("{pairs} {:?}", self.near).as_bytes())
    }

    /// Every second query of `batch` in other words; the same ones at the same step.
    pub fn apply(&self, batch: &mut PairBatch<'_>, step: usize) {
        let mut random = Random::new(self.seed, STREAM + step as u64);
        let pairs = batch.queries.iter_mut().zip(&batch.passages);
        for (query, passage) in pairs.step_by(2) {
            let passage: HashSet<u32> = passage.iter().copied().collect();
            let changed = self.changed(query, &passage, &mut random);
            // Nothing left says nothing.
            if changed.len() > 2 {
                *query = Cow::Owned(changed);
            }
        }
    }

    fn changed(&self, query: &[u32], passage: &HashSet<u32>, random: &mut Random) -> Vec<u32> {
        let [first, content @ .., last] = query else {
            return Vec::new();
        };
        let mut changed = vec![*first];
        for word in content.chunk_by(|_, next| self.vocabulary.continues(*next)) {
            let near = self.near.get(word).map_or(&[][..], Vec::as_slice);
            if !near.is_empty() && random.unit() < self.swapped {
                changed.extend(near.get(random.below(near.len())).into_iter().flatten());
                continue;
            }
            let is_met = word.iter().all(|piece| passage.contains(piece));
            if !is_met || random.unit() >= self.left_out {
                changed.extend(word);
            }
        }
        changed.push(*last);
        changed
    }
}

/// Synonyms of the file at `path`: on each line a word, a tab, and its synonyms with spaces between them.
///
/// # Errors
/// When the file cannot be read or a line has no tab.
pub fn synonyms(path: &Path, tokenizer: &Tokenizer) -> Result<Near> {
    let cannot = || format!("cannot read {}", path.display());
    let text = std::fs::read_to_string(path).with_context(cannot)?;
    let pieces = |word: &str| {
        let pieces = tokenizer.encode(word)?;
        let content = pieces.get(1..pieces.len().saturating_sub(1));
        Ok::<_, anyhow::Error>(content.unwrap_or_default().to_vec())
    };
    let mut near = Near::new();
    for (number, line) in (1..).zip(text.lines()) {
        let place = || format!("{} line {number}: {line:?}", path.display());
        let (word, others) = line
            .split_once('\t')
            .context("expected a word, a tab and its synonyms")
            .with_context(place)?;
        let others = others.split_whitespace().map(pieces);
        let others = others.collect::<Result<Vec<_>>>()?;
        near.entry(pieces(word)?).or_default().extend(others);
    }
    Ok(near)
}

/// For each whole word of `vocabulary` those whose rows (`[pieces, dim]`) point nearly where its own does.
///
/// # Errors
/// When `rows` lacks a piece of the vocabulary.
pub fn near_rows(rows: &StaticRows, vocabulary: &Vocabulary) -> Result<Near> {
    near_words(&rows.rows, &vocabulary.words(FEWEST_LETTERS))
}

fn near_words(rows: &Tensor, words: &[u32]) -> Result<Near> {
    let ids = Tensor::from_vec(words.to_vec(), words.len(), rows.device())?;
    let rows = rows.index_select(&ids, 0)?.to_device(&Device::Cpu)?;
    let norms = (rows.sqr()?.sum_keepdim(D::Minus1)? + 1e-12)?.sqrt()?;
    let rows = rows.broadcast_div(&norms)?;
    let all = rows.t()?;
    let mut near = Near::new();
    for begin in (0..words.len()).step_by(BLOCK) {
        let block = rows.narrow(0, begin, BLOCK.min(words.len() - begin))?;
        let cosines = block.matmul(&all)?.to_vec2::<f32>()?;
        for (at, cosines) in (begin..).zip(cosines) {
            let others = cosines.into_iter().zip(words).enumerate();
            let mut others: Vec<(f32, u32)> = others
                .filter(|(other, (cosine, _))| *other != at && *cosine >= LEAST_COSINE)
                .map(|(_, (cosine, word))| (cosine, *word))
                .collect();
            others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            others.truncate(NEAR_WORDS);
            if let Some(&word) = words.get(at).filter(|_| !others.is_empty()) {
                let others = others.into_iter().map(|(_, word)| vec![word]);
                near.insert(vec![word], others.collect());
            }
        }
    }
    Ok(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paraphraser(swapped: f64, left_out: f64) -> Result<Paraphraser> {
        // Pieces 3 and 4 are near, 5 is near to neither.
        let rows = [
            [1.0_f32, 0.0],
            [1.0, 0.0],
            [1.0, 0.0],
            [1.0, 0.1],
            [1.0, 0.2],
            [0.0, 1.0],
        ];
        let near = near_words(&Tensor::new(&rows, &Device::Cpu)?, &[3, 4, 5])?;
        let expected = [(vec![3], vec![vec![4]]), (vec![4], vec![vec![3]])];
        assert_eq!(near, Near::from(expected));
        Ok(Paraphraser {
            near,
            vocabulary: Vocabulary::of([(6, "##s")]),
            swapped,
            left_out,
            seed: 1,
        })
    }

    fn applied(paraphraser: &Paraphraser, step: usize) -> Vec<Vec<u32>> {
        let query: &[u32] = &[0, 3, 5, 2, 1];
        let mut batch = PairBatch {
            asked: vec![query; 4],
            queries: vec![Cow::Borrowed(query); 4],
            passages: vec![&[0, 5, 2, 1]; 4],
            passage_ids: (0..4).map(|passage| (0, passage)).collect(),
            words: Vec::new(),
        };
        paraphraser.apply(&mut batch, step);
        batch.queries.into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn every_second_query_changes() -> Result<()> {
        let swapped = applied(&paraphraser(1.0, 0.0)?, 1);
        assert_eq!(swapped[0], [0, 4, 5, 2, 1]);
        assert_eq!(swapped[1], [0, 3, 5, 2, 1]);
        // What the passage has goes, what it lacks stays.
        let left_out = applied(&paraphraser(0.0, 1.0)?, 1);
        assert_eq!(left_out[2], [0, 3, 1]);
        assert_eq!(left_out[3], [0, 3, 5, 2, 1]);
        Ok(())
    }

    #[test]
    fn words_of_several_pieces_stay_or_go_whole() -> Result<()> {
        // 6 goes on the word that 3 begins.
        let query: &[u32] = &[0, 3, 6, 5, 1];
        let changed = |paraphraser: &Paraphraser, passage: &[u32]| {
            let passage = passage.iter().copied().collect();
            paraphraser.changed(query, &passage, &mut Random::new(1, 1))
        };
        assert_eq!(changed(&paraphraser(1.0, 0.0)?, &[]), query);
        assert_eq!(changed(&paraphraser(0.0, 1.0)?, &[3, 5]), [0, 3, 6, 1]);
        assert_eq!(changed(&paraphraser(0.0, 1.0)?, &[3, 6]), [0, 5, 1]);
        Ok(())
    }

    #[test]
    fn a_step_changes_queries_the_same_way_each_time() -> Result<()> {
        let paraphraser = paraphraser(0.5, 0.5)?;
        assert_eq!(applied(&paraphraser, 7), applied(&paraphraser, 7));
        let steps: HashSet<Vec<Vec<u32>>> =
            (0..20).map(|step| applied(&paraphraser, step)).collect();
        assert!(steps.len() > 5);
        Ok(())
    }

    #[test]
    fn a_query_is_never_left_empty() -> Result<()> {
        let paraphraser = paraphraser(0.0, 1.0)?;
        let query: &[u32] = &[0, 5, 1];
        let mut batch = PairBatch {
            asked: vec![query],
            queries: vec![Cow::Borrowed(query)],
            passages: vec![&[0, 5, 1]],
            passage_ids: vec![(0, 0)],
            words: Vec::new(),
        };
        paraphraser.apply(&mut batch, 1);
        assert_eq!(*batch.queries[0], *query);
        Ok(())
    }
}
