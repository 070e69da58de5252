//! What pages of a site share and is no page's own: a banner for a title, the site's name around titles, menus and
//! footers.

use std::collections::{BTreeMap, BTreeSet};

use crate::html::{Draft, TitleSource};

/// Of fewer pages nothing is said.
const LEAST_PAGES: usize = 4;
const LEAST_PAGES_WITH_EDGES: usize = 8;
/// Blocks at the beginning and at the end of a page that are looked at.
const EDGE_BLOCKS: usize = 4;

/// Gives pages titles of their own, and takes away what stands on most of them.
pub(super) fn mend(pages: &mut [&mut Draft]) {
    take_banners(pages);
    restore_titles(pages);
    cut_names(pages);
    cut_edges(pages);
}

/// Whether so many of `all` are most of them.
fn are_most(count: usize, all: usize) -> bool {
    count >= LEAST_PAGES && count * 2 > all
}

fn count<T: Ord>(of: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for value in of {
        *counts.entry(value).or_default() += 1;
    }
    counts
}

/// An `h1` that most pages have is the site's name: these take their `<title>` if the titles differ.
fn take_banners(pages: &mut [&mut Draft]) {
    let all = pages.len();
    let has_heading = |page: &&&mut Draft| page.title_source == TitleSource::Heading;
    let counts = count(
        pages
            .iter()
            .filter(has_heading)
            .map(|page| page.page.title.clone()),
    );
    let Some((banner, _)) = counts.into_iter().find(|(_, count)| are_most(*count, all)) else {
        return;
    };
    let is_under = |page: &&mut &mut Draft| {
        page.title_source == TitleSource::Heading && page.page.title == banner
    };
    let under: Vec<_> = pages.iter_mut().filter(is_under).collect();
    let titles: BTreeSet<_> = under
        .iter()
        .filter_map(|page| page.head_title.clone())
        .collect();
    if titles.len() * 2 > under.len() {
        for page in under {
            page.take_head_title();
        }
    }
}

/// Gives pages their whole title whose last part is no other page's: it is not the site's name.
fn restore_titles(pages: &mut [&mut Draft]) {
    let ends = pages.iter().filter_map(|page| page.title_end.clone());
    let pages_of = count(ends);
    // Of one page alone nothing can be said.
    if pages_of.values().sum::<usize>() < 2 {
        return;
    }
    for page in pages {
        if page.title_source == TitleSource::Head
            && let Some(end) = &page.title_end
            && pages_of.get(end) == Some(&1)
        {
            page.page.title.push_str(end);
        }
    }
}

/// Cuts the site's name off titles that have it before a colon, behind one or in brackets.
fn cut_names(pages: &mut [&mut Draft]) {
    let all = pages.len();
    for part in [before_colon, behind_colon, in_brackets] {
        let of_head = pages
            .iter()
            .filter(|page| page.title_source == TitleSource::Head);
        let names = count(of_head.filter_map(|page| Some(part(&page.page.title)?.1.to_owned())));
        for page in pages
            .iter_mut()
            .filter(|page| page.title_source == TitleSource::Head)
        {
            let own = part(&page.page.title).filter(|(own, name)| {
                let shared = names.get(*name).copied().unwrap_or_default();
                !own.is_empty() && are_most(shared, all)
            });
            if let Some(own) = own.map(|(own, _)| own.to_owned()) {
                page.page.title = own;
            }
        }
    }
}

/// A title's own part and the name: `JSDoc: Class: Pond`.
fn before_colon(title: &str) -> Option<(&str, &str)> {
    title.split_once(": ").map(|(name, own)| (own, name))
}

/// The same: `GBinding: GObject Reference Manual`.
fn behind_colon(title: &str) -> Option<(&str, &str)> {
    title.rsplit_once(": ")
}

/// The same: `Wisdom (FFTW 3.3.10)`.
fn in_brackets(title: &str) -> Option<(&str, &str)> {
    title.strip_suffix(')')?.rsplit_once(" (")
}

/// Takes away blocks that stand word for word at the beginnings, or at the ends, of most pages. A page that has nothing
/// else keeps them, and so do headings that have nothing else below them, and pages whose author marked the content.
fn cut_edges(pages: &mut [&mut Draft]) {
    let unmarked = pages.iter_mut().filter(|page| page.mark.is_none());
    let mut pages: Vec<&mut Draft> = unmarked.map(|page| &mut **page).collect();
    let all = pages.len();
    if all < LEAST_PAGES_WITH_EDGES {
        return;
    }
    let shared = |edge: fn(&Draft) -> BTreeSet<String>| -> BTreeSet<String> {
        let counts = count(pages.iter().flat_map(|page| edge(page)));
        let most = counts
            .into_iter()
            .filter(|(_, count)| are_most(*count, all));
        most.map(|(block, _)| block).collect()
    };
    let (first, last) = (shared(first_blocks), shared(last_blocks));
    if first.is_empty() && last.is_empty() {
        return;
    }
    for page in &mut pages {
        let is_shared = |block: &String| first.contains(block) || last.contains(block);
        if !page
            .sections
            .iter()
            .flat_map(|section| &section.blocks)
            .all(is_shared)
        {
            cut_blocks(page, &first, &last);
        }
    }
}

fn first_blocks(page: &Draft) -> BTreeSet<String> {
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    blocks.take(EDGE_BLOCKS).cloned().collect()
}

fn last_blocks(page: &Draft) -> BTreeSet<String> {
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    blocks.rev().take(EDGE_BLOCKS).cloned().collect()
}

fn cut_blocks(page: &mut Draft, first: &BTreeSet<String>, last: &BTreeSet<String>) {
    let count: usize = page
        .sections
        .iter()
        .map(|section| section.blocks.len())
        .sum();
    let mut at = 0;
    page.sections.retain_mut(|section| {
        let is_cut: Vec<bool> = section
            .blocks
            .iter()
            .map(|block| {
                at += 1;
                at <= EDGE_BLOCKS && first.contains(block)
                    || at + EDGE_BLOCKS > count && last.contains(block)
            })
            .collect();
        let is_all = !is_cut.is_empty() && is_cut.iter().all(|is_cut| *is_cut);
        if is_all && !section.headings.is_empty() {
            return true;
        }
        let mut is_cut = is_cut.into_iter();
        section
            .blocks
            .retain(|_| !is_cut.next().unwrap_or_default());
        !is_all
    });
}
