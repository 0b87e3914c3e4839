//! Files that an experiment names beside it, by their content: flow lists, and traces in GOAL.
//!
//! A file's name is relative to the experiment file's folder. A point keeps the file's path and its
//! bytes' digest: the digest is part of the point's key, the path is not. When the point runs, the
//! file must have the same bytes.
//!
//! A flow list is CSV with the columns in [`COLUMNS`], named in its first line; the last one may be
//! left out, and is 0 then:
//!
//! ```csv
//! start,source,destination,size,class
//! 0 us,0,5,700000 B,0
//! 20 us,6,2,40000 B,0
//! ```
//!
//! Lines that begin with `#` are comments.

use crate::pattern::{Unread, node, regular, skipped};
use config::Problem;
use goal::Trace;
use kernel::Digest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use units::{Bytes, Time};
use workload::Failure;
use workload::flows::Flow;
use workload::source::LARGEST_MESSAGE;

/// A flow list's columns.
pub(crate) const COLUMNS: [&str; 5] = ["start", "source", "destination", "size", "class"];

/// Bytes that are read at a time.
const PIECE: usize = 1 << 16;

/// A flow's latest start.
pub(crate) const LATEST: Time = crate::check::LONGEST;

/// A file beside an experiment, by its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Content {
    /// The file as it is named in the experiment file.
    pub file: String,
    /// Its path.
    pub path: PathBuf,
    /// Its bytes' digest.
    pub digest: String,
    /// Its content, once it has been read.
    #[serde(skip)]
    pub(crate) read: FileContent,
}

/// A file's content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum FileContent {
    /// It has not been read.
    #[default]
    Unread,
    /// Flows, and the text with their places.
    Flows(List),
    /// A trace's ranks.
    Ranks(u32),
}

/// A file's flows, each with its values' places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    path: String,
    text: String,
    pub flows: Vec<Flow>,
    spans: Vec<Vec<Range<usize>>>,
}

impl Content {
    /// Finds the file; its name is relative to the experiment file's folder. A file that has been
    /// found before must be the same.
    fn find(&mut self, experiment: &str) -> Result<(), Unread> {
        let folder = Path::new(experiment).parent().unwrap_or(Path::new(""));
        let path = folder.join(&self.file);
        let failed = |error| Unread::of(&path, &error);
        let whole = std::path::absolute(&path).map_err(failed)?;
        self.digest = digest(&whole).map_err(failed)?;
        self.path = whole;
        Ok(())
    }

    /// Reads a flow list.
    pub(crate) fn read_flows(&mut self, experiment: &str) -> Result<Vec<Problem>, Unread> {
        self.find(experiment)?;
        let (list, problems) = List::read(&self.path)?;
        self.read = FileContent::Flows(list);
        Ok(problems)
    }

    /// Reads and checks a trace; returns its problems.
    pub(crate) fn read_trace(
        &mut self,
        experiment: &str,
    ) -> Result<Option<goal::TraceProblem>, Unread> {
        self.find(experiment)?;
        match Trace::open(&self.path) {
            Ok(trace) => {
                self.read = FileContent::Ranks(trace.ranks());
                Ok(None)
            }
            Err(problem) => Ok(Some(problem)),
        }
    }

    /// The flows.
    ///
    /// # Errors
    /// The file is not there, or has other bytes than when the point was planned.
    pub(crate) fn flows(&self) -> Result<Vec<Flow>, Failure> {
        self.verified()?;
        let (list, _) = List::read(&self.path).map_err(|unread| Failure::File(unread.text))?;
        Ok(list.flows)
    }

    /// The file's path.
    ///
    /// # Errors
    /// As [`Content::flows`].
    pub(crate) fn verified(&self) -> Result<PathBuf, Failure> {
        let path = self.path.display();
        let remedy = "run the command again from the experiment file";
        let found = digest(&self.path)
            .map_err(|error| Failure::File(format!("{path} cannot be read: {error}; {remedy}")))?;
        if found != self.digest {
            let text = format!("{path} has changed since the point was planned; {remedy}");
            return Err(Failure::File(text));
        }
        Ok(self.path.clone())
    }
}

/// A digest over a file's bytes.
fn digest(path: &Path) -> std::io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let mut file = File::open(path)?;
    let mut digest = Digest::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(digest.hex()),
            count => digest.bytes(&piece[..count]),
        };
    }
}

impl List {
    /// A file's readable flows, and the problems with the others.
    fn read(path: &Path) -> Result<(List, Vec<Problem>), Unread> {
        let bytes = regular(path).map_err(|error| Unread::of(path, &error))?;
        let mut list = List {
            path: path.display().to_string(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
            ..List::default()
        };
        let problems = match std::str::from_utf8(&bytes) {
            Ok(_) => list.parse(),
            Err(error) => {
                let span = error.valid_up_to()..error.valid_up_to() + 1;
                let problem = list.problem(span, "", "this is no text in UTF-8");
                vec![problem.hint("save the file in UTF-8; digits, commas and spaces are enough")]
            }
        };
        Ok((list, problems))
    }

    fn parse(&mut self) -> Vec<Problem> {
        let text = self.text.clone();
        let mut lines = lines(&text);
        let heading = COLUMNS.join(",");
        let Some(first) = lines.next() else {
            let problem = self.problem(0..0, "", "there are no flows");
            return vec![problem.hint(format!("begin with the line {heading}"))];
        };
        let names: Vec<&str> = cells(&text, &first).map(|span| &text[span]).collect();
        let columns = names.len();
        if columns < COLUMNS.len() - 1 || !COLUMNS.starts_with(&names) {
            let problem = self.problem(first, "", "the first line does not name the columns");
            let problem = problem.allowed(format!("{heading}; `class` may be left out"));
            return vec![
                problem.hint("`elanite import` writes such lists from the formats of others"),
            ];
        }
        let mut problems = Vec::new();
        for line in lines {
            let spans: Vec<_> = cells(&text, &line).collect();
            if spans.len() != columns {
                let message = format!("this line has {} values", spans.len());
                let problem = self.problem(line, "", message);
                problems.push(problem.allowed(format!("{columns}: {}", names.join(","))));
                continue;
            }
            match flow(&text, &spans) {
                Ok(flow) => {
                    self.flows.push(flow);
                    self.spans.push(spans);
                }
                Err((column, message, allowed)) => {
                    let problem = self.problem(spans[column].clone(), COLUMNS[column], message);
                    problems.push(problem.allowed(allowed));
                }
            }
        }
        if problems.is_empty() && self.flows.is_empty() {
            let problem = self.problem(0..text.len(), "", "there are no flows");
            problems.push(problem.hint("write a line such as 0 us,0,5,64 KB,0 for each flow"));
        }
        problems
    }

    fn problem(&self, span: Range<usize>, key: &str, message: impl Into<String>) -> Problem {
        Problem::new(&self.path, &self.text, span, key, message)
    }

    /// The problems that `wrong` finds with the flows: a column, a message, the allowed values and
    /// a hint.
    pub(crate) fn problems(
        &self,
        wrong: impl Fn(&Flow) -> Option<(usize, String, String, String)>,
    ) -> Vec<Problem> {
        let flows = self.flows.iter().zip(&self.spans);
        let found = flows.filter_map(|(flow, spans)| {
            let (column, message, allowed, hint) = wrong(flow)?;
            let span = spans.get(column).or(spans.last()).cloned();
            let problem = self.problem(span.unwrap_or_default(), COLUMNS[column], message);
            Some(problem.allowed(allowed).hint(hint))
        });
        found.take(MOST_NAMED).collect()
    }
}

/// The most flows in one file that errors name.
const MOST_NAMED: usize = 20;

/// A line's flow, or the wrong column, the mistake, and the allowed values.
fn flow(text: &str, spans: &[Range<usize>]) -> Result<Flow, (usize, String, String)> {
    let cell = |column: usize| spans.get(column).map_or("0", |span| &text[span.clone()]);
    let number =
        |column| node(cell(column)).map_err(|(message, allowed)| (column, message, allowed));
    let start: Time = cell(0).parse().map_err(|error| {
        (
            0,
            format!("{error}"),
            "a time with its unit, such as 20 us or 1500 ns".to_string(),
        )
    })?;
    if start > LATEST {
        return Err((
            0,
            format!("{start} is too late"),
            format!("at most {LATEST}"),
        ));
    }
    let (source, destination) = (number(1)?, number(2)?);
    if source == destination {
        let message = format!("node {source} would send to itself");
        return Err((2, message, "another node".to_string()));
    }
    let size: Bytes = cell(3).parse().map_err(|error| {
        (
            3,
            format!("{error}"),
            "a size with its unit, such as 700000 B or 64 KB".to_string(),
        )
    })?;
    if size.is_zero() || size > LARGEST_MESSAGE {
        let allowed = format!(
            "1 B to {} B; write a longer flow as several",
            LARGEST_MESSAGE.as_u64()
        );
        return Err((3, format!("{size} is no size of a flow"), allowed));
    }
    let class = number(4)?;
    let class = u8::try_from(class).map_err(|_| {
        (
            4,
            format!("there is no traffic class {class}"),
            "0 to 255".to_string(),
        )
    })?;
    Ok(Flow {
        start,
        source: source.into(),
        destination: destination.into(),
        size,
        class,
    })
}

/// A text's lines, without blank lines and comments.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        start += skipped(&text[start..]);
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = start + rest.find('\n').unwrap_or(rest.len());
        let line = start..start + text[start..end].trim_end().len();
        start = (end + 1).min(text.len());
        Some(line)
    })
}

/// A line's values, without the blanks around them.
fn cells<'a>(text: &'a str, line: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let mut start = line.start;
    text[line.clone()].split(',').map(move |cell| {
        let begin = start + cell.len() - cell.trim_start().len();
        start += cell.len() + 1;
        begin..begin + cell.trim().len()
    })
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A planned point's file.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Planned {
            file: String,
            path: PathBuf,
            digest: String,
        }
        struct Name;
        impl<'de> Visitor<'de> for Name {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a file, relative to the folder of the experiment file")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
                if text.trim().is_empty() {
                    return Err(E::custom("the name of the file is empty"));
                }
                Ok(Content {
                    file: text.to_string(),
                    ..Content::default()
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content, A::Error> {
                let Planned { file, path, digest } =
                    Planned::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Content {
                    file,
                    path,
                    digest,
                    read: FileContent::Unread,
                })
            }
        }
        deserializer.deserialize_any(Name)
    }
}

impl JsonSchema for Content {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "File".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The name of a file, relative to the folder of the experiment file.",
            "type": "string",
        })
    }
}
