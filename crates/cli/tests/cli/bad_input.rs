//! What people get wrong, and what breaks on the way: one line of error, nothing half written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use siskin_core::container::FORMAT_VERSION;

use crate::support::{
    copied_bundle, encoder, encoder_copy, failure, file_named, folder, html, index_arguments,
    indexed_site, names, siskin,
};

fn search_arguments<'a>(bundle: &'a Path, query: &'a str) -> [&'a str; 3] {
    ["search", bundle.to_str().unwrap(), query]
}

#[test]
fn no_such_folder() {
    let error = failure(index_arguments(Path::new("/no/such/site")));
    assert!(
        error.starts_with("no such folder: /no/such/site; give the folder"),
        "{error}"
    );
    let error = failure(search_arguments(Path::new("/no/such/site"), "x"));
    assert!(
        error.starts_with("no such folder: /no/such/site; give a site"),
        "{error}"
    );
    let error = failure(["serve", "/no/such/site"]);
    assert!(
        error.starts_with("no such folder: /no/such/site"),
        "{error}"
    );
}

/// Nobody may read what is said beside the result; `/dev/full` takes nothing.
#[cfg(target_os = "linux")]
#[test]
fn work_goes_on_where_nothing_can_be_said() {
    let run = |arguments: Vec<PathBuf>| {
        let nowhere = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_siskin"));
        let command = command
            .args(arguments)
            .stderr(nowhere)
            .current_dir(std::env::temp_dir());
        command.output().unwrap().status.code()
    };
    let site = folder(&[("a.html", "<h1>A</h1><p>text")]);
    let mut arguments = index_arguments(site.path());
    arguments.push("--no-cache".into());
    assert_eq!(run(arguments), Some(0));
    assert!(site.path().join("siskin/siskin.json").exists());
    assert_eq!(run(index_arguments(Path::new("/no/such/site"))), Some(2));
}

#[test]
fn a_folder_without_html() {
    let site = folder(&[("readme.txt", "text")]);
    let error = failure(index_arguments(site.path()));
    assert!(
        error.starts_with("no HTML in ") && error.contains("build the site first"),
        "{error}"
    );
    assert_eq!(names(site.path()), ["readme.txt"]);
}

#[test]
fn a_folder_without_an_index() {
    let site = folder(&[("a.html", "<p>text")]);
    let error = failure(search_arguments(site.path(), "x"));
    assert!(
        error.starts_with("no index in ") && error.contains("run `siskin index`"),
        "{error}"
    );
}

#[test]
fn broken_html_is_read_as_browsers_do() {
    let site = folder(&[
        (
            "cut.html",
            "<title>Cut</title><main><p>Walruses rest on ice<table><tr><td>and <b>dive</main",
        ),
        (
            "odd.html",
            "</p></div><p id=<<>>>Narwhals <i>swim <b>far</i></b> &bogus; &#xFFFFFF; <",
        ),
    ]);
    let run = siskin(index_arguments(site.path()));
    assert_eq!(run.code, 0, "{run:?}");
    for (query, url) in [("walruses", "/cut.html"), ("narwhals", "/odd.html")] {
        let run = siskin(search_arguments(site.path(), query));
        assert!(run.stdout.contains(url), "{query}: {run:?}");
    }
}

#[test]
fn a_page_of_five_megabytes() {
    let image = format!(
        "<img alt='' src='data:image/png;base64,{}'>",
        "A".repeat(2_500_000)
    );
    let style = format!("<style>{}</style>", ".a{color:red}".repeat(200_000));
    let body = format!("{style}{image}<p>Plankton drifts with the current.</p>");
    assert!(body.len() > 5_000_000);
    let site = folder(&[("big.html", html("Big", &body))]);
    let run = siskin(index_arguments(site.path()));
    assert_eq!(run.code, 0, "{run:?}");
    let run = siskin(search_arguments(site.path(), "plankton"));
    assert!(run.stdout.contains("/big.html"), "{run:?}");
}

#[test]
fn pages_that_are_not_utf_8() {
    let latin: &[u8] = b"<meta charset=iso-8859-1><title>Caf\xe9</title><main><p>Une tasse de caf\xe9 noir.</main>";
    let wrong: &[u8] =
        b"<meta charset=utf-8><title>Tea</title><main><p>A cup of tea \xff\xfe hot.</main>";
    let site = folder(&[("latin.html", latin), ("wrong.html", wrong)]);
    let run = siskin(index_arguments(site.path()));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stderr.contains("warning: wrong.html: some bytes"),
        "{run:?}"
    );
    assert!(run.stdout.contains("with replaced bytes 1"), "{run:?}");
    assert!(!run.stderr.contains("latin.html"), "{run:?}");
    let run = siskin(search_arguments(site.path(), "café"));
    assert!(run.stdout.contains("1. Café"), "{run:?}");
}

#[test]
fn an_output_folder_with_other_peoples_files() {
    let site = folder(&[
        ("a.html", html("A", "<p>Some text.</p>")),
        ("siskin/notes.txt", "mine".to_owned()),
    ]);
    let error = failure(index_arguments(site.path()));
    assert!(
        error.contains("holds files that siskin did not write (notes.txt)"),
        "{error}"
    );
    assert_eq!(names(site.path()), ["a.html", "siskin/notes.txt"]);

    let mut arguments = index_arguments(site.path());
    arguments.extend(["--output".into(), site.path().to_owned()]);
    let error = failure(arguments);
    assert!(
        error.contains("holds files that siskin did not write (a.html)"),
        "{error}"
    );
    assert_eq!(names(site.path()), ["a.html", "siskin/notes.txt"]);
}

#[test]
fn a_file_that_someone_added_to_an_index_is_not_thrown_away() {
    let site = folder(&[("a.html", html("A", "<p>Some text.</p>"))]);
    assert_eq!(siskin(index_arguments(site.path())).code, 0);
    fs::write(site.path().join("siskin/own.css"), "mine").unwrap();
    let before = names(site.path());
    let error = failure(index_arguments(site.path()));
    assert!(error.contains("did not write (own.css)"), "{error}");
    assert_eq!(names(site.path()), before);
}

#[test]
fn a_truncated_file_of_the_index() {
    let bundle = copied_bundle();
    let path = file_named(bundle.path(), "codes-");
    let content = fs::read(&path).unwrap();
    fs::write(&path, &content[..content.len() / 2]).unwrap();
    let error = failure(search_arguments(bundle.path(), "mutex"));
    assert!(
        error.contains("codes-") && error.contains("is damaged"),
        "{error}"
    );
    assert!(error.contains("what its name says"), "{error}");
}

#[test]
fn an_altered_file_of_the_index() {
    let bundle = copied_bundle();
    let path = file_named(bundle.path(), "codes-");
    let mut content = fs::read(&path).unwrap();
    *content.last_mut().unwrap() ^= 1;
    fs::write(&path, content).unwrap();
    let error = failure(search_arguments(bundle.path(), "mutex"));
    assert!(
        error.contains("codes-") && error.contains("what its name says"),
        "{error}"
    );
}

#[test]
fn an_index_without_one_of_its_files() {
    let bundle = copied_bundle();
    fs::remove_file(file_named(bundle.path(), "codes-")).unwrap();
    let error = failure(search_arguments(bundle.path(), "mutex"));
    assert!(error.contains("the bundle lacks codes-"), "{error}");
}

#[test]
fn a_manifest_of_another_kind_or_version() {
    let bundle = copied_bundle();
    let path = bundle.path().join("siskin.json");
    let manifest = fs::read_to_string(&path).unwrap();
    let of_format = |version: u16| {
        let ours = format!("\"format\":{FORMAT_VERSION}");
        assert!(manifest.contains(&ours));
        manifest.replace(&ours, &format!("\"format\":{version}"))
    };
    let cases = [
        (of_format(FORMAT_VERSION + 1), "newer than"),
        (of_format(FORMAT_VERSION - 1), "older than"),
        (
            manifest.replace("\"pages\":", "\"leaves\":"),
            "`pages` is missing",
        ),
        (manifest[..manifest.len() / 2].to_owned(), "siskin.json"),
        ("{}".to_owned(), "is not a Siskin file"),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).unwrap();
        let error = failure(search_arguments(bundle.path(), "mutex"));
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// The released encoder under another name: other id, same network.
fn renamed_encoder() -> tempfile::TempDir {
    let copy = encoder_copy();
    let manifest = fs::read_to_string(encoder().join("encoder.json")).unwrap();
    let renamed = manifest.replacen("siskin-en", "siskin-xx", 1);
    assert_ne!(manifest, renamed);
    fs::write(copy.path().join("encoder.json"), renamed).unwrap();
    copy
}

#[test]
fn an_encoder_that_did_not_make_the_index() {
    let other = renamed_encoder();
    let mut arguments = search_arguments(indexed_site(), "mutex").to_vec();
    arguments.extend([
        "--mode",
        "full",
        "--encoder",
        other.path().to_str().unwrap(),
    ]);
    let error = failure(arguments);
    assert!(
        error.starts_with("the bundle was made with encoder "),
        "{error}"
    );
}

#[test]
fn no_encoder_for_mode_full() {
    let mut arguments = search_arguments(indexed_site(), "mutex").to_vec();
    arguments.extend(["--mode", "full"]);
    let error = failure(arguments);
    assert!(error.contains("encoder.json is missing"), "{error}");
}

#[test]
fn an_encoder_folder_that_is_none_or_damaged() {
    let site = folder(&[("a.html", html("A", "<p>Some text.</p>"))]);
    let empty = tempfile::tempdir().unwrap();
    let index_with = |encoder: &Path| {
        let mut arguments = index_arguments(site.path());
        arguments[3] = encoder.to_owned();
        arguments
    };
    let error = failure(index_with(empty.path()));
    assert!(error.contains("encoder.json is missing"), "{error}");
    let damaged = renamed_encoder();
    fs::write(damaged.path().join("model.onnx"), "half").unwrap();
    let error = failure(index_with(damaged.path()));
    assert!(
        error.contains("model.onnx is altered or cut short"),
        "{error}"
    );
    assert_eq!(names(site.path()), ["a.html"]);
}

#[test]
fn a_runtime_folder_that_is_none() {
    let site = folder(&[("a.html", html("A", "<p>Some text.</p>"))]);
    let empty = tempfile::tempdir().unwrap();
    let mut arguments = index_arguments(site.path());
    arguments[1] = "--runtime".into();
    arguments.insert(2, empty.path().to_owned());
    let error = failure(arguments);
    assert!(
        error.starts_with("no siskin.js in ") && error.contains("cargo xtask dist"),
        "{error}"
    );
    assert_eq!(names(site.path()), ["a.html"]);
}

#[test]
fn an_empty_query() {
    for query in ["", " \n ", "…"] {
        let error = failure(search_arguments(indexed_site(), query));
        assert!(
            error.starts_with("the query is empty"),
            "{query:?}: {error}"
        );
    }
}

#[test]
fn a_query_of_a_hundred_kilobytes() {
    let query = "mutex ".repeat(17_000);
    assert!(query.len() > 100_000);
    let encoder = encoder();
    let full = ["--mode", "full", "--encoder", encoder.to_str().unwrap()];
    for extra in [vec![], full.to_vec()] {
        let mut arguments = search_arguments(indexed_site(), &query).to_vec();
        arguments.extend(extra);
        let error = failure(arguments);
        assert!(
            error.starts_with("the query has 102000 characters, more than"),
            "{error}"
        );
    }
}

#[test]
fn arguments_that_make_no_sense() {
    for arguments in [
        vec!["search", ".", "x", "--mode", "fast"],
        vec!["index"],
        vec!["fly"],
    ] {
        let run = siskin(&arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.starts_with("error: "), "{run:?}");
    }
}
