//! The other browsers of the end-to-end tests, which speak WebDriver: Firefox and WebKitGTK, and
//! Chromium's own driver.

use anyhow::Result;

use crate::process::say;
use crate::workspace::Workspace;
use crate::{cargo_tools, debian};

/// Files that the tests need, programs by their name, each with the Debian package that holds it. The font
/// is that of the pictures in docs/screenshots.
const FILES: [(&str, &str); 7] = [
    (
        "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
        "fonts-dejavu-core",
    ),
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
    let missing: Vec<_> = FILES
        .iter()
        .filter(|(file, _)| workspace.find_program(file).is_none())
        .map(|&(_, package)| package)
        .collect();
    if !missing.is_empty() && !debian::has_apt_get(workspace) {
        say(&format!(
            "without {}, of which there are no packages here, some browser tests are skipped or fail",
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
