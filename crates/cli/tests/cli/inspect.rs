use serde_json::Value;

use crate::support::{failure, file_named, folder, indexed_site, siskin};

#[test]
fn a_bundle_shows_its_files_and_their_cost() {
    let run = siskin(["inspect", indexed_site().to_str().unwrap(), "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let files = report["files"].as_array().unwrap();
    let kind = |name: &str| files.iter().find(|file| file["kind"] == name).unwrap();
    let passages = report["passages"].as_f64().unwrap();
    let dense = kind("dense");
    let bits = dense["holds"]["dim"].as_f64().unwrap() * dense["holds"]["units"].as_f64().unwrap();
    let cost = dense["bytes_per_passage"].as_f64().unwrap();
    assert!(
        cost * passages >= bits / 8.0 && cost * passages < bits,
        "{dense}"
    );
    assert!(kind("lexical")["holds"]["terms"].as_u64().unwrap() > 40);
    assert!(kind("uhd")["holds"]["units"].as_u64().unwrap() >= 5);
    let sum: u64 = files
        .iter()
        .map(|file| file["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(
        report["index_bytes"].as_u64(),
        Some(sum + report["manifest_bytes"].as_u64().unwrap())
    );
}

#[test]
fn one_file_is_shown_alone() {
    let path = file_named(&indexed_site().join("siskin"), "passages-");
    let run = siskin(["inspect", path.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains("text and addresses of 5 pages"),
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
