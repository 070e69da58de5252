//! What an encoder's ONNX file of 8-bit weights holds, read back: its heads, a student's network.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor};
use prost::Message;

use super::messages::{DataType, Model, TensorMessage};
use crate::bert::Config;
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

    /// The head of bucket `j`, of which each token keeps `k` winners.
    ///
    /// # Errors
    /// When there is no such bucket.
    pub fn head(&self, j: usize, k: usize) -> Result<Head> {
        let [weight, bias] = self.linear(&format!("bucket_{j}"))?;
        Head::new(weight, bias, k)
    }

    /// The weights of a student of the shapes `config`, by the names that BERT and ELECTRA publish. The first segment's
    /// vector is part of the positions' here, and 0 itself.
    ///
    /// # Errors
    /// When one is missing.
    pub fn student(&self, config: &Config) -> Result<HashMap<String, Tensor>> {
        let head_width = config.hidden_size / config.num_attention_heads.max(1);
        let mut weights = HashMap::new();
        let words = (self.tensor("words.table")?).broadcast_mul(&self.tensor("words.scales")?)?;
        let positions = self.tensor("positions.table")?;
        let segments = positions.narrow(0, 0, 1)?.zeros_like()?;
        for (name, table) in [
            ("word", words),
            ("position", positions),
            ("token_type", segments),
        ] {
            weights.insert(format!("embeddings.{name}_embeddings.weight"), table);
        }
        let mut insert = |published: &str, [weight, bias]: [Tensor; 2]| {
            weights.insert(format!("{published}.weight"), weight);
            weights.insert(format!("{published}.bias"), bias);
        };
        insert("embeddings.LayerNorm", self.norm("embeddings")?);
        insert("embeddings_project", self.linear("embeddings.projected")?);
        for layer in 0..config.num_hidden_layers {
            let name = format!("layer_{layer}");
            let published = format!("encoder.layer.{layer}");
            let [weight, bias] = self.linear(&format!("{name}.query"))?;
            let query = (head_width as f64).sqrt(); // `write` divides by it
            let query = [(weight * query)?, (bias * query)?];
            insert(&format!("{published}.attention.self.query"), query);
            for (part, of) in [
                ("key", "attention.self.key"),
                ("value", "attention.self.value"),
                ("attention", "attention.output.dense"),
                ("wide", "intermediate.dense"),
                ("narrow", "output.dense"),
            ] {
                let map = self.linear(&format!("{name}.{part}"))?;
                insert(&format!("{published}.{of}"), map);
            }
            let middle = self.norm(&format!("{name}.middle"))?;
            insert(&format!("{published}.attention.output.LayerNorm"), middle);
            insert(&format!("{published}.output.LayerNorm"), self.norm(&name)?);
        }
        insert("output_project", self.linear("hidden")?);
        Ok(weights)
    }

    /// Weight and bias of an 8-bit linear map.
    fn linear(&self, name: &str) -> Result<[Tensor; 2]> {
        let weight = self.int8_rows(name)?.contiguous()?;
        Ok([weight, self.tensor(&format!("{name}.bias"))?])
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
