//! Text to word pieces by BERT's rules alone: a tenth of the code of the tokenizers crate.

use std::cell::Cell;

use siskin_core::fields::{Fields, Reading};
use siskin_core::ids::PieceId;
use siskin_core::wordpiece::Vocabulary;

use crate::error::{EncoderError, Result};
use crate::manifest::{TOKENIZER_FILE, misfit_reason};

/// The uncased WordPiece with the encoder's longest input.
pub(crate) struct Tokens {
    vocabulary: Vocabulary,
    special: Special,
    max_tokens: usize,
}

/// Pieces that stand for no text.
struct Special {
    unknown: PieceId,
    begin: PieceId,
    end: PieceId,
}

impl Tokens {
    /// Reads a `tokenizer.json` of version 2.0, as JSON by `parse`.
    pub(crate) fn read<F: Fields>(
        tokenizer_json: &[u8],
        max_tokens: usize,
        parse: fn(&[u8]) -> std::result::Result<F, String>,
    ) -> Result<Self> {
        let unfit = |reason| EncoderError::unfit(TOKENIZER_FILE, reason);
        let misfit = Cell::new(None);
        let file = Reading::new(parse(tokenizer_json).map_err(unfit)?, &misfit);
        let model = file.object("model");
        let is_plain = is_plain(&file, &model);
        let pieces = pieces(&model);
        if let Some(name) = misfit.get() {
            return Err(unfit(misfit_reason(name)));
        }
        if !is_plain {
            return Err(unsupported("not the uncased WordPiece of BERT"));
        }
        let vocabulary = Vocabulary::new(pieces.ok_or_else(|| unfit(NO_ID.to_owned()))?);
        let id = |name: &str| {
            let missing = || unsupported(&format!("no piece {name}"));
            vocabulary.id(name).ok_or_else(missing)
        };
        let special = Special {
            unknown: id("[UNK]")?,
            begin: id("[CLS]")?,
            end: id("[SEP]")?,
        };
        Ok(Self {
            vocabulary,
            special,
            max_tokens,
        })
    }

    /// `[CLS]`, the word pieces of `text`, `[SEP]`; at most `max_tokens` together.
    #[allow(clippy::unnecessary_wraps)] // the tokenizers crate may fail
    pub(crate) fn pieces(&self, text: &str) -> Result<Vec<PieceId>> {
        let mut pieces = vec![self.special.begin];
        pieces.extend(self.vocabulary.encode_with(text, self.special.unknown));
        pieces.truncate(self.max_tokens.saturating_sub(1));
        pieces.push(self.special.end);
        Ok(pieces)
    }

    /// All word pieces in order of id.
    pub(crate) fn vocabulary(&self) -> Vec<String> {
        self.vocabulary.pieces().to_vec()
    }
}

/// Whether it is the uncased WordPiece of BERT; what is not looked at is as in every BERT.
fn is_plain<F: Fields>(file: &Reading<'_, F>, model: &Reading<'_, F>) -> bool {
    let normalizer = file.object("normalizer");
    let lowercase = normalizer.flag("lowercase") == Some(true);
    let strips_accents = normalizer.flag("strip_accents") != Some(false);
    let texts = [
        (&normalizer, "type", "BertNormalizer"),
        (&file.object("pre_tokenizer"), "type", "BertPreTokenizer"),
        (model, "type", "WordPiece"),
        (model, "unk_token", "[UNK]"),
        (model, "continuing_subword_prefix", "##"),
    ];
    let same = texts.map(|(fields, name, wanted)| fields.text(name) == wanted);
    lowercase && strips_accents && same == [true; 5]
}

/// Most pieces of a vocabulary: an id beyond is an error, not a request for memory.
const MAX_PIECES: f64 = 1_048_576.0;

/// Why [`pieces`] gives none.
const NO_ID: &str = "an id that is not a whole number below 1,048,576";

/// The pieces in order of their ids; `None` when one is no id.
fn pieces<F: Fields>(model: &Reading<'_, F>) -> Option<Vec<String>> {
    let ids = model.named_numbers("vocab");
    let is_id = |id: &f64| (0.0..MAX_PIECES).contains(id) && id.fract() == 0.0;
    if !ids.iter().all(is_id) {
        return None;
    }
    let mut pieces: Vec<String> = Vec::with_capacity(ids.len());
    let mut ids = ids.into_iter();
    model.each_name("vocab", &mut |piece| {
        let id = ids.next().unwrap_or_default() as usize;
        if id >= pieces.len() {
            pieces.resize(id + 1, String::new());
        }
        pieces[id] = piece.to_owned();
    });
    Some(pieces)
}

fn unsupported(reason: &str) -> EncoderError {
    EncoderError::Unsupported {
        file: TOKENIZER_FILE.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(feature = "tract")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/siskin-en/");

    fn tokenizer_json() -> String {
        std::fs::read_to_string(format!("{FOLDER}{TOKENIZER_FILE}")).unwrap()
    }

    #[test]
    fn pieces_are_those_of_the_tokenizers_crate() {
        let json = tokenizer_json();
        let plain = Tokens::read(json.as_bytes(), 16, crate::parse).unwrap();
        let wanted = tokens::Tokens::read(json.as_bytes(), 16).unwrap();
        let texts = [
            "",
            "How do I cancel a request?",
            "naïve Café, Ångström; ☃ 検索",
            "Vec::push --no-run $PSStyle [SEP] [UNK] [CLS]",
            "a text that is longer than sixteen word pieces must be cut and must keep its end mark",
            &"x".repeat(150),
            "unbelievable 🦀 tail",
        ];
        for text in texts {
            assert_eq!(
                plain.pieces(text).unwrap(),
                wanted.pieces(text).unwrap(),
                "{text}"
            );
        }
        assert_eq!(plain.vocabulary(), wanted.vocabulary());
    }

    #[test]
    fn other_tokenizers_are_left_to_the_crate() {
        let json = tokenizer_json();
        let changes = [
            ("BertNormalizer", "NFC"),
            ("\"lowercase\":true", "\"lowercase\":false"),
            ("BertPreTokenizer", "Whitespace"),
            (
                "\"type\":\"WordPiece\",\"unk_token\"",
                "\"type\":\"BPE\",\"unk_token\"",
            ),
        ];
        for (from, to) in changes {
            let changed = json.replace(from, to);
            assert_ne!(changed, json, "{from}");
            let error = Tokens::read(changed.as_bytes(), 16, crate::parse)
                .err()
                .unwrap();
            assert!(matches!(error, EncoderError::Unsupported { .. }), "{error}");
        }
    }
}
