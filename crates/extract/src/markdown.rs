//! Markdown pages: CommonMark with tables, footnotes, definition lists, heading attributes and
//! front matter in YAML or TOML.
//!
//! Non-goals: MDX components, includes and other languages on top of Markdown; what is not
//! understood is read as the text it is.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use siskin_core::page::Page;

use crate::{
    html,
    outline::Outline,
    passages,
    text::{self, TextBuffer},
};

/// The page in `text`, or `None` if it holds neither text nor a heading. `url` is taken over as
/// it is.
///
/// The title is the front matter's `title`, else the first heading of level 1, else the first
/// heading. A heading's anchor is the one stated as `{#id}`, else made from its text as GitHub
/// does it.
#[must_use]
pub fn page(text: &str, url: &str) -> Option<Page> {
    let mut reader = Reader::default();
    for event in Parser::new_ext(text, options()) {
        reader.event(event);
    }
    reader.end_block();
    let title = reader.front_matter_title.or(reader.title);
    let title = title
        .or_else(|| reader.outline.first_heading().map(str::to_owned))
        .unwrap_or_default();
    let passages = passages::cut(&title, &reader.outline.finish(&title));
    (!passages.is_empty()).then(|| Page {
        url: url.to_owned(),
        title,
        passages,
        ..Page::default()
    })
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
}

#[derive(Default)]
struct Reader {
    outline: Outline,
    buffer: TextBuffer,
    place: Place,
    front_matter_title: Option<String>,
    title: Option<String>,
    slugs: BTreeMap<String, usize>,
}

/// Where text that comes next belongs.
#[derive(Default)]
enum Place {
    #[default]
    Text,
    Code,
    /// A heading with the id that it states.
    Heading(Option<String>),
    /// Raw HTML so far.
    Html(String),
    /// Front matter so far.
    FrontMatter(String),
}

impl Reader {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.buffer.push(&text);
            }
            Event::SoftBreak | Event::HardBreak => self.buffer.space(),
            Event::InlineHtml(tag) if tag.starts_with("<br") => self.buffer.space(),
            Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::Rule => {}
        }
    }

    fn text(&mut self, text: &str) {
        match &mut self.place {
            Place::Text | Place::Heading(_) => self.buffer.push(text),
            Place::Code => self.buffer.push_lines(text),
            Place::Html(raw) | Place::FrontMatter(raw) => raw.push_str(text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if !is_inline(&tag.to_end()) {
            self.end_block();
        }
        match tag {
            Tag::Heading { id, .. } => self.place = Place::Heading(id.map(|id| id.to_string())),
            Tag::CodeBlock(_) => self.place = Place::Code,
            Tag::HtmlBlock => self.place = Place::Html(String::new()),
            Tag::MetadataBlock(_) => self.place = Place::FrontMatter(String::new()),
            Tag::TableCell => self.buffer.space(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if is_inline(&tag) {
            return;
        }
        match (std::mem::take(&mut self.place), tag) {
            (Place::Heading(id), TagEnd::Heading(level)) => self.end_heading(level, id),
            (Place::Html(raw), _) => html::fragment_blocks(&raw)
                .into_iter()
                .for_each(|text| self.outline.block(text)),
            (Place::FrontMatter(raw), _) => self.front_matter_title = front_matter_title(&raw),
            _ => self.end_block(),
        }
    }

    fn end_block(&mut self) {
        if let Some(text) = self.buffer.take() {
            self.outline.block(text);
        }
    }

    fn end_heading(&mut self, level: HeadingLevel, id: Option<String>) {
        let Some(text) = self.buffer.take() else {
            return;
        };
        let level = level as u8;
        if level == 1 && self.title.is_none() {
            self.title = Some(text.clone());
        }
        let anchor = id.unwrap_or_else(|| self.slug(&text));
        self.outline.heading(level, text, Some(anchor));
    }

    /// A heading's id as GitHub makes it; repeated ones get `-1`, `-2` and so on.
    fn slug(&mut self, heading: &str) -> String {
        let spaced = heading.to_lowercase().replace(' ', "-");
        let slug: String = spaced
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
            .collect();
        let repeated = self
            .slugs
            .entry(slug.clone())
            .and_modify(|count| *count += 1)
            .or_default();
        if *repeated == 0 {
            slug
        } else {
            format!("{slug}-{repeated}")
        }
    }
}

/// Whether a tag stands within a line of text; table cells count as words of their row.
fn is_inline(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image
            | TagEnd::TableCell
    )
}

/// The value of the line `title: …` or `title = …`, without quotes.
fn front_matter_title(front_matter: &str) -> Option<String> {
    let value = front_matter.lines().find_map(|line| {
        line.strip_prefix("title")?
            .trim_start()
            .strip_prefix([':', '='])
    })?;
    let title = text::collapse(value.trim().trim_matches(['"', '\'']));
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Page {
        page(text, "/x").expect("it has text")
    }

    #[test]
    fn headings_give_sections_with_anchors() {
        let page = read(
            "# Ducks\n\nIntro *text*\nhere.\n\n## The `quack` call! {#call}\n\nLoud.\n\n## Loud\n\n### Loud\n\nEnd",
        );
        assert_eq!(page.title, "Ducks");
        let found: Vec<_> = page
            .passages
            .iter()
            .map(|p| (p.anchor.as_deref(), p.headings.join("/"), p.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (Some("ducks"), String::new(), "Intro text here."),
                (Some("call"), "The quack call!".to_owned(), "Loud."),
                (Some("loud-1"), "Loud/Loud".to_owned(), "End"),
            ]
        );
    }

    #[test]
    fn front_matter_is_not_text_and_gives_the_title() {
        for text in [
            "---\nslug: /d\ntitle: \"Ducks\"\n---\nText",
            "+++\ntitle = 'Ducks'\n+++\nText",
        ] {
            let page = read(text);
            assert_eq!(
                (page.title.as_str(), page.passages[0].text.as_str()),
                ("Ducks", "Text")
            );
        }
    }

    #[test]
    fn blocks_of_every_kind_are_read_in_order() {
        let page = read(
            "- a\n- b\n  - c\n\n> d\n\n| e | f |\n|---|---|\n| g | h |\n\n```rust\nlet i;\nlet j;\n```\n\n<details><summary>k</summary>l</details>\n\nm<br>n <b>o</b> ![p](q)\n\nr\n: s\n",
        );
        assert_eq!(
            page.passages[0].text,
            "a\nb\nc\nd\ne f\ng h\nlet i; let j;\nk\nl\nm n o p\nr\ns"
        );
    }

    #[test]
    fn a_page_without_text_is_none() {
        assert_eq!(page("---\ntitle: x\n---\n\n<!-- y -->\n", "/x"), None);
    }
}
