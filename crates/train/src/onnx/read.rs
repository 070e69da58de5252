//! What an encoder's ONNX file holds, read back: its heads, its network.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor};
use prost::Message;

use super::messages::{DataType, Model, TensorMessage};
use crate::bert::Config;
use crate::checkpoint::Bucket;
use crate::wta::Head;

/// The constants of a file that [`super::write`] made.
pub struct Written {
    constants: HashMap<String, TensorMessage>,
}

impl Written {
    /// Reads the file.
    ///
    /// # Errors
    /// When the bytes are no ONNX file.
    pub fn read(onnx: &[u8]) -> Result<Self> {
        let graph = Model::decode(onnx)?.graph.context("it has no graph")?;
        let constants = graph.initializer.into_iter();
        Ok(Self {
            constants: constants.map(|each| (each.name.clone(), each)).collect(),
        })
    }

    /// Word pieces that the network knows.
    ///
    /// # Errors
    /// When it has no table of them.
    pub fn pieces(&self) -> Result<usize> {
        let table = self.constants.get("words.table");
        let rows = table.and_then(|table| usize::try_from(*table.dims.first()?).ok());
        rows.context("it has no words.table")
    }

    /// Transformer layers.
    pub fn layers(&self) -> usize {
        let exists = |layer: &usize| {
            let name = format!("layer_{layer}.narrow.bias");
            self.constants.contains_key(&name)
        };
        (0..).take_while(exists).count()
    }

    /// The heads of the file's buckets.
    ///
    /// # Errors
    /// When it lacks one.
    pub fn heads(&self, buckets: &[Bucket]) -> Result<Vec<Head>> {
        let head = |(j, bucket): (usize, &Bucket)| {
            let [weight, bias] = self.linear(&format!("bucket_{j}"))?;
            Head::new(weight, bias, bucket.k)
        };
        buckets.iter().enumerate().map(head).collect()
    }

    /// The weights of a network of the shapes `config`, by the names that BERT and ELECTRA publish. The first segment's
    /// vector is part of the positions' here, and 0 itself; positions are as many as the network reads.
    ///
    /// # Errors
    /// When one is missing.
    pub fn network(&self, config: &Config) -> Result<HashMap<String, Tensor>> {
        let positions = self.tensor("positions.table")?;
        let segments = positions.narrow(0, 0, 1)?.zeros_like()?;
        let tables = [
            ("word", self.words()?),
            ("position", positions),
            ("token_type", segments),
        ];
        let named = |(name, table)| (format!("embeddings.{name}_embeddings.weight"), table);
        let mut weights = HashMap::from(tables.map(named));
        let mut insert = |published: &str, [weight, bias]: [Tensor; 2]| {
            weights.insert(format!("{published}.weight"), weight);
            weights.insert(format!("{published}.bias"), bias);
        };
        insert("embeddings.LayerNorm", self.norm("embeddings")?);
        if config.embedding_size.is_some() {
            insert("embeddings_project", self.linear("embeddings.projected")?);
        }
        for layer in 0..config.num_hidden_layers {
            for (part, map) in self.layer(layer, config)? {
                insert(&format!("encoder.layer.{layer}.{part}"), map);
            }
        }
        if config.output_size.is_some() {
            insert("output_project", self.linear("hidden")?);
        }
        Ok(weights)
    }

    /// A layer's maps and norms, by what is published below its name.
    fn layer(&self, layer: usize, config: &Config) -> Result<Vec<(&'static str, [Tensor; 2])>> {
        let name = format!("layer_{layer}");
        let linear = |part: &str| self.linear(&format!("{name}.{part}"));
        // `write` calls the last layer's so, unless a map follows it.
        let is_last = layer + 1 == config.num_hidden_layers && config.output_size.is_none();
        let output = if is_last { "hidden" } else { name.as_str() };
        let head_width = config.hidden_size / config.num_attention_heads.max(1);
        let divisor = (head_width as f64).sqrt(); // `write` divides by it
        let [weight, bias] = linear("query")?;
        Ok(vec![
            (
                "attention.self.query",
                [(weight * divisor)?, (bias * divisor)?],
            ),
            ("attention.self.key", linear("key")?),
            ("attention.self.value", linear("value")?),
            ("attention.output.dense", linear("attention")?),
            (
                "attention.output.LayerNorm",
                self.norm(&format!("{name}.middle"))?,
            ),
            ("intermediate.dense", linear("wide")?),
            ("output.dense", linear("narrow")?),
            ("output.LayerNorm", self.norm(output)?),
        ])
    }

    /// Vectors of word pieces, `[pieces, width]`.
    fn words(&self) -> Result<Tensor> {
        let table = self.tensor("words.table")?;
        match self.constants.contains_key("words.scales") {
            true => Ok(table.broadcast_mul(&self.tensor("words.scales")?)?),
            false => Ok(table),
        }
    }

    /// Weight and bias of a linear map.
    fn linear(&self, name: &str) -> Result<[Tensor; 2]> {
        let floats = format!("{name}.weight");
        let weight = match self.constants.contains_key(&floats) {
            true => self.tensor(&floats)?.t()?,
            false => self.int8_rows(name)?,
        };
        Ok([weight.contiguous()?, self.tensor(&format!("{name}.bias"))?])
    }

    /// Weight and bias of a norm.
    fn norm(&self, name: &str) -> Result<[Tensor; 2]> {
        let part = |part: &str| self.tensor(&format!("{name}.norm_{part}"));
        Ok([part("weight")?, part("bias")?])
    }

    /// Constants of floats that `other` has with other values, by name.
    ///
    /// # Errors
    /// When `other` lacks one, or has it in another shape.
    pub fn floats_that_differ(&self, other: &Self) -> Result<Vec<(String, Tensor)>> {
        let is_float = |each: &&TensorMessage| each.data_type == DataType::Float as i32;
        let mut changed = Vec::new();
        for (name, own) in &self.constants {
            if !is_float(&own) {
                continue;
            }
            let theirs = other.constants.get(name);
            let theirs = theirs.filter(|theirs| theirs.dims == own.dims && is_float(theirs));
            let theirs = theirs.with_context(|| format!("one has no {name}, or another"))?;
            if theirs.raw_data != own.raw_data {
                changed.push((name.clone(), self.tensor(name)?));
            }
        }
        changed.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(changed)
    }

    /// An 8-bit matrix in one block or several: `[outputs, inputs]`.
    fn int8_rows(&self, name: &str) -> Result<Tensor> {
        let whole = format!("{name}.product");
        if self.constants.contains_key(&format!("{whole}.int8")) {
            return self.int8_block(&whole);
        }
        let (mut blocks, mut outputs) = (Vec::new(), 0);
        while self
            .constants
            .contains_key(&format!("{whole}_{outputs}.int8"))
        {
            let block = self.int8_block(&format!("{whole}_{outputs}"))?;
            outputs += block.dim(0)?;
            blocks.push(block);
        }
        ensure!(!blocks.is_empty(), "it has no matrix {name}");
        Ok(Tensor::cat(&blocks, 0)?)
    }

    fn int8_block(&self, name: &str) -> Result<Tensor> {
        let integers = self.tensor(&format!("{name}.int8"))?;
        let scales = self.tensor(&format!("{name}.scales"))?;
        Ok(integers.broadcast_mul(&scales)?.t()?)
    }

    /// A constant as floats.
    fn tensor(&self, name: &str) -> Result<Tensor> {
        let constant = self.constants.get(name);
        let constant = constant.with_context(|| format!("it has no {name}"))?;
        let bytes = &constant.raw_data;
        let values: Vec<f32> = match DataType::try_from(constant.data_type) {
            Ok(DataType::Float) => {
                let (values, _) = bytes.as_chunks::<4>();
                values
                    .iter()
                    .map(|bytes| f32::from_le_bytes(*bytes))
                    .collect()
            }
            Ok(DataType::Int8) => bytes.iter().map(|byte| f32::from(*byte as i8)).collect(),
            _ => anyhow::bail!("{name} holds neither floats nor 8-bit integers"),
        };
        let shape = constant.dims.iter().map(|dim| usize::try_from(*dim));
        let shape = shape.collect::<Result<Vec<_>, _>>();
        let shape = shape.with_context(|| format!("{name} has a negative axis"))?;
        Tensor::from_vec(values, shape, &Device::Cpu).with_context(|| format!("{name} is cut off"))
    }
}
