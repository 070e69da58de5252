//! Links between the pages of a site: what one page calls another.

use scraper::{ElementRef, Html};
use url::Url;

use super::{bounds, content, encoding};
use crate::{ExtractError, text};

/// A link in a page's content to a page of the same site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What the reader sees, white space collapsed; never empty.
    pub text: String,
    /// Path that it leads to, from the site's root.
    pub path: String,
    /// The id after `#`, if it has one.
    pub anchor: Option<String>,
}

/// The links in the content of the page in `bytes` that lead to other pages of its site, in reading
/// order. `url` is the page's own address within the site.
///
/// # Errors
/// Those of [`super::page`].
pub fn links(bytes: &[u8], url: &str) -> Result<Vec<Link>, ExtractError> {
    let (text, _) = encoding::decode(bytes);
    bounds::check(&text, url)?;
    let html = Html::parse_document(&text);
    let Some(base) = site().and_then(|site| site.join(url).ok()) else {
        return Ok(Vec::new());
    };
    let roots = content::Content::of(&html).roots;
    let found = roots.into_iter().flat_map(links_in);
    Ok(found.filter_map(|element| link(element, &base)).collect())
}

/// The links in what is read of the content.
fn links_in(root: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    let elements = content::read_nodes(root).filter_map(ElementRef::wrap);
    elements.filter(move |element| element.value().name() == "a" && element.id() != root.id())
}

/// A site's root: any address will do, since links are compared by their paths.
pub(super) fn site() -> Option<Url> {
    Url::parse("http://site.invalid/").ok()
}

fn link(element: ElementRef<'_>, base: &Url) -> Option<Link> {
    let target = base.join(element.attr("href")?).ok()?;
    let is_elsewhere = target.origin() != base.origin() || target.path() == base.path();
    let words = text::collapse(&element.text().collect::<String>());
    (!is_elsewhere && !words.is_empty()).then(|| Link {
        text: words,
        path: target.path().to_owned(),
        anchor: target
            .fragment()
            .filter(|anchor| !anchor.is_empty())
            .map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_content_to_other_pages_are_found() {
        let html = b"<nav><a href='/menu'>Menu</a></nav><main><h2>A <a href='#a'>#</a></h2>
            <p>See <a href='../b.html#part'>the  other\npart</a>, <a href='c/'>C</a>,
            <a href='https://elsewhere.example/'>out</a>, <a href='#top'>up</a>,
            <a href='a.html'>itself</a>, <a>nowhere</a>, <a href='d'> </a>,
            <a class=headerlink href='e'>e</a> and <a href='http://[bad'>bad</a>.
            <footer><a href='next'>Next</a></footer></main>";
        let link = |text: &str, path: &str, anchor: Option<&str>| Link {
            text: text.to_owned(),
            path: path.to_owned(),
            anchor: anchor.map(str::to_owned),
        };
        assert_eq!(
            links(html, "/x/a.html").unwrap(),
            [
                link("the other part", "/b.html", Some("part")),
                link("C", "/x/c/", None)
            ]
        );
    }
}
