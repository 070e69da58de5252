//! A page for people: sizes, codes and dimensions as pictures. One file, no script, light or dark as the reader's
//! system is.

use std::fmt::Write as _;

use super::picture;
use crate::talk::size;

/// Dimensions named at the top of the list, and further ones down to the rarest.
const NAMED: usize = 30;

/// Tells a page of this command from a file of somebody else's.
pub const MARK: &str = "<meta name=\"generator\" content=\"siskin inspect\">";

const STYLE: &str = include_str!("page.css");

/// What a page shows.
#[derive(Debug, Default)]
pub struct Page {
    /// Its heading.
    pub title: String,
    /// Figures with their names.
    pub figures: Vec<(&'static str, String)>,
    /// Files, in groups.
    pub groups: Vec<Group>,
    /// A part for each bucket.
    pub buckets: Vec<BucketPart>,
}

/// Files that belong together.
#[derive(Debug)]
pub struct Group {
    /// What they are.
    pub title: &'static str,
    /// Each of them, or each kind.
    pub rows: Vec<Sized>,
}

/// Something that takes bytes.
#[derive(Debug)]
pub struct Sized {
    /// Its name.
    pub name: String,
    /// What it holds; may be empty.
    pub holds: String,
    /// What it takes.
    pub bytes: u64,
}

/// One bucket on a page.
#[derive(Debug)]
pub struct BucketPart {
    /// What it is.
    pub title: String,
    /// Counted things: windows, or word pieces.
    pub unit: &'static str,
    /// For each window the size of its code; empty where there are none.
    pub code_sizes: Vec<u8>,
    /// `[n]`: in how many units each dimension occurs; empty where nothing tells, and then `terms` says why.
    pub frequencies: Vec<u32>,
    /// `[n]`: terms of each dimension, or why there are none.
    pub terms: Result<Vec<Vec<String>>, String>,
}

impl Page {
    /// The page as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"robots\" content=\"noindex\">{MARK}\
             <title>{title}</title><style>{STYLE}</style><main><h1>{title}</h1><dl>"
        );
        for (name, value) in &self.figures {
            let _ = write!(html, "<div><dt>{name}<dd>{}</div>", escaped(value));
        }
        html += "</dl>";
        html += &self.sizes();
        self.buckets
            .iter()
            .for_each(|bucket| html += &bucket.html());
        if self.buckets.is_empty() {
            html += "<p>This encoder has no buckets, so there are no dimensions to show.</p>";
        }
        html + WORDS + "</main></html>\n"
    }

    /// All files with bars, the largest of each group first.
    fn sizes(&self) -> String {
        let mut html = "<h2>What takes how many bytes</h2><table><thead><tr><th scope=col>file\
            <th scope=col class=number>size<th aria-hidden=true class=bar></thead>"
            .to_owned();
        for group in &self.groups {
            let total: u64 = group.rows.iter().map(|row| row.bytes).sum();
            let largest = group.rows.iter().map(|row| row.bytes).max().unwrap_or(1);
            let _ = write!(
                html,
                "<tbody><tr class=group><th scope=rowgroup>{}<td class=number>{}<td class=bar></tr>",
                group.title,
                size(total)
            );
            let mut rows: Vec<&Sized> = group.rows.iter().collect();
            rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
            rows.iter().for_each(|row| html += &row.html(largest));
            html += "</tbody>";
        }
        html + "</table>"
    }
}

impl Sized {
    fn html(&self, largest: u64) -> String {
        let Self { name, holds, bytes } = self;
        let (name, holds) = (escaped(name), escaped(holds));
        format!(
            "<tr><th scope=row>{name} <small>{holds}</small><td class=number>{}{}</tr>",
            size(*bytes),
            bar("bar", *bytes, largest)
        )
    }
}

/// A cell of this class with a bar, for those who see.
fn bar(class: &str, value: u64, most: u64) -> String {
    let share = 100.0 * value as f64 / most.max(1) as f64;
    format!("<td class='{class}' aria-hidden=true><span style=\"width:{share:.1}%\"></span>")
}

impl BucketPart {
    fn html(&self) -> String {
        let mut html = format!("<h2>{}</h2>", escaped(&self.title));
        if let (true, Err(reason)) = (self.frequencies.is_empty(), &self.terms) {
            return html + &format!("<p>{}</p>", escaped(reason));
        }
        html += &self.by_rank();
        if !self.code_sizes.is_empty() {
            html += &self.sizes_of_codes();
        }
        html += "<h3>What dimensions stand for</h3>";
        html + &match &self.terms {
            Ok(terms) => self.table(terms),
            Err(reason) => format!("<p class=faint>{}</p>", escaped(reason)),
        }
    }

    /// How often dimensions occur, as a picture where there is something to be seen.
    fn by_rank(&self) -> String {
        let unit = self.unit;
        let used = self.frequencies.iter().filter(|&&count| count > 0).count();
        let most = self.frequencies.iter().copied().max().unwrap_or(0);
        let mut html = format!(
            "<h3>How often dimensions occur</h3><p>{used} of {} dimensions occur.",
            self.frequencies.len()
        );
        if most < 2 {
            return html + " None of them occurs twice.</p>";
        }
        let summary = format!(
            "The most frequent dimension is in {most} {unit}; by rank the numbers fall to 1 over {used} dimensions."
        );
        let _ = write!(
            html,
            " Up: {unit} that have the dimension; to the right: its rank among them. Both axes are logarithmic, so a power law \
             falls as a straight line; Zipf's law, as words have it, is dashed.</p>"
        );
        html + &figure(
            "How often dimensions occur",
            &picture::by_rank(&summary, &self.frequencies),
        )
    }

    fn sizes_of_codes(&self) -> String {
        let counts = histogram(&self.code_sizes);
        let largest = counts.len().saturating_sub(1);
        let most = (0..counts.len())
            .max_by_key(|&size| counts[size])
            .unwrap_or(0);
        let summary = format!(
            "Codes have up to {largest} dimensions, most often {most} ({} of {} {}).",
            counts.get(most).copied().unwrap_or(0),
            self.code_sizes.len(),
            self.unit
        );
        format!(
            "<h3>How many dimensions a code has</h3><p>{summary} Up: {}; to the right: dimensions of their codes.</p>{}",
            self.unit,
            figure(
                "How many dimensions a code has",
                &picture::columns(&summary, &counts)
            )
        )
    }

    /// The most frequent dimensions and some of the others, with their terms.
    fn table(&self, terms: &[Vec<String>]) -> String {
        let mut order: Vec<usize> = (0..self.frequencies.len())
            .filter(|&dimension| self.frequencies[dimension] > 0)
            .collect();
        order.sort_by_key(|&dimension| (std::cmp::Reverse(self.frequencies[dimension]), dimension));
        let most = order
            .first()
            .map_or(1, |&dimension| self.frequencies[dimension]);
        let which = match order.len() > 2 * NAMED {
            true => format!("The {NAMED} most frequent, then others down to the rarest"),
            false => "All that occur, the most frequent first".to_owned(),
        };
        let mut html = format!(
            "<p class=faint>{which}; those that occur equally often in the order of their numbers. Word pieces, \
             strongest first; a hyphen begins one from within a word. A dimension without any is won by words in their \
             context alone.</p><table><thead><tr><th scope=col class='number rank'>rank<th scope=col class=number>dimension\
             <th scope=col class=number>{}<th aria-hidden=true class='bar narrow'><th scope=col>terms</thead><tbody>",
            self.unit
        );
        for rank in shown(order.len()) {
            let dimension = order[rank];
            let count = self.frequencies[dimension];
            let terms = terms.get(dimension).map_or(&[][..], Vec::as_slice);
            let terms: Vec<String> = terms
                .iter()
                .map(|term| format!("<code>{}</code>", escaped(term)))
                .collect();
            let terms = match terms.is_empty() {
                true => "<span class=faint>none</span>".to_owned(),
                false => terms.join(" "),
            };
            let bar = bar("bar narrow", u64::from(count), u64::from(most));
            let _ = write!(
                html,
                "<tr><td class='number rank'>{}<th scope=row class=number>{dimension}<td class=number>{count}{bar}\
                 <td>{terms}</tr>",
                rank + 1
            );
        }
        html + "</tbody></table>"
    }
}

/// A picture that may be wider than the page, and is scrolled then.
fn figure(name: &str, svg: &str) -> String {
    format!("<div class=scroll role=region tabindex=0 aria-label=\"{name}\">{svg}</div>")
}

/// What the page's words mean.
const WORDS: &str = "<h2>What the words mean</h2><dl class=words>\
    <dt>Dimension<dd>One of the thousands of outputs of a bucket, each for something that texts may speak of.\
    <dt>Winner<dd>Of each token (word piece) of a text the few dimensions that it activates most win, the others count nothing.\
    <dt>Code<dd>The dimensions that tokens of a text have won, those of the largest sums. Query and passage are as near as the dimensions that their codes share.\
    <dt>Bucket<dd>Codes by one layer of the network.\
    <dt>Window<dd>Up to three passages of a page that stand together and have one code.\
    <dt>Word piece<dd>What the network reads: words, or parts of rare ones.\
    <dt>Mode full<dd>The network reads the query in the reader's browser; the files for it are fetched only there.</dl>";

/// Ranks that are shown of so many: the first ones, then as many in even steps to the last.
fn shown(count: usize) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..count.min(NAMED)).collect();
    let rest = count.saturating_sub(NAMED);
    ranks.extend((1..=NAMED.min(rest)).map(|step| NAMED - 1 + rest * step / NAMED.min(rest)));
    ranks
}

/// How many codes have each size.
fn histogram(sizes: &[u8]) -> Vec<u32> {
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut counts = vec![0; usize::from(largest) + 1];
    for &size in sizes {
        counts[usize::from(size)] += 1;
    }
    counts
}

/// Text within HTML and its attributes.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_run_from_the_first_to_the_last() {
        assert_eq!(shown(3), [0, 1, 2]);
        let many = shown(1_000);
        assert_eq!(
            (many.len(), many[NAMED - 1], many.last()),
            (2 * NAMED, NAMED - 1, Some(&999))
        );
        assert!(many.is_sorted());
        assert_eq!(shown(NAMED + 2).last(), Some(&(NAMED + 1)));
    }

    fn bucket(frequencies: Vec<u32>) -> BucketPart {
        BucketPart {
            title: "Bucket 0".to_owned(),
            unit: "windows",
            code_sizes: vec![3, 3, 1],
            frequencies,
            terms: Ok(vec![vec![], vec!["<i>".to_owned()], vec![]]),
        }
    }

    #[test]
    fn what_a_site_says_cannot_break_the_page() {
        let page = Page {
            title: "<b>&\"'".to_owned(),
            groups: vec![Group {
                title: "Files",
                rows: vec![Sized {
                    name: "<u>".to_owned(),
                    holds: "a & b".to_owned(),
                    bytes: 5_000,
                }],
            }],
            buckets: vec![bucket(vec![0, 4, 2])],
            ..Page::default()
        };
        let html = page.html();
        for expected in [
            "<h1>&lt;b&gt;&amp;&quot;&#39;</h1>",
            "2 of 3 dimensions occur",
            "&lt;u&gt;",
            "a &amp; b",
            "5.0 KB",
            "<code>&lt;i&gt;</code>",
            "<span class=faint>none</span>",
            "most often 3 (2 of 3 windows)",
        ] {
            assert!(html.contains(expected), "{expected}: {html}");
        }
        assert!(!html.contains("<script"), "{html}");
        assert!(html.contains(MARK) && html.contains("noindex"), "{html}");
    }

    #[test]
    fn dimensions_that_occur_once_each_are_no_picture() {
        let html = bucket(vec![1, 1, 0]).html();
        assert!(html.contains("None of them occurs twice"), "{html}");
        assert_eq!(html.matches("<svg").count(), 1, "{html}");
    }
}
