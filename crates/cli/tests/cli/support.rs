//! Sites in temporary folders and runs of the binary.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the binary outside any checkout and with a cache of the tests' own, so that only the
/// arguments count.
pub fn siskin<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Run {
    finished(Command::new(env!("CARGO_BIN_EXE_siskin")).args(arguments))
}

/// Runs a command as [`siskin`] runs the binary.
pub fn finished(command: &mut Command) -> Run {
    let output = command
        .current_dir(std::env::temp_dir())
        .env("XDG_CACHE_HOME", cache())
        .output()
        .unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The cache of all runs of one test process, in the folder for what tests leave behind.
fn cache() -> &'static Path {
    static CACHE: OnceLock<TempDir> = OnceLock::new();
    let make = || tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    CACHE.get_or_init(make).path()
}

/// Runs the binary, which must fail with a one-line error: the text behind `error: `.
pub fn failure<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> String {
    let run = siskin(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    let lines: Vec<_> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{run:?}");
    lines[0].strip_prefix("error: ").unwrap().to_owned()
}

/// The released encoder.
pub fn encoder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/siskin-en")
}

/// What the encoder's folder holds that indexing reads.
pub const ENCODER_FILES: [&str; 6] = [
    "encoder.json",
    "model.onnx",
    "queries.safetensors",
    "rows.safetensors",
    "synonyms.txt",
    "tokenizer.json",
];

/// A copy of the released encoder's folder, to be changed.
pub fn encoder_copy() -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ENCODER_FILES {
        fs::copy(encoder().join(name), copy.path().join(name)).unwrap();
    }
    copy
}

/// The released encoder that reads queries for the indexes of [`encoder`].
pub fn query_encoder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/siskin-en-small")
}

/// A folder with files named as the browser's.
pub fn runtime() -> TempDir {
    folder(&[
        ("siskin.js", "export {};"),
        ("siskin-worker.js", "self;"),
        ("siskin_web_bg.wasm", "\0asm"),
        ("sizes.json", "{}"),
        ("encoder/encoder.json", "another"),
    ])
}

/// An HTML page with a title and a body.
pub fn html(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><title>{title}</title><main><h1>{title}</h1>{body}</main>"
    )
}

/// A folder with the given files.
pub fn folder<C: AsRef<[u8]>>(files: &[(&str, C)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// A site of a few pages that share hardly a word.
pub fn site() -> TempDir {
    let threads = "<p>Start here.</p><h2 id=mutex>Sharing a value</h2><p>A mutex lets one thread \
        at a time change the shared value. Lock it, change it, and the lock opens by itself.</p>";
    let panic = "<p>Call panic! when nothing sensible can be done. The process unwinds its stack \
        and ends with an error code. Compile with <code>--release</code> to abort.</p>";
    let option = "<p>Option says whether there is something: Some holds it, None is the absence. \
        Error E0308 tells that the types of two branches differ.</p>";
    let bread = "<p>Knead flour, water and salt, let the dough rise overnight, bake it hot.</p>";
    folder(&[
        (
            "index.html",
            html("Welcome", "<p>A garden by the sea, with gulls.</p>"),
        ),
        ("guide/threads.html", html("Threads", threads)),
        ("guide/panic.html", html("Giving up", panic)),
        ("guide/option.html", html("Absent values", option)),
        ("bread.html", html("Bread", bread)),
        ("404.html", html("Lost", "<p>Nothing here.</p>")),
    ])
}

/// The arguments that index `site` without files for the browser.
pub fn index_arguments(site: &Path) -> Vec<PathBuf> {
    let mut arguments: Vec<PathBuf> = ["index", "--no-runtime", "--encoder"]
        .map(PathBuf::from)
        .into();
    arguments.extend([encoder(), site.to_owned()]);
    arguments
}

/// [`site`] with its index, made once; not to be changed.
pub fn indexed_site() -> &'static Path {
    static SITE: OnceLock<TempDir> = OnceLock::new();
    let site = SITE.get_or_init(|| {
        let site = site();
        let run = siskin(index_arguments(site.path()));
        assert_eq!(run.code, 0, "{run:?}");
        site
    });
    site.path()
}

/// A copy of the index of [`indexed_site`], to be damaged.
pub fn copied_bundle() -> TempDir {
    let bundle = indexed_site().join("siskin");
    let copy = tempfile::tempdir().unwrap();
    for (name, content) in contents(&bundle) {
        fs::write(copy.path().join(name), content).unwrap();
    }
    copy
}

/// All files below `folder`, hidden ones too, with their contents.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(current) = open.pop() {
        for entry in fs::read_dir(current).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap();
                files.insert(
                    name.to_string_lossy().replace('\\', "/"),
                    fs::read(path).unwrap(),
                );
            }
        }
    }
    files
}

/// The names of [`contents`].
pub fn names(folder: &Path) -> Vec<String> {
    contents(folder).into_keys().collect()
}

/// The one file in `folder` whose name begins with `start`.
pub fn file_named(folder: &Path, start: &str) -> PathBuf {
    let names = names(folder);
    let found: Vec<_> = names
        .iter()
        .filter(|name| name.starts_with(start))
        .collect();
    assert_eq!(found.len(), 1, "{start}: {names:?}");
    folder.join(found[0])
}
