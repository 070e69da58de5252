//! The small browser module: words and table.
//!
//! Translates between JavaScript and `siskin_core::search`, and nothing else; how failures are
//! thrown is told in `siskin_web_edge`.

use js_sys::Array;
use siskin_core::attributes::{Condition, Facet, FilterValue, Sort};
use siskin_core::encoded::EncodedQuery;
use siskin_core::error::Error;
use siskin_core::fields::{Fields, Reading};
use siskin_core::manifest::{MANIFEST_FILE, Manifest};
use siskin_core::records::Block;
use siskin_core::search::{Answer, Engine, Match, MatchKind, Query, SearchResult, Section, Step};
use siskin_web_edge::value::{Value, object, read_query};
use std::cell::Cell;
use wasm_bindgen::prelude::*;

#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

#[wasm_bindgen(start)]
fn start() {
    siskin_web_edge::catch_panics();
}

/// A bundle, as far as its files are there.
#[wasm_bindgen]
pub struct SearchEngine {
    engine: Engine,
}

#[wasm_bindgen]
impl SearchEngine {
    /// Begins with the text of `siskin.json`.
    ///
    /// # Errors
    /// `version` or `corrupt`.
    #[wasm_bindgen(constructor)]
    pub fn new(manifest_json: &str) -> Result<SearchEngine, JsValue> {
        let manifest = manifest(manifest_json).map_err(|error| thrown(&error))?;
        Ok(Self {
            engine: Engine::new(manifest),
        })
    }

    /// Adds a file that `search` needed: its bytes and, if these are deflated, the plain payload.
    ///
    /// # Errors
    /// `version` or `corrupt`.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "an optional slice crosses the edge by value only"
    )]
    pub fn add_file(
        &mut self,
        path: &str,
        bytes: &[u8],
        inflated: Option<Vec<u8>>,
    ) -> Result<(), JsValue> {
        let missing = || Error::MissingFile {
            file: path.to_owned(),
        };
        let shard = self.engine.manifest().shards.at(path).ok_or_else(missing);
        let add = |shard| self.engine.add(shard, bytes, inflated.as_deref());
        shard.and_then(add).map_err(|error| thrown(&error))
    }

    /// Adds a block of records that `search` needed, by its page: its bytes, and inflated.
    ///
    /// # Errors
    /// `corrupt`.
    pub fn add_block(&mut self, page: u32, bytes: &[u8], inflated: &[u8]) -> Result<(), JsValue> {
        let added = self.engine.add_block(page, bytes, inflated);
        added.map_err(|error| thrown(&error))
    }

    /// Paths of all files that queries may need, the network's own aside.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let shards = &self.engine.manifest().shards;
        let files = shards.all().into_iter();
        files.filter_map(|id| shards.path(id)).collect()
    }

    /// Answers `{needs: [], answer: {total, results, suggestions, facets}}` or, when files are missing,
    /// `{needs: [{path, blocks: [{page, start, end}, …]}, …]}`: add these files, or the blocks of them
    /// where there are any (bytes `start` to `end` of the file), and ask again.
    ///
    /// `query` is `{text, mode, first, limit, sections}` with, where wanted, `filter`, `sort: {key, order}`
    /// and `language`, and `facets` of any value (`CheckedQuery` in www/src/engine.ts). Mode `full` takes
    /// `encoded` from the other module's `QueryEncoder`.
    ///
    /// # Errors
    /// `query`, `corrupt` or `unsupported`; `version` when `encoded` has another shape than the
    /// bundle; `internal` when it or `query` is not such an object.
    pub fn search(&self, query: JsValue, encoded: JsValue) -> Result<JsValue, JsValue> {
        let asked = Asked::of(Value(query)).ok_or_else(|| JsError::new(OTHER_SHAPE))?;
        let encoded = match encoded.is_undefined() {
            true => None,
            false => Some(encoded_query(encoded)?),
        };
        let query = asked.query(encoded.as_ref());
        let query = query.map_err(|error| thrown(&error))?;
        let step = self.engine.search(&query).map_err(|error| thrown(&error))?;
        let missing = match step {
            Step::Done(answer) => return Ok(done(&answer)),
            Step::Needs(needs) => needs,
        };
        let needs = Array::new();
        for need in missing {
            let path = self
                .engine
                .path(need.shard)
                .map_err(|error| thrown(&error))?;
            let blocks: Array = need.blocks.iter().map(block_object).collect();
            needs.push(&object(&[("path", path.into()), ("blocks", blocks.into())]));
        }
        Ok(object(&[("needs", needs.into())]))
    }
}

const OTHER_SHAPE: &str = "a value has another shape than it should";

/// A query as JavaScript hands it over.
struct Asked {
    text: String,
    mode: String,
    first: u32,
    limit: u32,
    sections: u32,
    filter: Option<Condition>,
    /// Key, and `ascending` or `descending`.
    sort: Option<(String, String)>,
    language: Option<String>,
    facets: bool,
}

impl Asked {
    /// `None` when a part is missing or is not what it should be.
    fn of(query: Value) -> Option<Self> {
        let misfit = Cell::new(None);
        let facets = query.has("facets");
        let fields = Reading::new(query, &misfit);
        let filter = fields.optional("filter", Reading::object);
        let sort = fields.optional("sort", Reading::object);
        let asked = Self {
            text: fields.text("text"),
            mode: fields.text("mode"),
            first: fields.count("first"),
            limit: fields.count("limit"),
            sections: fields.count("sections"),
            filter: filter.map(|filter| Condition::read(&filter)),
            sort: sort.map(|sort| (sort.text("key"), sort.text("order"))),
            language: fields.optional("language", Reading::text),
            facets,
        };
        misfit.get().is_none().then_some(asked)
    }

    fn query<'a>(&'a self, encoded: Option<&'a EncodedQuery>) -> Result<Query<'a>, Error> {
        Ok(Query {
            text: &self.text,
            mode: self.mode.parse()?,
            first: self.first as usize,
            limit: self.limit as usize,
            sections: self.sections as usize,
            filter: self.filter.as_ref(),
            sort: self.sort.as_ref().map(|(key, order)| Sort {
                key,
                descending: order == "descending",
            }),
            language: self.language.as_deref(),
            facets: self.facets,
            encoded,
        })
    }
}

/// What `QueryEncoder` of the other module gives.
fn encoded_query(encoded: JsValue) -> Result<EncodedQuery, JsError> {
    read_query(encoded).ok_or_else(|| JsError::new(OTHER_SHAPE))
}

/// `{page, start, end}`.
fn block_object(block: &Block) -> JsValue {
    object(&[
        ("page", block.first_page.into()),
        ("start", block.bytes.start.into()),
        ("end", block.bytes.end.into()),
    ])
}

/// `{needs: [], answer: {total, results, suggestions, facets}}`.
fn done(answer: &Answer) -> JsValue {
    let suggestions: Array = answer.suggestions.iter().map(JsValue::from).collect();
    let answer = object(&[
        ("total", answer.total.into()),
        ("results", array(&answer.results, result_object)),
        ("suggestions", suggestions.into()),
        ("facets", array(&answer.facets, facet_object)),
    ]);
    object(&[("needs", Array::new().into()), ("answer", answer)])
}

/// [`Manifest::parse`] by the browser's own JSON.
fn manifest(json: &str) -> Result<Manifest, Error> {
    let file = MANIFEST_FILE.to_owned();
    let value = Value::parse(json).map_err(|_| match json.starts_with('{') {
        true => Error::Corrupt {
            file: file.clone(),
            reason: "it is not JSON".to_owned(),
        },
        false => Error::NotOurs { file },
    })?;
    Manifest::of(value)
}

/// `{filter, value, found, pages}`.
fn facet_object(facet: &Facet) -> JsValue {
    let Facet {
        value: FilterValue { filter, value },
        found,
        pages,
    } = facet;
    object(&[
        ("filter", filter.into()),
        ("value", value.into()),
        ("found", (*found).into()),
        ("pages", (*pages).into()),
    ])
}

/// `{filter, value}`.
fn filter_object(FilterValue { filter, value }: &FilterValue) -> JsValue {
    object(&[("filter", filter.into()), ("value", value.into())])
}

/// `{url, title, heading, excerpt, score, matches: [{kind, query, text}, …], meta: {name: value, …},
/// filters: [{filter, value}, …], sections}`.
fn result_object(result: &SearchResult) -> JsValue {
    let SearchResult {
        url,
        title,
        heading,
        excerpt,
        score,
        matches,
        meta,
        filters,
        sections,
    } = result;
    object(&[
        ("url", url.into()),
        ("title", title.into()),
        ("heading", heading.into()),
        ("excerpt", excerpt.into()),
        ("score", (*score).into()),
        ("matches", array(matches, match_object)),
        ("meta", by_name(meta)),
        ("filters", array(filters, filter_object)),
        ("sections", array(sections, section_object)),
    ])
}

/// `{url, heading, excerpt, matches}`.
fn section_object(section: &Section) -> JsValue {
    let Section {
        url,
        heading,
        excerpt,
        matches,
    } = section;
    object(&[
        ("url", url.into()),
        ("heading", heading.into()),
        ("excerpt", excerpt.into()),
        ("matches", array(matches, match_object)),
    ])
}

fn by_name(pairs: &[(String, String)]) -> JsValue {
    let pairs = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.into()));
    object(&pairs.collect::<Vec<_>>())
}

fn array<T>(items: &[T], object: fn(&T) -> JsValue) -> JsValue {
    items.iter().map(object).collect::<Array>().into()
}

fn match_object(found: &Match) -> JsValue {
    let Match { kind, query, text } = found;
    let kind = match kind {
        MatchKind::Word => "word",
        MatchKind::Meaning => "meaning",
    };
    object(&[
        ("kind", kind.into()),
        ("query", query.into()),
        ("text", text.into()),
    ])
}

fn thrown(error: &Error) -> JsValue {
    siskin_web_edge::thrown(code(error), &error.to_string())
}

/// The code of `SearchError` (www/src/errors.ts) that stands for an error.
fn code(error: &Error) -> &'static str {
    match error {
        Error::TooNew { .. } | Error::TooOld { .. } | Error::EncoderMismatch { .. } => "version",
        Error::NotOurs { .. } | Error::Corrupt { .. } | Error::MissingFile { .. } => "corrupt",
        Error::EmptyQuery | Error::QueryTooLong { .. } | Error::UnknownMode { .. } => "query",
        Error::QueryNotEncoded => "unsupported",
        Error::QueryMisfit { .. } => "version",
        _ => "internal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_reader_and_of_the_bundle_have_their_own_codes() {
        assert_eq!(code(&Error::EmptyQuery), "query");
        let file = "siskin.json".to_owned();
        assert_eq!(code(&Error::NotOurs { file: file.clone() }), "corrupt");
        let too_new = Error::TooNew {
            file,
            found: 9,
            supported: 1,
        };
        assert_eq!(code(&too_new), "version");
    }
}
