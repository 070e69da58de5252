//! Debian's packages, for the browsers of the end-to-end tests.

use std::process::Command;

use anyhow::{Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// Installs packages with apt-get.
///
/// Fails with `remedy` where there is no apt-get or no right to use it.
pub fn install(workspace: &Workspace, packages: &[&str], remedy: &str) -> Result<()> {
    let names = packages.join(" ");
    let Some(administrator) = administrator() else {
        bail!("no right to install {names}: {remedy}");
    };
    if !has_apt_get(workspace) {
        bail!("no apt-get to install {names} with: {remedy}");
    }
    process::run(&mut apt_get(administrator, &["update", "--quiet"]))?;
    let options = ["install", "--yes", "--quiet", "--no-install-recommends"];
    process::run(apt_get(administrator, &options).args(packages))
}

/// Whether the system's packages come from Debian or a relative of it.
pub fn has_apt_get(workspace: &Workspace) -> bool {
    workspace.find_program("apt-get").is_some()
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
