//! The browser module of the network: query text to codes. Compiled twice: with the lean engine
//! alone, and with the feature `tract` for any other network.
//!
//! Translates between JavaScript and `siskin_encoder`, and nothing else; how failures are
//! thrown is told in `siskin_web_edge`.

use siskin_encoder::{Encoder, EncoderError, Engine};
use siskin_web_edge::value::{Value, query_value};
use wasm_bindgen::prelude::*;

#[cfg(all(target_family = "wasm", not(feature = "tract")))]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

#[wasm_bindgen(start)]
fn start() {
    siskin_web_edge::catch_panics();
}

/// What this module runs networks with.
#[cfg(feature = "tract")]
const ENGINE: Engine = Engine::Tract;
#[cfg(not(feature = "tract"))]
const ENGINE: Engine = Engine::Lean;

/// The network, loaded.
#[wasm_bindgen]
pub struct QueryEncoder {
    encoder: Encoder,
}

#[wasm_bindgen]
impl QueryEncoder {
    /// Opens an encoder from the bytes of its files.
    ///
    /// # Errors
    /// `version`, `corrupt`, `unsupported` for what only the module with tract runs, or `internal`
    /// when the network or tokenizer fails.
    #[wasm_bindgen(constructor)]
    pub fn new(
        encoder_json: &[u8],
        tokenizer_json: &[u8],
        model_onnx: Vec<u8>,
    ) -> Result<QueryEncoder, JsValue> {
        let files = (encoder_json, tokenizer_json, model_onnx.into());
        let encoder = Encoder::open_parsed(Some(ENGINE), files, parse);
        Ok(Self {
            encoder: encoder.map_err(|error| thrown(&error))?,
        })
    }

    /// The query as the network sees it: a value that the other module's `search` reads.
    ///
    /// # Errors
    /// `internal` when the network fails.
    pub fn encode(&self, text: &str) -> Result<JsValue, JsValue> {
        let encoded = self
            .encoder
            .encode_query(text)
            .map_err(|error| thrown(&error))?;
        Ok(query_value(&encoded)?)
    }
}

fn parse(json: &[u8]) -> Result<Value, String> {
    let json = std::str::from_utf8(json).map_err(|_| "it is not UTF-8".to_owned())?;
    Value::parse(json).map_err(|error| error.message().into())
}

fn thrown(error: &EncoderError) -> JsValue {
    siskin_web_edge::thrown(code(error), &error.to_string())
}

/// The code of `SearchError` (www/src/errors.ts) that stands for an error.
fn code(error: &EncoderError) -> &'static str {
    match error {
        EncoderError::TooNew { .. } | EncoderError::TooOld { .. } => "version",
        EncoderError::Unsupported { .. } => "unsupported",
        EncoderError::Network { .. } | EncoderError::Tokenizer { .. } => "internal",
        _ => "corrupt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_network_closes_the_instance_and_a_damaged_file_does_not() {
        let network = EncoderError::Network {
            tokens: 3,
            reason: String::new(),
        };
        assert_eq!(code(&network), "internal");
        let altered = EncoderError::Altered {
            file: String::new(),
            reason: String::new(),
        };
        assert_eq!(code(&altered), "corrupt");
    }
}
