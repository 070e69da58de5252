//! Any ONNX network, run by tract: word pieces in, token vectors and winners out.

use std::sync::Arc;

use siskin_core::encoded::TokenWinners;
use siskin_core::ids::PieceId;
use siskin_lean::Winners;
use tract_onnx::prelude::*;
use tract_onnx::tract_hir::internal::{TractErrorContext, bail};

use crate::engine::{Output, token_winners};
use crate::error::{EncoderError, Result};
use crate::manifest::{Bucket, MODEL_FILE, Manifest};

/// The release of tract that Cargo.lock names: another one may round otherwise.
pub(crate) const VERSION: &str = "tract-0.23.9";

/// A network ready to run; shared by all threads.
pub(crate) struct Network {
    plan: Arc<TypedRunnableModel>,
    buckets: Vec<Bucket>,
}

impl Network {
    /// Reads an ONNX file with the inputs and outputs that `manifest` promises.
    pub(crate) fn read(model_onnx: &[u8], manifest: &Manifest) -> Result<Self> {
        let plan = plan(model_onnx, manifest.buckets.len())
            .map_err(|error| EncoderError::unfit(MODEL_FILE, format!("{error:#}")))?;
        let buckets = manifest.buckets.clone();
        Ok(Self { plan, buckets })
    }

    /// Runs the network on one text.
    pub(crate) fn run(&self, pieces: &[PieceId]) -> Result<Output> {
        self.try_run(pieces).map_err(|error| EncoderError::Network {
            tokens: pieces.len(),
            reason: format!("{error:#}"),
        })
    }

    fn try_run(&self, pieces: &[PieceId]) -> TractResult<Output> {
        let ids: Vec<i64> = pieces.iter().map(|piece| i64::from(piece.0)).collect();
        let input = Tensor::from_shape(&[1, ids.len()], &ids)?;
        let mut outputs = self.plan.run(tvec!(input.into()))?.into_iter();
        let hidden = outputs.next().context("no output")?;
        let buckets = self.buckets.iter().zip(outputs);
        Ok(Output {
            hidden: values(&hidden)?.to_vec(),
            buckets: buckets
                .map(|(bucket, scores)| bucket_winners(bucket, &scores, pieces.len()))
                .collect::<TractResult<_>>()?,
        })
    }
}

/// The winners among the scores of all of a bucket's dimensions (eq. 2): `[tokens, n]`, of which the first
/// and the last token compete for none.
fn bucket_winners(bucket: &Bucket, scores: &Tensor, tokens: usize) -> TractResult<TokenWinners> {
    let (scores, n) = (values(scores)?, bucket.n as usize);
    if scores.len() != tokens * n {
        bail!("{} scores for {tokens} tokens of {n}", scores.len());
    }
    let inner = scores.get(n..scores.len().saturating_sub(n));
    let winners = Winners::of(inner.unwrap_or_default(), n, bucket.k);
    Ok(token_winners(winners))
}

/// The optimised network with `hidden` and each bucket's scores as outputs.
///
/// The scores are what the file's TopK nodes read: selecting in Rust takes one pass over a row,
/// where tract sorts it whole.
fn plan(model_onnx: &[u8], buckets: usize) -> TractResult<Arc<TypedRunnableModel>> {
    let mut model = tract_onnx::onnx().model_for_read(&mut std::io::Cursor::new(model_onnx))?;
    let outputs = output_outlets(&model, buckets)?;
    let tokens = model.symbols.sym("tokens").to_dim();
    let input = InferenceFact::dt_shape(i64::datum_type(), tvec!(1.to_dim(), tokens));
    model.set_input_fact(0, input)?;
    model
        .with_output_outlets(&outputs)?
        .into_optimized()?
        .into_runnable()
}

fn output_outlets(model: &InferenceModel, buckets: usize) -> TractResult<Vec<OutletId>> {
    let labelled = |label: &str| {
        model
            .find_outlet_label(label)
            .with_context(|| format!("no output named {label}"))
    };
    let mut outlets = vec![labelled("hidden")?];
    for j in 0..buckets {
        let top_k = labelled(&format!("winners_{j}"))?;
        let scores = model.node(top_k.node).inputs.first();
        outlets.push(*scores.with_context(|| format!("winners_{j} is not made by TopK"))?);
    }
    Ok(outlets)
}

fn values(tensor: &Tensor) -> TractResult<&[f32]> {
    tensor.try_as_plain_ram()?.as_slice::<f32>()
}
