//! An installed command, with no checkout around it: where it finds what came with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::{ENCODER_FILES, Run, encoder, finished, folder, html, names, runtime};

/// A folder with `bin/siskin` and nothing else.
fn prefix() -> TempDir {
    let prefix = tempfile::tempdir().unwrap();
    let command = command_in(prefix.path());
    copy(Path::new(env!("CARGO_BIN_EXE_siskin")), &command);
    prefix
}

fn command_in(prefix: &Path) -> PathBuf {
    let name = Path::new(env!("CARGO_BIN_EXE_siskin")).file_name().unwrap();
    prefix.join("bin").join(name)
}

/// [`prefix`] with the browser's files and the encoder.
fn installation() -> TempDir {
    let prefix = prefix();
    let share = prefix.path().join("share/siskin");
    copy_folder(runtime().path(), &share.join("dist"));
    for name in ENCODER_FILES {
        copy(&encoder().join(name), &share.join("encoder").join(name));
    }
    prefix
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    for name in names(from) {
        copy(&from.join(&name), &to.join(&name));
    }
}

fn small_site() -> TempDir {
    folder(&[(
        "a.html",
        html("Cats", "<p>Cats purr when they are content.</p>"),
    )])
}

fn index(command: &Path, site: &Path, variables: &[(&str, &Path)]) -> Run {
    let variables = variables.iter().copied();
    finished(Command::new(command).arg("index").arg(site).envs(variables))
}

/// The text of the error with which `run` failed.
fn error(run: &Run) -> &str {
    assert_eq!(run.code, 2, "{run:?}");
    run.stderr.strip_prefix("error: ").unwrap()
}

#[test]
fn what_came_with_the_command_is_found_beside_it() {
    let (prefix, site) = (installation(), small_site());
    let run = index(&command_in(prefix.path()), site.path(), &[]);
    assert_eq!(run.code, 0, "{run:?}");
    let written = names(&site.path().join("siskin"));
    for name in ["siskin.js", "encoder/model.onnx", "siskin.json"] {
        assert!(written.contains(&name.to_owned()), "{name}: {written:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_the_command_leads_to_what_came_with_it() {
    let (prefix, site) = (installation(), small_site());
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("siskin");
    std::os::unix::fs::symlink(command_in(prefix.path()), &link).unwrap();
    let run = index(&link, site.path(), &[]);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn variables_name_folders_that_are_elsewhere() {
    let (prefix, site, runtime) = (prefix(), small_site(), runtime());
    let command = command_in(prefix.path());
    let encoder = encoder();
    let both = [
        ("SISKIN_RUNTIME", runtime.path()),
        ("SISKIN_ENCODER", encoder.as_path()),
    ];
    let run = index(&command, site.path(), &both);
    assert_eq!(run.code, 0, "{run:?}");
    let wrong = [("SISKIN_RUNTIME", site.path())];
    let run = index(&command, site.path(), &wrong);
    assert!(error(&run).starts_with("no siskin.js in "), "{run:?}");
}

#[test]
fn a_command_alone_says_what_it_lacks_and_where_that_is() {
    let (prefix, site, runtime) = (prefix(), small_site(), runtime());
    let command = command_in(prefix.path());
    let run = index(&command, site.path(), &[]);
    let message = error(&run);
    assert!(message.contains("share/siskin/dist"), "{message}");
    for remedy in ["npm", "pip", "--runtime", "SISKIN_RUNTIME", "--no-runtime"] {
        assert!(message.contains(remedy), "{message}");
    }
    let run = index(&command, site.path(), &[("SISKIN_RUNTIME", runtime.path())]);
    let message = error(&run);
    assert!(message.contains("share/siskin/encoder"), "{message}");
    for remedy in ["npm", "pip", "--encoder", "SISKIN_ENCODER"] {
        assert!(message.contains(remedy), "{message}");
    }
    assert_eq!(names(site.path()), ["a.html"]);
}
