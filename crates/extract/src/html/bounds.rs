//! Bounds on what a parser's time grows with faster than a page's length: nesting and attributes.
//!
//! One scan over the tags, without parsing: it guards against accidents of generators, not against
//! pages written to deceive it (end tags without a start, tags in comments or quoted attributes).

use crate::ExtractError;

/// Deeper pages are refused. Browsers flatten at 512.
const MAX_DEPTH: usize = 4096;
/// Pages with an element of more attributes are refused.
const MAX_ATTRIBUTES: usize = 4096;

/// Elements whose end tags may be missing without anything being nested, and void elements.
const UNCOUNTED: [&str; 31] = [
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "col",
    "option", "html", "head", "body", "a", "button", "area", "base", "br", "embed", "hr", "img",
    "input", "link", "meta", "source", "track", "wbr", "param",
];

/// Elements that hold text only, whatever it looks like.
const TEXT_ONLY: [&str; 4] = ["script", "style", "textarea", "title"];

/// Elements in which `/>` ends an element.
const FOREIGN: [&str; 2] = ["svg", "math"];

/// Checks how many elements are open at once and how many attributes one has.
///
/// # Errors
/// [`ExtractError::TooDeep`] and [`ExtractError::TooManyAttributes`].
pub(super) fn check(html: &str, url: &str) -> Result<(), ExtractError> {
    let found = Extremes::of(html);
    if found.depth > MAX_DEPTH {
        return Err(ExtractError::TooDeep {
            url: url.to_owned(),
            depth: found.depth,
            limit: MAX_DEPTH,
        });
    }
    if found.attributes > MAX_ATTRIBUTES {
        return Err(ExtractError::TooManyAttributes {
            url: url.to_owned(),
            attributes: found.attributes,
            limit: MAX_ATTRIBUTES,
        });
    }
    Ok(())
}

/// The most that was found anywhere in a page.
#[derive(Debug, Default, PartialEq)]
struct Extremes {
    depth: usize,
    attributes: usize,
}

impl Extremes {
    fn of(html: &str) -> Self {
        let mut extremes = Self::default();
        let (mut depth, mut foreign) = (0_usize, 0_usize);
        let mut text_of: Option<&str> = None;
        for tag in html.split('<').skip(1) {
            let (end_tag, name) = match tag.strip_prefix('/') {
                Some(rest) => (true, name_of(rest)),
                None => (false, name_of(tag)),
            };
            if name.is_empty() || text_of.is_some_and(|open| !end_tag || !is(name, open)) {
                continue;
            }
            text_of = None;
            let counted = !UNCOUNTED.iter().any(|uncounted| is(name, uncounted));
            let is_foreign = FOREIGN.iter().any(|root| is(name, root));
            if end_tag {
                depth = depth.saturating_sub(usize::from(counted));
                foreign = foreign.saturating_sub(usize::from(is_foreign));
                continue;
            }
            extremes.attributes = extremes.attributes.max(attributes(&tag[name.len()..]));
            if is_self_closing(tag) && (foreign > 0 || is_foreign) {
                continue;
            }
            depth += usize::from(counted);
            foreign += usize::from(is_foreign);
            text_of = TEXT_ONLY.into_iter().find(|element| is(name, element));
            extremes.depth = extremes.depth.max(depth);
        }
        extremes
    }
}

fn is(name: &str, element: &str) -> bool {
    name.eq_ignore_ascii_case(element)
}

/// The element's name at the start of a tag; empty if none begins there.
fn name_of(tag: &str) -> &str {
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric());
    let name = &tag[..end.unwrap_or(tag.len())];
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        ""
    }
}

fn is_self_closing(tag: &str) -> bool {
    tag.split('>')
        .next()
        .is_some_and(|inner| inner.ends_with('/'))
}

/// Attributes in what follows an element's name: words and equals signs outside quotes.
fn attributes(tag: &str) -> usize {
    let (mut words, mut assignments) = (0, 0);
    let (mut quote, mut in_word) = (None, false);
    for c in tag.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '>') => break,
            (None, '"' | '\'') => quote = Some(c),
            (None, '=') => assignments += 1,
            (None, _) => {
                words += usize::from(!c.is_whitespace() && !in_word);
                in_word = !c.is_whitespace();
            }
        }
    }
    words.max(assignments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deepest(html: &str) -> usize {
        Extremes::of(html).depth
    }

    #[test]
    fn closed_elements_and_optional_end_tags_do_not_add_up() {
        assert_eq!(
            deepest("<div><p>a<p>b<br><b>c</b></div><div><i>d</i></div> 1 < 2 <!-- -->"),
            2
        );
        assert!(check(&"<p>a<li>b<div></div>".repeat(MAX_DEPTH * 2), "").is_ok());
    }

    #[test]
    fn scripts_and_drawings_do_not_nest() {
        let script = format!("<script>{}</script>", "if(a<b)f('<div>');".repeat(5000));
        let drawing = format!("<SVG>{}</svg>", "<path d='M0 0'/>".repeat(5000));
        assert_eq!(deepest(&(script + &drawing)), 1);
        assert_eq!(deepest(&"<div/>".repeat(3)), 3);
    }

    #[test]
    fn a_page_nested_beyond_the_limit_is_refused() {
        let error = check(&"<div>".repeat(MAX_DEPTH + 1), "/x.html").expect_err("too deep");
        assert!(
            error
                .to_string()
                .starts_with("/x.html: elements are nested 4097 deep, more than 4096;")
        );
    }

    #[test]
    fn an_element_with_too_many_attributes_is_refused() {
        let words: String = (0..=MAX_ATTRIBUTES).map(|i| format!(" a{i}")).collect();
        let joined: String = (0..=MAX_ATTRIBUTES).map(|i| format!("a{i}=''")).collect();
        for attributes in [words, joined] {
            let error = check(&format!("<p {attributes}>"), "/x.html").expect_err("too many");
            assert!(
                error
                    .to_string()
                    .starts_with("/x.html: an element has 4097 attributes, more than 4096;")
            );
        }
        let long = "some words ".repeat(MAX_ATTRIBUTES);
        assert_eq!(
            attributes(&format!(" title=\"{long}\" alt='{long}'>a b c")),
            2
        );
    }
}
