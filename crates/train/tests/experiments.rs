//! `experiments` from collections to the page, on a tiny network.

mod tiny;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Parser;
use siskin_train::experiments::parts::Part;
use siskin_train::experiments::{self, Args};

#[derive(Parser)]
#[command(args_override_self = true)]
struct Command {
    #[command(flatten)]
    args: Args,
}

/// A base model and two collections in a temporary folder.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        tiny::write_base(&folder.path().join("base"))?;
        for name in ["animals", "others"] {
            let folder = folder.path().join(name);
            tiny::write_collection(&folder, 60)?;
            std::fs::copy(folder.join("qrels/train.tsv"), folder.join("qrels/dev.tsv"))?;
        }
        Ok(Self { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, options: &str) -> Result<()> {
        let [base, animals, others, cache, out] =
            ["base", "animals", "others", "cache", "out"].map(|name| self.path(name));
        let fixed = "--queries 20 --passages 40 --pairs-per-collection 50 --layers 0 1 2 \
            --dimensions 24 --winners 2 --passage-k 6 --steps 4 --batch-pairs 6";
        let line = format!(
            "experiments --base {} --collections {} --pairs {} --cache {} --out {} {fixed} {options}",
            base.display(),
            animals.display(),
            others.display(),
            cache.display(),
            out.display()
        );
        experiments::run(&Command::try_parse_from(line.split_whitespace())?.args)
    }

    fn text(&self, name: &str) -> Result<String> {
        Ok(std::fs::read_to_string(self.path(name))?)
    }
}

fn files_below(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

#[test]
fn all_parts_come_onto_the_page_and_are_not_run_again() -> Result<()> {
    let bench = Bench::new()?;
    bench.run("")?;
    let page = bench.text("out/README.md")?;
    for part in Part::all() {
        assert!(page.contains(&format!("## {}", part.title())), "{page}");
        assert!(
            bench
                .path(&format!("out/data/{}.json", part.name()))
                .exists()
        );
    }
    for plot in files_below(&bench.path("out/plots"))? {
        assert!(page.contains(&format!("(plots/{plot})")), "{plot}");
    }
    assert!(
        !files_below(&bench.path("cache"))?
            .iter()
            .any(|name| name.ends_with("partial"))
    );

    // What is kept is not made again; what is missing comes back as it was.
    let kept = bench.text("out/data/density.json")?;
    let marked = kept.replacen("Density against length", "Kept", 1);
    std::fs::write(bench.path("out/data/density.json"), marked)?;
    let lost = bench.text("out/data/query-k.json")?;
    std::fs::remove_file(bench.path("out/data/query-k.json"))?;
    bench.run("--parts density query-k")?;
    assert_eq!(bench.text("out/data/query-k.json")?, lost);
    let page = bench.text("out/README.md")?;
    assert!(
        page.contains("## Kept") && page.contains("## Quantization"),
        "{page}"
    );

    // Other settings are other results.
    bench.run("--parts density --winners 1")?;
    assert!(
        bench
            .text("out/README.md")?
            .contains("## Density against length")
    );
    Ok(())
}

#[test]
fn findings_stand_beside_the_figures_they_were_written_for() -> Result<()> {
    let bench = Bench::new()?;
    bench.run("--parts density")?;
    let page = bench.text("out/README.md")?;
    let (_, figures) = page.split_once("figures `").unwrap();
    let figures = &figures[..12];
    std::fs::create_dir_all(bench.path("out/notes"))?;
    let note = bench.path("out/notes/density.md");
    std::fs::write(
        &note,
        format!("<!-- figures {figures} -->\nLonger is denser.\n"),
    )?;
    bench.run("--parts density")?;
    let page = bench.text("out/README.md")?;
    assert!(page.contains("**Finding.** Longer is denser."), "{page}");
    assert!(page.contains("| figure 5 | Longer is denser. |"), "{page}");
    assert!(!page.contains("an earlier run"), "{page}");
    bench.run("--parts density --winners 1")?;
    assert!(bench.text("out/README.md")?.contains("an earlier run"));
    Ok(())
}

#[test]
fn damaged_vectors_are_named_and_not_used() -> Result<()> {
    let bench = Bench::new()?;
    bench.run("--parts density")?;
    let file = bench.path("cache/animals-dev/layer2.safetensors");
    let mut bytes = std::fs::read(&file)?;
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    std::fs::write(&file, bytes)?;
    std::fs::remove_dir_all(bench.path("out"))?;
    let error = format!("{:#}", bench.run("--parts density").unwrap_err());
    assert!(error.contains("is damaged: delete"), "{error}");
    Ok(())
}
