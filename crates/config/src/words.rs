//! Turns technical words in serde's and the TOML parser's messages into plain words.
//!
//! Both report errors as text only. A snapshot in the machine or the experiment crate pins every
//! form that occurs, so that a new release of serde or the parser cannot change a form unnoticed.

use crate::problem::nearest;

/// An error in plain words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    pub message: String,
    pub allowed: Option<String>,
    pub hint: Option<String>,
    /// The key that is missing from the table at fault.
    pub missing: Option<String>,
}

impl Words {
    fn new(message: impl Into<String>) -> Self {
        Words {
            message: message.into(),
            ..Words::default()
        }
    }

    fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    fn hint(self, hint: Option<String>) -> Self {
        Words { hint, ..self }
    }
}

/// Whether serde, given a string that is not a name in the enum, would list the names instead of
/// this message.
pub(crate) fn wants_names(message: &str) -> bool {
    message == "wanted string or table" || message.contains("expected enum")
}

/// Turns a type error's message into plain words; `on_key` if the error is about a key's name.
pub(crate) fn of_type_error(message: &str, on_key: bool) -> Words {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let unknown_name = ["unknown field", "unknown variant"]
        .iter()
        .any(|start| message.starts_with(start));
    if let (Some(word), true) = (quoted.first(), unknown_name) {
        return unknown(word, &quoted[1..], on_key);
    }
    if let (Some(word), true) = (quoted.first(), message.starts_with("missing field")) {
        let missing = Some((*word).to_string());
        return Words {
            missing,
            ..Words::new("this key is missing")
        };
    }
    if wants_names(message) {
        return Words::new("this is no name").allowed("a name in quotes");
    }
    let mismatch = message
        .strip_prefix("invalid type: ")
        .or(message.strip_prefix("invalid value: "));
    if let Some((found, needed)) = mismatch.and_then(|rest| rest.split_once(", expected ")) {
        return mismatched(found, needed);
    }
    of_quantity(message)
}

/// Turns the parser's message about `excerpt`, which is not TOML, into plain words.
pub(crate) fn of_syntax_error(message: &str, excerpt: &str) -> Words {
    let message = message.lines().collect::<Vec<_>>().join("; ");
    if message.starts_with("duplicate key") {
        return Words::new(format!("`{excerpt}` is there twice"))
            .hint(Some("remove one of the two".into()));
    }
    if message.starts_with("string values must be quoted") {
        return Words::new("a text needs quotes").hint(Some(format!("write \"{excerpt}\"")));
    }
    if message == "integer number overflowed" {
        return Words::new("this number is too large");
    }
    Words::new(format!("this is not TOML: {message}"))
}

fn unknown(word: &str, known: &[&str], on_key: bool) -> Words {
    let hint = nearest(word, known.iter().copied()).map(|meant| format!("did you mean `{meant}`?"));
    let message = if on_key {
        "this key is unknown".to_string()
    } else {
        format!("unknown value `{word}`")
    };
    Words::new(message).allowed(known.join(", ")).hint(hint)
}

/// A value of the wrong type, in serde's words.
fn mismatched(found: &str, needed: &str) -> Words {
    let content = found.split(['`', '"']).nth(1).unwrap_or_default();
    let kind = found.split([' ', '`']).next().unwrap_or_default();
    let shown = match kind {
        "integer" | "floating" => format!("the number {content}"),
        "string" => format!("the text \"{content}\""),
        "boolean" => content.to_string(),
        "sequence" => "a list".to_string(),
        "map" => "a table".to_string(),
        _ => found.to_string(),
    };
    let allowed = match needed {
        "u32" if kind == "integer" => "a whole number, 0 to 4294967295",
        "u64" if kind == "integer" => "a whole number, 0 or more",
        "u32" | "u64" => "a whole number",
        "f64" => "a number",
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list in brackets",
        "a map" => "a table of keys",
        other if other.starts_with("struct ") => "a table of keys",
        other => other,
    };
    let hint = match (kind, needed) {
        ("string", "u32" | "u64") if content.parse::<u64>().is_ok() => {
            Some(format!("write {content} without quotes"))
        }
        ("string", "a boolean") => Some("write true or false, without quotes".to_string()),
        ("integer" | "floating" | "boolean", "a string") => {
            Some(format!("write \"{content}\", with quotes"))
        }
        ("map", "a sequence") => Some(
            "if it is a section, write its name in two pairs of brackets: [[name]]".to_string(),
        ),
        ("integer" | "floating" | "boolean", "a sequence") => {
            Some(format!("for a list of one, write [{content}]"))
        }
        ("string", "a sequence") => Some(format!("for a list of one, write [\"{content}\"]")),
        _ => None,
    };
    Words::new(format!("{shown} does not fit here"))
        .allowed(allowed)
        .hint(hint)
}

/// Quantities' messages are in plain words already; this splits off the allowed values and the
/// hint.
fn of_quantity(message: &str) -> Words {
    if let Some(needed) = message
        .strip_prefix("expected ")
        .and_then(|rest| rest.strip_suffix("; a bare number has no unit"))
    {
        return Words::new("the unit is missing").allowed(needed);
    }
    let (message, hint) = match message.split_once("; did you mean ") {
        Some((message, meant)) => (message, Some(format!("did you mean {meant}"))),
        None => (message, None),
    };
    if let Some((message, remedy)) = message.split_once(": write ") {
        return Words::new(message).allowed(remedy);
    }
    match message.split_once("; ") {
        Some((message, rule)) => {
            let allowed = rule
                .replacen(" is needed, ", ", ", 1)
                .replacen(" is ", ", ", 1);
            Words::new(message).allowed(allowed).hint(hint)
        }
        None => Words::new(message).hint(hint),
    }
}
