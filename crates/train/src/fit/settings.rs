//! What can be chosen for `fit`; kept in the checkpoint's `state.json`.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::bert::Config;
use crate::checkpoint::Bucket;

/// How pairs are ranked while training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ranking {
    /// Cross-entropy over the batch's passages.
    InfoNce,
    /// Hinge with in-batch negatives (UHD-BERT, eq. 8).
    Hinge,
}

/// How several buckets meet the loss (UHD-BERT, appendix A.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Joining {
    /// One loss of the buckets' mean relevance.
    Joint,
    /// The mean of one loss per bucket.
    Separate,
}

/// What heads begin as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heads {
    /// Rows from whitened samples of token vectors.
    Whitened,
    /// Gaussian rows, as in the paper; scaled and centred like whitened ones.
    Random,
}

/// In what the matrix products of the network are computed; weights stay 32-bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// 32-bit floats.
    F32,
    /// 16-bit brain floats: quicker on GPUs, slower on CPUs.
    Bf16,
}

/// How much a dimension counts by how rare it is while training (UHD-BERT, A.2, "stop-dimensions").
/// An index always counts; `measure --rarity` may rank otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rarity {
    /// All alike.
    None,
    /// By a running count of the passages that have the dimension.
    Counted,
    /// By weights that are trained with the heads.
    Learned,
}

/// Dimensions of a bucket at most, more than ten times the paper's: what asks for more is mistyped, and would ask for
/// memory that no machine has.
const MOST_DIMENSIONS: usize = 1 << 20;

/// Which pairs meet in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Batching {
    /// Pairs of all collections.
    Mixed,
    /// Pairs of one collection: negatives are of the query's own site, so harder.
    ByCollection,
}

/// The settings of one training run.
#[derive(Clone, Debug, PartialEq, clap::Args, Serialize, Deserialize)]
pub struct Settings {
    /// Buckets as LAYER:N:K, layer 0 being the embeddings. More buckets cost bytes in the index;
    /// more winners make codes denser.
    #[arg(long, num_args = 1.., default_value = "6:8192:4", value_parser = parse_bucket)]
    pub buckets: Vec<Bucket>,
    /// What heads begin as.
    #[arg(long, value_enum, default_value = "whitened")]
    pub heads: Heads,
    /// In what the matrix products of the network are computed.
    #[arg(long, value_enum, default_value = "f32")]
    pub precision: Precision,
    /// Share of each dimension's weights that is fixed at 0: below 1, 0 keeps all.
    #[arg(long, default_value_t = 0.0)]
    pub weight_sparsity: f64,
    /// Token vectors from which heads are initialised; at least the largest n.
    #[arg(long, default_value_t = 200_000)]
    pub sample_tokens: usize,
    /// Chooses samples, held-out passages, weight masks and the order of pairs.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Optimisation steps.
    #[arg(long, default_value_t = 400)]
    pub steps: usize,
    /// Pairs a step; each passage is a negative for all queries but its own.
    #[arg(long, default_value_t = 32)]
    pub batch_pairs: usize,
    /// Which pairs meet in a batch.
    #[arg(long, value_enum, default_value = "mixed")]
    pub batching: Batching,
    /// Word pieces of a text that training reads, `[CLS]` and `[SEP]` among them; 0 reads what the base
    /// model's tokenizer gives. A step costs in proportion.
    #[arg(long, default_value_t = 0)]
    pub max_pieces: usize,
    /// Pairs used from each collection at most, so that large ones do not drown small ones.
    #[arg(long, default_value_t = 2_000)]
    pub pairs_per_collection: usize,
    /// Peak learning rate of the heads.
    #[arg(long, default_value_t = 1e-4)]
    pub head_learning_rate: f64,
    /// Peak learning rate of the backbone; 0 freezes it.
    #[arg(long, default_value_t = 0.0)]
    pub backbone_learning_rate: f64,
    /// Decoupled weight decay.
    #[arg(long, default_value_t = 0.0)]
    pub weight_decay: f64,
    /// Steps over which the learning rates rise; then they fall linearly to 0.
    #[arg(long, default_value_t = 40)]
    pub warm_up_steps: usize,
    /// Gradients are scaled down to this norm.
    #[arg(long, default_value_t = 1.0)]
    pub max_gradient_norm: f64,
    /// Hard negatives a pair, of those that --negatives gives.
    #[arg(long, default_value_t = 1)]
    pub hard_negatives: usize,
    /// How much a dimension counts by how rare it is.
    #[arg(long, value_enum, default_value = "none")]
    pub rarity: Rarity,
    /// How strongly dimensions that passages have often are held back, and others helped, while winners are
    /// chosen, in activations; 0 leaves it out. Balanced dimensions make even posting lists.
    #[arg(long, default_value_t = 0.0)]
    pub duty_cycle: f64,
    /// Ranking loss.
    #[arg(long, value_enum, default_value = "info-nce")]
    pub ranking: Ranking,
    /// How several buckets meet the loss.
    #[arg(long, value_enum, default_value = "joint")]
    pub joining: Joining,
    /// Cosines are divided by this before InfoNCE and distillation: low attends to the hardest
    /// negatives.
    #[arg(long, default_value_t = 0.05)]
    pub temperature: f64,
    /// Margin of the hinge, in cosines.
    #[arg(long, default_value_t = 0.2)]
    pub margin: f64,
    /// Weight of the losses of codes; 0 leaves the heads as they are.
    #[arg(long, default_value_t = 1.0)]
    pub codes: f64,
    /// Weight of the distillation from the base model's own cosines, within the losses of codes, dense vectors and static
    /// queries; 0 leaves it out.
    #[arg(long, default_value_t = 1.0)]
    pub distillation: f64,
    /// Weight of the losses of pooled dense vectors, passages minus their batch's mean; needs a trained backbone.
    #[arg(long, default_value_t = 0.0)]
    pub dense: f64,
    /// Weight of the losses of static queries, the sums of rows of word pieces; needs --rows.
    #[arg(long, default_value_t = 0.0)]
    pub static_queries: f64,
    /// Weight of BM25 within the losses of dense vectors and of static queries: each query's z-scores over the batch are
    /// added to the logits, so that vectors learn what words miss. 0 leaves it out.
    #[arg(long, default_value_t = 0.0)]
    #[serde(default)]
    pub words: f64,
    /// Peak learning rate of static rows.
    #[arg(long, default_value_t = 1e-4)]
    pub row_learning_rate: f64,
    /// How far static rows go back each step towards where they began, as a share of the way at the peak of the schedule:
    /// rows of rare pieces, which few queries pull, stay what they were. 0 leaves it out; needs --static-queries.
    #[arg(long, default_value_t = 0.0)]
    #[serde(default)]
    pub keep_rows: f64,
    /// Probability with which a word of every second query is swapped for a near one; needs --rows or --synonyms.
    #[arg(long, default_value_t = 0.0)]
    pub swap_words: f64,
    /// Probability with which a word of every second query is left out that is not swapped and that the passage has; needs
    /// --rows or --synonyms.
    #[arg(long, default_value_t = 0.0)]
    pub leave_out_words: f64,
    /// Held-out queries a collection.
    #[arg(long, default_value_t = 40)]
    pub held_out_queries: usize,
    /// Passages ranked for them, a collection.
    #[arg(long, default_value_t = 300)]
    pub held_out_passages: usize,
    /// Dimensions that a passage's code keeps when measured, by summed activation.
    #[arg(long, default_value_t = 64)]
    pub passage_k: usize,
    /// Steps between checkpoints.
    #[arg(long, default_value_t = 50)]
    pub checkpoint_every: usize,
    /// Steps between measurements.
    #[arg(long, default_value_t = 200)]
    pub measure_every: usize,
}

/// A command line of settings alone.
#[derive(clap::Parser)]
struct SettingsOnly {
    #[command(flatten)]
    settings: Settings,
}

impl Settings {
    /// What `fit` does when nothing is chosen.
    ///
    /// # Errors
    /// Never: every setting has a default.
    pub fn defaults() -> Result<Self> {
        Self::of_options([])
    }

    /// The settings that options of the command line make.
    ///
    /// # Errors
    /// When an option is unknown or its value is none.
    pub(crate) fn of_options<'a>(options: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let line = std::iter::once("fit").chain(options);
        Ok(<SettingsOnly as clap::Parser>::try_parse_from(line)?.settings)
    }

    /// Whether the backbone's weights move.
    #[must_use]
    pub fn trains_backbone(&self) -> bool {
        self.backbone_learning_rate > 0.0
    }

    /// Whether queries are changed before they are trained on.
    #[must_use]
    pub fn paraphrases(&self) -> bool {
        self.swap_words > 0.0 || self.leave_out_words > 0.0
    }

    /// Whether something reads how often dimensions occur.
    #[must_use]
    pub fn counts_frequencies(&self) -> bool {
        self.codes > 0.0 && (self.duty_cycle > 0.0 || self.rarity == Rarity::Counted)
    }

    /// Refuses what cannot be trained.
    ///
    /// # Errors
    /// When a value is out of range or does not fit the base model.
    pub fn check(&self, base: &Config) -> Result<()> {
        self.check_buckets(base)?;
        ensure!(
            self.passage_k > 0,
            "--passage-k is 1 at least: codes need a dimension"
        );
        ensure!(
            self.batch_pairs > 1,
            "in-batch negatives need at least 2 pairs a batch"
        );
        ensure!(
            self.max_pieces != 1 && self.max_pieces != 2,
            "--max-pieces leaves no room between [CLS] and [SEP]"
        );
        ensure!(
            self.checkpoint_every > 0 && self.measure_every > 0,
            "intervals are at least 1 step"
        );
        ensure!(
            self.dense == 0.0 || self.trains_backbone(),
            "--dense needs --backbone-learning-rate"
        );
        above_zero("--temperature", self.temperature)?;
        above_zero("--max-gradient-norm", self.max_gradient_norm)?;
        for (name, value) in [
            ("--head-learning-rate", self.head_learning_rate),
            ("--backbone-learning-rate", self.backbone_learning_rate),
            ("--row-learning-rate", self.row_learning_rate),
            ("--weight-decay", self.weight_decay),
            ("--margin", self.margin),
            ("--duty-cycle", self.duty_cycle),
        ] {
            zero_or_more(name, value)?;
        }
        self.check_losses()
    }

    /// Refuses buckets that the network cannot have.
    fn check_buckets(&self, base: &Config) -> Result<()> {
        ensure!(!self.buckets.is_empty(), "at least one bucket is needed");
        for bucket in &self.buckets {
            let last = base.num_hidden_layers;
            ensure!(
                bucket.layer <= last,
                "--buckets {bucket}: the network has the layers 0 to {last}"
            );
            ensure!(
                bucket.n <= MOST_DIMENSIONS,
                "--buckets {bucket}: {} dimensions are more than {MOST_DIMENSIONS}",
                bucket.n
            );
            ensure!(
                (1..=bucket.n).contains(&bucket.k),
                "--buckets {bucket}: a token has 1 to {} winners",
                bucket.n
            );
        }
        Ok(())
    }

    /// Refuses weights of losses and probabilities that are none.
    fn check_losses(&self) -> Result<()> {
        ensure!(
            self.codes > 0.0 || self.dense > 0.0 || self.static_queries > 0.0,
            "nothing is trained: --codes, --dense and --static-queries are 0"
        );
        let weights = [
            ("--codes", self.codes),
            ("--dense", self.dense),
            ("--static-queries", self.static_queries),
            ("--distillation", self.distillation),
            ("--words", self.words),
        ];
        for (name, weight) in weights {
            zero_or_more(name, weight)?;
        }
        ensure!(
            (0.0..1.0).contains(&self.keep_rows),
            "--keep-rows is {}: it must be 0 or more, and below 1",
            self.keep_rows
        );
        ensure!(
            self.keep_rows == 0.0 || self.static_queries > 0.0,
            "--keep-rows needs --static-queries"
        );
        ensure!(
            self.words == 0.0 || self.dense > 0.0 || self.static_queries > 0.0,
            "--words needs --dense or --static-queries"
        );
        let probabilities = [self.swap_words, self.leave_out_words];
        ensure!(
            probabilities.iter().all(|p| (0.0..=1.0).contains(p)),
            "--swap-words and --leave-out-words are probabilities, 0 to 1"
        );
        Ok(())
    }
}

/// Refuses what is no number of 0 or more.
///
/// # Errors
/// When `value` is none.
pub(crate) fn zero_or_more(option: &str, value: f64) -> Result<()> {
    ensure!(
        value.is_finite() && value >= 0.0,
        "{option} is {value}: it must be 0 or more"
    );
    Ok(())
}

/// Refuses what is no number above 0.
///
/// # Errors
/// When `value` is none.
pub(crate) fn above_zero(option: &str, value: f64) -> Result<()> {
    ensure!(
        value.is_finite() && value > 0.0,
        "{option} is {value}: it must be above 0"
    );
    Ok(())
}

/// `LAYER:N:K`.
fn parse_bucket(text: &str) -> Result<Bucket> {
    let mut fields = text.split(':').map(str::parse::<usize>);
    let mut field = || {
        fields
            .next()
            .context("write LAYER:N:K")?
            .context("LAYER, N and K are numbers")
    };
    let bucket = Bucket {
        layer: field()?,
        n: field()?,
        k: field()?,
    };
    ensure!(fields.next().is_none(), "write LAYER:N:K");
    Ok(bucket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_read_as_they_are_written() -> Result<()> {
        assert_eq!(
            parse_bucket("6:8192:4")?,
            Bucket {
                layer: 6,
                n: 8192,
                k: 4
            }
        );
        for wrong in ["6:8192", "6:8192:4:1", "six:1:1", ""] {
            assert!(parse_bucket(wrong).is_err(), "{wrong}");
        }
        Ok(())
    }
}
