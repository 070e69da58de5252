//! What the dimensions of a bucket stand for and how often they occur.

use anyhow::Result;
use siskin_core::container::{self, Kind};
use siskin_core::shards::ShardId;
use siskin_core::uhd::{Lists, Map};
use siskin_encoder::Encoder;

use crate::bundle::BundleFolder;

/// Terms that are named for a dimension.
const TERMS: usize = 6;

/// Codes of a site in one bucket.
#[derive(Debug, Default)]
pub struct Codes {
    /// For each window the dimensions that its code has.
    pub sizes: Vec<u8>,
    /// `[n]`: windows that have each dimension.
    pub windows_with: Vec<u32>,
}

impl Codes {
    /// Reads all postings of a bucket.
    ///
    /// # Errors
    /// When a file is missing or damaged.
    pub fn read(bundle: &BundleFolder, bucket: u32) -> Result<Self> {
        let of_kind = |kind: Kind| -> Result<Vec<(String, Vec<u8>)>> {
            let shards = bundle.manifest.shards.all().into_iter();
            let shards = shards.filter(|shard| (shard.kind, shard.bucket) == (kind, bucket));
            shards.map(|shard| payload(bundle, shard)).collect()
        };
        let Some((path, map)) = of_kind(Kind::Map)?.into_iter().next() else {
            return Ok(Self::default());
        };
        let map = Map::read(&map, bundle.manifest.pages).map_err(|damage| damage.of(&path))?;
        let n = bundle.manifest.encoder.buckets.get(bucket as usize);
        let mut windows_with = vec![0; n.map_or(0, |bucket| bucket.n)];
        for (path, shard) in of_kind(Kind::Uhd)? {
            let lists = Lists::read(&shard, map.windows()).map_err(|damage| damage.of(&path))?;
            for (place, &dimension) in (0..).zip(map.dimensions()) {
                let windows = lists.windows_at(place).map_err(|damage| damage.of(&path))?;
                if let Some(count) = windows_with.get_mut(dimension as usize) {
                    *count += windows.len() as u32;
                }
            }
        }
        Ok(Self {
            sizes: map.code_sizes().to_vec(),
            windows_with,
        })
    }
}

/// Name and payload of a shard.
fn payload(bundle: &BundleFolder, shard: ShardId) -> Result<(String, Vec<u8>)> {
    let (path, content) = bundle.read(shard)?;
    let payload = container::plain_payload(&path, shard.kind, &content)?;
    Ok((path, payload))
}

/// `[n]`: for each dimension of a bucket the word pieces that it stands for most, strongest first. A piece within a word begins
/// with a hyphen.
///
/// # Errors
/// When the encoder has no rows, or they are altered.
pub fn terms(encoder: &Encoder, bucket: usize) -> Result<Vec<Vec<String>>> {
    let rows = encoder.generic_rows()?;
    let pieces = encoder.vocabulary();
    let n = encoder
        .manifest()
        .buckets
        .get(bucket)
        .map_or(0, |bucket| bucket.n);
    let mut found: Vec<Vec<(f32, usize)>> = vec![Vec::new(); n as usize];
    for (piece, row) in rows.generic.get(bucket).into_iter().flatten().enumerate() {
        for &(dimension, weight) in row {
            if let Some(found) = found.get_mut(dimension as usize) {
                found.push((weight, piece));
            }
        }
    }
    let name = |piece: usize| {
        let piece = pieces.get(piece).map_or("", String::as_str);
        match piece.strip_prefix("##") {
            Some(rest) => format!("-{rest}"),
            None => piece.to_owned(),
        }
    };
    let named = found.into_iter().map(|mut found| {
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found
            .into_iter()
            .take(TERMS)
            .map(|(_, piece)| name(piece))
            .collect()
    });
    Ok(named.collect())
}

/// `[n]`: the word pieces whose rows have each dimension of a bucket.
///
/// # Errors
/// As [`terms`].
pub fn pieces_with(encoder: &Encoder, bucket: usize) -> Result<Vec<u32>> {
    let rows = encoder.generic_rows()?;
    let n = encoder
        .manifest()
        .buckets
        .get(bucket)
        .map_or(0, |bucket| bucket.n);
    let mut counts = vec![0; n as usize];
    let entries = rows.generic.get(bucket).into_iter().flatten().flatten();
    for &(dimension, _) in entries {
        if let Some(count) = counts.get_mut(dimension as usize) {
            *count += 1;
        }
    }
    Ok(counts)
}
