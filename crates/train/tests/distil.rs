//! `distil` and the export of a student, on the tiny network.

#![allow(clippy::unwrap_used)] // tests may: a panic is a failure

mod tiny;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use serde_json::Value;
use siskin_lean::Network;
use siskin_train::{distil, export, fit};

#[derive(Parser)]
struct Fit {
    #[command(flatten)]
    args: fit::Args,
}

#[derive(Parser)]
struct Export {
    #[command(flatten)]
    args: export::Args,
}

#[derive(Parser)]
#[command(args_override_self = true)]
struct Distil {
    #[command(flatten)]
    args: distil::Args,
}

/// Collections and a teacher in a temporary folder.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Result<Self> {
        let bench = Self {
            folder: tempfile::tempdir()?,
        };
        tiny::write_base(&bench.path("base"))?;
        tiny::write_collection(&bench.path("animals"), 60)?;
        bench.write_teacher("teacher", 1)?;
        Ok(bench)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The line with `@` as the folder.
    fn line(&self, line: &str) -> Vec<String> {
        let folder = format!("{}/", self.folder.path().display());
        let words = line.split_whitespace();
        words.map(|word| word.replace('@', &folder)).collect()
    }

    fn write_teacher(&self, name: &str, seed: u64) -> Result<()> {
        let heads = format!(
            "fit --base @base --pairs @animals --out @{name}-heads --buckets 2:24:2 \
             --sample-tokens 300 --init-only --seed {seed}"
        );
        fit::run(&Fit::try_parse_from(self.line(&heads))?.args)?;
        self.export(&format!(
            "--base @base --checkpoint @{name}-heads --out @{name}"
        ))
    }

    fn export(&self, options: &str) -> Result<()> {
        export::run(&Export::try_parse_from(self.line(&format!("export {options}")))?.args)
    }

    fn distil(&self, options: &str) -> Result<()> {
        let line = format!(
            "distil --teacher @teacher --texts @animals --word-width 6 --width 12 --layers 1 \
             --attention-heads 2 --feed-forward 16 --spans 200 --held-out 20 --steps 300 \
             --batch-tokens 64 --learning-rate 0.01 --warm-up-steps 5 --measure-every 100 \
             --checkpoint-every 10 {options}"
        );
        distil::run(&Distil::try_parse_from(self.line(&line))?.args)
    }

    fn error(&self, options: &str) -> String {
        format!("{:#}", self.distil(options).unwrap_err())
    }

    #[allow(clippy::expect_used)] // a test may
    fn alter(&self, name: &str, change: impl Fn(&mut Value)) {
        let mut value = self.json(name).expect("the file is there");
        change(&mut value);
        std::fs::write(self.path(name), value.to_string()).expect("it can be written");
    }

    fn json(&self, name: &str) -> Result<Value> {
        Ok(serde_json::from_slice(&std::fs::read(self.path(name))?)?)
    }
}

#[test]
fn a_student_comes_near_its_teacher_and_goes_on_where_it_stopped() -> Result<()> {
    let bench = Bench::new()?;
    bench.distil("--out @whole")?;
    let metrics = std::fs::read_to_string(bench.path("whole/metrics.jsonl"))?;
    let lines: Vec<Value> = metrics
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let held_out = |line: &Value, name: &str| line["held_out"][name].as_f64().unwrap();
    let last = lines.last().unwrap();
    assert_eq!(last["step"], 300);
    // What every text has in common gives a cosine near 0, the two winners of 24 by chance 0.05.
    assert!(held_out(last, "cosine") > 0.8, "{last}");
    assert!(held_out(last, "jaccard") > 0.3, "{last}");
    assert!(held_out(last, "activations") < held_out(&lines[0], "activations"));

    bench.distil("--out @parts --stop-after 105")?;
    let error = bench.error("--out @parts");
    assert!(error.contains("--resume, or another --out"), "{error}");
    let error = bench.error("--out @parts --resume --pooled 2");
    assert!(error.contains("resume with the same settings"), "{error}");
    bench.write_teacher("other", 2)?;
    let error = bench.error("--out @parts --resume --teacher @other");
    assert!(error.contains("the student's teacher was"), "{error}");
    let [moments, away] =
        ["optimizer.safetensors", "away"].map(|name| bench.path("parts").join(name));
    std::fs::rename(&moments, &away)?;
    let error = bench.error("--out @parts --resume");
    assert!(
        error.contains("there is no optimizer.safetensors"),
        "{error}"
    );
    std::fs::rename(&away, &moments)?;
    bench.distil("--out @parts --resume")?;
    for name in ["student.safetensors", "state.json"] {
        let bytes = |folder: &str| std::fs::read(bench.path(folder).join(name));
        assert!(bytes("parts")? == bytes("whole")?, "{name}");
    }
    Ok(())
}

#[test]
fn a_student_learns_how_its_teacher_reads_queries() -> Result<()> {
    let bench = Bench::new()?;
    let held_out = |out: &str| {
        bench.distil(&format!("--out @{out} --steps 10"))?;
        let metrics = std::fs::read_to_string(bench.path(out).join("metrics.jsonl"))?;
        let last: Value = serde_json::from_str(metrics.lines().last().unwrap_or_default())?;
        Ok::<_, anyhow::Error>(last["held_out"].clone())
    };
    let before = held_out("passages")?;
    let header = br#"{"hidden.norm_bias":{"dtype":"F32","shape":[8],"data_offsets":[0,32]}}"#;
    let mut values = (header.len() as u64).to_le_bytes().to_vec();
    values.extend(header);
    values.extend([3.0_f32, -3.0].map(f32::to_le_bytes).concat().repeat(4));
    std::fs::write(bench.path("teacher/queries.safetensors"), &values)?;
    bench.alter("teacher/encoder.json", |json| {
        json["files"]["queries.safetensors"] = serde_json::json!({
            "bytes": values.len(), "sha256": siskin_core::container::sha256_hex(&values),
        });
    });
    assert_ne!(held_out("queries")?, before);
    Ok(())
}

#[test]
fn a_student_is_exported_as_an_encoder_of_queries() -> Result<()> {
    let bench = Bench::new()?;
    bench.distil("--out @student")?;
    bench.export("--student @student --teacher @teacher --out @small")?;
    let manifest = bench.json("small/encoder.json")?;
    let teacher = std::fs::read(bench.path("teacher/encoder.json"))?;
    let id = siskin_core::container::sha256_hex(&teacher);
    assert_eq!(manifest["queries_for"], id);
    assert_eq!(manifest["dim"], 8);
    let bucket = &manifest["buckets"][0];
    assert_eq!(
        (bucket["layer"].as_u64(), bucket["n"].as_u64()),
        (Some(1), Some(24))
    );

    let network = Network::read(std::fs::read(bench.path("small/model.onnx"))?.into())?;
    assert_eq!(network.dim(), 8);
    let (mut same, mut all) = (0, 0);
    for text in bench.json("small/golden.json")?["texts"]
        .as_array()
        .unwrap()
    {
        let pieces: Vec<u32> = serde_json::from_value(text["pieces"].clone())?;
        let wanted: Vec<Vec<u32>> = serde_json::from_value(text["winners"][0].clone())?;
        let found = network.run(&pieces)?;
        let winners = found.buckets[0].dimensions.chunks(2);
        let wanted = siskin_core::encoded::inner_tokens(&wanted);
        assert_eq!(winners.len(), wanted.len());
        for (found, wanted) in winners.zip(wanted) {
            same += found.iter().filter(|each| wanted.contains(each)).count();
            all += wanted.len();
        }
        let dense: Vec<f32> = serde_json::from_value(text["dense"].clone())?;
        let mean = |at: usize| found.hidden.iter().skip(at).step_by(8).sum::<f32>();
        let mean: Vec<f32> = (0..8).map(mean).collect();
        let length = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
        let cosine = mean.iter().zip(&dense).map(|(a, b)| a * b).sum::<f32>() / length;
        assert!(cosine > 0.99, "{cosine} for {}", text["text"]);
    }
    assert!(same * 10 > all * 9, "{same} winners of {all} in 8 bits");

    let error = bench.error("--out @pupil --teacher @small");
    assert!(error.contains("is a student itself"), "{error}");
    bench.write_teacher("other", 2)?;
    let error = bench.export("--student @student --teacher @other --out @wrong");
    let error = format!("{:#}", error.unwrap_err());
    assert!(error.contains("the student's teacher was"), "{error}");
    assert!(!bench.path("wrong").exists());
    Ok(())
}

#[test]
fn a_student_begins_from_one_that_was_exported() -> Result<()> {
    let bench = Bench::new()?;
    bench.distil("--out @first")?;
    bench.export("--student @first --teacher @teacher --out @small")?;
    let metric = |folder: &str, from_the_end: usize| -> Result<f64> {
        let metrics = std::fs::read_to_string(bench.path(folder).join("metrics.jsonl"))?;
        let line = metrics.lines().rev().nth(from_the_end).unwrap_or_default();
        let line: Value = serde_json::from_str(line)?;
        Ok(line["held_out"]["activations"].as_f64().unwrap())
    };
    bench.distil("--out @second --from @small --steps 2")?;
    let (left_off, begun) = (metric("first", 0)?, metric("second", 1)?);
    // Nothing but the rounding to 8 bits lies between.
    assert!(
        (begun - left_off).abs() < 0.05 * left_off,
        "{begun} after {left_off}"
    );
    let small = std::fs::read(bench.path("small/encoder.json"))?;
    let id = siskin_core::container::sha256_hex(&small);
    assert_eq!(bench.json("second/state.json")?["from"], id);
    assert!(bench.json("first/state.json")?.get("from").is_none());
    bench.distil("--out @second --steps 2 --resume")?;

    let error = bench.error("--out @third --from @small --layers 2");
    assert!(error.contains("has other shapes"), "{error}");
    let error = bench.error("--out @third --from @teacher");
    assert!(error.contains("is no student"), "{error}");
    bench.export("--student @first --teacher @teacher --out @exact --quantization f32")?;
    bench.distil("--out @fourth --from @exact --steps 2")?;
    let begun = metric("fourth", 1)?;
    assert!((begun - left_off).abs() < 1e-4 * left_off, "{begun}");
    bench.alter("small/encoder.json", |json| {
        json["files"]["tokenizer.json"]["sha256"] = "0".into();
    });
    let error = bench.error("--out @third --from @small");
    assert!(error.contains("other word pieces"), "{error}");
    assert!(!bench.path("third/state.json").exists());
    Ok(())
}

#[test]
fn teachers_that_are_not_what_they_say_are_refused() -> Result<()> {
    let bench = Bench::new()?;
    bench.alter("teacher/encoder.json", |json| {
        json["buckets"][0]["layer"] = 1.into();
    });
    let error = bench.error("--out @student");
    assert!(error.contains("another layer than its last, 2"), "{error}");
    bench.alter("teacher/encoder.json", |json| {
        json["buckets"][0]["layer"] = 2.into();
    });
    bench.alter("teacher/encoder.json", |json| {
        json["dim"] = 12.into();
        json["query_mean"] = vec![0.0; 12].into();
    });
    let error = bench.error("--out @student");
    assert!(error.contains("promises vectors of 12"), "{error}");
    std::fs::write(bench.path("teacher/tokenizer.json"), "{}")?;
    let error = bench.error("--out @student");
    assert!(
        error.contains("not the file that encoder.json speaks of"),
        "{error}"
    );
    assert!(!bench.path("student").exists());
    Ok(())
}

#[test]
fn sizes_that_make_no_network_are_refused() -> Result<()> {
    let bench = Bench::new()?;
    for (options, wanted) in [
        ("--attention-heads 5", "does not divide --width 12"),
        ("--word-width 9", "more than the teacher's 8"),
        ("--layers 0", "1 at least"),
        ("--feed-forward 99999999", "8192 at most"),
        ("--measure-every 0", "1 at least"),
        ("--held-out 0", "1 at least"),
        ("--held-out 5000", "give more texts"),
        (
            "--learning-rate 1e30 --max-gradient-norm 1e30",
            "lower --learning-rate",
        ),
    ] {
        let error = bench.error(&format!("--out @student {options}"));
        assert!(error.contains(wanted), "{options}: {error}");
    }
    Ok(())
}
