//! Text to word pieces by BERT's rules alone: a tenth of the code of the tokenizers crate.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use siskin_core::ids::PieceId;
use siskin_core::wordpiece::Vocabulary;

use crate::error::{EncoderError, Result};
use crate::manifest::TOKENIZER_FILE;

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
    /// Reads a `tokenizer.json` of version 2.0.
    pub(crate) fn read(tokenizer_json: &[u8], max_tokens: usize) -> Result<Self> {
        let file: File = serde_json::from_slice(tokenizer_json)
            .map_err(|error| EncoderError::unfit(TOKENIZER_FILE, error))?;
        file.check()?;
        let vocabulary = Vocabulary::new(file.model.vocab.0);
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

/// What is read of the file; anything else in it is as in every BERT.
#[derive(Deserialize)]
struct File {
    normalizer: Normalizer,
    pre_tokenizer: Kind,
    model: Model,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Normalizer {
    #[serde(rename = "type")]
    kind: String,
    lowercase: bool,
    strip_accents: Option<bool>,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type")]
    kind: String,
    unk_token: String,
    continuing_subword_prefix: String,
    vocab: Pieces,
}

impl File {
    fn check(&self) -> Result<()> {
        let plain = self.normalizer.kind == "BertNormalizer"
            && self.normalizer.lowercase
            && self.normalizer.strip_accents.unwrap_or(true)
            && self.pre_tokenizer.kind == "BertPreTokenizer"
            && self.model.kind == "WordPiece"
            && self.model.unk_token == "[UNK]"
            && self.model.continuing_subword_prefix == "##";
        match plain {
            true => Ok(()),
            false => Err(unsupported("not the uncased WordPiece of BERT")),
        }
    }
}

/// The pieces in order of their ids.
struct Pieces(Vec<String>);

impl<'de> Deserialize<'de> for Pieces {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(PiecesVisitor)
    }
}

struct PiecesVisitor;

/// Most pieces of a vocabulary: an id beyond is an error, not a request for memory.
const MAX_PIECES: usize = 1 << 20;

impl<'de> Visitor<'de> for PiecesVisitor {
    type Value = Pieces;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a map from pieces to ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Pieces, A::Error> {
        let mut pieces: Vec<String> = Vec::new();
        while let Some((piece, id)) = map.next_entry::<String, usize>()? {
            if id >= MAX_PIECES {
                return Err(serde::de::Error::custom("an id beyond a million"));
            }
            if id >= pieces.len() {
                pieces.resize(id + 1, String::new());
            }
            pieces[id] = piece;
        }
        pieces.shrink_to_fit();
        Ok(Pieces(pieces))
    }
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
        let plain = Tokens::read(json.as_bytes(), 16).unwrap();
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
            let error = Tokens::read(changed.as_bytes(), 16).err().unwrap();
            assert!(matches!(error, EncoderError::Unsupported { .. }), "{error}");
        }
    }
}
