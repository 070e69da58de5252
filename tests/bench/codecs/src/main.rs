//! How fast posting lists are decoded and counted: one row of Markdown a kind of list.
//!
//! Three builds of it, native, WebAssembly and WebAssembly with `simd128`, make the table of
//! `docs/codecs.md` (`cargo xtask bench codecs`). The rival in the same run is the plainest list
//! there is: numbers of 32 bits, copied and counted in the same way.

#![allow(clippy::print_stdout, reason = "rows of a table are what it is for")]

use siskin_core::bytes::{Reader, Writer};
use siskin_core::postings;
use std::hint::black_box;
use std::time::Instant;

/// Units of the collection: MDN's pages.
const UNITS: u32 = 14_593;
/// Lists that a measurement goes through.
const LISTS: u64 = 64;
/// Rounds of which the fastest counts.
const ROUNDS: usize = 15;

/// A kind of lists: how many units in a thousand are in one, and whether they come in clusters.
const KINDS: [(u64, bool); 6] = [
    (1, false),
    (10, false),
    (10, true),
    (100, false),
    (100, true),
    (500, false),
];

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    for (permille, clustered) in KINDS {
        let lists: Vec<Vec<u32>> = (0..LISTS)
            .map(|seed| list(seed, permille, clustered))
            .collect();
        println!("{}", row(&name, permille, clustered, &lists));
    }
}

fn row(name: &str, permille: u64, clustered: bool, lists: &[Vec<u32>]) -> String {
    let coded: Vec<Vec<u8>> = lists.iter().map(|list| write(list)).collect();
    let plain: Vec<Vec<u8>> = lists
        .iter()
        .map(|list| list.iter().flat_map(|unit| unit.to_le_bytes()).collect())
        .collect();
    let total = lists.iter().map(Vec::len).sum::<usize>() as f64;
    let bits = |coded: &[Vec<u8>]| coded.iter().map(Vec::len).sum::<usize>() as f64 * 8.0 / total;
    let decode_ns = fastest_ns(|| coded.iter().map(|bytes| read(bytes).len()).sum()) / total;
    let plain_ns = fastest_ns(|| plain.iter().map(|bytes| copy(bytes).len()).sum()) / total;
    let count_ns = fastest_ns(|| count(coded.iter().map(|bytes| read(bytes)))) / total;
    let plain_count_ns = fastest_ns(|| count(plain.iter().map(|bytes| copy(bytes)))) / total;
    format!(
        "| {name} | {:.1} %{} | {:.1} | {decode_ns:.1} | {plain_ns:.1} | {count_ns:.1} | {plain_count_ns:.1} |",
        permille as f64 / 10.0,
        if clustered { ", clustered" } else { "" },
        bits(&coded),
    )
}

/// Units that are in a list, by a generator that gives the same everywhere (SplitMix64).
fn list(seed: u64, permille: u64, clustered: bool) -> Vec<u32> {
    let mut state = seed << 32 | permille << 1 | u64::from(clustered);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
    };
    let mut dense_here = false;
    let is_in = |unit: u32| {
        if unit.is_multiple_of(32) {
            dense_here = next() % 1000 < permille * 2;
        }
        let chance = match (clustered, dense_here) {
            (false, _) => permille,
            (true, true) => 500,
            (true, false) => 0,
        };
        (next() % 1000 < chance).then_some(unit)
    };
    let list: Vec<u32> = (0..UNITS).filter_map(is_in).collect();
    if list.is_empty() { vec![7] } else { list }
}

fn write(list: &[u32]) -> Vec<u8> {
    let mut writer = Writer::default();
    postings::write(&mut writer, list, UNITS);
    writer.into_bytes()
}

fn read(bytes: &[u8]) -> Vec<u32> {
    let list = postings::read(&mut Reader::new(bytes), UNITS);
    list.unwrap_or_default()
}

fn copy(bytes: &[u8]) -> Vec<u32> {
    let number = |four: &[u8]| {
        four.iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u32::from(byte))
    };
    bytes.chunks_exact(4).map(number).collect()
}

/// Counts per unit how many lists have it, as overlaps are counted; the highest count.
fn count(lists: impl Iterator<Item = Vec<u32>>) -> usize {
    let mut counts = vec![0u16; UNITS as usize];
    for list in lists {
        for unit in list {
            counts[unit as usize] += 1;
        }
    }
    usize::from(counts.into_iter().max().unwrap_or_default())
}

/// Nanoseconds of the fastest of some rounds.
fn fastest_ns(work: impl Fn() -> usize) -> f64 {
    let round = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_nanos() as f64
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}
