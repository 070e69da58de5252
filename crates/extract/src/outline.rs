//! The sections of a page: what stands below which headings.

use siskin_core::page::Weight;

/// The text below one heading, up to the next heading of any level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The id of the nearest heading that has one, without `#`.
    pub anchor: Option<String>,
    /// Headings from the outermost to the section's own.
    pub headings: Vec<String>,
    /// Paragraphs, list items, table rows and code blocks in reading order, none empty. White
    /// space is collapsed, but a `\n` ends a line of code.
    pub blocks: Vec<String>,
    /// How much all of it counts.
    pub weight: Weight,
}

/// Builds sections from headings and blocks in reading order.
#[derive(Debug, Default)]
pub struct Outline {
    open: Vec<Heading>,
    current: Section,
    /// Whether the current section goes on after deeper ones, below a heading read before.
    resumed: bool,
    sections: Vec<Section>,
}

#[derive(Debug)]
struct Heading {
    level: u8,
    text: String,
    anchor: Option<String>,
}

impl Outline {
    /// Begins a section. `level` is 1 for `h1` to 6 for `h6`; a heading ends all sections of its
    /// own and of deeper levels.
    pub fn heading(&mut self, level: u8, text: String, anchor: Option<String>) {
        self.close_section();
        self.open.retain(|heading| heading.level < level);
        self.open.push(Heading {
            level,
            text,
            anchor,
        });
        self.current = self.section();
    }

    /// Ends all sections of `level` and of deeper levels: what comes next belongs to the section
    /// around them.
    pub fn end(&mut self, level: u8) {
        if self.open.iter().any(|heading| heading.level >= level) {
            self.close_section();
            self.open.retain(|heading| heading.level < level);
            self.current = self.section();
            self.resumed = true;
        }
    }

    /// Adds a paragraph or the like to the current section; empty text is left out.
    pub fn block(&mut self, text: String) {
        if !text.is_empty() {
            self.current.blocks.push(text);
        }
    }

    /// What comes next counts so much; a section whose text has another weight goes on as one of its
    /// own.
    pub fn weigh(&mut self, weight: Weight) {
        if weight != self.current.weight && !self.current.blocks.is_empty() {
            self.close_section();
            self.current = self.section();
            self.resumed = true;
        }
        self.current.weight = weight;
    }

    /// The text of the first heading, whatever its level.
    #[must_use]
    pub fn first_heading(&self) -> Option<&str> {
        let headings = self
            .sections
            .iter()
            .chain([&self.current])
            .flat_map(|section| &section.headings);
        headings.map(String::as_str).next()
    }

    /// The sections in reading order, without those that have neither heading nor text. A
    /// section's outermost heading is left out where it repeats the page's `title`.
    #[must_use]
    pub fn finish(mut self, title: &str) -> Vec<Section> {
        self.close_section();
        leave_title_out(&mut self.sections, title);
        self.sections
    }

    /// A section without text below the headings that are open.
    fn section(&self) -> Section {
        let headings = self.open.iter();
        Section {
            anchor: headings
                .clone()
                .rev()
                .find_map(|heading| heading.anchor.clone()),
            headings: headings.map(|heading| heading.text.clone()).collect(),
            blocks: Vec::new(),
            weight: Weight::default(),
        }
    }

    fn close_section(&mut self) {
        let section = std::mem::take(&mut self.current);
        let has_heading = !self.resumed && !section.headings.is_empty();
        if has_heading || !section.blocks.is_empty() {
            self.sections.push(section);
        }
        self.resumed = false;
    }
}

/// Leaves out the outermost heading of sections where it repeats the page's `title`.
pub(crate) fn leave_title_out(sections: &mut [Section], title: &str) {
    for section in sections {
        if section
            .headings
            .first()
            .is_some_and(|heading| heading == title)
        {
            section.headings.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(headings: &[(u8, &str, Option<&str>)], title: &str) -> Vec<Section> {
        let mut outline = Outline::default();
        outline.block("intro".to_owned());
        for (level, text, anchor) in headings {
            outline.heading(*level, (*text).to_owned(), anchor.map(str::to_owned));
        }
        outline.finish(title)
    }

    #[test]
    fn a_trail_runs_from_the_outermost_heading_to_the_own_one() {
        let sections = outline(
            &[
                (1, "A", None),
                (3, "B", None),
                (2, "C", None),
                (3, "D", None),
            ],
            "",
        );
        let trails: Vec<_> = sections
            .iter()
            .map(|section| section.headings.join("/"))
            .collect();
        assert_eq!(trails, ["", "A", "A/B", "A/C", "A/C/D"]);
    }

    #[test]
    fn an_anchor_is_taken_from_the_nearest_heading_that_has_one() {
        let sections = outline(
            &[(1, "A", Some("a")), (2, "B", None), (2, "C", Some("c"))],
            "",
        );
        let anchors: Vec<_> = sections
            .iter()
            .map(|section| section.anchor.as_deref())
            .collect();
        assert_eq!(anchors, [None, Some("a"), Some("a"), Some("c")]);
    }

    #[test]
    fn the_page_title_leaves_the_trail_but_keeps_its_anchor() {
        let sections = outline(&[(1, "A", Some("a")), (2, "B", None)], "A");
        assert_eq!(sections[1].headings, Vec::<String>::new());
        assert_eq!(sections[1].anchor.as_deref(), Some("a"));
        assert_eq!(sections[2].headings, ["B"]);
    }

    #[test]
    fn a_section_goes_on_behind_deeper_ones_that_have_ended() {
        let mut outline = Outline::default();
        outline.heading(2, "A".to_owned(), Some("a".to_owned()));
        for (entry, text) in [("f", ""), ("g", "after")] {
            outline.heading(7, entry.to_owned(), Some(entry.to_owned()));
            outline.block(format!("what {entry} does"));
            outline.end(7);
            outline.end(7);
            outline.block(text.to_owned());
        }
        let sections = outline.finish("").into_iter();
        let rows: Vec<_> = sections
            .map(|section| {
                (
                    section.headings.join("/"),
                    section.anchor,
                    section.blocks.concat(),
                )
            })
            .collect();
        let row = |trail: &str, anchor: &str, text: &str| {
            (trail.to_owned(), Some(anchor.to_owned()), text.to_owned())
        };
        assert_eq!(
            rows,
            [
                row("A", "a", ""),
                row("A/f", "f", "what f does"),
                row("A/g", "g", "what g does"),
                row("A", "a", "after")
            ]
        );
    }

    #[test]
    fn sections_without_heading_and_text_are_left_out() {
        let mut outline = Outline::default();
        outline.block(String::new());
        assert_eq!(outline.finish(""), []);
    }
}
