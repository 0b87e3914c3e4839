//! A file's problems, in the author's terms.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// One problem, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file, or `--set KEY` if an override is at fault.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The faulty bytes in the text.
    pub span: Range<usize>,
    /// The key's dotted path; empty if the fault is not in a key.
    pub key: String,
    /// The mistake.
    pub message: String,
    /// The allowed values.
    pub allowed: Option<String>,
    /// The remedy.
    pub hint: Option<String>,
    /// The text that `span` points into.
    #[serde(skip)]
    pub text: String,
}

impl Problem {
    /// A problem at a place in a text.
    pub fn new(
        file: &str,
        text: &str,
        span: Range<usize>,
        key: &str,
        message: impl Into<String>,
    ) -> Self {
        let start = boundary(text, span.start);
        let span = start..boundary(text, span.end).max(start);
        let before = &text[..start];
        let line = before.rsplit('\n').next().unwrap_or_default();
        Problem {
            file: file.to_string(),
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            span,
            key: key.to_string(),
            message: message.into(),
            allowed: None,
            hint: None,
            text: text.to_string(),
        }
    }

    /// Adds the allowed values.
    #[must_use]
    pub fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    /// Adds a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The problem with a file excerpt, for a terminal.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let title = if self.key.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.key, self.message)
        };
        // One line in a long span is enough to find the place.
        let line = self.text[self.span.clone()]
            .find('\n')
            .map(|length| self.span.start + length);
        let snippet = Snippet::source(self.text.as_str())
            .path(self.file.as_str())
            .annotation(
                AnnotationKind::Primary.span(self.span.start..line.unwrap_or(self.span.end)),
            );
        let mut group: Group<'_> = Level::ERROR.primary_title(title.as_str()).element(snippet);
        if let Some(allowed) = &self.allowed {
            group = group.element(Level::NOTE.message(format!("allowed: {allowed}")));
        }
        if let Some(hint) = &self.hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        renderer.render(&[group])
    }
}

/// The last character boundary that is not after `index`.
fn boundary(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    let mut before = (0..=index).rev();
    before
        .find(|&index| text.is_char_boundary(index))
        .unwrap_or(0)
}

/// Everything that is wrong with a file; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// All problems, rendered, in file order.
    pub fn render(&self, color: bool) -> String {
        let rendered = self.0.iter().map(|problem| problem.render(color));
        rendered.collect::<Vec<_>>().join("\n\n")
    }

    /// `value` if there are no problems.
    ///
    /// # Errors
    /// The problems, in file order, if there are any.
    pub fn check<T>(mut problems: Vec<Problem>, value: T) -> Result<T, Problems> {
        if problems.is_empty() {
            return Ok(value);
        }
        problems.sort_by_key(|problem| (problem.file.clone(), problem.span.start));
        Err(Problems(problems))
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Problems(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Problems {}

/// The candidate that `word` probably means, if one is near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|&(similarity, _)| similarity > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
