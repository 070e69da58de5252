//! How many word pieces a text has, estimated without a vocabulary.

/// Costs are counted in hundredths of a piece.
const UNIT: usize = 100;

/// Estimated number of word pieces (BERT's uncased WordPiece) in `text`, without special tokens.
#[must_use]
pub fn estimate(text: &str) -> usize {
    let mut total = 0;
    let mut word = Word::default();
    for character in text.chars() {
        if !word.takes(character) {
            total += word.end();
            word.begin(character);
        }
        total += alone(character);
    }
    (total + word.end()).div_ceil(UNIT)
}

/// A run of letters of one script or of digits.
#[derive(Default)]
struct Word {
    kind: Kind,
    characters: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    None,
    Latin,
    Other,
    Digits,
}

impl Word {
    fn takes(&mut self, character: char) -> bool {
        let same = self.kind != Kind::None && kind(character) == self.kind;
        self.characters += usize::from(same);
        same
    }

    fn begin(&mut self, character: char) {
        self.kind = kind(character);
        self.characters = usize::from(self.kind != Kind::None);
    }

    /// Cost of the word that ends here.
    fn end(&mut self) -> usize {
        let characters = std::mem::take(&mut self.characters);
        match self.kind {
            Kind::None => 0,
            Kind::Latin => UNIT + 12 * characters.saturating_sub(5),
            Kind::Other => UNIT / 2 + 40 * characters,
            Kind::Digits => UNIT + 25 * characters.saturating_sub(2),
        }
    }
}

fn kind(character: char) -> Kind {
    if is_ideograph(character) || !character.is_alphanumeric() {
        Kind::None
    } else if character.is_numeric() {
        Kind::Digits
    } else if character < '\u{250}' {
        Kind::Latin
    } else {
        Kind::Other
    }
}

/// Cost of a character that is a piece of its own: punctuation, symbols, ideographs.
fn alone(character: char) -> usize {
    let is_alone = !character.is_whitespace() && kind(character) == Kind::None;
    if is_alone { UNIT } else { 0 }
}

/// Characters that BERT's basic tokenizer sets apart.
fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}
