//! What both browser modules do at JavaScript's edge.
//!
//! Every failure of ours is thrown as an `Error` with a `code`; a panic is thrown as a string, after
//! which the instance must not be used again.

pub mod value;

use js_sys::{Error, Reflect};
use wasm_bindgen::{JsValue, throw_str};
use web_sys::console;

/// Makes a panic reach the console, and JavaScript, with its message.
pub fn catch_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.to_string();
        console::error_1(&JsValue::from_str(&message));
        throw_str(&message)
    }));
}

/// What JavaScript catches: an `Error` with `message` and, as `code`, one of `SearchErrorCode`
/// (www/src/errors.ts).
#[must_use]
pub fn thrown(code: &str, message: &str) -> JsValue {
    let thrown = Error::new(message);
    match Reflect::set(
        &thrown,
        &JsValue::from_str("code"),
        &JsValue::from_str(code),
    ) {
        Ok(_) => thrown.into(),
        Err(failure) => failure,
    }
}
