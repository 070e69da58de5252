//! Documents of test collections (BEIR): a title and plain text.

use siskin_core::page::Page;

use crate::{outline::Outline, passages, text};

/// A page of the document with the address `/ID`; `id` is taken over as it is.
///
/// The text is plain, but often made from Markdown: a line of one to six `#`, a space and text
/// is a heading if nothing but a heading or a blank line stands before it. Blank lines end
/// paragraphs, and so does every line of a list. All words of the text are in the passages or
/// their headings. A document without text gives one passage that repeats the title.
#[must_use]
pub fn page(id: &str, title: &str, text: &str) -> Page {
    let title = text::collapse(title);
    let sections = outline(text).finish(&title);
    let mut passages = passages::cut(&title, &sections);
    if passages.is_empty() {
        passages.push(siskin_core::page::Passage {
            text: title.clone(),
            ..Default::default()
        });
    }
    Page {
        url: format!("/{id}"),
        title,
        passages,
        ..Page::default()
    }
}

fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut paragraph = String::new();
    for line in text.lines() {
        let is_blank = line.trim().is_empty();
        let heading = heading(line).filter(|_| paragraph.is_empty());
        if is_blank || is_list_item(line) {
            outline.block(text::collapse(&std::mem::take(&mut paragraph)));
        }
        if let Some((level, text)) = heading {
            outline.heading(level, text::collapse(text), None);
        } else if !is_blank {
            paragraph.push_str(line);
            paragraph.push('\n');
        }
    }
    outline.block(text::collapse(&paragraph));
    outline
}

fn heading(line: &str) -> Option<(u8, &str)> {
    let text = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - text.len())
        .ok()
        .filter(|level| (1..=6).contains(level))?;
    let text = text.strip_prefix(' ')?.trim();
    (!text.is_empty()).then_some((level, text))
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_number = line.trim_start_matches(|character: char| character.is_ascii_digit());
    ["- ", "* ", "+ ", "• "]
        .iter()
        .any(|sign| line.starts_with(sign))
        || (after_number.len() < line.len()
            && (after_number.starts_with(". ") || after_number.starts_with(") ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(String, String)> {
        let passages = page("7", "Ducks", text).passages.into_iter();
        passages
            .map(|passage| (passage.headings.join(" > "), passage.text))
            .collect()
    }

    fn row(trail: &str, text: &str) -> (String, String) {
        (trail.to_owned(), text.to_owned())
    }

    #[test]
    fn heading_lines_begin_sections() {
        let text =
            "# Ducks\nThey\nquack.\n\n## Calls\n\nLoud\n\n### At night\nSoft\n\n## Food\n\nBread";
        assert_eq!(
            rows(text),
            [
                row("", "They quack."),
                row("Calls", "Loud"),
                row("Calls > At night", "Soft"),
                row("Food", "Bread")
            ]
        );
    }

    #[test]
    fn number_signs_elsewhere_are_text() {
        let text = "run it\n# as root\n\n#hashtag\n\n####### seven\n\n#\n\n# \n\nC# x";
        assert_eq!(
            rows(text),
            [row(
                "",
                "run it # as root\n#hashtag\n####### seven\n#\n#\nC# x"
            )]
        );
    }

    #[test]
    fn list_items_are_blocks() {
        assert_eq!(
            rows("Eat:\n- bread\n  or corn\n* peas\n1. salt\n2) no\n\n3.14 is\n-1"),
            [row(
                "",
                "Eat:\n- bread or corn\n* peas\n1. salt\n2) no\n3.14 is -1"
            )]
        );
    }

    #[test]
    fn a_document_without_text_is_its_title() {
        assert_eq!(rows(" \n "), [row("", "Ducks")]);
        let page = page("a/b c#d", " Two\u{200b}  words ", "x");
        assert_eq!(
            (page.url.as_str(), page.title.as_str()),
            ("/a/b c#d", "Two words")
        );
    }
}
