//! Notes are read as they were written, in both forms, and each region has its own factor.

use super::{ns, open};
use goal::replay::{ReplayRegionRow, ReplayResult, on_ideal};
use goal::{
    RegionLimit, Scales, Schedule, Trace, TraceNotes, TraceProcessor, TraceRegion, write_text,
};
use kernel::Limits;
use std::fs;
use std::sync::atomic::AtomicBool;
use units::{Rate, Time};

const TEXT: &str = "//@ poll 100 ns
//@ processor 1.4 ns 9 GB/s
//@ region 1 processor part 7
//@ region 2 memory MPI_Wait a+0x1 > MPI_Send a+0x2 //@ 9
//@ anything else
num_ranks 2
rank 0 {
a: calc 1000 cpu 1 //@ 1
b: calc 2000 cpu 1 //@ 2
b requires a
c: calc 500 // @ 1
c requires b //@ 1
}
rank 1 {
calc 3000 cpu 1 //@ 2
calc 10 //@no number
send 0b to 0 //@ 1
}
";

fn notes() -> TraceNotes {
    let region = |name: &str, bound| TraceRegion {
        name: name.into(),
        bound,
    };
    TraceNotes {
        poll: Time::from_ns(100),
        regions: vec![
            region("part 7", RegionLimit::Processor),
            region("MPI_Wait a+0x1 > MPI_Send a+0x2 //@ 9", RegionLimit::Memory),
        ],
        processor: Some(TraceProcessor {
            step: Time::from_ps(1400),
            memory: Some(Rate::from_bytes_per_second(9_000_000_000)),
        }),
    }
}

/// Each operation's region.
fn of_operations(trace: &mut Trace) -> Vec<Vec<u32>> {
    let ranks = 0..trace.ranks();
    let numbers = |schedule: Schedule| {
        let operations = schedule.operations.iter();
        operations.map(|operation| operation.region).collect()
    };
    ranks
        .map(|rank| numbers(trace.schedule(rank).unwrap()))
        .collect()
}

fn again(trace: &mut Trace) -> Trace {
    let mut bytes = Vec::new();
    trace.write_binary(&mut bytes).unwrap();
    read(&bytes)
}

fn read(bytes: &[u8]) -> Trace {
    let name = format!("goal-regions-{}.goal", std::process::id());
    let path = std::env::temp_dir().join(name);
    fs::write(&path, bytes).unwrap();
    let trace = Trace::open(&path);
    fs::remove_file(&path).unwrap();
    trace.unwrap_or_else(|problem| panic!("{problem}"))
}

#[test]
fn both_forms_have_the_notes() {
    let mut trace = open(TEXT);
    let expected = [vec![1, 2, 0], vec![2, 0, 0]];
    assert_eq!(trace.notes(), &notes());
    assert_eq!(of_operations(&mut trace), expected);
    let mut binary = again(&mut trace);
    assert_eq!(binary.notes(), &notes());
    assert_eq!(of_operations(&mut binary), expected);
}

/// Regions have a meaning by the notes at the end of a binary file.
#[test]
fn a_binary_file_without_its_notes_has_no_regions() {
    let mut bytes = Vec::new();
    open(TEXT).write_binary(&mut bytes).unwrap();
    let notes = b"poll 100 ns";
    let at = bytes.windows(notes.len()).position(|some| some == notes);
    bytes.truncate(at.expect("the notes are text") - 12);
    let mut trace = read(&bytes);
    assert!(trace.notes().regions.is_empty());
    assert_eq!(of_operations(&mut trace), [vec![0; 3], vec![0; 3]]);
}

#[test]
fn what_is_written_is_read() {
    let mut trace = open(TEXT);
    let ranks: Vec<_> = (0..2).map(|rank| trace.schedule(rank).unwrap()).collect();
    let mut text = Vec::new();
    write_text(&mut text, "a head", &ranks, trace.notes()).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("calc 1000 cpu 1 //@ 1\n"), "{text}");
    let mut written = open(&text);
    assert_eq!(written.notes(), &notes());
    assert_eq!(of_operations(&mut written), of_operations(&mut trace));
}

/// The rate of the memory may be unknown; zeros are no processor.
#[test]
fn a_processor_may_have_a_step_time_alone() {
    let text = TEXT.replace("1.4 ns 9 GB/s", "1.4 ns");
    let known = open(&text).notes().processor.expect("a step time");
    assert_eq!((known.step, known.memory), (Time::from_ps(1400), None));
    for wrong in ["0 ns 9 GB/s", "1.4 ns 0 GB/s", "0 ns"] {
        let text = TEXT.replace("1.4 ns 9 GB/s", wrong);
        assert!(open(&text).notes().processor.is_none(), "{wrong}");
    }
}

/// Without notes, comments behind computations have no meaning.
#[test]
fn other_comments_are_no_regions() {
    let mut trace = open("num_ranks 1\nrank 0 {\ncalc 5 //@ 1\ncalc 6 //@ region\n}\n");
    assert!(trace.notes().regions.is_empty());
    assert_eq!(of_operations(&mut trace), [vec![0, 0]]);
}

fn refused(text: &str) -> String {
    let path = std::env::temp_dir().join(format!("goal-refused-{}.goal", std::process::id()));
    fs::write(&path, text).unwrap();
    let problem = Trace::open(&path).err().expect("it is refused");
    fs::remove_file(&path).unwrap();
    problem.to_string()
}

#[test]
fn wrong_notes_are_refused() {
    let order = refused("//@ region 2 memory a\nnum_ranks 1\nrank 0 {\n}\n");
    assert!(order.contains(":1: the note defines region 2"), "{order}");
    let step = refused("//@ poll 2 s\nnum_ranks 1\nrank 0 {\n}\n");
    assert!(step.contains(":1: polls look again after 2 s;"), "{step}");
    let unknown = refused("//@ region 1 memory a\nnum_ranks 1\nrank 0 {\ncalc 5 //@ 2\n}\n");
    assert!(unknown.contains(":4: there is no region 2"), "{unknown}");
}

fn scaled(classes: &[[f64; 3]], ranks: &[u32]) -> ReplayResult {
    let classes = classes.iter().map(|class| class.to_vec()).collect();
    let scales = Scales::new(classes, ranks.to_vec(), (2, 2)).unwrap();
    let text = TEXT.replace("send 0b to 0 //@ 1\n", "");
    let trace = open(&text).scaled(scales);
    on_ideal(trace, true, Limits::default(), &AtomicBool::new(false)).unwrap()
}

/// Rank 0 computes one region after the other.
#[test]
fn a_region_takes_its_time_times_its_factor() {
    let both = scaled(&[[1.0, 0.5, 3.0], [2.0, 9.0, 0.25]], &[0, 1]);
    assert_eq!(both.ranks[0].end, ns(500 + 6000 + 500));
    assert_eq!(both.ranks[1].end, ns(750));
    let row = |region, executions, computed, longest: (u32, u64)| ReplayRegionRow {
        region,
        executions,
        computed: ns(computed),
        longest: (longest.0, ns(longest.1)),
    };
    let expected = [
        row(0, 2, 520, (0, 500)),
        row(1, 1, 500, (0, 500)),
        row(2, 2, 6750, (0, 6000)),
    ];
    assert_eq!(both.regions, expected);
    let one = scaled(&[[1.0, 1.0, 1.0]], &[0, 0]);
    assert_eq!(one.time, ns(3500));
}

#[test]
fn factors_fit_the_trace() {
    let wrong = |classes: Vec<Vec<f64>>, ranks| Scales::new(classes, ranks, (2, 1)).is_err();
    assert!(wrong(vec![vec![1.0, 1.0]], vec![0]));
    assert!(wrong(vec![vec![1.0]], vec![0, 0]));
    assert!(wrong(vec![vec![1.0, 1.0]], vec![0, 1]));
    assert!(wrong(vec![vec![1.0, f64::NAN]], vec![0, 0]));
    assert!(wrong(vec![vec![1.0, -1.0]], vec![0, 0]));
    assert!(!wrong(vec![vec![0.0, 2.0]], vec![0, 0]));
}
