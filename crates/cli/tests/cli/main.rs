//! The `siskin` command from outside: the real binary, the released encoder, small real sites.

mod bad_input;
mod eval;
mod index;
mod inspect;
mod search;
mod serve;
mod support;
mod verify;
