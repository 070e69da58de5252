//! Shards that are not what they should be: refused or read, never a panic, never fewer results in
//! silence.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test's helpers may fail it"
)]

mod site;

use proptest::prelude::*;
use siskin_core::build::Bundle;
use siskin_core::container::{self, HEADER_BYTES, Kind};
use siskin_core::error::{Error, Result};
use siskin_core::manifest::Manifest;
use siskin_core::records::END_OF_BLOCK;
use siskin_core::search::{Engine, Mode, Query, Step};
use siskin_core::shards::name_of;
use site::{add, ask, block_bytes, bundle, encoded, tiny_shards};

fn small() -> Bundle {
    let pages = [
        vec![vec![0, 1], vec![2]],
        vec![vec![3, 5]],
        vec![vec![6], vec![7, 0]],
    ];
    bundle(&pages, tiny_shards()).unwrap()
}

fn answers(bundle: &Bundle) -> Result<()> {
    let encoded = encoded(0);
    for text in ["cat share threads", "fibre mutxe pan", "option"] {
        for mode in [Mode::Words, Mode::Table, Mode::Full] {
            let query = Query {
                text,
                mode,
                limit: 5,
                encoded: Some(&encoded),
                ..Query::default()
            };
            let mut engine = Engine::new(bundle.manifest.clone());
            ask(&mut engine, bundle, |engine| engine.search(&query))?;
        }
    }
    Ok(())
}

/// The bundle with the payload of a file altered and its name made right again.
fn altered(bundle: &Bundle, file: usize, alter: impl Fn(&mut Vec<u8>)) -> Bundle {
    let mut bundle = bundle.clone();
    let id = bundle.files[file].id;
    let old = bundle.manifest.shards.name(id).unwrap().to_owned();
    let path = bundle.files[file].path.clone();
    let mut payload = container::plain_payload(&path, id.kind, &bundle.files[file].bytes).unwrap();
    alter(&mut payload);
    bundle.files[file].bytes = container::wrap(id.kind, &payload);
    let new = name_of(&bundle.files[file].bytes);
    let json = bundle.manifest_json().unwrap().replace(&old, &new);
    bundle.manifest = Manifest::parse(&json).unwrap();
    bundle
}

#[test]
fn a_shard_with_any_byte_altered_is_refused_or_read_without_panic() {
    let bundle = small();
    assert!(answers(&bundle).is_ok());
    for file in 0..bundle.files.len() {
        let length = bundle.files[file].bytes.len() - HEADER_BYTES;
        for at in 0..length {
            // Whether the answer differs does not matter here: it comes or is refused.
            let _ = answers(&altered(&bundle, file, |payload| {
                let at = at % payload.len().max(1);
                if let Some(byte) = payload.get_mut(at) {
                    *byte ^= 0x55;
                }
            }));
        }
    }
}

#[test]
fn codes_of_other_pages_are_refused_not_left_out() {
    let bundle = small();
    let codes = bundle
        .files
        .iter()
        .position(|file| file.id.kind == Kind::Codes);
    let moved = altered(&bundle, codes.unwrap(), |payload| payload[0] += 1);
    assert!(matches!(answers(&moved), Err(Error::Corrupt { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_shard_of_any_bytes_is_refused_or_read(bytes: Vec<u8>, file: prop::sample::Index) {
        let bundle = small();
        let file = file.index(bundle.files.len());
        let _ = answers(&altered(&bundle, file, |payload| payload.clone_from(&bytes)));
    }
}

#[test]
fn bytes_under_another_name_are_refused() {
    let bundle = small();
    let mut engine = Engine::new(bundle.manifest.clone());
    for pair in bundle.files.windows(2) {
        let found = engine.add(pair[0].id, &pair[1].bytes, None);
        assert!(matches!(found, Err(Error::Corrupt { .. })), "{found:?}");
        let mut cut = pair[0].bytes.clone();
        cut.pop();
        assert!(engine.add(pair[0].id, &cut, None).is_err());
    }
}

#[test]
fn a_block_of_other_bytes_is_refused_and_the_whole_shard_taken() {
    let bundle = small();
    let mut engine = Engine::new(bundle.manifest.clone());
    let query = Query {
        text: "cat share",
        mode: Mode::Table,
        limit: 5,
        ..Query::default()
    };
    let mut blocks = 0;
    while let Step::Needs(needs) = engine.search(&query).unwrap() {
        for need in &needs {
            for block in &need.blocks {
                let mut bytes = block_bytes(&bundle, need.shard, block).to_vec();
                let inflated =
                    container::inflated("r", &[&bytes[..], &END_OF_BLOCK].concat()).unwrap();
                let page = block.first_page;
                assert!(engine.add_block(page, &bytes, &inflated[1..]).is_err());
                assert!(engine.add_block(page, &bytes[1..], &inflated).is_err());
                assert!(engine.add_block(9_999, &bytes, &inflated).is_err());
                bytes[0] ^= 1;
                let found = engine.add_block(page, &bytes, &inflated);
                assert!(matches!(found, Err(Error::Corrupt { .. })), "{found:?}");
                blocks += 1;
            }
            add(&mut engine, &bundle, need.shard).unwrap();
        }
    }
    assert!(blocks > 0, "records are asked for in blocks");
}

#[test]
fn a_shard_of_an_earlier_build_is_refused() {
    let (today, before) = (small(), bundle(&[vec![vec![0, 1]]], tiny_shards()).unwrap());
    let mut engine = Engine::new(today.manifest.clone());
    for file in &before.files {
        let same = today.files.iter().any(|other| other.path == file.path);
        assert!(same || engine.add(file.id, &file.bytes, None).is_err());
    }
}

#[test]
fn a_shard_that_the_manifest_does_not_name_is_missing() {
    let bundle = small();
    let mut engine = Engine::new(bundle.manifest.clone());
    let mut id = bundle.files[0].id;
    id.number = 9_999;
    let found = engine.add(id, &bundle.files[0].bytes, None);
    assert!(matches!(found, Err(Error::MissingFile { .. })));
    assert!(engine.path(id).is_err());
}

#[test]
fn a_query_that_does_not_fit_is_refused() {
    let bundle = small();
    let mut engine = Engine::new(bundle.manifest.clone());
    let mut search = |encoded: Option<&siskin_core::encoded::EncodedQuery>| {
        let query = Query {
            text: "cat",
            mode: Mode::Full,
            limit: 1,
            encoded,
            ..Query::default()
        };
        ask(&mut engine, &bundle, |engine| engine.search(&query))
    };
    assert!(matches!(search(None), Err(Error::QueryNotEncoded)));
    let mut misfit = encoded(0);
    misfit.dense.pop();
    assert!(matches!(
        search(Some(&misfit)),
        Err(Error::QueryMisfit { .. })
    ));
    misfit.buckets.clear();
    assert!(matches!(
        search(Some(&misfit)),
        Err(Error::QueryMisfit { .. })
    ));
    assert!(search(Some(&encoded(0))).is_ok());
}
