//! The commands, one module each.

mod check;
mod eval;
mod eval_site;
mod index;
mod inspect;
mod mdbook;
mod search;
mod serve;
mod verify;

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::{Command, MdbookArguments};

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All done.
    Done,
    /// Done, and there is something that the user should see; or nothing was found.
    Problems,
}

impl Outcome {
    /// 0 or 1; failures have 2.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::SUCCESS,
            Self::Problems => ExitCode::from(1),
        }
    }
}

/// Runs a command.
///
/// # Errors
/// When it failed; the message is for the user.
pub fn run(command: Command) -> Result<Outcome> {
    match command {
        Command::Index(arguments) => index::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Search(arguments) => search::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::EvalSite(arguments) => eval_site::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Mdbook(MdbookArguments {}) => mdbook::run(),
    }
}
