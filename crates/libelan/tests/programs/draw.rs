//! Programs, drawn from a seed.

use crate::collective::{Barrier, Broadcast, Collective, Kind, Reduce, SPANS};
use crate::common;
use elan::{Config, Rail, Wait};
use fabric::FatTree;
use kernel::random::Stream;
use libelan::elan::tport::Select;
use units::{Bytes, Time};

/// Length of a process's board in main memory, and in adapter memory.
pub const BOARDS: [u64; 2] = [16_384, 4096];

/// Where the phase begins in a tag, and the bits that tell phase and class.
pub const PHASE: u32 = 40;
const CLASS: u64 = !0x3f;

pub struct Program {
    pub config: Config,
    /// Node of each process.
    pub places: Vec<u32>,
    /// How the processes wait.
    pub waits: Wait,
    /// Groups by their members. The groups of one round are made at once and have no member in common.
    pub rounds: Vec<Vec<Vec<u32>>>,
    pub phases: Vec<Phase>,
    /// Rails that fail: which, when, and how long they are down.
    pub failures: Vec<(Rail, Time, Time)>,
}

impl Program {
    /// All groups; the first is that of all processes.
    pub fn groups(&self) -> Vec<Vec<u32>> {
        let all = (0..self.places.len() as u32).collect();
        let made = self.rounds.iter().flatten().cloned();
        std::iter::once(all).chain(made).collect()
    }
}

#[derive(Clone)]
pub struct Phase {
    /// Whether each process ends a step before it begins the next; otherwise it starts all steps, and then waits for them.
    pub blocking: bool,
    /// What each process does, in order.
    pub steps: Vec<Vec<Step>>,
}

/// A range of a process's board.
#[derive(Clone, Copy)]
pub struct Range {
    pub process: u32,
    /// 0 is the board in main memory, 1 the board in adapter memory.
    pub board: usize,
    pub at: u64,
    pub length: u64,
}

#[derive(Clone, Copy)]
pub enum Step {
    Send {
        to: u32,
        tag: u64,
        length: u64,
        /// The seed of the message's bytes.
        seed: u64,
        synchronous: bool,
        adapter: bool,
    },
    Receive {
        select: Select,
        /// Length of the receive's buffer; none for a buffer of the system.
        room: Option<u64>,
        adapter: bool,
    },
    Put {
        to: Range,
        seed: u64,
    },
    Get {
        from: Range,
    },
    /// A collective call with others.
    Collective(Collective),
    /// A computation of so many nanoseconds.
    Compute(u64),
}

/// Draws numbers.
struct Draw(Stream);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0.uniform_u64(0..end)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for end in (1..values.len()).rev() {
            values.swap(end, self.below(end as u64 + 1) as usize);
        }
    }

    /// A length, mostly short.
    fn length(&mut self) -> u64 {
        let most = self.one_of(&[1, 65, 65, 300, 400, 5000, 40_000]);
        self.below(most)
    }
}

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut draw = Draw(Stream::new(seed, "program"));
    let processes = match draw.below(20) {
        0 | 1 => 17 + draw.below(48),
        2..=7 => 7 + draw.below(10),
        _ => 1 + draw.below(6),
    };
    // As few nodes as hold the processes, or more.
    let least = processes.div_ceil(4);
    let nodes = least + draw.below(17 - least);
    let mut places: Vec<u32> = (0..nodes as u32).flat_map(|node| [node; 4]).collect();
    draw.shuffle(&mut places);
    places.truncate(processes as usize);
    let levels = if nodes <= 4 { 1 } else { 2 };
    let mut config = common::machine(FatTree::quaternary(levels).expect("4 or 16 nodes"));
    let tport = &mut config.tport;
    tport.small = Bytes::new(draw.one_of(&[0, 40, 288]));
    tport.big = Bytes::new(draw.one_of(&[0, 1000, 16_384, 16_384]));
    tport.slots = draw.one_of(&[1, 4, 64]);
    tport.buffer = Bytes::new(draw.one_of(&[0, 5000, 524_288]));
    let roomy = draw.chance(70);
    tport.system = if roomy {
        Bytes::from_mb(32)
    } else {
        Bytes::new(draw.below(30_000))
    };
    let mut program = Program {
        config,
        places,
        waits: draw.one_of(&[Wait::Poll, Wait::Poll, Wait::Block, Wait::Spin(20)]),
        rounds: (0..draw.below(3))
            .map(|_| round(&mut draw, processes))
            .collect(),
        phases: Vec::new(),
        failures: Vec::new(),
    };
    let groups = program.groups();
    program.phases = (0..=draw.below(5))
        .map(|number| phase(&mut draw, number as u32, &groups, roomy))
        .collect();
    program
}

/// Failures of the rails of a program's machine, from a seed: one rail always works, and a rail that works again may fail at
/// once.
pub fn failures(seed: u64, rails: u32) -> Vec<(Rail, Time, Time)> {
    let mut draw = Draw(Stream::new(seed, "failures"));
    let (mut failures, mut free) = (Vec::new(), vec![0; rails as usize]);
    let (mut now, often) = (0, draw.one_of(&[2_000, 20_000, 100_000]));
    while now < 20_000_000 && failures.len() < 2_000 {
        let rail = draw.below(rails.into()) as usize;
        let pause = draw.below(3 * often);
        let others = free.iter().enumerate().filter(|&(other, _)| other != rail);
        let works = others
            .map(|(_, &free)| free)
            .min()
            .expect("there are several");
        // Another rail works now; it does not fail before this one is back.
        now = now.max(works).max(free[rail]) + 1 + draw.below(often);
        failures.push((
            Rail::new(rail as u32),
            Time::from_ns(now),
            Time::from_ns(pause),
        ));
        free[rail] = now + pause;
    }
    failures
}

/// Groups of some of the processes, in any order.
fn round(draw: &mut Draw, processes: u64) -> Vec<Vec<u32>> {
    let mut left: Vec<u32> = (0..processes as u32).collect();
    if draw.chance(50) {
        draw.shuffle(&mut left);
    }
    let mut groups = Vec::new();
    while !left.is_empty() && groups.len() < 3 {
        let rest = left.split_off(1 + draw.below(left.len() as u64) as usize);
        groups.push(std::mem::replace(&mut left, rest));
    }
    groups
}

/// A message, before it is decided when its ends come.
struct Message {
    from: u32,
    to: u32,
    class: u32,
    tag: u64,
    length: u64,
}

fn phase(draw: &mut Draw, number: u32, groups: &[Vec<u32>], roomy: bool) -> Phase {
    let processes = groups[0].len() as u32;
    let blocking = draw.chance(30);
    let mut steps: Vec<Vec<Step>> = (0..processes).map(|_| Vec::new()).collect();
    let many = draw.below(6 * u64::from(processes).min(30) + 6);
    let mut messages = Vec::new();
    for _ in 0..many {
        let from = draw.below(processes.into()) as u32;
        let to = draw.below(processes.into()) as u32;
        // A process cannot wait for a message to itself before it has received it.
        if blocking && from == to {
            continue;
        }
        // A process that waits for one message at a time must name the sender, or may take the wrong message and wait for ever.
        let class = draw.one_of(if blocking { &[0, 3] } else { &[0, 1, 2, 3] });
        let tag = u64::from(number) << PHASE | u64::from(class) << 6 | draw.below(4);
        let length = draw.length();
        messages.push(Message {
            from,
            to,
            class,
            tag,
            length,
        });
    }
    // All processes come to collective calls in the same order, and between the same messages if they wait for messages.
    let many = draw.below(6);
    let mut calls: Vec<usize> = (0..many)
        .map(|_| draw.below(messages.len() as u64 + 1) as usize)
        .collect();
    calls.sort_unstable();
    let mut calls = calls.into_iter().peekable();
    let mut serial = 0;
    for index in 0..=messages.len() {
        while calls.next_if_eq(&index).is_some() {
            let call = collective(draw, groups, serial);
            serial += 1;
            for &member in &groups[call.group] {
                steps[member as usize].push(Step::Collective(call));
            }
        }
        let Some(message) = messages.get(index) else {
            break;
        };
        let Message { from, to, .. } = *message;
        let send = Step::Send {
            to,
            tag: message.tag,
            length: message.length,
            seed: draw.0.next_u64(),
            synchronous: draw.chance(10),
            adapter: draw.chance(30),
        };
        // Any message of the class may come.
        let alike = |other: &&Message| other.to == to && other.class == message.class;
        let room = messages.iter().filter(alike).map(|other| other.length);
        let room = room.max().expect("there is this one") + draw.below(9);
        let receive = Step::Receive {
            select: select(message),
            room: Some(room).filter(|_| !roomy || draw.chance(80)),
            adapter: draw.chance(30),
        };
        steps[from as usize].push(send);
        steps[to as usize].push(receive);
    }
    accesses(draw, processes, &mut steps);
    for steps in &mut steps {
        if !blocking {
            draw.shuffle(steps);
            in_order(steps);
        }
        for _ in 0..draw.below(4) {
            let at = draw.below(steps.len() as u64 + 1) as usize;
            let time = draw.one_of(&[100, 10_000, 100_000]);
            steps.insert(at, Step::Compute(draw.below(time)));
        }
    }
    Phase { blocking, steps }
}

/// Puts the collective calls of a process back into their order.
fn in_order(steps: &mut [Step]) {
    let serial = |step: &Step| match step {
        Step::Collective(call) => Some(call.serial),
        _ => None,
    };
    let places: Vec<usize> = (0..steps.len())
        .filter(|&place| serial(&steps[place]).is_some())
        .collect();
    let mut calls: Vec<Step> = places.iter().map(|&place| steps[place]).collect();
    calls.sort_by_key(serial);
    for (place, call) in places.into_iter().zip(calls) {
        steps[place] = call;
    }
}

/// What only the group of all processes has, or what other groups have in its place.
fn either<T>(all: bool, of_all: T, other: T) -> T {
    if all { of_all } else { other }
}

fn collective(draw: &mut Draw, groups: &[Vec<u32>], serial: u32) -> Collective {
    let group = draw.below(groups.len() as u64) as usize;
    let (all, members) = (group == 0, groups[group].len() as u64);
    let adapter = draw.chance(40);
    let span = SPANS[usize::from(adapter)];
    let root = draw.below(members) as u32;
    let length = draw.length().min(span);
    // MPI has only the group of all.
    let kind = match draw.below(4) {
        0 => Kind::Barrier(draw.one_of(&[
            Barrier::Software,
            Barrier::Hardware,
            Barrier::HardwareEvent,
            Barrier::Shmem,
            either(all, Barrier::Mpi, Barrier::Software),
        ])),
        1 => Kind::Broadcast {
            by: draw.one_of(&[
                Broadcast::Software,
                Broadcast::Software,
                Broadcast::Hardware,
                Broadcast::Shmem,
                either(all, Broadcast::Mpi, Broadcast::Software),
            ]),
            root,
            length,
        },
        2 => Kind::Reduce {
            by: draw.one_of(&[
                Reduce::One(root),
                Reduce::All,
                Reduce::Shmem,
                either(all, Reduce::MpiOne(root), Reduce::All),
                either(all, Reduce::MpiAll, Reduce::All),
            ]),
            words: length / 8,
        },
        _ => Kind::Collect {
            longest: length / members,
            equal: draw.chance(50),
        },
    };
    Collective {
        serial,
        group,
        kind,
        adapter,
        seed: draw.0.next_u64() >> 8,
    }
}

/// A receive that takes a message, and no other class's: whichever receive takes which message, none is left over.
fn select(message: &Message) -> Select {
    let Message { from, tag, .. } = *message;
    match message.class {
        0 => Select::exactly(Some(from), Some(tag)),
        1 => Select::exactly(None, Some(tag)),
        // Even or odd, both of them.
        2 => Select {
            sender_mask: 1,
            sender: from,
            tag_mask: CLASS | 1,
            tag,
            ..Select::ANY
        },
        _ => Select {
            tag_mask: CLASS,
            ..Select::exactly(Some(from), Some(tag))
        },
    }
}

/// Puts and gets such that no byte is put twice, or put and got, in one phase.
fn accesses(draw: &mut Draw, processes: u32, steps: &mut [Vec<Step>]) {
    let mut taken: Vec<(Range, bool)> = Vec::new();
    for _ in 0..draw.below(3 * u64::from(processes).min(30)) {
        let board = draw.below(2) as usize;
        let length = draw.length().min(BOARDS[board]);
        let range = Range {
            process: draw.below(processes.into()) as u32,
            board,
            at: draw.below(BOARDS[board] - length + 1),
            length,
        };
        let put = draw.chance(50);
        let clash = |&(other, by_put): &(Range, bool)| {
            let same = (other.process, other.board) == (range.process, range.board);
            let apart = other.at + other.length <= range.at || range.at + range.length <= other.at;
            same && !apart && (put || by_put)
        };
        if taken.iter().any(clash) {
            continue;
        }
        taken.push((range, put));
        let step = if put {
            let seed = draw.0.next_u64();
            Step::Put { to: range, seed }
        } else {
            Step::Get { from: range }
        };
        steps[draw.below(processes.into()) as usize].push(step);
    }
}
