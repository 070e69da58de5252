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
        language: None,
        passages,
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
