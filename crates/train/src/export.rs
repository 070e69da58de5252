//! The `export` step: a checkpoint becomes an encoder folder.

use std::path::PathBuf;

/// Arguments of `siskin-train export`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Checkpoint folder written by `siskin-train fit`.
    #[arg(long)]
    pub checkpoint: PathBuf,
}

/// Writes the encoder folder.
///
/// # Errors
/// When a file cannot be read or written.
pub fn run(_args: &Args) -> anyhow::Result<()> {
    anyhow::bail!("not built in")
}
