//! BERT and its buckets as an ONNX graph.
//!
//! Input `input_ids`, integers `[batch, tokens]`: texts of equal length without padding. Outputs:
//! `hidden`, floats `[batch, tokens, dim]`, the last layer; per bucket `winners_{j}`, integers, and
//! `activations_{j}`, floats, both `[batch, tokens, k]`, strongest first (UHD-BERT, eq. 2 and 3).

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use candle_core::Tensor;

use super::graph::{Axis, Graph, float, int, ints};
use super::weights::{Quantization, values};
use crate::bert::Config;
use crate::checkpoint::Bucket;
use crate::wta::Head;

/// What goes into the file.
pub struct Network<'a> {
    /// Weights by the names that BERT publishes.
    pub weights: &'a HashMap<String, Tensor>,
    /// Shapes of the network.
    pub config: &'a Config,
    /// Layers and sizes of the buckets; empty for a dense encoder.
    pub buckets: &'a [Bucket],
    /// One head per bucket.
    pub heads: &'a [Head],
    /// Longest input in word pieces.
    pub max_tokens: usize,
    /// How matrices are stored.
    pub quantization: Quantization,
}

/// The bytes of the ONNX file.
///
/// # Errors
/// When a weight is missing or has the wrong shape, or a bucket reads a layer that is not there.
pub fn write(network: &Network<'_>) -> Result<Vec<u8>> {
    let mut writer = Writer {
        network,
        graph: Graph::default(),
    };
    let layers = writer.layers()?;
    writer.outputs(&layers)?;
    Ok(writer.graph.into_bytes("siskin-encoder"))
}

struct Writer<'a> {
    network: &'a Network<'a>,
    graph: Graph,
}

impl<'a> Writer<'a> {
    /// Names of the layers' outputs, the embeddings' first.
    fn layers(&mut self) -> Result<Vec<String>> {
        self.graph
            .input("input_ids", &[Axis::Named("batch"), Axis::Named("tokens")]);
        self.constants();
        let mut layers = vec![self.embeddings()?];
        for layer in 0..self.network.config.num_hidden_layers {
            let input = layers.last().context("embeddings come first")?;
            layers.push(self.layer(layer, &input.clone())?);
        }
        Ok(layers)
    }

    /// Constants that every layer shares.
    fn constants(&mut self) {
        let heads = self.network.config.num_attention_heads as i64;
        let dim = self.network.config.hidden_size as i64;
        self.graph
            .integers("split_shape", &[0, 0, heads, dim / heads]);
        self.graph.integers("joined_shape", &[0, 0, dim]);
        self.graph.scalar("sqrt_2", std::f32::consts::SQRT_2);
        self.graph.scalar("one", 1.0);
        self.graph.scalar("half", 0.5);
    }

    /// Word, position and first segment, normed and mapped to the layers' width: `[batch, tokens, dim]`.
    fn embeddings(&mut self) -> Result<String> {
        let words = self.weight("embeddings.word_embeddings.weight")?;
        let words = self
            .graph
            .embedding("words", words, "input_ids", self.network.quantization)?;
        let positions = self.positions()?;
        let sum = self
            .graph
            .node("Add", "embeddings.sum", &[&words, &positions]);
        let normed = self.norm("embeddings", &sum, "embeddings.LayerNorm")?;
        match self.network.config.embedding_size {
            Some(_) => self.linear("embeddings.projected", &normed, "embeddings_project"),
            None => Ok(normed),
        }
    }

    /// The first `tokens` rows of positions, the first segment's vector added.
    fn positions(&mut self) -> Result<String> {
        let max_tokens = self.network.max_tokens;
        let table = self.weight("embeddings.position_embeddings.weight")?;
        let segments = self.weight("embeddings.token_type_embeddings.weight")?;
        let table = table
            .narrow(0, 0, max_tokens)?
            .broadcast_add(&segments.narrow(0, 0, 1)?)?;
        let shape = [max_tokens, self.network.config.word_width()];
        let table = self
            .graph
            .floats("positions.table", &shape, &values(&table)?);
        let range = vec![int("start", 1), int("end", 2)];
        let tokens = self
            .graph
            .node_with("Shape", "tokens_in_text", &["input_ids"], range);
        let start = self.graph.integers("positions.start", &[0]);
        let axis = self.graph.integers("positions.axis", &[0]);
        Ok(self
            .graph
            .node("Slice", "positions", &[&table, &start, &tokens, &axis]))
    }

    /// One transformer layer: attention, then feed-forward, each added to its input and normed.
    fn layer(&mut self, layer: usize, input: &str) -> Result<String> {
        let published = format!("encoder.layer.{layer}");
        let name = format!("layer_{layer}");
        let attended = self.attention(&name, input, &published)?;
        let sum = format!("{name}.attention_sum");
        let sum = self.graph.node("Add", &sum, &[&attended, input]);
        let middle = self.norm(
            &format!("{name}.middle"),
            &sum,
            &format!("{published}.attention.output.LayerNorm"),
        )?;
        let wide = self.linear(
            &format!("{name}.wide"),
            &middle,
            &format!("{published}.intermediate.dense"),
        )?;
        let wide = self.gelu(&format!("{name}.gelu"), &wide);
        let narrow = self.linear(
            &format!("{name}.narrow"),
            &wide,
            &format!("{published}.output.dense"),
        )?;
        let sum = format!("{name}.sum");
        let sum = self.graph.node("Add", &sum, &[&narrow, &middle]);
        self.norm(
            &self.layer_output(layer),
            &sum,
            &format!("{published}.output.LayerNorm"),
        )
    }

    /// Name of a layer's output: the last one is an output of the graph, unless a map follows it.
    fn layer_output(&self, layer: usize) -> String {
        let config = self.network.config;
        let is_last = layer + 1 == config.num_hidden_layers;
        if is_last && config.output_size.is_none() {
            "hidden".to_owned()
        } else {
            format!("layer_{layer}")
        }
    }

    /// Multi-head self-attention: `[batch, tokens, dim]` to the same shape.
    fn attention(&mut self, name: &str, input: &str, published: &str) -> Result<String> {
        let head_width = self.network.config.hidden_size / self.network.config.num_attention_heads;
        let of = |part: &str| format!("{published}.attention.{part}");
        let query = self.scaled_linear(
            &format!("{name}.query"),
            input,
            &of("self.query"),
            1.0 / (head_width as f64).sqrt(),
        )?;
        let key = self.linear(&format!("{name}.key"), input, &of("self.key"))?;
        let value = self.linear(&format!("{name}.value"), input, &of("self.value"))?;
        let query = self.split_heads(&query, &[0, 2, 1, 3]);
        let key = self.split_heads(&key, &[0, 2, 3, 1]);
        let value = self.split_heads(&value, &[0, 2, 1, 3]);
        let scores = format!("{name}.scores");
        let scores = self.graph.node("MatMul", &scores, &[&query, &key]);
        let softmax = format!("{name}.softmax");
        let last_axis = vec![int("axis", -1)];
        let softmax = self
            .graph
            .node_with("Softmax", &softmax, &[&scores], last_axis);
        let mixed = format!("{name}.mixed");
        let mixed = self.graph.node("MatMul", &mixed, &[&softmax, &value]);
        let joined = self.join_heads(&mixed);
        self.linear(&format!("{name}.attention"), &joined, &of("output.dense"))
    }

    /// `[batch, tokens, dim]` to `[batch, tokens, heads, dim / heads]`, its axes then permuted.
    fn split_heads(&mut self, input: &str, order: &[i64; 4]) -> String {
        let split = format!("{input}.split");
        let split = self.graph.node("Reshape", &split, &[input, "split_shape"]);
        let heads = format!("{input}.heads");
        self.graph
            .node_with("Transpose", &heads, &[&split], vec![ints("perm", order)])
    }

    /// `[batch, heads, tokens, dim / heads]` to `[batch, tokens, dim]`.
    fn join_heads(&mut self, input: &str) -> String {
        let turned = format!("{input}.turned");
        let order = vec![ints("perm", &[0, 2, 1, 3])];
        let turned = self.graph.node_with("Transpose", &turned, &[input], order);
        let joined = format!("{input}.joined");
        self.graph
            .node("Reshape", &joined, &[&turned, "joined_shape"])
    }

    /// `x · (1 + erf(x / √2)) / 2`; the Gelu operator comes with opset 20.
    fn gelu(&mut self, name: &str, input: &str) -> String {
        let scaled = format!("{name}.scaled");
        let scaled = self.graph.node("Div", &scaled, &[input, "sqrt_2"]);
        let erf = self.graph.node("Erf", &format!("{name}.erf"), &[&scaled]);
        let gate = format!("{name}.gate");
        let gate = self.graph.node("Add", &gate, &[&erf, "one"]);
        let twice = format!("{name}.twice");
        let twice = self.graph.node("Mul", &twice, &[input, &gate]);
        self.graph.node("Mul", name, &[&twice, "half"])
    }

    fn norm(&mut self, name: &str, input: &str, published: &str) -> Result<String> {
        let weight = self.weight(&format!("{published}.weight"))?;
        let bias = self.weight(&format!("{published}.bias"))?;
        let weight = self.graph.vector(&format!("{name}.norm_weight"), weight)?;
        let bias = self.graph.vector(&format!("{name}.norm_bias"), bias)?;
        let epsilon = self.network.config.layer_norm_eps as f32;
        let attributes = vec![int("axis", -1), float("epsilon", epsilon)];
        let inputs = [input, &weight, &bias];
        Ok(self
            .graph
            .node_with("LayerNormalization", name, &inputs, attributes))
    }

    fn linear(&mut self, name: &str, input: &str, published: &str) -> Result<String> {
        self.scaled_linear(name, input, published, 1.0)
    }

    /// A published linear map, times `factor`.
    fn scaled_linear(
        &mut self,
        name: &str,
        input: &str,
        published: &str,
        factor: f64,
    ) -> Result<String> {
        let weight = (self.weight(&format!("{published}.weight"))? * factor)?;
        let bias = (self.weight(&format!("{published}.bias"))? * factor)?;
        let map = (&weight, &bias);
        self.graph
            .linear(name, input, map, self.network.quantization)
    }

    /// Declares `hidden` and adds the buckets.
    fn outputs(&mut self, layers: &[String]) -> Result<()> {
        let config = self.network.config;
        if config.output_size.is_some() {
            let last = layers.last().context("the network has no layer")?;
            self.linear("hidden", last, "output_project")?;
        }
        let dim = config.output_width();
        self.graph.float_output("hidden", &token_shape(dim));
        let network = self.network;
        ensure!(
            network.buckets.len() == network.heads.len(),
            "{} buckets, {} heads",
            network.buckets.len(),
            network.heads.len()
        );
        for (j, (bucket, head)) in network.buckets.iter().zip(network.heads).enumerate() {
            let layer = layers.get(bucket.layer).with_context(|| {
                format!(
                    "bucket {j} reads layer {} of {}",
                    bucket.layer,
                    layers.len() - 1
                )
            })?;
            self.bucket(j, layer, head)?;
        }
        Ok(())
    }

    /// Scores of all dimensions (eq. 2) and the `k` winners of each token (eq. 3).
    fn bucket(&mut self, j: usize, layer: &str, head: &Head) -> Result<()> {
        let map = (&head.weight, &head.bias);
        let name = format!("bucket_{j}");
        let scores = self
            .graph
            .linear(&name, layer, map, self.network.quantization)?;
        let k = self.graph.integers(&format!("{name}.k"), &[head.k as i64]);
        let (activations, winners) = (format!("activations_{j}"), format!("winners_{j}"));
        let names = [activations.as_str(), winners.as_str()];
        let order = vec![int("axis", -1), int("largest", 1), int("sorted", 1)];
        self.graph.wide_node("TopK", &names, &[&scores, &k], order);
        self.graph.integer_output(&winners, &token_shape(head.k));
        self.graph.float_output(&activations, &token_shape(head.k));
        Ok(())
    }

    fn weight(&self, name: &str) -> Result<&'a Tensor> {
        let tensor = self.network.weights.get(name);
        tensor.with_context(|| format!("the weights lack {name}"))
    }
}

fn token_shape(width: usize) -> [Axis; 3] {
    [
        Axis::Named("batch"),
        Axis::Named("tokens"),
        Axis::Fixed(width),
    ]
}
