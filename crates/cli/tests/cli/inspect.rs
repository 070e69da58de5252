use serde_json::Value;

use crate::support::{encoder, failure, file_named, folder, indexed_site, query_encoder, siskin};

#[test]
fn a_bundle_shows_its_files_and_their_cost() {
    let run = siskin(["inspect", indexed_site().to_str().unwrap(), "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let shards = report["shards"].as_array().unwrap();
    let kind = |name: &str| shards.iter().find(|of| of["kind"] == name).unwrap();
    let names = [
        "common", "words", "foreign", "spelling", "codes", "records", "map", "uhd",
    ];
    for (name, shards) in names.map(|name| (name, kind(name))) {
        let [files, bytes, largest] =
            ["files", "bytes", "largest_bytes"].map(|key| shards[key].as_u64().unwrap());
        assert!(
            files >= 1 && largest <= bytes && bytes <= files * largest,
            "{name}: {shards}"
        );
    }
    assert!(kind("foreign")["files"].as_u64().unwrap() > 1);
    let sum: u64 = shards
        .iter()
        .map(|file| file["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(
        report["index_bytes"].as_u64(),
        Some(sum + report["manifest_bytes"].as_u64().unwrap())
    );
}

#[test]
fn a_page_shows_what_dimensions_stand_for() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let (page, encoder) = (page.to_str().unwrap(), encoder());
    let encoder = encoder.to_str().unwrap();
    let site = indexed_site();
    let site = site.to_str().unwrap();
    let read = || std::fs::read_to_string(page).unwrap();

    let run = siskin([
        "inspect",
        site,
        "--html",
        page,
        "--encoder",
        encoder,
        "--quiet",
    ]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    let html = read();
    assert!(
        html.contains("Bucket 0: layer 6, 8192 dimensions"),
        "{html}"
    );
    assert_eq!(html.matches("<svg").count(), 2, "{html}");
    for expected in ["words that the site never uses; 80 files", "siskin.json"] {
        assert!(html.contains(expected), "{expected}");
    }
    assert!(
        html.contains("thread") && !html.contains("No terms"),
        "{html}"
    );

    let run = siskin(["inspect", encoder, "--html", page]);
    assert_eq!(run.code, 0, "{run:?}");
    let html = read();
    assert!(
        html.contains("Encoder siskin-en") && html.contains("model.onnx"),
        "{html}"
    );
    assert_eq!(html.matches("<svg").count(), 1, "{html}");
    let run = siskin(["inspect", encoder]);
    assert!(run.stdout.contains("rows.safetensors"), "{run:?}");
}

#[test]
fn a_page_of_an_encoder_of_queries_names_the_one_to_look_at() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let small = query_encoder();
    let arguments = ["inspect", small.to_str().unwrap(), "--html"];
    let run = siskin([&arguments[..], &[page.to_str().unwrap()]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    let html = std::fs::read_to_string(page).unwrap();
    let teacher = std::fs::read(encoder().join("encoder.json")).unwrap();
    let id = &siskin_core::container::sha256_hex(&teacher)[..12];
    assert!(
        html.contains(&format!("it was distilled from, {id}")),
        "{html}"
    );
    assert!(!html.contains("dimensions occur"), "{html}");
    assert!(!html.contains("<svg"), "{html}");
}

#[test]
fn a_page_takes_no_other_files_place() {
    let folder = folder(&[("index.html", "<title>Home</title>")]);
    let page = folder.path().join("index.html");
    let page = page.to_str().unwrap();
    let small = query_encoder();
    let error = failure(["inspect", small.to_str().unwrap(), "--html", page]);
    assert!(error.contains("is there already and no page"), "{error}");
    assert_eq!(
        std::fs::read_to_string(page).unwrap(),
        "<title>Home</title>"
    );
    let shard = file_named(&indexed_site().join("siskin"), "records-");
    let error = failure(["inspect", shard.to_str().unwrap(), "--html", "page.html"]);
    assert!(error.contains("is one file"), "{error}");
}

#[test]
fn one_file_is_shown_alone() {
    let path = file_named(&indexed_site().join("siskin"), "records-");
    let run = siskin(["inspect", path.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout
            .contains("a shard of text and addresses of pages"),
        "{run:?}"
    );
}

#[test]
fn other_peoples_files_are_refused() {
    let other = folder(&[("photo.bin", "JFIF")]);
    let path = other.path().join("photo.bin");
    let error = failure(["inspect", path.to_str().unwrap()]);
    assert!(
        error.starts_with("photo.bin is not a Siskin file"),
        "{error}"
    );
}
