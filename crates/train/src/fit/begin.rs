//! The checkpoint from which a run starts: a new one, the one in --out, or the weights of another run.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use candle_core::{Device, Tensor};
use siskin_encoder::MANIFEST_FILE;

use super::Args;
use super::settings::{Heads, Settings};
use super::static_queries::StaticRows;
use crate::base::Base;
use crate::bert::Bert;
use crate::checkpoint::{Checkpoint, State};
use crate::collection::Collection;
use crate::init::{random_head, whitened_head};
use crate::manifest::Manifest;
use crate::onnx::read::Written;
use crate::resume::{differences, written};
use crate::sample::{mixed_texts, token_vectors};
use crate::wta::{Head, weight_mask};

/// The checkpoint from which training starts.
///
/// # Errors
/// When --out holds one already, or what the run shall go on from does not fit the base model or the settings.
pub fn first_checkpoint(
    args: &Args,
    base: &Base,
    collections: &[Collection],
    device: &Device,
) -> Result<Checkpoint> {
    if args.resume {
        return resumed(args, base, device);
    }
    check_out(args)?;
    let mut checkpoint = match &args.from {
        Some(folder) => begun_from(folder, args, base, collections, device)?,
        None => initial(&args.settings, base, collections, device)?,
    };
    if let Some(encoder) = &args.rows
        && checkpoint.rows.is_none()
    {
        checkpoint.rows = Some(StaticRows::of_encoder(encoder, base, device)?);
    }
    Ok(checkpoint)
}

/// Refuses to begin where a checkpoint lies.
///
/// # Errors
/// When --out holds one that the run does not go on from.
pub fn check_out(args: &Args) -> Result<()> {
    ensure!(
        args.resume || !args.out.join("state.json").exists(),
        "{} holds a checkpoint: --resume, or another --out",
        args.out.display()
    );
    Ok(())
}

/// The checkpoint in --out, if it was begun with the same base model and settings.
fn resumed(args: &Args, base: &Base, device: &Device) -> Result<Checkpoint> {
    let checkpoint = Checkpoint::load(&args.out, device)?;
    checkpoint.check_base(base)?;
    // Through text, as state.json went: reading may change a number's last digit.
    let asked: serde_json::Value = serde_json::from_str(&serde_json::to_string(&args.settings)?)?;
    let begun = &checkpoint.state.config;
    ensure!(
        *begun == asked,
        "resume with the same settings: {} was begun with {}",
        args.out.display(),
        differences(begun, &asked)
    );
    Ok(checkpoint)
}

/// The weights of another checkpoint or of an encoder, no step made.
fn begun_from(
    folder: &Path,
    args: &Args,
    base: &Base,
    collections: &[Collection],
    device: &Device,
) -> Result<Checkpoint> {
    let settings = &args.settings;
    let mut checkpoint = match folder.join(MANIFEST_FILE).exists() {
        true => of_encoder(folder, base, device)?,
        false => Checkpoint::load(folder, device)?,
    };
    checkpoint.check_base(base)?;
    if args.new_heads {
        checkpoint.heads = new_heads(settings, &checkpoint.bert(base)?, base, collections, device)?;
        checkpoint.state.buckets.clone_from(&settings.buckets);
    }
    let buckets = &checkpoint.state.buckets;
    ensure!(
        *buckets == settings.buckets,
        "{} has the buckets {}: give the same, or --new-heads",
        folder.display(),
        written(&serde_json::to_value(buckets)?)
    );
    if !args.new_heads {
        check_masks(&checkpoint.state, settings)?;
    }
    checkpoint.state.before = Some(checkpoint.state.as_before());
    checkpoint.state.step = 0;
    checkpoint.state.pairs.clear();
    checkpoint.state.base.clone_from(&base.id);
    checkpoint.state.collections.extend(names(collections));
    checkpoint.state.collections.sort();
    checkpoint.state.collections.dedup();
    checkpoint.state.config = serde_json::to_value(settings)?;
    checkpoint.optimizer = None;
    Ok(checkpoint)
}

/// What the exported encoder in `folder` has of a checkpoint: heads, and its network where training changed that, both
/// rounded as they are in its files. Rows are `--rows`' to give.
fn of_encoder(folder: &Path, base: &Base, device: &Device) -> Result<Checkpoint> {
    let manifest = Manifest::read(folder)?;
    if let Some(teacher) = &manifest.queries_for {
        bail!(
            "{} is a student of the encoder {teacher:.12}: begin with that",
            folder.display()
        );
    }
    let to_device = |tensor: Tensor| tensor.to_device(device);
    let backbone = base.trained_in(folder, &manifest)?.map(|weights| {
        let moved = weights.into_iter();
        moved
            .map(|(name, tensor)| Ok((name, to_device(tensor)?)))
            .collect::<Result<_>>()
    });
    let onnx = Written::read(&manifest.file(folder, "model.onnx")?)?;
    let buckets = manifest.shapes();
    let heads = onnx.heads(&buckets)?.into_iter();
    let heads = heads.map(|head| Head::new(to_device(head.weight)?, to_device(head.bias)?, head.k));
    // Absent where the network is the base model as published.
    let made = manifest
        .training
        .get("network")
        .cloned()
        .unwrap_or_default();
    let made: State = serde_json::from_value(made).unwrap_or_default();
    let state = State {
        buckets,
        rows_trained: false,
        // `trained_in` has seen that it fits; `adapt` exports with a base of its own.
        base: String::new(),
        ..made
    };
    Ok(Checkpoint {
        state,
        heads: heads.collect::<Result<_>>()?,
        backbone: backbone.transpose()?,
        rows: None,
        optimizer: None,
    })
}

/// Refuses masks of absent weights that are not those that the heads were made with: what one leaves, the other takes.
fn check_masks(state: &State, settings: &Settings) -> Result<()> {
    let of = |key: &str| state.config.get(key).and_then(serde_json::Value::as_f64);
    let made_with = of("weight_sparsity").unwrap_or(0.0);
    let seed = state.config.get("seed").and_then(serde_json::Value::as_u64);
    ensure!(
        made_with == settings.weight_sparsity,
        "the heads were made with --weight-sparsity {made_with}: give the same, or --new-heads"
    );
    ensure!(
        made_with == 0.0 || seed.is_none_or(|seed| seed == settings.seed),
        "the absent weights of the heads were drawn with --seed {}: give the same, or --new-heads",
        seed.unwrap_or_default()
    );
    Ok(())
}

/// Heads as the settings say, no step made.
fn initial(
    settings: &Settings,
    base: &Base,
    collections: &[Collection],
    device: &Device,
) -> Result<Checkpoint> {
    let heads = new_heads(settings, &base.bert()?, base, collections, device)?;
    let state = State {
        buckets: settings.buckets.clone(),
        step: 0,
        collections: names(collections),
        base: base.id.clone(),
        pairs: String::new(),
        rows_trained: false,
        config: serde_json::to_value(settings)?,
        before: None,
    };
    Ok(Checkpoint {
        state,
        heads,
        backbone: None,
        rows: None,
        optimizer: None,
    })
}

/// Heads as the settings say, of the token vectors of `bert`.
fn new_heads(
    settings: &Settings,
    bert: &Bert,
    base: &Base,
    collections: &[Collection],
    device: &Device,
) -> Result<Vec<Head>> {
    let layers: Vec<usize> = settings.buckets.iter().map(|bucket| bucket.layer).collect();
    let tokenizer = base.tokenizer()?;
    let texts = mixed_texts(collections, settings.seed);
    let tokens = settings.sample_tokens;
    let samples = token_vectors(bert, &tokenizer, &texts, &layers, tokens, device)?;
    let mut heads = Vec::new();
    for (seed, (bucket, samples)) in (settings.seed..).zip(settings.buckets.iter().zip(&samples)) {
        let mask = weight_mask(bucket.n, samples.dim(1)?, settings.weight_sparsity, seed)?;
        let mask = mask.to_device(device)?;
        heads.push(match settings.heads {
            Heads::Whitened => whitened_head(samples, &mask, bucket.k, seed)?,
            Heads::Random => random_head(samples, &mask, bucket.k, seed)?,
        });
    }
    Ok(heads)
}

fn names(collections: &[Collection]) -> Vec<String> {
    let names = collections.iter().map(|collection| collection.name.clone());
    names.collect()
}
