use std::fs;
use std::path::PathBuf;

use crate::support::{
    contents, encoder, encoder_copy, folder, html, index_arguments, names, query_encoder, runtime,
    siskin, site,
};

#[test]
fn a_site_gets_a_folder_with_its_index() {
    let site = site();
    let before = names(site.path());
    let mut arguments = index_arguments(site.path());
    arguments.push("--json".into());
    let run = siskin(arguments);
    assert_eq!(run.code, 0, "{run:?}");

    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(summary["pages"], 5);
    assert_eq!(summary["skipped"][0]["path"], "404.html");
    assert!(summary["passages"].as_u64().unwrap() >= 6);
    let kinds = names(&site.path().join("siskin"));
    for kind in [
        "codes-",
        "common-",
        "foreign-",
        "map-",
        "records-",
        "siskin-files.json",
        "siskin.json",
        "spelling-",
        "uhd-",
        "words-",
    ] {
        assert!(
            kinds.iter().any(|name| name.starts_with(kind)),
            "{kind}: {kinds:?}"
        );
    }
    let rest: Vec<_> = names(site.path())
        .into_iter()
        .filter(|name| !name.starts_with("siskin/"))
        .collect();
    assert_eq!(rest, before, "something was left beside the index");
}

#[test]
fn the_same_site_gives_the_same_bytes() {
    let site = site();
    let out = tempfile::tempdir().unwrap();
    let outputs = ["a", "b"].map(|name| out.path().join(name));
    for output in &outputs {
        let mut arguments = index_arguments(site.path());
        arguments.extend(["--output".into(), output.clone(), "--quiet".into()]);
        let run = siskin(arguments);
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (0, "", "")
        );
    }
    assert_eq!(contents(&outputs[0]), contents(&outputs[1]));
}

#[test]
fn passages_known_from_an_earlier_run_give_the_same_bytes_without_the_network() {
    let (site, out) = (site(), tempfile::tempdir().unwrap());
    let cache = out.path().join("cache");
    let index = |name: &str, options: &[&str]| {
        let output = out.path().join(name);
        let mut arguments = index_arguments(site.path());
        arguments.extend(["--json".into(), "--output".into(), output.clone()]);
        arguments.extend(options.iter().map(PathBuf::from));
        let run = siskin(arguments);
        assert_eq!(run.code, 0, "{run:?}");
        let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let count = |key: &str| summary["codes"][key].as_u64().unwrap();
        (contents(&output), count("known"), count("encoded"))
    };
    let cached = ["--cache", cache.to_str().unwrap()];
    let (fresh, known, passages) = index("fresh", &["--no-cache"]);
    assert_eq!(known, 0);
    assert_eq!(index("first", &cached), (fresh.clone(), 0, passages));
    assert_eq!(index("second", &cached), (fresh.clone(), passages, 0));
    let packs = contents(&cache);
    let (pack, whole) = packs.first_key_value().unwrap();
    fs::write(cache.join(pack), &whole[..whole.len() / 2]).unwrap();
    let (resumed, known, encoded) = index("resumed", &cached);
    assert_eq!((resumed, known + encoded), (fresh, passages));
    assert!(known > 0 && encoded > 0, "{known} known, {encoded} encoded");
}

#[test]
fn a_light_index_encodes_the_first_passages_and_finds_all_words() {
    let sections = |name: &str| {
        let section =
            |i| format!("<h2>{name} part {i}</h2><p>Part {i} of {name} says word{i}.</p>");
        (0..8).map(section).collect::<String>()
    };
    let site = folder(&[
        ("a.html", html("Apples", &sections("apples"))),
        ("b.html", html("Bees", &sections("bees"))),
    ]);
    let count = |options: &[&str]| {
        let mut arguments = index_arguments(site.path());
        arguments.extend(["--json", "--no-cache"].iter().map(PathBuf::from));
        arguments.extend(options.iter().map(PathBuf::from));
        let run = siskin(arguments);
        assert_eq!(run.code, 0, "{run:?}");
        let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let codes = summary["codes"]["encoded"].as_u64().unwrap();
        (codes, summary["passages"].as_u64().unwrap())
    };
    let (whole, passages) = count(&[]);
    assert_eq!(whole, passages);
    assert_eq!(count(&["--lite"]), (6, passages));
    let run = siskin(["search", site.path().to_str().unwrap(), "word7", "--json"]);
    assert!(
        run.stdout.contains("/a.html") && run.stdout.contains("/b.html"),
        "{run:?}"
    );
}

#[test]
fn a_new_index_replaces_the_old_one_whole() {
    let site = site();
    assert_eq!(siskin(index_arguments(site.path())).code, 0);
    let bundle = site.path().join("siskin");
    let first = names(&bundle);
    fs::write(
        site.path().join("cats.html"),
        html("Cats", "<p>They purr when they are content.</p>"),
    )
    .unwrap();
    assert_eq!(siskin(index_arguments(site.path())).code, 0);
    let second = names(&bundle);
    assert_eq!(
        first.len(),
        second.len(),
        "files of the old index stayed: {second:?}"
    );
    assert_ne!(first, second);
    let run = siskin(["search", bundle.to_str().unwrap(), "purr", "--json"]);
    assert!(run.stdout.contains("/cats.html"), "{run:?}");
}

#[test]
fn the_folder_is_complete_with_the_browsers_files_and_the_encoder() {
    let site = site();
    let runtime = runtime();
    let run = siskin([
        "index".as_ref(),
        site.path().as_os_str(),
        "--encoder".as_ref(),
        encoder().as_os_str(),
        "--runtime".as_ref(),
        runtime.path().as_os_str(),
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("5 pages"), "{run:?}");
    let names = names(&site.path().join("siskin"));
    for name in ["siskin.js", "siskin-worker.js", "siskin_web_bg.wasm"] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    let of_encoder: Vec<_> = names
        .iter()
        .filter(|name| name.starts_with("encoder/"))
        .collect();
    assert_eq!(
        of_encoder,
        [
            "encoder/encoder.json",
            "encoder/model.onnx",
            "encoder/tokenizer.json"
        ]
    );
    assert!(!names.contains(&"sizes.json".to_owned()));

    let bundle = site.path().join("siskin");
    let full = siskin([
        "search",
        bundle.to_str().unwrap(),
        "share data",
        "--mode",
        "full",
        "--json",
    ]);
    assert_eq!(full.code, 0, "{full:?}");
    let verify = siskin(["verify", bundle.to_str().unwrap()]);
    assert_eq!(verify.code, 0, "{verify:?}");
}

#[test]
fn pages_load_the_network_as_it_reads_queries() {
    let (site, runtime, encoder) = (site(), runtime(), encoder_copy());
    let index = || {
        siskin([
            "index".as_ref(),
            site.path().as_os_str(),
            "--encoder".as_ref(),
            encoder.path().as_os_str(),
            "--runtime".as_ref(),
            runtime.path().as_os_str(),
        ])
    };
    let run = index();
    assert_eq!(run.code, 0, "{run:?}");
    let bundle = site.path().join("siskin");
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&fs::read(bundle.join(name)).unwrap()).unwrap()
    };
    let (manifest, of_page) = (json("siskin.json"), json("encoder/encoder.json"));
    assert_eq!(of_page["queries_for"], manifest["encoder"]["id"]);
    assert!(manifest["encoder"]["query_id"].is_string());
    let network = |folder: PathBuf| fs::read(folder.join("model.onnx")).unwrap();
    let own = network(encoder.path().to_owned());
    let of_page = network(bundle.join("encoder"));
    assert!(own.len() == of_page.len() && own != of_page);
    assert_eq!(siskin(["verify".into(), bundle.clone()]).code, 0);

    // The folder of the passages' encoder reads queries as the page does.
    let ask = |extra: &[PathBuf]| {
        let asked = ["share data", "--mode", "full", "--json"].map(PathBuf::from);
        let arguments = ["search".into(), bundle.clone()].into_iter().chain(asked);
        let run = siskin(arguments.chain(extra.iter().cloned()));
        assert_eq!(run.code, 0, "{run:?}");
        let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        answer["results"].clone()
    };
    let given = ask(&["--encoder".into(), encoder.path().to_owned()]);
    assert_eq!(ask(&[]), given);

    fs::write(encoder.path().join("queries.safetensors"), "half").unwrap();
    let refused = index();
    assert_eq!(refused.code, 2, "{refused:?}");
    let reason = "queries.safetensors is altered or cut short";
    assert!(refused.stderr.contains(reason), "{refused:?}");
}

#[test]
fn a_search_box_made_for_pagefind_gets_its_script() {
    let (site, runtime) = (site(), runtime());
    let index = |site_arguments: &[&str]| {
        let mut arguments = vec!["index".into(), site.path().to_owned()];
        arguments.extend(["--pagefind".into(), "--encoder".into(), encoder()]);
        arguments.extend(["--runtime".into(), runtime.path().to_owned()]);
        arguments.extend(site_arguments.iter().map(PathBuf::from));
        siskin(arguments)
    };
    let before = names(site.path());
    let run = index(&[]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("pagefind.js"), "{run:?}");
    assert_eq!(names(site.path()), before);

    fs::write(runtime.path().join("pagefind.js"), "open(\"../siskin/\")").unwrap();
    let bundle = site.path().join("search");
    let run = index(&["--output", bundle.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    let script = fs::read_to_string(site.path().join("pagefind/pagefind.js")).unwrap();
    assert!(script.ends_with("open(\"../search/\")"), "{script}");
    assert!(!names(&bundle).contains(&"pagefind.js".to_owned()));
    assert_eq!(siskin(["verify".into(), bundle]).code, 0);
}

#[test]
fn a_small_encoder_reads_the_queries_of_another_ones_index() {
    let (site, runtime) = (site(), runtime());
    let index = |encoder: PathBuf, query_encoder: PathBuf| {
        siskin([
            "index".as_ref(),
            site.path().as_os_str(),
            "--encoder".as_ref(),
            encoder.as_os_str(),
            "--query-encoder".as_ref(),
            query_encoder.as_os_str(),
            "--runtime".as_ref(),
            runtime.path().as_os_str(),
        ])
    };
    let run = index(encoder(), query_encoder());
    assert_eq!(run.code, 0, "{run:?}");
    let bundle = site.path().join("siskin");
    for file in ["encoder.json", "model.onnx", "tokenizer.json"] {
        let written = fs::read(bundle.join("encoder").join(file)).unwrap();
        let wanted = fs::read(query_encoder().join(file)).unwrap();
        assert!(written == wanted, "{file} is not the small encoder's");
    }
    let verify = siskin(["verify".as_ref(), bundle.as_os_str()]);
    assert_eq!(verify.code, 0, "{verify:?}");

    // With the bundle's own encoder, then with that of the passages.
    for extra in [vec![], vec!["--encoder".into(), encoder()]] {
        let mut arguments: Vec<PathBuf> = vec!["search".into(), bundle.clone()];
        arguments.extend(["recipe for a loaf", "--mode", "full", "--limit", "1"].map(Into::into));
        let run = siskin(arguments.into_iter().chain(extra));
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("/bread.html"), "{run:?}");
    }

    let before = contents(&bundle);
    let refused = index(query_encoder(), query_encoder());
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("siskin-en-small reads queries only"),
        "{refused:?}"
    );
    assert!(
        contents(&bundle) == before,
        "the index that was there is lost"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    use std::os::unix::process::ExitStatusExt;

    let site = site();
    let before = names(site.path());
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_siskin"))
            .args(index_arguments(site.path()))
            .arg("--no-cache")
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let hidden = site.path().join(".siskin.siskin-partial");
        while !hidden.exists() {
            assert_eq!(run.try_wait().unwrap(), None, "it ended too early");
            std::thread::yield_now();
        }
        let mut kill = std::process::Command::new("kill");
        kill.args(["-s", signal, &run.id().to_string()]);
        assert!(kill.status().unwrap().success());
        assert_eq!(run.wait().unwrap().signal(), Some(number));
        assert_eq!(names(site.path()), before, "{signal}");
    }
}

#[test]
fn a_page_that_cannot_be_read_is_reported() {
    let deep = "<div>".repeat(100_000);
    let site = folder(&[
        ("deep.html", html("Deep", &deep)),
        ("good.html", html("Good", "<p>A page like any other.</p>")),
    ]);
    let run = siskin(index_arguments(site.path()));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stderr.contains("warning: left out deep.html"),
        "{run:?}"
    );
    assert!(run.stdout.contains("1 pages"), "{run:?}");
}
