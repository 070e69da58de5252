//! Whether a graph is a BERT with buckets as `siskin-train` writes it, and where its weights are.
//!
//! The graph is held node by node against the one that the exporter writes; the first difference
//! is the reason why it is not of the family.

use crate::error::{LeanError, Result};
use crate::matrix::{Matrix, PANEL};
use crate::onnx::{Constant, Element, Graph, Node};
use std::ops::Range;

/// Stands for any name of an input.
const ANY: &str = "*";
/// Name of the token vectors that the network gives.
const HIDDEN: &str = "hidden";
/// Longest input row: sums of products stay within 32 bits and activations keep 9 bits or more.
const MAX_INPUTS: usize = 1 << 15;

/// Stands for a node or constant that is not there.
static NO_NODE: Node<'static> = Node::NONE;
static NO_CONSTANT: Constant = Constant::NONE;

/// All that is known of a network before its weights are packed.
pub(crate) struct Family {
    pub(crate) heads: usize,
    /// Width of the layers' token vectors.
    pub(crate) width: usize,
    pub(crate) embeddings: Embeddings,
    pub(crate) layers: Vec<Layer>,
    /// What makes the network's token vectors of the last layer's, if they are not the same.
    pub(crate) output: Option<Linear>,
    pub(crate) buckets: Vec<Bucket>,
}

/// Words and positions.
pub(crate) struct Embeddings {
    /// Integers of the words: `[words, word width]`.
    pub(crate) words: Range<usize>,
    /// What the integers of each word are multiplied with: `[words]`.
    pub(crate) scales: Vec<f32>,
    /// Positions, the first segment added: `[max_tokens, word width]`.
    pub(crate) positions: Vec<f32>,
    pub(crate) norm: Norm,
    /// From the words' width to that of the layers, if they differ.
    pub(crate) projection: Option<Linear>,
}

/// A layer norm.
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

/// One transformer layer.
pub(crate) struct Layer {
    pub(crate) query: Linear,
    pub(crate) key: Linear,
    pub(crate) value: Linear,
    pub(crate) attention: Linear,
    pub(crate) middle_norm: Norm,
    pub(crate) wide: Linear,
    pub(crate) narrow: Linear,
    pub(crate) norm: Norm,
}

/// A linear map, its outputs in one or more blocks.
pub(crate) struct Linear {
    pub(crate) blocks: Vec<Block>,
    pub(crate) outputs: usize,
}

/// Some of the outputs of a linear map.
pub(crate) struct Block {
    pub(crate) matrix: Matrix,
    /// What the integers of each output are multiplied with; zeros fill up the last panel.
    pub(crate) scales: Vec<f32>,
    /// What is added to each output; zeros fill up the last panel.
    pub(crate) bias: Vec<f32>,
}

/// A winner-take-all bucket.
pub(crate) struct Bucket {
    /// Layer whose output it reads; 0 is the embeddings'.
    pub(crate) layer: usize,
    pub(crate) linear: Linear,
    /// Winners per token.
    pub(crate) k: usize,
}

impl Family {
    /// Reads the graph of `file`.
    pub(crate) fn read(file: &[u8]) -> Result<Self> {
        let graph = Graph::read(file)?;
        let mut walk = Walk {
            file,
            graph: &graph,
            at: 0,
            dim: 0,
            heads: 0,
            weights: Vec::new(),
            misfit: None,
        };
        let family = walk.family();
        match walk.misfit {
            None => Ok(family),
            Some(error) => Err(error),
        }
    }

    /// All matrices.
    pub(crate) fn matrices(&mut self) -> impl Iterator<Item = &mut Matrix> {
        let mut all = Vec::new();
        all.extend(&mut self.embeddings.projection);
        all.extend(&mut self.output);
        for layer in &mut self.layers {
            all.extend([&mut layer.query, &mut layer.key, &mut layer.value]);
            all.extend([&mut layer.attention, &mut layer.wide, &mut layer.narrow]);
        }
        all.extend(self.buckets.iter_mut().map(|bucket| &mut bucket.linear));
        let blocks = all.into_iter().flat_map(|linear| &mut linear.blocks);
        blocks.map(|block| &mut block.matrix)
    }
}

/// A place among the nodes of a graph.
///
/// What differs from the family is kept and told at the end, so that the graph is read without a branch for every
/// node. After a difference no bytes of constants are read.
struct Walk<'f> {
    file: &'f [u8],
    graph: &'f Graph<'f>,
    at: usize,
    /// Width of the vectors that are being read of: the words', then the layers'.
    dim: usize,
    heads: usize,
    /// Where the 8-bit constants begin that were read.
    weights: Vec<usize>,
    /// The first difference.
    misfit: Option<LeanError>,
}

/// A linear map and the name of its output.
type Named<'f> = (Linear, &'f str);

impl<'f> Walk<'f> {
    fn family(&mut self) -> Family {
        let (embeddings, first) = self.embeddings();
        let mut outputs = vec![first];
        let mut layers = Vec::new();
        let mut output = None;
        while self.fits() && output.is_none() && outputs.last() != Some(&HIDDEN) {
            let last = outputs.last().copied().unwrap_or_default();
            output = self.linear_if(last, self.dim, |_, name| name == HIDDEN);
            if output.is_none() {
                let (layer, output) = self.layer(last);
                layers.push(layer);
                outputs.push(output);
            }
        }
        let mut buckets = Vec::new();
        while self.fits() && self.at < self.graph.nodes.len() {
            buckets.push(self.bucket(buckets.len(), &outputs));
        }
        Family {
            heads: self.heads,
            width: self.dim,
            embeddings,
            layers,
            output: output.map(|(linear, _)| linear),
            buckets,
        }
    }

    fn embeddings(&mut self) -> (Embeddings, &'f str) {
        let words = self.node("Gather", &[ANY, "input_ids"]);
        let cast = self.node("Cast", &[words.output()]);
        self.check(cast.integers("to") == [1], cast, "a cast to floats");
        let scale = self.node("Gather", &[ANY, "input_ids"]);
        let word = self.node("Mul", &[cast.output(), scale.output()]);
        let table = self.constant(words);
        let (count, dim) = self.two_axes(words, table);
        self.check(dim > 0, words, "word vectors");
        self.dim = dim;
        let scales = self.floats(scale, 0, &[count, 1]);
        let (positions, position) = self.positions();
        let sum = self.node("Add", &[word.output(), position]);
        let (norm, normed) = self.norm(sum.output());
        // The layers read what the map gives; without one, their first linear map reads this too.
        let projection = self.linear_if(normed, dim, |walk, name| walk.next_reads(name));
        let (projection, output) = match projection {
            Some((linear, name)) => (Some(linear), name),
            None => (None, normed),
        };
        self.dim = projection.as_ref().map_or(dim, |linear| linear.outputs);
        let embeddings = Embeddings {
            words: table.place.clone(),
            scales,
            positions,
            norm,
            projection,
        };
        (embeddings, output)
    }

    /// The next linear map, if there is one and it and its output are as wanted; else nothing was read.
    fn linear_if(
        &mut self,
        input: &str,
        inputs: usize,
        is_wanted: fn(&Self, &str) -> bool,
    ) -> Option<Named<'f>> {
        if !self.fits() {
            return None;
        }
        let (at, weights) = (self.at, self.weights.len());
        let (linear, name) = self.linear(input, inputs);
        if self.fits() && is_wanted(self, name) {
            return Some((linear, name));
        }
        (self.at, self.misfit) = (at, None);
        self.weights.truncate(weights);
        None
    }

    /// Whether the next linear map reads `name`.
    fn next_reads(&self, name: &str) -> bool {
        let product = self.graph.nodes.get(self.at + 1);
        product.is_some_and(|product| product.inputs.first() == Some(&name))
    }

    /// The first rows of a table, as many as the text has tokens.
    fn positions(&mut self) -> (Vec<f32>, &'f str) {
        let tokens = self.node("Shape", &["input_ids"]);
        let second = tokens.integers("start") == [1] && tokens.integers("end") == [2];
        self.check(second, tokens, "the number of tokens");
        let slice = self.node("Slice", &[ANY, ANY, tokens.output(), ANY]);
        let from_first = self.integers(slice, 1) == [0] && self.integers(slice, 3) == [0];
        self.check(from_first, slice, "the first rows");
        let table = self.named(slice, 0);
        let (rows, _) = self.two_axes(slice, table);
        (self.floats(slice, 0, &[rows, self.dim]), slice.output())
    }

    fn layer(&mut self, input: &'f str) -> (Layer, &'f str) {
        let dim = self.dim;
        let (query, query_name) = self.linear(input, dim);
        let (key, key_name) = self.linear(input, dim);
        let (value, value_name) = self.linear(input, dim);
        let mixed = self.attention([query_name, key_name, value_name]);
        let (attention, attended) = self.linear(mixed, dim);
        let sum = self.node("Add", &[attended, input]);
        let (middle_norm, middle) = self.norm(sum.output());
        let (wide, wide_name) = self.linear(middle, dim);
        let activated = self.gelu(wide_name);
        let (narrow, narrow_name) = self.linear(activated, wide.outputs);
        let sum = self.node("Add", &[narrow_name, middle]);
        let (norm, output) = self.norm(sum.output());
        let square = [&query, &key, &value, &attention, &narrow];
        let fits = square.iter().all(|linear| linear.outputs == dim);
        self.check(fits, sum, "rows of the width of a token vector");
        let layer = Layer {
            query,
            key,
            value,
            attention,
            middle_norm,
            wide,
            narrow,
            norm,
        };
        (layer, output)
    }

    /// From query, key and value to the joined heads.
    fn attention(&mut self, [query, key, value]: [&'f str; 3]) -> &'f str {
        let query = self.split_heads(query, [0, 2, 1, 3]);
        let key = self.split_heads(key, [0, 2, 3, 1]);
        let value = self.split_heads(value, [0, 2, 1, 3]);
        let scores = self.node("MatMul", &[query, key]);
        let softmax = self.node("Softmax", &[scores.output()]);
        self.check(softmax.integers("axis") == [-1], softmax, "the last axis");
        let mixed = self.node("MatMul", &[softmax.output(), value]);
        let turned = self.node("Transpose", &[mixed.output()]);
        let order = turned.integers("perm") == [0, 2, 1, 3];
        self.check(order, turned, "tokens before heads");
        let joined = self.node("Reshape", &[turned.output(), ANY]);
        let shape = self.integers(joined, 1) == [0, 0, self.dim as i64];
        self.check(shape, joined, "token vectors");
        joined.output()
    }

    fn split_heads(&mut self, input: &str, order: [i64; 4]) -> &'f str {
        let split = self.node("Reshape", &[input, ANY]);
        let (heads, width) = match self.integers(split, 1)[..] {
            [0, 0, heads, width] => (heads, width),
            _ => (0, 0),
        };
        let [heads, width] = [heads, width].map(|count| usize::try_from(count).unwrap_or(0));
        let same = self.heads == 0 || self.heads == heads;
        let whole = heads > 0 && heads.checked_mul(width) == Some(self.dim);
        self.check(same && whole, split, "heads of one width");
        self.heads = heads;
        let turned = self.node("Transpose", &[split.output()]);
        self.check(turned.integers("perm") == order, turned, "heads first");
        turned.output()
    }

    /// `x · (1 + erf(x / √2)) / 2`.
    fn gelu(&mut self, input: &str) -> &'f str {
        let scaled = self.node("Div", &[input, ANY]);
        let erf = self.node("Erf", &[scaled.output()]);
        let gate = self.node("Add", &[erf.output(), ANY]);
        let twice = self.node("Mul", &[input, gate.output()]);
        let halved = self.node("Mul", &[twice.output(), ANY]);
        let figures = [
            (scaled, std::f32::consts::SQRT_2),
            (gate, 1.0),
            (halved, 0.5),
        ];
        for (node, wanted) in figures {
            let found = self.floats(node, 1, &[]);
            self.check(found == [wanted], node, "a Gelu with erf");
        }
        halved.output()
    }

    fn norm(&mut self, input: &str) -> (Norm, &'f str) {
        let node = self.node("LayerNormalization", &[input, ANY, ANY]);
        self.check(node.integers("axis") == [-1], node, "the last axis");
        let epsilon = node.float("epsilon").unwrap_or_default();
        self.check(epsilon > 0.0, node, "an epsilon");
        let norm = Norm {
            weight: self.floats(node, 1, &[self.dim]),
            bias: self.floats(node, 2, &[self.dim]),
            epsilon,
        };
        (norm, node.output())
    }

    /// `input · weight + bias` with the weight in one block or several.
    fn linear(&mut self, input: &str, inputs: usize) -> Named<'f> {
        let mut blocks = vec![];
        let mut names = vec![];
        while blocks.is_empty() || self.fits() && self.next_op() == "DequantizeLinear" {
            let (block, name) = self.block(input, inputs);
            blocks.push(block);
            names.push(name);
        }
        if let [_, _, ..] = names[..] {
            let joined = self.node("Concat", &names);
            self.check(joined.integers("axis") == [-1], joined, "the last axis");
            names = joined.outputs.clone();
        }
        let product = names.first().copied().unwrap_or_default();
        let sum = self.node("Add", &[product, ANY]);
        let outputs = blocks.iter().map(|block| block.matrix.outputs).sum();
        let bias = self.floats(sum, 1, &[outputs]);
        share_bias(&mut blocks, &bias);
        let linear = Linear { blocks, outputs };
        (linear, sum.output())
    }

    /// A product with an 8-bit matrix; its bias is not known yet.
    fn block(&mut self, input: &str, inputs: usize) -> (Block, &'f str) {
        let weight = self.node("DequantizeLinear", &[ANY, ANY]);
        self.check(weight.integers("axis") == [1], weight, "scales of outputs");
        let product = self.node("MatMul", &[input, weight.output()]);
        let integers = self.constant(weight);
        let (rows, outputs) = self.two_axes(weight, integers);
        let fits = rows == inputs && rows <= MAX_INPUTS && outputs > 0;
        self.check(fits, weight, "a matrix that fits its input");
        let outputs = if self.fits() { outputs } else { 0 };
        let mut scales = self.floats(weight, 1, &[outputs]);
        scales.resize(outputs.next_multiple_of(PANEL), 0.0);
        let matrix = Matrix {
            place: integers.place.clone(),
            inputs,
            outputs,
        };
        let block = Block {
            matrix,
            scales,
            bias: vec![],
        };
        (block, product.output())
    }

    fn bucket(&mut self, number: usize, layers: &[&str]) -> Bucket {
        let input = self.graph.nodes.get(self.at + 1);
        let input = input.and_then(|node| node.inputs.first().copied());
        let layer = layers.iter().position(|name| Some(*name) == input);
        if layer.is_none() {
            self.differs("a bucket reads no layer".to_owned());
        }
        let (linear, scores) = self.linear(input.unwrap_or_default(), self.dim);
        let top_k = self.wide_node("TopK", &[scores, ANY]);
        let k = match self.integers(top_k, 1)[..] {
            [k] => usize::try_from(k).unwrap_or(0),
            _ => 0,
        };
        let strongest = ["largest", "sorted"].map(|name| top_k.integers(name) == [1]);
        let last_axis = top_k.integers("axis") == [-1];
        let range = (1..=linear.outputs).contains(&k);
        self.check(strongest == [true; 2] && last_axis && range, top_k, "TopK");
        let winners = top_k.outputs.get(1).copied();
        let named = winners == Some(&format!("winners_{number}"));
        self.check(named, top_k, "winners in their order");
        Bucket {
            layer: layer.unwrap_or_default(),
            linear,
            k,
        }
    }

    fn next_op(&self) -> &'f str {
        self.graph.nodes.get(self.at).map_or("", |node| node.op)
    }

    /// The next node, which must be `op` of these inputs with one output.
    #[cold] // by far the most calls: none of them is worth the bytes of a copy
    fn node(&mut self, op: &str, inputs: &[&str]) -> &'f Node<'f> {
        let node = self.wide_node(op, inputs);
        self.check(node.outputs.len() == 1, node, "one output");
        node
    }

    /// The next node, which must be `op` of these inputs.
    fn wide_node(&mut self, op: &str, inputs: &[&str]) -> &'f Node<'f> {
        let graph = self.graph;
        let Some(node) = graph.nodes.get(self.at) else {
            self.differs(format!("it ends before {op}"));
            return &NO_NODE;
        };
        let same = |(found, wanted): (&&str, &&str)| *wanted == ANY || found == wanted;
        let fits = node.op == op
            && node.inputs.len() == inputs.len()
            && node.inputs.iter().zip(inputs).all(same);
        self.check(fits, node, op);
        self.at += 1;
        node
    }

    /// Whether there has been no difference.
    fn fits(&self) -> bool {
        self.misfit.is_none()
    }

    /// Notes a difference unless `node` is as it is wanted.
    #[cold] // as above
    fn check(&mut self, holds: bool, node: &Node<'_>, wanted: &str) {
        if !holds {
            self.differs(format!("{} `{}` is not {wanted}", node.op, node.output()));
        }
    }

    fn differs(&mut self, reason: String) {
        self.misfit.get_or_insert(LeanError::NotOfFamily { reason });
    }

    /// The 8-bit constant that is the first input of `node`, and of no other node: it is packed in place.
    fn constant(&mut self, node: &Node<'_>) -> &'f Constant {
        let constant = self.named(node, 0);
        let start = constant.place.start;
        self.check(constant.is(Element::Int8), node, "an 8-bit constant");
        self.check(
            !self.weights.contains(&start),
            node,
            "alone with its weights",
        );
        self.weights.push(start);
        constant
    }

    fn named(&mut self, node: &Node<'_>, input: usize) -> &'f Constant {
        let name = node.inputs.get(input).copied().unwrap_or_default();
        let constant = self.graph.constant(name);
        self.check(constant.is_some(), node, "a constant");
        constant.unwrap_or(&NO_CONSTANT)
    }

    /// Rows and columns; zeros for what is not a table, or does not fit.
    fn two_axes(&mut self, node: &Node<'_>, table: &Constant) -> (usize, usize) {
        match table.shape[..] {
            [rows, columns] if self.fits() => (rows, columns),
            _ => {
                self.check(false, node, "a table of two axes");
                (0, 0)
            }
        }
    }

    /// The bytes of a constant; none after a difference.
    fn bytes_of(&self, constant: &Constant) -> &'f [u8] {
        let bytes = self.file.get(constant.place.clone());
        bytes.filter(|_| self.fits()).unwrap_or_default()
    }

    /// The values of an input, which must be finite floats of this shape.
    #[cold] // as above
    fn floats(&mut self, node: &Node<'_>, input: usize, shape: &[usize]) -> Vec<f32> {
        let constant = self.named(node, input);
        let fits = constant.is(Element::Float) && constant.shape == shape;
        self.check(fits, node, "floats of a shape that fits");
        let bytes = self.bytes_of(constant);
        let (values, _) = bytes.as_chunks::<4>();
        let values: Vec<f32> = values
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        let finite = values.iter().all(|value| value.is_finite());
        self.check(finite, node, "finite floats");
        values
    }

    /// The values of an input, a vector of integers.
    #[cold] // as above
    fn integers(&mut self, node: &Node<'_>, input: usize) -> Vec<i64> {
        let constant = self.named(node, input);
        self.check(constant.is(Element::Int64), node, "integers");
        let bytes = self.bytes_of(constant);
        let (values, _) = bytes.as_chunks::<8>();
        values
            .iter()
            .map(|bytes| i64::from_le_bytes(*bytes))
            .collect()
    }
}

/// Gives each block its share of the bias.
fn share_bias(blocks: &mut [Block], bias: &[f32]) {
    let mut rest = bias;
    for block in blocks {
        let (own, others) = rest.split_at(block.matrix.outputs.min(rest.len()));
        block.bias = own.to_vec();
        block.bias.resize(block.scales.len(), 0.0);
        rest = others;
    }
}
