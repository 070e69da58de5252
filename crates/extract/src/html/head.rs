//! What a page says about itself outside its content.

use scraper::{ElementRef, Html, node::Element};

use crate::text;

/// Separators between a page's own title and the name of its site, each with spaces around.
const SEPARATORS: [&str; 7] = ["-", "|", "–", "—", "·", "•", "::"];

/// A page that leads on later than that is there to be read.
const MOST_SECONDS: u32 = 15;

/// Facts from `<html>` and `<head>`.
#[derive(Default)]
pub(super) struct Head {
    /// `<html lang>`.
    pub(super) language: Option<String>,
    /// `<title>` without the site's name.
    pub(super) title: Option<String>,
    /// What was taken for the site's name, with the separator before it.
    pub(super) title_end: Option<Box<str>>,
    /// `<meta name=robots content=noindex>` or the like.
    pub(super) no_index: bool,
    /// `<meta http-equiv=refresh>` that soon shows another page.
    pub(super) redirects: bool,
    /// `<link rel=canonical>`: where the site says that the page is published.
    pub(super) canonical: Option<String>,
}

impl Head {
    pub(super) fn of(html: &Html) -> Self {
        let mut head = Self::default();
        let Some(root) = html.tree.root().children().find_map(ElementRef::wrap) else {
            return head;
        };
        head.language = root
            .attr("lang")
            .map(str::trim)
            .filter(|tag| !tag.is_empty())
            .map(str::to_owned);
        let parts = root
            .child_elements()
            .filter(|part| part.value().name() == "head");
        for element in parts.flat_map(|part| part.descendent_elements()) {
            match element.value().name() {
                "meta" => head.read_meta(element.value()),
                "link" if element.attr("rel") == Some("canonical") => {
                    head.canonical = element.attr("href").map(str::to_owned);
                }
                "title" if head.title.is_none() => head.read_title(element),
                _ => {}
            }
        }
        head
    }

    fn read_title(&mut self, element: ElementRef<'_>) {
        let whole = text::collapse(&element.text().collect::<String>());
        let own = without_site_name(&whole);
        if !own.is_empty() {
            self.title = Some(own.to_owned());
            let end = whole.strip_prefix(own).filter(|end| !end.is_empty());
            self.title_end = end.map(Into::into);
        }
    }

    fn read_meta(&mut self, meta: &Element) {
        let content = meta
            .attr("content")
            .unwrap_or_default()
            .to_ascii_lowercase();
        let is = |attribute, value| {
            meta.attr(attribute)
                .is_some_and(|found| found.eq_ignore_ascii_case(value))
        };
        if is("name", "robots") || is("name", "siskin") {
            self.no_index |= content
                .split(',')
                .any(|word| matches!(word.trim(), "noindex" | "none"));
        }
        if is("http-equiv", "refresh") {
            self.redirects |= redirects(&content);
        }
    }
}

/// Whether a refresh such as `0; url=/new/` sends readers elsewhere before they have read anything.
fn redirects(content: &str) -> bool {
    let digits = content
        .trim_start()
        .split(|c: char| !c.is_ascii_digit())
        .next();
    let seconds = digits.and_then(|digits| digits.parse::<u32>().ok());
    let names_page = |part: &str| part.trim_start().starts_with("url");
    content.split([';', ',']).any(names_page) && seconds.unwrap_or(0) <= MOST_SECONDS
}

/// `title` up to its last separator; all of it, if nothing stands before the separator.
fn without_site_name(title: &str) -> &str {
    let last = SEPARATORS
        .iter()
        .filter_map(|separator| title.rfind(&format!(" {separator} ")))
        .max();
    last.and_then(|end| title.get(..end))
        .filter(|own| !own.is_empty())
        .unwrap_or(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_is_a_redirect_if_it_comes_soon() {
        for content in [
            "0;url=/new/",
            "0, url=/new/",
            " 5; URL=/x",
            "url=/new/",
            "0.5;url=/",
        ] {
            assert!(redirects(&content.to_ascii_lowercase()), "{content}");
        }
        for content in ["300; url=/board.html", "5", "", "60"] {
            assert!(!redirects(content), "{content}");
        }
    }

    #[test]
    fn the_site_name_is_cut_off_the_title() {
        assert_eq!(without_site_name("Ducks - Birds"), "Ducks");
        assert_eq!(without_site_name("Ducks - Calls | Birds"), "Ducks - Calls");
        assert_eq!(
            without_site_name("Ducks — Birds 1.0 documentation"),
            "Ducks"
        );
        assert_eq!(without_site_name("Well-known ducks"), "Well-known ducks");
        assert_eq!(without_site_name(" - Birds"), " - Birds");
    }
}
