//! The lock file: versions and checksums of the linked crates.

use std::collections::{BTreeMap, BTreeSet};

/// A locked crate.
#[derive(Default)]
struct Package<'a> {
    version: &'a str,
    checksum: &'a str,
    dependencies: Vec<&'a str>,
}

/// Name, version and checksum for some crates and all their dependencies, sorted; all versions if a
/// crate has several.
///
/// # Errors
/// The name of the missing crate.
pub fn linked<'a>(lock: &'a str, crates: &'a BTreeSet<String>) -> Result<Vec<String>, &'a str> {
    let packages = packages(lock);
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = crates.iter().map(String::as_str).collect();
    while let Some(name) = open.pop() {
        if !seen.insert(name) {
            continue;
        }
        for package in packages.get(name).ok_or(name)? {
            found.insert(format!("{name} {} {}", package.version, package.checksum));
            open.extend(&package.dependencies);
        }
    }
    Ok(found.into_iter().collect())
}

/// The locked crates by name.
fn packages(lock: &str) -> BTreeMap<&str, Vec<Package<'_>>> {
    let mut found: BTreeMap<&str, Vec<Package<'_>>> = BTreeMap::new();
    for text in lock.split("[[package]]").skip(1) {
        let mut name = "";
        let mut package = Package::default();
        for line in text.lines().map(str::trim) {
            if let Some((key, value)) = line.split_once(" = ") {
                let value = value.trim_matches('"');
                match key {
                    "name" => name = value,
                    "version" => package.version = value,
                    "checksum" => package.checksum = value,
                    _ => {}
                }
            } else if let Some(word) = line.strip_prefix('"') {
                // A name, and a version where several are locked.
                package
                    .dependencies
                    .push(word.split(['"', ' ']).next().unwrap_or(word));
            }
        }
        found.entry(name).or_default().push(package);
    }
    found
}
