//! What comes of shards is what comes of everything at once, and of a plain computation.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test's helpers may fail it"
)]

mod site;

use proptest::prelude::*;
use siskin_core::build::{Bundle, ShardSizes};
use siskin_core::codes::{Codes, DenseQuery, sign_bits};
use siskin_core::container::{self, Kind};
use siskin_core::dictionary::{Dictionary, Entry, Shape};
use siskin_core::encoded::EncodedQuery;
use siskin_core::error::Error;
use siskin_core::manifest::{Manifest, Ranking};
use siskin_core::search::{Engine, Mode, Query, Scores, Step};
use site::{
    DIM, PageWords, WORDS, add, add_need, ask, bundle, bundle_of_buckets, bundle_of_spans,
    bundle_read_by, encoded, tiny_shards,
};

fn pages() -> impl Strategy<Value = Vec<PageWords>> {
    let passage = proptest::collection::vec(0usize..8, 1..6);
    let page = proptest::collection::vec(passage, 1..5);
    proptest::collection::vec(page, 2..40)
}

fn query(text: &str, mode: Mode) -> Query<'_> {
    Query {
        text,
        mode,
        limit: 5,
        ..Query::default()
    }
}

fn loaded(bundle: &Bundle) -> Engine {
    let mut engine = Engine::new(bundle.manifest.clone());
    for file in &bundle.files {
        add(&mut engine, bundle, file.id).unwrap();
    }
    engine
}

fn done<T>(step: siskin_core::error::Result<Step<T>>) -> T {
    match step.unwrap() {
        Step::Done(answer) => answer,
        Step::Needs(shards) => panic!("{shards:?} are missing"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn shards_loaded_as_needed_give_the_answer_of_all(
        pages in pages(),
        words in proptest::collection::vec(0usize..10, 1..4),
    ) {
        let bundle = bundle(&pages, tiny_shards()).unwrap();
        let all = loaded(&bundle);
        let text = words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
        let encoded = encoded(words[0]);
        for mode in [Mode::Words, Mode::Table, Mode::Full] {
            let query = Query { encoded: Some(&encoded), ..query(&text, mode) };
            let mut engine = Engine::new(bundle.manifest.clone());
            let (rounds, answer) = ask(&mut engine, &bundle, |engine| engine.search(&query)).unwrap();
            prop_assert_eq!(&answer, &done(all.search(&query)));
            prop_assert!(rounds <= 6, "{} rounds", rounds);
        }
    }

    #[test]
    fn the_size_of_shards_does_not_change_scores(pages in pages(), word in 0usize..10) {
        let (tiny, large) = (
            bundle(&pages, tiny_shards()).unwrap(),
            bundle(&pages, ShardSizes::default()).unwrap(),
        );
        prop_assert!(tiny.files.len() > large.files.len());
        let query = query(WORDS[word], Mode::Table);
        let score = |bundle: &Bundle| done(loaded(bundle).score(&query, usize::MAX));
        prop_assert_eq!(score(&tiny), score(&large));
    }

    #[test]
    fn scores_are_those_of_a_plain_computation(
        pages in pages(),
        word in 0usize..10,
        spans: bool,
    ) {
        let built = if spans { bundle_of_spans } else { bundle };
        let mut bundle = built(&pages, tiny_shards()).unwrap();
        let feedback = std::mem::take(&mut bundle.manifest.ranking.table.feedback);
        let query = query(WORDS[word], Mode::Table);
        let Scores { pages: mut scores, found } = done(loaded(&bundle).score(&query, usize::MAX));
        let (expected, row) = plain_scores(&bundle, word);
        let equal = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
        prop_assert!(equal(&scores, &expected), "{:?} {:?}", scores, expected);

        bundle.manifest.ranking.table.feedback = feedback;
        let fed_back = done(loaded(&bundle).score(&query, usize::MAX)).pages;
        if !row.is_empty() {
            let likeness = plain_likeness(&bundle, &scores, &found, &row);
            prop_assume!(likeness.is_some(), "rounding alone decides");
            add_z(&mut scores, feedback, &likeness.unwrap_or_default(), 0.0);
        }
        prop_assert!(equal(&fed_back, &scores), "{:?} {:?}", fed_back, scores);
    }

    #[test]
    fn results_can_be_asked_for_in_parts(
        pages in pages(),
        words in proptest::collection::vec(0usize..10, 1..4),
        in_quotes in proptest::bool::ANY,
        part in 1usize..6,
    ) {
        let bundle = bundle(&pages, tiny_shards()).unwrap();
        let text = words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
        let text = if in_quotes { format!("\"{text}\"") } else { text };
        for mode in [Mode::Words, Mode::Table] {
            let whole = Query { limit: 100, ..query(&text, mode) };
            let whole = done(loaded(&bundle).search(&whole));
            prop_assert_eq!(whole.total, whole.results.len());
            let mut engine = Engine::new(bundle.manifest.clone());
            for first in (0..whole.total + part).step_by(part) {
                let query = Query { first, limit: part, ..query(&text, mode) };
                let (_, answer) = ask(&mut engine, &bundle, |engine| engine.search(&query)).unwrap();
                let end = whole.total.min(first + part);
                prop_assert_eq!(&answer.results, &whole.results[first.min(end)..end]);
                prop_assert!(answer.total >= whole.total);
            }
        }
    }

    #[test]
    fn results_of_a_phrase_in_quotes_are_the_pages_that_have_it(
        pages in pages(),
        phrase in proptest::collection::vec(0usize..8, 1..4),
    ) {
        let bundle = bundle(&pages, tiny_shards()).unwrap();
        let words: Vec<&str> = phrase.iter().map(|word| WORDS[*word]).collect();
        let text = format!("\"{}\"", words.join(" "));
        let has = |page: &PageWords| page.iter().any(|passage| {
            passage.windows(phrase.len()).any(|window| window == phrase)
        });
        let naive: Vec<String> = (0..pages.len())
            .filter(|&page| has(&pages[page]))
            .map(|page| format!("/{page}#a{page}"))
            .collect();
        for mode in [Mode::Words, Mode::Table] {
            let query = Query { limit: 100, ..query(&text, mode) };
            let mut engine = Engine::new(bundle.manifest.clone());
            let (_, answer) = ask(&mut engine, &bundle, |engine| engine.search(&query)).unwrap();
            let mut found: Vec<String> = answer.results.into_iter().map(|result| result.url).collect();
            found.sort_by_key(|url| naive.iter().position(|other| other == url));
            if mode == Mode::Words {
                prop_assert_eq!(&found, &naive);
            }
            prop_assert!(found.iter().all(|url| naive.contains(url)));
            prop_assert_eq!(found.is_empty(), naive.is_empty());
        }
    }

    #[test]
    fn the_same_site_gives_the_same_bytes(pages in pages()) {
        let build = || bundle(&pages, ShardSizes::default()).unwrap();
        prop_assert_eq!(build(), build());
    }
}

#[test]
fn a_site_that_says_the_same_on_every_page_is_found() {
    for pages in 2..9 {
        let bundle = bundle(&vec![vec![vec![6]]; pages], tiny_shards()).unwrap();
        for mode in [Mode::Words, Mode::Table, Mode::Full] {
            let encoded = encoded(6);
            let query = Query {
                encoded: Some(&encoded),
                ..query("panic", mode)
            };
            let answer = done(loaded(&bundle).search(&query));
            assert_eq!(answer.results.len(), pages.min(5), "{mode:?}");
        }
    }
}

#[test]
fn a_page_that_has_the_words_side_by_side_comes_first_and_hides_no_other() {
    let (cat, dog, other) = (0, 1, 7);
    let mut pages: Vec<PageWords> = vec![vec![vec![other, dog, cat]]; 5];
    pages[2] = vec![vec![other, cat, dog]];
    let bundle = bundle(&pages, tiny_shards()).unwrap();
    let text = [WORDS[cat], WORDS[dog]].join(" and ");
    for mode in [Mode::Words, Mode::Table] {
        let answer = done(loaded(&bundle).search(&query(&text, mode)));
        assert_eq!(answer.results[0].url, "/2#a2", "{mode}");
        assert_eq!(answer.results.len(), 5, "{mode}");
    }
}

#[test]
fn a_block_that_begins_with_a_page_of_another_shard_of_codes_is_taken() {
    let pages: Vec<PageWords> = (0..8).map(|word| vec![vec![word]]).collect();
    let bundle = bundle(&pages, tiny_shards()).unwrap();
    for word in &WORDS[..4] {
        let text = format!("\"{word}\"");
        let mut engine = Engine::new(bundle.manifest.clone());
        let query = query(&text, Mode::Table);
        let (_, answer) = ask(&mut engine, &bundle, |engine| engine.search(&query)).unwrap();
        assert_eq!(answer.results.len(), 1, "{word}");
    }
}

/// Mode `table` for one word without feedback, written down as the formula says it, over all shards; and the word's
/// row.
fn plain_scores(bundle: &Bundle, word: usize) -> (Vec<f32>, Vec<f32>) {
    let pages = bundle.manifest.pages as usize;
    let (own, title, is_of_site) = entries(bundle, WORDS[word]);
    let meaning = own.meaning.unwrap_or_default();
    let weights = &bundle.manifest.ranking.table;
    let whole_match = match is_of_site && !own.postings.entries.is_empty() {
        true => own.postings.scale,
        false => (1.0 + (pages as f32 + 0.5) / 0.5).ln(),
    };
    let least = (weights.least_matches / pages as f32).min(0.05).sqrt() * whole_match;
    let mut scores = vec![0.0; pages];
    for (list, weight, least) in [
        (&own.postings, weights.words, least),
        (&meaning.pages, weights.meaning, 0.0),
    ] {
        let mut of_list = vec![0.0; pages];
        list.scores()
            .for_each(|(page, score)| of_list[page as usize] = score);
        add_z(&mut scores, weight, &of_list, least);
    }
    let codes = plain_codes(bundle);
    let length = meaning
        .row
        .iter()
        .map(|value| value * value)
        .sum::<f32>()
        .sqrt();
    let spread = bundle.manifest.dense;
    for (score, windows) in scores.iter_mut().zip(&codes).filter(|_| length > 0.0) {
        let dense = page_score(windows, &meaning.row, &bundle.manifest.ranking) / length;
        *score += weights.dense * (dense - spread.mean) / spread.deviation;
    }
    title
        .iter()
        .for_each(|&page| scores[page as usize] += 100.0);
    (scores, meaning.row)
}

/// What the dictionary knows of a word: of its stem and its spelling, or as a foreign word; the pages
/// that are titled so; and whether the site has it.
fn entries(bundle: &Bundle, word: &str) -> (Entry, Vec<u32>, bool) {
    let stem = word
        .strip_suffix('s')
        .filter(|_| word == "threads")
        .unwrap_or(word);
    let stem = if word == "share" { "share" } else { stem };
    let shape = Shape {
        pages: bundle.manifest.pages,
        dim: DIM,
    };
    let find = |kind: Kind, key: &str| {
        let kinds = match kind {
            Kind::Words => [Kind::Common, Kind::Words],
            other => [other; 2],
        };
        let files = bundle
            .files
            .iter()
            .filter(|file| kinds.contains(&file.id.kind));
        let mut found = files.filter_map(|file| {
            let payload = container::plain_payload("f", file.id.kind, &file.bytes).unwrap();
            Dictionary::read(&payload, shape).unwrap().get(key).unwrap()
        });
        found.next()
    };
    let of_stem = find(Kind::Words, stem);
    let of_word = find(Kind::Words, word);
    let titled = of_word.clone().unwrap_or_default().titled;
    let site = Entry {
        postings: of_stem.clone().unwrap_or_default().postings,
        meaning: of_word.and_then(|entry| entry.meaning),
        ..Entry::default()
    };
    if site.meaning.is_none() && site.postings.entries.is_empty() {
        let foreign = find(Kind::Foreign, word).unwrap_or_default();
        return (foreign, titled, false);
    }
    let mut site = site;
    if site.meaning.is_none()
        && let Some(mut meaning) = of_stem.and_then(|entry| entry.meaning)
    {
        meaning.row.iter_mut().for_each(|value| *value *= 0.7);
        meaning.pages.scale *= 0.7;
        site.meaning = Some(meaning);
    }
    (site, titled, true)
}

/// How much every page is like the ten best that were found; `None` where rounding alone tells which of two codes of
/// a page is nearest.
fn plain_likeness(
    bundle: &Bundle,
    scores: &[f32],
    found: &[bool],
    query: &[f32],
) -> Option<Vec<f32>> {
    let codes = plain_codes(bundle);
    let ranking = &bundle.manifest.ranking;
    let spread = bundle.manifest.dense;
    let mut order: Vec<usize> = (0..scores.len()).filter(|page| found[*page]).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut sought = vec![0.0; DIM];
    for &page in order.iter().take(10) {
        let behind = scores[order[0]] - scores[page];
        let weight = 1.0 / (1.0 + behind + behind * behind / 2.0);
        let near = |code: &Vec<f32>| DenseQuery::new(query).score(&sign_bits(code));
        let nearest = |codes: &Vec<Vec<f32>>| {
            let score = best_and_mean(
                &codes.iter().map(near).collect::<Vec<_>>(),
                ranking.span_share,
            );
            (score - spread.mean) / spread.deviation
        };
        let window = the_best(&codes[page], nearest)?;
        for (sum, value) in sought.iter_mut().zip(the_best(window, near)?) {
            *sum += weight * value;
        }
    }
    let length = dot(&sought, &sought).sqrt().max(f32::MIN_POSITIVE);
    let likeness = |windows: &Vec<Window>| page_score(windows, &sought, ranking) / length;
    Some(codes.iter().map(likeness).collect())
}

/// The one of `all` that scores highest, unless another one that is not the same does so too, but for rounding.
fn the_best<T: PartialEq>(all: &[T], score: impl Fn(&T) -> f32) -> Option<&T> {
    let best = all.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    let is_level = |other: &&T| score(best) - score(other) < 1e-4 && *other != best;
    (!all.iter().any(|other| is_level(&other))).then_some(best)
}

fn page_score(windows: &[Window], vector: &[f32], ranking: &Ranking) -> f32 {
    let window = |codes: &Window| {
        let dots: Vec<f32> = codes.iter().map(|code| dot(vector, code)).collect();
        best_and_mean(&dots, ranking.span_share)
    };
    let windows: Vec<f32> = windows.iter().map(window).collect();
    best_and_mean(&windows, ranking.mean_share)
}

fn best_and_mean(scores: &[f32], share: f32) -> f32 {
    let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mean = scores.iter().sum::<f32>() / scores.len() as f32;
    (1.0 - share) * best + share * mean
}

/// The codes of a window.
type Window = Vec<Vec<f32>>;

/// The codes of all pages as signs.
fn plain_codes(bundle: &Bundle) -> Vec<Vec<Window>> {
    let mut codes = vec![Vec::new(); bundle.manifest.pages as usize];
    for file in bundle
        .files
        .iter()
        .filter(|file| file.id.kind == Kind::Codes)
    {
        let payload = container::plain_payload("c", Kind::Codes, &file.bytes).unwrap();
        let shard = Codes::read(&payload, DIM, bundle.manifest.spans).unwrap();
        for page in shard.pages() {
            let sign = |code: &[u8], i: usize| {
                if code[i / 8] >> (i % 8) & 1 == 1 {
                    1.0
                } else {
                    -1.0
                }
            };
            let own = shard.of_page(page).unwrap();
            let mut spans = own
                .bits
                .chunks(DIM.div_ceil(8))
                .map(|code| (0..DIM).map(|i| sign(code, i)).collect());
            for &count in &own.windows {
                let window = spans.by_ref().take(count as usize).collect();
                codes[page as usize].push(window);
            }
            assert_eq!(spans.count(), 0);
        }
    }
    codes
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add_z(sum: &mut [f32], weight: f32, scores: &[f32], least_deviation: f32) {
    let count = scores.len() as f32;
    let mean = scores.iter().sum::<f32>() / count;
    let variance = scores
        .iter()
        .map(|score| (score - mean).powi(2))
        .sum::<f32>()
        / count;
    let deviation = variance.sqrt().max(least_deviation);
    if deviation > f32::EPSILON {
        let z = scores.iter().map(|score| (score - mean) / deviation);
        sum.iter_mut()
            .zip(z)
            .for_each(|(sum, z)| *sum += weight * z);
    }
}

fn site() -> Bundle {
    site_in(tiny_shards())
}

fn site_in(shards: ShardSizes) -> Bundle {
    let pages: Vec<PageWords> = (0..24)
        .map(|i| vec![vec![i % 8, (i / 3) % 8], vec![i % 5]])
        .collect();
    bundle(&pages, shards).unwrap()
}

#[test]
fn a_question_takes_three_rounds() {
    let bundle = site();
    for text in ["share threads", "panic", "how does a mutex share"] {
        let mut engine = Engine::new(bundle.manifest.clone());
        let query = query(text, Mode::Table);
        let (rounds, answer) = ask(&mut engine, &bundle, |engine| engine.search(&query)).unwrap();
        assert!(rounds <= 3, "{text}: {rounds} rounds");
        assert!(!answer.results.is_empty());
    }
}

#[test]
fn where_pages_are_short_questions_take_more_shards_of_codes_and_full_leaves_out_rows() {
    let pages = |passages: usize| -> Vec<PageWords> {
        let page = |page: usize| (0..passages).map(|i| vec![(page + i) % 8]).collect();
        (0..4).map(page).collect()
    };
    let of = |bundle: Bundle| {
        let ranking = bundle.manifest.ranking;
        let shards = (ranking.code_shards, ranking.code_shards_in_full);
        (ranking.rows_in_full, shards)
    };
    let own = |passages| of(bundle(&pages(passages), tiny_shards()).unwrap());
    assert_eq!(
        [2, 6, 9].map(own),
        [(0.0, (12, 24)), (0.4, (9, 18)), (0.8, (6, 12))]
    );
    let read_by = |smaller| of(bundle_read_by(&pages(2), "another", smaller).unwrap());
    assert_eq!(
        [false, true].map(read_by),
        [(0.0, (12, 24)), (0.8, (12, 24))]
    );
}

#[test]
fn queries_may_be_read_by_another_encoder() {
    let mut bundle = site_in(tiny_shards());
    let own = bundle.manifest.encoder.id.clone();
    assert!(bundle.manifest.check_encoder("another").is_err());
    bundle.manifest.encoder.query_id = Some("another".to_owned());
    let manifest = Manifest::parse(&bundle.manifest_json().unwrap()).unwrap();
    for id in [own.as_str(), "another"] {
        manifest.check_encoder(id).unwrap();
    }
    assert!(manifest.check_encoder("a third").is_err());
}

/// The text of a manifest with one value changed.
fn changed_manifest(change: impl FnOnce(&mut serde_json::Value)) -> Result<Manifest, Error> {
    let mut json = serde_json::from_str(&site().manifest_json().unwrap()).unwrap();
    change(&mut json);
    Manifest::parse(&json.to_string())
}

#[test]
fn full_takes_more_shards_of_codes_than_table_unless_the_bundle_is_older() {
    let engine = loaded(&site());
    assert_eq!(
        [Mode::Table, Mode::Full].map(|mode| engine.code_shards(mode)),
        [12, 24]
    );
    let older = changed_manifest(|json| {
        let ranking = json["ranking"].as_object_mut().unwrap();
        ranking.remove("code_shards_in_full").unwrap();
    });
    let engine = Engine::new(older.unwrap());
    assert_eq!(engine.code_shards(Mode::Full), 12);
}

#[test]
fn buckets_share_the_weight_of_one() {
    let pages: Vec<PageWords> = (0..24)
        .map(|i| vec![vec![i % 8, (i / 3) % 8], vec![i % 5]])
        .collect();
    let encoded = |buckets: Vec<Vec<(u32, f32)>>| EncodedQuery {
        buckets,
        ..site::encoded(3)
    };
    let (fine, coarse) = (vec![(9, 1.0)], vec![(6, 1.0)]);
    let scores = |bundle: &Bundle, encoded: &EncodedQuery| {
        let query = Query {
            encoded: Some(encoded),
            ..query("thread", Mode::Full)
        };
        done(loaded(bundle).score(&query, usize::MAX)).pages
    };
    let plain = |mut bundle: Bundle| {
        // What is like the best pages depends on which these are; all else adds up.
        bundle.manifest.ranking.full.feedback = 0.0;
        bundle
    };
    let alone = plain(bundle_of_buckets(&pages, 1).unwrap());
    let mut two = plain(bundle_of_buckets(&pages, 2).unwrap());
    let mut weighted = |first: f32, second: f32| {
        two.manifest.encoder.buckets[0].weight = first;
        two.manifest.encoder.buckets[1].weight = second;
        two.manifest = Manifest::parse(&two.manifest_json().unwrap()).unwrap();
        scores(&two, &encoded(vec![fine.clone(), coarse.clone()]))
    };
    let [first, second] = [weighted(1.0, 0.0), weighted(0.0, 0.5)];
    assert_eq!(first, scores(&alone, &encoded(vec![fine.clone()])));
    assert_ne!(first, second);
    let mixed = weighted(0.25, 0.75);
    for (page, mixed) in mixed.iter().enumerate() {
        let expected = 0.25 * first[page] + 0.75 * second[page];
        assert!((mixed - expected).abs() < 1e-3, "{mixed} {expected}");
    }
    assert_eq!(mixed, weighted(1.0, 3.0));
}

#[test]
fn optional_values_of_a_wrong_type_are_damage() {
    for wrong in [serde_json::json!(7), serde_json::Value::Null] {
        let parsed = changed_manifest(|json| json["encoder"]["query_id"] = wrong);
        assert!(matches!(parsed, Err(Error::Corrupt { .. })), "{parsed:?}");
    }
}

#[test]
fn a_manifest_comes_back_from_its_text() {
    for shards in [tiny_shards(), ShardSizes::default()] {
        let bundle = site_in(shards);
        let text = bundle.manifest_json().unwrap();
        assert_eq!(Manifest::parse(&text).unwrap(), bundle.manifest);
    }
}

/// Pages of three, one and four passages; "fibre", which no page has, means what "cat" does.
fn pages_of_several_lengths() -> Bundle {
    let page = |words: &[usize]| words.iter().map(|&word| vec![word]).collect();
    let pages: Vec<PageWords> = vec![page(&[1, 0, 2]), page(&[3]), page(&[4, 5, 6, 7])];
    bundle(&pages, tiny_shards()).unwrap()
}

#[test]
fn passages_of_a_short_page_are_windows_of_their_own() {
    let bundle = pages_of_several_lengths();
    let mut windows = vec![0; 3];
    for (codes, &page) in plain_codes(&bundle).iter().zip(&bundle.order) {
        windows[page as usize] = codes.len();
    }
    assert_eq!(windows, [3, 1, 2]);
}

#[test]
fn a_window_has_a_code_for_each_span_where_all_passages_have_spans() {
    let pages: Vec<PageWords> = vec![vec![vec![1, 0], vec![2]], vec![vec![3, 4, 5]]];
    let bundle = bundle_of_spans(&pages, tiny_shards()).unwrap();
    let sizes = |page: usize| {
        let at = bundle
            .order
            .iter()
            .position(|&added| added as usize == page);
        let windows = &plain_codes(&bundle)[at.unwrap()];
        windows.iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!((sizes(0), sizes(1)), (vec![2, 1], vec![3]));
    let json = bundle.manifest_json().unwrap();
    assert!(json.contains("\"spans\":true"), "{json}");
    assert_eq!(Manifest::parse(&json).unwrap(), bundle.manifest);
}

#[test]
fn of_a_short_page_the_passage_of_like_meaning_is_shown() {
    let answer = done(loaded(&pages_of_several_lengths()).search(&query("fibre", Mode::Table)));
    let first = &answer.results[0];
    assert_eq!(
        (first.url.as_str(), first.excerpt.as_str()),
        ("/0#a0", "cat")
    );
}

#[test]
fn codes_in_one_file_come_with_the_words() {
    let whole = ShardSizes {
        whole_codes_bytes: usize::MAX,
        ..tiny_shards()
    };
    for (shards, together) in [(whole, true), (tiny_shards(), false)] {
        let engine = Engine::new(site_in(shards).manifest);
        for (mode, wanted) in [(Mode::Table, together), (Mode::Words, false)] {
            let Step::Needs(needs) = engine.search(&query("share threads", mode)).unwrap() else {
                panic!("nothing is loaded");
            };
            let codes = needs.iter().filter(|need| need.shard.kind == Kind::Codes);
            assert_eq!(codes.count(), usize::from(wanted), "{mode}");
        }
    }
}

#[test]
fn words_of_the_site_are_not_looked_for_among_foreign_ones() {
    let bundle = site();
    let mut engine = Engine::new(bundle.manifest.clone());
    for (text, foreign) in [("share threads mutex", false), ("kitten", true)] {
        let query = query(text, Mode::Table);
        let mut asked = Vec::new();
        while let Step::Needs(needs) = engine.search(&query).unwrap() {
            for need in &needs {
                add_need(&mut engine, &bundle, need).unwrap();
                asked.push(need.shard.kind);
            }
        }
        assert_eq!(asked.contains(&Kind::Foreign), foreign, "{text}: {asked:?}");
        assert!(!asked.contains(&Kind::Spelling), "{text}: {asked:?}");
    }
}

#[test]
fn nonsense_finds_nothing_and_a_typing_error_its_word() {
    let bundle = site();
    let mut engine = Engine::new(bundle.manifest.clone());
    let mut search = |text: &str| {
        let query = query(text, Mode::Table);
        ask(&mut engine, &bundle, |engine| engine.search(&query))
            .unwrap()
            .1
    };
    assert!(search("zzzz qqqq").results.is_empty());
    let answer = search("mutxe");
    assert_eq!(answer.suggestions, ["mutex"]);
    assert!(!answer.results.is_empty());
}

#[test]
fn the_page_with_the_title_comes_first() {
    let bundle = site();
    let mut engine = Engine::new(bundle.manifest.clone());
    for mode in [Mode::Words, Mode::Table] {
        let query = query("mutex dog", mode);
        let (_, answer) = ask(&mut engine, &bundle, |engine| engine.search(&query)).unwrap();
        assert_eq!(answer.results[0].title, "mutex dog", "{mode}");
        assert!(answer.results.len() > 1, "{mode}");
    }
}
