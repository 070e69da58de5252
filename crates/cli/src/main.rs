//! The `siskin` command.
//!
//! Owns: arguments, files and folders, progress, exit codes. What is computed is computed in the
//! library crates.

mod arguments;
mod bundle;
mod commands;
mod config;
mod failure;
mod interrupt;
mod output;
mod pagefind;
mod receipt;
mod resources;
mod talk;
mod watch;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::run(arguments::Arguments::parse().command) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) if failure::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            talk::say(&format!("error: {}", failure::one_line(&error)));
            ExitCode::from(2)
        }
    }
}
