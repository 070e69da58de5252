//! What is said beside the result.

/// A line for the user. Where nobody reads any longer, a run goes on without it.
macro_rules! say {
    ($($said:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stderr(), $($said)*).ok();
    }};
}

pub(crate) use say;
