//! A query as the bundle sees it: which of its words the site knows, and what stands in for the rest.

use crate::dictionary::{Entry, Meaning};
use crate::error::{Error, Result};
use crate::lexical::title_key;
use crate::lists::PageList;
use crate::pairs::{self, Followers};
use crate::shards::Need;
use crate::text::{Analyzer, Term, TermKind, is_stop_word, is_unspaced};
use crate::top;

/// Longest query, in characters.
pub const MAX_QUERY_CHARACTERS: usize = 2_000;
/// Words of a query that are looked up, the first ones and their parts: each may cost a shard.
const MAX_WORDS: usize = 24;
/// Characters that are, of writing without blanks, beside as many pairs of them.
const MAX_CHARACTERS: usize = 24;
/// Weight of a part of a camelCase or snake_case word.
const PART_WEIGHT: f32 = 0.3;
/// Weight of the meaning of a word that was mistyped or stands under another form.
const FORM_WEIGHT: f32 = 0.7;
/// Completions of an unfinished last word, and what they count.
const COMPLETIONS: usize = 5;
const COMPLETION_WEIGHT: f32 = 0.6;
/// Shortest stem by which another form of a word is found, in characters.
const MIN_STEM_CHARACTERS: usize = 3;
/// Shortest beginning that is completed, in characters.
const MIN_COMPLETION_CHARACTERS: usize = 2;
/// Corrections of a mistyped word, and what they count.
const CORRECTIONS: usize = 3;
const CORRECTION_WEIGHT: f32 = 0.7;
/// Unknown words of a query that others may answer for, the first ones.
const MAX_CORRECTED_WORDS: usize = 12;

/// The parts of a dictionary that a query asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words of the site.
    Site,
    /// Words that the site never uses.
    Foreign,
    /// Spellings.
    Spelling,
}

/// The site's dictionary, as far as it is loaded. What is not yet there is named, not guessed.
pub trait Dictionary {
    /// What a part knows of a key; `Ok(None)` when it has no such key.
    ///
    /// # Errors
    /// [`Miss::Shard`] when the shard is not loaded, [`Miss::Damaged`] when it is damaged.
    fn entry(&self, part: Part, key: &str) -> std::result::Result<Option<Entry>, Miss>;

    /// Keys of one word that begin with `prefix`, of the shard that it would be in; of the most
    /// frequent words if any begins so.
    ///
    /// # Errors
    /// As [`Dictionary::entry`].
    fn with_prefix(&self, part: Part, prefix: &str) -> std::result::Result<Vec<String>, Miss>;
}

/// Why a dictionary gives no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// This has to be loaded first.
    Shard(Need),
    /// The shard is damaged.
    Damaged(Error),
}

/// What is still needed, each once.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    needs: Vec<Need>,
    misses: usize,
}

impl Wanted {
    /// Adds a shard or blocks of one.
    pub fn insert(&mut self, need: impl Into<Need>) {
        let Need { shard, blocks } = need.into();
        self.misses += 1;
        let Some(known) = self.needs.iter_mut().find(|known| known.shard == shard) else {
            self.needs.push(Need { shard, blocks });
            return;
        };
        for block in blocks {
            if !known.blocks.contains(&block) {
                known.blocks.push(block);
            }
        }
    }

    /// Whether nothing is missing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// How often a shard was missing.
    #[must_use]
    pub fn misses(&self) -> usize {
        self.misses
    }

    /// All of it, in the order in which it was missed.
    #[must_use]
    pub fn into_needs(self) -> Vec<Need> {
        self.needs
    }

    /// A dictionary's answer; `None` when its shard has to be loaded, which is noted.
    pub(crate) fn take<T>(&mut self, found: std::result::Result<T, Miss>) -> Result<Option<T>> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(Miss::Damaged(error)) => Err(error),
            Err(Miss::Shard(need)) => {
                self.insert(need);
                Ok(None)
            }
        }
    }
}

/// Why terms of the site answer for a word of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The word itself.
    Exact,
    /// A word that begins with it.
    Completion,
    /// A word spelt almost like it.
    Correction,
    /// Words that mean nearly the same.
    Neighbour,
}

/// One word of the query.
#[derive(Clone, Debug)]
pub struct QueryWord {
    /// The term as analysed.
    pub term: Term,
    /// How what answers for it relates to it.
    pub relation: Relation,
    /// Terms of the site that were found for it: itself, completions or corrections.
    pub terms: Vec<String>,
    /// Pages per alternative, each list with its weight; per page the best one counts.
    pub lists: Vec<(PageList, f32)>,
    /// Which words follow it on each page of the first list; empty where the bundle does not tell.
    pub followers: Vec<Followers>,
    /// What it means, with the weight of that.
    pub meaning: Option<(Meaning, f32)>,
    /// Whether it is an English function word beside words that say something: not looked up.
    pub stop_word: bool,
}

/// A query, analysed.
#[derive(Clone, Debug, Default)]
pub struct AnalyzedQuery {
    /// Its words, parts and verbatim chunks.
    pub words: Vec<QueryWord>,
    /// Places in `words` of two that stand side by side, each pair once.
    pub pairs: Vec<(usize, usize)>,
    /// Pages whose title it is.
    pub titled: Vec<u32>,
    /// Other words that the reader may have meant, best first.
    pub suggestions: Vec<String>,
}

impl AnalyzedQuery {
    /// Whether the site or the vocabulary knows at least one word: if not, there is nothing to
    /// find.
    #[must_use]
    pub fn is_recognised(&self) -> bool {
        self.words
            .iter()
            .any(|word| !word.lists.is_empty() || word.meaning.is_some())
    }
}

/// The query's terms, each once.
///
/// # Errors
/// [`Error::EmptyQuery`] and [`Error::QueryTooLong`].
pub fn terms(text: &str, analyzer: &Analyzer) -> Result<Vec<Term>> {
    let characters = text.chars().count();
    if characters > MAX_QUERY_CHARACTERS {
        return Err(Error::QueryTooLong {
            characters,
            limit: MAX_QUERY_CHARACTERS,
        });
    }
    let terms = analyzer.terms(text);
    if terms.is_empty() {
        return Err(Error::EmptyQuery);
    }
    Ok(terms)
}

/// Analyses a query's terms against a site's dictionary. Shards that are not there yet are added
/// to `wanted`; the result is then of no use. Without `with_meaning` words only count as words.
///
/// # Errors
/// When a shard is damaged.
pub fn analyze(
    terms: &[Term],
    text_end: usize,
    analyzer: &Analyzer,
    dictionary: &dyn Dictionary,
    with_meaning: bool,
    wanted: &mut Wanted,
) -> Result<AnalyzedQuery> {
    let says_something = terms
        .iter()
        .any(|term| term.kind == TermKind::Word && !is_stop_word(&term.surface));
    let mut finder = Finder {
        analyzer,
        dictionary,
        with_meaning,
        text_end,
        corrections_left: MAX_CORRECTED_WORDS,
        wanted,
        query: AnalyzedQuery::default(),
    };
    let (mut words_left, mut characters_left) = (MAX_WORDS, MAX_CHARACTERS);
    for (at, term) in terms.iter().enumerate() {
        let is_character = term.kind == TermKind::Part && term.surface.chars().all(is_unspaced);
        let is_known = terms[..at].iter().any(|before| before.text == term.text);
        if is_known || (is_character && characters_left == 0) {
            continue;
        }
        let stop_word =
            says_something && term.kind == TermKind::Word && is_stop_word(&term.surface);
        let word = finder.word(term, stop_word)?;
        finder.query.words.push(word);
        words_left -= usize::from(!is_character && !stop_word);
        characters_left -= usize::from(is_character);
        if words_left == 0 {
            break;
        }
    }
    finder.find_pairs(terms);
    finder.find_title(terms)?;
    Ok(finder.query)
}

/// Finds what answers for words.
struct Finder<'a> {
    analyzer: &'a Analyzer,
    dictionary: &'a dyn Dictionary,
    with_meaning: bool,
    text_end: usize,
    corrections_left: usize,
    wanted: &'a mut Wanted,
    query: AnalyzedQuery,
}

impl Finder<'_> {
    fn word(&mut self, term: &Term, stop_word: bool) -> Result<QueryWord> {
        let mut word = QueryWord {
            term: term.clone(),
            relation: Relation::Exact,
            terms: Vec::new(),
            lists: Vec::new(),
            followers: Vec::new(),
            meaning: None,
            stop_word,
        };
        if stop_word {
            return Ok(word);
        }
        let weight = if term.kind == TermKind::Part {
            PART_WEIGHT
        } else {
            1.0
        };
        let misses = self.wanted.misses();
        self.find_itself(&mut word, weight)?;
        let is_unknown = |finder: &Self, word: &QueryWord| {
            // Whether a word is unknown is told only by shards that are there.
            finder.wanted.misses() == misses && word.lists.is_empty() && word.meaning.is_none()
        };
        if term.kind == TermKind::Word && is_unknown(self, &word) {
            self.find_foreign(&mut word)?;
        }
        if term.kind != TermKind::Part && is_unknown(self, &word) {
            self.find_related(&mut word)?;
        }
        Ok(word)
    }

    /// The word's own term and meaning.
    fn find_itself(&mut self, word: &mut QueryWord, weight: f32) -> Result<()> {
        let of_term = self.entry(Part::Site, &word.term.text)?;
        if let Some(entry) = &of_term
            && !entry.postings.entries.is_empty()
        {
            word.lists.push((entry.postings.clone(), weight));
            word.followers.clone_from(&entry.followers);
            word.terms.push(word.term.text.clone());
        }
        if word.term.kind != TermKind::Word || !self.with_meaning {
            return Ok(());
        }
        let of_surface = match word.term.surface == word.term.text {
            true => of_term.clone(),
            false => self.entry(Part::Site, &word.term.surface)?,
        };
        let own = of_surface
            .and_then(|entry| entry.meaning)
            .map(|own| (own, 1.0));
        let of_stem = of_term.and_then(|entry| entry.meaning);
        word.meaning = own.or(of_stem.map(|meaning| (meaning, FORM_WEIGHT)));
        Ok(())
    }

    /// What the dictionary knows of a word that the site never uses, or of another form of it.
    fn find_foreign(&mut self, word: &mut QueryWord) -> Result<()> {
        let (entry, weight) = match self.entry(Part::Foreign, &word.term.surface)? {
            Some(entry) => (entry, 1.0),
            None => match self.other_form(&word.term)? {
                Some(entry) => (entry, FORM_WEIGHT),
                None => return Ok(()),
            },
        };
        if !entry.postings.entries.is_empty() {
            word.lists.push((entry.postings, weight));
        }
        word.relation = Relation::Neighbour;
        word.meaning = entry
            .meaning
            .filter(|_| self.with_meaning)
            .map(|own| (own, weight));
        Ok(())
    }

    /// The shortest foreign word of the same stem, of those in the shard that the stem would be in.
    fn other_form(&mut self, term: &Term) -> Result<Option<Entry>> {
        // Stems may end in an i that words have not: happi of happy.
        let prefix = term.text.strip_suffix('i').unwrap_or(&term.text);
        if prefix.chars().count() < MIN_STEM_CHARACTERS {
            return Ok(None);
        }
        let found = self.dictionary.with_prefix(Part::Foreign, prefix);
        let keys = self.wanted.take(found)?.unwrap_or_default();
        let of_stem = keys
            .into_iter()
            .filter(|key| self.analyzer.stem(key) == term.text);
        match of_stem.min_by_key(String::len) {
            Some(key) => self.entry(Part::Foreign, &key),
            None => Ok(None),
        }
    }

    /// Completions of an unfinished word, else corrections of a mistyped one.
    fn find_related(&mut self, word: &mut QueryWord) -> Result<()> {
        let surface = word.term.surface.clone();
        let mut related = Vec::new();
        if word.term.span.end == self.text_end {
            word.relation = Relation::Completion;
            related = self.completions(&surface)?;
        }
        if related.is_empty() && word.term.kind == TermKind::Word && self.corrections_left > 0 {
            self.corrections_left -= 1;
            word.relation = Relation::Correction;
            related = self.corrections(&surface)?;
            let suggestions = related.iter().map(|(key, _)| key.clone());
            self.query.suggestions.extend(suggestions);
        }
        for (key, weight) in related {
            let corrected = word.relation == Relation::Correction;
            let term = if corrected {
                self.analyzer.stem(&key)
            } else {
                key.clone()
            };
            if let Some(entry) = self.entry(Part::Site, &term)?
                && !entry.postings.entries.is_empty()
            {
                word.lists.push((entry.postings, weight));
                word.terms.push(term);
            }
            if corrected && self.with_meaning && word.meaning.is_none() {
                let meaning = self
                    .entry(Part::Site, &key)?
                    .and_then(|entry| entry.meaning);
                word.meaning = meaning.map(|meaning| (meaning, FORM_WEIGHT));
            }
        }
        Ok(())
    }

    /// The shortest keys of one shard that begin with an unfinished word.
    fn completions(&mut self, prefix: &str) -> Result<Vec<(String, f32)>> {
        if prefix.chars().count() < MIN_COMPLETION_CHARACTERS {
            return Ok(Vec::new());
        }
        let found = self.dictionary.with_prefix(Part::Site, prefix);
        let mut keys = self.wanted.take(found)?.unwrap_or_default();
        let shortest = top::by_rank((0..).zip(keys.iter().map(|key| key.len() as u32)));
        let shortest = shortest.into_iter().take(COMPLETIONS);
        let completion = |at: u32| (std::mem::take(&mut keys[at as usize]), COMPLETION_WEIGHT);
        Ok(shortest.map(completion).collect())
    }

    /// Terms of words of the site within one edit (two from eight letters), the nearest.
    fn corrections(&mut self, word: &str) -> Result<Vec<(String, f32)>> {
        let allowed = match word.chars().count() {
            0..4 => return Ok(Vec::new()),
            4..8 => 1,
            _ => 2,
        };
        let first: String = word.chars().take(1).collect();
        let found = self.dictionary.with_prefix(Part::Spelling, &first);
        let spellings = self.wanted.take(found)?.unwrap_or_default();
        let mut near: Vec<String> = Vec::new();
        let mut fewest = allowed;
        for spelling in spellings {
            let Some(edits) = edits_within(word, &spelling, fewest) else {
                continue;
            };
            if edits < fewest {
                near.clear();
                fewest = edits;
            }
            near.push(spelling);
        }
        near.truncate(CORRECTIONS);
        let weight = CORRECTION_WEIGHT / fewest.max(1) as f32;
        Ok(near
            .into_iter()
            .map(|spelling| (spelling, weight))
            .collect())
    }

    /// Words that stand side by side.
    fn find_pairs(&mut self, terms: &[Term]) {
        let place = |term: &Term| {
            let mut words = self.query.words.iter();
            words.position(|word| word.term.text == term.text)
        };
        let mut found = Vec::new();
        for (first, second) in pairs::pairs(terms) {
            if let (Some(first), Some(second)) = (place(first), place(second))
                && !found.contains(&(first, second))
            {
                found.push((first, second));
            }
        }
        self.query.pairs = found;
    }

    /// Pages whose title the query is. It costs no further shard, but for chance: titles stand beside
    /// their first word.
    fn find_title(&mut self, terms: &[Term]) -> Result<()> {
        if let Some(key) = title_key(terms) {
            self.query.titled = self.entry(Part::Site, &key)?.unwrap_or_default().titled;
        }
        Ok(())
    }

    fn entry(&mut self, part: Part, key: &str) -> Result<Option<Entry>> {
        let found = self.dictionary.entry(part, key);
        Ok(self.wanted.take(found)?.flatten())
    }
}

/// Edits (insertion, deletion, substitution, swap of neighbours) between two words, if at most
/// `allowed`.
fn edits_within(a: &str, b: &str, allowed: usize) -> Option<usize> {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    let (mut before, mut row): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut next = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substituted = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            next[j] = substituted.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|edits| *edits <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Kind;
    use crate::shards::ShardId;
    use crate::text::Stemming;
    use std::collections::BTreeMap;

    /// A dictionary of plain words in one shard, which may not be there.
    struct Words {
        loaded: bool,
        keys: BTreeMap<(u8, String), Entry>,
    }

    const SHARD: ShardId = ShardId {
        kind: Kind::Words,
        bucket: 0,
        number: 3,
    };

    impl Words {
        fn new(words: &[(Part, &str)]) -> Self {
            let entry = |word: &str| Entry {
                postings: PageList::of_scores(vec![(word.len() as u32, 1.0)]),
                ..Entry::default()
            };
            let keys = words
                .iter()
                .map(|(part, word)| ((*part as u8, (*word).to_owned()), entry(word)));
            Self {
                loaded: true,
                keys: keys.collect(),
            }
        }
    }

    impl Dictionary for Words {
        fn entry(&self, part: Part, key: &str) -> std::result::Result<Option<Entry>, Miss> {
            if !self.loaded {
                return Err(Miss::Shard(SHARD.into()));
            }
            Ok(self.keys.get(&(part as u8, key.to_owned())).cloned())
        }

        fn with_prefix(&self, part: Part, prefix: &str) -> std::result::Result<Vec<String>, Miss> {
            let keys = self.keys.keys().filter(|(of, _)| *of == part as u8);
            let keys = keys.map(|(_, key)| key.clone());
            Ok(keys.filter(|key| key.starts_with(prefix)).collect())
        }
    }

    fn query(text: &str, dictionary: &Words) -> AnalyzedQuery {
        stemmed(text, Stemming::None, dictionary)
    }

    fn stemmed(text: &str, stemming: Stemming, dictionary: &Words) -> AnalyzedQuery {
        let analyzer = Analyzer::new(stemming);
        let terms = terms(text, &analyzer).unwrap();
        let mut wanted = Wanted::default();
        analyze(&terms, text.len(), &analyzer, dictionary, true, &mut wanted).unwrap()
    }

    #[test]
    fn a_foreign_word_is_known_in_its_other_forms() {
        let foreign = ["happy", "postponed", "errand", "errant", "errandless"];
        let dictionary = Words::new(&foreign.map(|word| (Part::Foreign, word)));
        let pages = |text: &str, stemming| {
            let query = stemmed(text, stemming, &dictionary);
            let lists = query.words.iter().flat_map(|word| &word.lists);
            let page = |(list, weight): &(PageList, f32)| Some((list.entries.first()?.0, *weight));
            lists.filter_map(page).collect::<Vec<_>>()
        };
        let letters = |word: &str, weight| vec![(word.len() as u32, weight)];
        for (text, word) in [
            ("errands", "errand"),
            ("postpone", "postponed"),
            ("postpones", "postponed"),
            ("happiness", "happy"),
        ] {
            let found = pages(text, Stemming::English);
            assert_eq!(found, letters(word, FORM_WEIGHT), "{text}");
            assert_eq!(pages(text, Stemming::None), [], "{text} without stems");
        }
        let exact = pages("errand", Stemming::English);
        assert_eq!(exact, letters("errand", 1.0));
        assert_eq!(pages("erra", Stemming::English), [], "no stem of any");
    }

    fn found(text: &str, dictionary: &Words) -> Vec<(Relation, Vec<String>)> {
        let words = query(text, dictionary).words.into_iter();
        words.map(|word| (word.relation, word.terms)).collect()
    }

    #[test]
    fn words_are_found_completed_corrected_or_foreign() {
        let site = Words::new(&[
            (Part::Site, "thread"),
            (Part::Site, "threadpool"),
            (Part::Spelling, "thread"),
            (Part::Foreign, "fibre"),
        ]);
        let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(
            found("thread", &site),
            [(Relation::Exact, texts(&["thread"]))]
        );
        let completions = texts(&["thread", "threadpool"]);
        assert_eq!(found("thre", &site), [(Relation::Completion, completions)]);
        assert_eq!(
            found("thraed", &site),
            [(Relation::Correction, texts(&["thread"]))]
        );
        assert_eq!(found("fibre", &site), [(Relation::Neighbour, texts(&[]))]);
        assert!(query("fibre", &site).is_recognised());
        assert!(!query("zzzz", &site).is_recognised());
        assert_eq!(query("thraed", &site).suggestions, ["thread"]);
    }

    #[test]
    fn function_words_are_not_looked_up_beside_words_that_say_something() {
        let site = Words::new(&[(Part::Site, "how"), (Part::Site, "thread")]);
        let words = query("how thread", &site).words;
        assert!(words[0].stop_word && words[0].lists.is_empty());
        let words = query("how", &site).words;
        assert!(!words[0].stop_word && !words[0].lists.is_empty());
    }

    #[test]
    fn neighbouring_words_are_pairs_each_once() {
        let site = Words::new(&[]);
        let pairs = |text: &str| query(text, &site).pairs;
        assert_eq!(pairs("new york new york"), [(0, 1), (1, 0)]);
        assert_eq!(pairs("state of the art"), [(0, 3)]);
        assert_eq!(pairs("york york"), [(0, 0)]);
        let words: Vec<String> = (0..60).map(|i| format!("word{i}")).collect();
        let many = pairs(&words.join(" "));
        let most = MAX_WORDS + MAX_CHARACTERS;
        assert!(many.iter().all(|&(a, b)| a < most && b < most));
    }

    #[test]
    fn what_is_not_loaded_is_wanted() {
        let mut site = Words::new(&[(Part::Site, "thread")]);
        site.loaded = false;
        let analyzer = Analyzer::new(Stemming::None);
        let terms = terms("thread pool", &analyzer).unwrap();
        let mut wanted = Wanted::default();
        analyze(&terms, 11, &analyzer, &site, true, &mut wanted).unwrap();
        assert_eq!(wanted.into_needs(), [Need::from(SHARD)]);
    }

    #[test]
    fn of_many_words_the_first_are_looked_up() {
        let words: Vec<String> = (0..60).map(|i| format!("word{i}")).collect();
        let site = Words::new(&[]);
        let kinds = |text: &str| {
            let query = query(text, &site);
            let is_part = |word: &&QueryWord| word.term.kind == TermKind::Part;
            let parts = query.words.iter().filter(is_part).count();
            (query.words.len() - parts, parts)
        };
        let (whole, parts) = kinds(&words.join(" "));
        assert_eq!(whole + parts, MAX_WORDS);
        assert!(parts > 1, "word7 has parts");
        // Of writing without blanks a pair is a word; the characters after each do not use words up.
        let characters: String = (0x4e00..0x4e00 + 60).filter_map(char::from_u32).collect();
        assert_eq!(kinds(&characters), (MAX_WORDS, MAX_WORDS - 1));
    }

    #[test]
    fn edits_count_swaps_as_one() {
        assert_eq!(edits_within("thraed", "thread", 1), Some(1));
        assert_eq!(edits_within("thred", "thread", 1), Some(1));
        assert_eq!(edits_within("same", "same", 2), Some(0));
        assert_eq!(edits_within("cargo", "mango", 1), None);
    }
}
