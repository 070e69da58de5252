//! `synonyms` on an encoder of the tiny network: what a thesaurus says, and those who read queries for it.

mod tiny;

use anyhow::Result;
use clap::Parser;
use serde_json::json;
use siskin_encoder::{Encoder, EncoderError};
use siskin_train::synonyms;

#[derive(Parser)]
struct Synonyms {
    #[command(flatten)]
    args: synonyms::Args,
}

fn run(line: &str) -> Result<()> {
    synonyms::run(&Synonyms::try_parse_from(line.split_whitespace())?.args)
}

#[test]
fn an_encoder_gets_synonyms_and_its_students_follow() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    tiny::write_base(&folder.path().join("base"))?;
    tiny::write_encoder(folder.path())?;
    tiny::write_dict(&path("dict"), tiny::THESAURUS)?;
    let zoo = path("zoo");
    let before = Encoder::open(&zoo)?;
    assert!(before.generic_rows()?.synonyms.is_empty());
    std::fs::create_dir(path("student"))?;
    let mut manifest = tiny::json_of(&zoo.join("encoder.json"))?;
    manifest["queries_for"] = json!(before.id());
    let student = path("student/encoder.json");
    std::fs::write(&student, manifest.to_string())?;
    let line = format!(
        "synonyms {} --wordnet {} --students {}",
        zoo.display(),
        path("dict").display(),
        path("student").display()
    );
    run(&line)?;

    let after = Encoder::open(&zoo)?;
    let text = std::fs::read_to_string(zoo.join("synonyms.txt"))?;
    assert_eq!(text, "seal\tnewts 77\tmole 38\tvole 38\n");
    assert_eq!(after.generic_rows()?.synonyms["seal"][0].0, "newts");
    assert_ne!(after.id(), before.id());
    assert_eq!(tiny::json_of(&student)?["queries_for"], json!(after.id()));
    let made = &tiny::json_of(&zoo.join("encoder.json"))?["training"]["synonyms"];
    assert_eq!(
        made,
        &json!({ "thesaurus": "WordNet 3.1", "words": 1, "near": 3 })
    );

    run(&line)?;
    assert_eq!(Encoder::open(&zoo)?.id(), after.id(), "the same again");
    // A student that was left behind when the encoder changed is known by its earlier id.
    manifest["queries_for"] = json!(before.id());
    std::fs::write(&student, manifest.to_string())?;
    run(&line)?;
    assert_eq!(tiny::json_of(&student)?["queries_for"], json!(after.id()));
    std::fs::write(zoo.join("synonyms.txt"), "seal\tfox 100\n")?;
    let altered = after.generic_rows().unwrap_err();
    assert!(matches!(altered, EncoderError::Altered { file, .. } if file == "synonyms.txt"));
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_changed() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    tiny::write_base(&folder.path().join("base"))?;
    tiny::write_encoder(folder.path())?;
    let zoo = path("zoo");
    let before = Encoder::open(&zoo)?;
    tiny::write_dict(&path("good"), tiny::THESAURUS)?;
    tiny::write_dict(&path("cut"), "00000001 06 n 02 seal 0")?;
    let alone = tiny::THESAURUS
        .replace("Newts", "otter")
        .replace("@ ", "+ ");
    tiny::write_dict(&path("alone"), &alone)?;
    let student = format!("--students {}", zoo.display());
    for (dict, options, reason) in [
        ("none", "", "data.noun: --wordnet is the folder `dict`"),
        ("cut", "", "data.noun, line 1, is none of WordNet's"),
        ("alone", "", "no two words that the encoder knows"),
        ("good", &student, "reads queries for no other encoder"),
    ] {
        let dict = path(dict);
        let line = format!(
            "synonyms {} --wordnet {} {options}",
            zoo.display(),
            dict.display()
        );
        let error = format!("{:#}", run(&line).unwrap_err());
        assert!(error.contains(reason), "{error}");
        assert_eq!(Encoder::open(&zoo)?.id(), before.id());
        assert!(!zoo.join("synonyms.txt").exists());
        assert!(!path(".zoo.partial").exists());
    }
    Ok(())
}
