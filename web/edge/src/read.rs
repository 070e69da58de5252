//! Reads plain JavaScript values (what `JSON.parse` gives) into serde's types.
//!
//! `serde-wasm-bindgen` does more, in messages and in types, and is a tenth of the small module;
//! here every misfit is the same error.

use js_sys::{Array, Object};
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
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

impl Js {
    fn sequence<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_seq(Items::of(&self.0)?)
    }

    fn map<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_map(Entries::of(&self.0)?)
    }
}

/// The items of an array.
struct Items {
    array: Array,
    next: u32,
}

/// What is not generic stands in functions of its own: there is one visitor for each type read.
impl Items {
    #[inline(never)]
    fn of(value: &JsValue) -> Result<Self, Misfit> {
        let array: &Array = value.dyn_ref().ok_or(Misfit)?;
        Ok(Self {
            array: array.clone(),
            next: 0,
        })
    }

    #[inline(never)]
    fn advance(&mut self) -> Option<Js> {
        let at = self.next;
        self.next += 1;
        (at < self.array.length()).then(|| Js(self.array.get(at)))
    }
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Misfit> {
        self.advance()
            .map(|item| seed.deserialize(item))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.array.length() as usize)
    }
}

/// The entries of an object.
struct Entries {
    entries: Items,
    value: JsValue,
}

impl Entries {
    #[inline(never)]
    fn of(value: &JsValue) -> Result<Self, Misfit> {
        let object: &Object = value.dyn_ref().ok_or(Misfit)?;
        Ok(Self {
            entries: Items {
                array: Object::entries(object),
                next: 0,
            },
            value: JsValue::UNDEFINED,
        })
    }

    #[inline(never)]
    fn advance(&mut self) -> Option<String> {
        let pair: Array = self.entries.advance()?.0.unchecked_into();
        self.value = pair.get(1);
        pair.get(0).as_string()
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misfit> {
        let Some(key) = self.advance() else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, Misfit> = key.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        seed.deserialize(Js(std::mem::replace(&mut self.value, JsValue::UNDEFINED)))
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
