//! `metrics.jsonl` beside what is trained: one object a line, appended.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

use crate::files::{read_if_there, write_whole};

/// The file, open for appending.
pub(crate) struct Metrics {
    file: File,
}

impl Metrics {
    /// Opens the file in `folder` for a run that stands at `step`. Lines of steps that are made again, since no
    /// checkpoint has them, are dropped.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn open(folder: &Path, step: usize) -> Result<Self> {
        let path = folder.join("metrics.jsonl");
        let cannot_write = || format!("cannot write {}", path.display());
        let kept = match step {
            0 => String::new(),
            _ => lines_up_to(&read_if_there(&path)?.unwrap_or_default(), step),
        };
        write_whole(&path, kept.as_bytes())?;
        let file = OpenOptions::new().append(true).open(&path);
        Ok(Self {
            file: file.with_context(cannot_write)?,
        })
    }

    /// Appends a line, an object with `step`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&mut self, line: &serde_json::Value) -> Result<()> {
        Ok(writeln!(self.file, "{line}")?)
    }
}

/// The lines of a metrics file that are of a step up to `step`; one that was not finished is none.
fn lines_up_to(text: &str, step: usize) -> String {
    let is_kept = |line: &&str| {
        let line: Option<serde_json::Value> = serde_json::from_str(line).ok();
        let made = line.and_then(|line| line.get("step")?.as_u64());
        made.is_some_and(|made| made <= step as u64)
    };
    let kept = text.lines().filter(is_kept);
    kept.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_steps_that_are_made_again_are_dropped() {
        let text = "{\"step\":0}\n{\"step\":2}\n{\"step\":3}\n{\"ste";
        assert_eq!(lines_up_to(text, 2), "{\"step\":0}\n{\"step\":2}\n");
    }
}
