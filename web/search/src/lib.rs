//! The small browser module: words and table.
//!
//! Translates between JavaScript and `siskin_core::search`, and nothing else; how failures are
//! thrown is told in `siskin_web_edge`.

use siskin_core::encoded::EncodedQuery;
use siskin_core::error::Error;
use siskin_core::manifest::Manifest;
use siskin_core::search::{Engine, Mode, Query};
use std::collections::HashMap;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(start)]
fn start() {
    siskin_web_edge::catch_panics();
}

/// A bundle whose files are still arriving.
#[wasm_bindgen]
pub struct SearchLoader {
    manifest: Manifest,
    files: HashMap<String, Vec<u8>>,
}

#[wasm_bindgen]
impl SearchLoader {
    /// Begins with the text of `siskin.json`.
    ///
    /// # Errors
    /// `version` or `corrupt`.
    #[wasm_bindgen(constructor)]
    pub fn new(manifest_json: &str) -> Result<SearchLoader, JsValue> {
        let manifest = Manifest::parse(manifest_json).map_err(|error| thrown(&error))?;
        Ok(Self {
            manifest,
            files: HashMap::new(),
        })
    }

    /// Adds a file by the path that the manifest gives it.
    pub fn add_file(&mut self, path: String, bytes: Vec<u8>) {
        self.files.insert(path, bytes);
    }

    /// Opens the bundle. Without the files of meaning only mode `words` answers.
    ///
    /// # Errors
    /// `version` or `corrupt`.
    pub fn open(mut self) -> Result<SearchEngine, JsValue> {
        let engine = Engine::open(self.manifest, |file| self.files.remove(&file.path));
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
        let encoded: EncodedQuery = serde_wasm_bindgen::from_value(encoded)?;
        self.results(&Query {
            text,
            mode: Mode::Full,
            limit,
            encoded: Some(&encoded),
        })
    }

    fn results(&self, query: &Query<'_>) -> Result<JsValue, JsValue> {
        let results = self.engine.search(query).map_err(|error| thrown(&error))?;
        Ok(serde_wasm_bindgen::to_value(&results)?)
    }
}

fn thrown(error: &Error) -> JsValue {
    siskin_web_edge::thrown(code(error), error)
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
