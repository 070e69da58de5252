//! The table `[output.siskin]`: the attributes of `<siskin-search>` in each page.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Outputs;
use crate::commands::inspect::escaped;

/// Attributes as they stand in the element's tag, each with a blank before it.
#[derive(Debug)]
pub struct SearchBox {
    pub attributes: String,
}

/// The table; its names and values are those of the element's attributes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    /// mdBook's own: what to run.
    #[serde(skip_serializing)]
    command: String,
    /// mdBook's own: whether a missing command is no failure.
    #[serde(skip_serializing)]
    optional: bool,
    modal: bool,
    mode: Option<ModeName>,
    encoder: Option<EncoderUse>,
    limit: Option<u8>,
    label: Option<String>,
    placeholder: Option<String>,
    shortcuts: Option<String>,
    query_parameter: Option<String>,
    text_fragments: Option<TextFragments>,
    recent: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    Words,
    Table,
    Full,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum EncoderUse {
    Off,
    Idle,
    OnOpen,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TextFragments {
    Off,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            command: String::new(),
            optional: false,
            modal: true,
            mode: None,
            encoder: None,
            limit: None,
            label: None,
            placeholder: None,
            shortcuts: None,
            query_parameter: None,
            text_fragments: None,
            recent: false,
        }
    }
}

impl SearchBox {
    /// The box that the book asks for. Where mdBook's own search is in the pages, the key `/` stays its.
    ///
    /// # Errors
    /// When the table has an option that does not exist, or a value that an option cannot have.
    pub fn new(outputs: &Outputs) -> Result<Self> {
        let table = outputs.siskin.clone().unwrap_or_default();
        let table: Table = match table {
            Value::Null => Table::default(),
            table => serde_json::from_value(table).context("in [output.siskin] of book.toml")?,
        };
        if !(1..=100).contains(&table.limit.unwrap_or(1)) {
            bail!("in [output.siskin] of book.toml: limit must be 1 to 100");
        }
        let mut attributes = serde_json::to_value(table)?;
        if outputs.has_own_search() && attributes["shortcuts"].is_null() {
            attributes["shortcuts"] = "ctrl+k".into();
        }
        let attributes = attributes.as_object().into_iter().flatten();
        Ok(Self {
            attributes: attributes.filter_map(attribute).collect(),
        })
    }
}

/// ` name="value"`, or ` name` for what is true; nothing for what is not said.
fn attribute((name, value): (&String, &Value)) -> Option<String> {
    match value {
        Value::Bool(true) => Some(format!(" {name}")),
        Value::Bool(false) | Value::Null => None,
        Value::String(text) => Some(format!(" {name}=\"{}\"", escaped(text))),
        other => Some(format!(" {name}=\"{other}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the options below `[output.siskin]`, as JSON, give; with mdBook's own search switched off.
    fn attributes(options: &str) -> Result<String> {
        let outputs =
            format!(r#"{{"html": {{"search": {{"enable": false}}}}, "siskin": {options}}}"#);
        Ok(SearchBox::new(&serde_json::from_str(&outputs)?)?.attributes)
    }

    #[test]
    fn options_become_attributes() {
        assert_eq!(
            attributes(r#"{"command": "siskin mdbook"}"#).unwrap(),
            " modal"
        );
        let options = r#"{"modal": false, "mode": "full", "limit": 5, "recent": true,
            "encoder": "on-open", "query-parameter": "q", "label": "Say \"A & B\""}"#;
        assert_eq!(
            attributes(options).unwrap(),
            " encoder=\"on-open\" label=\"Say &quot;A &amp; B&quot;\" limit=\"5\" mode=\"full\" \
             query-parameter=\"q\" recent"
        );
    }

    #[test]
    fn the_key_of_mdbooks_own_search_stays_its() {
        let with_search = |siskin: &str| {
            let outputs = format!(r#"{{"html": {{}}, "siskin": {siskin}}}"#);
            let outputs = serde_json::from_str(&outputs).unwrap();
            SearchBox::new(&outputs).unwrap().attributes
        };
        assert_eq!(with_search("{}"), " modal shortcuts=\"ctrl+k\"");
        assert_eq!(
            with_search(r#"{"shortcuts": "alt+s"}"#),
            " modal shortcuts=\"alt+s\""
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (options, wrong) in [
            (r#"{"modus": "full"}"#, "unknown field `modus`"),
            (r#"{"mode": "fast"}"#, "unknown variant `fast`"),
            (r#"{"modal": "yes"}"#, "expected a boolean"),
            (r#"{"limit": 0}"#, "limit must be 1 to 100"),
        ] {
            let error = format!("{:#}", attributes(options).unwrap_err());
            assert!(
                error.starts_with("in [output.siskin] of book.toml") && error.contains(wrong),
                "{error}"
            );
        }
    }
}
