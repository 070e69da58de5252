//! What a run that is to go on is told when it was begun with other settings.

use serde_json::Value;

use crate::checkpoint::Bucket;

/// The options that differ between settings in JSON, by what the run was begun with:
/// `--steps 400 (not 200), --seed 1 (not 2)`. Empty when none does.
pub(crate) fn differences(begun: &Value, asked: &Value) -> String {
    let (begun, asked) = (options(begun), options(asked));
    let value = |options: &[(String, String)], name: &str| {
        let found = options.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.clone())
    };
    let mut names: Vec<&String> = begun.iter().chain(&asked).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let differing = names.into_iter().filter_map(|name| {
        match (value(&begun, name), value(&asked, name)) {
            (Some(was), Some(is)) if was == is => None,
            (Some(was), Some(is)) => Some(format!("{name} {was} (not {is})")),
            // One of the two builds knew no such option: there is nothing to set.
            (Some(was), None) => Some(format!("{name} {was}, which this build does not know")),
            (None, _) => Some(format!("no {name}, which is new since")),
        }
    });
    differing.collect::<Vec<_>>().join(", ")
}

/// Names of options with their values, as a command line has them; groups of settings are taken apart.
fn options(settings: &Value) -> Vec<(String, String)> {
    let Value::Object(fields) = settings else {
        return Vec::new();
    };
    let of_field = |(name, value): (&String, &Value)| match value {
        Value::Object(_) => options(value),
        _ => vec![(format!("--{}", name.replace('_', "-")), written(value))],
    };
    fields.iter().flat_map(of_field).collect()
}

/// A value as a command line has it.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(written).collect::<Vec<_>>().join(" "),
        Value::Object(_) => match serde_json::from_value::<Bucket>(value.clone()) {
            Ok(bucket) => bucket.to_string(),
            Err(_) => value.to_string(),
        },
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_is_named_as_a_command_line_has_it() {
        let bucket = |n| json!([{ "layer": 6, "n": n, "k": 4 }, { "layer": 5, "n": n, "k": 2 }]);
        let begun = json!({
            "steps": 400, "seed": 1, "ranking": "info-nce", "buckets": bucket(8192),
            "shape": { "layers": 2, "width": 128 }, "head_learning_rate": 1e-4,
        });
        let asked = json!({
            "steps": 400, "seed": 2, "ranking": "hinge", "buckets": bucket(64),
            "shape": { "layers": 2, "width": 64 }, "head_learning_rate": 1e-4,
        });
        assert_eq!(
            differences(&begun, &asked),
            "--buckets 6:8192:4 5:8192:2 (not 6:64:4 5:64:2), --ranking info-nce (not hinge), --seed 1 (not 2), \
             --width 128 (not 64)"
        );
        assert_eq!(differences(&begun, &begun), "");
        assert_eq!(
            differences(&json!({ "old": 1 }), &json!({ "new": 1 })),
            "no --new, which is new since, --old 1, which this build does not know"
        );
    }
}
