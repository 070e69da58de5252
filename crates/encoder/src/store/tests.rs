use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use siskin_core::encoded::TokenWinners;
use siskin_core::ids::PieceId;

use super::*;

/// A network that counts its runs; codes that tell texts apart.
#[derive(Default)]
struct Network {
    runs: AtomicUsize,
}

impl Network {
    fn encode(&self, text: &str) -> Result<PassageCodes> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let third = text.len() as f32 / 3.0;
        Ok(PassageCodes {
            pieces: text.bytes().map(|byte| PieceId(byte.into())).collect(),
            winners: vec![TokenWinners {
                k: 1,
                dimensions: text.bytes().map(u32::from).collect(),
                activations: vec![third; text.len()],
            }],
            dense: vec![third, -third],
            spans: Vec::new(),
        })
    }

    fn runs(&self) -> usize {
        self.runs.swap(0, Ordering::Relaxed)
    }
}

fn silent() -> impl FnMut(&str) {
    |note: &str| assert_eq!(note, "", "no note was expected")
}

fn encode(records: &mut Records, network: &Network, texts: &[&str]) -> Vec<PassageCodes> {
    let encode = |text: &str| network.encode(text);
    let codes = records.encode(texts, 2, encode, |_| ()).unwrap();
    codes.collect::<Result<_>>().unwrap()
}

const TEXTS: [&str; 5] = [
    "a thread",
    "a lock",
    "",
    "a thread",
    "a much longer passage",
];

#[test]
fn unchanged_texts_need_no_network_and_give_the_same_codes() {
    let folder = tempfile::tempdir().unwrap();
    let network = Network::default();
    let open = || Records::open(folder.path(), &mut silent()).unwrap();
    let fresh = encode(&mut open(), &network, &TEXTS);
    assert_eq!(network.runs(), 4, "equal texts are encoded once");
    assert_eq!(encode(&mut open(), &network, &TEXTS), fresh);
    assert_eq!(network.runs(), 0);
    let mut temporary = Records::temporary().unwrap();
    assert_eq!(encode(&mut temporary, &network, &TEXTS), fresh);
    assert_eq!(network.runs(), 4);
    let reversed: Vec<&str> = TEXTS.into_iter().rev().chain(["new"]).collect();
    let codes = encode(&mut open(), &network, &reversed);
    assert!(codes.iter().take(5).eq(fresh.iter().rev()));
    assert_eq!(network.runs(), 1);
    assert_eq!(pack_paths(folder.path()).unwrap().len(), 1);
}

#[test]
fn a_run_that_was_killed_at_any_byte_is_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let network = Network::default();
    let mut records = Records::open(folder.path(), &mut silent()).unwrap();
    let fresh = encode(&mut records, &network, &TEXTS);
    drop(records);
    let path = pack_paths(folder.path()).unwrap().remove(0);
    let whole = fs::read(&path).unwrap();
    let mut runs = Vec::new();
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let notes = RefCell::new(0);
        let mut note = |_: &str| *notes.borrow_mut() += 1;
        let mut records = Records::open(folder.path(), &mut note).unwrap();
        network.runs();
        assert_eq!(
            encode(&mut records, &network, &TEXTS),
            fresh,
            "cut at {cut}"
        );
        runs.push(network.runs());
        let whole_records = records.packs[0].bytes();
        drop(records);
        assert_eq!(fs::metadata(&path).unwrap().len(), whole_records);
        let mut again = Records::open(folder.path(), &mut silent()).unwrap();
        assert_eq!(encode(&mut again, &network, &TEXTS), fresh, "cut at {cut}");
        assert_eq!(network.runs(), 0, "cut at {cut}");
    }
    assert_eq!(
        (runs[0], runs[whole.len() - 1], runs[whole.len()]),
        (4, 1, 0)
    );
    assert!(runs.is_sorted_by(|a, b| a >= b), "{runs:?}");
}

#[test]
fn an_error_of_the_network_keeps_what_was_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = Records::open(folder.path(), &mut silent()).unwrap();
    let network = Network::default();
    let failing = |text: &str| match text {
        "" => Err(EncoderError::not_an_encoder("no text")),
        _ => network.encode(text),
    };
    let result = records.encode(&TEXTS, 1, failing, |_| ());
    assert!(result.is_err());
    drop(result);
    drop(records);
    network.runs();
    let mut records = Records::open(folder.path(), &mut silent()).unwrap();
    encode(&mut records, &network, &TEXTS);
    assert_eq!(network.runs(), 1);
}

#[test]
fn a_damaged_record_is_encoded_again_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let network = Network::default();
    let mut records = Records::open(folder.path(), &mut silent()).unwrap();
    let fresh = encode(&mut records, &network, &TEXTS);
    drop(records);
    let path = pack_paths(folder.path()).unwrap().remove(0);
    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 1;
    fs::write(&path, bytes).unwrap();
    let mut notes = Vec::new();
    let mut note = |text: &str| notes.push(text.to_owned());
    let mut records = Records::open(folder.path(), &mut note).unwrap();
    network.runs();
    assert_eq!(encode(&mut records, &network, &TEXTS), fresh);
    assert_eq!(network.runs(), 1);
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("1 damaged record"), "{notes:?}");
    assert!(notes[0].contains("0000.pack"), "{notes:?}");
}

#[test]
fn two_runs_on_one_folder_write_packs_of_their_own_and_read_both() {
    let folder = tempfile::tempdir().unwrap();
    let network = Network::default();
    let mut first = Records::open(folder.path(), &mut silent()).unwrap();
    encode(&mut first, &network, &TEXTS[..2]);
    let mut second = Records::open(folder.path(), &mut silent()).unwrap();
    network.runs();
    let fresh = encode(&mut second, &network, &TEXTS);
    assert_eq!(network.runs(), 2, "the first run's passages are known");
    encode(&mut first, &network, &["only here"]);
    drop((first, second));
    assert_eq!(pack_paths(folder.path()).unwrap().len(), 2);
    network.runs();
    let mut third = Records::open(folder.path(), &mut silent()).unwrap();
    assert_eq!(encode(&mut third, &network, &TEXTS), fresh);
    encode(&mut third, &network, &["only here"]);
    assert_eq!(network.runs(), 0);
}

#[test]
fn a_folder_that_cannot_be_used_is_noted_and_the_work_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let mut notes = Vec::new();
    let mut note = |text: &str| notes.push(text.to_owned());
    let mut records = Records::open_or_temporary(&file, &mut note).unwrap();
    encode(&mut records, &Network::default(), &TEXTS);
    assert!(notes[0].contains("cannot keep"), "{notes:?}");
    let foreign = folder.path().join("foreign.pack");
    fs::write(&foreign, "not ours at all").unwrap();
    let mut note = |text: &str| notes.push(text.to_owned());
    let mut records = Records::open(folder.path(), &mut note).unwrap();
    encode(&mut records, &Network::default(), &TEXTS);
    assert!(notes[1].contains("foreign.pack"), "{notes:?}");
    assert_eq!(fs::read(&foreign).unwrap(), b"not ours at all");
}

#[test]
fn progress_tells_what_is_known_and_what_is_missing() {
    let mut records = Records::temporary().unwrap();
    let network = Network::default();
    encode(&mut records, &network, &["a lock"]);
    let mut seen = Vec::new();
    let on_progress =
        |progress: Progress| seen.push((progress.known, progress.encoded, progress.missing));
    records
        .encode(&TEXTS, 2, |text| network.encode(text), on_progress)
        .unwrap();
    assert_eq!(seen, [(2, 0, 3), (2, 1, 3), (2, 2, 3), (2, 3, 3)]);
}

#[test]
fn each_encoder_engine_and_pooling_has_a_folder() {
    let names = [
        folder_name(&"ab".repeat(32), "lean-1", ""),
        folder_name(&"ab".repeat(32), "lean-1", "-mean"),
        folder_name(&"ab".repeat(32), "tract-0.23.9", ""),
        folder_name(&"cd".repeat(32), "lean-1", ""),
    ];
    assert_eq!(std::collections::HashSet::from(names.clone()).len(), 4);
    assert_eq!(names[0], format!("{}-1-lean-1", "ab".repeat(16)));
}

/// Another tract may compute other bits: its passages must not be mixed with the older ones.
#[test]
fn the_engine_is_the_one_in_the_lock_file() {
    let lock = include_str!("../../../../Cargo.lock");
    let (name, version) = crate::tract::VERSION.split_once('-').unwrap();
    let entry = format!("name = \"{name}-core\"\nversion = \"{version}\"");
    assert!(
        lock.contains(&entry),
        "set tract::VERSION to the tract of Cargo.lock"
    );
}
