//! Errors as the user reads them.

use std::io::ErrorKind;

/// The error and its causes on one line, outermost first. A cause that the message before it
/// already tells is left out.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain() {
        let message = cause.to_string();
        if !told.contains(&message) {
            let separator = if told.is_empty() { "" } else { ": " };
            told = format!("{told}{separator}{message}");
        }
    }
    told.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Whether the reader of our output has gone, as `head` does: no failure.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn causes_follow_on_the_same_line_and_are_not_repeated() {
        let error = Err::<(), _>(anyhow!("disk\nfull"))
            .context("cannot write a: disk\nfull")
            .context("no index was written");
        let line = one_line(&error.unwrap_err());
        assert_eq!(line, "no index was written: cannot write a: disk full");
    }

    #[test]
    fn only_a_closed_pipe_is_no_failure() {
        let error = |kind| anyhow::Error::from(std::io::Error::from(kind));
        assert!(is_closed_pipe(&error(ErrorKind::BrokenPipe)));
        assert!(!is_closed_pipe(&error(ErrorKind::NotFound)));
    }
}
