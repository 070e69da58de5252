//! Bytes that are whole by their checksum and wrong inside: reading and searching may refuse, never
//! panic.

use proptest::prelude::*;
use siskin_core::build::{BuildOptions, Builder, Bundle};
use siskin_core::container::{self, Kind};
use siskin_core::dense::Dense;
use siskin_core::encoded::{EncodedQuery, PassageCodes, PieceStatistics, TokenWinners};
use siskin_core::error::Result;
use siskin_core::ids::PieceId;
use siskin_core::lexical::Lexical;
use siskin_core::manifest::{BucketInfo, EncoderInfo};
use siskin_core::page::{Page, Passage};
use siskin_core::passages::Passages;
use siskin_core::rows::{GenericRows, Rows};
use siskin_core::search::{Engine, Mode, Query};
use siskin_core::uhd::Uhd;

const DIM: usize = 12;
const WORDS: [&str; 4] = ["cat", "dog", "share", "thread"];

fn codes(piece: u32) -> PassageCodes {
    PassageCodes {
        pieces: vec![PieceId(piece)],
        winners: vec![TokenWinners {
            k: 2,
            dimensions: vec![piece, 7],
            activations: vec![1.0, 0.5],
        }],
        dense: (0..DIM).map(|i| (i as f32 + piece as f32).sin()).collect(),
    }
}

/// A page with a passage for each of the words but the first ones.
fn page(name: &str, skipped: usize) -> (Page, Vec<PassageCodes>) {
    let passage = |word: &&str| Passage {
        text: format!("{word} {word} {name}"),
        headings: vec![name.to_owned(), (*word).to_owned()],
        anchor: Some((*word).to_owned()),
    };
    let page = Page {
        url: format!("/{name}"),
        title: name.to_owned(),
        passages: WORDS.iter().skip(skipped).map(passage).collect(),
        ..Page::default()
    };
    (
        page,
        (skipped as u32..WORDS.len() as u32).map(codes).collect(),
    )
}

fn bundle() -> Result<Bundle> {
    let encoder = EncoderInfo {
        dim: DIM,
        buckets: vec![BucketInfo::default()],
        ..EncoderInfo::default()
    };
    let mut builder = Builder::new(BuildOptions::default(), encoder);
    for (skipped, name) in ["first", "second", "third"].into_iter().enumerate() {
        let (page, codes) = page(name, skipped);
        builder.add_page(page, &codes)?;
    }
    let generic = GenericRows {
        dim: DIM,
        static_rows: (0..WORDS.len() * DIM).map(|i| (i as f32).cos()).collect(),
        ..GenericRows::default()
    };
    let vocabulary = WORDS.map(str::to_owned);
    builder.finish(&vocabulary, &generic, &PieceStatistics::default())
}

fn search_all_modes(engine: &Engine) {
    let encoded = EncodedQuery {
        buckets: vec![[0, 1, 2, 3, 7].map(|dimension| (dimension, 1.0)).to_vec()],
        dense: vec![0.5; DIM],
    };
    for mode in [Mode::Words, Mode::Table, Mode::Full] {
        let query = Query {
            text: "cat dog share thread first second third dogg thre",
            mode,
            limit: 5,
            encoded: Some(&encoded),
        };
        let _ = engine.search(&query);
    }
}

fn open(bundle: &Bundle, files: &[Vec<u8>]) -> Result<Engine> {
    Engine::open(bundle.manifest.clone(), |entry| {
        let at = bundle.manifest.files.iter().position(|file| file == entry);
        at.map(|at| files[at].clone())
    })
}

#[test]
fn the_whole_bundle_answers() {
    let bundle = bundle().unwrap();
    let engine = open(&bundle, &bundle.files).unwrap();
    let query = Query {
        text: "cat",
        mode: Mode::Table,
        limit: 5,
        encoded: None,
    };
    assert!(!engine.search(&query).unwrap().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_payload_is_read_without_panic(
        payload in proptest::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..96),
    ) {
        let file = |kind| container::wrap(kind, &payload);
        let _ = Lexical::read("f", &file(Kind::Lexical));
        let _ = Uhd::read("f", &file(Kind::Uhd));
        let _ = Dense::read("f", &file(Kind::Dense));
        let _ = Rows::read("f", &file(Kind::Rows));
        let _ = Passages::read("f", &file(Kind::Passages));
    }
}

#[test]
fn an_altered_bundle_is_searched_without_panic() {
    let bundle = bundle().unwrap();
    for (at, entry) in bundle.manifest.files.iter().enumerate() {
        let whole = container::unwrap("f", entry.kind, &bundle.files[at]).unwrap();
        for place in 0..whole.len() {
            for change in [4, 0xff] {
                let mut payload = whole.to_vec();
                payload[place] ^= change;
                let mut files = bundle.files.clone();
                files[at] = container::wrap(entry.kind, &payload);
                if let Ok(engine) = open(&bundle, &files) {
                    search_all_modes(&engine);
                }
            }
        }
    }
}
