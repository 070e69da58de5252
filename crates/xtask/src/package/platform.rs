//! The platforms that the command is packaged for: the one list.

use std::env::consts;

use anyhow::{Context, Result};

/// A platform, in the words of Rust and of npm.
pub struct Platform {
    rust_os: &'static str,
    rust_arch: &'static str,
    /// `process.platform` in Node.
    pub os: &'static str,
    /// `process.arch` in Node.
    pub cpu: &'static str,
    /// The C library, where a platform has several.
    pub libc: Option<&'static str>,
}

/// Each gets a package of its own; a machine builds that of its own platform.
pub const PLATFORMS: [Platform; 6] = [
    Platform::new(["linux", "x86_64"], ["linux", "x64"], Some("glibc")),
    Platform::new(["linux", "aarch64"], ["linux", "arm64"], Some("glibc")),
    Platform::new(["macos", "x86_64"], ["darwin", "x64"], None),
    Platform::new(["macos", "aarch64"], ["darwin", "arm64"], None),
    Platform::new(["windows", "x86_64"], ["win32", "x64"], None),
    Platform::new(["windows", "aarch64"], ["win32", "arm64"], None),
];

impl Platform {
    const fn new(
        [rust_os, rust_arch]: [&'static str; 2],
        [os, cpu]: [&'static str; 2],
        libc: Option<&'static str>,
    ) -> Self {
        Self {
            rust_os,
            rust_arch,
            os,
            cpu,
            libc,
        }
    }

    /// The platform of this machine.
    pub fn of_this_machine() -> Result<&'static Self> {
        let is_this =
            |platform: &&Self| platform.rust_os == consts::OS && platform.rust_arch == consts::ARCH;
        PLATFORMS.iter().find(is_this).with_context(|| {
            format!(
                "no packages are made for {} on {}: add it to PLATFORMS in {}",
                consts::OS,
                consts::ARCH,
                file!()
            )
        })
    }

    /// The npm package with its command; `www/src/node/command.ts` looks for this name.
    pub fn package(&self) -> String {
        format!("@siskin/{}-{}", self.os, self.cpu)
    }
}
