//! What is said beside the result: stdout is the result, stderr is talk.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

const BAR: &str = "{msg} {wide_bar} {human_pos}/{human_len} ({per_sec}, {eta} left)";
const SPINNER: &str = "{spinner} {msg}";
const TICK: Duration = Duration::from_millis(120);

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    /// Progress, remarks and problems.
    Normal,
    /// Nothing but problems.
    Quiet,
}

impl Talk {
    /// As the flag `--quiet` asks.
    pub fn new(quiet: bool) -> Self {
        if quiet { Self::Quiet } else { Self::Normal }
    }

    /// Says something that the user may miss.
    pub fn remark(self, text: &str) {
        if self == Self::Normal {
            say(text);
        }
    }

    /// Says something that the user should see.
    pub fn problem(self, text: &str) {
        say(&format!("warning: {text}"));
    }

    /// A bar with rate and time left; hidden when quiet or when nobody watches.
    pub fn bar(self, message: &'static str, total: usize) -> ProgressBar {
        let bar = self.progress(ProgressBar::new(total as u64), BAR);
        bar.with_message(message)
    }

    /// A sign of life for work of unknown length.
    pub fn spinner(self, message: &'static str) -> ProgressBar {
        let spinner = self.progress(ProgressBar::new_spinner(), SPINNER);
        spinner.with_message(message)
    }

    fn progress(self, bar: ProgressBar, template: &str) -> ProgressBar {
        if self == Self::Quiet {
            return ProgressBar::hidden();
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        bar
    }
}

/// A line for the user. Where nobody reads any longer, work goes on without it.
pub fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}

/// Prints the result.
///
/// # Errors
/// When stdout cannot be written.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Prints the result as one line of JSON.
///
/// # Errors
/// When stdout cannot be written.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// A length for people: `812 B`, `3.4 KB`, `25.1 MB` (powers of 1000).
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `text` without control characters, which a terminal would obey.
pub fn harmless(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_control())
        .collect()
}

/// A finding with its first entries, at most `named`; nothing without entries.
pub fn listed(finding: &str, entries: impl Iterator<Item = String>, named: usize) -> String {
    let entries: Vec<String> = entries.collect();
    if entries.is_empty() {
        return String::new();
    }
    let mut text = format!("{finding} ({})\n", entries.len());
    for entry in entries.iter().take(named) {
        text += &format!("  {}\n", harmless(entry));
    }
    match entries.len().saturating_sub(named) {
        0 => text,
        more => text + &format!("  … and {more} more; --verbose names all\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            [size(0), size(999), size(1_500), size(25_140_000)],
            ["0 B", "999 B", "1.5 KB", "25.1 MB"]
        );
    }

    #[test]
    fn a_page_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\u{9b}c\td"), "a[2Jbcd");
    }

    #[test]
    fn long_findings_are_cut_short() {
        let entries = |count| (0..count).map(|number| number.to_string());
        assert_eq!(listed("thin", entries(0), 1), "");
        assert_eq!(listed("thin", entries(1), 1), "thin (1)\n  0\n");
        assert_eq!(
            listed("thin", entries(3), 1),
            "thin (3)\n  0\n  … and 2 more; --verbose names all\n"
        );
    }
}
