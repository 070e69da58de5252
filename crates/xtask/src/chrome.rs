//! A Chromium-like browser for the end-to-end tests.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::process::{self, say};
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
    let Some(administrator) = administrator() else {
        bail!("no Chrome or Chromium found, and no right to install one: {REMEDY}");
    };
    if workspace.find_program("apt-get").is_none() {
        bail!("no Chrome or Chromium found, and no apt-get to install one with: {REMEDY}");
    }
    say("chromium: installing Debian's with apt-get (the browser tests drive it)");
    process::run(&mut apt_get(administrator, &["update", "--quiet"]))?;
    let packages = ["--yes", "--quiet", "--no-install-recommends", "chromium"];
    process::run(apt_get(administrator, &["install"]).args(packages))
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

/// How the commands of an administrator are started.
#[derive(Clone, Copy)]
enum Administrator {
    Ourselves,
    Sudo,
}

/// Who can install packages without being asked for a password.
fn administrator() -> Option<Administrator> {
    let user = process::capture(Command::new("id").arg("-u")).unwrap_or_default();
    if user.trim() == "0" {
        return Some(Administrator::Ourselves);
    }
    let sudo = process::succeeds(Command::new("sudo").args(["-n", "true"]));
    sudo.then_some(Administrator::Sudo)
}

fn apt_get(administrator: Administrator, arguments: &[&str]) -> Command {
    let mut command = match administrator {
        Administrator::Ourselves => Command::new("apt-get"),
        Administrator::Sudo => {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "apt-get"]);
            sudo
        }
    };
    command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive");
    command
}
