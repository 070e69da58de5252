//! Content to sections: one iterative pass over the tree, so that no depth overflows a stack.

use ego_tree::{NodeId, NodeRef, iter::Edge};
use scraper::{ElementRef, Node, node::Element};
use siskin_core::page::Weight;

use super::{attributes, content};
use crate::{
    outline::Outline,
    text::{self, TextBuffer},
};

/// Elements that stand on lines of their own.
const BLOCKS: [&str; 37] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "form",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "ol",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "tr",
    "ul",
    "xmp",
];

/// Elements that no heading contains: the heading was never closed.
const ENDS_HEADING: [&str; 9] = [
    "blockquote",
    "dl",
    "figure",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
];

/// Letters of a heading at most: it stands above each passage of its section. A longer one is cut, and is the first
/// text below itself.
const MOST_HEADING_LETTERS: usize = 300;

/// Level of a heading made of a term in a list of definitions; a list within it is one deeper.
const TERM_LEVEL: u8 = 7;

/// Reads the sections of a page.
#[derive(Default)]
pub(super) struct Walker {
    outline: Outline,
    buffer: TextBuffer,
    title: Option<String>,
    heading: Option<OpenHeading>,
    skipped: Option<NodeId>,
    open_pre: usize,
    open_lists: u8,
    /// Whether the section is excluded from search, up to the next heading.
    is_excluded: bool,
    /// Weights of the elements that we stand in, below the root.
    weights: Vec<(NodeId, Weight)>,
    /// The last id since any text: what leads there leads to a heading that comes next.
    id_before: Option<String>,
    /// The sections and articles that we stand in, below the root.
    containers: Vec<Container>,
    /// The level of headings that have ended with their sections, unless a heading below them comes next: sections of a
    /// heading may stand side by side with its own.
    ended: Option<u8>,
}

/// A section, an article or the description of a function. A heading within it ends with it.
struct Container {
    node: NodeId,
    /// The level of its first heading.
    level: Option<u8>,
    /// Whether there is text below that.
    has_text: bool,
    /// Its id, while its first text is to be its heading: a function's signature.
    member_id: Option<String>,
}

struct OpenHeading {
    node: NodeId,
    level: u8,
    own_id: Option<String>,
    inner_id: Option<String>,
    section_id: Option<String>,
    id_before: Option<String>,
}

impl Walker {
    /// Reads everything below `root`, which itself is not asked whether it is to be left out.
    pub(super) fn walk(&mut self, root: NodeRef<'_, Node>) {
        for edge in root.traverse() {
            match edge {
                Edge::Open(node) if self.skipped.is_none() => self.open(node, root),
                Edge::Close(node) => self.close(node),
                Edge::Open(_) => {}
            }
        }
        self.end_block();
    }

    /// The first `h1` of the content.
    pub(super) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What was read.
    pub(super) fn finish(self) -> Outline {
        self.outline
    }

    fn open(&mut self, node: NodeRef<'_, Node>, root: NodeRef<'_, Node>) {
        if let Some(text) = node.value().as_text() {
            self.text(text);
        } else if let Some(element) = ElementRef::wrap(node) {
            let is_root = node.id() == root.id();
            let is_left_out = || {
                let is_stripped = content::is_stripped(element.value());
                is_stripped && !content::is_heading_itself(element)
                    || content::is_furniture(element)
            };
            let is_left_out = !is_root && is_left_out();
            // The id of a button to copy is no heading's, that of a permalink is.
            if !(is_root || is_left_out && content::is_control(element.value())) {
                self.note_id(element.value(), is_left_out);
            }
            if is_left_out {
                self.skipped = Some(node.id());
                self.exclude_section(element.value());
            } else {
                self.open_element(element);
                let is_member = content::is_member(element);
                let is_section = matches!(element.value().name(), "section" | "article");
                if !is_root && (is_section || is_member) {
                    self.containers.push(Container {
                        node: node.id(),
                        level: None,
                        has_text: false,
                        member_id: id_of(element.value()).filter(|_| is_member),
                    });
                }
                let weight = attributes::weight(element.value()).filter(|_| !is_root);
                self.weights
                    .extend(weight.map(|weight| (node.id(), weight)));
            }
        }
    }

    /// Drops what stands below a heading that MkDocs Material keeps out of its search index.
    fn exclude_section(&mut self, element: &Element) {
        if heading_level(element.name()).is_some() && content::is_excluded(element) {
            self.end_block();
            self.is_excluded = true;
        }
    }

    fn text(&mut self, text: &str) {
        if self.heading.is_none() && !text.trim().is_empty() {
            self.id_before = None;
        }
        if self.is_excluded {
        } else if self.open_pre > 0 {
            self.buffer.push_lines(text);
        } else {
            self.buffer.push(text);
        }
    }

    fn open_element(&mut self, element: ElementRef<'_>) {
        let name = element.value().name();
        if self.heading.is_some() && ENDS_HEADING.contains(&name) {
            self.end_heading();
        }
        let title_level = || content::is_doxygen_title(element).then_some(1);
        let level = heading_level(name).or_else(|| self.term_level(element.value()));
        if let Some(level) = level.or_else(title_level) {
            self.begin_heading(level, element);
        } else {
            self.border(name);
            if name == "dt" && self.open_lists > 0 {
                self.outline.end(self.level_of_terms());
            }
        }
        self.open_pre += usize::from(name == "pre");
        self.open_lists = self.open_lists.saturating_add(u8::from(name == "dl"));
    }

    /// The weight of what is read here.
    fn weight(&self) -> Weight {
        let innermost = self.weights.last();
        innermost.map_or_else(Weight::default, |(_, weight)| *weight)
    }

    fn close(&mut self, node: NodeRef<'_, Node>) {
        if let Some(skipped) = self.skipped {
            if skipped == node.id() {
                self.skipped = None;
            }
            return;
        }
        let Some(name) = node.value().as_element().map(Element::name) else {
            return;
        };
        self.open_pre = self.open_pre.saturating_sub(usize::from(name == "pre"));
        if self
            .heading
            .as_ref()
            .is_some_and(|heading| heading.node == node.id())
        {
            self.end_heading();
        } else {
            self.border(name);
        }
        if name == "dl" {
            let level = self.level_of_terms();
            self.open_lists = self.open_lists.saturating_sub(1);
            self.outline.end(level);
        }
        self.weights.pop_if(|(weighted, _)| *weighted == node.id());
        let container = self
            .containers
            .pop_if(|container| container.node == node.id());
        // One that holds nothing else is the heading's frame.
        let ends = container.filter(|container| container.has_text);
        if let Some(level) = ends.and_then(|container| container.level) {
            self.ended = Some(self.ended.map_or(level, |ended| ended.min(level)));
        }
    }

    /// The level of terms in the innermost list: below that of functions whose descriptions we stand in.
    fn level_of_terms(&self) -> u8 {
        let lists = self.open_lists.saturating_sub(1);
        self.level_of_members().saturating_add(lists)
    }

    /// The level of the signature of a function below the sections that we stand in.
    fn level_of_members(&self) -> u8 {
        TERM_LEVEL.saturating_add(u8::try_from(self.containers.len()).unwrap_or(u8::MAX))
    }

    /// Ends the headings that have ended with their sections.
    fn end_ended(&mut self) {
        if let Some(level) = self.ended.take() {
            self.outline.end(level);
        }
    }

    /// The level of a term that can be linked to, such as a function's signature.
    fn term_level(&self, element: &Element) -> Option<u8> {
        let is_term = element.name() == "dt" && self.open_pre == 0 && id_of(element).is_some();
        is_term.then(|| self.level_of_terms())
    }

    /// Separates what stands before and after the edge of an element.
    fn border(&mut self, name: &str) {
        let is_block = BLOCKS.contains(&name);
        if self.open_pre > 0 && (is_block || name == "br") {
            self.buffer.line();
        } else if is_block && self.heading.is_none() {
            self.end_block();
        } else if is_block || matches!(name, "br" | "td" | "th") {
            self.buffer.space();
        }
    }

    fn end_block(&mut self) {
        self.end_heading();
        if let Some(text) = self.buffer.take()
            && let Some(text) = self.begin_member(text)
        {
            self.block(text);
        }
    }

    /// The first text of a function's description is its signature.
    fn begin_member(&mut self, text: String) -> Option<String> {
        let level = self.level_of_members().saturating_sub(1);
        let Some(member) = self.containers.last_mut() else {
            return Some(text);
        };
        let is_signature = text.chars().count() <= MOST_HEADING_LETTERS;
        let Some(id) = member.member_id.take().filter(|_| is_signature) else {
            return Some(text);
        };
        member.level = Some(level);
        member.has_text = true;
        self.end_ended();
        self.outline.heading(level, text::collapse(&text), Some(id));
        self.outline.weigh(self.weight());
        None
    }

    fn block(&mut self, text: String) {
        self.end_ended();
        self.outline.weigh(self.weight());
        self.outline.block(text);
        for container in &mut self.containers {
            container.has_text |= container.level.is_some();
        }
    }

    fn begin_heading(&mut self, level: u8, element: ElementRef<'_>) {
        self.end_block();
        self.is_excluded &= level >= TERM_LEVEL;
        self.heading = Some(OpenHeading {
            node: element.id(),
            level,
            own_id: id_of(element.value()),
            inner_id: None,
            section_id: element
                .parent()
                .and_then(|parent| section_id(parent.value())),
            id_before: self.id_before.take().filter(|_| level > 1),
        });
    }

    fn note_id(&mut self, element: &Element, is_left_out: bool) {
        let id = id_of(element);
        match &mut self.heading {
            Some(heading) => heading.inner_id = heading.inner_id.take().or(id),
            None if heading_level(element.name()).is_some() || is_left_out => {}
            None => self.id_before = id.or_else(|| self.id_before.take()),
        }
    }

    /// A heading without text is no heading.
    fn end_heading(&mut self) {
        let Some(heading) = self.heading.take() else {
            return;
        };
        let Some(text) = self.buffer.take().map(|text| text::collapse(&text)) else {
            return;
        };
        let whole = (text.chars().count() > MOST_HEADING_LETTERS).then(|| text.clone());
        let text = whole.as_deref().map_or(text, shortened);
        if heading.level == 1 && self.title.is_none() {
            self.title = Some(text.clone());
        }
        match heading.level < TERM_LEVEL {
            true => self.ended = None,
            false => self.end_ended(),
        }
        let inner_id = heading.own_id.or(heading.inner_id);
        let anchor = inner_id.or(heading.section_id).or(heading.id_before);
        self.outline.heading(heading.level, text, anchor);
        self.outline.weigh(self.weight());
        if let Some(container) = self.containers.last_mut() {
            container.level.get_or_insert(heading.level);
            container.member_id = None;
        }
        if let Some(whole) = whole {
            self.block(whole);
        }
    }
}

/// The beginning of a text, up to the end of a word.
fn shortened(text: &str) -> String {
    let start: String = text.chars().take(MOST_HEADING_LETTERS).collect();
    let words = start.rsplit_once(' ').map_or(&*start, |(words, _)| words);
    format!("{words}…")
}

pub(super) fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

/// The id of a section whose first child is a heading, as Sphinx and docutils write it.
fn section_id(parent: &Node) -> Option<String> {
    let element = parent.as_element()?;
    let is_section =
        element.name() == "section" || element.classes().any(|class| class == "section");
    is_section.then(|| id_of(element)).flatten()
}

/// What a link may lead to: an id, or the name of an anchor as it was written before there were ids.
fn id_of(element: &Element) -> Option<String> {
    let name = || element.attr("name").filter(|_| element.name() == "a");
    let id = element.attr("id").or_else(name);
    id.filter(|id| !id.trim().is_empty()).map(str::to_owned)
}
