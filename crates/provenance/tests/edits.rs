//! Edits in a small workspace: which ones change the fingerprint of its crate `upper`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use provenance::Fingerprint;

const FILES: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        r#"[workspace]
members = ["upper", "lower", "other"]

[workspace.package]
version = "1.2.3"
edition = "2024"

[workspace.dependencies]
lower = { path = "lower", package = "small-lower" }
other = { path = "other", package = "small-other" }
hash = "1.0" # a comment
unused = "3"

[workspace.lints.clippy]
pedantic = "warn"

[profile.release]
overflow-checks = true
"#,
    ),
    (
        "Cargo.lock",
        r#"version = 4

[[package]]
name = "deep"
version = "0.3.0"
source = "registry"
checksum = "dddd"

[[package]]
name = "hash"
version = "1.0.7"
source = "registry"
checksum = "aaaa"
dependencies = [
 "deep 0.3.0",
]

[[package]]
name = "small-upper"
version = "1.2.3"
dependencies = [
 "hash",
 "unused",
]

[[package]]
name = "unused"
version = "3.0.0"
source = "registry"
checksum = "uuuu"
"#,
    ),
    (
        "upper/Cargo.toml",
        r#"[package]
name = "small-upper"
edition.workspace = true

[dependencies]
hash.workspace = true
lower = { workspace = true, features = ["text"] }

[dev-dependencies]
unused.workspace = true

[[test]]
name = "all"
"#,
    ),
    (
        "upper/src/lib.rs",
        r##"//! About the crate.

mod deep;
#[cfg(test)]
mod tests;

/// The limit.
pub const LIMIT: u64 = 70; // in cycles
pub const PLACE: &str = "https://place"; /* a /* nested */ comment */
pub const TEXT: &str = "one \" quote
// a line of the text
";
pub const RAW: &str = r#"raw "text" // with slashes"#;
pub const MARK: char = '"'; // it's no string
pub fn first<'a>(all: &'a [char]) -> &'a char { &all[0] }
pub const ESCAPED: char = '\''; // nor is this
"##,
    ),
    (
        "upper/src/deep/mod.rs",
        "pub fn double(x: u64) -> u64 {\n    2 * x\n}\n",
    ),
    ("upper/src/tests.rs", "#[test]\nfn works() {}\n"),
    ("upper/src/snapshots/one.snap", "one\n"),
    ("upper/src/deep/tests/more.rs", "#[test]\nfn works() {}\n"),
    ("upper/tests/all.rs", "#[test]\nfn works() {}\n"),
    ("upper/build.rs", "fn main() {}\n"),
    (
        "lower/Cargo.toml",
        "[package]\nname = \"small-lower\"\n\n[features]\ntext = []\n",
    ),
    ("lower/src/lib.rs", "pub const RATE: u64 = 5;\n"),
    ("lower/src/table.txt", "1 2 3\n"),
    ("other/Cargo.toml", "[package]\nname = \"small-other\"\n"),
    ("other/src/lib.rs", "pub const UNUSED: u64 = 5;\n"),
];

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The small workspace in a new folder.
fn workspace() -> Folder {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("provenance-{}-{number}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(name));
    for (file, text) in FILES {
        write(&folder.0, file, text);
    }
    folder
}

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
    fs::write(path, text).expect("a file is written");
}

fn hash(root: &Path) -> String {
    Fingerprint::of(root, &["upper"])
        .expect("all files are there")
        .hash
}

/// Whether an edit changes the fingerprint: `old` becomes `new`, at its only place in a file.
fn changes(file: &str, old: &str, new: &str) -> bool {
    let folder = workspace();
    let before = hash(&folder.0);
    let text = fs::read_to_string(folder.0.join(file)).expect("the file is there");
    assert_eq!(text.matches(old).count(), 1, "{old} in {file}");
    write(&folder.0, file, &text.replace(old, new));
    hash(&folder.0) != before
}

#[test]
fn the_folder_and_the_time_do_not_count() {
    let (one, other) = (workspace(), workspace());
    assert_eq!(hash(&one.0), hash(&other.0));
    assert_eq!(hash(&one.0).len(), 32);
}

#[test]
fn comments_white_space_tests_and_other_crates_do_not_count() {
    for (file, old, new) in [
        (
            "upper/src/lib.rs",
            "//! About the crate.\n\n",
            "//! About\n//! this crate.\n\n\n",
        ),
        ("upper/src/lib.rs", " // in cycles", ""),
        ("upper/src/lib.rs", "/// The limit.", "/// The most."),
        (
            "upper/src/lib.rs",
            "/* a /* nested */ comment */",
            "/* another */",
        ),
        (
            "upper/src/lib.rs",
            "// it's no string",
            "// \"it's\" 'a' character",
        ),
        ("upper/src/lib.rs", "// nor is this", ""),
        ("upper/src/deep/mod.rs", "{\n    2 * x\n}", "{ 2 * x }"),
        (
            "upper/src/deep/mod.rs",
            "{\n    2 * x\n}",
            "{\r\n\t2 * x\r\n}",
        ),
        ("upper/src/tests.rs", "works", "works_still"),
        ("upper/src/snapshots/one.snap", "one", "two"),
        ("upper/src/deep/tests/more.rs", "works", "works_still"),
        ("upper/tests/all.rs", "works", "works_still"),
        (
            "upper/Cargo.toml",
            "[dev-dependencies]\nunused.workspace = true\n",
            "",
        ),
        ("upper/Cargo.toml", "name = \"all\"", "name = \"some\""),
        ("other/src/lib.rs", "5", "6"),
        ("Cargo.toml", "1.2.3", "1.2.4"),
        ("Cargo.toml", "# a comment", ""),
        ("Cargo.toml", "unused = \"3\"", "unused = \"4\""),
        ("Cargo.toml", "pedantic = \"warn\"", "pedantic = \"deny\""),
        ("Cargo.lock", "uuuu", "vvvv"),
    ] {
        assert!(!changes(file, old, new), "{old:?} to {new:?} in {file}");
    }
}

#[test]
fn all_that_is_compiled_counts() {
    for (file, old, new) in [
        ("upper/src/lib.rs", "70", "71"),
        ("upper/src/lib.rs", "//place", "//plaza"),
        (
            "upper/src/lib.rs",
            "// a line of the text",
            "// another line of the text",
        ),
        ("upper/src/lib.rs", "// with slashes", "// without"),
        (
            "upper/src/lib.rs",
            "const MARK: char = '\"'",
            "const MARK: char = '/'",
        ),
        ("upper/src/lib.rs", "one \\\" quote\n", "one \\\" quote\n\n"),
        ("upper/src/lib.rs", "&all[0]", "&all[1]"),
        ("upper/src/deep/mod.rs", "2 * x", "2 *x"),
        ("upper/src/deep/mod.rs", "u64) -> u64", "u64)-> u64"),
        ("upper/build.rs", "{}", "{ panic!() }"),
        ("upper/Cargo.toml", "features = [\"text\"]", "features = []"),
        ("lower/Cargo.toml", "text = []", "text = [\"other\"]"),
        ("lower/src/lib.rs", "5", "6"),
        ("lower/src/table.txt", "1 2 3", "1 2 4"),
        ("Cargo.toml", "2024", "2021"),
        ("Cargo.toml", "hash = \"1.0\"", "hash = \"=1.0\""),
        (
            "Cargo.toml",
            "overflow-checks = true",
            "overflow-checks = false",
        ),
        ("Cargo.lock", "1.0.7", "1.0.8"),
        ("Cargo.lock", "aaaa", "bbbb"),
        ("Cargo.lock", "dddd", "eeee"),
    ] {
        assert!(changes(file, old, new), "{old:?} to {new:?} in {file}");
    }
}

#[test]
fn new_and_renamed_files_count() {
    let folder = workspace();
    let before = hash(&folder.0);
    write(&folder.0, "lower/src/new.rs", "");
    let with = hash(&folder.0);
    assert_ne!(with, before);
    fs::rename(
        folder.0.join("lower/src/new.rs"),
        folder.0.join("lower/src/old.rs"),
    )
    .expect("renamed");
    assert_ne!(hash(&folder.0), with);
    write(&folder.0, "lower/src/.old.rs.swp", "of an editor");
    fs::remove_file(folder.0.join("lower/src/old.rs")).expect("removed");
    assert_eq!(hash(&folder.0), before);
}

#[test]
fn a_comment_ends_where_rust_says() {
    // Between two texts that differ after text that only looks like a comment or a literal.
    for before in [
        "const A: &str = \"\\\\\"; ",
        "const A: char = '\\\\'; ",
        "const A: char = '/'; /* ' */ ",
        "const A: &[u8] = br##\"\"# /*\"##; ",
        "fn a<'a>() {} /* ' \" */ ",
        "/* /* */ \" */ ",
        "// \" /* \n",
        "const A: char = '\u{e9}'; // '\n",
        "const r#type: u8 = b'\"'; ",
        "loop { break 'r; } // \"\n",
    ] {
        let folder = workspace();
        let with = |text: &str| {
            write(&folder.0, "lower/src/lib.rs", &format!("{before}{text}"));
            hash(&folder.0)
        };
        let plain = with("const B: u8 = 1;");
        assert_eq!(
            plain,
            with("/* so */ const B: u8 = 1; // it is"),
            "{before}"
        );
        assert_ne!(plain, with("const B: u8 = 2;"), "{before}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let folder = workspace();
    fs::remove_file(folder.0.join("lower/Cargo.toml")).expect("removed");
    let error = Fingerprint::of(&folder.0, &["upper"]).expect_err("there is no manifest");
    assert!(error.to_string().contains("lower/Cargo.toml"), "{error}");
    let folder = workspace();
    write(&folder.0, "Cargo.lock", "version = 4\n");
    let error = Fingerprint::of(&folder.0, &["upper"]).expect_err("a crate is not locked");
    assert!(
        error.to_string().contains("there is no crate hash"),
        "{error}"
    );
}
