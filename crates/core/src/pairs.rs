//! Pairs of words that stand side by side, on sites of short pages: two words of the query that stand so on a page
//! say more than the two apart (Metzler and Croft, "A Markov Random Field Model for Term Dependencies", 2005).
//!
//! Beside each posting of a word stands which words follow it on the page, function words left out: a set of 32
//! hashes ([`bit`]). Where the page has the second word too, the two are taken for a pair; one in 32 words that
//! follow is taken for another.
//!
//! ```text
//! per posting: a 1 and 5 bits for each hash of its set, in order, lowest bit first, then a 0; padded to a whole byte
//! in all
//! ```

use crate::bytes::{Reader, Result, Writer};
use crate::impact::rarity;
use crate::lists::PageList;
use crate::page::Page;
use crate::postings::Bits;
use crate::query::{AnalyzedQuery, QueryWord, Relation};
use crate::text::{Analyzer, Term, TermKind, is_stop_word};
use bitvec::order::Lsb0;
use bitvec::vec::BitVec;
use std::collections::HashMap;
use xxhash_rust::xxh64::xxh64;

/// Which words follow a word on a page, as hashes: bit `h` is that of the words with [`bit`] `1 << h`.
pub(crate) type Followers = u32;

/// Bits of a hash.
const HASH_BITS: u32 = 5;

/// The set of one term alone.
#[must_use]
pub(crate) fn bit(term: &str) -> Followers {
    1 << (xxh64(term.as_bytes(), 0) % u64::from(Followers::BITS))
}

/// Words of a text that stand side by side, function words left out.
pub(crate) fn pairs(terms: &[Term]) -> impl Iterator<Item = (&Term, &Term)> {
    let is_telling = |term: &&Term| term.kind == TermKind::Word && !is_stop_word(&term.surface);
    let second = terms.iter().filter(is_telling).skip(1);
    terms.iter().filter(is_telling).zip(second)
}

/// Per term the pages on which other words follow it, with these; pages are numbered as they stand in `pages`.
pub(crate) fn followers(
    pages: &[Page],
    analyzer: &Analyzer,
) -> HashMap<String, Vec<(u32, Followers)>> {
    let mut all: HashMap<String, Vec<(u32, Followers)>> = HashMap::new();
    for (number, page) in (0..).zip(pages) {
        for text in texts(page) {
            for (first, second) in pairs(&analyzer.terms(text)) {
                let bit = bit(&second.text);
                let Some(pages) = all.get_mut(&first.text) else {
                    all.insert(first.text.clone(), vec![(number, bit)]);
                    continue;
                };
                match pages.last_mut() {
                    Some((last, followers)) if *last == number => *followers |= bit,
                    _ => pages.push((number, bit)),
                }
            }
        }
    }
    all
}

/// Texts of a page whose words count.
fn texts(page: &Page) -> impl Iterator<Item = &str> {
    let passages = page.passages.iter();
    let passages = passages.filter(|passage| passage.weight.value() > 0.0);
    let of_passages = passages.flat_map(|passage| {
        let headings = passage.headings.iter().map(String::as_str);
        let headings = headings.filter(|heading| *heading != page.title);
        headings.chain([passage.text.as_str()])
    });
    std::iter::once(page.title.as_str()).chain(of_passages)
}

/// The sets of a term's postings, of those on some of its pages.
pub(crate) fn of_postings(own: &[(u32, Followers)], list: &PageList) -> Vec<Followers> {
    let mut own = own.iter().peekable();
    let pages = list.entries.iter();
    let of_page = pages.map(|(page, _)| {
        while own.next_if(|(at, _)| at < page).is_some() {}
        let found = own.next_if(|(at, _)| at == page);
        found.map_or(0, |(_, followers)| *followers)
    });
    of_page.collect()
}

/// Appends the sets of a word's postings.
pub(crate) fn write(writer: &mut Writer, sets: &[Followers]) {
    let mut bits: BitVec<u8, Lsb0> = BitVec::new();
    for set in sets {
        for hash in (0..Followers::BITS).filter(|hash| set >> hash & 1 == 1) {
            bits.push(true);
            bits.extend((0..HASH_BITS).map(|bit| hash >> bit & 1 == 1));
        }
        bits.push(false);
    }
    writer.raw(&bits.into_vec());
}

/// Reads the sets of so many postings.
///
/// # Errors
/// When the bytes end early or a set has a hash twice.
pub(crate) fn read(reader: &mut Reader<'_>, postings: usize) -> Result<Vec<Followers>> {
    let mut bits = Bits::new(reader.rest());
    let mut sets = vec![0; postings];
    for set in &mut sets {
        while bits.take(1) == 1 {
            let own = 1 << bits.take(HASH_BITS);
            if *set & own != 0 {
                return Err(reader.damage("a word that follows another twice"));
            }
            *set |= own;
        }
    }
    reader.raw(bits.read_bytes())?;
    Ok(sets)
}

/// Per pair of words of the query the pages that have it, with the lesser impact of its two. The scale is its rarity: of
/// a pair that no page has as large as can be.
pub(crate) fn lists(query: &AnalyzedQuery, pages: usize) -> Vec<PageList> {
    let pairs = query.pairs.iter();
    let list = |&(a, b): &(usize, usize)| pages_of(&query.words[a], &query.words[b], pages);
    pairs.map(list).collect()
}

/// The scores of pages by words, `[pages]`, with `weight` times those by pairs.
pub(crate) fn added(pairs: &[PageList], weight: f32, words: &[f32]) -> Vec<f32> {
    let mut scores = words.to_vec();
    for (page, score) in pairs.iter().flat_map(PageList::scores) {
        scores[page as usize] += weight * score;
    }
    scores
}

/// The pages on which one word follows another.
fn pages_of(first: &QueryWord, second: &QueryWord, pages: usize) -> PageList {
    let (Some(before), Some(after)) = (own_list(first), own_list(second)) else {
        return PageList::default();
    };
    let sought = bit(&second.term.text);
    let followed = before.entries.iter().zip(&first.followers);
    let followed = followed.filter(|(_, followers)| *followers & sought != 0);
    let entries = followed.filter_map(|(&(page, impact), _)| {
        let at = after.entries.binary_search_by_key(&page, |(page, _)| *page);
        Some((page, impact.min(after.entries[at.ok()?].1)))
    });
    let entries: Vec<(u32, u8)> = entries.collect();
    PageList {
        scale: rarity(pages, entries.len()),
        entries,
    }
}

/// The pages that have a word as it is asked for.
fn own_list(word: &QueryWord) -> Option<&PageList> {
    let lists = (word.relation == Relation::Exact).then_some(&word.lists)?;
    lists.first().map(|(list, _)| list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Passage, Weight};
    use crate::text::Stemming;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_come_back(sets: Vec<Followers>) {
            let mut writer = Writer::default();
            write(&mut writer, &sets);
            let bytes = writer.into_bytes();
            let bits: u32 = sets.iter().map(|set| 1 + 6 * set.count_ones()).sum();
            prop_assert_eq!(bytes.len(), (bits as usize).div_ceil(8));
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(read(&mut reader, sets.len()).unwrap(), sets);
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn any_bytes_give_so_many_sets_or_an_error(bytes: Vec<u8>, postings in 0usize..99) {
            if let Ok(sets) = read(&mut Reader::new(&bytes), postings) {
                prop_assert_eq!(sets.len(), postings);
            }
        }
    }

    #[test]
    fn function_words_do_not_part_a_pair() {
        let terms = Analyzer::new(Stemming::None).terms("The state of the useState hook");
        let pairs: Vec<(&str, &str)> = pairs(&terms)
            .map(|(a, b)| (a.text.as_str(), b.text.as_str()))
            .collect();
        assert_eq!(pairs, [("state", "usestate"), ("usestate", "hook")]);
    }

    #[test]
    fn followers_are_those_of_all_texts_of_a_page_that_count() {
        let passage = |text: &str, weight| Passage {
            text: text.to_owned(),
            headings: vec!["Cat fish".to_owned(), "Dog".to_owned()],
            weight: Weight::of(weight).unwrap(),
            ..Passage::default()
        };
        let page = |title: &str, passages: &[Passage]| Page {
            title: title.to_owned(),
            passages: passages.to_vec(),
            ..Page::default()
        };
        let pages = [
            page("x", &[passage("dog cat", 1.0)]),
            page(
                "Dog",
                &[
                    passage("dog", 1.0),
                    passage("cat and dog, cat bird", 1.0),
                    passage("cat mouse", 0.0),
                ],
            ),
        ];
        let analyzer = Analyzer::new(Stemming::None);
        let all = followers(&pages, &analyzer);
        let of_second = bit("fish") | bit("dog") | bit("bird");
        assert_eq!(all["cat"], [(0, bit("fish")), (1, of_second)]);
        assert!(!all.contains_key("bird") && !all.contains_key("mouse"));
        let list = PageList {
            scale: 1.0,
            entries: vec![(1, 3), (2, 3)],
        };
        assert_eq!(of_postings(&all["cat"], &list), [of_second, 0]);
    }

    #[test]
    fn a_hash_that_stands_twice_is_damage() {
        let twice = [0b0100_0001, 0b0000_0000];
        let damage = read(&mut Reader::new(&twice), 1).unwrap_err();
        let message = damage.of("w").to_string();
        assert!(message.contains("twice"), "{message}");
    }

    fn word(text: &str, entries: &[(u32, u8)], followers: &[Followers]) -> QueryWord {
        let terms = Analyzer::new(Stemming::None).terms(text);
        let list = PageList {
            scale: 1.0,
            entries: entries.to_vec(),
        };
        QueryWord {
            term: terms[0].clone(),
            relation: Relation::Exact,
            terms: vec![text.to_owned()],
            lists: vec![(list, 1.0)],
            followers: followers.to_vec(),
            meaning: None,
            stop_word: false,
        }
    }

    #[test]
    fn a_pair_is_where_both_words_are_and_the_one_follows_the_other() {
        let follows = bit("pool") | bit("local");
        let first = word(
            "thread",
            &[(1, 15), (4, 6), (5, 9), (7, 9)],
            &[follows, follows, 0, bit("pool")],
        );
        let second = word("pool", &[(1, 12), (4, 7), (5, 15)], &[0; 3]);
        let found = pages_of(&first, &second, 10);
        assert_eq!(found.entries, [(1, 12), (4, 6)]);
        assert_eq!(found.scale, rarity(10, 2));
        assert_eq!(pages_of(&second, &first, 10).entries, []);

        let completed = QueryWord {
            relation: Relation::Completion,
            ..second.clone()
        };
        assert_eq!(pages_of(&first, &completed, 10), PageList::default());

        let query = AnalyzedQuery {
            words: vec![first, second],
            pairs: vec![(0, 1)],
            ..AnalyzedQuery::default()
        };
        let pairs = lists(&query, 10);
        let scores = added(&pairs, 0.5, &[1.0; 10]);
        assert_eq!(pairs[0].scale, rarity(10, 2));
        let wanted = 1.0 + 0.5 * rarity(10, 2) * 12.0 / 15.0;
        assert!(
            (scores[1] - wanted).abs() < 1e-6 && scores[5] == 1.0,
            "{scores:?}"
        );
    }
}
