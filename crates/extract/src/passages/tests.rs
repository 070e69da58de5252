use proptest::{collection::vec, prelude::*};

use super::*;

fn section(headings: &[&str], blocks: &[&str]) -> Section {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Section {
        anchor: None,
        headings: owned(headings),
        blocks: owned(blocks),
        ..Section::default()
    }
}

fn texts(sections: &[Section]) -> Vec<String> {
    cut("Title", sections)
        .into_iter()
        .map(|passage| passage.text)
        .collect()
}

/// A sentence of the stated number of one-piece words and a full stop.
fn sentence(words: usize) -> String {
    format!("Some{}.", " more".repeat(words - 1))
}

#[test]
fn a_section_that_fits_is_one_passage_with_a_line_for_each_block() {
    assert_eq!(
        texts(&[section(&["A"], &["one", "two\nthree", "four"])]),
        ["one\ntwo three\nfour"]
    );
}

#[test]
fn a_passage_never_spans_two_headings() {
    assert_eq!(
        texts(&[section(&["A"], &["a"]), section(&["B"], &["b"])]),
        ["a", "b"]
    );
}

#[test]
fn a_heading_alone_is_a_passage_unless_a_deeper_one_follows() {
    let sections = [
        section(&[], &[]),
        section(&["A"], &[]),
        section(&["A", "B"], &[]),
        section(&["C"], &[]),
    ];
    assert_eq!(texts(&sections), ["B", "C"]);
    assert_eq!(texts(&[section(&[], &[])]), ["Title"]);
    assert_eq!(cut("", &[section(&[], &[])]), []);
}

#[test]
fn a_cut_between_paragraphs_is_preferred_to_one_between_sentences() {
    let first = [sentence(30), sentence(30)].join(" ");
    let second = [sentence(20), sentence(30), sentence(30)].join(" ");
    assert_eq!(
        texts(&[section(&["A"], &[&first, &second])]),
        [first, second]
    );
}

#[test]
fn a_long_paragraph_is_cut_between_sentences() {
    let paragraph = [sentence(40), sentence(40), sentence(40), sentence(40)].join(" ");
    let half = [sentence(40), sentence(40)].join(" ");
    assert_eq!(
        texts(&[section(&["A"], &[&paragraph])]),
        [half.clone(), half]
    );
}

#[test]
fn code_is_cut_between_lines() {
    let line = format!("call({})", "x, ".repeat(20));
    let code = [line.as_str(); 4].join("\n");
    assert_eq!(
        texts(&[section(&["A"], &[&code])]),
        [format!("{line} {line}"), format!("{line} {line}")]
    );
}

#[test]
fn a_sentence_longer_than_a_passage_is_cut_between_words_into_equal_parts() {
    let passages = texts(&[section(&["A"], &[&sentence(300)])]);
    let sizes: Vec<_> = passages.iter().map(|text| pieces::estimate(text)).collect();
    assert_eq!(sizes.len(), 3);
    assert!(
        sizes.iter().all(|size| (90..=125).contains(size)),
        "{sizes:?}"
    );
}

#[test]
fn no_tiny_rest_is_left() {
    let text = [sentence(112), sentence(8)].join(" ");
    assert_eq!(texts(&[section(&["A"], &[&text])]), [text]);
}

#[test]
fn long_titles_and_headings_leave_less_room_but_never_too_little() {
    let body = [sentence(40), sentence(40)].join(" ");
    let count = |heading: &str| texts(&[section(&[heading], &[&body])]).len();
    assert_eq!((count("A"), count(&"word ".repeat(60))), (1, 2));
    let section = section(&["A"], &[]);
    assert_eq!(
        body_budget(&"word ".repeat(500), &section),
        LEAST_BODY_PIECES
    );
}

#[test]
fn sentences_end_where_readers_end_them() {
    let sentences = |text| sentences(text).collect::<Vec<_>>();
    assert_eq!(
        sentences("Use it, e.g. here. “Why?” (Because.) Yes! it is… 3.5 is v1. No"),
        [
            "Use it, e.g. here.",
            "“Why?”",
            "(Because.)",
            "Yes! it is…",
            "3.5 is v1.",
            "No"
        ]
    );
    assert_eq!(sentences("a\nb. c\n"), ["a", "b. c"]);
    assert_eq!(sentences(" "), [""; 0]);
}

fn words_of(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    texts
        .into_iter()
        .flat_map(|text| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_words_of_the_body_are_in_the_passages_in_order(
        blocks in vec("([a-zA-Z.!?,é中\"]{1,12}[ \n]){1,150}", 1..8),
        title in "[a-z ]{0,80}",
    ) {
        let blocks: Vec<String> = blocks.into_iter().map(|block| block.trim().to_owned()).collect();
        let section = Section { blocks: blocks.clone(), ..Section::default() };
        let passages = cut(&title, std::slice::from_ref(&section));
        prop_assert_eq!(words_of(passages.into_iter().map(|passage| passage.text)), words_of(blocks));
    }

    #[test]
    fn passages_of_ordinary_words_fit_the_encoder(blocks in vec("([a-zA-Z]{1,10}[.,]? ){1,150}", 1..8)) {
        let section = Section { blocks, ..Section::default() };
        let budget = body_budget("Title", &section);
        for passage in cut("Title", std::slice::from_ref(&section)) {
            prop_assert!(pieces::estimate(&passage.text) <= budget + OVERFLOW_PIECES);
        }
    }

    #[test]
    fn equal_sections_are_cut_equally_wherever_they_stand(blocks in vec("([a-z]{1,9}[.]? ){1,90}", 1..4)) {
        let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
        let other = section(&["Other"], &["text"]);
        let own = section(&["Own"], &blocks);
        let alone = cut("Title", std::slice::from_ref(&own));
        let after = cut("Title", &[other, own]);
        prop_assert_eq!(&after[1..], alone.as_slice());
    }
}
