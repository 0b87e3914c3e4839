//! Wrong experiment files, some with pair files: `bad/NAME.toml`, and its error messages,
//! `bad/NAME.snap`. Files with the prefix `rails_` are planned on a machine with several rails.

mod common;

use common::{EXPERIMENT, GOOD_MACHINE, RAILS, plan_file, plan_on, snapshot};
use experiment::MachineFile;
use std::path::Path;

#[test]
fn every_wrong_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<_> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    assert!(files.len() > 80);
    // The folder with pair files.
    std::env::set_current_dir(&folder).unwrap();
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let file = format!("{name}.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        let overrides: &[&str] = if text.contains("\"half\"") {
            &["topology.nodes=32"]
        } else {
            &[]
        };
        let machine = MachineFile {
            text: if name.starts_with("rails_") {
                RAILS
            } else {
                GOOD_MACHINE.text
            },
            ..GOOD_MACHINE
        };
        match plan_on(machine, (&file, &text), overrides) {
            Ok(_) => panic!("{file} is wrong"),
            Err(problems) => snapshot(name, &problems),
        }
    }
}

/// For any cut or missing part, there is a plan or an error with a place, never a panic.
#[test]
fn any_cut_and_any_gap() {
    let outcome = |text: &str| {
        if let Err(problems) = plan_file("cut.toml", text, &[]) {
            assert!(
                problems.render(true).contains("cut.toml") && problems.0[0].line > 0,
                "{text}"
            );
        }
    };
    for text in [
        EXPERIMENT,
        include_str!("two_jobs.toml"),
        include_str!("collectives.toml"),
        include_str!("allocation.toml"),
        include_str!("overlap.toml"),
        include_str!("trace.toml"),
        include_str!("rails.toml"),
        include_str!("saturation.toml"),
        include_str!("precision.toml"),
        include_str!("faults.toml"),
    ] {
        for (index, letter) in text.char_indices() {
            let (before, after) = text.split_at(index);
            outcome(before);
            outcome(&[before, &after[letter.len_utf8()..]].concat());
            outcome(&[before, "é=", after].concat());
        }
    }
}
