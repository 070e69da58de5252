//! The `siskin` command from outside: the real binary, the released encoder, small real sites.

// Helpers of tests may panic as tests do; clippy sees them as ordinary functions.
#![allow(clippy::unwrap_used)]

mod attributes;
mod bad_input;
mod check;
mod eval;
mod eval_site;
mod index;
mod inspect;
mod installed;
mod mdbook;
mod search;
mod serve;
mod support;
mod verify;
