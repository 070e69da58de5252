//! `siskin eval`.
use super::Outcome;
use crate::arguments::EvalArguments;
use anyhow::{Result, bail};
pub fn run(_: &EvalArguments) -> Result<Outcome> {
    bail!("not wired yet")
}
