//! Reading JSON objects, whoever parsed them: `serde_json` here, in a browser its own parser. Code that
//! serde derives for each type would be a tenth of the small browser module.

use std::cell::Cell;

/// An object with values by name.
pub trait Fields: Sized {
    /// Whether there is a value of this name; null is one.
    fn has(&self, name: &str) -> bool;

    /// The boolean of this name.
    fn flag(&self, name: &str) -> Option<bool>;

    /// The number of this name.
    fn number(&self, name: &str) -> Option<f64>;

    /// The numbers in the array of this name.
    fn numbers(&self, name: &str) -> Option<Vec<f64>>;

    /// The numbers in the object of this name, in the order of [`Fields::each_name`].
    fn named_numbers(&self, name: &str) -> Option<Vec<f64>>;

    /// Hands over the names in the object of this name, one after the other: a list of all would be memory that a
    /// browser's module never gives back.
    fn each_name(&self, name: &str, each: &mut dyn FnMut(&str)) -> Option<()>;

    /// The text of this name.
    fn text(&self, name: &str) -> Option<String>;

    /// The object of this name.
    fn object(&self, name: &str) -> Option<Self>;

    /// The objects in the array of this name.
    fn objects(&self, name: &str) -> Option<Vec<Self>>;
}

impl Fields for serde_json::Value {
    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        self.get(name)?
            .as_array()?
            .iter()
            .map(Self::as_f64)
            .collect()
    }

    fn named_numbers(&self, name: &str) -> Option<Vec<f64>> {
        let values = self.get(name)?.as_object()?.values();
        values.map(Self::as_f64).collect()
    }

    fn each_name(&self, name: &str, each: &mut dyn FnMut(&str)) -> Option<()> {
        let names = self.get(name)?.as_object()?.keys();
        names.for_each(|name| each(name));
        Some(())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.as_str().map(str::to_owned)
    }

    fn object(&self, name: &str) -> Option<Self> {
        self.get(name).filter(|value| value.is_object()).cloned()
    }

    fn objects(&self, name: &str) -> Option<Vec<Self>> {
        self.get(name)?.as_array().cloned()
    }
}

/// Reads an object's values one after the other; what is missing is told at the end, by
/// [`Reading::misfit`], so that types are read without a branch for every value.
#[derive(Debug)]
pub struct Reading<'a, F> {
    fields: Option<F>,
    misfit: &'a Cell<Option<&'static str>>,
}

impl<'a, F: Fields> Reading<'a, F> {
    /// Begins with an object; `misfit` gets the name of a value that is not what it should be.
    pub fn new(fields: F, misfit: &'a Cell<Option<&'static str>>) -> Self {
        Self {
            fields: Some(fields),
            misfit,
        }
    }

    /// Remembers that the value of this name is not what it should be.
    pub fn misfit(&self, name: &'static str) {
        self.misfit.set(self.misfit.get().or(Some(name)));
    }

    fn value<T>(&self, name: &'static str, get: impl FnOnce(&F) -> Option<T>) -> Option<T> {
        let value = self.fields.as_ref().and_then(get);
        if value.is_none() {
            self.misfit(name);
        }
        value
    }

    /// A number.
    #[inline(never)]
    pub fn number(&self, name: &'static str) -> f64 {
        let number = self.value(name, |fields| fields.number(name));
        number.unwrap_or_default()
    }

    /// The numbers in an array.
    pub fn numbers(&self, name: &'static str) -> Vec<f64> {
        let numbers = self.value(name, |fields| fields.numbers(name));
        numbers.unwrap_or_default()
    }

    /// The numbers in an object, in the order of [`Reading::each_name`].
    pub fn named_numbers(&self, name: &'static str) -> Vec<f64> {
        let numbers = self.value(name, |fields| fields.named_numbers(name));
        numbers.unwrap_or_default()
    }

    /// Hands over the names in an object.
    pub fn each_name(&self, name: &'static str, each: &mut dyn FnMut(&str)) {
        let _ = self.value(name, |fields| fields.each_name(name, each));
    }

    /// The objects in an object, with their names.
    pub fn members(&self, name: &'static str) -> Vec<(String, Self)> {
        let members = self.object(name);
        let mut all = Vec::new();
        self.each_name(name, &mut |key| {
            let member = Self {
                fields: members.value(name, |fields| fields.object(key)),
                misfit: self.misfit,
            };
            all.push((key.to_owned(), member));
        });
        all
    }

    /// A value that may be missing.
    pub fn optional<T>(&self, name: &'static str, read: fn(&Self, &'static str) -> T) -> Option<T> {
        let is_there = self.fields.as_ref().is_some_and(|fields| fields.has(name));
        is_there.then(|| read(self, name))
    }

    /// A boolean; `None` when there is none.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.fields.as_ref()?.flag(name)
    }

    /// A number of lower precision.
    pub fn weight(&self, name: &'static str) -> f32 {
        self.number(name) as f32
    }

    /// A whole number of 0 to 2³² − 1.
    #[inline(never)]
    pub fn count(&self, name: &'static str) -> u32 {
        let number = self.number(name);
        let count = number as u32;
        if f64::from(count) != number {
            self.misfit(name);
        }
        count
    }

    /// A text.
    #[inline(never)]
    pub fn text(&self, name: &'static str) -> String {
        let text = self.value(name, |fields| fields.text(name));
        text.unwrap_or_default()
    }

    /// An object.
    #[inline(never)]
    pub fn object(&self, name: &'static str) -> Self {
        Self {
            fields: self.value(name, |fields| fields.object(name)),
            misfit: self.misfit,
        }
    }

    /// The objects in an array.
    #[inline(never)]
    pub fn objects(&self, name: &'static str) -> Vec<Self> {
        let objects = self.value(name, |fields| fields.objects(name));
        let reading = |fields| Self::new(fields, self.misfit);
        objects
            .unwrap_or_default()
            .into_iter()
            .map(reading)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_value_that_is_missing_or_of_another_kind_is_told() {
        let fields = json!({
            "a": 7, "b": -1, "c": 0.5, "d": 4_294_967_296u64, "e": "7", "f": {"g": 1}, "h": [{"i": 2}]
        });
        let read = |read: &dyn Fn(&Reading<'_, serde_json::Value>)| {
            let misfit = Cell::new(None);
            read(&Reading::new(fields.clone(), &misfit));
            misfit.get()
        };
        assert_eq!(read(&|all| assert_eq!(all.count("a"), 7)), None);
        assert_eq!(read(&|all| assert_eq!(all.weight("c"), 0.5)), None);
        assert_eq!(read(&|all| assert_eq!(all.text("e"), "7")), None);
        assert_eq!(read(&|all| assert_eq!(all.object("f").count("g"), 1)), None);
        assert_eq!(
            read(&|all| assert_eq!(all.objects("h")[0].count("i"), 2)),
            None
        );
        assert_eq!(
            read(&|all| assert_eq!(all.optional("z", Reading::text), None)),
            None
        );
        assert_eq!(
            read(&|all| assert_eq!(all.optional("a", Reading::count), Some(7))),
            None
        );
        assert_eq!(
            read(&|all| drop(all.optional("a", Reading::text))),
            Some("a")
        );
        for name in ["b", "c", "d", "e", "z"] {
            let count = |all: &Reading<'_, serde_json::Value>| {
                let _ = all.count(name);
            };
            assert_eq!(read(&count), Some(name));
        }
        assert_eq!(read(&|all| drop(all.object("z").text("a"))), Some("z"));
        assert_eq!(read(&|all| drop(all.object("h"))), Some("h"));
        assert_eq!(read(&|all| drop(all.objects("f"))), Some("f"));
    }

    #[test]
    fn numbers_names_and_members_are_read_of_arrays_and_objects() {
        let fields = json!({
            "a": 7, "f": {"g": 1}, "h": [{"i": 2}], "j": [0.5, 2], "k": true, "l": {"m n": {"n": 3}}
        });
        let misfit = Cell::new(None);
        let all = Reading::new(fields, &misfit);
        assert_eq!(all.numbers("j"), [0.5, 2.0]);
        let names = |name| {
            let mut names = Vec::new();
            all.each_name(name, &mut |name| names.push(name.to_owned()));
            names
        };
        assert_eq!(
            (names("f"), all.named_numbers("f")),
            (vec!["g".to_owned()], vec![1.0])
        );
        let members = all.members("l");
        assert_eq!((&*members[0].0, members[0].1.count("n")), ("m n", 3));
        assert_eq!(
            ["k", "a", "z"].map(|name| all.flag(name)),
            [Some(true), None, None]
        );
        assert_eq!(misfit.take(), None);
        for name in ["a", "h", "z"] {
            assert!(all.named_numbers(name).is_empty());
            assert_eq!(misfit.take(), Some(name));
            assert!(names(name).is_empty());
            assert_eq!(misfit.take(), Some(name));
        }
        for name in ["a", "f", "z"] {
            assert!(all.numbers(name).is_empty());
            assert_eq!(misfit.take(), Some(name));
        }
        assert_eq!(all.members("f").len(), 1);
        assert_eq!(misfit.take(), Some("f"));
    }
}
