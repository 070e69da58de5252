//! `cargo xtask`: set-up, build, test and demo.

fn main() {}
