//! Patterns as people write them: a name, `shift K` and `random K` with a number, the name of a CSV
//! file with node pairs, or a table with a name and the pairs themselves, as programs write them:
//! `{ name = "ring", pairs = [[0, 1], [1, 0]] }`.
//!
//! A pair file has two columns, named in its first line:
//!
//! ```csv
//! source,destination
//! 0,5
//! 5,0
//! ```
//!
//! The file's name is relative to the experiment file's folder. A source in several lines draws one
//! of its destinations for each message. Lines that begin with `#` are comments.

use crate::nodes::MOST_NODES;
use config::Problem;
use goal::encoding::{MARK, encoding};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use workload::Pattern as Rule;

/// Size in bytes of the largest pair file.
const MOST_BYTES: u64 = 64 << 20;

/// How a job's nodes choose their destinations; see [`workload::pattern`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternSpec {
    /// A rule.
    Named(Rule),
    /// A list.
    Pairs(Pairs),
}

/// Node pairs, from a file or from the experiment file itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pairs {
    /// The file's name in the experiment file, or the pattern's name.
    #[serde(rename(deserialize = "name"), alias = "file")]
    pub file: String,
    /// Sources and destinations.
    #[serde(deserialize_with = "two_ends")]
    pub pairs: Vec<(u32, u32)>,
    /// The pairs' places in the file, for errors about them; empty where there is no file.
    #[serde(skip)]
    source: Source,
}

/// A pair file's text, and the spans of each pair's two ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Source {
    path: String,
    text: String,
    spans: Vec<[Range<usize>; 2]>,
}

/// The problem with one end of a pair.
pub(crate) struct BadEnd {
    /// Which end: an index into [`COLUMNS`].
    pub end: usize,
    /// The mistake.
    pub message: String,
    /// The allowed values, if they fit into a short text.
    pub allowed: Option<String>,
    /// The remedy.
    pub hint: String,
}

/// The two column names in the first line.
const COLUMNS: [&str; 2] = ["source", "destination"];

/// The names of patterns: the rules in the documentation's order, and a pair file.
const NAMES: [&str; 13] = [
    "uniform",
    "neighbor",
    "butterfly",
    "complement",
    "shuffle",
    "transpose",
    "bit-reversal",
    "\"shift 8\" (by a number)",
    "tornado",
    "\"random 1\" (the number draws a permutation)",
    "blocks",
    "cyclic",
    "\"pairs.csv\" (a file of pairs)",
];

/// The suffix of pair file names.
const SUFFIX: &str = ".csv";

impl PatternSpec {
    /// The workload's form of the pattern.
    pub fn workload(&self) -> workload::Pattern {
        match self {
            PatternSpec::Named(rule) => rule.clone(),
            PatternSpec::Pairs(pairs) => {
                let pairs = pairs.pairs.iter();
                let pairs = pairs.map(|&(from, to)| (from.into(), to.into()));
                workload::Pattern::Pairs(pairs.collect())
            }
        }
    }
}

/// A file that cannot be read: the error, with the remedy if that is not part of it.
#[derive(Debug)]
pub(crate) struct Unread {
    pub text: String,
    pub hint: Option<&'static str>,
}

impl Unread {
    pub fn of(path: &Path, error: &io::Error) -> Unread {
        let missing = error.kind() == io::ErrorKind::NotFound;
        Unread {
            text: format!("{} cannot be read: {error}", path.display()),
            hint: missing.then_some("name a file relative to the folder of the experiment file"),
        }
    }
}

/// The bytes in a regular file of at most [`MOST_BYTES`], without a byte order mark. A device might
/// have no end, and a pipe no writer.
pub(crate) fn regular(path: &Path) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is no regular file; name a CSV file"));
    }
    if about.len() > MOST_BYTES {
        let words = format!(
            "it has {} bytes, and at most {MOST_BYTES} are read",
            about.len()
        );
        return Err(io::Error::other(words));
    }
    let mut bytes = std::fs::read(path)?;
    if let Some(name) = encoding(&bytes) {
        return Err(io::Error::other(format!("it is {name}")));
    }
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
    Ok(bytes)
}

impl Pairs {
    /// Whether the pairs are in a file that has not been read.
    pub(crate) fn is_file(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Reads the file; its name is relative to the experiment file's folder. The error is a list of
    /// problems with the file's content.
    pub(crate) fn read(&mut self, experiment: &str) -> Result<Vec<Problem>, Unread> {
        let folder = Path::new(experiment).parent().unwrap_or(Path::new(""));
        let path = folder.join(&self.file);
        let bytes = regular(&path).map_err(|error| Unread::of(&path, &error))?;
        self.source = Source {
            path: path.display().to_string(),
            // Like the file up to the first byte that is not text.
            text: String::from_utf8_lossy(&bytes).into_owned(),
            spans: Vec::new(),
        };
        Ok(match std::str::from_utf8(&bytes) {
            Ok(_) => self.parse(),
            Err(error) => {
                let start = error.valid_up_to();
                let span = start..start + char::REPLACEMENT_CHARACTER.len_utf8();
                let problem = self.problem(span, "", "this is no text in UTF-8");
                vec![problem.hint("save the file in UTF-8; digits, commas and spaces are enough")]
            }
        })
    }

    fn parse(&mut self) -> Vec<Problem> {
        let text = self.source.text.clone();
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(text.as_bytes());
        let mut problems = Vec::new();
        let header = match reader.headers() {
            Ok(header) => header.iter().eq(COLUMNS),
            Err(error) => return vec![self.problem(0..0, "", format!("this is not CSV: {error}"))],
        };
        if !header {
            let line = 0..text.find('\n').unwrap_or(text.len());
            let problem = self.problem(line, "", "the first line does not name the columns");
            return vec![problem.allowed("source,destination")];
        }
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    problems.push(self.problem(0..0, "", format!("this is not CSV: {error}")));
                    break;
                }
            };
            let start = record.position().map_or(0, |at| at.byte() as usize);
            // A reader that skips comments and blank lines may stand before them.
            let start = start + skipped(&text[start..]);
            let span = start
                ..start
                    + text[start..]
                        .find(['\r', '\n'])
                        .unwrap_or(text.len() - start);
            if record.len() != 2 {
                let message = format!("a pair is two values, and this line has {}", record.len());
                problems.push(
                    self.problem(span, "", message)
                        .allowed("SOURCE,DESTINATION"),
                );
                continue;
            }
            let spans = ends(&text, &span);
            let values = [&record[0], &record[1]];
            for (end, value) in values.into_iter().enumerate() {
                if let Err((message, allowed)) = node(value) {
                    let problem = self.problem(spans[end].clone(), COLUMNS[end], message);
                    problems.push(problem.allowed(allowed));
                }
            }
            if let [Ok(from), Ok(to)] = values.map(node) {
                self.pairs.push((from, to));
                self.source.spans.push(spans);
            }
        }
        if problems.is_empty() && self.pairs.is_empty() {
            let problem = self.problem(0..text.len(), "", "there are no pairs");
            problems.push(problem.hint("write a line such as 0,5 for each pair"));
        }
        problems
    }

    fn problem(&self, span: Range<usize>, key: &str, message: impl Into<String>) -> Problem {
        Problem::new(&self.source.path, &self.source.text, span, key, message)
    }

    /// The problems that `wrong` finds with each pair's ends; `here` is a problem with the pattern
    /// where there is no file.
    pub(crate) fn problems(
        &self,
        wrong: impl Fn(u32, u32) -> Option<BadEnd>,
        here: impl Fn(String) -> Problem,
    ) -> Vec<Problem> {
        let pairs = self.pairs.iter().enumerate();
        pairs
            .filter_map(|(index, &(from, to))| {
                let bad = wrong(from, to)?;
                let problem = match self.source.spans.get(index) {
                    Some(spans) => {
                        let span = spans[bad.end].clone();
                        self.problem(span, COLUMNS[bad.end], bad.message)
                    }
                    None => here(format!(
                        "the pair of node {from} and node {to}: {}",
                        bad.message
                    )),
                };
                let problem = problem.hint(bad.hint);
                Some(match bad.allowed {
                    Some(allowed) => problem.allowed(allowed),
                    None => problem,
                })
            })
            .collect()
    }
}

/// A rule with a number in its name: `shift 8`, `random 1`.
fn numbered(text: &str) -> Option<Rule> {
    let (name, number) = text.split_once(' ')?;
    let number = node(number).ok()?;
    match name {
        "shift" => Some(Rule::Shift(number)),
        "random" => Some(Rule::Random(number)),
        _ => None,
    }
}

/// A node's number, or the text's mistake and the allowed values.
pub(crate) fn node(value: &str) -> Result<u32, (String, String)> {
    let digits = !value.is_empty() && value.chars().all(|letter| letter.is_ascii_digit());
    value.parse().map_err(|_| {
        if digits {
            let message = format!("`{value}` is too large for the number of a node");
            return (message, format!("0 to {}", MOST_NODES - 1));
        }
        let message = format!("`{value}` is no number of a node");
        (message, "a whole number, 0 or more".to_string())
    })
}

/// Reads pairs, each with exactly two ends.
fn two_ends<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(u32, u32)>, D::Error> {
    let lists = Vec::<Vec<u32>>::deserialize(deserializer)?;
    let pair = |ends: Vec<u32>| match ends[..] {
        [from, to] => Ok((from, to)),
        _ => Err(D::Error::custom(format!(
            "{ends:?} is no pair: write [SOURCE, DESTINATION]"
        ))),
    };
    lists.into_iter().map(pair).collect()
}

/// The spans of a line's two values, without the blanks around them.
fn ends(text: &str, line: &Range<usize>) -> [Range<usize>; 2] {
    let value = |span: Range<usize>| {
        let value = &text[span.clone()];
        let start = span.start + value.len() - value.trim_start().len();
        start..start + value.trim().len()
    };
    match text[line.clone()].find(',') {
        Some(comma) => {
            let comma = line.start + comma;
            [value(line.start..comma), value(comma + 1..line.end)]
        }
        None => [line.clone(), line.clone()],
    }
}

/// Length in bytes of the blank lines and comments at a text's start.
pub(crate) fn skipped(text: &str) -> usize {
    let blank = |line: &&str| line.trim().is_empty() || line.starts_with('#');
    text.split_inclusive('\n')
        .take_while(blank)
        .map(str::len)
        .sum()
}

impl<'de> Deserialize<'de> for PatternSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrPairs;
        impl<'de> Visitor<'de> for NameOrPairs {
            type Value = PatternSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a pattern, or of a file of pairs, such as \"pairs.csv\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<PatternSpec, E> {
                if text.ends_with(SUFFIX) {
                    let file = text.to_string();
                    return Ok(PatternSpec::Pairs(Pairs {
                        file,
                        ..Pairs::default()
                    }));
                }
                if let Some(rule) = numbered(text) {
                    return Ok(PatternSpec::Named(rule));
                }
                let rule: Result<Rule, E> = Rule::deserialize(text.into_deserializer());
                rule.map(PatternSpec::Named)
                    .map_err(|_| E::unknown_variant(text, &NAMES))
            }

            // Pairs in the experiment file, or a point that has been planned.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PatternSpec, A::Error> {
                let pairs = Pairs::deserialize(MapAccessDeserializer::new(map))?;
                if pairs.file.trim().is_empty() || pairs.pairs.is_empty() {
                    let message = "a pattern of pairs has a name and at least one pair, such as \
                        { name = \"ring\", pairs = [[0, 1], [1, 0]] }";
                    return Err(A::Error::custom(message));
                }
                Ok(PatternSpec::Pairs(pairs))
            }
        }
        deserializer.deserialize_any(NameOrPairs)
    }
}

impl Serialize for PatternSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            PatternSpec::Named(rule @ (Rule::Shift(_) | Rule::Random(_))) => {
                serializer.serialize_str(&rule.name())
            }
            PatternSpec::Named(rule) => rule.serialize(serializer),
            PatternSpec::Pairs(pairs) => pairs.serialize(serializer),
        }
    }
}

impl JsonSchema for PatternSpec {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rule = generator.subschema_for::<Rule>();
        json_schema!({
            "description": "A pattern by its name, with a number for shift and random, a CSV file \
            with pairs of nodes, or a name and pairs.",
            "anyOf": [
                rule,
                { "type": "string", "pattern": "^(shift|random) [0-9]+$" },
                { "type": "string", "pattern": "\\.csv$" },
                {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "pairs": {
                            "type": "array",
                            "items": {
                                "type": "array", "items": { "type": "integer", "minimum": 0 }
                            },
                        },
                    },
                    "required": ["name", "pairs"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
