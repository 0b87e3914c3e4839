//! Ranks that keep to no rule: random orders, and random words in the shared memory. The run ends,
//! in some way, in bounded time and without a panic in the simulator.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ELANITE_FUZZ_SEED` | the first case's seed; the following cases have the following numbers | 0 |
//! | `ELANITE_FUZZ_CASES` | how many cases | 200 |
//! | `ELANITE_FUZZ_SECONDS` | for how long instead: no case begins after this many seconds | |
//!
//! A share of the ranks gives nonsense seldom or never, so that runs come far; such ranks' orders
//! are legal, but no program.

#![expect(clippy::disallowed_methods, reason = "the search ends after a time")]

use super::process::{machine, options};
use super::*;
use crate::horizon::HORIZON;
use kernel::random::Stream;
use link::raw::Raw;
use link::{
    Atomic, BATCH, Body, CollectiveCall, CollectiveKind, Complaint, FileAccess, MessageFilter,
    NEVER, Order, Patience, Rank, RankWait, Record, RemoteMemory, Report, SLOT_WORDS, Width,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The cases in every test run: a few seconds on a slow core.
const CASES: u64 = 200;

/// A run that continues for this long after it has been cancelled hangs, also on a host that runs
/// much else.
const LONG: Duration = Duration::from_secs(300);

/// When a run is cancelled: its ranks may wait for each other, or without a reason.
const SOON: Duration = Duration::from_millis(150);

const PAGE: u64 = 4096;
/// The head, and a few ranks' nodes, before the slots.
const FRONT: u64 = 2 * PAGE;
const SLOT: u64 = PAGE + 2 * BATCH as u64;

/// How many words a slot has.
const WORDS: u64 = SLOT_WORDS as u64 / 4;
/// The words at its beginning, on which turns, starts and ends depend.
const FIRST: u64 = 20;
/// The round in which a rank overwrites the case's word: there are reports by then.
const SPOILT: u64 = 2;

/// A rank with its random numbers.
struct HostileRank {
    link: Rank,
    memory: File,
    stream: Stream,
    /// How many in a thousand choices break a rule.
    nonsense: u64,
    /// The word in its slot that the rank overwrites at the end of a round, and the value: each
    /// word in turn, in case after case.
    spoils: Option<(u64, u32)>,
    /// Whether the rank also gives the orders by Elanite's own libraries.
    native: bool,
    ranks: u32,
    now: u64,
    over: Arc<AtomicBool>,
}

impl HostileRank {
    fn below(&mut self, end: u64) -> u64 {
        self.stream.uniform_u64(0..end)
    }

    fn pick(&mut self, of: &[u64]) -> u64 {
        of[self.stream.uniform_u64(0..of.len() as u64) as usize]
    }

    fn breaks(&mut self) -> bool {
        self.below(1000) < self.nonsense
    }

    fn awkward(&mut self) -> u64 {
        let centre = match self.below(5) {
            0 => 1 << self.below(64),
            1 => u64::MAX,
            2 => HORIZON.as_ps(),
            3 => self.now,
            _ => self.below(100),
        };
        centre.wrapping_add(self.below(3)).wrapping_sub(1)
    }

    /// A value, or nonsense.
    fn or_nonsense(&mut self, value: u64) -> u64 {
        if self.breaks() { self.awkward() } else { value }
    }

    /// Changes some bytes in a record, if the rank breaks a rule.
    fn spoilt(&mut self, mut raw: Raw) -> Raw {
        while self.breaks() {
            let (at, bit) = (self.below(size_of::<Raw>() as u64), self.below(8));
            bytemuck::bytes_of_mut(&mut raw)[at as usize] ^= 1 << bit;
        }
        raw
    }

    fn flag(&mut self) -> bool {
        self.below(4) == 0
    }

    fn rank(&mut self) -> u32 {
        let rank = self.below(self.ranks.into());
        self.or_nonsense(rank) as u32
    }

    fn place(&mut self) -> RemoteMemory {
        let key = self.below(3);
        RemoteMemory {
            rank: self.rank(),
            key: if self.native && self.below(2) == 0 {
                link::ADDRESS_SPACE
            } else {
                self.or_nonsense(key)
            },
            offset: self.or_nonsense(0),
        }
    }

    fn wanted(&mut self) -> MessageFilter {
        let (tag, mask) = (self.below(2), self.pick(&[0, u64::MAX]));
        MessageFilter {
            from: (self.below(3) > 0).then(|| self.rank()),
            tag: self.or_nonsense(tag),
            mask: self.or_nonsense(mask),
        }
    }

    /// A record with a kind, about this many bytes.
    fn body(&mut self, kind: u64, size: u64) -> Body {
        let (id, name) = (self.below(6), self.below(3));
        let (id, name) = (self.or_nonsense(id), self.or_nonsense(name));
        let data = Some(self.rank_number());
        let order = match kind {
            0 => Order::Send {
                to: self.rank(),
                tag: name % 2,
                data,
                synchronous: self.flag(),
                request: self.flag(),
            },
            1 => Order::Untagged {
                to: self.rank(),
                data,
            },
            2 => Order::Put {
                to: self.place(),
                notice: name,
            },
            3 => Order::Computed {
                region: name,
                time: size,
            },
            4 => Order::Enqueue {
                to: self.rank(),
                name,
            },
            5 | 6 => Order::Receive {
                wanted: self.wanted(),
                room: size,
                request: self.flag(),
            },
            7 => Order::Peek {
                wanted: self.wanted(),
                claims: self.flag(),
            },
            8 => Order::Probe {
                wanted: self.wanted(),
            },
            9 => Order::Cancel,
            10 => Order::Get {
                from: self.place(),
                size,
            },
            11 => Order::Called {
                call: self.rank_number(),
                began: name,
                served: self.flag(),
            },
            12 => {
                let (atomic, width) = (self.below(2), self.below(2));
                Order::Atomic {
                    on: self.place(),
                    atomic: [Atomic::Add, Atomic::CompareSwap][atomic as usize],
                    width: [Width::Four, Width::Eight][width as usize],
                    operand: size,
                    compare: name,
                }
            }
            13 => Order::Queue {
                name,
                slots: self.below(5) as u32,
                slot: size,
            },
            14 => Order::Dequeued { name },
            // Only ranks that break rules come here.
            15 => Order::Claim { room: size },
            16 => Order::Group {
                key: name,
                ranks: Vec::new(),
            },
            17 => Order::Spawn { count: size as u32 },
            18 => Order::Collective(CollectiveCall {
                group: name,
                kind: CollectiveKind::Broadcast,
                root: self.rank(),
                size,
                combiner: None,
                hardware: self.flag(),
                posted: self.flag(),
            }),
            19 => return Body::Reply,
            20 => return Body::Complaint(Complaint::Differs { message: name }),
            _ => {
                let (by, offset) = (self.rank(), name);
                return Body::Complaint(Complaint::Refuses { by, offset, size });
            }
        };
        Body::Order(id, order)
    }

    /// An order that may be given in a turn, with its bytes.
    fn order(&mut self) -> (Raw, Vec<u8>) {
        let common = [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11];
        let kind = if self.breaks() {
            self.below(22)
        } else if self.native && self.below(2) == 0 {
            self.pick(&[4, 12, 13, 14])
        } else {
            self.pick(&common)
        };
        let length = self.pick(&[0, 8, 300, 5000, 70_000, 1_200_000]);
        let bytes = if kind < 5 {
            vec![3; length as usize]
        } else {
            Vec::new()
        };
        let size = self.pick(&[0, 8, 300, 80_000, 2_000_000]);
        let (size, sum) = (self.or_nonsense(size), link::checksum([&bytes[..]]));
        let record = Record {
            time: self.or_nonsense(self.now),
            checksum: if self.breaks() { sum ^ 1 } else { sum },
            body: self.body(kind, size),
        };
        (self.spoilt(record.raw()), bytes)
    }

    fn rank_number(&self) -> u32 {
        self.link.number()
    }

    /// The rank's wait, and its order's time.
    fn wait(&mut self) -> (u64, RankWait) {
        let until = self.pick(&[NEVER, self.now, self.now + 400_000, self.now + 90_000_000]);
        let until = self.or_nonsense(until);
        let wait = match self.below(6) {
            0 => RankWait::Sleep {
                until: if until == NEVER { self.now } else { until },
            },
            1 => RankWait::Meeting {
                which: self.or_nonsense(1),
                ranks: self.or_nonsense(self.ranks.into()),
            },
            2 => RankWait::File(FileAccess {
                offset: self.or_nonsense(9),
                read: self.or_nonsense(0),
                written: self.or_nonsense(4096),
            }),
            _ => RankWait::Report(Patience {
                until,
                threads: self.below(2) == 0,
                writes: self.native,
                guessed: self.breaks(),
            }),
        };
        (self.or_nonsense(self.now), wait)
    }

    /// Overwrites a word in a slot: mostly in its own.
    fn scribble(&mut self) {
        let rank = if self.below(4) == 0 {
            self.below(self.ranks.into())
        } else {
            self.rank_number().into()
        };
        let any = self.below(2 * WORDS);
        let value = self.awkward() as u32;
        self.overwrite(rank, if any < WORDS { any } else { any % FIRST }, value);
    }

    fn overwrite(&self, rank: u64, word: u64, value: u32) {
        let at = FRONT + rank * SLOT + 4 * word;
        let written = self.memory.write_all_at(&value.to_le_bytes(), at);
        written.expect("it is long enough");
    }

    fn live(mut self) {
        for round in 0..self.below(40) {
            for _ in 0..self.below(5) {
                let (order, bytes) = self.order();
                self.link.write_raw(&order, &[&bytes]);
            }
            if self.nonsense > 0 && self.below(20) == 0 {
                self.scribble();
            }
            if let Some((word, value)) = self.spoils.take_if(|_| round == SPOILT) {
                self.overwrite(self.rank_number().into(), word, value);
            }
            let ((time, wait), mut still) = (self.wait(), false);
            let resumed = loop {
                let still_so = if self.breaks() { !still } else { still };
                let last = Record::plain(time, Body::Wait(wait, still_so));
                let last = self.spoilt(last.raw());
                let resumed = self.link.hand_over_raw(&last);
                if self.over.load(Ordering::Relaxed) {
                    return;
                }
                let reports = self.link.reports();
                let reports: Vec<Report> = reports.map(|(delivery, ..)| delivery.report).collect();
                if let Some(now) = resumed {
                    break now;
                }
                for report in reports {
                    if let Report::Read { size, .. } = report {
                        let size = self.or_nonsense(size).min(1 << 22);
                        self.link.reply(self.now, &vec![5; size as usize]);
                    }
                }
                still = true;
            };
            self.now = self.now.max(resumed);
        }
        self.link.finish(self.now);
        if self.below(2) == 0 {
            self.link.out_of_band().exits();
        }
    }
}

/// Runs a case's ranks; returns how the run ended, or `None` if it does not end.
fn run(seed: u64) -> Option<RunEnd> {
    let mut stream = Stream::new(seed, "case");
    let name = ["es40-qsnet", "opteron-qsnet2"][stream.uniform_u64(0..2) as usize];
    let ranks = 1 + stream.uniform_u64(0..3) as u32;
    let mut options = options(ranks);
    if stream.uniform_u64(0..4) == 0 {
        options.network = NetworkMode::Ideal;
    }
    options.keep_going = stream.uniform_u64(0..4) == 0;
    options.timeline = stream.uniform_u64(0..8) == 0;
    let run = ProgramRun::new(machine(name), options).expect("there is room");
    let path = run.path();
    let (cancel, over) = (Arc::default(), Arc::new(AtomicBool::new(false)));
    let open = || File::options().read(true).write(true).open(&path);
    let memory = open().expect("it is there");
    let (mut word, values) = (Stream::new(seed, "word"), [0, 1, 3, 1 << 31, u32::MAX]);
    let value = values[word.uniform_u64(0..values.len() as u64) as usize];
    // All attach before the first one lives: it may write into the others' places.
    let all: Vec<_> = (0..ranks)
        .map(|rank| HostileRank {
            link: Rank::attach(&path, rank).expect("there is a place"),
            memory: memory.try_clone().expect("it is open"),
            stream: Stream::new(seed, &format!("rank {rank}")),
            spoils: (rank == 0).then_some((seed % WORDS, value)),
            nonsense: [0, 2, 20, 200][stream.uniform_u64(0..4) as usize],
            native: seed % 2 == 1,
            ranks,
            now: 0,
            over: Arc::clone(&over),
        })
        .collect();
    for hostile in all {
        std::thread::spawn(move || hostile.live());
    }
    let (told, ended) = mpsc::channel();
    let flag = Arc::clone(&cancel);
    std::thread::spawn(move || {
        // The run is dropped in this thread, after the end is known.
        let served = run.serve(&flag, std::process::id());
        let _ = told.send(served.map(|(outcome, _)| outcome.end));
        std::thread::sleep(Duration::from_secs(1));
    });
    let outcome = ended.recv_timeout(SOON).or_else(|error| {
        if error == mpsc::RecvTimeoutError::Disconnected {
            return Err(error); // it has panicked
        }
        cancel.store(true, Ordering::Relaxed);
        ended.recv_timeout(LONG)
    });
    // Waiting ranks notice that the case is over.
    over.store(true, Ordering::Relaxed);
    for rank in 0..u64::from(ranks) {
        let _ = memory.write_all_at(&[0; 4], FRONT + rank * SLOT);
    }
    outcome.ok().map(|end| end.expect("there is room"))
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

#[test]
fn whatever_ranks_do_the_run_ends() {
    let first = variable("ELANITE_FUZZ_SEED").unwrap_or(0);
    let seconds = variable("ELANITE_FUZZ_SECONDS").map(Duration::from_secs);
    let usual = if seconds.is_some() { u64::MAX } else { CASES };
    let most = variable("ELANITE_FUZZ_CASES").unwrap_or(usual);
    let patience = seconds.unwrap_or(Duration::MAX);
    let start = Instant::now();
    let mut tally: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for seed in (first..).take(usize::try_from(most).unwrap_or(usize::MAX)) {
        if start.elapsed() > patience {
            break;
        }
        let end = run(seed).unwrap_or_else(|| {
            panic!(
                "the simulator fails; to see it again: ELANITE_FUZZ_SEED={seed} \
                ELANITE_FUZZ_CASES=1 \
                 cargo test -p elanite-mpirun --lib hostile"
            )
        });
        *tally.entry(end.name()).or_default() += 1;
    }
    println!("hostile ranks, by their orders: {tally:?}");
    assert!(most < 100 || tally.contains_key("foul"));
}

/// How a run ends; it must, within a while.
fn outcome(run: ProgramRun, launcher: u32) -> Outcome {
    let (told, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let served = run.serve(&Arc::default(), launcher);
        let _ = told.send(served.expect("there is room").0);
    });
    ended.recv_timeout(LONG).expect("it ends")
}

/// How a run ends with ranks that are known only by `write`'s words, and with a launcher that is
/// gone.
fn abandoned(write: impl Fn(&File)) -> RunEnd {
    let run = ProgramRun::new(machine("es40-qsnet"), options(1)).expect("there is room");
    let memory = File::options().write(true).open(run.path());
    write(&memory.expect("it is there"));
    let gone = std::process::Command::new("true").spawn();
    let mut gone = gone.expect("it is installed");
    let launcher = gone.id();
    gone.wait().expect("it ends");
    outcome(run, launcher).end
}

#[test]
fn a_rank_that_says_that_it_has_left_and_keeps_its_turn_is_not_waited_for() {
    let word = |memory: &File, at, value: u32| {
        let written = memory.write_all_at(&value.to_le_bytes(), FRONT + at);
        written.expect("it is long enough");
    };
    for phase in [2, 3, 4, 5, 77] {
        // Its process number names the first process, which never ends.
        let end = abandoned(|memory| {
            word(memory, 4, phase);
            word(memory, 8, 1);
        });
        assert_eq!(end, RunEnd::LauncherGone, "phase {phase}");
    }
}

/// The outcome of a run with one rank that gives these orders in its first turn.
fn outcome_of(orders: &[Raw]) -> Outcome {
    let run = ProgramRun::new(machine("es40-qsnet"), options(1)).expect("there is room");
    let mut rank = Rank::attach(&run.path(), 0).expect("there is a place");
    let (last, before) = orders.split_last().expect("there is one");
    let (last, before) = (*last, before.to_vec());
    std::thread::spawn(move || {
        for order in before {
            rank.write_raw(&order, &[]);
        }
        // If no rule is broken, it leaves.
        if let Some(now) = rank.hand_over_raw(&last) {
            rank.finish(now);
            rank.out_of_band().exits();
        }
    });
    outcome(run, std::process::id())
}

#[test]
fn a_rank_that_breaks_a_rule_ends_the_run_and_is_named() {
    let raw = |body| Record::plain(0, body).raw();
    let wait = raw(Body::Wait(RankWait::Report(Patience::until(NEVER)), false));
    let claim = raw(Body::Order(77, Order::Claim { room: 0 }));
    let send = raw(Body::Order(0, Order::Untagged { to: 9, data: None }));
    for (orders, what) in [
        (&[send, wait][..], "it names rank 9, and there are 1 ranks"),
        (
            &[claim, wait],
            "it claims message 77, which no peek has kept",
        ),
        (&[wait, wait], "without saying what it waits for"),
        (
            &[bytemuck::cast([u64::MAX - 1; 10]), wait],
            "it gave an order that no rank can give",
        ),
    ] {
        let outcome = outcome_of(orders);
        assert_eq!(
            (outcome.end, outcome.rank),
            (RunEnd::Foul, Some(0)),
            "{orders:?}"
        );
        let start = "rank 0 broke the rules by which ranks and simulator share memory: ";
        assert!(
            outcome.message.starts_with(start) && outcome.message.contains(what),
            "{outcome:?}"
        );
    }
}

/// A look finds a message, and its end shows only after a receive has taken the message and the
/// rank has confirmed it.
#[test]
fn a_look_may_tell_of_a_message_that_the_rank_has_already() {
    assert!(run(4324).is_some());
}

#[test]
fn time_ends_at_the_horizon() {
    for (time, network) in [
        (NEVER, NetworkMode::Machine),
        (NEVER, NetworkMode::Ideal),
        (NEVER - 1, NetworkMode::Machine),
        (HORIZON.as_ps() + 1, NetworkMode::Machine),
    ] {
        let run = ProgramRun::new(machine("es40-qsnet"), on(network, 1)).expect("there is room");
        let mut rank = Rank::attach(&run.path(), 0).expect("there is a place");
        std::thread::spawn(move || {
            let now = rank
                .hand_over(0, RankWait::Sleep { until: time }, false)
                .expect("it goes on");
            rank.finish(now);
            rank.out_of_band().exits();
        });
        let outcome = outcome(run, std::process::id());
        assert_eq!(
            outcome.end,
            RunEnd::Limit,
            "{time} {network:?}: {outcome:?}"
        );
        assert!(outcome.message.contains("where simulated time ends"));
    }
}
