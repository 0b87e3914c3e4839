//! Wrong machine files and their error messages.
//!
//! Each case is `good.toml` with one mistake, recorded as the replaced text and its replacement;
//! the message is in `bad/NAME.snap`. Cases with several rails have the section from `rails.toml`
//! at their end.

mod mistakes;

use config::Problems;
use machine::Machine;
use mistakes::MISTAKES;

const GOOD: &str = include_str!("good.toml");
const RAILS: &str = include_str!("rails.toml");

/// A valid cause of noise, to be put into `good.toml`.
const TICK: &str = r#"[noise.tick]
cpu = { value = 1, source = "test" }
interval = { value = "1 ms", source = "test" }
duration = { value = "2 us", source = "test" }
durations = { value = "exponential", source = "test" }
"#;

/// The same for mistakes in it.
#[rustfmt::skip]
const MISTAKES_OF_NOISE: &[(&str, &str, &str)] = &[
    ("noise_missing_key", "duration = { value = \"2 us\", source = \"test\" }\n", ""),
    ("noise_unknown_key", "interval =", "intervall ="),
    ("noise_bare_number", r#""1 ms""#, "1"),
    ("noise_without_source", r#"{ value = "2 us", source = "test" }"#, r#""2 us""#),
    ("noise_no_name", "noise.tick", "noise.\"the tick\""),
    ("noise_no_cause", "[noise.tick]", "[noise]"),
    ("noise_no_such_cpu", "value = 1,", "value = 4,"),
    ("noise_negative_cpu", "value = 1,", "value = -1,"),
    ("noise_cpu_is_a_word", "value = 1,", "value = \"every\","),
    ("noise_unknown_distribution", "\"exponential\"", "\"normal\""),
    ("noise_interval_too_short", r#""1 ms""#, r#""10 ns""#),
    ("noise_takes_too_much", r#""2 us""#, r#""950 us""#),
    ("noise_empty_list", r#"duration = { value = "2 us""#, "duration = { value = []"),
    (
        "noise_list_of_times",
        r#"duration = { value = "2 us""#,
        r#"duration = { value = ["2 us", "3 us"]"#
    ),
    (
        "noise_count_0",
        r#"duration = { value = "2 us""#,
        r#"duration = { value = [["2 us", 5], ["3 us", 0]]"#
    ),
    ("noise_counted_too_often", r#""1 ms""#, r#"[["86400 s", 1000000]]"#),
    ("noise_counted_twice", r#""2 us""#, r#"[["2 us", 5]]"#),
];

/// A valid fault with recovery times, to be put into `good.toml`.
const FAULT: &str = r#"[[fault]]
link = "switch 1.2, port 5"
at = "3 ms"
for = "1 ms"

[faults]
timeout = { value = "1 ms", source = "test" }
"#;

/// The same for mistakes in it.
#[rustfmt::skip]
const MISTAKES_OF_FAULTS: &[(&str, &str, &str)] = &[
    ("fault_is_a_section", "[[fault]]", "[fault]"),
    ("fault_unknown_key", "at =", "att ="),
    ("fault_bare_number", r#""3 ms""#, "3"),
    ("fault_without_part", "link = \"switch 1.2, port 5\"\n", ""),
    ("fault_two_parts", "[[fault]]\n", "[[fault]]\nnode = 3\n"),
    ("fault_without_time", "at = \"3 ms\"\nfor = \"1 ms\"\n", ""),
    ("fault_for_without_at", "at = \"3 ms\"\n", ""),
    ("fault_rate_of_a_moment", "for = \"1 ms\"", "rate = \"100 MB/s\""),
    ("fault_rate_of_a_fast_link", "at = \"3 ms\"\nfor = \"1 ms\"", "rate = \"400 MB/s\""),
    ("fault_no_such_switch", "switch 1.2,", "switch 1.22,"),
    ("fault_no_such_port", "port 5", "port 8"),
    ("fault_half_a_cable", "switch 1.2, port 5", "switch 1.2"),
    ("fault_no_cable", "switch 1.2, port 5", "cable 7"),
    ("fault_too_late", r#""3 ms""#, r#""3000 s""#),
    ("fault_lasts_no_time", r#"for = "1 ms""#, r#"for = "0 ms""#),
    ("faults_unknown_key", "timeout", "time_out"),
    ("faults_without_source", r#"{ value = "1 ms", source = "test" }"#, r#""1 ms""#),
    ("faults_timeout_0", r#"value = "1 ms""#, r#"value = "0 ms""#),
];

/// The same for `rails.toml`.
#[rustfmt::skip]
const MISTAKES_WITH_RAILS: &[(&str, &str, &str)] = &[
    ("rails_0", "count = { value = 4,", "count = { value = 0,"),
    ("rails_32", "count = { value = 4,", "count = { value = 32,"),
    ("rails_negative", "count = { value = 4,", "count = { value = -1,"),
    ("rails_half", "count = { value = 4,", "count = { value = 1.5,"),
    ("rails_unknown_policy", "\"dynamic\"", "\"local_dynamic\""),
    ("rails_policy_is_a_number", "\"dynamic\"", "3"),
    ("rails_static_too_few", "\"dynamic\"", "\"static\""),
    ("rails_striping_below_0", "striping = { value = 0.5,", "striping = { value = -0.01,"),
    ("rails_striping_above_1", "striping = { value = 0.5,", "striping = { value = 1.01,"),
    ("rails_striping_nan", "striping = { value = 0.5,", "striping = { value = nan,"),
    ("rails_striping_nan_as_text", "striping = { value = 0.5,", "striping = { value = \"NaN\","),
    ("rails_striping_infinite", "striping = { value = 0.5,", "striping = { value = inf,"),
    (
        "rails_threshold_no_size",
        "threshold = { value = \"8 KB\",",
        "threshold = { value = \"short\","
    ),
    (
        "rails_threshold_negative",
        "threshold = { value = \"8 KB\",",
        "threshold = { value = \"-1 KB\","
    ),
    ("rails_threshold_bare", "threshold = { value = \"8 KB\",", "threshold = { value = 8192,"),
    (
        "rails_threshold_is_a_time",
        "threshold = { value = \"8 KB\",",
        "threshold = { value = \"8 us\","
    ),
    (
        "rails_threshold_too_long",
        "threshold = { value = \"8 KB\",",
        "threshold = { value = \"8000 MB\","
    ),
    ("rails_handle_too_long", "handle = { value = 200,", "handle = { value = 1048577,"),
    ("rails_poll_0", "poll = { value = \"1 us\",", "poll = { value = \"0 us\","),
    ("rails_poll_below_a_cycle", "poll = { value = \"1 us\",", "poll = { value = \"4999 ps\","),
    ("rails_poll_bare", "poll = { value = \"1 us\",", "poll = { value = 200,"),
    (
        "rails_unknown_status",
        "poll = {",
        "status = { value = \"word\", source = \"test\" }\npoll = {",
    ),
    (
        "rails_unknown_choice",
        "poll = {",
        "choice = { value = \"received\", source = \"test\" }\npoll = {",
    ),
    ("rails_unknown_key", "striping =", "stripping ="),
    ("rails_missing_key", "threshold = { value = \"8 KB\", source = \"test\" }\n", ""),
    ("rails_without_source", "{ value = 4, source = \"test\" }", "4"),
    ("rails_section_misspelt", "[rails]", "[rail]"),
];

#[test]
fn one_mistake() {
    for (name, found, replacement) in MISTAKES {
        assert_eq!(
            GOOD.matches(found).count(),
            1,
            "{name}: the text to replace must be in good.toml once"
        );
        let text = GOOD.replacen(found, replacement, 1);
        snapshot(name, Machine::parse("bad.toml", &text, &[]).map(|_| ()));
    }
}

#[test]
fn one_mistake_about_noise() {
    let with = |tick: &str| GOOD.replacen("[tport]", &format!("{tick}\n[tport]"), 1);
    Machine::parse("good.toml", &with(TICK), &[]).unwrap_or_else(|problems| panic!("{problems}"));
    for (name, found, replacement) in MISTAKES_OF_NOISE {
        assert_eq!(TICK.matches(found).count(), 1, "{name}");
        let text = with(&TICK.replacen(found, replacement, 1));
        snapshot(name, Machine::parse("bad.toml", &text, &[]).map(|_| ()));
    }
}

#[test]
fn one_mistake_about_faults() {
    let with = |fault: &str| GOOD.replacen("[tport]", &format!("{fault}\n[tport]"), 1);
    Machine::parse("good.toml", &with(FAULT), &[]).unwrap_or_else(|problems| panic!("{problems}"));
    for (name, found, replacement) in MISTAKES_OF_FAULTS {
        assert_eq!(FAULT.matches(found).count(), 1, "{name}");
        let text = with(&FAULT.replacen(found, replacement, 1));
        snapshot(name, Machine::parse("bad.toml", &text, &[]).map(|_| ()));
    }
    let faulty = [&with(FAULT), RAILS].concat();
    snapshot(
        "fault_without_rail",
        Machine::parse("bad.toml", &faulty, &[]).map(|_| ()),
    );
}

#[test]
fn one_mistake_with_rails() {
    for (name, found, replacement) in MISTAKES_WITH_RAILS {
        assert_eq!(
            RAILS.matches(found).count(),
            1,
            "{name}: the text to replace must be in rails.toml once"
        );
        let text = [GOOD, &RAILS.replacen(found, replacement, 1)].concat();
        snapshot(name, Machine::parse("bad.toml", &text, &[]).map(|_| ()));
    }
}

/// Static allocation needs as many rails as in the paper: 6 for 20 nodes (coll2003 figure 4).
#[test]
fn twenty_nodes_need_six_rails() {
    let text = |rails: &str| {
        let section = RAILS.replace("\"dynamic\"", "\"static\"");
        let text = [GOOD, &section.replace("value = 4,", rails)].concat();
        text.replace("nodes = { value = 64,", "nodes = { value = 20,")
    };
    let parse = |rails| Machine::parse("bad.toml", &text(rails), &[]).map(|_| ());
    snapshot("rails_static_of_20", parse("value = 5,"));
    parse("value = 6,").expect("six are enough");
}

/// Both ends of each range, and whole numbers where others are allowed, too.
#[test]
fn what_rails_may_say() {
    let good = [GOOD, RAILS].concat();
    for (found, replacement) in [
        ("striping = { value = 0.5,", "striping = { value = 0,"),
        ("striping = { value = 0.5,", "striping = { value = 1,"),
        ("count = { value = 4,", "count = { value = 1,"),
        ("count = { value = 4,", "count = { value = 31,"),
        (
            "threshold = { value = \"8 KB\",",
            "threshold = { value = \"0 B\",",
        ),
        ("handle = { value = 200,", "handle = { value = 0,"),
        ("poll = { value = \"1 us\",", "poll = { value = \"5 ns\","),
        ("\"dynamic\"", "\"local-dynamic\""),
    ] {
        assert!(good.contains(found));
        let text = good.replace(found, replacement);
        let machine = Machine::parse("good.toml", &text, &[]);
        machine.unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    }
}

/// A dragonfly with Valiant's routing needs three channels per link for each traffic class.
#[test]
fn each_traffic_class_needs_the_channels_of_the_routing() {
    let keys = [
        ("kind", "\"dragonfly\""),
        ("terminals", "2"),
        ("group", "4"),
        ("global", "2"),
        ("groups", "9"),
        ("routing", "\"valiant\""),
    ];
    let line =
        |(key, value): (&str, &str)| format!("{key} = {{ value = {value}, source = \"test\" }}\n");
    let machine = |channels: u32, classes: u32| {
        let channels = format!("channels = {{ value = {channels}, source = \"test\" }}\n")
            + &line(("classes", &classes.to_string()));
        let tree = GOOD.find("down = ").expect("a key")..GOOD.find("\n[link]").expect("a section");
        let text = GOOD.replace(&GOOD[tree], &keys.map(line).concat());
        let text = text.replace("channels = { value = 2, source = \"test\" }\n", &channels);
        Machine::parse("bad.toml", &text, &[]).map(drop)
    };
    machine(6, 2).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    machine(32, 10).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    snapshot("classes_of_a_dragonfly", machine(5, 2));
    snapshot("classes_beyond_a_dragonfly", machine(32, 11));
}

#[test]
fn several_at_once() {
    let text = GOOD
        .replace("= { value = 2,", "= { value = 0,")
        .replace("55 ns", "57 ns")
        .replace("[4, 4],", "[4],");
    let Err(problems) = Machine::parse("bad.toml", &text, &[]) else {
        panic!("this file is wrong")
    };
    assert_eq!(problems.0.len(), 5, "{}", problems.render(false));
    snapshot("several_at_once", Err(problems));
}

/// The good file, read with lines that end as on Windows, has its mistakes at the same places.
#[test]
fn line_ends_do_not_move_places() {
    let text = GOOD.replace("55 ns", "57 ns");
    let problem = |text: &str| {
        Machine::parse("bad.toml", text, &[])
            .expect_err("this file is wrong")
            .0
            .remove(0)
    };
    let (unix, windows) = (problem(&text), problem(&text.replace('\n', "\r\n")));
    assert_eq!((unix.line, unix.column), (windows.line, windows.column));
    assert_eq!(unix.message, windows.message);
}

/// Every message names the file, the place and the key, and has the allowed values or a remedy.
fn snapshot(name: &str, outcome: Result<(), Problems>) {
    let Err(problems) = outcome else {
        panic!("{name}: this file is wrong")
    };
    let rendered = problems.render(false);
    for problem in &problems.0 {
        let place = format!("bad.toml:{}:{}", problem.line, problem.column);
        assert!(
            rendered.contains(&place),
            "{name}: no {place} in\n{rendered}"
        );
        assert!(
            !problem.message.is_empty() && rendered.starts_with("error: "),
            "{name}: {rendered}"
        );
    }
    insta::with_settings!({
        snapshot_path => "bad", prepend_module_to_snapshot => false, omit_expression => true
    }, {
        insta::assert_snapshot!(name, rendered);
    });
}

/// For any cut or missing part, there is a machine or an error with a place, never a panic.
#[test]
fn any_cut_and_any_gap() {
    let outcome = |text: &str| {
        if let Err(problems) = Machine::parse("cut.toml", text, &[]) {
            assert!(
                problems.render(true).contains("cut.toml") && problems.0[0].line > 0,
                "{text}"
            );
        }
    };
    let good = [GOOD, RAILS].concat();
    for (index, letter) in good.char_indices() {
        let (before, after) = good.split_at(index);
        outcome(before);
        outcome(&[before, &after[letter.len_utf8()..]].concat());
        outcome(&[before, "9", after].concat());
    }
}
