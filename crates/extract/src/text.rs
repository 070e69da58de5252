//! Plain text out of marked-up text: white space and invisible characters.

/// Collects text with white space collapsed.
///
/// A line break pushed with [`TextBuffer::line`] stays a `\n`: a border at which code may be cut.
#[derive(Default)]
pub(crate) struct TextBuffer {
    text: String,
    gap: Option<char>,
}

impl TextBuffer {
    /// Appends text; any run of white space becomes one space.
    pub(crate) fn push(&mut self, text: &str) {
        for character in text.chars() {
            self.push_char(character);
        }
    }

    /// Appends preformatted text: line ends stay, other white space is collapsed.
    pub(crate) fn push_lines(&mut self, text: &str) {
        for character in text.chars() {
            if character == '\n' {
                self.line();
            } else {
                self.push_char(character);
            }
        }
    }

    /// Separates what follows by a space.
    pub(crate) fn space(&mut self) {
        self.gap.get_or_insert(' ');
    }

    /// Separates what follows by a line end.
    pub(crate) fn line(&mut self) {
        self.gap = Some('\n');
    }

    /// The text so far, trimmed, if there is any; the buffer is empty afterwards.
    pub(crate) fn take(&mut self) -> Option<String> {
        self.gap = None;
        let text = std::mem::take(&mut self.text);
        (!text.is_empty()).then_some(text)
    }

    fn push_char(&mut self, character: char) {
        if is_dropped(character) {
        } else if character.is_whitespace() {
            self.space();
        } else {
            if let Some(gap) = self.gap.take().filter(|_| !self.text.is_empty()) {
                self.text.push(gap);
            }
            self.text.push(character);
        }
    }
}

/// `text` on one line, white space collapsed, invisible characters and pilcrows left out.
pub(crate) fn collapse(text: &str) -> String {
    let mut buffer = TextBuffer::default();
    buffer.push(text);
    buffer.take().unwrap_or_default()
}

/// Zero-width characters and soft hyphens, which split words that a reader sees whole, the
/// pilcrow that generators set behind headings, and control characters.
fn is_dropped(character: char) -> bool {
    matches!(
        character,
        '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '¶'
    ) || (character.is_control() && !character.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_collapsed_and_trimmed() {
        assert_eq!(collapse("  a\t b\u{a0}\n c  "), "a b c");
    }

    #[test]
    fn invisible_characters_and_pilcrows_are_dropped() {
        assert_eq!(
            collapse("quick\u{200b} st\u{ad}art\u{feff}¶\u{0}"),
            "quick start"
        );
    }

    #[test]
    fn lines_of_code_stay_apart() {
        let mut buffer = TextBuffer::default();
        buffer.push_lines("\n  let a;\n\n  let  b; \n");
        assert_eq!(buffer.take().as_deref(), Some("let a;\nlet b;"));
        assert_eq!(buffer.take(), None);
    }
}
