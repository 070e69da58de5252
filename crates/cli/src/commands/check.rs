//! `siskin check`: what would be indexed, and what a site's owner may want to mend first.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use siskin_core::page::{Page, Passage};
use siskin_extract::site::{self, SiteReport};

use super::Outcome;
use super::index::{SkippedFile, read_site, report_problems, skip_counts};
use crate::arguments::CheckArguments;
use crate::config::Config;
use crate::talk::{self, Talk, harmless, listed};

/// Pages with fewer words are thin: they hardly answer anything.
const THIN_WORDS: usize = 20;
/// Entries of a finding that are named without `--verbose`.
const NAMED: usize = 5;

/// Runs the command; anything found counts as a problem.
pub fn run(arguments: &CheckArguments) -> Result<Outcome> {
    let talk = Talk::new(arguments.printing.quiet);
    let folder = Config::find(None)?.site(arguments.site.as_deref())?;
    site::walk(&folder)?;
    let site = read_site(&folder, talk)?;
    report_problems(&site, false, talk);
    let report = Report::new(&site);
    if arguments.printing.json {
        talk::print_json(&report)?;
    } else {
        let named = if arguments.verbose { usize::MAX } else { NAMED };
        talk::print(&report.text(named))?;
    }
    match report.is_clean() {
        true => Ok(Outcome::Done),
        false => Ok(Outcome::Problems),
    }
}

/// The result of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    /// What would be indexed.
    pages: Vec<CheckedPage>,
    passages: usize,
    words: usize,
    /// Pages by the language that they state; those that state none below the empty text.
    languages: BTreeMap<String, usize>,
    skipped: Vec<SkippedFile>,
    /// Files in which bytes that mean nothing were replaced.
    bad_bytes: Vec<String>,
    /// By address: headings to which no address leads.
    headings_without_anchor: BTreeMap<String, Vec<String>>,
    /// Titles that several pages have, with their addresses.
    shared_titles: BTreeMap<String, Vec<String>>,
    /// Addresses of pages of few words.
    thin: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CheckedPage {
    url: String,
    title: String,
    passages: usize,
    words: usize,
}

impl Report {
    fn new(site: &SiteReport) -> Self {
        let pages: Vec<CheckedPage> = site.pages.iter().map(CheckedPage::new).collect();
        let thin = pages.iter().filter(|page| page.words < THIN_WORDS);
        let unreachable = site.pages.iter().map(|page| {
            let headings = headings_without_anchor(&page.passages);
            (page.url.clone(), headings)
        });
        Self {
            passages: pages.iter().map(|page| page.passages).sum(),
            words: pages.iter().map(|page| page.words).sum(),
            languages: languages(&site.pages),
            skipped: site.skipped.iter().map(SkippedFile::new).collect(),
            bad_bytes: site
                .bad_bytes
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            headings_without_anchor: unreachable
                .filter(|(_, headings)| !headings.is_empty())
                .collect(),
            shared_titles: shared_titles(&site.pages),
            thin: thin.map(|page| page.url.clone()).collect(),
            pages,
        }
    }

    fn is_clean(&self) -> bool {
        self.headings_without_anchor.is_empty()
            && self.shared_titles.is_empty()
            && self.thin.is_empty()
            && self.bad_bytes.is_empty()
            && !self.skipped.iter().any(|skipped| skipped.problem)
    }

    fn text(&self, named: usize) -> String {
        let mut text = format!(
            "{} pages, {} passages, {} words; languages: {}\n",
            self.pages.len(),
            self.passages,
            self.words,
            self.languages_text()
        );
        if !self.skipped.is_empty() {
            let count = self.skipped.len();
            text += &format!("left out {count}: {}\n", skip_counts(&self.skipped));
        }
        if named == usize::MAX {
            text += &listed("indexed", self.pages.iter().map(CheckedPage::text), named);
            let skipped = self.skipped.iter();
            let skipped = skipped.map(|skipped| format!("{}: {}", skipped.path, skipped.reason));
            text += &listed("left out", skipped, named);
        }
        let joined =
            |(key, values): (&String, &Vec<String>)| format!("{key}: {}", values.join("; "));
        text += &listed(
            "headings without an id of their own: results open above them",
            self.headings_without_anchor.iter().map(joined),
            named,
        );
        text += &listed(
            "one title for several pages: readers cannot tell them apart",
            self.shared_titles.iter().map(joined),
            named,
        );
        let thin = format!(
            "fewer than {THIN_WORDS} words (what scripts write is not read): add text, data-siskin-ignore or noindex"
        );
        text + &listed(&thin, self.thin.iter().cloned(), named)
    }

    fn languages_text(&self) -> String {
        let language = |(tag, count): (&String, &usize)| match tag.as_str() {
            "" => format!("{count} state none (add <html lang>)"),
            tag => format!("{count} {}", harmless(tag)),
        };
        let languages: Vec<_> = self.languages.iter().map(language).collect();
        languages.join(", ")
    }
}

impl CheckedPage {
    fn new(page: &Page) -> Self {
        let words = page.passages.iter();
        let words = words.map(|passage| passage.text.split_whitespace().count());
        Self {
            url: page.url.clone(),
            title: page.title.clone(),
            passages: page.passages.len(),
            words: words.sum(),
        }
    }

    fn text(&self) -> String {
        let (passages, words) = (self.passages, self.words);
        format!(
            "{}  {} ({passages} passages, {words} words)",
            self.url, self.title
        )
    }
}

/// The innermost headings of passages that share their anchor with another heading, or have none:
/// a heading without an id has that of an earlier one.
fn headings_without_anchor(passages: &[Passage]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut owners: BTreeMap<&str, &[String]> = BTreeMap::new();
    for passage in passages {
        let owner = passage.anchor.as_deref();
        let owner = owner.map(|anchor| *owners.entry(anchor).or_insert(&passage.headings));
        let is_own = owner == Some(passage.headings.as_slice());
        if let Some(heading) = passage.headings.last().filter(|_| !is_own)
            && found.last() != Some(heading)
        {
            found.push(heading.clone());
        }
    }
    found
}

fn languages(pages: &[Page]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for page in pages {
        let language = page.language.clone().unwrap_or_default();
        *counts.entry(language).or_default() += 1;
    }
    counts
}

fn shared_titles(pages: &[Page]) -> BTreeMap<String, Vec<String>> {
    let mut urls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for page in pages {
        let of_title = urls.entry(page.title.clone()).or_default();
        of_title.push(page.url.clone());
    }
    urls.retain(|_, urls| urls.len() > 1);
    urls
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(anchor: Option<&str>, headings: &[&str]) -> Passage {
        Passage {
            anchor: anchor.map(str::to_owned),
            headings: headings
                .iter()
                .map(|heading| (*heading).to_owned())
                .collect(),
            ..Passage::default()
        }
    }

    #[test]
    fn headings_that_borrow_an_anchor_are_named_once() {
        let passages = [
            passage(Some("top"), &[]),
            passage(Some("a"), &["A"]),
            passage(Some("a"), &["A"]),
            passage(Some("a"), &["A", "B"]),
            passage(Some("a"), &["A", "B"]),
            passage(Some("c"), &["C"]),
        ];
        assert_eq!(headings_without_anchor(&passages), ["B"]);
        assert_eq!(headings_without_anchor(&[passage(None, &["D"])]), ["D"]);
        assert_eq!(headings_without_anchor(&[passage(None, &[])]), [""; 0]);
    }
}
