//! The small browser module: words and table.
//!
//! Translates between JavaScript and `siskin_core::search`, and nothing else; how failures are
//! thrown is told in `siskin_web_edge`.

use js_sys::{Array, JSON, Object};
use serde::Deserialize;
use siskin_core::container;
use siskin_core::encoded::EncodedQuery;
use siskin_core::error::Error;
use siskin_core::manifest::{MANIFEST_FILE, Manifest};
use siskin_core::search::{Engine, Match, MatchKind, Mode, Query, SearchResult};
use siskin_web_edge::read;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(start)]
fn start() {
    siskin_web_edge::catch_panics();
}

/// A bundle whose files are still arriving.
#[wasm_bindgen]
pub struct SearchLoader {
    manifest: Manifest,
    files: Vec<(String, Vec<u8>)>,
}

#[wasm_bindgen]
impl SearchLoader {
    /// Begins with the text of `siskin.json`.
    ///
    /// # Errors
    /// `version` or `corrupt`.
    #[wasm_bindgen(constructor)]
    pub fn new(manifest_json: &str) -> Result<SearchLoader, JsValue> {
        let manifest = manifest(manifest_json).map_err(|error| thrown(&error))?;
        Ok(Self {
            manifest,
            files: Vec::new(),
        })
    }

    /// Adds a file by the path that the manifest gives it.
    pub fn add_file(&mut self, path: String, bytes: Vec<u8>) {
        self.files.push((path, bytes));
    }

    /// Opens the bundle. Without the files of meaning only mode `words` answers.
    ///
    /// # Errors
    /// `version` or `corrupt`.
    pub fn open(mut self) -> Result<SearchEngine, JsValue> {
        let engine = Engine::open(self.manifest, |file| {
            let at = self.files.iter().position(|(path, _)| *path == file.path);
            at.map(|at| self.files.swap_remove(at).1)
        });
        Ok(SearchEngine {
            engine: engine.map_err(|error| thrown(&error))?,
        })
    }
}

/// An opened bundle.
#[wasm_bindgen]
pub struct SearchEngine {
    engine: Engine,
}

#[wasm_bindgen]
impl SearchEngine {
    /// The best results, an array of `{url, title, heading, excerpt, score, matches}`; `mode` is
    /// `words` or `table`.
    ///
    /// # Errors
    /// `query`, `corrupt` or `unsupported`.
    pub fn search(&self, text: &str, mode: &str, limit: usize) -> Result<JsValue, JsValue> {
        let mode = mode.parse().map_err(|error| thrown(&error))?;
        self.results(&Query {
            text,
            mode,
            limit,
            encoded: None,
        })
    }

    /// The same in mode `full`; `encoded` comes from the other module's `QueryEncoder`.
    ///
    /// # Errors
    /// `query` or `corrupt`; `version` when `encoded` has another shape than the bundle;
    /// `internal` when it is not such an object.
    pub fn search_encoded(
        &self,
        text: &str,
        encoded: JsValue,
        limit: usize,
    ) -> Result<JsValue, JsValue> {
        let encoded: EncodedQuery =
            read(encoded).map_err(|error| JsError::new(&error.to_string()))?;
        self.results(&Query {
            text,
            mode: Mode::Full,
            limit,
            encoded: Some(&encoded),
        })
    }

    fn results(&self, query: &Query<'_>) -> Result<JsValue, JsValue> {
        let results = self.engine.search(query).map_err(|error| thrown(&error))?;
        Ok(results.iter().map(result_object).collect::<Array>().into())
    }
}

/// [`Manifest::parse`] by the browser's own JSON: a second parser would be a seventh of the module.
fn manifest(json: &str) -> Result<Manifest, Error> {
    #[derive(Deserialize)]
    struct Version {
        format: u16,
    }
    let misfit = |reason: &str| Error::Corrupt {
        file: MANIFEST_FILE.to_owned(),
        reason: reason.to_owned(),
    };
    let not_ours = || Error::NotOurs {
        file: MANIFEST_FILE.to_owned(),
    };
    let value = JSON::parse(json).map_err(|_| match json.starts_with('{') {
        true => misfit("it is not JSON"),
        false => not_ours(),
    })?;
    let version: Version = read(value.clone()).map_err(|_| not_ours())?;
    container::check_version(MANIFEST_FILE, version.format)?;
    read(value).map_err(|_| misfit("a value has another shape than it should"))
}

/// `{url, title, heading, excerpt, score, matches: [{kind, query, text}]}`.
fn result_object(result: &SearchResult) -> JsValue {
    let SearchResult {
        url,
        title,
        heading,
        excerpt,
        score,
        matches,
    } = result;
    object(&[
        ("url", url.into()),
        ("title", title.into()),
        ("heading", heading.into()),
        ("excerpt", excerpt.into()),
        ("score", (*score).into()),
        (
            "matches",
            matches.iter().map(match_object).collect::<Array>().into(),
        ),
    ])
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

fn object(entries: &[(&str, JsValue)]) -> JsValue {
    let pairs = entries
        .iter()
        .map(|(key, value)| Array::of2(&(*key).into(), value));
    let object = Object::from_entries(&pairs.collect::<Array>());
    object.map_or_else(|failure| failure, Into::into)
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
