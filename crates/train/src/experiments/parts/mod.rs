//! The parts of the report, a file a family.

mod buckets;
mod distributions;
mod grid;
mod heads;
mod scoring;
mod stop_dimensions;
mod terms;
mod training;

use anyhow::Result;

use super::result::Section;
use super::{Lab, Settings};

/// A part of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Dimensions and winners.
    #[value(name = "n-k")]
    NK,
    /// The paper's own dimensions and winners.
    #[value(name = "largest-n-k")]
    LargestNK,
    /// Entries that a query's code keeps.
    QueryK,
    /// One bucket and several.
    Buckets,
    /// Binary codes and their values.
    BinaryFloat,
    /// How a head begins.
    Initialisations,
    /// Weights fixed at 0.
    WeightSparsity,
    /// Bits of a weight.
    Quantization,
    /// Distribution of activations.
    Activations,
    /// Size of a code against the length of its text.
    Density,
    /// How often a dimension is used.
    Frequencies,
    /// What dimensions mean.
    Terms,
    /// Buckets trained together or each on its own, by either loss.
    Joining,
    /// Dimensions that nearly every text has.
    StopDimensions,
    /// Pairs trained on.
    TrainingSize,
}

impl Part {
    /// All, in the order of the page.
    #[must_use]
    pub fn all() -> Vec<Self> {
        use clap::ValueEnum;
        Self::value_variants().to_vec()
    }

    /// On the command line and in names of files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NK => "n-k",
            Self::LargestNK => "largest-n-k",
            Self::QueryK => "query-k",
            Self::Buckets => "buckets",
            Self::BinaryFloat => "binary-float",
            Self::Initialisations => "initialisations",
            Self::WeightSparsity => "weight-sparsity",
            Self::Quantization => "quantization",
            Self::Activations => "activations",
            Self::Density => "density",
            Self::Frequencies => "frequencies",
            Self::Terms => "terms",
            Self::Joining => "joining",
            Self::StopDimensions => "stop-dimensions",
            Self::TrainingSize => "training-size",
        }
    }

    /// Raised when what a part computes changes, so that it is run again.
    #[must_use]
    pub fn version(self) -> u32 {
        match self {
            Self::Activations | Self::Density | Self::Frequencies | Self::Terms => 1,
            Self::Buckets | Self::Joining | Self::TrainingSize => 3,
            // Since 2 the answers among the passages stand in random order, of which equal scores rank.
            _ => 2,
        }
    }

    /// Seeds of the heads that the part makes.
    #[must_use]
    pub fn seeds(self, settings: &Settings) -> Vec<u64> {
        match self {
            Self::Activations | Self::Density | Self::Frequencies | Self::Terms => {
                settings.seeds.iter().take(1).copied().collect()
            }
            _ => settings.seeds.clone(),
        }
    }

    /// Its heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::NK => "Dimensions n and winners k",
            Self::LargestNK => "The paper's dimensions and winners",
            Self::QueryK => "Query k and passage k",
            Self::Buckets => "One bucket and several; tuned weights, ideal bucket",
            Self::BinaryFloat => "Binary against float",
            Self::Initialisations => "Initialisations",
            Self::WeightSparsity => "Weight sparsity",
            Self::Quantization => "Quantization of the head",
            Self::Activations => "Distribution of activations",
            Self::Density => "Density against length",
            Self::Frequencies => "Frequency of dimensions",
            Self::Terms => "Dimensions by the terms that activate them",
            Self::Joining => "Joint against separate training, hinge against InfoNCE",
            Self::StopDimensions => "Stop-dimensions: rarity and duty cycles",
            Self::TrainingSize => "Training-set size",
        }
    }

    /// What of UHD-BERT it repeats.
    #[must_use]
    pub fn paper(self) -> &'static str {
        match self {
            Self::NK | Self::LargestNK => "figure 4",
            Self::QueryK => "table 4",
            Self::Buckets => "tables 5 and 6",
            Self::BinaryFloat => "eq. 4 and 7, binarization",
            Self::WeightSparsity => "weight sparsity",
            Self::Activations => "figure 3",
            Self::Density => "figure 5",
            Self::Frequencies => "figure 6",
            Self::Terms => "table 7",
            Self::Joining => "appendix A.3, eq. 8",
            Self::StopDimensions => "appendix A.2",
            Self::Initialisations | Self::Quantization | Self::TrainingSize => "",
        }
    }

    /// What is done, with the sizes of `settings`.
    #[must_use]
    pub fn method(self, settings: &Settings) -> String {
        let sizes = [
            ("{passage_k}", settings.passage_k),
            ("{steps}", settings.steps),
            ("{batch_pairs}", settings.batch_pairs),
        ];
        let method = self.method_of_any_size().to_owned();
        sizes.into_iter().fold(method, |method, (name, size)| {
            method.replace(name, &size.to_string())
        })
    }

    /// What is done, with names of settings in braces.
    fn method_of_any_size(self) -> &'static str {
        match self {
            Self::NK => grid::METHOD,
            Self::LargestNK => grid::LARGEST_METHOD,
            Self::QueryK => scoring::QUERY_K_METHOD,
            Self::Buckets => buckets::METHOD,
            Self::BinaryFloat => scoring::BINARY_METHOD,
            Self::Initialisations => heads::STARTS_METHOD,
            Self::WeightSparsity => heads::SPARSITY_METHOD,
            Self::Quantization => heads::QUANTIZATION_METHOD,
            Self::Activations => distributions::ACTIVATIONS_METHOD,
            Self::Density => distributions::DENSITY_METHOD,
            Self::Frequencies => distributions::FREQUENCIES_METHOD,
            Self::Terms => terms::METHOD,
            Self::Joining => training::JOINING_METHOD,
            Self::StopDimensions => stop_dimensions::METHOD,
            Self::TrainingSize => training::SIZE_METHOD,
        }
    }

    /// Tables and plots.
    ///
    /// # Errors
    /// When vectors cannot be read, or are too few.
    pub fn run(self, lab: &Lab) -> Result<Vec<Section>> {
        match self {
            Self::NK => grid::run(lab),
            Self::LargestNK => grid::largest(lab),
            Self::QueryK => scoring::query_k(lab),
            Self::Buckets => buckets::run(lab),
            Self::BinaryFloat => scoring::binary_float(lab),
            Self::Initialisations => heads::starts(lab),
            Self::WeightSparsity => heads::sparsity(lab),
            Self::Quantization => heads::quantization(lab),
            Self::Activations => distributions::activations(lab),
            Self::Density => distributions::density(lab),
            Self::Frequencies => distributions::frequencies(lab),
            Self::Terms => terms::run(lab),
            Self::Joining => training::joining(lab),
            Self::StopDimensions => stop_dimensions::run(lab),
            Self::TrainingSize => training::size(lab),
        }
    }
}
