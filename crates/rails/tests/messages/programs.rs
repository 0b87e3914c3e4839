//! Random programs on random machines: every byte of every message is compared, and each run's
//! invariants are checked.

use crate::common::multirail::{Bench, Ends, Place, Put, multirail, policies};
use crate::common::run_to;
use elan::{Config, DmaError, Placement};
use fabric::Engine;
use proptest::prelude::*;
use rails::Kind;
use rails::allocation::optimal_rails;
use rails::policies::{BASIC, DYNAMIC, HYBRID, STATIC};
use std::rc::Rc;
use units::{Bytes, Time};

/// A program's message.
#[derive(Clone, Debug)]
pub struct Send {
    pub process: usize,
    pub to: u32,
    pub size: u64,
    pub at: Time,
}

/// Processes that send messages to each other's nodes.
#[derive(Clone, Debug)]
pub struct Program {
    pub nodes: u32,
    pub rails: u32,
    pub policy: Kind,
    pub striping: f64,
    pub threshold: u64,
    pub placement: Placement,
    /// Processes per node.
    pub processes: usize,
    pub sends: Vec<Send>,
}

impl Program {
    pub fn config(&self) -> Config {
        let mut config = multirail(self.nodes, self.rails, self.policy);
        let rails = config.rails.as_mut().expect("it has rails");
        rails.striping = self.striping;
        rails.threshold = Bytes::new(self.threshold);
        config
    }

    pub fn source(&self, send: &Send) -> u32 {
        (send.process / self.processes) as u32
    }
}

/// A random program.
pub fn program() -> impl Strategy<Value = Program> {
    let size = prop_oneof![0..2_u64, 1..64_u64, 300..1000_u64, 1000..6000_u64];
    let send = (any::<u16>(), any::<u16>(), size, 0..40_000_u64);
    let sends = prop::collection::vec(send, 1..16);
    let shape = (2..=8_u32, 1..=4_u32, 1..=3_usize, 0..policies().len());
    let kind = (
        prop::sample::select(vec![0.0, 0.5, 1.0]),
        any::<bool>(),
        prop::sample::select(vec![Placement::Adapter, Placement::Main]),
    );
    (shape, kind, sends).prop_map(|((nodes, rails, processes, policy), kind, sends)| {
        let (striping, burst, placement) = kind;
        let policy = policies()[policy];
        let rails = if policy == STATIC {
            rails.max(optimal_rails(nodes))
        } else {
            rails
        };
        let all = nodes as usize * processes;
        let send = |(process, to, size, at): (u16, u16, u64, u64)| {
            let process = usize::from(process) % all;
            let from = (process / processes) as u32;
            Send {
                process,
                to: (from + 1 + u32::from(to) % (nodes - 1)) % nodes,
                size,
                // All at once, or scattered over 40 us.
                at: Time::from_ns(if burst { 0 } else { at }),
            }
        };
        Program {
            nodes,
            rails,
            policy,
            striping,
            threshold: 600,
            placement,
            processes,
            sends: sends.into_iter().map(send).collect(),
        }
    })
}

/// Bytes that are never zero, and distinguish messages.
fn contents(message: usize, size: u64) -> Vec<u8> {
    let byte = |index: u64| 1 + ((message as u64 * 89 + index * 31 + index / 250) % 255) as u8;
    (0..size).map(byte).collect()
}

/// A program under way.
pub struct Running {
    pub bench: Bench,
    /// The buffer that each message goes to.
    destinations: Vec<Rc<Place>>,
    meters: Vec<elan::Meter>,
    /// For each process its messages' numbers, and their ends.
    processes: Vec<(Vec<usize>, Ends)>,
}

impl Running {
    pub fn start(program: &Program, config: &Config) -> Self {
        let mut running = Running {
            bench: Bench::new(config),
            destinations: Vec::new(),
            meters: Vec::new(),
            processes: Vec::new(),
        };
        let bench = &mut running.bench;
        let mut puts: Vec<Option<Put>> = Vec::new();
        for (message, send) in program.sends.iter().enumerate() {
            let source = program.source(send);
            let from = bench.place(source, program.placement, send.size.max(1));
            let to = bench.place(send.to, program.placement, send.size.max(1));
            for (adapter, &region) in bench.programs(source).iter().zip(&from.regions) {
                let bytes = contents(message, send.size);
                adapter.write(region, &bytes);
            }
            let meter = bench.cluster.meter();
            running.meters.push(meter);
            running.destinations.push(Rc::clone(&to));
            puts.push(Some(Put {
                at: send.at,
                from,
                to,
                size: send.size,
                meter: Some(meter),
            }));
        }
        for process in 0..program.nodes as usize * program.processes {
            let own = |number: &usize| program.sends[*number].process == process;
            let own: Vec<usize> = (0..program.sends.len()).filter(own).collect();
            let puts = own.iter().map(|&number| puts[number].take().expect("once"));
            let node = (process / program.processes) as u32;
            let index = (process % program.processes) as u32;
            let ends = bench.spawn(node, index, puts.collect());
            running.processes.push((own, ends));
        }
        running
    }

    /// The bytes at a message's destination, on each rail.
    fn held(&self, program: &Program, message: usize) -> Vec<Vec<u8>> {
        let to = program.sends[message].to;
        let regions = &self.destinations[message].regions;
        let rails = self.bench.programs(to).iter().zip(regions);
        let held = rails.map(|(adapter, &region)| adapter.read(region).expect("it holds bytes"));
        held.map(Vec::from).collect()
    }

    /// Each message's result; `None` if its process never reported one.
    pub fn ends(&self, program: &Program) -> Vec<Option<Result<(), DmaError>>> {
        let times = self.times(program).into_iter();
        times.map(|known| known.map(|(_, end)| end)).collect()
    }

    /// The same with the times when the processes knew.
    pub fn times(&self, program: &Program) -> Vec<Option<(Time, Result<(), DmaError>)>> {
        let mut all = vec![None; program.sends.len()];
        for (numbers, ends) in &self.processes {
            for (&number, end) in numbers.iter().zip(&*ends.borrow()) {
                all[number] = Some(*end);
            }
        }
        all
    }

    /// Asserts that a message is there: each byte on at least one rail, no other bytes on any rail;
    /// with `once`, as where no rail fails, each byte on one rail only.
    pub fn check_payload(&self, program: &Program, message: usize, once: bool) {
        let size = program.sends[message].size;
        let held = self.held(program, message);
        for (index, expected) in contents(message, size).into_iter().enumerate() {
            let found = held.iter().map(|bytes| bytes[index]);
            let found: Vec<u8> = found.filter(|&byte| byte != 0).collect();
            assert!(
                !found.is_empty() && found.iter().all(|&byte| byte == expected),
                "byte {index} of message {message} is {found:?}, not {expected}"
            );
            assert!(!once || found.len() == 1, "byte {index} of {message} twice");
        }
        if size == 0 {
            assert!(held.iter().all(|bytes| bytes.iter().all(|&byte| byte == 0)));
        }
        let metered = self.bench.cluster.metered(self.meters[message]).as_u64();
        assert!(
            metered == size || !once && metered > size,
            "{metered} of {size}"
        );
    }
}

/// The time in which a rail stored a message's bytes, as far as samples show.
struct Storing {
    message: usize,
    rail: usize,
    from: Time,
    to: Time,
}

/// Runs a program in small steps, and looks at its memory after each: when each rail stored which
/// bytes.
fn watch(program: &Program, config: &Config) -> (Running, Vec<Storing>) {
    let mut running = Running::start(program, config);
    let count = program.sends.len();
    let mut metered = vec![Bytes::ZERO; count];
    let mut filled = vec![vec![0; program.rails as usize]; count];
    let mut seen: Vec<Storing> = Vec::new();
    let mut now = Time::ZERO;
    while running.ends(program).iter().any(Option::is_none) {
        assert!(now < Time::from_ms(20), "it does not end");
        now += Time::from_ns(100);
        run_to(&mut running.bench.cluster, now);
        for message in 0..count {
            let after = running.bench.cluster.metered(running.meters[message]);
            if std::mem::replace(&mut metered[message], after) == after {
                continue;
            }
            for (rail, bytes) in running.held(program, message).iter().enumerate() {
                let there = bytes.iter().filter(|&&byte| byte != 0).count();
                if std::mem::replace(&mut filled[message][rail], there) == there {
                    continue;
                }
                let known = seen.iter_mut();
                let known = known.filter(|one| one.message == message && one.rail == rail);
                match known.last() {
                    Some(storing) => storing.to = now,
                    None => seen.push(Storing {
                        message,
                        rail,
                        from: now,
                        to: now,
                    }),
                }
            }
        }
        running.bench.rails.check();
    }
    (running, seen)
}

/// The first two messages that an adapter dealt with at once.
fn clash(
    program: &Program,
    seen: &[Storing],
    matters: impl Fn(&Send) -> bool,
) -> Option<(usize, usize)> {
    let ends = |storing: &Storing| {
        let send = &program.sends[storing.message];
        [program.source(send), send.to]
    };
    let seen = seen.iter();
    let seen = seen.filter(|one| matters(&program.sends[one.message]));
    let seen: Vec<&Storing> = seen.collect();
    seen.iter().enumerate().find_map(|(index, one)| {
        let others = seen[index + 1..].iter();
        let mut others = others.filter(|other| other.rail == one.rail);
        let other = others.find(|other| {
            let (one_ends, other_ends) = (ends(one), ends(other));
            one.from < other.to
                && other.from < one.to
                && one_ends.iter().any(|node| other_ends.contains(node))
        });
        other.map(|other| (one.message, other.message))
    })
}

proptest! {
    #![proptest_config(crate::messages::cases(60))]

    /// Every message arrives once and whole, on any rails; no reservation stays; where both ends of
    /// a rail are reserved, no adapter deals with two messages at once, be it as sender or
    /// receiver.
    #[test]
    fn every_byte_arrives_once(program in program()) {
        let (mut running, seen) = watch(&program, &program.config());
        running.bench.finish();
        for (message, end) in running.ends(&program).into_iter().enumerate() {
            prop_assert_eq!(end, Some(Ok(())));
            running.check_payload(&program, message, true);
        }
        let sent: u64 = program.sends.iter().map(|send| send.size).sum();
        let nodes = 0..program.nodes;
        let received: u64 = nodes.flat_map(|node| running.bench.received(node)).sum();
        prop_assert_eq!(sent, received);
        let reserved = |send: &Send| match program.policy {
            DYNAMIC => true,
            HYBRID => send.size > program.threshold,
            _ => false,
        };
        prop_assert_eq!(clash(&program, &seen, reserved), None);
    }
}

proptest! {
    #![proptest_config(crate::messages::cases(30))]

    /// Both engines do the same, to the last packet, as does the same engine again.
    #[test]
    fn engines_agree(program in program()) {
        let run = |engine: Engine| {
            let mut config = program.config();
            config.fabric.engine = engine;
            let mut running = Running::start(&program, &config);
            running.bench.finish();
            let times = running.processes.iter().map(|(_, ends)| ends.borrow().clone());
            (running.bench.cluster.digest(), times.collect::<Vec<_>>())
        };
        let worm = run(Engine::Worm);
        prop_assert_eq!(&worm, &run(Engine::Flit));
        prop_assert_eq!(&worm, &run(Engine::Worm));
    }
}

/// Two nodes that send to each other at once: `clash` finds this without reservation, and finds no
/// clash with it.
#[test]
fn a_clash_is_noticed() {
    let send = |process, to| Send {
        process,
        to,
        size: 6000,
        at: Time::ZERO,
    };
    for (policy, clashes) in [(BASIC, true), (DYNAMIC, false)] {
        for sends in [vec![send(0, 1), send(1, 0)], vec![send(0, 2), send(1, 2)]] {
            let program = Program {
                nodes: 3,
                rails: 1,
                policy,
                striping: 1.0,
                threshold: 0,
                placement: Placement::Adapter,
                processes: 1,
                sends,
            };
            let (_, seen) = watch(&program, &program.config());
            let found = clash(&program, &seen, |_| true);
            assert_eq!(found.is_some(), clashes, "{policy:?}");
        }
    }
}
