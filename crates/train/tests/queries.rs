//! `queries` on an encoder of the tiny network: passages stay as they are, and queries are read otherwise.

mod tiny;

use std::path::Path;

use anyhow::Result;
use candle_core::Device;
use candle_core::safetensors::load;
use clap::Parser;
use serde_json::json;
use siskin_core::encoded::Encode as _;
use siskin_encoder::{Encoder, Engine, QueryFiles};
use siskin_train::{export, queries};

#[derive(Parser)]
#[command(args_override_self = true)]
struct Queries {
    #[command(flatten)]
    args: queries::Args,
}

#[derive(Parser)]
struct Export {
    #[command(flatten)]
    args: export::Args,
}

fn run(folder: &Path, options: &str) -> Result<()> {
    let [zoo, base, animals] =
        ["zoo", "base", "animals"].map(|name| folder.join(name).display().to_string());
    let line = format!(
        "queries {zoo} --base {base} --pairs {animals} --batch-queries 16 --learning-rate 0.02 \
         --warm-up-steps 2 --measure-every 10 {options}"
    );
    queries::run(&Queries::try_parse_from(line.split_whitespace())?.args)
}

#[test]
fn queries_are_read_otherwise_and_passages_as_before() -> Result<()> {
    let folder = tiny::bench()?;
    let path = |name: &str| folder.path().join(name);
    let zoo = path("zoo");
    let before = Encoder::open(&zoo)?;
    let model = std::fs::read(zoo.join("model.onnx"))?;
    let same = Encoder::open_for_queries(&zoo)?;
    assert_eq!(same.id(), before.id(), "it reads both alike");

    run(folder.path(), "--steps 0")?;
    let untouched = QueryFiles::read(&zoo)?;
    assert!(untouched.model == model, "no step, and yet another network");

    run(folder.path(), "--steps 20")?;
    let after = Encoder::open(&zoo)?;
    let reader = Encoder::open_for_queries(&zoo)?;
    assert_ne!(after.id(), before.id());
    assert!(std::fs::read(zoo.join("model.onnx"))? == model);
    let text = "cat dog elk";
    assert_eq!(after.encode(text)?.hidden, before.encode(text)?.hidden);
    assert_ne!(reader.encode(text)?.hidden, before.encode(text)?.hidden);
    assert_eq!(reader.manifest().queries_for.as_deref(), Some(after.id()));
    let info = after.info_read_by(&reader)?;
    assert_eq!(info.query_id.as_deref(), Some(reader.id()));
    assert!(!info.smaller_reader);
    // What is written for a page is read by both engines alike.
    let files = QueryFiles::read(&zoo)?;
    let by_tract = Encoder::open_files_with(
        Some(Engine::Tract),
        (&files.manifest, &files.tokenizer, files.model.into()),
    )?;
    let [lean, tract] = [&reader, &by_tract].map(|encoder| encoder.encode_query(text));
    let (lean, tract) = (lean?.dense, tract?.dense);
    let cosine: f32 = lean.iter().zip(&tract).map(|(a, b)| a * b).sum();
    assert!(cosine > 0.999, "{cosine}");

    let made = &tiny::json_of(&zoo.join("encoder.json"))?["training"]["queries"];
    let both = |when: &str| made[when]["animals"]["both"].as_f64();
    let (begun, ended) = (both("held_out_before"), both("held_out_after"));
    assert!(
        begun.is_some() && ended.is_some() && begun != ended,
        "{made}"
    );
    let id = after.id().to_owned();
    run(folder.path(), "--steps 20")?;
    assert_eq!(Encoder::open(&zoo)?.id(), id, "the same again");
    Ok(())
}

#[test]
fn a_run_that_was_stopped_goes_on_as_if_it_had_not_been() -> Result<()> {
    let folder = tiny::bench()?;
    let path = |name: &str| folder.path().join(name);
    let begun = Encoder::open(path("zoo"))?.id().to_owned();
    std::fs::create_dir(path("before"))?;
    for file in std::fs::read_dir(path("zoo"))? {
        let file = file?;
        std::fs::copy(file.path(), path("before").join(file.file_name()))?;
    }
    run(folder.path(), "--steps 20")?;
    let whole = Encoder::open(path("zoo"))?.id().to_owned();
    let metrics = std::fs::read_to_string(path("zoo.queries/metrics.jsonl"))?;
    assert_eq!(metrics.lines().count(), 20 + 3, "{metrics}");
    std::fs::remove_dir_all(path("zoo"))?;
    std::fs::rename(path("before"), path("zoo"))?;

    run(folder.path(), "--steps 20 --stop-after 7")?;
    let refused = |options: &str, reason: &str| {
        let error = format!("{:#}", run(folder.path(), options).unwrap_err());
        assert!(error.contains(reason), "{error}");
    };
    refused("--steps 20 --stop-after 0", "--stop-after is 1 at least");
    refused("--steps 20", "zoo.queries holds a run: go on by --resume");
    refused("--steps 21 --resume", "with --steps 20 (not 21)");
    refused("--steps 20 --resume --work elsewhere", "no run to resume");
    run(folder.path(), "--steps 20 --stop-after 6 --resume")?;
    assert_eq!(Encoder::open(path("zoo"))?.id(), begun, "13 of 20 steps");

    let judgments = path("animals/qrels/train.tsv");
    let all = std::fs::read_to_string(&judgments)?;
    let last = all.trim_end().rfind('\n').unwrap();
    std::fs::write(&judgments, &all[..last])?;
    refused("--steps 20 --resume", "same --pairs");
    std::fs::write(&judgments, all)?;

    run(folder.path(), "--steps 20 --resume")?;
    assert_eq!(Encoder::open(path("zoo"))?.id(), whole);
    let again = std::fs::read_to_string(path("zoo.queries/metrics.jsonl"))?;
    assert_eq!(again, metrics);
    refused("--steps 20 --resume", "no run to resume");
    Ok(())
}

/// What a link leads to is rewritten, whatever else lies in it.
#[cfg(unix)]
#[test]
fn an_encoder_behind_a_link_is_rewritten_in_its_place() -> Result<()> {
    let folder = tiny::bench()?;
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("store"))?;
    std::fs::rename(path("zoo"), path("store/zoo-1"))?;
    std::os::unix::fs::symlink(path("store/zoo-1"), path("zoo"))?;
    std::fs::create_dir(path("zoo/notes"))?;
    std::fs::write(path("zoo/notes/card.md"), "of the zoo")?;
    let before = Encoder::open(path("zoo"))?.id().to_owned();
    run(folder.path(), "--steps 5")?;
    assert_ne!(Encoder::open(path("store/zoo-1"))?.id(), before);
    assert!(path("zoo").is_symlink());
    let kept = std::fs::read_to_string(path("store/zoo-1/notes/card.md"))?;
    assert_eq!(kept, "of the zoo");
    Ok(())
}

#[test]
fn an_encoder_of_32_bit_weights_gets_them_too() -> Result<()> {
    let folder = tiny::bench()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let line = format!(
        "export --base {} --checkpoint {} --rows {} --out {} --quantization f32",
        path("base"),
        path("zoo.work/checkpoint"),
        path("zoo.work/rows.safetensors"),
        path("zoo")
    );
    export::run(&Export::try_parse_from(line.split_whitespace())?.args)?;
    run(folder.path(), "--steps 5")?;
    let (zoo, text) = (path("zoo"), "cat dog elk");
    let own = Encoder::open(&zoo)?.encode(text)?.hidden;
    assert_ne!(Encoder::open_for_queries(&zoo)?.encode(text)?.hidden, own);
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_changed() -> Result<()> {
    let folder = tiny::bench()?;
    let path = |name: &str| folder.path().join(name);
    let before = Encoder::open(path("zoo"))?;
    let refused = |options: &str, reason: &str| {
        let error = format!("{:#}", run(folder.path(), options).unwrap_err());
        assert!(error.contains(reason), "{error}");
        assert_eq!(Encoder::open(path("zoo")).unwrap().id(), before.id());
    };
    refused("--steps 1 --batch-queries 0", "--batch-queries");
    refused("--steps 1 --queries 0", "--queries");
    refused("--steps 1 --faded 1.5", "it must be a share");
    refused("--steps 1 --max-gradient-norm 0", "above 0");
    let animals = path("animals").display().to_string();
    refused(
        &format!("--steps 1 --pairs {animals} {animals}"),
        "the same name",
    );
    let zoo = path("zoo").display().to_string();
    refused(
        &format!("--steps 1 --students {zoo}"),
        "for no other encoder",
    );
    refused(
        "--steps 1 --learning-rate 1e39",
        "values that are no numbers",
    );
    refused("--steps 5 --learning-rate 1e30", "lower");
    refused("--steps 5", "zoo.queries holds a run");
    std::fs::remove_dir_all(path("zoo.queries"))?;
    std::fs::create_dir(path("student"))?;
    let mut manifest = tiny::json_of(&path("zoo/encoder.json"))?;
    manifest["queries_for"] = json!("of another encoder");
    std::fs::write(path("student/encoder.json"), manifest.to_string())?;
    let student = path("student").display().to_string();
    refused(
        &format!("--steps 1 --students {student}"),
        "reads queries for",
    );
    assert!(!path("zoo.queries").exists(), "refused before a step");
    std::fs::remove_file(path("animals/qrels/train.tsv"))?;
    refused("--steps 1", "fewer than two training judgments");
    Ok(())
}

/// As if training had changed the network that `base` was: the encoder's weights are others than the base model's.
#[test]
fn a_network_that_was_trained_is_read_back_from_the_encoder() -> Result<()> {
    let folder = tiny::bench()?;
    let path = |name: &str| folder.path().join(name);
    let learned = || {
        run(folder.path(), "--steps 1 --learning-rate 0.001")?;
        Ok::<_, anyhow::Error>(load(path("zoo/queries.safetensors"), &Device::Cpu)?)
    };
    let of_the_base = learned()?;
    tiny::write_other_weights(&path("base"))?;
    let read_back = learned()?;
    let mut compared = 0;
    for (name, values) in &of_the_base {
        // What a step leaves as it is stands in neither file, or in one of them by rounding.
        if let Some(others) = read_back.get(name) {
            let difference = (values - others)?.abs()?.flatten_all()?.max(0)?;
            // A step is 0.001 at most, once in each run.
            let difference = difference.to_scalar::<f32>()?;
            assert!(difference < 0.003, "{name} differs by {difference}");
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
    Ok(())
}

#[test]
fn a_base_model_of_other_shapes_or_word_pieces_is_refused() -> Result<()> {
    let folder = tiny::bench()?;
    let path = |name: &str| folder.path().join(name);
    let refused = |reason: &str| {
        let error = format!("{:#}", run(folder.path(), "--steps 1").unwrap_err());
        assert!(error.contains(reason), "{error}");
        assert!(error.contains("was not made of"), "{error}");
    };
    let tokenizer = path("base/tokenizer.json");
    let text = std::fs::read_to_string(&tokenizer)?;
    std::fs::write(&tokenizer, text.replace("\"yak\"", "\"auk\""))?;
    refused("its word pieces are others");
    std::fs::write(&tokenizer, text)?;
    let mut config = tiny::json_of(&path("base/config.json"))?;
    config["num_hidden_layers"] = json!(1);
    std::fs::write(path("base/config.json"), config.to_string())?;
    refused("was not made of");
    Ok(())
}
