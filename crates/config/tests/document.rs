//! Places of problems, overrides and suggestions, on small documents.

use config::{Document, Override, Problem, Problems, nearest};
use serde::Deserialize;
use toml_edit::{Item, Value};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    #[serde(default)]
    inner: Inner,
    #[serde(default)]
    list: Vec<Inner>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Inner {
    name: String,
    number: u32,
    numbers: Vec<u32>,
}

const TEXT: &str = "title = \"T\"\n\n[inner]\nnumber = 1\nnumbers = [\n  1,\n  2,\n]\n\n[[list]]\n\
    name = \"a\"\nnumber = 2\n\n[[list]]\nname = \"b\"\n";

fn parse(text: &str) -> Document {
    Document::parse("f.toml", text).unwrap()
}

fn set(document: Document, change: &str) -> Result<Document, Problems> {
    let change = Override::parse(change)?;
    let replace = |item: &mut Item, value: Value| {
        let value_or_new = !item.is_table_like() && !item.is_array_of_tables();
        if value_or_new {
            *item = value.into();
        }
        value_or_new
    };
    document.with_override(&change, &change.key, replace)
}

/// File, line, column, key.
fn place(problem: &Problem) -> (&str, usize, usize, &str) {
    (&problem.file, problem.line, problem.column, &problem.key)
}

#[track_caller]
fn read_error(text: &str) -> Problem {
    parse(text)
        .read::<File>()
        .expect_err("the text is wrong")
        .0
        .remove(0)
}

#[test]
fn problems_are_where_their_keys_are() {
    let document = parse(TEXT);
    for (path, line, column, key) in [
        ("title", 1, 9, "title"),
        ("inner", 3, 1, "inner"),
        ("inner.number", 4, 10, "inner.number"),
        ("inner.numbers.1", 7, 3, "inner.numbers"),
        ("inner.missing", 3, 1, "inner.missing"),
        ("list.0.number", 12, 10, "list.a.number"),
        ("list.1", 14, 1, "list.b"),
        ("list.b.name", 15, 8, "list.b.name"),
        ("list.1.number", 14, 1, "list.b.number"),
        ("nothing.at.all", 1, 1, "nothing.at.all"),
    ] {
        assert_eq!(
            place(&document.problem(path, "wrong")),
            ("f.toml", line, column, key),
            "{path}"
        );
    }
}

#[test]
fn columns_are_characters() {
    let problem = read_error("title = \"é\"\ninner = { name = \"éé\", number = -1 }\n");
    assert_eq!((problem.line, problem.column), (2, 33));
    assert!(problem.render(false).contains("f.toml:2:33"), "{problem:?}");
    assert!(problem.render(true).contains('\u{1b}') && !problem.render(false).contains('\u{1b}'));
}

#[test]
fn spans_outside_the_text_are_cut() {
    for span in [0..100, 3..100, 100..200, 2..2, 1..3] {
        let problem = Problem::new("f", "aéb", span.clone(), "k", "m");
        assert!(
            problem.span.start <= problem.span.end && problem.span.end <= 4,
            "{span:?}"
        );
        assert!(problem.render(false).contains("k: m"), "{span:?}");
    }
}

#[test]
fn problems_are_in_the_order_of_the_file() {
    let document = parse(TEXT);
    let problems =
        ["list.b.name", "title", "inner.number"].map(|path| document.problem(path, "wrong"));
    let sorted = Problems::check(problems.into(), ()).unwrap_err();
    let keys: Vec<_> = sorted
        .0
        .iter()
        .map(|problem| problem.key.as_str())
        .collect();
    assert_eq!(keys, ["title", "inner.number", "list.b.name"]);
    assert_eq!(sorted.to_string().matches("error: ").count(), 3);
    assert_eq!(Problems::check(Vec::new(), 5), Ok(5));
}

#[test]
fn missing_keys_point_at_their_section() {
    let problem = read_error("[inner]\nnumber = 1\n");
    assert_eq!(place(&problem), ("f.toml", 1, 1, "title"));
    assert_eq!(problem.message, "this key is missing");
}

#[test]
fn types_are_told_in_plain_words() {
    let words = |text: &str| {
        let problem = read_error(text);
        let allowed = problem.allowed.unwrap_or_default();
        format!(
            "{} | {} | {}",
            problem.message,
            allowed,
            problem.hint.unwrap_or_default()
        )
    };
    for line in TYPES.lines() {
        let (text, expected) = line.split_once(" => ").expect("two columns");
        assert_eq!(words(&text.replace("; ", "\n")).trim_end(), expected);
    }
}

/// A text, with `; ` between its lines, and its problem: the message, the allowed values, the hint.
const TYPES: &str = r#"title = 5 => the number 5 does not fit here | a text in quotes | write "5", with quotes
title = true => true does not fit here | a text in quotes | write "true", with quotes
title = [] => a list does not fit here | a text in quotes |
titel = "T" => this key is unknown | title, inner, list | did you mean `title`?
title = "T"; inner = 5 => the number 5 does not fit here | a table of keys |
title = "T"; [list]; name = "a" => a table does not fit here | a list in brackets | if it is a section, write its name in two pairs of brackets: [[name]]
title = "T"; [inner]; numbers = 5 => the number 5 does not fit here | a list in brackets | for a list of one, write [5]
title = "T"; [inner]; number = 1e3 => the number 1000.0 does not fit here | a whole number |"#;

#[test]
fn an_override_replaces_a_value_or_adds_a_key() {
    let document = set(parse(TEXT), "inner.number=7").unwrap();
    let document = set(document, "list.b.number=8").unwrap();
    let document = set(document, "inner.numbers=[9]").unwrap();
    let document = set(document, "list.0.name=x").unwrap();
    let file: File = document.read().unwrap();
    assert_eq!((file.inner.number, file.inner.numbers), (7, vec![9]));
    assert_eq!((file.list[0].name.as_str(), file.list[1].number), ("x", 8));

    let short = set(parse("title = \"T\""), "inner.number=7").unwrap();
    assert_eq!(
        short.read::<File>().unwrap().inner.number,
        7,
        "the section did not exist"
    );
}

#[test]
fn problems_of_overrides_are_shown_in_their_own_text() {
    let document = set(parse(TEXT), "inner.numbers=[1, -5]").unwrap();
    let problem = document.read::<File>().unwrap_err().0.remove(0);
    assert_eq!(
        place(&problem),
        ("--set inner.numbers", 1, 19, "inner.numbers")
    );
    let wanted = document.problem("inner.numbers.0", "wrong");
    assert_eq!(
        place(&wanted),
        ("--set inner.numbers", 1, 16, "inner.numbers")
    );
    // The other keys are where they were, though three lines are gone.
    assert_eq!(
        place(&document.problem("list.0.number", "wrong")),
        ("f.toml", 12, 10, "list.a.number")
    );
}

#[test]
fn wrong_overrides() {
    for (change, message) in [
        ("novalue", "an override is KEY=VALUE"),
        ("=5", "an override is KEY=VALUE"),
        ("inner=5", "this is a section, not a value"),
        ("list=5", "this is a section, not a value"),
        ("list.c.number=5", "there is no `c` in f.toml"),
        ("list.2.number=5", "there is no `2` in f.toml"),
        ("title.deep.down=5", "`title` is a value, and has no keys"),
        (
            "inner.numbers=[5",
            "this is not TOML: unclosed array, expected `]`",
        ),
    ] {
        let problems = set(parse(TEXT), change).expect_err(change);
        assert_eq!(problems.0[0].message, message, "{change}");
        assert!(problems.0[0].file.starts_with("--set"), "{change}");
    }
}

#[test]
fn suggestions_are_near() {
    assert_eq!(
        nearest("hop_dealy", ["rate", "hop_delay", "flit"]),
        Some("hop_delay")
    );
    assert_eq!(nearest("", ["rate"]), None);
    assert_eq!(nearest("zzz", ["rate", "flit"]), None);
}
