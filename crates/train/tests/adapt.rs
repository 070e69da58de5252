//! `adapt` from a collection to an encoder folder, on the tiny network.

mod tiny;

use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use clap::Parser;
use serde_json::Value;
use siskin_core::encoded::Encode as _;
use siskin_encoder::Encoder;
use siskin_train::adapt::{self, Args};
use siskin_train::{export, queries, synonyms};

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: Args,
}

#[derive(Parser)]
struct Export {
    #[command(flatten)]
    args: export::Args,
}

#[derive(Parser)]
struct Synonyms {
    #[command(flatten)]
    args: synonyms::Args,
}

#[derive(Parser)]
struct Queries {
    #[command(flatten)]
    args: queries::Args,
}

/// What `adapt` is given.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Result<Self> {
        Ok(Self {
            folder: tiny::bench()?,
        })
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn adapt(&self, out: &str, options: &str) -> Result<()> {
        let [animals, zoo, base, out] = ["animals", "zoo", "base", out].map(|name| self.path(name));
        let line = format!("adapt {animals} --from {zoo} --base {base} --out {out} {options}");
        adapt::run(&Command::try_parse_from(line.split_whitespace())?.args)
    }
}

#[test]
fn a_site_gets_dimensions_of_its_own_and_keeps_the_rest() -> Result<()> {
    let bench = Bench::new()?;
    let path = |name: &str| bench.path(name);
    let adapt = |out: &str, options: &str| bench.adapt(out, options);
    adapt("own", "--sample-tokens 300")?;
    let manifest: Value = serde_json::from_slice(&std::fs::read(path("own/encoder.json"))?)?;
    assert_eq!(manifest["buckets"][0]["n"], 24);
    // Nothing is claimed of a base model that is not known.
    assert_eq!(manifest["licence"], "NOASSERTION");
    assert_eq!(manifest["query_mean"][0], 0.01);
    let rows = |name: &str| candle_core::safetensors::load(path(name), &Device::Cpu);
    let (own, zoo) = (rows("own/rows.safetensors")?, rows("zoo/rows.safetensors")?);
    let bytes = |tensor: &Tensor| tensor.flatten_all()?.to_dtype(DType::F32)?.to_vec1::<f32>();
    assert_eq!(
        bytes(&own["static_rows"])?,
        bytes(&zoo["static_rows"])?,
        "kept"
    );
    assert_eq!(own["alone_0.weights"].dims(), [28, 2], "made anew");

    let model = || std::fs::read(path("own/model.onnx"));
    let first = model()?;
    adapt("own", "--sample-tokens 300")?;
    assert!(model()? == first, "the same again");
    let error = format!(
        "{:#}",
        adapt("own", "--sample-tokens 300 --seed 2").unwrap_err()
    );
    assert!(error.contains("or settings: remove it"), "{error}");
    let corpus = path("animals/corpus.jsonl");
    let before = std::fs::read_to_string(&corpus)?;
    std::fs::write(&corpus, before.replacen("cat", "gnu", 1))?;
    let error = format!("{:#}", adapt("own", "--sample-tokens 300").unwrap_err());
    assert!(error.contains("begun with other sites, pages"), "{error}");
    std::fs::write(&corpus, before)?;
    adapt("trained", "--sample-tokens 300 --steps 2")?;
    assert!(std::fs::read(path("trained/model.onnx"))? != first);
    Ok(())
}

#[test]
fn a_folder_without_dimensions_is_free_and_what_others_made_is_left() -> Result<()> {
    let bench = Bench::new()?;
    let path = |name: &str| bench.path(name);
    let adapt = |out: &str, options: &str| bench.adapt(out, options);
    let error = format!("{:#}", adapt("few", "--sample-tokens 5").unwrap_err());
    assert!(error.contains("raise --sample-tokens"), "{error}");
    // Nothing that took time was made: another command may have the folder.
    adapt("few", "--sample-tokens 300")?;
    let error = format!(
        "{:#}",
        adapt("bare", &format!("--texts {}", path("base"))).unwrap_err()
    );
    assert!(
        error.contains("there is no") && error.contains("corpus.jsonl"),
        "{error}"
    );
    assert!(!std::path::Path::new(&path("bare.work")).exists());
    std::fs::create_dir_all(path("work/pairs/animals"))?;
    let options = format!("--sample-tokens 300 --work {}", path("work"));
    let error = format!("{:#}", adapt("other", &options).unwrap_err());
    assert!(error.contains("not made by this command"), "{error}");
    assert!(std::path::Path::new(&path("work/pairs/animals")).exists());
    Ok(())
}

#[test]
fn what_dimensions_do_not_change_is_carried_over() -> Result<()> {
    let bench = Bench::new()?;
    let path = |name: &str| bench.folder.path().join(name);
    let [zoo, animals, base] = ["zoo", "animals", "base"].map(|name| bench.path(name));
    let line =
        format!("queries {zoo} --base {base} --pairs {animals} --batch-queries 16 --steps 5");
    queries::run(&Queries::try_parse_from(line.split_whitespace())?.args)?;
    tiny::write_dict(&path("dict"), tiny::THESAURUS)?;
    let line = format!("synonyms {zoo} --wordnet {}", path("dict").display());
    synonyms::run(&Synonyms::try_parse_from(line.split_whitespace())?.args)?;

    let adapt = || bench.adapt("own", "--sample-tokens 400");
    adapt()?;
    for name in ["queries.safetensors", "synonyms.txt"] {
        let same = std::fs::read(path("own").join(name))? == std::fs::read(path("zoo").join(name))?;
        assert!(same, "{name}");
    }
    let training = |name: &str| tiny::json_of(&path(name).join("encoder.json"));
    let (own, zoo) = (training("own")?, training("zoo")?);
    for note in ["queries", "synonyms"] {
        assert!(own["training"][note].is_object(), "{note}");
        assert_eq!(own["training"][note], zoo["training"][note]);
    }
    let encoder = Encoder::open(path("own"))?;
    let reader = Encoder::open_for_queries(path("own"))?;
    let text = "cat dog elk";
    assert_ne!(reader.encode(text)?.hidden, encoder.encode(text)?.hidden);
    adapt()?;
    assert_eq!(
        Encoder::open(path("own"))?.id(),
        encoder.id(),
        "the same again"
    );

    Ok(())
}

#[test]
fn a_network_that_was_trained_is_carried_over_too() -> Result<()> {
    let bench = Bench::new()?;
    let path = |name: &str| bench.folder.path().join(name);
    let hidden = |name: &str| {
        Ok::<_, anyhow::Error>(Encoder::open(path(name))?.encode("cat dog elk")?.hidden)
    };
    bench.adapt("first", "--sample-tokens 400")?;
    assert!(
        !path("first.work/network").exists(),
        "it is the base model's"
    );
    // As if training had changed the network: the encoder's weights are others than the base model's.
    tiny::write_other_weights(&path("base"))?;
    bench.adapt("own", "--sample-tokens 400")?;
    let pairs = hidden("zoo")?.into_iter().zip(hidden("own")?);
    for (theirs, own) in pairs {
        assert!((theirs - own).abs() < 1e-3, "{theirs} became {own}");
    }
    let id = Encoder::open(path("own"))?.id().to_owned();
    bench.adapt("own", "--sample-tokens 400")?;
    assert_eq!(Encoder::open(path("own"))?.id(), id, "the same again");
    Ok(())
}

#[test]
fn encoders_are_not_mixed_and_not_written_over_what_they_are_made_of() -> Result<()> {
    let bench = Bench::new()?;
    let path = |name: &str| bench.path(name);
    let adapt = |out: &str, options: &str| bench.adapt(out, options);
    adapt("own", "--sample-tokens 300")?;
    let error = format!("{:#}", adapt("zoo", "--sample-tokens 300").unwrap_err());
    assert!(
        error.contains("which the new encoder is made of"),
        "{error}"
    );
    let line = format!(
        "export --base {} --checkpoint {} --rows {} --out {}",
        path("base"),
        path("own.work/checkpoint"),
        path("zoo.work/rows.safetensors"),
        path("mixed")
    );
    let mixed = Export::try_parse_from(line.split_whitespace())?.args;
    let error = format!("{:#}", export::run(&mixed).unwrap_err());
    assert!(error.contains("made for other heads"), "{error}");
    Ok(())
}

#[test]
fn buckets_keep_the_weights_that_they_were_exported_with() -> Result<()> {
    let bench = Bench {
        folder: tempfile::tempdir()?,
    };
    let folder = bench.folder.path();
    tiny::write_base(&folder.join("base"))?;
    let buckets = "2:24:2 1:16:2";
    for (weights, reason) in [
        ("0.5", "has 1 values, and there are 2 buckets"),
        ("0 0", "are all 0"),
        ("1 NaN", "must be 0 to 1000000"),
        ("1 1e39", "must be 0 to 1000000"),
        ("1e-50 0", "are all 0"),
    ] {
        let written =
            tiny::write_encoder_of(folder, buckets, &format!("--bucket-weights {weights}"));
        let error = format!("{:#}", written.unwrap_err());
        assert!(error.contains(reason), "{error}");
        std::fs::remove_dir_all(folder.join("zoo.work"))?;
    }
    tiny::write_encoder_of(folder, buckets, "--bucket-weights 0.3 0.9")?;
    bench.adapt("own", "--sample-tokens 300")?;
    for name in ["zoo", "own"] {
        let shares = Encoder::open(bench.path(name))?.info().bucket_shares();
        assert!((shares[0] - 0.25).abs() < 1e-6, "{shares:?}");
    }
    Ok(())
}
