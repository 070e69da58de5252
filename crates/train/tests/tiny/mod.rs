//! A tiny random BERT with a tokenizer and a collection, written to a folder.

// Each test binary uses a part of it.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use clap::Parser as _;
use safetensors::serialize;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};
use siskin_train::bert::Config;
use siskin_train::random::Random;
use siskin_train::{export, fit, rows};

/// Words of the vocabulary, after the special pieces.
const WORDS: [&str; 24] = [
    "ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibex", "jay", "kite", "lark", "mole",
    "newt", "owl", "pig", "quail", "rat", "seal", "toad", "urial", "vole", "wren", "yak",
];

/// Shapes of the tiny network.
pub fn config() -> Config {
    Config {
        vocab_size: WORDS.len() + 4,
        hidden_size: 8,
        num_hidden_layers: 2,
        num_attention_heads: 2,
        intermediate_size: 12,
        max_position_embeddings: 128,
        layer_norm_eps: 1e-12,
        embedding_size: None,
        output_size: None,
    }
}

/// Random weights under the names that a real model has.
pub fn weights(dtype: DType) -> Result<HashMap<String, Tensor>> {
    let mut random = Random::new(11, 0);
    let mut weights = HashMap::new();
    for (name, shape) in shapes(&config()) {
        let offset = if name.ends_with("LayerNorm.weight") {
            1.0
        } else {
            0.0
        };
        let count = shape.iter().product();
        let values: Vec<f64> = (0..count).map(|_| offset + random.unit() - 0.5).collect();
        let tensor = Tensor::from_vec(values, shape, &Device::Cpu)?;
        weights.insert(name, tensor.to_dtype(dtype)?);
    }
    Ok(weights)
}

/// Names and shapes of a network's tensors.
fn shapes(config: &Config) -> Vec<(String, Vec<usize>)> {
    let (dim, wide) = (config.hidden_size, config.intermediate_size);
    let embeddings = [
        ("word_embeddings.weight", vec![config.vocab_size, dim]),
        (
            "position_embeddings.weight",
            vec![config.max_position_embeddings, dim],
        ),
        ("token_type_embeddings.weight", vec![2, dim]),
        ("LayerNorm.weight", vec![dim]),
        ("LayerNorm.bias", vec![dim]),
    ];
    let mut shapes: Vec<_> = embeddings
        .into_iter()
        .map(|(name, shape)| (format!("embeddings.{name}"), shape))
        .collect();
    for layer in 0..config.num_hidden_layers {
        let layer = format!("encoder.layer.{layer}");
        for (part, output, input) in [
            ("attention.self.query", dim, dim),
            ("attention.self.key", dim, dim),
            ("attention.self.value", dim, dim),
            ("attention.output.dense", dim, dim),
            ("intermediate.dense", wide, dim),
            ("output.dense", dim, wide),
        ] {
            shapes.push((format!("{layer}.{part}.weight"), vec![output, input]));
            shapes.push((format!("{layer}.{part}.bias"), vec![output]));
        }
        for norm in ["attention.output.LayerNorm", "output.LayerNorm"] {
            shapes.push((format!("{layer}.{norm}.weight"), vec![dim]));
            shapes.push((format!("{layer}.{norm}.bias"), vec![dim]));
        }
    }
    shapes
}

/// Writes the tiny model to `folder` as `fit --base` reads it.
pub fn write_base(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(
        folder.join("config.json"),
        serde_json::to_string(&config())?,
    )?;
    candle_core::safetensors::save(&weights(DType::F32)?, folder.join("model.safetensors"))?;
    std::fs::write(folder.join("tokenizer.json"), tokenizer().to_string())?;
    Ok(())
}

/// Gives the base model in `folder` weights that are three times as large.
pub fn write_other_weights(folder: &Path) -> Result<()> {
    let larger = |(name, weight): (String, Tensor)| Ok((name, (weight * 3.0)?));
    let weights: HashMap<_, _> = (weights(DType::F32)?.into_iter())
        .map(larger)
        .collect::<Result<_>>()?;
    candle_core::safetensors::save(&weights, folder.join("model.safetensors"))?;
    Ok(())
}

fn tokenizer() -> serde_json::Value {
    let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
    let pieces = special.iter().chain(&WORDS).enumerate();
    let vocabulary: HashMap<&str, usize> = pieces.map(|(id, &piece)| (piece, id)).collect();
    let added: Vec<_> = special
        .iter()
        .enumerate()
        .map(|(id, content)| {
            json!({ "id": id, "special": true, "content": content, "single_word": false,
                "lstrip": false, "rstrip": false, "normalized": false })
        })
        .collect();
    let bare = |piece: &str| json!({ "SpecialToken": { "id": piece, "type_id": 0 } });
    let text = json!({ "Sequence": { "id": "A", "type_id": 0 } });
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
        "normalizer": { "type": "BertNormalizer", "clean_text": true,
            "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": { "type": "TemplateProcessing",
            "single": [bare("[CLS]"), text, bare("[SEP]")],
            "pair": [bare("[CLS]"), text, bare("[SEP]"), { "Sequence": { "id": "B", "type_id": 1 } }, bare("[SEP]")],
            "special_tokens": {
                "[CLS]": { "id": "[CLS]", "ids": [2], "tokens": ["[CLS]"] },
                "[SEP]": { "id": "[SEP]", "ids": [3], "tokens": ["[SEP]"] } } },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary },
    })
}

/// Writes what `fit --rows` reads of an encoder of the tiny network: a mean query and random static rows, those of
/// pieces 4 and 5, 6 and 7, … alike. `vocab_size` of them, or another number.
pub fn write_rows(folder: &Path, pieces: usize) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let dim = config().hidden_size;
    let manifest = json!({
        "format": 1, "name": "released", "base": "tiny", "licence": "CC0-1.0", "quantization": "int8", "dim": dim,
        "max_tokens": 16, "buckets": [{ "layer": 2, "n": 24, "k": 2 }], "query_mean": vec![0.01; dim], "files": {},
        "training": {},
    });
    std::fs::write(folder.join("encoder.json"), manifest.to_string())?;
    let nibbles: Vec<u8> = (0..pieces as u64)
        .flat_map(|piece| {
            let mut random = Random::new(17, piece / 2);
            (0..dim / 2).map(move |_| random.below(256) as u8)
        })
        .collect();
    // 0.5 as a 16-bit float.
    let scales: Vec<u8> = (0..pieces).flat_map(|_| 0x3800_u16.to_le_bytes()).collect();
    let rows = TensorView::new(Dtype::U8, vec![pieces, dim / 2], &nibbles)?;
    let scales = TensorView::new(Dtype::F16, vec![pieces], &scales)?;
    let tensors = [("static_rows", rows), ("static_scale", scales)];
    std::fs::write(folder.join("rows.safetensors"), serialize(tensors, None)?)?;
    Ok(())
}

/// A file's JSON.
pub fn json_of(path: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

/// Writes a file of synonyms: for each word the next one.
pub fn write_synonyms(path: &Path) -> Result<()> {
    let mut lines = String::new();
    for (word, next) in WORDS.iter().zip(WORDS.iter().cycle().skip(1)) {
        writeln!(lines, "{word}\t{next}")?;
    }
    Ok(std::fs::write(path, lines)?)
}

/// A thesaurus in which *seal* is *stamp* first and *fox* never, and what a *stamp* is the encoder does not know.
pub fn write_dict(folder: &Path, data: &str) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for part in ["noun", "verb", "adj", "adv"] {
        for kind in ["data", "index"] {
            std::fs::write(folder.join(format!("{kind}.{part}")), "")?;
        }
    }
    std::fs::write(folder.join("data.noun"), data)?;
    let index = "seal n 2 1 @ 2 0 00000001 00000002\nstamp n 1 0 1 0 00000001\n";
    Ok(std::fs::write(folder.join("index.noun"), index)?)
}

/// Its nouns, as `data.noun` has them.
pub const THESAURUS: &str = "  1 WordNet 3.1 Copyright 2011 by Princeton University.\n\
    00000001 06 n 02 seal 0 stamp 0 000 | a mark\n\
    00000002 05 n 02 seal 0 Newts 0 001 @ 00000003 n 0000 | an animal\n\
    00000003 05 n 02 mole 0 vole 0 000 | animals\n";

#[derive(clap::Parser)]
struct Fit {
    #[command(flatten)]
    args: fit::Args,
}

#[derive(clap::Parser)]
struct Rows {
    #[command(flatten)]
    args: rows::Args,
}

#[derive(clap::Parser)]
struct Export {
    #[command(flatten)]
    args: export::Args,
}

/// A folder with the tiny network as `base`, a collection, `animals`, and an encoder of both, `zoo`.
pub fn bench() -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    write_base(&folder.path().join("base"))?;
    write_encoder(folder.path())?;
    Ok(folder)
}

/// Writes into `folder`, which holds `base`, a collection `animals` and an encoder `zoo` of both.
pub fn write_encoder(folder: &Path) -> Result<()> {
    write_encoder_of(folder, "2:24:2", "")
}

/// The same with other buckets, and with options of `export`.
pub fn write_encoder_of(folder: &Path, buckets: &str, options: &str) -> Result<()> {
    write_collection(&folder.join("animals"), 60)?;
    write_rows(&folder.join("released"), config().vocab_size)?;
    let path = |name: &str| folder.join(name).display().to_string();
    let [animals, released, base] = ["animals", "released", "base"].map(path);
    let [checkpoint, rows] = ["zoo.work/checkpoint", "zoo.work/rows.safetensors"].map(path);
    let line = format!(
        "fit --init-only --base {base} --pairs {animals} --out {checkpoint} --buckets {buckets} --sample-tokens 300"
    );
    fit::run(&Fit::try_parse_from(line.split_whitespace())?.args)?;
    let line = format!(
        "rows --base {base} --checkpoint {checkpoint} --keep {released} --texts {animals} --out {rows}"
    );
    rows::run(&Rows::try_parse_from(line.split_whitespace())?.args)?;
    let line = format!(
        "export --base {base} --checkpoint {checkpoint} --rows {rows} --out {} {options}",
        path("zoo")
    );
    export::run(&Export::try_parse_from(line.split_whitespace())?.args)
}

/// Writes a collection of `size` pairs: a query is two words of its passage.
pub fn write_collection(folder: &Path, size: usize) -> Result<()> {
    std::fs::create_dir_all(folder.join("qrels"))?;
    let mut random = Random::new(13, 0);
    let (mut corpus, mut queries) = (String::new(), String::new());
    let mut judgments = "query-id\tcorpus-id\tscore\n".to_owned();
    for id in 0..size {
        let words: Vec<&str> = (0..7).map(|_| WORDS[random.below(WORDS.len())]).collect();
        let passage =
            json!({ "_id": format!("p{id}"), "title": words[0], "text": words[1..].join(" ") });
        let query = json!({ "_id": format!("q{id}"), "text": words[2..4].join(" ") });
        writeln!(corpus, "{passage}")?;
        writeln!(queries, "{query}")?;
        writeln!(judgments, "q{id}\tp{id}\t1")?;
    }
    std::fs::write(folder.join("corpus.jsonl"), corpus)?;
    std::fs::write(folder.join("queries.jsonl"), queries)?;
    std::fs::write(folder.join("qrels/train.tsv"), judgments)?;
    Ok(())
}
