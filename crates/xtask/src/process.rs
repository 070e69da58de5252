//! Running other programs, and saying so.

use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

/// Says what happens next and why, on stderr.
pub fn say(message: &str) {
    eprintln!("==> {message}");
}

/// Runs the command with our own input and outputs; an error if it does not exit with 0.
pub fn run(command: &mut Command) -> Result<()> {
    eprintln!("    $ {}", describe(command));
    let status = command.status().with_context(|| cannot_start(command))?;
    check(command, status)
}

/// Runs the command and returns what it printed to stdout; stderr passes through.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| cannot_start(command))?;
    check(command, output.status)?;
    String::from_utf8(output.stdout)
        .with_context(|| format!("{} printed bytes that are not UTF-8", describe(command)))
}

/// Whether the command starts and exits with 0; its outputs are thrown away.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// An error naming the command unless it exited with 0.
pub fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("{} failed ({status})", describe(command));
    }
    Ok(())
}

/// The context of an error when a program cannot be started.
pub fn cannot_start(command: &Command) -> String {
    format!("cannot start {}", command.get_program().display())
}

/// The command line as a person would type it, without its environment.
pub fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| quote(&word.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quote(word: &str) -> String {
    if word.is_empty() || word.contains(|letter: char| " '\"$`\n;&|*".contains(letter)) {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_described_command_can_be_pasted_into_a_shell() {
        let mut command = Command::new("npm");
        command.args(["run", "it's here", "--flag=1"]);
        assert_eq!(describe(&command), r"npm run 'it'\''s here' --flag=1");
    }

    #[test]
    fn a_failing_command_is_named_in_the_error() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(
            error.to_string().contains("sh -c 'exit 3' failed"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_program_is_named_in_the_error() {
        let error = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert_eq!(error.to_string(), "cannot start no-such-program-here");
    }
}
