//! The manifests in the workspace and its crates: dependencies, and the parts that enter
//! compilation.
//!
//! The manifests are read line by line, since the build would otherwise compile a TOML reader once
//! more. Tables are written as `[section]` with a key per line; a value may go on over lines that
//! do not begin with a key character.

use std::collections::{BTreeMap, BTreeSet};

/// The workspace manifest.
pub struct Workspace {
    /// The folders of the workspace crates, by dependency key.
    members: BTreeMap<String, String>,
    sections: Vec<(String, Vec<String>)>,
}

impl Workspace {
    /// Reads the manifest.
    pub fn parse(text: &str) -> Self {
        let sections = sections(text);
        let lines = sections
            .iter()
            .filter(|(name, _)| name == "workspace.dependencies")
            .flat_map(|(_, lines)| lines);
        let members = lines
            .filter_map(|line| Some((key(line)?, text_of(line, "path")?)))
            .collect();
        Workspace { members, sections }
    }

    /// The folder of a dependency that is a workspace crate.
    pub fn member(&self, key: &str) -> Option<&str> {
        self.members.get(key).map(String::as_str)
    }

    /// The edition, the profiles, and the dependency requirements.
    pub fn compiled(&self, dependencies: &BTreeSet<String>) -> String {
        let mut all = Vec::new();
        for (name, lines) in &self.sections {
            for line in lines {
                let counts = match name.as_str() {
                    "workspace.package" => line.starts_with("edition"),
                    "workspace.dependencies" => {
                        key(line).is_some_and(|key| dependencies.contains(&key))
                    }
                    _ => name.starts_with("profile"),
                };
                if counts {
                    all.push(format!("{name}: {line}"));
                }
            }
        }
        all.join("\n")
    }
}

/// The keys of the dependencies that a crate is compiled with, except for its tests.
pub fn dependencies(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, lines) in sections(text) {
        if let Some((_, one)) = name.split_once("dependencies.")
            && links(&name)
        {
            found.insert(one.to_owned());
        } else if links(&name) {
            found.extend(lines.iter().filter_map(|line| key(line)));
        }
    }
    found
}

/// The parts of a crate's manifest that enter compilation.
pub fn compiled(text: &str) -> String {
    let mut all = Vec::new();
    for (name, lines) in sections(text) {
        if links(&name) || ["features", "lib"].contains(&&*name) {
            for line in lines
                .iter()
                .filter(|line| !line.starts_with("test") && !line.starts_with("doctest"))
            {
                all.push(format!("{name}: {line}"));
            }
        }
    }
    all.join("\n")
}

/// Whether a section names crates that are linked, or that build scripts use.
fn links(section: &str) -> bool {
    section.contains("dependencies") && !section.contains("dev-dependencies")
}

/// The sections with their lines, without comments and blank lines.
fn sections(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = vec![(String::new(), Vec::new())];
    for line in text
        .lines()
        .map(uncommented)
        .filter(|line| !line.is_empty())
    {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            found.push((name.trim_matches(['[', ']', ' ']).to_owned(), Vec::new()));
        } else if let Some((_, lines)) = found.last_mut() {
            lines.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    found
}

/// A line without its comment.
fn uncommented(line: &str) -> &str {
    let mut quoted = false;
    let end = line.find(|one| {
        quoted ^= one == '"';
        one == '#' && !quoted
    });
    line[..end.unwrap_or(line.len())].trim()
}

/// The key with which a line begins.
fn key(line: &str) -> Option<String> {
    let end = line.find(|one: char| !(one.is_ascii_alphanumeric() || one == '-' || one == '_'))?;
    (end > 0 && line[end..].trim_start().starts_with(['=', '.'])).then(|| line[..end].to_owned())
}

/// The text of a key in an inline table.
fn text_of(line: &str, key: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("{key} = \""))?;
    rest.split_once('"').map(|(value, _)| value.to_owned())
}
