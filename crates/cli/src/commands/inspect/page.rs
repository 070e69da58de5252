//! A page for people: sizes, codes and dimensions as pictures. One file, no script, light or dark as the reader's
//! system is.

use std::fmt::Write as _;

use super::picture::{self, Bar};

/// Dimensions named at the top of the list, and further ones down to the rarest.
const NAMED: usize = 30;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1f2328;--ground:#fff;--faint:#656d76;--line:#d8dee4;--mark:#0072b2}\
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--ground:#0d1117;--faint:#8d96a0;--line:#30363d;--mark:#56b4e9}}\
body{margin:2rem auto;max-width:46rem;padding:0 1rem;color:var(--ink);background:var(--ground);\
font:16px/1.5 system-ui,sans-serif}h1,h2{line-height:1.2}h2{margin-top:2.5rem}\
p.faint,td.faint,th{color:var(--faint)}dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:1rem}\
dt{color:var(--faint);font-size:.85rem}dd{margin:0;font-size:1.35rem;overflow-wrap:anywhere}\
dl>:first-child{grid-column:1/-1}dl>:first-child dd{font-size:1rem}\
svg{width:100%;height:auto;font:13px system-ui,sans-serif;fill:var(--mark)}svg text{fill:var(--ink);dominant-baseline:middle}\
svg .name{fill:var(--faint)}svg .axis{fill:none;stroke:var(--line)}svg polyline{fill:none;stroke:var(--mark);stroke-width:2}\
table{border-collapse:collapse;width:100%}th,td{text-align:start;padding:.3rem .5rem;border-bottom:1px solid var(--line)}\
td.number{text-align:end;font-variant-numeric:tabular-nums}meter{width:6rem}";

/// What a page shows.
#[derive(Debug, Default)]
pub struct Page {
    /// Its heading.
    pub title: String,
    /// Figures with their names.
    pub figures: Vec<(&'static str, String)>,
    /// Files or kinds of files: name, bytes, bytes for people.
    pub sizes: Vec<(String, u64, String)>,
    /// A part for each bucket.
    pub buckets: Vec<BucketPart>,
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
             <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
             <style>{STYLE}</style><h1>{title}</h1><dl>"
        );
        for (name, value) in &self.figures {
            let _ = write!(html, "<div><dt>{name}<dd>{}</div>", escaped(value));
        }
        html += "</dl><h2>What takes how many bytes</h2>";
        let bar = |(name, bytes, size): &(String, u64, String)| Bar {
            name: name.clone(),
            value: *bytes as f64,
            figure: size.clone(),
        };
        let bars: Vec<Bar> = self.sizes.iter().map(bar).collect();
        html += &picture::bars("Bytes", &bars);
        self.buckets
            .iter()
            .for_each(|bucket| html += &bucket.html());
        html + "</html>\n"
    }
}

impl BucketPart {
    fn html(&self) -> String {
        let mut html = format!("<h2>{}</h2>", escaped(&self.title));
        if let (true, Err(reason)) = (self.frequencies.is_empty(), &self.terms) {
            return html + &format!("<p>{}</p>", escaped(reason));
        }
        let used = self.frequencies.iter().filter(|&&count| count > 0).count();
        let _ = write!(
            html,
            "<p>{used} of {} dimensions occur.</p><h3>How often dimensions occur</h3>\
             <p class=faint>Both axes are logarithmic. A straight line would be Zipf's law; a flat one, \
             dimensions that are all used alike.</p>",
            self.frequencies.len()
        );
        let unit = self.unit;
        let below = format!("rank of the dimension; at the left, {unit} that have it");
        html += &picture::by_rank("Frequency by rank", &below, &self.frequencies);
        if !self.code_sizes.is_empty() {
            html += "<h3>How many dimensions a code has</h3>";
            let below = format!("dimensions of a code; at the left, {unit}");
            html += &picture::columns("Sizes of codes", &below, &histogram(&self.code_sizes));
        }
        html += "<h3>What dimensions stand for</h3>";
        html + &match &self.terms {
            Ok(terms) => self.table(terms),
            Err(reason) => format!("<p class=faint>{}</p>", escaped(reason)),
        }
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
        let mut html = format!(
            "<p class=faint>The {NAMED} most frequent, then others down to the rarest. Word pieces, \
             strongest first; a hyphen begins one from within a word.</p>\
             <table><tr><th>rank<th>dimension<th colspan=2>{}<th>terms</tr>",
            self.unit
        );
        for rank in shown(order.len()) {
            let dimension = order[rank];
            let count = self.frequencies[dimension];
            let terms = terms.get(dimension).map_or(&[][..], Vec::as_slice);
            let terms = match terms {
                [] => "<td class=faint>no word piece".to_owned(),
                terms => format!("<td>{}", escaped(&terms.join(", "))),
            };
            let _ = write!(
                html,
                "<tr><td class=number>{}<td class=number>{dimension}<td class=number>{count}\
                 <td><meter max={most} value={count}></meter>{terms}</tr>",
                rank + 1
            );
        }
        html + "</table>"
    }
}

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

    #[test]
    fn what_a_site_says_cannot_break_the_page() {
        let page = Page {
            title: "<b>&\"'".to_owned(),
            buckets: vec![BucketPart {
                title: "bucket 0".to_owned(),
                unit: "windows",
                code_sizes: vec![3, 3, 1],
                frequencies: vec![0, 4, 2],
                terms: Ok(vec![vec![], vec!["<i>".to_owned()], vec![]]),
            }],
            ..Page::default()
        };
        let html = page.html();
        assert!(
            html.contains("<h1>&lt;b&gt;&amp;&quot;&#39;</h1>"),
            "{html}"
        );
        assert!(html.contains("2 of 3 dimensions occur"), "{html}");
        assert!(
            html.contains("&lt;i&gt;") && html.contains("no word piece"),
            "{html}"
        );
        assert!(!html.contains("<script"), "{html}");
    }
}
