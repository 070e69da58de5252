//! The small WordPiece of the browser agrees with the `tokenizers` crate on the released vocabulary.

#![allow(clippy::unwrap_used)] // tests may: a panic is a failure

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use siskin_core::ids::PieceId;
use siskin_core::wordpiece::Vocabulary;
use siskin_encoder::Encoder;

/// What the network sees of a word that cannot be built; the rows have nothing for it.
const UNKNOWN: &str = "[UNK]";

/// Blocks in which every code point is assigned.
const BLOCKS: [RangeInclusive<u32>; 11] = [
    0x00..=0x24f,    // Latin
    0x3b1..=0x3ce,   // Greek
    0x400..=0x487,   // Cyrillic, but for
    0x48a..=0x4ff,   // two enclosing marks
    0x2000..=0x205f, // spaces and punctuation
    0x20a0..=0x20bf, // currencies
    0x2100..=0x214f, // letter-like symbols
    0x2190..=0x23ff, // arrows, operators, technical
    0x2500..=0x27bf, // shapes and dingbats
    0x3001..=0x3029, // CJK punctuation
    0xff01..=0xff5e, // full-width forms
];

static OPENED: LazyLock<(Encoder, Vocabulary)> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/siskin-en");
    let encoder = Encoder::open(folder).unwrap();
    let vocabulary = Vocabulary::new(encoder.vocabulary());
    (encoder, vocabulary)
});

/// The pieces of `text` by the tokenizer, without `[CLS]`, `[SEP]` and unknown ones.
fn by_tokenizer(text: &str) -> Vec<PieceId> {
    let (encoder, vocabulary) = &*OPENED;
    let unknown = vocabulary.id(UNKNOWN).unwrap();
    let pieces = encoder.pieces(text).unwrap();
    let inner = pieces[1..pieces.len() - 1].iter();
    inner.copied().filter(|piece| *piece != unknown).collect()
}

fn differs(text: &str) -> bool {
    OPENED.1.encode(text) != by_tokenizer(text)
}

#[test]
fn texts_have_the_same_pieces() {
    let texts = [
        "Rc<RefCell<T>> isn't `Vec::push`",
        "cargo build --release && ./a.out",
        "naïve café, Ångström; ÇA VA?",
        "日本語の文書 and 中文",
        "soft\u{ad}hyphen zero\u{200b}width\u{feff} tab\tline\nend",
        "10€ → 12$ 🎉party ™ ½ x²",
        "[SEP] [CLS] [MASK] are words here",
        "",
    ];
    let different: Vec<&str> = texts.into_iter().filter(|text| differs(text)).collect();
    assert!(different.is_empty(), "{different:?}");
}

#[test]
fn every_character_of_common_blocks_is_treated_alike() {
    let characters = BLOCKS.into_iter().flatten().filter_map(char::from_u32);
    let different: Vec<String> = characters
        .filter(|c| differs(&format!("go{c}up {c} 1{c}")))
        .map(|c| format!("U+{:04X}", u32::from(c)))
        .collect();
    assert!(different.is_empty(), "{different:?}");
}
