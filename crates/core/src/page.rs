//! What a site consists of: pages, cut into passages.

/// A page as the reader opens it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Address within the site: begins with `/`, no origin, no fragment.
    pub url: String,
    /// The page's own title, without the site's name.
    pub title: String,
    /// Language tag of the page (`en`, `de-AT`), if it states one.
    pub language: Option<String>,
    /// Passages in reading order; never empty for a page worth indexing.
    pub passages: Vec<Passage>,
}

/// A piece of text short enough for the encoder (about 128 word pieces), below one heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// The id of the nearest heading that has one, without `#`.
    pub anchor: Option<String>,
    /// Headings from the section's outermost to the passage's own; without the page title.
    pub headings: Vec<String>,
    /// Plain text, white space collapsed, code included.
    pub text: String,
}

impl Passage {
    /// The text that the encoder reads: page title, innermost heading (if it differs from the
    /// title) and body, one a line.
    #[must_use]
    pub fn encoder_text(&self, page_title: &str) -> String {
        let mut text = String::with_capacity(page_title.len() + self.text.len() + 64);
        text.push_str(page_title);
        if let Some(heading) = self
            .headings
            .last()
            .filter(|heading| *heading != page_title)
        {
            text.push('\n');
            text.push_str(heading);
        }
        text.push('\n');
        text.push_str(&self.text);
        text
    }
}
