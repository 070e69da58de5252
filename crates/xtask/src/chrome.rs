//! A Chromium-like browser for the end-to-end tests.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::debian;
use crate::process::say;
use crate::workspace::Workspace;

const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// Where macOS keeps applications, which are not on PATH.
const PLACES: [&str; 2] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

const REMEDY: &str = "install it yourself (Debian: sudo apt-get install chromium) or set \
                      SISKIN_CHROME to a Chrome or Chromium";

/// SISKIN_CHROME where it is set, else the first Chrome or Chromium found.
pub fn find(workspace: &Workspace) -> Option<PathBuf> {
    if let Some(chosen) = env::var_os("SISKIN_CHROME") {
        return Some(chosen.into());
    }
    let on_path = NAMES.iter().find_map(|name| workspace.find_program(name));
    on_path.or_else(|| {
        PLACES
            .iter()
            .map(PathBuf::from)
            .find(|place| place.is_file())
    })
}

/// Finds a browser, or installs Debian's chromium.
///
/// Fails with the command to type where there is no apt-get or no right to use it.
pub fn install(workspace: &Workspace) -> Result<()> {
    if let Some(browser) = find(workspace) {
        return report(&browser);
    }
    say("chromium: installing Debian's with apt-get (the browser tests drive it)");
    debian::install(workspace, &["chromium"], REMEDY)
}

fn report(browser: &Path) -> Result<()> {
    if !browser.is_file() {
        bail!(
            "SISKIN_CHROME names {}, which is no file",
            browser.display()
        );
    }
    say(&format!("browser {}: found", browser.display()));
    Ok(())
}
