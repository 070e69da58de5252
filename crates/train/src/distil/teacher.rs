//! The teacher and what it says of the texts.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use candle_core::{DType, Device, Tensor};
use half::f16;
use rayon::prelude::*;
use siskin_encoder::QueryFiles;

use crate::checkpoint::Bucket;
use crate::init::cholesky;
use crate::manifest::Manifest;
use crate::onnx::read::Written;
use crate::random::Random;
use crate::rows::{VectorCache, fingerprint, progress};
use crate::tokenize::Tokenizer;
use crate::wta::Head;

/// Random stream of the order of batches.
const BATCHES_STREAM: u64 = 7_001;
/// Texts that the teacher is asked of between two writes to the disk.
const TEXTS_AT_ONCE: usize = 4_096;

/// An encoder folder, opened to teach.
pub struct Teacher {
    /// SHA-256 of its `encoder.json`, in hex.
    pub id: String,
    /// Width of its token vectors.
    pub dim: usize,
    /// Longest input in word pieces.
    pub max_tokens: usize,
    /// Its buckets.
    pub buckets: Vec<Bucket>,
    /// One head per bucket, in the order of `buckets`.
    pub heads: Vec<Head>,
    /// Mean of its unit-length query vectors: `[dim]`.
    pub query_mean: Vec<f32>,
    /// Word pieces in its vocabulary.
    pub vocabulary: usize,
    /// SHA-256 of its tokenizer, in hex.
    pub tokenizer_sha256: String,
    network: siskin_lean::Network,
    tokenizer: Tokenizer,
}

impl Teacher {
    /// Opens the encoder in `folder`.
    ///
    /// # Errors
    /// When a file is missing or altered, or the network is not one that `export` wrote with 8-bit weights and buckets
    /// on its last layer, or is a student.
    pub fn open(folder: &Path) -> Result<Self> {
        let manifest = Manifest::read(folder)?;
        ensure!(
            manifest.queries_for.is_none(),
            "{} is a student itself: name its teacher",
            folder.display()
        );
        ensure!(
            !manifest.buckets.is_empty(),
            "{} has no bucket: a student learns what winners see",
            folder.display()
        );
        let onnx = manifest.file(folder, "model.onnx")?;
        manifest.file(folder, "tokenizer.json")?;
        let unfit = || format!("{} cannot teach", folder.join("model.onnx").display());
        let written = Written::read(&onnx).with_context(unfit)?;
        let buckets = manifest.shapes();
        let heads = written.heads(&buckets).with_context(unfit)?;
        let vocabulary = written.pieces().with_context(unfit)?;
        let last = written.layers();
        ensure!(
            buckets.iter().all(|bucket| bucket.layer == last),
            "{} has a bucket on another layer than its last, {last}: a student learns that one alone",
            folder.display()
        );
        let as_queries_are_read = QueryFiles::read(folder)?.model;
        let network = siskin_lean::Network::read(as_queries_are_read.into()).with_context(unfit)?;
        let (dim, mean) = (manifest.dim, manifest.query_mean.len());
        let same = |head: &Head| head.weight.dims().last() == Some(&dim);
        ensure!(
            network.dim() == dim && mean == dim && heads.iter().all(same),
            "{} promises vectors of {dim} values, its network or query_mean has others",
            folder.display()
        );
        Ok(Self {
            tokenizer_sha256: manifest.sha256("tokenizer.json").to_owned(),
            id: manifest.id,
            dim: manifest.dim,
            max_tokens: manifest.max_tokens,
            tokenizer: Tokenizer::open(&folder.join("tokenizer.json"), manifest.max_tokens)?,
            buckets,
            query_mean: manifest.query_mean,
            heads,
            vocabulary,
            network,
        })
    }

    /// A hash of this teacher and of `texts`.
    pub fn fingerprint(&self, texts: &[String]) -> String {
        let parts = texts.iter().map(|text| text.as_bytes());
        fingerprint([self.id.as_bytes()].into_iter().chain(parts))
    }

    /// Pieces of all texts, and the teacher's token vectors for them, which are kept in `folder`: a stopped run
    /// goes on where it was.
    ///
    /// # Errors
    /// When the tokenizer, the network or the folder fails.
    pub fn lessons(&self, texts: &[String], folder: &Path) -> Result<Lessons> {
        let pieces = texts.par_iter().map(|text| self.tokenizer.encode(text));
        let pieces: Vec<Vec<u32>> = pieces.collect::<Result<_>>()?;
        let rows: Vec<usize> = pieces.iter().map(Vec::len).collect();
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join(format!("teacher-{}.f16", self.fingerprint(texts)));
        let mut cache = VectorCache::open(&path, &rows, self.dim)?;
        let bar = progress("asking the teacher", texts.len() as u64)?;
        bar.inc(cache.done() as u64);
        while let Some(waiting) = pieces.get(cache.done()..).filter(|left| !left.is_empty()) {
            let part = &waiting[..waiting.len().min(TEXTS_AT_ONCE)];
            let seen = part.par_iter().map(|pieces| self.token_vectors(pieces));
            cache.append(part.len(), &seen.collect::<Result<Vec<_>>>()?.concat())?;
            bar.inc(part.len() as u64);
        }
        bar.finish();
        let mut hidden = cache.read()?.into_iter();
        let mut lesson = |pieces: Vec<u32>| {
            let own = hidden.by_ref().take(pieces.len() * self.dim).collect();
            (pieces, own)
        };
        Ok(Lessons {
            dim: self.dim,
            lessons: pieces.into_iter().map(&mut lesson).collect(),
        })
    }

    /// The vector of every word piece as a text of its own: `[pieces of the vocabulary, dim]`.
    ///
    /// # Errors
    /// When tokenizer or network fail.
    pub fn lone_pieces(&self) -> Result<Tensor> {
        let empty = self.tokenizer.encode("")?;
        let &[first, last] = empty.as_slice() else {
            anyhow::bail!(
                "the tokenizer wraps no text in {} pieces, not in two",
                empty.len()
            )
        };
        let bar = progress("word pieces alone", self.vocabulary as u64)?;
        let vector = |piece: u32| {
            let seen = self.token_vectors(&[first, piece, last])?;
            bar.inc(1);
            let middle = seen.get(self.dim..2 * self.dim);
            Ok(middle.context("the teacher gave too few vectors")?.to_vec())
        };
        let vectors = (0..u32::try_from(self.vocabulary)?)
            .into_par_iter()
            .map(vector);
        let vectors = vectors.collect::<Result<Vec<_>>>()?.concat();
        bar.finish();
        Ok(Tensor::from_vec(
            vectors,
            (self.vocabulary, self.dim),
            &Device::Cpu,
        )?)
    }

    /// By bucket: `L` with `L Lᵀ = Wᵀ W / n`, so that `|x L|²` is the mean square of what `x` adds to the
    /// activations: `[dim, dim]`.
    ///
    /// # Errors
    /// When a head's weights are not finite.
    pub fn metrics(&self) -> Result<Vec<Tensor>> {
        self.heads.iter().map(metric).collect()
    }

    /// `[pieces, dim]`.
    fn token_vectors(&self, pieces: &[u32]) -> Result<Vec<f32>> {
        let output = self.network.run(pieces);
        let output = output.map_err(|error| anyhow!("the teacher failed: {error}"))?;
        Ok(output.hidden)
    }
}

fn metric(head: &Head) -> Result<Tensor> {
    let weight = head.weight.to_dtype(DType::F64)?;
    let (n, dim) = weight.dims2()?;
    let gram = (weight.t()?.matmul(&weight)? / n as f64)?;
    let ridge = (Tensor::eye(dim, DType::F64, &Device::Cpu)? * 1e-9)?;
    let lower = cholesky(&(gram + ridge)?.to_vec2::<f64>()?)?;
    let lower = Tensor::from_vec(lower.concat(), (dim, dim), &Device::Cpu)?;
    Ok(lower.to_dtype(DType::F32)?)
}

/// Texts with the teacher's token vectors.
pub struct Lessons {
    dim: usize,
    /// Pieces, and `[pieces, dim]`.
    lessons: Vec<(Vec<u32>, Vec<f16>)>,
}

/// Texts of one length: what goes in, and what should come out.
pub struct Batch {
    /// `[texts, tokens]` u32.
    pub input_ids: Tensor,
    /// `[texts, tokens, dim]` f32.
    pub wanted: Tensor,
}

impl Lessons {
    /// The first `count` texts and the others.
    pub fn split(mut self, count: usize) -> (Self, Self) {
        let others = self.lessons.split_off(count.min(self.lessons.len()));
        let dim = self.dim;
        let others = Self {
            dim,
            lessons: others,
        };
        (self, others)
    }

    /// Texts by their length, as lists of positions: every text once an epoch, batches of about
    /// `tokens` pieces in random order, without end.
    pub fn batches(&self, tokens: usize, seed: u64) -> impl Iterator<Item = Vec<usize>> {
        (0..).flat_map(move |epoch| {
            self.epoch(tokens, &mut Random::new(seed, BATCHES_STREAM + epoch))
        })
    }

    /// Every text once, in batches as [`Self::batches`] makes them.
    pub fn once(&self, tokens: usize) -> Vec<Vec<usize>> {
        self.epoch(tokens, &mut Random::new(0, BATCHES_STREAM))
    }

    fn epoch(&self, tokens: usize, random: &mut Random) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.lessons.len()).collect();
        random.shuffle(&mut order);
        order.sort_by_key(|text| self.length(*text));
        let alike = order.chunk_by(|a, b| self.length(*a) == self.length(*b));
        let batches = alike.flat_map(|texts| {
            let length = texts.first().map_or(1, |text| self.length(*text));
            texts.chunks((tokens / length.max(1)).max(1))
        });
        let mut batches: Vec<Vec<usize>> = batches.map(<[usize]>::to_vec).collect();
        random.shuffle(&mut batches);
        batches
    }

    fn length(&self, text: usize) -> usize {
        self.lessons.get(text).map_or(0, |(pieces, _)| pieces.len())
    }

    /// The texts at `positions`, which are of one length.
    ///
    /// # Errors
    /// When they are not.
    pub fn batch(&self, positions: &[usize]) -> Result<Batch> {
        let texts: Vec<_> = positions
            .iter()
            .filter_map(|at| self.lessons.get(*at))
            .collect();
        let (count, length) = (
            texts.len(),
            texts.first().map_or(0, |(pieces, _)| pieces.len()),
        );
        let pieces: Vec<u32> = texts
            .iter()
            .flat_map(|(pieces, _)| pieces)
            .copied()
            .collect();
        let wanted: Vec<f32> = texts
            .iter()
            .flat_map(|(_, hidden)| hidden.iter().map(|x| x.to_f32()))
            .collect();
        let shape = (count, length, self.dim);
        Ok(Batch {
            input_ids: Tensor::from_vec(pieces, (count, length), &Device::Cpu)?,
            wanted: Tensor::from_vec(wanted, shape, &Device::Cpu)?,
        })
    }
}
