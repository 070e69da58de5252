//! The other browsers of the end-to-end tests, which speak WebDriver: Firefox and WebKitGTK, and
//! Chromium's own driver.

use anyhow::Result;

use crate::process::say;
use crate::workspace::Workspace;
use crate::{cargo_tools, debian};

/// Programs that the tests start, each with the Debian package that holds it.
const PROGRAMS: [(&str, &str); 6] = [
    ("firefox-esr", "firefox-esr"),
    ("chromedriver", "chromium-driver"),
    ("WebKitWebDriver", "webkit2gtk-driver"),
    ("xvfb-run", "xvfb"),
    ("xauth", "xauth"),
    ("dbus-run-session", "dbus"),
];

const REMEDY: &str = "install them yourself with apt-get";

/// Installs on Debian what is missing. Elsewhere the tests skip the browsers that they do not find, and
/// this says so.
///
/// Fails where Debian's packages cannot be installed or geckodriver cannot be built.
pub fn install(workspace: &Workspace) -> Result<()> {
    let missing: Vec<_> = PROGRAMS
        .iter()
        .filter(|(program, _)| workspace.find_program(program).is_none())
        .map(|&(_, package)| package)
        .collect();
    if !missing.is_empty() && !debian::has_apt_get(workspace) {
        say(&format!(
            "without {}, of which there are no packages here, the browser tests skip a browser",
            missing.join(", ")
        ));
        return Ok(());
    }
    if missing.is_empty() {
        say("Firefox, WebKitGTK and their drivers: found");
    } else {
        say(&format!(
            "{}: installing with apt-get (the browser tests drive them)",
            missing.join(", ")
        ));
        debian::install(workspace, &missing, REMEDY)?;
    }
    cargo_tools::install_geckodriver(workspace)
}
