//! For any bytes that a rank writes into the shared memory, the simulator takes orders or reports
//! the error: it never panics, never waits, and keeps no more bytes than the area holds.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ELANITE_FUZZ_SEED` | the first case's seed; the following cases have the following numbers | 0 |
//! | `ELANITE_FUZZ_CASES` | how many cases | 20,000 |
//! | `ELANITE_FUZZ_SECONDS` | for how long instead: no case begins after this many seconds | |
//!
//! A case is a lawful rank's area in which some words are then replaced. `make fuzz-inputs` runs
//! more.

#![expect(clippy::disallowed_methods, reason = "the search ends after a time")]

use link::raw::Raw;
use link::{
    ADDRESS_SPACE, Atomic, BATCH, Body, CollectiveCall, CollectiveKind, Complaint, Delivery,
    MessageFilter, NEVER, Order, Payload, RankPhase, RankWait, Record, RemoteMemory, Report,
    SLOT_WORDS, Settings, Simulator, Violation, Width,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The cases in every test run: about a second on a slow core.
const CASES: u64 = 20_000;

const PAGE: u64 = 4096;
/// Where rank 0's slot begins; its order area begins a page later.
const SLOT: u64 = 2 * PAGE;
/// The slot's words.
const TURN: u64 = 0;
const PHASE: u64 = 4;
const PID: u64 = 8;
const CALL: u64 = 12;
const UP: u64 = 48;
/// No head is longer; the ranks' nodes lie a page behind its beginning.
const HEAD: u64 = 512;
/// The words at the slot's beginning, which hold the turn and the areas' lengths.
const FIRST: u64 = 80;

/// One case's random numbers.
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Self {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    /// A number at which programs fail.
    fn awkward(&mut self) -> u64 {
        let near = self.below(3).wrapping_sub(1);
        let centre = match self.below(9) {
            0 => 0,
            1 => 1 << self.below(64),
            2 => u64::MAX,
            3 => BATCH as u64,
            4 => u64::from(u32::MAX),
            5 => 1 << 31,
            6 => self.below(200),
            7 => i64::MAX.cast_unsigned(),
            _ => self.next(),
        };
        centre.wrapping_add(near)
    }
}

/// The shared memory, as a rank may write it.
struct Memory(File);

impl Memory {
    fn of(simulator: &Simulator) -> Self {
        let file = File::options()
            .read(true)
            .write(true)
            .open(simulator.path());
        Memory(file.expect("it is open"))
    }

    fn write(&self, at: u64, bytes: &[u8]) {
        self.0.write_all_at(bytes, at).expect("it is long enough");
    }

    fn word(&self, at: u64, value: u32) {
        self.write(SLOT + at, &value.to_le_bytes());
    }
}

/// An order's raw record.
fn raw(order: Order) -> Raw {
    Record::plain(0, Body::Order(3, order)).raw()
}

/// A record that is not a wait.
fn body(draw: &mut Draw) -> Body {
    let (key, size) = (draw.below(4), draw.below(100));
    let place = RemoteMemory {
        rank: 0,
        key: ADDRESS_SPACE,
        offset: size,
    };
    let wanted = MessageFilter {
        from: [None, Some(0)][draw.below(2) as usize],
        tag: key,
        mask: NEVER,
    };
    let order = match draw.below(22) {
        0 => return Body::Reply,
        1 => return Body::Complaint(Complaint::Differs { message: key }),
        2 => {
            let (by, offset) = (0, key);
            return Body::Complaint(Complaint::Refuses { by, offset, size });
        }
        3 => Order::Send {
            to: 0,
            tag: key,
            data: None,
            synchronous: false,
            request: true,
        },
        4 => Order::Untagged { to: 0, data: None },
        5 => Order::Receive {
            wanted,
            room: size,
            request: false,
        },
        6 => Order::Peek {
            wanted,
            claims: true,
        },
        7 => Order::Probe { wanted },
        8 => Order::Claim { room: size },
        9 => Order::Cancel,
        10 => Order::Put {
            to: place,
            notice: key,
        },
        11 => Order::Get { from: place, size },
        12 => Order::Atomic {
            on: place,
            atomic: Atomic::CompareSwap,
            width: Width::Eight,
            operand: size,
            compare: key,
        },
        13 => Order::Queue {
            name: key,
            slots: 2,
            slot: size,
        },
        14 => Order::Enqueue { to: 0, name: key },
        15 => Order::Dequeued { name: key },
        16 => Order::Group {
            key,
            ranks: Vec::new(),
        },
        17 => Order::Spawn { count: 1 },
        18 => Order::Collective(CollectiveCall {
            group: key,
            kind: CollectiveKind::Broadcast,
            root: 0,
            size,
            combiner: None,
            hardware: true,
            posted: false,
        }),
        19 => Order::Called {
            call: 1,
            began: key,
            served: true,
        },
        20 => Order::Computed {
            region: key,
            time: size,
        },
        _ => Order::Executed {
            region: key,
            time: size,
        },
    };
    Body::Order(key, order)
}

/// Records as a rank writes them: the part's place, length and whole, the record, and its bytes.
fn records(draw: &mut Draw) -> Vec<u8> {
    let mut all = Vec::new();
    for _ in 0..draw.below(6) {
        let length = [0, 1, 8, 100, 5000][draw.below(5) as usize];
        let body = body(draw);
        // A group's payload is words.
        let length = match &body {
            Body::Order(_, Order::Group { .. }) => length & !3,
            _ => length,
        };
        let raw = match draw.below(8) {
            0 => Raw::MORE,
            _ => Record::plain(0, body).raw(),
        };
        let part = [0, length, length];
        all.extend(part.iter().flat_map(|word: &u64| word.to_le_bytes()));
        all.extend(bytemuck::bytes_of(&raw));
        all.extend(vec![7; length.next_multiple_of(8) as usize]);
    }
    let wait = Record::plain(0, Body::Wait(RankWait::report(NEVER), false));
    all.extend([0_u8; 24]);
    all.extend(bytemuck::bytes_of(&wait.raw()));
    all
}

/// The outcomes of the cases.
#[derive(Default, Debug)]
struct Tally {
    cases: u64,
    sound: u64,
    more: u64,
    foul: u64,
}

fn run(seed: u64, simulator: &mut Simulator, memory: &Memory, tally: &mut Tally) {
    let mut draw = Draw::new(seed);
    let mut orders = Vec::new();
    let mut kept = 0;
    for _ in 0..3 {
        let mut area = records(&mut draw);
        let mut up = area.len() as u64;
        for _ in 0..draw.below(4) {
            let at = draw.below(area.len() as u64 / 8) as usize * 8;
            let value = draw.awkward();
            if draw.below(2) == 0 {
                area[at..at + 8].copy_from_slice(&value.to_le_bytes());
            } else {
                area[at] ^= 1 << (value % 8);
            }
        }
        if draw.below(4) == 0 {
            up = draw.awkward();
        }
        memory.write(SLOT + PAGE, &area);
        memory.write(SLOT + UP, &up.to_le_bytes());
        for _ in 0..draw.below(3) {
            let end = [FIRST, SLOT_WORDS as u64][draw.below(2) as usize];
            memory.word(draw.below(end / 4) * 4, draw.awkward() as u32);
        }
        if draw.below(4) == 0 {
            let at = [0, PAGE][draw.below(2) as usize] + 4 * draw.below(HEAD / 4);
            memory.write(at, &(draw.awkward() as u32).to_le_bytes());
        }
        let turn = if draw.below(8) == 0 {
            draw.awkward() as u32
        } else {
            1
        };
        memory.word(TURN, turn);
        // The rank's data that people may see at any time.
        let _ = (
            simulator.phase(0),
            simulator.pid(0),
            simulator.call(0),
            simulator.leaving(),
            simulator.calls(0),
            simulator.lookers(0),
            simulator.untimed(0),
            (simulator.started(0), simulator.has_managed(0)),
            simulator.stray(0),
        );
        simulator.wait_for_return(0, Duration::ZERO);
        if !simulator.wait(0, Duration::ZERO) {
            assert_eq!(turn, 0, "only a rank that runs is waited for");
            continue;
        }
        let taken = simulator.take_records(0, &mut orders);
        let bytes: usize = orders.drain(..).map(|(_, bytes)| bytes.capacity()).sum();
        kept += BATCH;
        assert!(bytes <= 2 * kept, "{bytes} bytes of {kept}");
        match taken {
            Ok(true) => tally.sound += 1,
            Ok(false) => tally.more += 1,
            Err(_) => tally.foul += 1,
        }
        if taken.is_ok() {
            let told = simulator.tell(
                0,
                &Delivery::from(Report::Combine),
                &mut Payload::new(&[&[1; 100]]),
            );
            assert!(told, "the area of reports is empty");
            simulator.give_turn(0, Some(1));
            simulator.release();
        }
    }
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

#[test]
fn whatever_a_rank_writes_is_orders_or_an_error() {
    let first = variable("ELANITE_FUZZ_SEED").unwrap_or(0);
    let seconds = variable("ELANITE_FUZZ_SECONDS").map(Duration::from_secs);
    let usual = if seconds.is_some() { u64::MAX } else { CASES };
    let most = variable("ELANITE_FUZZ_CASES").unwrap_or(usual);
    let patience = seconds.unwrap_or(Duration::MAX);
    let (start, mut tally) = (Instant::now(), Tally::default());
    while start.elapsed() < patience && tally.cases < most {
        // The remains of an order must not matter to the next one: some cases share a simulator.
        let mut simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
        let memory = Memory::of(&simulator);
        for _ in 0..50.min(most) {
            let seed = first + tally.cases;
            let case = || run(seed, &mut simulator, &memory, &mut tally);
            let ended = catch_unwind(AssertUnwindSafe(case));
            assert!(
                ended.is_ok(),
                "to see it again: ELANITE_FUZZ_SEED={} ELANITE_FUZZ_CASES=50 \
                 cargo test -p elanite-link --test all hostile::",
                seed - seed.wrapping_sub(first) % 50
            );
            tally.cases += 1;
        }
    }
    println!("hostile ranks, by the area: {tally:?}");
    let share = |part: u64| part * 50 > tally.cases;
    assert!(most < 100 || share(tally.sound) && share(tally.foul) && share(tally.more));
}

#[test]
fn the_words_lie_where_this_test_thinks() {
    let simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
    let memory = Memory::of(&simulator);
    memory.word(CALL, 5);
    memory.word(PID, 77);
    memory.word(PHASE, 1);
    assert_eq!((simulator.call(0), simulator.pid(0)), (5, Some(77)));
    assert_eq!(simulator.phase(0), RankPhase::Attached);
    assert!(!simulator.has_turn(0));
    memory.word(TURN, 1);
    assert!(simulator.has_turn(0));
}

/// The error for an area with this part in its first record, and with the length `up`.
fn foul(part: [u64; 3], up: u64) -> Option<Violation> {
    let mut simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
    let memory = Memory::of(&simulator);
    let mut area: Vec<u8> = part.iter().flat_map(|word| word.to_le_bytes()).collect();
    area.extend(bytemuck::bytes_of(&raw(Order::Cancel)));
    memory.write(SLOT + PAGE, &area);
    memory.write(SLOT + UP, &up.to_le_bytes());
    memory.word(TURN, 1);
    simulator.take_records(0, &mut Vec::new()).err()
}

#[test]
fn lengths_and_parts_are_compared_with_the_area() {
    let one = 24 + size_of::<Raw>() as u64;
    assert_eq!(foul([0; 3], one), None);
    for length in [BATCH as u64 + 1, u64::MAX] {
        assert_eq!(foul([0; 3], length), Some(Violation::Length { length }));
    }
    assert_eq!(
        foul([0, 1, 1], one),
        Some(Violation::Part),
        "beyond what was written"
    );
    assert_eq!(foul([0, u64::MAX, u64::MAX], one), Some(Violation::Part));
    assert_eq!(
        foul([1, 0, 1], one),
        Some(Violation::Part),
        "not the beginning"
    );
    assert_eq!(
        foul([0, 0, u64::MAX], one),
        Some(Violation::Within),
        "the rest is missing"
    );
}

#[test]
fn a_rank_that_has_taken_its_turn_back_is_at_fault() {
    let mut simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
    let memory = Memory::of(&simulator);
    assert_eq!(
        simulator.take_records(0, &mut Vec::new()),
        Err(Violation::Running)
    );
    memory.word(TURN, 9);
    assert!(
        simulator.wait(0, Duration::ZERO),
        "nobody waits for a word that nobody writes"
    );
}

#[test]
fn orders_are_taken_once() {
    let mut simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
    let memory = Memory::of(&simulator);
    let area = records(&mut Draw::new(1));
    memory.write(SLOT + PAGE, &area);
    memory.write(SLOT + UP, &(area.len() as u64).to_le_bytes());
    memory.word(TURN, 1);
    let mut orders = Vec::new();
    assert!(simulator.take_records(0, &mut orders).is_ok());
    assert!(!orders.is_empty());
    orders.clear();
    assert_eq!(simulator.take_records(0, &mut orders), Ok(true));
    assert!(orders.is_empty());
}

#[test]
fn no_process_has_such_a_number() {
    let simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
    let memory = Memory::of(&simulator);
    for pid in [0, 1 << 31, u32::MAX] {
        memory.word(PID, pid);
        assert_eq!(simulator.pid(0), None, "{pid}");
    }
}

#[test]
fn nobody_can_cut_the_memory_or_make_it_longer() {
    let simulator = Simulator::new(1, Settings::DEFAULT).expect("there is memory");
    let file = Memory::of(&simulator).0;
    let length = file.metadata().expect("it is open").len();
    for length in [0, length - 1, length + 1] {
        assert!(file.set_len(length).is_err(), "{length}");
    }
}
