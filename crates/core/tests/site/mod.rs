//! Small sites with made-up codes, cut into many shards.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    reason = "a test's helpers may fail it, and each test file uses some of them"
)]

use std::collections::BTreeMap;

use siskin_core::build::{BuildOptions, Builder, Bundle, ShardSizes};
use siskin_core::container;
use siskin_core::encoded::{EncodedQuery, PassageCodes, TokenWinners};
use siskin_core::error::Result;
use siskin_core::ids::PieceId;
use siskin_core::manifest::{BucketInfo, EncoderInfo};
use siskin_core::page::{Attributes, Page, Passage, Weight};
use siskin_core::records::{Block, BlockSize, END_OF_BLOCK};
use siskin_core::rows::GenericRows;
use siskin_core::search::{Engine, Step};
use siskin_core::shards::{Need, ShardId, ShardSize};
use siskin_core::text::Stemming;

pub const DIM: usize = 12;
/// Words of the sites; the last two are of the vocabulary only.
pub const WORDS: [&str; 10] = [
    "cat", "dog", "share", "thread", "threads", "mutex", "panic", "option", "fibre", "kitten",
];
const USED: usize = WORDS.len() - 2;

/// A page as the numbers of its words, passage by passage.
pub type PageWords = Vec<Vec<usize>>;

fn codes(words: &[usize], spans: bool, buckets: usize) -> PassageCodes {
    let piece = |word: &usize| PieceId((*word % USED) as u32);
    let winners = |bucket: usize| {
        let winners = |word: &usize| [((*word + bucket) % USED / (bucket + 1)) as u32 * 3, 40];
        TokenWinners {
            k: 2,
            dimensions: words.iter().flat_map(winners).collect(),
            activations: words.iter().flat_map(|_| [1.0, 0.5]).collect(),
        }
    };
    PassageCodes {
        pieces: words.iter().map(piece).collect(),
        winners: (0..buckets).map(winners).collect(),
        dense: vector(words.first().copied().unwrap_or_default() % USED),
        spans: match spans {
            true => words.iter().flat_map(|word| vector(word % USED)).collect(),
            false => Vec::new(),
        },
    }
}

pub fn vector(word: usize) -> Vec<f32> {
    (0..DIM)
        .map(|i| ((i + 1) as f32 * (word + 1) as f32).sin())
        .collect()
}

fn page(number: usize, words: &PageWords) -> Page {
    let text = |words: &Vec<usize>| {
        let words: Vec<&str> = words.iter().map(|word| WORDS[word % USED]).collect();
        words.join(" ")
    };
    let passage = |words: &Vec<usize>| Passage {
        text: text(words),
        headings: vec![format!("Heading {number}")],
        anchor: Some(format!("a{number}")),
        ..Passage::default()
    };
    Page {
        url: format!("/{number}"),
        title: words.first().map(text).unwrap_or_default(),
        passages: words.iter().map(passage).collect(),
        attributes: attributes(number),
        ..Page::default()
    }
}

/// Every page has a parity, but each fifth has none, and no date either; dates fall.
fn attributes(number: usize) -> Attributes {
    let parity = if number.is_multiple_of(2) {
        "even"
    } else {
        "odd"
    };
    let given = |name: &str, value: String| match number % 5 {
        0 => Vec::new(),
        _ => vec![(name.to_owned(), value)],
    };
    Attributes {
        meta: vec![("number".to_owned(), number.to_string())],
        filters: given("parity", parity.to_owned()),
        sort: given("date", (1000 - number).to_string()),
        ..Attributes::default()
    }
}

/// Shards so small that a site has many of each kind.
pub fn tiny_shards() -> ShardSizes {
    let size = |target_bytes| ShardSize {
        target_bytes,
        most: 99,
    };
    ShardSizes {
        common: size(40),
        words: size(40),
        foreign: size(40),
        codes: size(4),
        whole_codes_bytes: 0,
        records: size(60),
        record_blocks: BlockSize {
            bytes: 40,
            whole_file_bytes: 0,
        },
        uhd: size(4),
    }
}

pub fn bundle(pages: &[PageWords], shards: ShardSizes) -> Result<Bundle> {
    bundle_of(pages, shards, |_| Weight::default())
}

/// The same where pages have the weights that `weight` gives them by number.
pub fn bundle_of(
    pages: &[PageWords],
    shards: ShardSizes,
    weight: impl Fn(usize) -> Weight,
) -> Result<Bundle> {
    build(pages, How::in_shards(shards), weight, &[], &[])
}

/// The same where each word of a passage is a span of its own.
pub fn bundle_of_spans(pages: &[PageWords], shards: ShardSizes) -> Result<Bundle> {
    let how = How {
        spans: true,
        ..How::in_shards(shards)
    };
    build(pages, how, |_| Weight::default(), &[], &[])
}

/// Texts, each with the number of the word of [`WORDS`] that it means.
type Meanings<'a> = &'a [(&'a str, usize)];

/// The same with further pieces in the vocabulary and with words of several pieces, each of which means what a word
/// of [`WORDS`] does, and with synonyms.
pub fn bundle_with_words(
    pages: &[PageWords],
    stemming: Stemming,
    (pieces, words): (Meanings<'_>, Meanings<'_>),
    synonyms: &[(&str, &str)],
) -> Result<Bundle> {
    let options = BuildOptions {
        shards: tiny_shards(),
        stemming,
        ..BuildOptions::default()
    };
    let near = |&(word, other): &(&str, &str)| (word.to_owned(), vec![(other.to_owned(), 1.0)]);
    let how = How {
        options,
        synonyms: synonyms.iter().map(near).collect(),
        ..How::default()
    };
    build(pages, how, |_| Weight::default(), pieces, words)
}

/// The same whose queries another encoder reads, of a smaller network or not.
pub fn bundle_read_by(pages: &[PageWords], query_id: &str, smaller_reader: bool) -> Result<Bundle> {
    let how = How {
        query_id: Some(query_id.to_owned()),
        smaller_reader,
        ..How::default()
    };
    build(pages, how, |_| Weight::default(), &[], &[])
}

/// The same with so many buckets, those after the first telling fewer words apart.
pub fn bundle_of_buckets(pages: &[PageWords], buckets: usize) -> Result<Bundle> {
    let how = How {
        further_buckets: buckets - 1,
        ..How::default()
    };
    build(pages, how, |_| Weight::default(), &[], &[])
}

/// How a bundle is built.
#[derive(Default)]
struct How {
    further_buckets: usize,
    options: BuildOptions,
    query_id: Option<String>,
    smaller_reader: bool,
    spans: bool,
    synonyms: BTreeMap<String, Vec<(String, f32)>>,
}

impl How {
    fn in_shards(shards: ShardSizes) -> Self {
        Self {
            options: BuildOptions {
                shards,
                ..BuildOptions::default()
            },
            ..Self::default()
        }
    }
}

fn build(
    pages: &[PageWords],
    how: How,
    weight: impl Fn(usize) -> Weight,
    pieces: &[(&str, usize)],
    words_in_parts: &[(&str, usize)],
) -> Result<Bundle> {
    let buckets = 1 + how.further_buckets;
    let encoder = EncoderInfo {
        dim: DIM,
        buckets: vec![BucketInfo::default(); buckets],
        query_id: how.query_id,
        smaller_reader: how.smaller_reader,
        ..EncoderInfo::default()
    };
    let mut builder = Builder::new(how.options, encoder);
    for (number, words) in pages.iter().enumerate() {
        let codes: Vec<PassageCodes> = words
            .iter()
            .map(|words| codes(words, how.spans, buckets))
            .collect();
        let mut page = page(number, words);
        page.attributes.weight = weight(number);
        builder.add_page(page, &codes)?;
    }
    let words = WORDS.into_iter().zip(0..);
    let vocabulary: Vec<(&str, usize)> = words.chain(pieces.iter().copied()).collect();
    let rows = vocabulary.iter().flat_map(|(_, word)| vector(word % USED));
    let generic = GenericRows {
        dim: DIM,
        static_rows: rows.collect(),
        generic: vec![vec![vec![(7, 1.0)]; vocabulary.len()]; buckets],
        alone: vec![vec![vec![(40, 1.0)]; vocabulary.len()]; buckets],
        words: words_in_parts
            .iter()
            .map(|&(word, meaning)| (word.to_owned(), vector(meaning)))
            .collect(),
        synonyms: how.synonyms,
    };
    let vocabulary: Vec<String> = vocabulary
        .iter()
        .map(|(piece, _)| (*piece).to_owned())
        .collect();
    builder.finish(&vocabulary, &generic)
}

/// A query as a network might see it.
pub fn encoded(word: usize) -> EncodedQuery {
    EncodedQuery {
        buckets: vec![vec![((word % USED) as u32 * 3, 1.0), (40, 0.2), (999, 1.0)]],
        dense: vector(word),
    }
}

/// Adds a shard of `bundle` to `engine`.
pub fn add(engine: &mut Engine, bundle: &Bundle, id: ShardId) -> Result<()> {
    let file = bundle.files.iter().find(|file| file.id == id).unwrap();
    let payload = container::plain_payload(&file.path, id.kind, &file.bytes)?;
    engine.add(id, &file.bytes, Some(&payload))
}

/// Adds what is needed: of records the blocks, if these will do.
pub fn add_need(engine: &mut Engine, bundle: &Bundle, need: &Need) -> Result<()> {
    if need.blocks.is_empty() {
        return add(engine, bundle, need.shard);
    }
    for block in &need.blocks {
        let bytes = block_bytes(bundle, need.shard, block);
        let inflated = container::inflated("block", &[bytes, &END_OF_BLOCK].concat());
        engine.add_block(block.first_page, bytes, &inflated.unwrap_or_default())?;
    }
    Ok(())
}

/// The bytes of a block, none if it is not there.
pub fn block_bytes<'b>(bundle: &'b Bundle, shard: ShardId, block: &Block) -> &'b [u8] {
    let file = bundle.files.iter().find(|file| file.id == shard).unwrap();
    let range = block.bytes.start as usize..block.bytes.end as usize;
    file.bytes.get(range).unwrap_or_default()
}

/// Asks until nothing is missing; how often shards had to be added, and the answer.
pub fn ask<T>(
    engine: &mut Engine,
    bundle: &Bundle,
    ask: impl Fn(&Engine) -> Result<Step<T>>,
) -> Result<(usize, T)> {
    for round in 0.. {
        match ask(engine)? {
            Step::Done(answer) => return Ok((round, answer)),
            Step::Needs(needs) => {
                assert!(!needs.is_empty(), "a step that needs nothing is no step");
                for need in &needs {
                    add_need(engine, bundle, need)?;
                }
            }
        }
    }
    unreachable!("the loop has no end")
}
