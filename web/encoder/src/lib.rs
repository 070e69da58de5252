//! The browser module of the network: query text to codes.
//!
//! Translates between JavaScript and `siskin_encoder`, and nothing else. Every failure is thrown as
//! an object `{code, message}`; a panic is thrown as a string, after which the instance must not
//! be used again.

use serde::Serialize;
use siskin_encoder::{Encoder, EncoderError};
use wasm_bindgen::prelude::*;

/// Makes a panic reach JavaScript with its message.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| {
        wasm_bindgen::throw_str(&panic.to_string())
    }));
}

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
    /// `version`, `corrupt` or `unsupported`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        encoder_json: &[u8],
        tokenizer_json: &[u8],
        model_onnx: &[u8],
    ) -> Result<QueryEncoder, JsValue> {
        let encoder = Encoder::open_files(encoder_json, tokenizer_json, model_onnx);
        Ok(Self {
            encoder: encoder.map_err(|error| thrown(&error))?,
        })
    }

    /// The query as the network sees it: an object that the other module's `search_encoded` reads.
    ///
    /// # Errors
    /// `internal` when the network fails.
    pub fn encode(&self, text: &str) -> Result<JsValue, JsValue> {
        let encoded = self
            .encoder
            .encode_query(text)
            .map_err(|error| thrown(&error))?;
        Ok(serde_wasm_bindgen::to_value(&encoded)?)
    }
}

/// What JavaScript catches.
#[derive(Serialize)]
struct Thrown {
    code: &'static str,
    message: String,
}

fn thrown(error: &EncoderError) -> JsValue {
    let thrown = Thrown {
        code: code(error),
        message: error.to_string(),
    };
    serde_wasm_bindgen::to_value(&thrown).unwrap_or_else(JsValue::from)
}

/// The code of `SearchError` (www/src/errors.ts) that stands for an error.
fn code(error: &EncoderError) -> &'static str {
    match error {
        EncoderError::TooNew { .. } | EncoderError::TooOld { .. } => "version",
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
