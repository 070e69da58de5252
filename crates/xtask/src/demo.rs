//! `cargo xtask demo`: the project's own site, with a demo of Siskin beside Pagefind, served.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::process::{self, say};
use crate::workspace::Workspace;
use crate::{binary, dist, files, npm, setup, sites};

/// What the pages of the project's site are made from, besides its generator.
const SOURCES: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "docs",
    "www/README.md",
    "www/integrations",
    "www/site",
    "tests/mismatch/README.md",
];

/// Options of the demo.
#[derive(Args)]
pub struct Arguments {
    /// The built site that the demo page searches [default: the Rust Book of tests/sites].
    ///
    /// It is copied and indexed by both searches. Pages whose links begin with `/` lead out of the copy,
    /// which lies in /demo/site/.
    #[arg(long, value_name = "FOLDER")]
    site: Option<PathBuf>,
    /// What the demo page says of that site: JSON with `name`, `credit` and `questions`, as in
    /// www/site/demos [default: the folder's name].
    #[arg(long, value_name = "FILE", requires = "site")]
    about: Option<PathBuf>,
    /// Port of the local server.
    #[arg(long, default_value_t = 4173)]
    port: u16,
    /// Build and index only; leave serving to another program.
    #[arg(long)]
    no_serve: bool,
}

/// Sets up, builds, indexes and, unless told not to, serves until it is stopped.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    setup::build_tools(workspace)?;
    dist::run(workspace)?;
    binary::compile(workspace, binary::SISKIN)?;
    build(workspace, &Shown::chosen(workspace, arguments)?)?;
    if arguments.no_serve {
        return Ok(());
    }
    serve(workspace, arguments.port)
}

/// The project's site as the tests want it: its demo searches the sample site.
pub fn build_for_tests(workspace: &Workspace) -> Result<()> {
    build(workspace, &Shown::sample(workspace)?)
}

/// The site that the demo page searches.
struct Shown {
    folder: PathBuf,
    about: About,
}

/// What the demo page says of the site that it searches.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    /// Ends the heading "Ask …".
    name: String,
    /// Whose text it is, and its licence.
    credit: String,
    /// Examples, to be clicked.
    questions: Vec<String>,
    /// CSS selector of what Pagefind shall read of each page, where it would take a menu's heading for the
    /// page's title; Siskin needs none.
    #[serde(default, skip_serializing)]
    pagefind_root: Option<String>,
}

impl Shown {
    fn sample(workspace: &Workspace) -> Result<Self> {
        let about = workspace.project_package().join("demos/rust-book.json");
        Ok(Self {
            folder: workspace.sample_site(),
            about: About::read(&about)?,
        })
    }

    fn chosen(workspace: &Workspace, arguments: &Arguments) -> Result<Self> {
        let Some(folder) = &arguments.site else {
            return Self::sample(workspace);
        };
        let folder = folder
            .canonicalize()
            .with_context(|| format!("no such folder: {}", folder.display()))?;
        let about = match &arguments.about {
            Some(file) => About::read(file)?,
            None => About::of_folder(&folder),
        };
        Ok(Self { folder, about })
    }
}

impl About {
    fn read(file: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| {
            format!(
                "{} is not {{\"name\": …, \"credit\": …, \"questions\": […]}}",
                file.display()
            )
        })
    }

    fn of_folder(folder: &Path) -> Self {
        let name = folder.file_name().unwrap_or(folder.as_os_str());
        Self {
            name: name.to_string_lossy().into_owned(),
            credit: String::new(),
            questions: Vec::new(),
            pagefind_root: None,
        }
    }
}

/// Builds the project's site, indexes it and puts the demonstrated site into it, in TARGET/demo/project;
/// leaves it alone if nothing changed.
fn build(workspace: &Workspace, shown: &Shown) -> Result<()> {
    npm::install_site_packages(workspace)?;
    npm::install_bench_packages(workspace)?;
    index_shown(workspace, shown)?;
    let site = workspace.project_site();
    let about = serde_json::to_string_pretty(&shown.about)?;
    let mut inputs =
        sites::inputs(workspace, &about)?.path(workspace.target(), "demo/shown.stamp")?;
    for source in SOURCES {
        inputs = inputs.path(workspace.root(), source)?;
    }
    let stamp = inputs.stamp_for(&site);
    if stamp.is_fresh() {
        say(&format!("project's site: unchanged in {}", site.display()));
        return Ok(());
    }
    say("project's site: building and indexing");
    let staging = files::staging_beside(&site)?;
    process::run(&mut npm::build_site(workspace, &staging))?;
    process::run(&mut sites::index_command(workspace, &staging))?;
    let demo = staging.join("demo");
    files::copy_folder(&workspace.shown_site(), &demo.join("site"))?;
    fs::write(demo.join("site.json"), about).context("cannot write what the demo shows")?;
    files::replace(&site, &staging)?;
    stamp.write()
}

/// Copies the site to TARGET/demo/shown and indexes it by Siskin and by Pagefind.
fn index_shown(workspace: &Workspace, shown: &Shown) -> Result<()> {
    let site = workspace.shown_site();
    let folder = &shown.folder;
    let mut pagefind = npm::pagefind(workspace);
    if let Some(selector) = &shown.about.pagefind_root {
        pagefind.args(["--root-selector", selector]);
    }
    let stamp = sites::inputs(workspace, &process::describe(&pagefind))?
        .path(folder, "")?
        .path(&workspace.bench(), "package-lock.json")?
        .stamp_for(&site);
    if stamp.is_fresh() {
        say(&format!("demo's site: unchanged in {}", site.display()));
        return Ok(());
    }
    say(&format!(
        "demo's site: copying and indexing {}",
        folder.display()
    ));
    let staging = sites::staging_with(folder, &site)?;
    process::run(&mut sites::index_command(workspace, &staging))?;
    process::run(pagefind.arg("--site").arg(&staging))?;
    files::replace(&site, &staging)?;
    stamp.write()
}

fn serve(workspace: &Workspace, port: u16) -> Result<()> {
    say(&format!(
        "open http://localhost:{port}/ and ask; the demo is at /demo/; Ctrl-C stops"
    ));
    let mut siskin = binary::command(workspace, binary::SISKIN);
    siskin
        .arg("serve")
        .arg(workspace.project_site())
        .arg("--port")
        .arg(port.to_string());
    process::run(&mut siskin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_named_by_its_folder_unless_a_file_says_more() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("manual");
        assert_eq!(About::of_folder(&site).name, "manual");
        let file = folder.path().join("about.json");
        fs::write(
            &file,
            r#"{"name": "us", "credit": "ours", "questions": ["why"]}"#,
        )
        .unwrap();
        assert_eq!(About::read(&file).unwrap().questions, ["why"]);
        fs::write(&file, r#"{"name": "us", "question": "why"}"#).unwrap();
        let error = format!("{:#}", About::read(&file).unwrap_err());
        assert!(
            error.contains("about.json is not") && error.contains("question"),
            "{error}"
        );
    }
}
