//! Reads plain JavaScript values (what `JSON.parse` gives) into serde's types.
//!
//! `serde-wasm-bindgen` does more, in messages and in types, and is a tenth of the small module;
//! here every misfit is the same error.

use js_sys::{Array, Object};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use wasm_bindgen::{JsCast, JsValue};

/// The value has another shape than was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Misfit;

impl std::fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a value has another shape than it should")
    }
}

impl std::error::Error for Misfit {}

/// Messages are not formatted: the code that writes numbers is large.
impl serde::de::Error for Misfit {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self
    }
    fn invalid_type(_: serde::de::Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self
    }
    fn invalid_value(_: serde::de::Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self
    }
    fn invalid_length(_: usize, _: &dyn serde::de::Expected) -> Self {
        Self
    }
    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }
    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }
    fn missing_field(_: &'static str) -> Self {
        Self
    }
    fn duplicate_field(_: &'static str) -> Self {
        Self
    }
}

/// The value as a `T`.
///
/// # Errors
/// [`Misfit`].
pub fn read<T: DeserializeOwned>(value: JsValue) -> Result<T, Misfit> {
    T::deserialize(Js(value))
}

struct Js(JsValue);

impl IntoDeserializer<'_, Misfit> for Js {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl Js {
    fn sequence<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Misfit> {
        let array: &Array = self.0.dyn_ref().ok_or(Misfit)?;
        visitor.visit_seq(SeqDeserializer::new(array.iter().map(Js)))
    }

    fn map<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Misfit> {
        let object: &Object = self.0.dyn_ref().ok_or(Misfit)?;
        let entries = Object::entries(object);
        let pairs = entries.iter().map(|entry| {
            let pair: Array = entry.unchecked_into();
            (pair.get(0).as_string().unwrap_or_default(), Js(pair.get(1)))
        });
        visitor.visit_map(MapDeserializer::new(pairs))
    }
}

/// Integers up to 2^53 are exact in JavaScript.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<'de> Deserializer<'de> for Js {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if let Some(number) = self.0.as_f64() {
            match number.trunc() == number && (0.0..EXACT).contains(&number) {
                true => visitor.visit_u64(number as u64),
                false => visitor.visit_f64(number),
            }
        } else if let Some(text) = self.0.as_string() {
            visitor.visit_string(text)
        } else if let Some(flag) = self.0.as_bool() {
            visitor.visit_bool(flag)
        } else {
            visitor.visit_unit()
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0.is_null() || self.0.is_undefined() {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.sequence(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.sequence(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let text = self.0.as_string().ok_or(Misfit)?;
        visitor.visit_enum(text.into_deserializer())
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple_struct identifier
    }
}
