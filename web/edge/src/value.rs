//! JavaScript values as Rust reads them: what `JSON.parse` gives, and what the one module says of a query to the
//! other.

use js_sys::{Array, JSON, Object, Reflect, SyntaxError};
use siskin_core::encoded::EncodedQuery;
use siskin_core::fields::Fields;
use wasm_bindgen::{JsCast, JsValue};

/// A value of any type.
#[derive(Clone, Debug)]
pub struct Value(pub JsValue);

impl Value {
    /// Parses JSON by the browser's own parser: a second one would be a seventh of a module.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn parse(json: &str) -> Result<Self, SyntaxError> {
        let parsed = JSON::parse(json).map(Self);
        parsed.map_err(JsCast::unchecked_into)
    }

    fn get(&self, name: &str) -> Option<JsValue> {
        Reflect::get(&self.0, &name.into()).ok()
    }

    fn array(&self, name: &str) -> Option<Array> {
        self.get(name)?.dyn_into().ok()
    }

    fn members(&self, name: &str) -> Option<Object> {
        let members = self.get(name).filter(JsValue::is_object)?;
        Some(members.unchecked_into())
    }
}

impl Fields for Value {
    fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_undefined())
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        let values = self.array(name)?;
        values.iter().map(|value| value.as_f64()).collect()
    }

    fn named_numbers(&self, name: &str) -> Option<Vec<f64>> {
        let values = Object::values(&self.members(name)?);
        values.iter().map(|value| value.as_f64()).collect()
    }

    fn each_name(&self, name: &str, each: &mut dyn FnMut(&str)) -> Option<()> {
        let keys = Object::keys(&self.members(name)?);
        // One text is handed over many times as fast as its parts; a name with a line break makes more parts.
        let joined: String = keys.join("\n").into();
        match joined.split('\n').count() == keys.length() as usize {
            true => joined.split('\n').for_each(each),
            false => keys
                .iter()
                .for_each(|key| each(&key.as_string().unwrap_or_default())),
        }
        Some(())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.as_string()
    }

    fn object(&self, name: &str) -> Option<Self> {
        self.get(name).filter(JsValue::is_object).map(Self)
    }

    fn objects(&self, name: &str) -> Option<Vec<Self>> {
        Some(self.array(name)?.iter().map(Self).collect())
    }
}

/// `[[[[dimension, activation], …], …], dense]`; [`read_query`] reads it. An object with names would cost 1.7 KB of code more.
///
/// # Errors
/// When JavaScript refuses to make an array.
pub fn query_value(query: &EncodedQuery) -> Result<JsValue, serde_wasm_bindgen::Error> {
    serde_wasm_bindgen::to_value(&(&query.buckets, &query.dense))
}

/// The query that [`query_value`] made a value of. To read it by serde would cost 11 KB of code.
#[must_use]
pub fn read_query(value: JsValue) -> Option<EncodedQuery> {
    let array = |value: JsValue| value.dyn_into::<Array>().ok();
    let pair = |pair: JsValue| {
        let pair = array(pair)?;
        let (dimension, activation) = (pair.get(0).as_f64()?, pair.get(1).as_f64()?);
        Some((dimension as u32, activation as f32))
    };
    let bucket = |bucket: JsValue| array(bucket)?.iter().map(pair).collect();
    let query = array(value)?;
    let (buckets, dense) = (array(query.get(0))?, array(query.get(1))?);
    let number = |value: JsValue| Some(value.as_f64()? as f32);
    Some(EncodedQuery {
        buckets: buckets.iter().map(bucket).collect::<Option<_>>()?,
        dense: dense.iter().map(number).collect::<Option<_>>()?,
    })
}

/// An object of these entries.
#[must_use]
pub fn object(entries: &[(&str, JsValue)]) -> JsValue {
    let pairs = entries
        .iter()
        .map(|(key, value)| Array::of2(&(*key).into(), value));
    let object = Object::from_entries(&pairs.collect::<Array>());
    object.map_or_else(|failure| failure, Into::into)
}
