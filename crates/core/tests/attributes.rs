//! Pages chosen by what their authors say of them: those that a search without a choice finds too,
//! unless only some of a site's pages are candidates and the choice leaves few of these.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail it")]

mod site;

use proptest::prelude::*;
use siskin_core::attributes::{Condition, FilterValue, Sort};
use siskin_core::build::{Bundle, ShardSizes};
use siskin_core::container::Kind;
use siskin_core::page::Weight;
use siskin_core::search::{Answer, Engine, Mode, Query, SearchResult, Step};
use siskin_core::shards::ShardSize;
use site::{PageWords, WORDS, ask, bundle, bundle_of, tiny_shards};

fn pages() -> impl Strategy<Value = Vec<PageWords>> {
    let passage = proptest::collection::vec(0usize..8, 1..6);
    let page = proptest::collection::vec(passage, 1..5);
    proptest::collection::vec(page, 2..40)
}

fn answer(bundle: &Bundle, query: &Query<'_>) -> Answer {
    let mut engine = Engine::new(bundle.manifest.clone());
    ask(&mut engine, bundle, |engine| engine.search(query))
        .unwrap()
        .1
}

fn number(result: &SearchResult) -> usize {
    result.meta[0].1.parse().unwrap()
}

fn is_odd(number: usize) -> bool {
    !number.is_multiple_of(2) && !number.is_multiple_of(5)
}

fn odd() -> Condition {
    Condition::Is(odd_value())
}

fn odd_value() -> FilterValue {
    FilterValue {
        filter: "parity".to_owned(),
        value: "odd".to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_filter_leaves_the_pages_that_meet_it(
        pages in pages(),
        words in proptest::collection::vec(0usize..10, 1..4),
    ) {
        let bundle = bundle(&pages, tiny_shards()).unwrap();
        let text = words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
        let odd = odd();
        for mode in [Mode::Words, Mode::Table] {
            let all = Query { text: &text, mode, limit: 100, facets: true, ..Query::default() };
            let whole = answer(&bundle, &all);
            let some = answer(&bundle, &Query { filter: Some(&odd), ..all });
            let mut expected: Vec<usize> = whole.results.iter().map(number).filter(|&number| is_odd(number)).collect();
            let mut left: Vec<usize> = some.results.iter().map(number).collect();
            if mode == Mode::Table {
                // Their order is another: feedback comes of them alone.
                expected.sort_unstable();
                left.sort_unstable();
            }
            prop_assert_eq!(left, expected.clone());
            prop_assert_eq!(some.total, expected.len());
            let found = |answer: &Answer| {
                let facet = answer.facets.iter().find(|facet| facet.value == odd_value());
                facet.map_or(0, |facet| facet.found)
            };
            prop_assert_eq!(found(&whole), expected.len());
            prop_assert_eq!(found(&some), expected.len());
            for result in &some.results {
                prop_assert_eq!(&result.filters, &[odd_value()]);
            }
        }
    }

    #[test]
    fn a_sort_key_orders_what_is_found(pages in pages(), word in 0usize..8, descending in proptest::bool::ANY) {
        let bundle = bundle(&pages, tiny_shards()).unwrap();
        let all = Query { text: WORDS[word], limit: 100, ..Query::default() };
        let sort = Sort { key: "date", descending };
        let sorted = answer(&bundle, &Query { sort: Some(sort), ..all });
        let mut expected: Vec<usize> = answer(&bundle, &all).results.iter().map(number).collect();
        expected.sort_by_key(|&number| match (number % 5, descending) {
            (0, _) => usize::MAX,
            (_, true) => number,
            (_, false) => 100 - number,
        });
        prop_assert_eq!(sorted.results.iter().map(number).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_empty_query_with_a_filter_lists_its_pages(pages in pages()) {
        let bundle = bundle(&pages, tiny_shards()).unwrap();
        let odd = odd();
        for mode in [Mode::Words, Mode::Table] {
            let query = Query { mode, filter: Some(&odd), sort: Some(Sort { key: "date", descending: true }), limit: 100, ..Query::default() };
            let listed = answer(&bundle, &query);
            let expected: Vec<usize> = (0..pages.len()).filter(|&number| is_odd(number)).collect();
            prop_assert_eq!(listed.results.iter().map(number).collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn by_a_sort_key_come_the_best_pages_and_their_values_are_counted() {
    let bundle = bundle(&vec![vec![vec![0]]; 90], tiny_shards()).unwrap();
    let all = Query {
        text: WORDS[0],
        facets: true,
        ..Query::default()
    };
    let by = |key| Query {
        sort: Some(Sort {
            key,
            descending: false,
        }),
        ..all
    };
    let counts = |query: &Query<'_>| {
        let answer = answer(&bundle, query);
        (answer.total, answer.facets[0].found)
    };
    let odd = |pages: usize| (0..pages).filter(|&number| is_odd(number)).count();
    assert_eq!(counts(&all), (90, odd(90)));
    assert_eq!(counts(&by("date")), (50, odd(50)));
    assert_eq!(counts(&by("colour")), (90, odd(90)), "no page has it");
}

/// 400 pages of words that fill 40 shards of codes. Some that a filter of odd ones leaves out have the
/// first word in their titles.
fn pages_of_many_shards() -> Bundle {
    let shards = ShardSizes {
        codes: ShardSize {
            target_bytes: 40,
            most: 99,
        },
        ..tiny_shards()
    };
    let page = |number: usize| match number.is_multiple_of(100) {
        true => vec![vec![0; 8]; 2],
        false => vec![(1..8).collect(), (0..8).collect()],
    };
    bundle(&(0..400).map(page).collect::<Vec<_>>(), shards).unwrap()
}

#[test]
fn a_filter_that_leaves_few_pages_of_each_shard_fetches_twice_the_shards_at_most() {
    let mut bundle = pages_of_many_shards();
    bundle.manifest.ranking.code_shards = 6;
    let fetched = |query: &Query<'_>| {
        let mut engine = Engine::new(bundle.manifest.clone());
        let mut codes = 0;
        loop {
            match engine.search(query).unwrap() {
                Step::Done(answer) => return (codes, answer.total),
                Step::Needs(needs) => {
                    for need in &needs {
                        codes += usize::from(need.shard.kind == Kind::Codes);
                        let is_whole = need.shard.kind == Kind::Records && need.blocks.is_empty();
                        assert!(!is_whole, "of records, blocks are enough");
                        site::add_need(&mut engine, &bundle, need).unwrap();
                    }
                }
            }
        }
    };
    let odd = odd();
    let all = Query {
        text: WORDS[0],
        ..Query::default()
    };
    let filtered = Query {
        filter: Some(&odd),
        ..all
    };
    assert_eq!(bundle.manifest.shards.codes.len(), 40);
    let (codes, _) = fetched(&all);
    let (codes_of_odd, odd_pages) = fetched(&filtered);
    assert_eq!(
        (codes, codes_of_odd),
        (6, 12),
        "13 hold 50 pages of the filter"
    );
    assert_eq!(
        odd_pages, 160,
        "pages whose codes are not fetched are found by their words"
    );
    let (codes_of_later, _) = fetched(&Query {
        first: 100,
        ..filtered
    });
    assert!(codes_of_later > 12, "they name the blocks of records");
}

#[test]
fn a_filter_that_the_site_does_not_have_finds_nothing() {
    // The first page alone has no attributes: there is no shard of them.
    let bundle = bundle(&[vec![vec![0]]], tiny_shards()).unwrap();
    assert!(bundle.manifest.shards.attributes.is_empty());
    let odd = odd();
    let all = Query {
        text: WORDS[0],
        ..Query::default()
    };
    assert_eq!(answer(&bundle, &all).total, 1);
    let filtered = Query {
        filter: Some(&odd),
        ..all
    };
    assert_eq!(answer(&bundle, &filtered).total, 0);
}

#[test]
fn of_pages_that_say_the_same_the_one_of_more_weight_comes_first() {
    let mut pages = vec![vec![vec![0]]; 4];
    pages.extend(vec![vec![vec![1]]; 4]);
    for (heavy, mode) in [0, 1, 2, 3]
        .into_iter()
        .zip([Mode::Words, Mode::Table].repeat(2))
    {
        let weight = |number| Weight::of(if number == heavy { 1.5 } else { 1.0 }).unwrap();
        let bundle = bundle_of(&pages, tiny_shards(), weight).unwrap();
        assert_eq!(bundle.manifest.weighted_pages, 1);
        let query = Query {
            text: WORDS[0],
            mode,
            ..Query::default()
        };
        let results = answer(&bundle, &query).results;
        assert_eq!(number(&results[0]), heavy, "{mode}");
        assert!((results[0].score - results[1].score - 1.5f32.ln()).abs() < 1e-3);
    }
}
