//! Text rules of the lexical bucket: which terms a text has. Indexing and searching share them.
//!
//! A text is cut at white space into chunks. A chunk yields the words in it, the parts of
//! camelCase, snake_case and `utf8` words, and, when symbols make it more than its words
//! (`--release`, `Vec::push`, `$PSStyle`, `C++`), the chunk itself and such pieces of it, verbatim.
//! Words of letters only are stemmed. Scripts without spaces give pairs of characters.

mod phrases;
mod stop_words;
mod verbatim;
mod words;

pub use phrases::{Phrase, contains_phrase, phrases};
pub use stop_words::is_stop_word;

use crate::unicode::push_folded;
use rust_stemmers::{Algorithm, Stemmer};
use std::ops::Range;
use words::Cut;
pub(crate) use words::is_unspaced;

/// Longest term kept, in bytes; what is longer is data, not a word.
pub const MAX_TERM_BYTES: usize = 64;

/// How words are reduced to stems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stemming {
    /// Snowball's English stemmer (Porter 2).
    English,
    /// Words stay as they are.
    None,
}

impl Stemming {
    /// The rule of this name in a manifest.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "english" => Some(Self::English),
            "none" => Some(Self::None),
            _ => None,
        }
    }

    /// The rule for a language tag such as `en-GB`; languages without a stemmer keep their words.
    #[must_use]
    pub fn for_language(tag: &str) -> Self {
        if primary_language(tag).eq_ignore_ascii_case("en") {
            Self::English
        } else {
            Self::None
        }
    }
}

/// The language of a tag without region or script: `de` of `de-AT`, and of `de_AT`, as some write it.
#[must_use]
pub fn primary_language(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default()
}

/// What a term is to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A whole word, or a pair of characters of a script without spaces.
    Word,
    /// A part of a word or of a chunk with symbols: `state` of `useState`, `io::error` of
    /// `std::io::Error`, one character of a pair.
    Part,
    /// A chunk with its symbols, or a piece of it.
    Verbatim,
}

/// One term and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The form in the dictionary: folded, and stemmed if it has letters only.
    pub text: String,
    /// The folded form before stemming.
    pub surface: String,
    /// Word, part or verbatim chunk.
    pub kind: TermKind,
    /// Where it stands, in bytes of the text analysed.
    pub span: Range<usize>,
}

/// Cuts texts into terms.
pub struct Analyzer {
    stemmer: Option<Stemmer>,
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Analyzer")
            .field("stems", &self.stemmer.is_some())
            .finish()
    }
}

impl Analyzer {
    /// An analyzer with the given stems.
    #[must_use]
    pub fn new(stemming: Stemming) -> Self {
        let stemmer = match stemming {
            Stemming::English => Some(Stemmer::create(Algorithm::English)),
            Stemming::None => None,
        };
        Self { stemmer }
    }

    /// The terms of a text, in order; a word's parts and chunk follow the word.
    #[must_use]
    pub fn terms(&self, text: &str) -> Vec<Term> {
        let mut terms = Vec::new();
        for chunk in chunks(text) {
            let words = words::words(text, chunk.clone());
            let verbatims = verbatim::verbatims(text, chunk, &words);
            for cut in words.into_iter().chain(verbatims) {
                self.push(text, cut, &mut terms);
            }
        }
        terms
    }

    /// The stem of a folded word.
    #[must_use]
    pub fn stem(&self, word: &str) -> String {
        match &self.stemmer {
            Some(stemmer) => stemmer.stem(word).into_owned(),
            None => word.to_owned(),
        }
    }

    fn push(&self, text: &str, (span, kind): Cut, terms: &mut Vec<Term>) {
        let mut surface = fold(&text[span.clone()]);
        surface.retain(|c| !matches!(c, ',' | '\'' | '’')); // 1,000 and don't
        let says_something = surface.chars().any(char::is_alphanumeric);
        if !says_something || surface.len() > MAX_TERM_BYTES {
            return;
        }
        let text = match kind != TermKind::Verbatim && surface.chars().all(char::is_alphabetic) {
            true => self.stem(&surface),
            false => surface.clone(),
        };
        terms.push(Term {
            text,
            surface,
            kind,
            span,
        });
    }
}

/// Lower case, compatibility forms unified, accents and what has no width removed.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    text.chars().for_each(|c| push_folded(c, &mut folded));
    folded
}

/// Runs without white space.
pub(crate) fn chunks(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let start_of = move |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace()
        .map(move |chunk| start_of(chunk)..start_of(chunk) + chunk.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Terms with the sign of their kind: parts in brackets, verbatim ones in backticks.
    fn marked(text: &str) -> String {
        let terms = Analyzer::new(Stemming::English).terms(text);
        let marked = terms.into_iter().map(|term| match term.kind {
            TermKind::Word => term.text,
            TermKind::Part => format!("({})", term.text),
            TermKind::Verbatim => format!("`{}`", term.text),
        });
        marked.collect::<Vec<_>>().join(" ")
    }

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(marked(text), *expected, "{text}");
        }
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        check(&[
            ("Sharing Cafés, quickly!", "share cafe quick"),
            ("cafe\u{301} ﬁle Straße", "cafe file strass"),
            ("Ｆｕｌｌ－ｗｉｄｔｈ", "full width"),
            ("com\u{ad}pi\u{200b}ler \u{feff}x", "compil x"),
            ("It works. (Really?)", "it work realli"),
        ]);
        let none = Analyzer::new(Stemming::None).terms("Sharing Straße");
        assert_eq!([&none[0].text, &none[1].text], ["sharing", "strasse"]);
    }

    #[test]
    fn identifiers_yield_words_parts_and_themselves() {
        check(&[
            ("--release", "releas `--release`"),
            ("--no-run", "no run `--no-run` (no-run)"),
            ("(see --no-run).", "see no run `--no-run` (no-run)"),
            (
                "--target=wasm32",
                "target wasm32 (wasm) (32) `--target=wasm32` `--target`",
            ),
            ("Vec::push", "vec push `vec::push`"),
            ("Vec::push()", "vec push `vec::push`"),
            (
                "std::io::Error",
                "std io error `std::io::error` (io::error)",
            ),
            (
                "Array.prototype.flatMap()",
                "array prototyp flatmap (flat) (map) `array.prototype.flatmap` (prototype.flatmap)",
            ),
            ("useState()", "usest (use) (state)"),
            ("foo(bar.baz)", "foo bar baz `foo(bar.baz)` `bar.baz`"),
            ("$PSStyle", "psstyle (ps) (style) `$psstyle`"),
            ("#[derive(Debug)]", "deriv debug `#[derive(debug)]`"),
            ("@media", "media `@media`"),
            ("node:fs", "node fs `node:fs`"),
            ("\"application/json\"", "applic json `application/json`"),
            ("x-forwarded-for", "x forward for `x-forwarded-for`"),
            ("C++, C#? F#.", "c `c++` c `c#` f `f#`"),
            (".NET", "net `.net`"),
            ("E0382", "e0382"),
        ]);
    }

    #[test]
    fn parts_begin_at_capitals_underscores_and_digits() {
        check(&[
            ("getElementById", "getelementbyid (get) (element) (by) (id)"),
            ("HTTPServer", "httpserver (http) (server)"),
            ("snake_case", "snake_case (snake) (case)"),
            ("__init__", "__init__ (init)"),
            ("utf8", "utf8 (utf) (8)"),
            (
                "Base64Encoder",
                "base64encoder (base64) (base) (64) (encod)",
            ),
            ("x86_64", "x86_64 (x86) (64)"),
            ("i32 h264", "i32 h264"),
        ]);
    }

    #[test]
    fn numbers_keep_their_separators() {
        check(&[
            ("1,000 users", "1000 user"),
            ("1,234,567.89", "1234567.89 (1234567)"),
            ("3.14.", "3.14 (3)"),
            ("v1.2.3", "v1.2.3 (v1) (v1.2) (1.2.3)"),
            ("1,2,3", "1 2 3"),
            ("2020,2021", "2020 2021"),
            ("127.0.0.1", "127.0.0.1 (127) (127.0) (127.0.0)"),
        ]);
    }

    #[test]
    fn apostrophes_end_or_join_words() {
        check(&[
            ("don't DON’T isn't", "dont dont isnt"),
            ("users' it’s we'll", "user it we"),
            ("O'Reilly l'eau", "o reilli l eau"),
            ("rock'n'roll", "rock roll"),
            ("'static", "static"),
        ]);
        assert!(is_stop_word("dont"));
    }

    #[test]
    fn scripts_without_spaces_are_cut_into_pairs() {
        check(&[
            ("中", "中"),
            ("中文x", "中文 (中) (文) x"),
            ("全文検索。", "全文 (全) 文検 (文) 検索 (検) (索)"),
            ("ガ行", "カ\u{3099}行 (カ\u{3099}) (行)"),
            ("ｶﾞ行", "カ\u{3099}行 (カ\u{3099}) (行)"),
            ("第3章", "第 3 章"),
            ("กิน", "กิน (กิ) (น)"),
        ]);
        assert_eq!(
            marked("한국"),
            marked("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}")
        );
        assert_eq!(marked("한국").split(' ').count(), 3);
    }

    #[test]
    fn spans_point_into_the_text() {
        let text = "Über  RefCell::new 検索 v1.2 --no-run";
        for term in Analyzer::new(Stemming::None).terms(text) {
            assert_eq!(fold(&text[term.span.clone()]), term.surface);
        }
    }

    #[test]
    fn long_chunks_take_time_linear_in_their_length() {
        for unit in [
            "(", ")", "a", "a.", "a/", "a::", "1,", "1.", "000,", "aB", "a'", "中", "a\u{301}",
        ] {
            let started = std::time::Instant::now();
            let _ = Analyzer::new(Stemming::English).terms(&unit.repeat(1 << 18));
            assert!(started.elapsed().as_secs() < 20, "{unit}");
        }
        assert_eq!(marked(&("(".repeat(1 << 16) + "a")), "a");
    }

    proptest! {
        #[test]
        fn any_text_has_terms_within_bounds(text in any::<String>()) {
            check_bounds(&text)?;
        }

        #[test]
        fn dense_text_has_terms_within_bounds(
            text in "[aB1_.,:()<>/'’\"\u{301}\u{ad}\u{200b}éßﬁ中がｶﾞ한ก \\-]{0,40}"
        ) {
            check_bounds(&text)?;
        }

        #[test]
        fn a_term_asked_for_is_found(text in "[a-zA-Z0-9é_$#.:'\\-]{1,12}|[中文検索が한국]{1,6}") {
            let analyzer = Analyzer::new(Stemming::None);
            for term in analyzer.terms(&text) {
                let again = analyzer.terms(&term.surface);
                prop_assert!(again.iter().any(|found| found.text == term.text), "{term:?} {again:?}");
            }
        }
    }

    fn check_bounds(text: &str) -> Result<(), TestCaseError> {
        let terms = Analyzer::new(Stemming::English).terms(text);
        let mut last_word = 0;
        for term in &terms {
            prop_assert!(
                text.get(term.span.clone())
                    .is_some_and(|span| !span.is_empty())
            );
            prop_assert!(!term.text.is_empty() && term.text.len() <= MAX_TERM_BYTES);
            if term.kind == TermKind::Word {
                prop_assert!(term.span.start >= last_word);
                last_word = term.span.start;
            }
        }
        for phrase in phrases(text) {
            prop_assert!(text.get(phrase.span).is_some());
        }
        Ok(())
    }
}
