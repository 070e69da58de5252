use std::fs;
use std::path::Path;

use crate::support::{Run, copied_bundle, failure, file_named, indexed_site, siskin};

fn verify(bundle: &Path) -> Run {
    siskin(["verify", bundle.to_str().unwrap()])
}

#[test]
fn a_whole_index_is_well() {
    let run = verify(indexed_site());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(run.stdout.ends_with("files are well\n"), "{run:?}");
}

#[test]
fn every_problem_is_listed() {
    let bundle = copied_bundle();
    let codes = file_named(bundle.path(), "codes-");
    let mut content = fs::read(&codes).unwrap();
    *content.last_mut().unwrap() ^= 1;
    fs::write(codes, content).unwrap();
    fs::write(file_named(bundle.path(), "records-"), "cut").unwrap();
    fs::remove_file(file_named(bundle.path(), "map-")).unwrap();
    fs::write(bundle.path().join("stranger.txt"), "x").unwrap();
    let run = verify(bundle.path());
    assert_eq!(run.code, 1, "{run:?}");
    for (name, problem) in [
        ("codes-", "its content is not what its name says"),
        ("records-", "is not a Siskin file"),
        ("map-", "lacks"),
        ("stranger.txt", "was not written by"),
    ] {
        let found = run
            .stdout
            .lines()
            .any(|line| line.contains(name) && line.contains(problem));
        assert!(found, "{name}: {run:?}");
    }
    assert!(run.stdout.ends_with("4 problems\n"), "{run:?}");
}

#[test]
fn an_altered_manifest_is_noticed() {
    let bundle = copied_bundle();
    let path = bundle.path().join("siskin.json");
    let manifest = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        manifest.replacen("\"words\":1.0", "\"words\":9.0", 1),
    )
    .unwrap();
    let run = siskin(["verify", bundle.path().to_str().unwrap(), "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(
        report["problems"][0]
            .as_str()
            .unwrap()
            .starts_with("siskin.json is damaged"),
        "{report}"
    );
}

#[test]
fn what_is_no_index_cannot_be_checked() {
    let empty = tempfile::tempdir().unwrap();
    let error = failure(["verify", empty.path().to_str().unwrap()]);
    assert!(error.starts_with("no index in "), "{error}");
}
