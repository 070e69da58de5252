//! The `siskin-train` command.

fn main() {}
