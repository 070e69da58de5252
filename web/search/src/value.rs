//! Reads JavaScript values: what `JSON.parse` gives, and what the encoder says of a query.

use js_sys::{Array, Reflect};
use siskin_core::encoded::EncodedQuery;
use siskin_core::fields::Fields;
use wasm_bindgen::{JsCast, JsValue};

/// A value of any type.
#[derive(Clone, Debug)]
pub struct Value(pub JsValue);

impl Value {
    fn get(&self, name: &str) -> Option<JsValue> {
        Reflect::get(&self.0, &name.into()).ok()
    }

    fn array(&self, name: &str) -> Option<Array> {
        self.get(name)?.dyn_into().ok()
    }
}

impl Fields for Value {
    fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_undefined())
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
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

/// The query that `{buckets: [[[dimension, activation], …], …], dense: […]}` stands for.
pub fn encoded_query(value: &Value) -> Option<EncodedQuery> {
    let pair = |pair: JsValue| {
        let pair: Array = pair.dyn_into().ok()?;
        let (dimension, activation) = (pair.get(0).as_f64()?, pair.get(1).as_f64()?);
        Some((dimension as u32, activation as f32))
    };
    let bucket = |bucket: JsValue| {
        let pairs: Array = bucket.dyn_into().ok()?;
        pairs.iter().map(pair).collect()
    };
    let dense = value.array("dense")?;
    Some(EncodedQuery {
        buckets: value
            .array("buckets")?
            .iter()
            .map(bucket)
            .collect::<Option<_>>()?,
        dense: dense
            .iter()
            .map(|value| Some(value.as_f64()? as f32))
            .collect::<Option<_>>()?,
    })
}
