//! Named sets of settings: the options of a recipe are added to the command line, but for those that it has.

use std::ffi::{OsStr, OsString};

/// A set of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Recipe {
    /// What UHD-BERT describes: 81,920 dimensions with 80 winners and sparse weights from random rows (centred and
    /// scaled here), hinge loss with in-batch negatives (eq. 8), Adam without decay, the backbone trained with the
    /// heads. Margin, share of absent weights, learning rates and steps are ours: the paper's were not at hand.
    /// Wants a GPU.
    Paper,
    /// For documentation: whitened heads, batches of one site, InfoNCE of codes and dense vectors, the backbone
    /// trained slowly. Not measured to the end yet.
    Docs,
    /// For answers without a network: the backbone and a row for each word piece, so that passages come to lie where
    /// sums of rows point; every second query in other words, BM25 in the loss, distillation from the base model,
    /// rows held near where they began. Heads are left alone: sample new ones afterwards, by `--init-only --from
    /// CHECKPOINT --new-heads`. Needs --rows. 200 steps of 64 pairs helped where words are the site's
    /// or swapped by a thesaurus and hurt where people chose others; 500 were no better (docs/training.md).
    Table,
}

impl Recipe {
    /// Its options and their values.
    fn options(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Paper => &[
                ("--buckets", "6:81920:80"),
                ("--heads", "random"),
                ("--weight-sparsity", "0.7"),
                ("--ranking", "hinge"),
                ("--margin", "1"),
                ("--distillation", "0"),
                ("--weight-decay", "0"),
                ("--head-learning-rate", "1e-3"),
                ("--backbone-learning-rate", "2e-5"),
            ],
            Self::Docs => &[
                ("--buckets", "6:8192:4"),
                ("--heads", "whitened"),
                ("--ranking", "info-nce"),
                ("--distillation", "0"),
                ("--dense", "1"),
                ("--batching", "by-collection"),
                ("--max-pieces", "64"),
                ("--head-learning-rate", "1e-4"),
                ("--backbone-learning-rate", "2e-5"),
            ],
            Self::Table => &[
                ("--codes", "0"),
                ("--static-queries", "1"),
                ("--dense", "0.5"),
                ("--distillation", "1"),
                ("--words", "0.5"),
                ("--swap-words", "0.3"),
                ("--leave-out-words", "0.15"),
                ("--batching", "by-collection"),
                ("--batch-pairs", "128"),
                ("--max-pieces", "96"),
                ("--backbone-learning-rate", "3e-5"),
                ("--row-learning-rate", "1e-4"),
                ("--keep-rows", "0.01"),
            ],
        }
    }
}

/// `arguments` with those options of `--recipe NAME` that they lack, where it is given. An unknown name is left
/// for the parser to refuse.
#[must_use]
pub fn expanded(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(recipe) = named(&arguments) else {
        return arguments;
    };
    let is_given = |name: &str| {
        arguments
            .iter()
            .filter_map(|argument| argument.to_str())
            .any(|argument| {
                let rest = argument.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            })
    };
    let options = recipe.options().iter();
    let added: Vec<OsString> = options
        .filter(|(name, _)| !is_given(name))
        .flat_map(|(name, value)| [OsString::from(name), OsString::from(value)])
        .collect();
    arguments.extend(added);
    arguments
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
        assert_eq!(
            (paper.buckets.len(), paper.buckets[0].n, paper.steps),
            (1, 64, 7)
        );
        assert_eq!(
            settings("siskin-train fit --heads=whitened --recipe paper").heads,
            Heads::Whitened
        );
        assert_eq!(settings("siskin-train fit --recipe=docs").dense, 1.0);
        assert_eq!(
            settings("siskin-train fit"),
            settings("siskin-train fit --heads whitened")
        );
    }

    #[test]
    fn every_recipe_is_one_of_settings_that_parse() {
        for recipe in ["paper", "docs", "table"] {
            settings(&format!("siskin-train fit --recipe {recipe}"));
        }
    }
}
