//! Programs, drawn from a seed.

use crate::collective::{Barrier, BroadcastMethod, GroupCollective, Kind, Reduce, SPANS};
use crate::machine::{Shape, SwarmMachine};
use crate::numbers::Draw;
use crate::program::{
    BOARDS, CallLibrary, HEAD, MessageLabel, ProcessOperation, ProcessStep, ProgramPhase, Range,
    SLOT, SwarmProgram, WORDS,
};

/// A program's theme. Faults coincide with each other and with the same few operations more often
/// in small programs: most programs are brief, and most leave out some kinds of operations.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each theme is on or off")]
struct Theme {
    /// Few processes, and few operations.
    brief: bool,
    /// Everything is short, so that packets get through where many bits are wrong.
    short: bool,
    messages: bool,
    accesses: bool,
    additions: bool,
    queues: bool,
    calls: bool,
}

impl Theme {
    fn draw(draw: &mut Draw) -> Theme {
        let brief = draw.chance(65);
        let all = draw.chance(if brief { 20 } else { 60 });
        // One kind at least.
        let one = draw.below(5);
        let mut kind = |number| all || number == one || draw.chance(30);
        Theme {
            messages: kind(0),
            accesses: kind(1),
            additions: kind(2),
            queues: kind(3),
            calls: kind(4),
            brief,
            short: draw.chance(30),
        }
    }
}

/// A random machine, and a program for it.
pub fn draw(seed: u64) -> (SwarmMachine, SwarmProgram) {
    let mut draw = Draw::new(seed, "swarm");
    let theme = Theme::draw(&mut draw);
    let processes = match draw.below(10) {
        _ if theme.brief => 2 + draw.below(5),
        0 => 17 + draw.below(48),
        1..=5 => 7 + draw.below(10),
        _ => 1 + draw.below(6),
    };
    let machine = SwarmMachine::draw(&mut draw, processes as u32, theme.brief);
    let is_tree = matches!(machine.shape, Shape::Tree { .. });
    let mut program = SwarmProgram {
        places: places(&mut draw, &machine, processes),
        rounds: (0..draw.below(3))
            .map(|_| round(&mut draw, processes))
            .collect(),
        slots: draw.one_of(&[1, 2, 4]),
        phases: Vec::new(),
    };
    let mut drawing = Drawing {
        groups: program.groups(),
        roomy: machine.is_roomy(),
        bits: vec![0; (processes * u64::from(WORDS)) as usize],
        ops: 0,
        row: if is_tree {
            row(&program.places)
        } else {
            Vec::new()
        },
        theme,
        draw,
    };
    let phases = drawing.draw.below(if theme.brief { 2 } else { 3 });
    program.phases = (0..=phases).map(|_| drawing.phase()).collect();
    (machine, program)
}

/// The processes' nodes: mostly side by side, as hardware broadcasts need them, or anywhere.
fn places(draw: &mut Draw, machine: &SwarmMachine, processes: u64) -> Vec<u32> {
    let (nodes, cpus) = (machine.shape.nodes(), machine.cpus());
    let least = (processes as u32).div_ceil(nodes);
    let dense = draw.chance(80);
    let each = if dense && draw.chance(80) {
        least
    } else {
        cpus
    };
    let mut places: Vec<u32> = (0..nodes)
        .flat_map(|node| vec![node; each as usize])
        .collect();
    if !dense || draw.chance(30) {
        draw.shuffle(&mut places);
    }
    if dense {
        let used = (processes as u32).div_ceil(each);
        let first = draw.below(u64::from(nodes - used) + 1) as u32;
        places.retain(|node| (first..first + used).contains(node));
    }
    places.truncate(processes as usize);
    places
}

/// The processes in node order; empty unless they are on adjacent nodes, one on each.
fn row(places: &[u32]) -> Vec<u32> {
    let mut row: Vec<u32> = (0..places.len() as u32).collect();
    let node = |process: &u32| places[*process as usize];
    row.sort_by_key(node);
    if row.windows(2).any(|two| node(&two[0]) + 1 != node(&two[1])) {
        row.clear();
    }
    row
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
    label: MessageLabel,
    length: u64,
}

/// A program in the making.
struct Drawing {
    draw: Draw,
    groups: Vec<Vec<u32>>,
    /// Whether the system's buffers are large enough.
    roomy: bool,
    /// By process and word, the bits that operations have.
    bits: Vec<u32>,
    /// Operations so far.
    ops: u32,
    theme: Theme,
    /// The processes in node order, if a broadcast can reach any range of them.
    row: Vec<u32>,
}

impl Drawing {
    fn op(&mut self) -> u32 {
        self.ops += 1;
        self.ops - 1
    }

    fn processes(&self) -> u32 {
        self.groups[0].len() as u32
    }

    fn process(&mut self) -> u32 {
        let processes = self.processes();
        self.draw.below(processes.into()) as u32
    }

    /// The operation count for a kind, per process and in addition; zero if the theme excludes the
    /// kind.
    fn many(&mut self, is_there: bool, each: u64, more: u64) -> u64 {
        let most = each * u64::from(self.processes()).min(16) + more;
        let most = most.min(if self.theme.brief { 9 } else { u64::MAX });
        if is_there { self.draw.below(most) } else { 0 }
    }

    fn length(&mut self) -> u64 {
        self.draw.length(self.theme.short)
    }

    fn messages(&mut self, blocking: bool) -> Vec<Message> {
        let many = self.many(self.theme.messages, 4, 6);
        let mut messages = Vec::new();
        for _ in 0..many {
            let (from, to) = (self.process(), self.process());
            // A process cannot wait for a message to itself before it has received it.
            if blocking && from == to {
                continue;
            }
            // A process that waits for one message at a time must name the sender, or may take the
            // wrong message and wait forever.
            let classes: &[u32] = if blocking { &[0, 3] } else { &[0, 1, 2, 3] };
            let class = self.draw.one_of(classes);
            let tag = self.draw.below(4) as u32;
            messages.push(Message {
                from,
                to,
                label: MessageLabel { class, tag },
                length: self.length(),
            });
        }
        messages
    }

    fn phase(&mut self) -> ProgramPhase {
        let blocking = self.draw.chance(30);
        let mut steps: Vec<Vec<ProcessStep>> = (0..self.processes()).map(|_| Vec::new()).collect();
        let messages = self.messages(blocking);
        // Messages to queues may wait for their receiver's turn, and Shmem's collective calls wait
        // for all messages.
        let queues = !blocking && self.theme.queues && self.draw.chance(60);
        // All processes come to collective calls in the same order, and between the same messages
        // if they wait for messages.
        let many = self.many(self.theme.calls, 0, 6);
        let mut calls: Vec<usize> = (0..many)
            .map(|_| self.draw.below(messages.len() as u64 + 1) as usize)
            .collect();
        calls.sort_unstable();
        let mut calls = calls.into_iter().peekable();
        // Remainders of an earlier call are most visible to another call of the same kind.
        let alike = self.draw.chance(30);
        let alike = alike.then(|| self.collective(!queues));
        for index in 0..=messages.len() {
            while calls.next_if_eq(&index).is_some() {
                let call = match alike {
                    Some(call) => GroupCollective {
                        seed: self.draw.below(1 << 32),
                        ..call
                    },
                    None => self.collective(!queues),
                };
                let op = self.op();
                for &member in &self.groups[call.group] {
                    let act = ProcessOperation::Collective(call);
                    steps[member as usize].push(ProcessStep { op, act });
                }
            }
            let Some(message) = messages.get(index) else {
                break;
            };
            self.message(message, &messages, &mut steps);
        }
        self.accesses(&mut steps);
        self.additions(&mut steps);
        if queues {
            self.queues(&mut steps);
        }
        for steps in &mut steps {
            if !blocking {
                self.draw.shuffle(steps);
                in_order(steps);
            }
        }
        for steps in &mut steps {
            for _ in 0..self.draw.below(4) {
                let at = self.draw.below(steps.len() as u64 + 1) as usize;
                let time = self.draw.one_of(&[100, 1000, 10_000, 100_000]);
                let act = ProcessOperation::Compute(self.draw.below(time));
                steps.insert(at, ProcessStep { op: self.op(), act });
            }
        }
        ProgramPhase { blocking, steps }
    }

    fn message(&mut self, message: &Message, all: &[Message], steps: &mut [Vec<ProcessStep>]) {
        let Message {
            from,
            to,
            label,
            length,
        } = *message;
        let op = self.op();
        let mpi = |draw: &mut Draw| label.class < 2 && draw.chance(40);
        let send = ProcessOperation::Send {
            to,
            label,
            length,
            synchronous: self.draw.chance(10),
            adapter: self.draw.chance(30),
            mpi: mpi(&mut self.draw),
        };
        // Any message in the class may come.
        let alike = |other: &&Message| other.to == to && other.label.class == label.class;
        let room = all.iter().filter(alike).map(|other| other.length).max();
        let room = room.expect("there is this one") + self.draw.below(9);
        let mpi = mpi(&mut self.draw);
        let receive = ProcessOperation::Receive {
            from,
            label,
            room: Some(room).filter(|_| mpi || !self.roomy || self.draw.chance(80)),
            adapter: self.draw.chance(30),
            mpi,
        };
        steps[from as usize].push(ProcessStep { op, act: send });
        steps[to as usize].push(ProcessStep { op, act: receive });
    }

    /// Puts, gets and notifications such that no byte is put twice, or put and got, in one phase.
    fn accesses(&mut self, steps: &mut [Vec<ProcessStep>]) {
        let mut taken: Vec<(Range, bool)> = Vec::new();
        for _ in 0..self.many(self.theme.accesses, 3, 2) {
            let put = self.draw.chance(60);
            // One process, or those on a range of nodes.
            let spreads = put && !self.row.is_empty() && self.draw.chance(40);
            let (board, mut length) = (self.draw.below(2) as usize, self.length());
            let mut targets = vec![self.process()];
            if spreads {
                let first = self.draw.below(self.row.len() as u64) as usize;
                let last = first + self.draw.below((self.row.len() - first) as u64) as usize;
                targets = self.row[first..=last].to_vec();
                // In most cases several packets, some of which may be lost.
                if !self.theme.short && self.draw.chance(60) {
                    length = self.draw.below(3000);
                }
            }
            let length = length.min(BOARDS[board]);
            let range = Range {
                process: targets[0],
                board,
                at: self.draw.below(BOARDS[board] - length + 1),
                length,
            };
            let ranges = targets.iter().map(|&process| Range { process, ..range });
            let ranges: Vec<Range> = ranges.collect();
            let clash = |&(other, by_put): &(Range, bool)| {
                let same = other.board == range.board && targets.contains(&other.process);
                let apart =
                    other.at + other.length <= range.at || range.at + range.length <= other.at;
                same && !apart && (put || by_put)
            };
            if taken.iter().any(clash) {
                continue;
            }
            taken.extend(ranges.iter().map(|&range| (range, put)));
            let (op, process) = (self.op(), self.process());
            if let [to, .., last] = ranges[..] {
                let last = last.process;
                let act = ProcessOperation::Spread { to, last };
                steps[process as usize].push(ProcessStep { op, act });
                for at in ranges {
                    let act = ProcessOperation::Notified { at };
                    steps[at.process as usize].push(ProcessStep { op, act });
                }
                continue;
            }
            let by = self.draw.one_of(&[
                CallLibrary::Elan,
                CallLibrary::Elan,
                CallLibrary::Shmem,
                CallLibrary::Elan3,
            ]);
            let notify = put && by != CallLibrary::Shmem && self.draw.chance(30);
            let act = match (put, notify) {
                (false, _) => ProcessOperation::Get { from: range, by },
                (true, false) => ProcessOperation::Put { to: range, by },
                (true, true) => ProcessOperation::Notify { to: range, by },
            };
            steps[process as usize].push(ProcessStep { op, act });
            if notify {
                let act = ProcessOperation::Notified { at: range };
                steps[range.process as usize].push(ProcessStep { op, act });
            }
        }
    }

    /// Atomic additions.
    fn additions(&mut self, steps: &mut [Vec<ProcessStep>]) {
        for _ in 0..self.many(self.theme.additions, 2, 2) {
            let (to, word) = (self.process(), self.draw.below(WORDS.into()) as u32);
            let bits = &mut self.bits[(to * WORDS + word) as usize];
            if *bits < u64::BITS {
                let act = ProcessOperation::Add {
                    to,
                    word,
                    bit: *bits,
                };
                *bits += 1;
                let (op, process) = (self.op(), self.process());
                steps[process as usize].push(ProcessStep { op, act });
            }
        }
    }

    /// Messages to queues: few from each process, so that messages that wait for a slot leave room
    /// for its others.
    fn queues(&mut self, steps: &mut [Vec<ProcessStep>]) {
        let mut left = vec![8; steps.len()];
        for _ in 0..self.many(true, 2, 2) {
            let (from, to) = (self.process() as usize, self.process());
            if left[from] == 0 {
                continue;
            }
            left[from] -= 1;
            let (op, length) = (self.op(), HEAD + self.draw.below(SLOT - HEAD + 1));
            steps[from].push(ProcessStep {
                op,
                act: ProcessOperation::Enqueue { to, length },
            });
            steps[to as usize].push(ProcessStep {
                op,
                act: ProcessOperation::Dequeue,
            });
        }
    }

    fn collective(&mut self, shmem: bool) -> GroupCollective {
        let length = self.length();
        let draw = &mut self.draw;
        let group = draw.below(self.groups.len() as u64) as usize;
        let (all, members) = (group == 0, self.groups[group].len() as u64);
        let adapter = draw.chance(40);
        let span = SPANS[usize::from(adapter)];
        let root = draw.below(members) as u32;
        let length = length.min(span);
        // MPI has only the group with all processes.
        let kind = match draw.below(if shmem { 4 } else { 3 }) {
            0 => Kind::Barrier(draw.one_of(&[
                Barrier::Software,
                Barrier::Hardware,
                Barrier::HardwareEvent,
                either(shmem, Barrier::Shmem, Barrier::Hardware),
                either(all, Barrier::Mpi, Barrier::Software),
            ])),
            1 => Kind::Broadcast {
                by: draw.one_of(&[
                    BroadcastMethod::Software,
                    BroadcastMethod::Hardware,
                    BroadcastMethod::Hardware,
                    either(shmem, BroadcastMethod::Shmem, BroadcastMethod::Software),
                    either(all, BroadcastMethod::Mpi, BroadcastMethod::Software),
                ]),
                root,
                length,
            },
            2 => Kind::Reduce {
                by: draw.one_of(&[
                    Reduce::One(root),
                    Reduce::All,
                    either(shmem, Reduce::Shmem, Reduce::All),
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
        GroupCollective {
            group,
            kind,
            adapter,
            seed: draw.below(1 << 32),
        }
    }
}

/// Restores the order of a process's collective calls.
fn in_order(steps: &mut [ProcessStep]) {
    let is_call = |step: &ProcessStep| matches!(step.act, ProcessOperation::Collective(_));
    let places: Vec<usize> = (0..steps.len())
        .filter(|&place| is_call(&steps[place]))
        .collect();
    let mut calls: Vec<ProcessStep> = places.iter().map(|&place| steps[place].clone()).collect();
    calls.sort_by_key(|step| step.op);
    for (place, call) in places.into_iter().zip(calls) {
        steps[place] = call;
    }
}

/// An optional value, or its replacement.
fn either<T>(is_there: bool, one: T, other: T) -> T {
    if is_there { one } else { other }
}
