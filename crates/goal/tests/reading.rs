//! Traces are read as they were written, and any other input is refused with its place.

use goal::{ANY, Kind, Operation, Schedule, Trace, TracePlace, TraceProblem, encoding};
use proptest::prelude::*;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that is removed when its test ends.
struct Kept(PathBuf);

impl Kept {
    fn new(bytes: &[u8]) -> Kept {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("goal-reading-{}-{count}.goal", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).unwrap();
        Kept(path)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
    }
}

fn open(bytes: &[u8]) -> Result<Trace, TraceProblem> {
    Trace::open(&Kept::new(bytes).0)
}

fn text(schedules: &[Schedule]) -> String {
    let mut text = format!("num_ranks {}\n", schedules.len());
    for (rank, schedule) in schedules.iter().enumerate() {
        write!(text, "rank {rank} {{\n{schedule}}}\n").unwrap();
    }
    text
}

fn binary(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    open(text.as_bytes())
        .unwrap()
        .write_binary(&mut bytes)
        .unwrap();
    bytes
}

#[test]
#[cfg(target_os = "linux")]
fn other_users_cannot_open_the_binary_form() {
    use std::os::unix::fs::PermissionsExt;
    let _open = open(b"num_ranks 1\nrank 0 {\nl1: calc 5\n}\n").unwrap();
    let files = fs::read_dir("/proc/self/fd").unwrap();
    let modes: Vec<u32> = files
        .map(|file| file.unwrap().path())
        .filter(|file| {
            fs::read_link(file).is_ok_and(|to| to.to_string_lossy().contains("elanite-goal-"))
        })
        .filter_map(|file| Some(fs::metadata(file).ok()?.permissions().mode() & 0o777))
        .collect();
    assert!(
        !modes.is_empty() && modes.iter().all(|&mode| mode == 0o600),
        "{modes:?}"
    );
}

#[test]
fn a_byte_order_mark_is_skipped_and_other_encodings_are_named() {
    let text = b"num_ranks 1\nrank 0 {\nl1: calc 5\n}\n";
    let marked = [encoding::MARK, text].concat();
    assert_eq!(all(open(&marked).unwrap()), all(open(text).unwrap()));
    for (first, name) in [
        (&b"\x1f\x8b\x08"[..], "gzip; decompress it: gunzip FILE"),
        (b"BZh9", "bzip2; decompress it: bunzip2 FILE"),
        (b"\xfd7zXZ\0", "xz; decompress it: unxz FILE"),
        (b"\xff\xfen\0", "UTF-16; convert it: iconv"),
    ] {
        let problem = open(&[first, text].concat()).err().unwrap().to_string();
        assert!(problem.contains(name), "{problem}");
    }
}

/// A whole trace, with dependencies in number order.
fn all(mut trace: Trace) -> Vec<Schedule> {
    let ranks = 0..trace.ranks();
    let sorted = ranks.map(|rank| {
        let mut schedule = trace.schedule(rank).unwrap();
        schedule.dependencies.sort_unstable();
        schedule
    });
    sorted.collect()
}

const GOOD: &str = "
/* A comment
   of two lines. */
num_ranks 2 // and one more
rank 1 {
  l1: recv 10b from -1 tag -1
  l2: calc 7 cpu 3; l2 requires l1
  send 0b to 0 tag 4294967294 cpu 1 nic 2
}
rank 0 { first: send 10 b to 1 tag 5
  second_1: recv 1b from 1 nic 1
  first irequires second_1 }
";

#[test]
fn both_forms_say_the_same() {
    let one = Schedule {
        operations: vec![
            Operation::send(10, 1, 5),
            Operation {
                nic: 1,
                ..Operation::recv(1, 1, 0)
            },
        ],
        dependencies: vec![(0, 1, true)],
    };
    let calc = Operation {
        cpu: 3,
        ..Operation::calc(7)
    };
    let send = Operation {
        cpu: 1,
        nic: 2,
        ..Operation::send(0, 0, u32::MAX - 1)
    };
    let other = Schedule {
        operations: vec![Operation::recv(10, ANY, ANY), calc, send],
        dependencies: vec![(1, 0, false)],
    };
    let expected = [one, other];
    assert_eq!(all(open(GOOD.as_bytes()).unwrap()), expected);
    assert_eq!(all(open(&binary(GOOD)).unwrap()), expected);
}

/// The bytes that `txt2bin` makes, from the layout in its source, of `num_ranks 1`, `a: calc 5`,
/// `b: calc 6 cpu 1`, `b requires a`.
#[test]
fn the_binary_form_is_that_of_txt2bin() {
    let mut expected = Vec::new();
    let head: [&[u8]; 5] = [
        &4223_u64.to_le_bytes(),
        &1_u32.to_le_bytes(),
        &[1, 0],
        &22_u64.to_le_bytes(),
        &(22_u64 + 4 + 4 + 4 + 2 * 39 + 4).to_le_bytes(),
    ];
    expected.extend(head.concat());
    expected.extend([2_u32, 1, 0].map(u32::to_le_bytes).concat());
    for (waits, ns, cpu, later) in [
        (0_u32, 5_u64, 0_u8, [1_u32, 0, 0, 1]),
        (1, 6, 1, [0, 1, 0, 1]),
    ] {
        expected.extend(waits.to_le_bytes());
        expected.push(3);
        expected.extend(0_u32.to_le_bytes());
        expected.extend(ns.to_le_bytes());
        expected.extend(0_u32.to_le_bytes());
        expected.extend([cpu, 0]);
        expected.extend(later.map(u32::to_le_bytes).concat());
    }
    expected.extend(1_u32.to_le_bytes());
    let text = "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 6 cpu 1\nb requires a\n}\n";
    assert_eq!(binary(text), expected);
}

#[test]
fn a_bad_text_is_refused_with_its_line() {
    let rank = |body: &str| format!("num_ranks 2\nrank 0 {{\n{body}\n}}\nrank 1 {{\n}}\n");
    let cases = [
        (String::new(), 1, "begins with `num_ranks`"),
        ("num_ranks 0".into(), 1, "at least one rank"),
        ("num_ranks -2".into(), 1, "not `-2`"),
        ("num_ranks 1\nrank 1 { }".into(), 2, "there is no rank 1"),
        (
            "num_ranks 2888888888\nrank 0 { }".into(),
            1,
            "the 31 bytes of the file are too few",
        ),
        (
            "num_ranks 1\nrank 0 { }\nrank 0 { }".into(),
            3,
            "has a block already",
        ),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\n".into(),
            2,
            "the text ends within the block of rank 0",
        ),
        (rank("a: calc 1\na requires b"), 4, "no label `b`"),
        (
            rank("a: calc 1\nb: calc 1\n\na requires b\nb irequires a"),
            3,
            "form a circle",
        ),
        (rank("a: calc 1\na requires a"), 3, "form a circle"),
        (
            rank("send -5b to 1"),
            3,
            "the size of a message is negative: `-5`",
        ),
        (rank("calc -5"), 3, "is negative: `-5`"),
        (rank("calc 8640000000000001"), 3, "at most 100 days"),
        (rank("send 5b to 2 tag 1"), 3, "there is no rank 2"),
        (rank("send 5b to -1"), 3, "is negative: `-1`"),
        (rank("send 5b to 1 tag -1"), 3, "the tag is negative"),
        (rank("recv 5b from -2"), 3, "is negative: `-2`"),
        (rank("send 5b from 1"), 3, "`to` is missing before `from`"),
        (rank("send 5 to 1"), 3, "`b` is missing before `to`"),
        (
            rank("send"),
            3,
            "the size of a message is missing before the end of the line",
        ),
        (rank("send 5b to 1 tag"), 3, "the tag is missing"),
        (rank("send 5b to 1 nic 1 tag 2"), 3, "`tag` follows"),
        (rank("calc 1 nic 1"), 3, "`nic` follows"),
        (rank("calc 1 cpu 256"), 3, "the most is 255"),
        (rank("calc 99999999999999999999"), 3, "larger than 64 bits"),
        (rank("a: b: calc 1"), 3, "not `b`"),
        (rank("a = calc 1"), 3, "`=` belongs to no statement"),
        (rank("calc 1 / 2"), 3, "begins no comment"),
        (rank("calc 1 /* and\nso on"), 3, "has no end"),
        (rank(&"x".repeat(300)), 3, "longer than 255"),
        (rank("calc 1\0"), 3, "zero byte"),
    ];
    for (text, line, what) in cases {
        let problem = open(text.as_bytes()).map(|_| ()).expect_err(&text);
        assert_eq!(problem.place, TracePlace::Line(line), "{text}: {problem}");
        assert!(problem.what.contains(what), "{text}: {problem}");
    }
    let problem = open(b"num_ranks 2\nrank 1 { }").err().unwrap();
    assert_eq!(problem.place, TracePlace::File);
    assert!(problem.what.contains("rank 0 has no block"), "{problem}");
}

#[test]
fn a_bad_binary_file_is_refused_with_its_offset() {
    let good = binary(GOOD);
    for length in 8..good.len() {
        let problem = open(&good[..length]).err().unwrap();
        let damage = problem.to_string();
        assert!(
            matches!(problem.place, TracePlace::Offset(_)),
            "{length}: {damage}"
        );
    }
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        open(&bytes).err().unwrap()
    };
    // Rank 1 came first: 46 bytes of head, then counts and two roots.
    let first = 46 + 8 + 8;
    let kind = with(first + 4, 13);
    assert_eq!(kind.place, TracePlace::Offset(first as u64 + 4));
    assert!(kind.what.contains("an operation of kind 13"), "{kind}");
    let peer = with(first + 2 * 39 + 5, 7);
    assert_eq!(peer.place, TracePlace::Offset(first as u64 + 2 * 39));
    assert!(peer.what.contains("there is no such peer"), "{peer}");
    assert!(
        with(first, 1)
            .what
            .contains("it waits for 1 others, and 0 say")
    );
    assert!(with(46 + 8, 1).what.contains("is no root"));
    // A root twice, in place of another one.
    assert!(with(46 + 8 + 4, 0).what.contains("out of order"));
    let mut used = good.clone();
    used[..8].copy_from_slice(&2342_u64.to_le_bytes());
    let problem = open(&used).err().unwrap();
    assert_eq!(problem.place, TracePlace::Offset(0));
    assert!(problem.what.contains("used this file up"), "{problem}");
}

/// A message from rank 0 to rank 1, in the binary form, and the place of each rank's block there.
fn message() -> (Vec<u8>, [usize; 2]) {
    let bytes = binary("num_ranks 2\nrank 0 {\nsend 5b to 1\n}\nrank 1 {\nrecv 5b from 0\n}\n");
    let blocks = [0, 1].map(|rank| usize::from(bytes[14 + 16 * rank]) + 8);
    (bytes, blocks)
}

#[test]
fn peers_in_the_binary_form_are_ranks_and_any_for_receives_alone() {
    let (good, blocks) = message();
    let with = |rank: usize, peer: u32| {
        let mut bytes = good.clone();
        // Behind the counts, the root, the waits and the kind.
        let at = blocks[rank] + 8 + 4 + 4 + 1;
        bytes[at..at + 4].copy_from_slice(&peer.to_le_bytes());
        open(&bytes)
    };
    for (rank, peer) in [(0, 2), (0, ANY), (1, 2), (1, 3), (1, ANY - 1)] {
        let problem = with(rank, peer).err().expect("there is no such rank");
        assert!(
            problem.what.contains("no such peer: ranks are 0 to 1"),
            "{problem}"
        );
    }
    for (rank, peer) in [(0, 0), (0, 1), (1, 1), (1, ANY)] {
        assert_eq!(
            all(with(rank, peer).unwrap())[rank].operations[0].peer,
            peer
        );
    }
}

#[test]
fn a_block_holds_its_operations_and_the_head_has_ranks() {
    let (good, [first, second]) = message();
    let mut longer = good.clone();
    longer[first] = 2;
    let problem = open(&longer).err().expect("one operation is missing");
    let length = second - first;
    assert_eq!(problem.place, TracePlace::Offset(first as u64));
    let what = format!("rank 0 has 2 operations, 1 of them roots, in {length} bytes");
    assert!(problem.what.starts_with(&what), "{problem}");

    let mut empty = good;
    empty[8..12].fill(0);
    let problem = open(&empty).err().expect("a trace has ranks");
    assert_eq!(problem.place, TracePlace::Offset(8));
    assert!(problem.what.starts_with("0 ranks in "), "{problem}");
}

fn operation(ranks: u32) -> impl Strategy<Value = Operation> {
    let any = |most: u32| prop_oneof![4 => 0..most, 1 => Just(ANY)];
    let rest = (any(ranks), any(9), 0..3_u8, 0..3_u8);
    (0..7, 0..u64::MAX, rest).prop_map(move |(kind, size, (peer, tag, cpu, nic))| {
        let operation = match kind {
            0 => Operation::send(size, peer.min(ranks - 1), tag.min(8)),
            1 => Operation::recv(size, peer, tag),
            2 => Operation::remote(Kind::Put, size, peer.min(ranks - 1)),
            3 => Operation::remote(Kind::Swap, 4 + size % 2 * 4, peer.min(ranks - 1)),
            4 => Operation::active(Kind::Put, size, peer.min(ranks - 1), tag.min(8)),
            5 => Operation::active(Kind::Handle, size, peer.min(ranks - 1), tag.min(8)),
            _ => {
                return Operation {
                    cpu,
                    ..Operation::calc(size % 1_000_000)
                };
            }
        };
        Operation {
            cpu,
            nic,
            ..operation
        }
    })
}

fn schedule(ranks: u32) -> impl Strategy<Value = Schedule> {
    let operations = prop::collection::vec(operation(ranks), 0..12);
    operations.prop_flat_map(|operations| {
        let count = operations.len() as u32;
        let pair = (0..count.max(1), 0..count.max(1), any::<bool>());
        let pairs = prop::collection::vec(pair, 0..if count < 2 { 1 } else { 20 });
        pairs.prop_map(move |pairs| {
            let apart = pairs.into_iter().filter(|(one, other, _)| one != other);
            let forwards = apart.map(|(one, other, how)| (one.max(other), one.min(other), how));
            let mut dependencies: Vec<_> = forwards.collect();
            dependencies.sort_unstable();
            Schedule {
                operations: operations.clone(),
                dependencies,
            }
        })
    })
}

fn schedules() -> impl Strategy<Value = Vec<Schedule>> {
    (1..4_u32).prop_flat_map(|ranks| prop::collection::vec(schedule(ranks), ranks as usize))
}

proptest! {
    #[test]
    fn what_is_written_is_read(schedules in schedules()) {
        let text = text(&schedules);
        prop_assert_eq!(all(open(text.as_bytes()).unwrap()), schedules.clone());
        prop_assert_eq!(all(open(&binary(&text)).unwrap()), schedules);
    }

    /// A damaged file is read as another trace, or refused; any trace that is read is sound.
    #[test]
    fn a_damaged_file_does_no_harm(
        schedules in schedules(),
        as_text: bool,
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..4),
    ) {
        let good = text(&schedules);
        let mut bytes = if as_text { good.into_bytes() } else { binary(&good) };
        for (place, byte, how) in damages {
            let place = place.index(bytes.len());
            match how {
                0 => bytes[place] = byte,
                1 => drop(bytes.remove(place)),
                _ => bytes.insert(
                    place, if as_text { b"0 }{:-/*;\nb"[usize::from(byte) % 11] } else { byte }
                ),
            }
            if bytes.is_empty() {
                bytes.push(byte);
            }
        }
        if let Ok(trace) = open(&bytes) {
            for schedule in all(trace) {
                let count = schedule.operations.len() as u32;
                prop_assert!(
                    schedule.dependencies.iter().all(
                        |&(one, other, _)| one < count && other < count
                    )
                );
            }
        }
    }
}

/// Elanite's own operations are no reserved words: `txt2bin` takes them as labels.
#[test]
fn labels_may_be_words_for_further_operations() {
    let text = "num_ranks 2
rank 0 {
get: send 8b to 1
put : calc 5
put requires get
poll: calc 6
poll irequires put
get 4b from 1
}
rank 1 { recv 8b from 0; }";
    let [first, _] = &all(open(text.as_bytes()).unwrap())[..] else {
        panic!("two ranks");
    };
    assert_eq!(first.dependencies, [(1, 0, false), (2, 1, true)]);
    assert_eq!(first.operations[3].kind, Kind::Get);
    let problem = open(text.replace("get:", "send:").as_bytes())
        .err()
        .unwrap();
    assert!(
        problem
            .to_string()
            .contains(":3: the size of a message is missing before `:`")
    );
}

/// A label at a second operation is a warning; it stays with the first one, as in `LogGOPSim`.
#[test]
fn a_label_twice_names_the_first_operation() {
    let twice = "num_ranks 2
rank 0 {
a: calc 1
a: calc 2
b: calc 3
b requires a
}
rank 1 {
a: calc 4
a: calc 5
a: calc 6
a: calc 7
a: calc 8
a: calc 9
}";
    let trace = open(twice.as_bytes()).unwrap();
    let warnings: Vec<String> = trace.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 5, "{warnings:?}");
    assert!(warnings[0].contains(":4: the label `a` stands on line 3 of this rank already"));
    assert!(
        warnings[3].contains(":12: the label `a` stands on line 9"),
        "{}",
        warnings[3]
    );
    assert!(warnings[4].ends_with(": 2 more labels stand at a second operation"));
    let [first, _] = &all(trace)[..] else {
        panic!("two ranks");
    };
    assert_eq!(first.dependencies, [(2, 0, false)]);
    assert!(
        open(b"num_ranks 1\nrank 0 {\na: calc 1\n}")
            .unwrap()
            .warnings()
            .is_empty()
    );
}
