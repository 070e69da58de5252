//! A bound on nesting, because a parser's time grows with depth × length.

use crate::ExtractError;

/// Deeper pages are refused. Browsers flatten at 512.
const LIMIT: usize = 4096;

/// Elements whose end tags may be missing without anything being nested, and void elements.
const UNCOUNTED: [&str; 31] = [
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "col",
    "option", "html", "head", "body", "a", "button", "area", "base", "br", "embed", "hr", "img",
    "input", "link", "meta", "source", "track", "wbr", "param",
];

/// Checks how many elements are open at once, by counting tags.
///
/// # Errors
/// [`ExtractError::TooDeep`].
pub(super) fn check(html: &str, url: &str) -> Result<(), ExtractError> {
    let depth = deepest(html);
    if depth > LIMIT {
        return Err(ExtractError::TooDeep {
            url: url.to_owned(),
            depth,
            limit: LIMIT,
        });
    }
    Ok(())
}

fn deepest(html: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        match tag.strip_prefix('/') {
            Some(end) if is_counted(end) => depth = depth.saturating_sub(1),
            None if is_counted(tag) => depth += 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn is_counted(tag: &str) -> bool {
    let name = tag
        .split(|character: char| !character.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    name.starts_with(|character: char| character.is_ascii_alphabetic())
        && !UNCOUNTED
            .iter()
            .any(|uncounted| name.eq_ignore_ascii_case(uncounted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_elements_and_optional_end_tags_do_not_add_up() {
        assert_eq!(
            deepest("<div><p>a<p>b<br><b>c</b></div><div><i>d</i></div> 1 < 2 <!-- -->"),
            2
        );
        assert!(check(&"<p>a<li>b<div></div>".repeat(LIMIT * 2), "").is_ok());
    }

    #[test]
    fn a_page_nested_beyond_the_limit_is_refused() {
        let error = check(&"<div>".repeat(LIMIT + 1), "/x.html").expect_err("too deep");
        assert!(
            error
                .to_string()
                .starts_with("/x.html: elements are nested 4097 deep, more than 4096;")
        );
    }
}
