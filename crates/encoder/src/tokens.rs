//! Text to word pieces.

use siskin_core::ids::PieceId;
use tokenizers::pipeline::{EncodeOptions, Override, PipelineTokenizer};
use tokenizers::utils::truncation::TruncationParams;

use crate::error::{EncoderError, Result};
use crate::manifest::TOKENIZER_FILE;

/// The WordPiece tokenizer with the encoder's longest input.
pub(crate) struct Tokens {
    tokenizer: PipelineTokenizer,
    options: EncodeOptions,
}

impl Tokens {
    /// Reads a `tokenizer.json` of version 2.0.
    pub(crate) fn read(tokenizer_json: &[u8], max_tokens: usize) -> Result<Self> {
        let unfit = |reason: String| EncoderError::unfit(TOKENIZER_FILE, reason);
        let text = std::str::from_utf8(tokenizer_json).map_err(|error| unfit(error.to_string()))?;
        let tokenizer = tokenizers::from_json(text).map_err(|error| unfit(error.to_string()))?;
        Ok(Self {
            tokenizer,
            options: options(max_tokens),
        })
    }

    /// `[CLS]`, the word pieces of `text`, `[SEP]`; at most `max_tokens` together.
    pub(crate) fn pieces(&self, text: &str) -> Result<Vec<PieceId>> {
        let mut tokens = Vec::new();
        self.tokenizer
            .encode_into(text, &self.options, &mut tokens)
            .map_err(|error| EncoderError::Tokenizer {
                bytes: text.len(),
                reason: error.to_string(),
            })?;
        Ok(tokens
            .into_iter()
            .map(|token| PieceId(token.id()))
            .collect())
    }

    /// All word pieces in order of id.
    pub(crate) fn vocabulary(&self) -> Vec<String> {
        (0..)
            .map_while(|id| self.tokenizer.decode_tokens(&[id], false).pop())
            .collect()
    }
}

/// A literal `[SEP]` in a page is text, not the end of the input.
fn options(max_tokens: usize) -> EncodeOptions {
    EncodeOptions {
        add_special_tokens: true,
        encode_special_tokens: true,
        padding: Override::Off,
        truncation: Override::With(TruncationParams {
            max_length: max_tokens,
            ..TruncationParams::default()
        }),
    }
}
