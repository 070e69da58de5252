//! BERT on candle-core, with every layer's output and gradients that reach every weight.
//!
//! Devlin et al. 2019; weights carry the names that `BertModel` publishes. candle's fused
//! `layer_norm` and `softmax_last_dim` have no backward and would cut the graph without a word,
//! so they are used only where nothing is tracked; on the CPU [`crate::fused`] has its own, with gradients.

use std::collections::HashMap;

use anyhow::{Context, Result};
use candle_core::{D, DType, Module, Tensor};
use candle_nn::ops;
use serde::{Deserialize, Serialize};

use crate::fused::{self, layers};

/// Shapes of the network, named as in the model's `config.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Word pieces in the vocabulary.
    pub vocab_size: usize,
    /// Width `dim` of every token vector.
    pub hidden_size: usize,
    /// Transformer layers.
    pub num_hidden_layers: usize,
    /// Attention heads; divides `hidden_size`.
    pub num_attention_heads: usize,
    /// Width of the feed-forward part.
    pub intermediate_size: usize,
    /// Longest input in word pieces.
    pub max_position_embeddings: usize,
    /// Added to the variance inside layer norm.
    pub layer_norm_eps: f64,
    /// Width of word and position vectors where it is not `hidden_size`; a linear map then follows
    /// their norm (ELECTRA, Clark et al. 2020).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_size: Option<usize>,
    /// Width to which a linear map takes the last layer's token vectors, if one does: a student's, which has
    /// its teacher's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_size: Option<usize>,
}

impl Config {
    /// Width of word and position vectors.
    #[must_use]
    pub fn word_width(&self) -> usize {
        self.embedding_size.unwrap_or(self.hidden_size)
    }

    /// Width of the network's token vectors.
    #[must_use]
    pub fn output_width(&self) -> usize {
        self.output_size.unwrap_or(self.hidden_size)
    }
}

/// In what matrix products are computed: the network's own type, or a narrower one.
type Products = Option<DType>;

/// The network. Its tensors may be variables (trained) or constants (frozen).
#[derive(Clone, Debug)]
pub struct Bert {
    words: Tensor,
    positions: Tensor,
    segment: Tensor,
    norm: LayerNorm,
    projection: Option<Linear>,
    layers: Vec<Layer>,
    output: Option<Linear>,
}

impl Bert {
    /// Builds the network over `weights`, whose tensors are shared, not copied.
    ///
    /// # Errors
    /// When a weight is missing; the message names it.
    pub fn load(weights: &HashMap<String, Tensor>, config: &Config) -> Result<Self> {
        let weights = Weights {
            tensors: weights,
            prefix: String::new(),
        };
        let embeddings = weights.under("embeddings");
        let layers = (0..config.num_hidden_layers)
            .map(|layer| Layer::load(&weights.under(&format!("encoder.layer.{layer}")), config));
        Ok(Self {
            words: embeddings.get("word_embeddings.weight")?,
            positions: embeddings.get("position_embeddings.weight")?,
            segment: embeddings
                .get("token_type_embeddings.weight")?
                .narrow(0, 0, 1)?,
            norm: LayerNorm::load(&embeddings.under("LayerNorm"), config)?,
            projection: config
                .embedding_size
                .map(|_| Linear::load(&weights.under("embeddings_project")))
                .transpose()?,
            layers: layers.collect::<Result<_>>()?,
            output: config
                .output_size
                .map(|_| Linear::load(&weights.under("output_project")))
                .transpose()?,
        })
    }

    /// The same network with the products of its linear maps computed in `products`; norms, softmax and sums
    /// stay as they are, and gradients reach the weights in the weights' own type.
    #[must_use]
    pub fn with_products(mut self, products: DType) -> Self {
        for linear in self.layers.iter_mut().flat_map(Layer::linear_maps) {
            linear.products = Some(products);
        }
        self
    }

    /// Token vectors after the embeddings (index 0) and after each layer: each `[batch, seq, dim]`.
    ///
    /// `input_ids`: `[batch, seq]` u32; `mask`: `[batch, seq]`, 1 = real, 0 = padding. Vectors at
    /// padding are meaningless.
    ///
    /// # Errors
    /// When shapes disagree, an id is outside the vocabulary or `seq` is too long.
    pub fn forward(&self, input_ids: &Tensor, mask: &Tensor) -> Result<Vec<Tensor>> {
        let blocked = self.blocked_keys(mask)?;
        let mut outputs = vec![self.embed(input_ids)?];
        for layer in &self.layers {
            let previous = outputs.last().context("embeddings come first")?;
            let next = layer.forward(previous, &blocked)?;
            outputs.push(next);
        }
        Ok(outputs)
    }

    /// The network's token vectors: the last of `layers` (from [`Bert::forward`]), mapped if the network has a
    /// map for them.
    ///
    /// # Errors
    /// When there is no layer.
    pub fn token_vectors(&self, layers: &[Tensor]) -> Result<Tensor> {
        let last = layers.last().context("the network has no layer")?;
        match &self.output {
            Some(map) => map.forward(last),
            None => Ok(last.clone()),
        }
    }

    /// Layers of the network, embeddings not counted.
    #[must_use]
    pub fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// `[batch, seq]` ids to `[batch, seq, dim]`: words, positions and the first segment, normed and mapped to
    /// the network's width.
    fn embed(&self, input_ids: &Tensor) -> Result<Tensor> {
        let (batch, seq) = input_ids.dims2()?;
        let words = self.words.embedding(&input_ids.flatten_all()?)?;
        let sum = words
            .reshape((batch, seq, words.dim(1)?))?
            .broadcast_add(&self.positions.narrow(0, 0, seq)?)?
            .broadcast_add(&self.segment)?;
        let normed = self.norm.forward(&sum)?;
        match &self.projection {
            Some(map) => map.forward(&normed),
            None => Ok(normed),
        }
    }

    /// `[batch, seq]` mask to `[batch, 1, 1, seq]`: 0 at real tokens, very negative at padding.
    fn blocked_keys(&self, mask: &Tensor) -> Result<Tensor> {
        let mask = mask.to_dtype(self.words.dtype())?;
        Ok(mask.affine(1e9, -1e9)?.unsqueeze(1)?.unsqueeze(1)?)
    }
}

/// One transformer layer: attention, then feed-forward, each added to its input and normed.
#[derive(Clone, Debug)]
struct Layer {
    attention: Attention,
    attention_norm: LayerNorm,
    intermediate: Linear,
    output: Linear,
    output_norm: LayerNorm,
}

impl Layer {
    fn load(weights: &Weights, config: &Config) -> Result<Self> {
        Ok(Self {
            attention: Attention::load(&weights.under("attention"), config)?,
            attention_norm: LayerNorm::load(&weights.under("attention.output.LayerNorm"), config)?,
            intermediate: Linear::load(&weights.under("intermediate.dense"))?,
            output: Linear::load(&weights.under("output.dense"))?,
            output_norm: LayerNorm::load(&weights.under("output.LayerNorm"), config)?,
        })
    }

    fn linear_maps(&mut self) -> [&mut Linear; 6] {
        let attention = &mut self.attention;
        [
            &mut attention.query,
            &mut attention.key,
            &mut attention.value,
            &mut attention.output,
            &mut self.intermediate,
            &mut self.output,
        ]
    }

    fn forward(&self, hidden: &Tensor, blocked: &Tensor) -> Result<Tensor> {
        let attended = self.attention.forward(hidden, blocked)?;
        let hidden = self.attention_norm.forward(&(hidden + attended)?)?;
        let wide = gelu(&self.intermediate.forward(&hidden)?)?;
        self.output_norm
            .forward(&(&hidden + self.output.forward(&wide)?)?)
    }
}

/// Multi-head self-attention.
#[derive(Clone, Debug)]
struct Attention {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    heads: usize,
}

impl Attention {
    fn load(weights: &Weights, config: &Config) -> Result<Self> {
        Ok(Self {
            query: Linear::load(&weights.under("self.query"))?,
            key: Linear::load(&weights.under("self.key"))?,
            value: Linear::load(&weights.under("self.value"))?,
            output: Linear::load(&weights.under("output.dense"))?,
            heads: config.num_attention_heads,
        })
    }

    /// `hidden`: `[batch, seq, dim]`; `blocked`: `[batch, 1, 1, seq]`; returns `[batch, seq, dim]`.
    fn forward(&self, hidden: &Tensor, blocked: &Tensor) -> Result<Tensor> {
        let query = self.split(&self.query.forward(hidden)?)?;
        let key = self.split(&self.key.forward(hidden)?)?;
        let value = self.split(&self.value.forward(hidden)?)?;
        let scale = 1.0 / (query.dim(D::Minus1)? as f64).sqrt();
        // [batch, heads, seq, seq]
        let scores = query.matmul(&key.t()?)?;
        let mixed = softmax(&scores, blocked, scale)?.matmul(&value)?;
        self.output
            .forward(&mixed.transpose(1, 2)?.flatten_from(2)?)
    }

    /// `[batch, seq, dim]` to `[batch, heads, seq, dim / heads]`.
    fn split(&self, hidden: &Tensor) -> Result<Tensor> {
        let (batch, seq, dim) = hidden.dims3()?;
        let split = hidden.reshape((batch, seq, self.heads, dim / self.heads))?;
        Ok(split.transpose(1, 2)?.contiguous()?)
    }
}

/// An affine map; `weight`: `[output, input]`, `bias`: `[output]`.
#[derive(Clone, Debug)]
struct Linear {
    weight: Tensor,
    bias: Tensor,
    products: Products,
}

impl Linear {
    fn load(weights: &Weights) -> Result<Self> {
        Ok(Self {
            weight: weights.get("weight")?,
            bias: weights.get("bias")?,
            products: None,
        })
    }

    /// `[batch, seq, input]` to `[batch, seq, output]`.
    fn forward(&self, hidden: &Tensor) -> Result<Tensor> {
        if let Some(products) = self.products {
            let linear = candle_nn::Linear::new(self.weight.to_dtype(products)?, None);
            let output = linear.forward(&hidden.to_dtype(products)?)?;
            return Ok(output.to_dtype(hidden.dtype())?.broadcast_add(&self.bias)?);
        }
        if fused::applies(hidden) && fused::applies(&self.bias) {
            let linear = candle_nn::Linear::new(self.weight.clone(), None);
            return Ok(layers::add_bias(&linear.forward(hidden)?, &self.bias)?);
        }
        let linear = candle_nn::Linear::new(self.weight.clone(), Some(self.bias.clone()));
        Ok(linear.forward(hidden)?)
    }
}

/// Layer norm over the last dimension.
#[derive(Clone, Debug)]
struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f32,
}

impl LayerNorm {
    fn load(weights: &Weights, config: &Config) -> Result<Self> {
        Ok(Self {
            weight: weights.get("weight")?,
            bias: weights.get("bias")?,
            epsilon: config.layer_norm_eps as f32,
        })
    }

    fn forward(&self, hidden: &Tensor) -> Result<Tensor> {
        if fused::applies(hidden) && fused::applies(&self.weight) {
            let (weight, bias) = (&self.weight, &self.bias);
            return Ok(layers::layer_norm(hidden, weight, bias, self.epsilon)?);
        }
        let tracked = [hidden, &self.weight, &self.bias]
            .iter()
            .any(|tensor| tensor.track_op());
        if tracked {
            return Ok(ops::layer_norm_slow(
                hidden,
                &self.weight,
                &self.bias,
                self.epsilon,
            )?);
        }
        Ok(ops::layer_norm(
            &hidden.contiguous()?,
            &self.weight,
            &self.bias,
            self.epsilon,
        )?)
    }
}

/// GELU by the error function.
fn gelu(values: &Tensor) -> Result<Tensor> {
    if fused::applies(values) {
        return Ok(layers::gelu(values)?);
    }
    Ok(values.gelu_erf()?)
}

/// Softmax over the last dimension of `scale · scores + blocked`.
fn softmax(scores: &Tensor, blocked: &Tensor, scale: f64) -> Result<Tensor> {
    if fused::applies(scores) {
        return Ok(layers::attention(scores, blocked, scale)?);
    }
    let scores = (scores * scale)?.broadcast_add(blocked)?;
    if scores.track_op() {
        return Ok(ops::softmax(&scores, D::Minus1)?);
    }
    Ok(ops::softmax_last_dim(&scores.contiguous()?)?)
}

/// Tensors below one prefix of names.
struct Weights<'a> {
    tensors: &'a HashMap<String, Tensor>,
    prefix: String,
}

impl Weights<'_> {
    fn under(&self, name: &str) -> Self {
        Self {
            tensors: self.tensors,
            prefix: format!("{}{name}.", self.prefix),
        }
    }

    fn get(&self, name: &str) -> Result<Tensor> {
        let name = format!("{}{name}", self.prefix);
        let tensor = self.tensors.get(&name);
        Ok(tensor
            .with_context(|| format!("the weights lack {name}"))?
            .clone())
    }
}
