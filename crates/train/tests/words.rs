//! `words` on an encoder of the tiny network: rows of words, and those who read queries for it.

mod tiny;

use std::path::Path;

use anyhow::Result;
use clap::Parser;
use serde_json::json;
use siskin_encoder::Encoder;
use siskin_train::words;

#[derive(Parser)]
struct Words {
    #[command(flatten)]
    args: words::Args,
}

fn run(line: &str) -> Result<()> {
    words::run(&Words::try_parse_from(line.split_whitespace())?.args)
}

/// An encoder of the tiny network, in whose vocabulary *yak* only ends words.
fn write_encoder(folder: &Path) -> Result<()> {
    tiny::write_base(&folder.join("base"))?;
    let tokenizer = folder.join("base/tokenizer.json");
    let text = std::fs::read_to_string(&tokenizer)?;
    std::fs::write(&tokenizer, text.replace("\"yak\"", "\"##yak\""))?;
    tiny::write_encoder(folder)
}

#[test]
fn an_encoder_gets_rows_of_words_and_its_students_follow() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    write_encoder(folder.path())?;
    let (zoo, list) = (path("zoo"), path("words.txt"));
    let (zoo_name, list_name) = (zoo.display(), list.display());
    std::fs::write(&list, "antyak\nbeeyak\ncat\nzebra\n")?;
    let before = Encoder::open(&zoo)?;
    let pieces = before.generic_rows()?;
    assert!(pieces.words.is_empty());
    std::fs::create_dir(path("student"))?;
    let mut manifest = tiny::json_of(&zoo.join("encoder.json"))?;
    manifest["queries_for"] = json!(before.id());
    let student = path("student/encoder.json");
    std::fs::write(&student, manifest.to_string())?;
    let line = format!(
        "words {zoo_name} --words {list_name} --students {}",
        path("student").display()
    );
    run(&line)?;

    let after = Encoder::open(&zoo)?;
    let rows = after.generic_rows()?;
    let known: Vec<&str> = rows.words.keys().map(String::as_str).collect();
    assert_eq!(
        known,
        ["antyak", "beeyak"],
        "neither whole words nor others"
    );
    assert_ne!(rows.words["antyak"], rows.words["beeyak"]);
    assert!(rows.words.values().all(|row| row.len() == 8));
    assert_eq!(rows.static_rows, pieces.static_rows);
    assert_eq!(rows.generic, pieces.generic);
    assert_ne!(after.id(), before.id());
    assert_eq!(tiny::json_of(&student)?["queries_for"], json!(after.id()));
    let made = &tiny::json_of(&zoo.join("encoder.json"))?["training"]["words"];
    assert_eq!(
        (&made["words"], &made["fitted_on"]),
        (&json!(2), &json!(23))
    );
    let cosine = made["mean_cosine"].as_f64();
    assert!(cosine.is_some_and(|cosine| cosine > 0.2), "{made}");

    run(&line)?;
    assert_eq!(Encoder::open(&zoo)?.id(), after.id(), "the same again");
    std::fs::write(&list, "beeyak\n")?;
    run(&format!("words {zoo_name} --words {list_name}"))?;
    let alone = Encoder::open(&zoo)?.generic_rows()?.words;
    assert_eq!(alone["beeyak"], rows.words["beeyak"]);
    assert_eq!(alone.len(), 1);
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_changed() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    write_encoder(folder.path())?;
    let zoo = path("zoo");
    let before = Encoder::open(&zoo)?;
    std::fs::write(path("words.txt"), "antyak\nBeeYak\n")?;
    std::fs::write(path("good.txt"), "antyak\n")?;
    std::fs::write(path("whole.txt"), "ant\nzebra\n")?;
    for (options, reason) in [
        (
            format!("--words {}", path("words.txt").display()),
            "line 2: \"BeeYak\" is no word",
        ),
        (
            format!("--words {}", path("none.txt").display()),
            "cannot read",
        ),
        (
            format!(
                "--words {} --students {}",
                path("good.txt").display(),
                zoo.display()
            ),
            "reads queries for no other encoder",
        ),
        (
            format!("--words {}", path("whole.txt").display()),
            "nothing to add",
        ),
    ] {
        let error = run(&format!("words {} {options}", zoo.display())).unwrap_err();
        assert!(format!("{error:#}").contains(reason), "{error:#}");
        assert_eq!(Encoder::open(&zoo)?.id(), before.id());
        assert!(Encoder::open(&zoo)?.generic_rows()?.words.is_empty());
        assert!(!path(".zoo.partial").exists());
    }
    std::fs::write(zoo.join("golden.json"), "{}")?;
    let line = format!(
        "words {} --words {}",
        zoo.display(),
        path("good.txt").display()
    );
    let error = format!("{:#}", run(&line).unwrap_err());
    assert!(
        error.contains("golden.json is not the file that"),
        "{error}"
    );
    assert!(!path(".zoo.partial").exists());
    Ok(())
}
