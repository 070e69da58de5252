//! Named sets of settings: what stands in a recipe is put before the options of the command line, which win.

use std::ffi::{OsStr, OsString};

/// A set of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Recipe {
    /// UHD-BERT as published: random heads of 81,920 dimensions with 80 winners and sparse weights, hinge loss
    /// with in-batch negatives (eq. 8), Adam without decay, the backbone trained with the heads. Learning
    /// rates and steps are ours. Wants a GPU.
    Paper,
    /// What serves documentation best of what was measured: whitened heads, batches of one site, InfoNCE of codes and dense
    /// vectors, the backbone trained slowly.
    Docs,
}

impl Recipe {
    /// Its options.
    fn options(self) -> &'static str {
        match self {
            Self::Paper => {
                "--buckets 6:81920:80 --heads random --weight-sparsity 0.7 --ranking hinge --margin 1 \
                 --distillation 0 --weight-decay 0 --head-learning-rate 1e-3 \
                 --backbone-learning-rate 2e-5 --dense 0 --batching mixed --rarity none"
            }
            Self::Docs => {
                "--buckets 6:8192:4 --heads whitened --ranking info-nce --distillation 0 --dense 1 \
                 --batching by-collection --max-pieces 64 --head-learning-rate 1e-4 \
                 --backbone-learning-rate 2e-5"
            }
        }
    }
}

/// `arguments` with the options of `--recipe NAME` after the subcommand, where that is given. An unknown name is
/// left for the parser to refuse.
#[must_use]
pub fn expanded(arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(recipe) = named(&arguments) else {
        return arguments;
    };
    let options = recipe.options().split_whitespace().map(OsString::from);
    let (command, given) = arguments.split_at(2.min(arguments.len()));
    command
        .iter()
        .cloned()
        .chain(options)
        .chain(given.iter().cloned())
        .collect()
}

fn named(arguments: &[OsString]) -> Option<Recipe> {
    let mut arguments = arguments.iter().map(OsString::as_os_str);
    let name = arguments.find_map(|argument| {
        let text = argument.to_str()?;
        match text.strip_prefix("--recipe")? {
            "" => Some(None),
            rest => Some(Some(rest.strip_prefix('=')?.to_owned())),
        }
    })?;
    let name = match name {
        Some(name) => name,
        None => arguments.next().and_then(OsStr::to_str)?.to_owned(),
    };
    clap::ValueEnum::from_str(&name, true).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::settings::{Heads, Settings};
    use clap::Parser;

    #[derive(Parser)]
    #[command(args_override_self = true)]
    struct Command {
        #[command(flatten)]
        settings: Settings,
        #[arg(long)]
        recipe: Option<Recipe>,
    }

    fn settings(line: &str) -> Settings {
        let arguments = line.split_whitespace().map(OsString::from).collect();
        let mut arguments = expanded(arguments);
        // The subcommand: this parser has none.
        arguments.remove(1);
        Command::parse_from(arguments).settings
    }

    #[test]
    fn options_of_the_command_line_win() {
        let paper = settings("siskin-train fit --recipe paper --buckets 6:64:2 --steps 7");
        assert_eq!((paper.heads, paper.weight_sparsity), (Heads::Random, 0.7));
        assert_eq!((paper.buckets[0].n, paper.steps), (64, 7));
        assert_eq!(settings("siskin-train fit --recipe=docs").dense, 1.0);
        assert_eq!(
            settings("siskin-train fit"),
            settings("siskin-train fit --heads whitened")
        );
    }

    #[test]
    fn every_recipe_is_one_of_settings_that_parse() {
        for recipe in ["paper", "docs"] {
            settings(&format!("siskin-train fit --recipe {recipe}"));
        }
    }
}
