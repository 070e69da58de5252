//! `fit` from the command line's arguments to files, on a tiny network.

mod tiny;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use clap::Parser;
use siskin_train::base::Base;
use siskin_train::checkpoint::Checkpoint;
use siskin_train::collection::Collection;
use siskin_train::fit::data::Data;
use siskin_train::fit::paraphrase::synonyms;
use siskin_train::fit::settings::Settings;
use siskin_train::fit::static_queries::StaticRows;
use siskin_train::fit::{self, Args, recipe};
use siskin_train::tokenize::Tokenizer;
use siskin_train::{export, fetch, measure, mine};

#[derive(Parser)]
#[command(args_override_self = true)]
struct Command {
    #[command(flatten)]
    args: Args,
}

#[derive(Parser)]
struct BaseCommand {
    #[command(flatten)]
    args: fetch::Args,
}

#[derive(Parser)]
struct ExportCommand {
    #[command(flatten)]
    args: export::Args,
}

#[derive(Parser)]
struct MineCommand {
    #[command(flatten)]
    args: mine::Args,
}

/// A base model and a collection in a temporary folder.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        tiny::write_base(&folder.path().join("base"))?;
        tiny::write_collection(&folder.path().join("animals"), 60)?;
        tiny::write_rows(&folder.path().join("rows"), tiny::config().vocab_size)?;
        tiny::write_synonyms(&folder.path().join("synonyms.tsv"))?;
        Ok(Self { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn fit(&self, out: &str, options: &str) -> Result<()> {
        let [base, pairs, out] =
            ["base", "animals", out].map(|name| self.path(name).display().to_string());
        let fixed = "--sample-tokens 300 --batch-pairs 6 --steps 8 --warm-up-steps 2 \
            --held-out-queries 8 --head-learning-rate 0.01 --checkpoint-every 3";
        let options = options.replace("ROWS", &self.path("rows").display().to_string());
        let options = options.replace("SYNONYMS", &self.path("synonyms.tsv").display().to_string());
        let line = format!("fit --base {base} --pairs {pairs} --out {out} {fixed} {options}");
        fit::run(&Command::try_parse_from(line.split_whitespace())?.args)
    }

    /// An encoder of 32-bit weights, without rows or with those in a file.
    fn export(&self, checkpoint: &str, rows: Option<&str>, out: &str) -> Result<()> {
        let path = |name: &str| self.path(name).display().to_string();
        let [base, checkpoint, out] = ["base", checkpoint, out].map(path);
        let rows = rows.map_or_else(String::new, |rows| format!("--rows {}", path(rows)));
        let line = format!(
            "export --base {base} --checkpoint {checkpoint} {rows} --out {out} --quantization f32"
        );
        export::run(&ExportCommand::try_parse_from(line.split_whitespace())?.args)
    }

    fn file(&self, out: &str, name: &str) -> Result<Vec<u8>> {
        Ok(std::fs::read(self.path(out).join(name))?)
    }

    fn metrics(&self, out: &str) -> Result<Vec<serde_json::Value>> {
        let text = String::from_utf8(self.file(out, "metrics.jsonl")?)?;
        text.lines()
            .map(|line| Ok(serde_json::from_str(line)?))
            .collect()
    }
}

/// Two buckets, sparse weights, rarity learned, even dimensions, the backbone trained, dense vectors and
/// static queries too, BM25 beside them, queries in other words. `ROWS` stands for the folder of an encoder's rows.
const EVERYTHING: &str = "--buckets 2:24:2 0:16:2 --weight-sparsity 0.5 --rarity learned \
    --duty-cycle 0.2 --backbone-learning-rate 0.001 --dense 0.5 --static-queries 0.7 --row-learning-rate 0.01 \
    --keep-rows 0.1 --words 0.5 --swap-words 0.5 --leave-out-words 0.5 --rows ROWS";

#[test]
fn a_resumed_run_equals_an_uninterrupted_one_bit_for_bit() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit("whole", EVERYTHING)?;
    bench.fit("parts", &format!("{EVERYTHING} --stop-after 4"))?;
    assert_ne!(
        bench.file("whole", "heads.safetensors")?,
        bench.file("parts", "heads.safetensors")?
    );
    bench.fit("parts", &format!("{EVERYTHING} --resume"))?;
    for name in ["heads", "backbone", "static_rows", "optimizer"] {
        let name = format!("{name}.safetensors");
        let same = bench.file("whole", &name)? == bench.file("parts", &name)?;
        assert!(same, "{name}");
    }
    assert_eq!(
        bench.file("whole", "state.json")?,
        bench.file("parts", "state.json")?
    );
    assert_eq!(bench.metrics("whole")?, bench.metrics("parts")?);
    Ok(())
}

#[test]
fn a_run_that_was_killed_goes_on_from_its_last_checkpoint() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit("whole", "--buckets 2:24:2")?;
    bench.fit("killed", "--buckets 2:24:2 --stop-after 4")?;
    // As if it had been killed in step 7: two steps and half a line after the checkpoint.
    let metrics = bench.path("killed").join("metrics.jsonl");
    let mut text = std::fs::read_to_string(&metrics)?;
    text.push_str("{\"step\":5,\"loss\":1}\n{\"step\":6,\"loss\":1}\n{\"step\":7,\"lo");
    std::fs::write(&metrics, text)?;
    std::fs::write(
        bench.path("killed").join("heads.safetensors.partial"),
        "half",
    )?;
    bench.fit("killed", "--buckets 2:24:2 --resume")?;
    for name in ["heads.safetensors", "metrics.jsonl", "state.json"] {
        assert_eq!(
            bench.file("whole", name)?,
            bench.file("killed", name)?,
            "{name}"
        );
    }
    Ok(())
}

#[test]
fn a_run_that_stops_before_its_first_interval_keeps_its_heads() -> Result<()> {
    let bench = Bench::new()?;
    let wild = "--buckets 2:24:2 --head-learning-rate 1e38 --warm-up-steps 0";
    let error = format!("{:#}", bench.fit("out", wild).unwrap_err());
    assert!(error.contains("holds step 0 at least"), "{error}");
    bench.fit("sampled", "--buckets 2:24:2 --init-only")?;
    let heads = "heads.safetensors";
    assert_eq!(bench.file("out", heads)?, bench.file("sampled", heads)?);
    // Resuming finds them: it comes to the same step.
    let resumed = bench.fit("out", &format!("{wild} --resume")).unwrap_err();
    assert_eq!(format!("{resumed:#}"), error);
    Ok(())
}

#[test]
fn a_loss_that_is_no_number_stops_the_run_and_the_last_checkpoint_is_good() -> Result<()> {
    let bench = Bench::new()?;
    let wild = "--buckets 2:24:2 --head-learning-rate 1e38 --checkpoint-every 1 --warm-up-steps 0";
    let error = format!("{:#}", bench.fit("out", wild).unwrap_err());
    assert!(error.contains("lower the learning rates"), "{error}");
    assert!(error.contains("stopped at step"), "{error}");
    let metrics = bench.metrics("out")?;
    let losses = metrics.iter().filter_map(|line| line["loss"].as_f64());
    assert!(losses.clone().count() > 0 && losses.clone().all(f64::is_finite));
    let checkpoint = Checkpoint::load(&bench.path("out"), &Device::Cpu)?;
    assert_eq!(checkpoint.state.step, losses.count());
    for head in checkpoint.heads {
        let weights = head.weight.flatten_all()?.to_vec1::<f32>()?;
        assert!(weights.iter().all(|weight| weight.is_finite()));
    }
    Ok(())
}

#[test]
fn every_way_to_train_makes_finite_steps_of_its_own() -> Result<()> {
    let bench = Bench::new()?;
    let ways = [
        "",
        "--ranking hinge",
        "--joining separate --buckets 2:24:2 1:16:2",
        "--heads random",
        "--weight-sparsity 0.9",
        "--distillation 0",
        "--rarity counted",
        "--rarity learned",
        "--duty-cycle 0.5",
        "--max-pieces 4",
        "--batching by-collection",
        "--backbone-learning-rate 0.001",
        "--backbone-learning-rate 0.001 --precision bf16",
        "--backbone-learning-rate 0.001 --dense 0.5",
        "--static-queries 0.5 --rows ROWS",
        "--static-queries 0.5 --codes 0 --rows ROWS",
        "--static-queries 0.5 --codes 0 --words 1 --rows ROWS",
        "--swap-words 1 --synonyms SYNONYMS",
        "--swap-words 1 --rows ROWS",
        "--leave-out-words 0.5 --rows ROWS",
    ];
    let mut losses = Vec::new();
    for (i, way) in ways.iter().enumerate() {
        let out = format!("way{i}");
        bench.fit(&out, &format!("--buckets 2:24:2 {way}"))?;
        let last = bench
            .metrics(&out)?
            .iter()
            .rev()
            .find_map(|line| line["loss"].as_f64());
        let last = last.unwrap();
        assert!(last.is_finite(), "{way}: {last}");
        losses.push(last);
    }
    for (i, loss) in losses.iter().enumerate() {
        assert!(!losses[..i].contains(loss), "{}: {losses:?}", ways[i]);
    }
    Ok(())
}

#[test]
fn rows_are_trained_beside_the_network_and_heads_made_anew() -> Result<()> {
    let bench = Bench::new()?;
    let both = "--buckets 2:24:2 --codes 0 --dense 0.5 --static-queries 1 --row-learning-rate 0.01 \
        --backbone-learning-rate 0.001 --rows ROWS";
    bench.fit("out", both)?;
    let load = |name: &str| Checkpoint::load(&bench.path(name), &Device::Cpu);
    let trained = load("out")?;
    let base = Base::open(&bench.path("base"), &Device::Cpu)?;
    let begun = StaticRows::of_encoder(&bench.path("rows"), &base, &Device::Cpu)?;
    let rows = trained.rows.unwrap();
    assert_eq!(
        rows.query_mean.to_vec1::<f32>()?,
        begun.query_mean.to_vec1::<f32>()?
    );
    assert_ne!(rows.rows.to_vec2::<f32>()?, begun.rows.to_vec2::<f32>()?);
    let lines = bench.metrics("out")?;
    let step = lines.iter().find(|line| line["loss"].is_f64()).unwrap();
    assert_eq!(step["ranking"], 0.0);
    assert!(step["dense"].as_f64() > Some(0.0) && step["static_queries"].as_f64() > Some(0.0));
    let measured = lines.iter().rev().find(|line| line["held_out"].is_object());
    let ndcg = &measured.unwrap()["held_out"]["mean"]["static_queries"]["ndcg_at_10"];
    assert!(ndcg.as_f64() > Some(0.0), "{measured:?}");
    // The heads stayed as they were; --new-heads takes others, of the network as it is now.
    let from = format!("--init-only --from {}", bench.path("out").display());
    bench.fit("same", &format!("--buckets 2:24:2 {from}"))?;
    bench.fit("new", &format!("--buckets 2:32:2 --new-heads {from}"))?;
    let (same, new) = (load("same")?, load("new")?);
    assert_eq!(same.heads[0].n(), 24);
    assert_eq!(new.heads[0].n(), 32);
    assert!(new.backbone.is_some() && new.rows.is_some());
    let first = trained_heads(&bench)?;
    assert!(new.state.rows_trained && !first.state.rows_trained);
    let head = |checkpoint: &Checkpoint| checkpoint.heads[0].weight.to_vec2::<f32>();
    assert_eq!(head(&same)?, head(&first)?);
    // What trained the network is still told when heads were made anew, and again.
    let again = format!(
        "--buckets 2:32:2 --init-only --from {}",
        bench.path("new").display()
    );
    bench.fit("again", &again)?;
    let told = load("again")?.state.before.unwrap();
    assert_eq!(told, new.state.as_before());
    assert_eq!(told["step"], 0);
    assert_eq!(told["before"]["step"], trained.state.step);
    assert_eq!(told["before"]["config"], trained.state.config);
    Ok(())
}

#[test]
fn heads_keep_the_mask_that_they_were_made_with() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit(
        "sparse",
        "--buckets 2:24:2 --weight-sparsity 0.5 --init-only",
    )?;
    let sparse = format!(
        "--buckets 2:24:2 --init-only --from {}",
        bench.path("sparse").display()
    );
    for (options, reason) in [
        ("", "--weight-sparsity 0.5: give the same"),
        ("--weight-sparsity 0.5 --seed 9", "drawn with --seed 1"),
    ] {
        let error = bench
            .fit("other", &format!("{sparse} {options}"))
            .unwrap_err();
        assert!(format!("{error:#}").contains(reason), "{error:#}");
    }
    bench.fit("other", &format!("{sparse} --weight-sparsity 0.5"))?;
    Ok(())
}

/// What `fit` begins with.
fn trained_heads(bench: &Bench) -> Result<Checkpoint> {
    bench.fit("begun", "--buckets 2:24:2 --init-only")?;
    Checkpoint::load(&bench.path("begun"), &Device::Cpu)
}

#[test]
fn without_their_losses_heads_stay_and_a_run_still_resumes() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit("begun", "--buckets 2:24:2 --rarity learned")?;
    let rest = "--buckets 2:24:2 --codes 0 --static-queries 1 --rarity counted --duty-cycle 0.2 --rows ROWS";
    let from = format!(
        "{rest} --from {} --stop-after 4",
        bench.path("begun").display()
    );
    bench.fit("out", &from)?;
    bench.fit("out", &format!("{rest} --resume"))?;
    let same =
        bench.file("begun", "heads.safetensors")? == bench.file("out", "heads.safetensors")?;
    assert!(same, "weights, biases and learned rarity");
    Ok(())
}

#[test]
fn rows_that_are_held_move_less() -> Result<()> {
    let bench = Bench::new()?;
    let base = Base::open(&bench.path("base"), &Device::Cpu)?;
    let moved = |out: &str, options: &str| -> Result<f32> {
        let rest =
            "--buckets 2:24:2 --codes 0 --static-queries 1 --row-learning-rate 0.01 --rows ROWS";
        bench.fit(out, &format!("{rest} {options}"))?;
        let begun = StaticRows::of_encoder(&bench.path("rows"), &base, &Device::Cpu)?;
        let rows = Checkpoint::load(&bench.path(out), &Device::Cpu)?.rows;
        let way = (rows.unwrap().rows - begun.rows)?;
        Ok(way.sqr()?.sum_all()?.to_scalar()?)
    };
    let (free, held) = (moved("free", "")?, moved("held", "--keep-rows 0.5")?);
    assert!(0.0 < held && held < 0.5 * free, "{held} of {free}");
    Ok(())
}

#[test]
fn synonyms_of_several_lines_add_up() -> Result<()> {
    let bench = Bench::new()?;
    let path = bench.path("synonyms.tsv");
    std::fs::write(&path, "cat\tdog\nelk\tyak\ncat\tyak dog\n")?;
    let tokenizer = Tokenizer::open(&bench.path("base/tokenizer.json"), 16)?;
    let near = synonyms(&path, &tokenizer)?;
    let counts: BTreeSet<usize> = near.values().map(Vec::len).collect();
    assert_eq!((near.len(), counts), (2, BTreeSet::from([1, 3])));
    Ok(())
}

#[test]
fn rows_that_are_missing_or_of_another_network_are_refused() -> Result<()> {
    let bench = Bench::new()?;
    let refused = |options: &str, words: &str| {
        let error = format!("{:#}", bench.fit("out", options).unwrap_err());
        assert!(error.contains(words), "{error}");
    };
    refused("--buckets 2:24:2 --static-queries 1", "give --rows");
    refused("--buckets 2:24:2 --swap-words 0.5", "need --rows");
    refused(
        "--buckets 2:24:2 --swap-words 1.5 --rows ROWS",
        "are probabilities",
    );
    refused("--buckets 2:24:2 --words 1", "--words needs");
    refused("--buckets 2:24:2 --keep-rows 0.1", "--keep-rows needs");
    refused("--buckets 2:24:2 --keep-rows 1", "below 1");
    refused(
        "--buckets 2:24:2 --synonyms SYNONYMS",
        "--synonyms needs --swap-words",
    );
    std::fs::write(bench.path("synonyms.tsv"), "cat\tdog\nhen bee\n")?;
    refused(
        "--buckets 2:24:2 --swap-words 1 --synonyms SYNONYMS",
        "line 2",
    );
    refused("--buckets 2:24:2 --codes 0", "nothing is trained");
    refused("--buckets 2:24:2 --distillation=-1", "--distillation is -1");
    refused(
        "--buckets 2:24:2 --rows /no/such/encoder",
        "/no/such/encoder",
    );
    tiny::write_rows(&bench.path("rows"), 9)?;
    refused(
        "--buckets 2:24:2 --static-queries 1 --rows ROWS",
        "encoder of the same base model",
    );
    Ok(())
}

#[test]
fn learned_rarity_is_kept_and_gone_on_with() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit("first", "--buckets 2:24:2 --rarity learned")?;
    let rarity = |name: &str| -> Result<Vec<f32>> {
        let checkpoint = Checkpoint::load(&bench.path(name), &Device::Cpu)?;
        Ok(checkpoint.heads[0].log_rarity.as_ref().unwrap().to_vec1()?)
    };
    let first = rarity("first")?;
    assert!(first.iter().any(|&weight| weight.abs() > 1e-3));
    let from = bench.path("first").display().to_string();
    let options = format!("--buckets 2:24:2 --rarity learned --from {from} --stop-after 1");
    bench.fit("second", &options)?;
    let moved = rarity("second")?;
    let length: f32 = first.iter().map(|weight| weight.abs()).sum();
    let drift: f32 = first.iter().zip(&moved).map(|(a, b)| (a - b).abs()).sum();
    assert!(drift < length, "{drift} of {length}");
    Ok(())
}

#[test]
fn hard_negatives_are_mined_and_trained_on() -> Result<()> {
    let bench = Bench::new()?;
    let path = |name: &str| bench.path(name).display().to_string();
    let (base, animals, checkpoint) = (path("base"), path("animals"), path("out"));
    bench.fit("out", "--buckets 2:24:2")?;
    let mine = |by: &str, out: &str| -> Result<String> {
        let line = format!("mine --pairs {animals} --by {by} --out {}", path(out));
        mine::run(&MineCommand::try_parse_from(line.split_whitespace())?.args)?;
        Ok(String::from_utf8(bench.file(out, "animals.tsv")?)?)
    };
    let words = mine("bm25", "words")?;
    let model = mine(
        &format!("model --base {base} --checkpoint {checkpoint}"),
        "model",
    )?;
    assert!(words.lines().count() > 20 && model.lines().count() > 20);
    assert_ne!(words, model);
    let again = format!("{:#}", mine("bm25", "model").unwrap_err());
    assert!(again.contains("is there already"), "{again}");
    bench.fit("plain", "--buckets 2:24:2")?;
    let negatives = format!(
        "--negatives {} {} --hard-negatives 2",
        path("words"),
        path("model")
    );
    bench.fit("hard", &format!("--buckets 2:24:2 {negatives}"))?;
    let loss = |out: &str| -> Result<f64> {
        let first = bench
            .metrics(out)?
            .into_iter()
            .find_map(|line| line["loss"].as_f64());
        Ok(first.unwrap())
    };
    assert!(loss("hard")? > loss("plain")?);
    let none = bench.fit("none", &format!("--buckets 2:24:2 --negatives {base}"));
    let error = format!("{:#}", none.unwrap_err());
    assert!(error.contains("siskin-train mine"), "{error}");
    Ok(())
}

#[test]
fn a_frozen_backbone_is_not_written_and_the_loss_falls() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit("out", "--buckets 2:24:2 --steps 60 --measure-every 60")?;
    let checkpoint = Checkpoint::load(&bench.path("out"), &Device::Cpu)?;
    assert_eq!(
        (checkpoint.state.step, checkpoint.backbone.is_none()),
        (60, true)
    );
    let metrics = bench.metrics("out")?;
    let losses: Vec<f64> = metrics
        .iter()
        .filter_map(|line| line["loss"].as_f64())
        .collect();
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    assert_eq!(losses.len(), 60);
    assert!(mean(&losses[50..]) < mean(&losses[..10]), "{losses:?}");
    let measured: Vec<_> = metrics
        .iter()
        .filter(|line| line["held_out"]["mean"].is_object())
        .collect();
    assert_eq!(measured.len(), 2);
    Ok(())
}

#[test]
fn a_backbone_trained_before_stays_when_frozen() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit("first", EVERYTHING)?;
    let from = bench.path("first").display().to_string();
    let heads_only = "--buckets 2:24:2 0:16:2 --weight-sparsity 0.5";
    bench.fit("second", &format!("{heads_only} --from {from}"))?;
    assert_eq!(
        bench.file("first", "backbone.safetensors")?,
        bench.file("second", "backbone.safetensors")?
    );
    Ok(())
}

/// An exported encoder has heads and a network: a run begins with it as with the checkpoint that it was made of.
#[test]
fn a_run_begins_with_an_exported_encoder() -> Result<()> {
    let bench = Bench::new()?;
    tiny::write_encoder_of(bench.folder.path(), "2:24:2", "--quantization f32")?;
    let fit = |out: &str, from: &str, options: &str| {
        let from = bench.path(from);
        let line = format!("--buckets 2:24:2 --from {} {options}", from.display());
        bench.fit(out, &line)
    };
    let load = |name: &str| Checkpoint::load(&bench.path(name), &Device::Cpu);
    fit("begun", "zoo", "--init-only")?;
    let (made, begun) = (load("zoo.work/checkpoint")?, load("begun")?);
    let head = |checkpoint: &Checkpoint| checkpoint.heads[0].weight.to_vec2::<f32>();
    assert_eq!(head(&begun)?, head(&made)?);
    assert!(begun.backbone.is_none(), "it has the base model's network");
    assert_eq!(begun.state.before, Some(made.state.as_before()));

    fit(
        "trained",
        "zoo",
        "--codes 0 --dense 0.5 --backbone-learning-rate 0.01",
    )?;
    // Its rows stand in for the network as it was.
    let rows = Some("zoo.work/rows.safetensors");
    let refused = format!("{:#}", bench.export("trained", rows, "own").unwrap_err());
    assert!(refused.contains("of another network"), "{refused}");
    bench.export("trained", None, "own")?;
    fit("frozen", "own", "")?;
    let (trained, frozen) = (load("trained")?, load("frozen")?);
    let (trained, frozen) = (trained.backbone.unwrap(), frozen.backbone.unwrap());
    for (name, weight) in &trained {
        // The first segment's vector is part of the positions' in the encoder.
        if !name.contains("position") && !name.contains("token_type") {
            let difference = (&frozen[name] - weight)?.abs()?.flatten_all()?.max(0)?;
            assert!(difference.to_scalar::<f32>()? < 1e-6, "{name}");
        }
    }
    let published = tiny::weights(DType::F32)?;
    let name = "encoder.layer.0.intermediate.dense.bias";
    let [of_base, of_run] = [&published[name], &frozen[name]].map(Tensor::to_vec1::<f32>);
    assert_ne!(of_base?, of_run?);
    Ok(())
}

#[test]
fn a_folder_that_another_run_writes_to_is_refused() -> Result<()> {
    let bench = Bench::new()?;
    std::fs::create_dir(bench.path("out"))?;
    let other = std::fs::File::create(bench.path("out/.lock"))?;
    other.lock()?;
    let error = format!("{:#}", bench.fit("out", "--buckets 2:24:2").unwrap_err());
    assert!(error.contains("another run writes to"), "{error}");
    drop(other);
    bench.fit("out", "--buckets 2:24:2")
}

#[test]
fn a_checkpoint_that_lacks_a_part_or_was_mixed_is_refused() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit("out", EVERYTHING)?;
    let load = |name: &str| Checkpoint::load(&bench.path(name), &Device::Cpu);
    load("out")?;
    let refused = |reason: &str| {
        let error = format!("{:#}", load("out").unwrap_err());
        assert!(error.contains(reason), "{error}");
    };
    for (part, reason) in [
        ("backbone.safetensors", "lacks backbone.safetensors"),
        ("static_rows.safetensors", "lacks static_rows.safetensors"),
    ] {
        let whole = bench.file("out", part)?;
        std::fs::remove_file(bench.path("out").join(part))?;
        refused(reason);
        std::fs::write(bench.path("out").join(part), whole)?;
    }
    let path = bench.path("out/state.json");
    let state = std::fs::read_to_string(&path)?;
    let mut other = tiny::json_of(&path)?;
    other["buckets"][0]["n"] = 25.into();
    std::fs::write(&path, other.to_string())?;
    refused("has 24 dimensions in bucket 0, state.json says 25");
    std::fs::write(&path, state)?;
    let mut backbone =
        candle_core::safetensors::load(bench.path("out/backbone.safetensors"), &Device::Cpu)?;
    let name = "encoder.layer.0.output.dense.bias";
    backbone.insert(name.to_owned(), (&backbone[name] * f64::NAN)?);
    candle_core::safetensors::save(&backbone, bench.path("out/backbone.safetensors"))?;
    refused("no numbers");
    Ok(())
}

#[test]
fn an_encoder_that_no_run_can_begin_with_is_refused() -> Result<()> {
    let bench = Bench::new()?;
    tiny::write_encoder(bench.folder.path())?;
    let zoo = bench.path("zoo");
    let refused = |options: &str, reason: &str| {
        let options = format!("--init-only --from {} {options}", zoo.display());
        let error = format!("{:#}", bench.fit("out", &options).unwrap_err());
        assert!(error.contains(reason), "{error}");
        assert!(!bench.path("out").exists());
    };
    refused("--buckets 2:32:2", "has the buckets 2:24:2");
    let manifest = zoo.join("encoder.json");
    let mut of_a_student = tiny::json_of(&manifest)?;
    of_a_student["queries_for"] = "0123456789abcdef".into();
    std::fs::write(&manifest, of_a_student.to_string())?;
    refused("--buckets 2:24:2", "a student of the encoder 0123456789ab:");
    of_a_student["queries_for"] = serde_json::Value::Null;
    std::fs::write(&manifest, of_a_student.to_string())?;
    std::fs::write(zoo.join("model.onnx"), "damaged")?;
    refused("--buckets 2:24:2", "model.onnx is not the file");
    Ok(())
}

/// Equal scores rank in order of passage: what answers must not stand before the others.
#[test]
fn equal_scores_rank_no_better_than_chance() -> Result<()> {
    let bench = Bench::new()?;
    let collection = Collection::read(&bench.path("animals"))?;
    let tokenizer = Base::open(&bench.path("base"), &Device::Cpu)?.tokenizer()?;
    let settings = Settings {
        held_out_queries: 20,
        ..Settings::defaults()?
    };
    let data = Data::new(&[collection], &[], &tokenizer, &settings)?;
    let set = &data.held_out[0];
    let places: Vec<usize> = set.relevant.iter().flatten().copied().collect();
    let mean = places.iter().sum::<usize>() as f64 / places.len() as f64;
    let middle = (set.passages.len() - 1) as f64 / 2.0;
    assert!(places.len() >= 10 && set.passages.len() >= 40, "{places:?}");
    assert!(
        (mean / middle - 1.0).abs() < 0.4,
        "{mean} of {middle}: {places:?}"
    );
    Ok(())
}

#[test]
fn pairs_that_all_clash_are_refused() -> Result<()> {
    let bench = Bench::new()?;
    let judgments = bench.path("animals").join("qrels/train.tsv");
    let text = std::fs::read_to_string(&judgments)?;
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let one_passage = lines
        .clone()
        .next()
        .and_then(|line| line.split('\t').nth(1));
    let same: String = lines
        .filter_map(|line| line.split('\t').next())
        .map(|query| format!("{query}\t{}\t1\n", one_passage.unwrap_or_default()))
        .collect();
    std::fs::write(&judgments, format!("{header}\n{same}"))?;
    let error = bench
        .fit("out", "--buckets 2:24:2 --held-out-queries 0")
        .expect_err("one passage");
    assert!(error.to_string().contains("lower --batch-pairs"), "{error}");
    Ok(())
}

#[test]
fn the_papers_recipe_trains_as_many_dimensions_as_it_says() -> Result<()> {
    let bench = Bench::new()?;
    let line = "fit --recipe paper --buckets 2:81920:80";
    let options = recipe::expanded(line.split_whitespace().map(OsString::from).collect());
    let options: Vec<_> = options
        .iter()
        .skip(1)
        .filter_map(|each| each.to_str())
        .collect();
    bench.fit("out", &format!("{} --steps 2", options.join(" ")))?;
    let checkpoint = Checkpoint::load(&bench.path("out"), &Device::Cpu)?;
    let head = &checkpoint.heads[0];
    assert_eq!((head.n(), head.k, checkpoint.state.step), (81_920, 80, 2));
    // Of 8 weights a dimension, sparse by 0.7, two are there.
    let weights = head.weight.flatten_all()?.to_vec1::<f32>()?;
    let absent = weights.iter().filter(|weight| **weight == 0.0).count();
    assert!(absent >= 5 * 81_920, "{absent}");
    assert!(checkpoint.backbone.is_some());
    Ok(())
}

#[test]
fn ranking_and_joining_each_train_buckets_in_their_own_way() -> Result<()> {
    let bench = Bench::new()?;
    let trained = |ranking: &str, joining: &str| -> Result<Vec<Vec<Vec<f32>>>> {
        let out = format!("{ranking}-{joining}");
        let options = format!("--ranking {ranking} --joining {joining} --distillation 0");
        bench.fit(&out, &format!("--buckets 2:24:2 1:16:2 {options}"))?;
        let heads = Checkpoint::load(&bench.path(&out), &Device::Cpu)?.heads;
        heads
            .iter()
            .map(|head| Ok(head.weight.to_vec2()?))
            .collect()
    };
    let all = [
        trained("hinge", "separate")?,
        trained("hinge", "joint")?,
        trained("info-nce", "separate")?,
        trained("info-nce", "joint")?,
    ];
    for (i, one) in all.iter().enumerate() {
        assert_eq!(one.len(), 2);
        for other in &all[..i] {
            assert!(one[0] != other[0] && one[1] != other[1], "{i}");
        }
    }
    Ok(())
}

#[test]
fn buckets_are_measured_alone_together_weighted_and_at_their_best() -> Result<()> {
    #[derive(Parser)]
    #[command(args_override_self = true)]
    struct Command {
        #[command(flatten)]
        args: measure::Args,
    }
    let bench = Bench::new()?;
    bench.fit("out", "--buckets 2:24:2 1:16:2 --init-only")?;
    let measure = |options: &str| {
        let [base, pairs, out] =
            ["base", "animals", "out"].map(|name| bench.path(name).display().to_string());
        let line = format!(
            "measure --base {base} --checkpoint {out} --collections {pairs} --split train {options}"
        );
        measure::run(&Command::try_parse_from(line.split_whitespace())?.args)
    };
    let table = measure("--query-k 4 16")?;
    assert_eq!(table.len(), 2 + 2 * 7, "{table:#?}");
    assert!(
        table[2].starts_with("| 4 | 64 | bucket 0: layer 2, n 24, k 2 |"),
        "{table:#?}"
    );
    let ndcg = |line: &str| -> Result<f64> { Ok(line.split('|').nth(4).unwrap().trim().parse()?) };
    let best = |name: &str| table.iter().find(|line| line.contains(name)).unwrap();
    let ideal = ndcg(best("ideal"))?;
    let predicted = ndcg(best("predicts"))?;
    assert!(0.0 < predicted && predicted <= 100.0, "{table:#?}");
    assert!(
        ideal >= ndcg(&table[2])? && ideal >= ndcg(&table[3])?,
        "{table:#?}"
    );
    assert_ne!(measure("--rarity none")?[2..], measure("")?[2..]);
    assert!(measure("--winners 3 1")?[2].contains("layer 2, n 24, k 3"));
    let error = |options: &str| format!("{:#}", measure(options).unwrap_err());
    assert!(error("--rarity learned").contains("fit --rarity learned"));
    assert!(error("--winners 3").contains("1 numbers for 2 buckets"));
    assert!(error("--split dev").contains("no judgments in qrels/dev.tsv"));
    Ok(())
}

#[test]
fn init_only_writes_heads_alone() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit("out", "--buckets 2:24:2 --init-only")?;
    let names = |folder: &Path| -> Result<Vec<String>> {
        let mut names = std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    };
    assert_eq!(
        names(&bench.path("out"))?,
        [".lock", "heads.safetensors", "state.json"]
    );
    bench.fit(
        "next",
        &format!("--buckets 2:24:2 --from {}", bench.path("out").display()),
    )?;
    assert_eq!(
        Checkpoint::load(&bench.path("next"), &Device::Cpu)?
            .state
            .step,
        8
    );
    Ok(())
}

#[test]
fn a_base_model_stays_where_another_cannot_be_read() -> Result<()> {
    let bench = Bench::new()?;
    let [from, to] = ["base", "copy"].map(|name| bench.path(name));
    let copy = || {
        let line = format!("base --folder {} --to {}", from.display(), to.display());
        fetch::run(&BaseCommand::try_parse_from(line.split_whitespace())?.args)
    };
    copy()?;
    let id = Base::open(&to, &Device::Cpu)?.id;
    let tokenizer = from.join("tokenizer.json");
    let mut other = tiny::json_of(&tokenizer)?;
    let pieces = tiny::config().vocab_size;
    other["model"]["vocab"]["one more"] = pieces.into();
    std::fs::write(&tokenizer, other.to_string())?;
    let error = format!("{:#}", copy().unwrap_err());
    assert!(error.contains("not of one model"), "{error}");
    std::fs::write(from.join("config.json"), "{}")?;
    std::fs::write(from.join("model.safetensors"), "no weights")?;
    assert!(copy().is_err());
    assert_eq!(Base::open(&to, &Device::Cpu)?.id, id);
    assert!(!to.join(".partial").exists());
    std::fs::remove_dir_all(&to)?;
    assert!(copy().is_err());
    assert!(!to.exists(), "nothing is left of a first try");
    Ok(())
}

#[test]
fn what_cannot_go_on_is_refused_in_words() -> Result<()> {
    let bench = Bench::new()?;
    bench.fit("out", "--buckets 2:24:2")?;
    let refused = |options: &str, words: &str| {
        let error = format!("{:#}", bench.fit("out", options).unwrap_err());
        assert!(error.contains(words), "{error}");
    };
    refused("--buckets 2:24:2", "holds a checkpoint");
    refused(
        "--buckets 2:24:3 --resume",
        "was begun with --buckets 2:24:2 (not 2:24:3)",
    );
    refused(
        "--buckets 9:24:2 --resume",
        "9:24:2: the network has the layers 0 to 2",
    );
    refused("--buckets 2:99999999:2", "more than 1048576");
    refused(
        "--buckets 2:24:2 --static-queries 1",
        "which --recipe table sets, needs the rows of an encoder",
    );
    let queries = bench.path("animals").join("queries.jsonl");
    let text = std::fs::read_to_string(&queries)?;
    std::fs::write(&queries, text.replace("ant", "bee"))?;
    refused("--buckets 2:24:2 --resume", "give the same --pairs");
    std::fs::write(&queries, text)?;
    let weights = bench.path("base").join("model.safetensors");
    let bytes = std::fs::read(&weights)?;
    let mut other = bytes.clone();
    other[bytes.len() - 2] ^= 1;
    std::fs::write(&weights, other)?;
    refused("--buckets 2:24:2 --resume", "made with the base model");
    std::fs::write(&weights, bytes)?;
    let path = bench.path("out").join("state.json");
    let text = std::fs::read_to_string(&path)?.replace("\"step\": 8", "\"step\": 7");
    std::fs::write(&path, text)?;
    refused(
        "--buckets 2:24:2 --resume",
        "optimizer.safetensors is of step 8",
    );
    Ok(())
}
