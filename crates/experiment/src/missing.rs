//! All keys that a table lacks, each with its meaning.
//!
//! The reader stops at the first key that is missing. The schema has the others, and the words that
//! a key takes, so that one error lists all keys that a job written by hand needs.

use crate::file::Experiment;
use config::{Document, Problem, Problems};
use serde_json::Value;
use toml_edit::Item;

/// The problems, with a missing key's replaced by one for each key that its table lacks.
pub(crate) fn all(problems: Problems, document: &Document) -> Problems {
    let expand = |problem: Problem| {
        let found = (problem.message == "this key is missing").then(|| others(&problem, document));
        found.flatten().unwrap_or_else(|| vec![problem])
    };
    Problems(problems.0.into_iter().flat_map(expand).collect())
}

/// A problem for each key that this one's table lacks; `None` if the schema has no such table.
fn others(first: &Problem, document: &Document) -> Option<Vec<Problem>> {
    let schema = Experiment::schema();
    let (path, _) = first.key.rsplit_once('.').unwrap_or(("", &first.key));
    let mut item = document.root();
    let mut described = &schema;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        item = element(item, step)?;
        described = below(&schema, described, step)?;
    }
    let table = item.as_table_like()?;
    let required = described.get("required")?.as_array()?;
    let lacking = required.iter().filter_map(Value::as_str);
    let problems: Vec<Problem> = lacking
        .filter(|key| !table.contains_key(key))
        .map(|key| {
            let about = &described["properties"][key];
            // A description has the line ends of its comment.
            let meaning = about["description"].as_str().unwrap_or_default();
            let meaning = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
            let words = words(&schema, about);
            Problem {
                key: format!("{path}.{key}").trim_start_matches('.').to_string(),
                allowed: (!words.is_empty()).then(|| words.join(", ")),
                hint: Some(format!(
                    "write {key} = ...: {}",
                    meaning.trim_end_matches('.')
                )),
                ..first.clone()
            }
        })
        .collect();
    (!problems.is_empty()).then_some(problems)
}

/// The element at a step in a problem's path: a key, or a list element's name or number.
fn element<'a>(item: &'a Item, step: &str) -> Option<&'a Item> {
    let Some(list) = item.as_array_of_tables() else {
        return item.get(step);
    };
    let named = |table: &toml_edit::Table| table.get("name").and_then(Item::as_str) == Some(step);
    let number = list.iter().position(named).or(step.parse().ok())?;
    item.get(number)
}

/// The schema below a step.
fn below<'a>(schema: &'a Value, at: &'a Value, step: &str) -> Option<&'a Value> {
    let next = at
        .get("properties")
        .and_then(|properties| properties.get(step));
    let next = next.or_else(|| at.get("items").or_else(|| at.get("additionalProperties")))?;
    let choices = next.get("anyOf").and_then(Value::as_array);
    let next = choices.map_or(Some(next), |choices| choices.first())?;
    Some(resolved(schema, next))
}

/// A reference's target.
fn resolved<'a>(schema: &'a Value, at: &'a Value) -> &'a Value {
    let reference = at.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|text| schema.pointer(text.trim_start_matches('#')));
    target.unwrap_or(at)
}

/// The words that a value may be; empty for other kinds of values.
fn words<'a>(schema: &'a Value, at: &'a Value) -> Vec<&'a str> {
    let at = resolved(schema, at);
    if let Some(word) = at.get("const").and_then(Value::as_str) {
        return vec![word];
    }
    let choices = ["anyOf", "oneOf"].iter().find_map(|key| at.get(key));
    let choices = choices.and_then(Value::as_array).into_iter().flatten();
    choices.flat_map(|choice| words(schema, choice)).collect()
}
