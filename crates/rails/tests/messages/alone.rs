//! Times of a lone message, worked out on paper and met to the picosecond: the message itself, the
//! reservation before it, and when each rail end is free again.

use crate::common::multirail::{Bench, multirail};
use crate::common::{bursts, odd_machine, run_to};
use elan::{AdapterConfig, Config};
use rails::Kind;
use rails::policies::{BASIC, DYNAMIC, HYBRID, LOCAL_DYNAMIC, STATIC};
use units::{Bytes, Time};

/// The shipped machine, and a machine with parameters that are no multiples of each other.
fn machines(nodes: u32, rails: u32, policy: Kind) -> [Config; 2] {
    let shipped = multirail(nodes, rails, policy);
    let (mut odd, from) = (shipped.clone(), odd_machine());
    odd.cycle = from.cycle;
    odd.bus = from.bus;
    odd.adapter = AdapterConfig {
        thread_switch: 5,
        thread_issue: 3,
        ..from.adapter
    };
    odd.rails.as_mut().expect("it has rails").handle = 123;
    [shipped, odd]
}

/// An adapter's bus, which starts in the adapter's direction.
#[derive(Default)]
struct Bus {
    to_main: bool,
}

/// The steps' durations.
struct Paper<'a> {
    config: &'a Config,
}

impl Paper<'_> {
    fn cross(&self, bus: &mut Bus, to_main: bool, bytes: u64) -> Time {
        let config = &self.config.bus;
        let mut time = Time::ZERO;
        if std::mem::replace(&mut bus.to_main, to_main) != to_main {
            time += config.turnaround;
        }
        time + bursts(config, bytes)
    }

    /// A process's command has been executed.
    fn command(&self, bus: &mut Bus, at: Time) -> Time {
        at + self.cross(bus, false, 8) + self.config.adapter.command
    }

    /// The process sees an occurrence.
    fn seen(&self, bus: &mut Bus, at: Time) -> Time {
        let adapter = &self.config.adapter;
        at + adapter.event + self.cross(bus, true, 64) + adapter.poll
    }

    /// The thread has handled the control message that lies in its queue.
    fn handled(&self, at: Time) -> Time {
        let (adapter, rails) = (&self.config.adapter, self.config.rails);
        let cycles = adapter.thread_switch + rails.expect("it has rails").handle;
        at + adapter.input + adapter.event + adapter.thread_cycle * u64::from(cycles)
    }

    /// The thread has handed something over.
    fn issued(&self, at: Time) -> Time {
        at + self.config.adapter.thread_cycle * u64::from(self.config.adapter.thread_issue)
    }

    /// A header's cycles between the two nodes, which are farthest apart.
    fn travel(&self) -> u64 {
        let hops: u32 = self.config.fabric.hop_delay.iter().sum();
        2 * u64::from(hops)
    }

    fn cycle_from(&self, at: Time) -> u64 {
        at.div_ceil(self.config.cycle)
    }

    /// A packet's last flit has arrived: a two-byte header, and so many further bytes.
    fn flown(&self, at: Time, bytes: u64) -> Time {
        let flits = (2 + bytes).div_ceil(2);
        self.config.cycle * (self.cycle_from(at) + self.travel() + flits - 1)
    }

    /// A control message has been handled at the other end.
    fn told(&self, at: Time) -> Time {
        self.handled(self.flown(self.issued(at), 24))
    }

    /// A one-packet message: when it has arrived, and when its sender knows.
    fn message(&self, bus: &mut Bus, at: Time, size: u64) -> (Time, Time) {
        let adapter = &self.config.adapter;
        let arrived = self.flown(self.command(bus, at) + adapter.dma_start, size);
        let acknowledged = self.cycle_from(arrived + adapter.turnaround) + self.travel();
        (arrived, self.seen(bus, self.config.cycle * acknowledged))
    }
}

const SIZES: [u64; 4] = [0, 1, 64, 320];
const STARTS: [u64; 3] = [0, 1, 12_345_678];

/// Without reservations, a message takes its DMA's time.
#[test]
fn without_reservation_it_is_a_dma() {
    for policy in [STATIC, BASIC, LOCAL_DYNAMIC, HYBRID] {
        for (nodes, rails) in [(2, 2), (16, 6)] {
            for config in machines(nodes, rails, policy) {
                for (size, start) in SIZES.map(|size| STARTS.map(|start| (size, start))).concat() {
                    let mut config = config.clone();
                    config.rails.as_mut().expect("it has rails").striping = 0.0;
                    let mut bench = Bench::new(&config);
                    let start = Time::from_ps(start);
                    let ends = bench.send((0, 0), nodes - 1, size, start);
                    bench.finish();
                    let paper = Paper { config: &config };
                    let (_, known) = paper.message(&mut Bus::default(), start, size);
                    assert_eq!(
                        ends.take(),
                        (known, Ok(())),
                        "{policy:?}, {size} B at {start}"
                    );
                }
            }
        }
    }
}

/// Where both ends are reserved: request, grant, the process's knowledge of the grant; the message;
/// the receiver's report. And the rails that were granted and are not used. Every end is free at
/// its moment, and not before.
#[test]
fn a_reservation_in_all_its_steps() {
    for (policy, rails) in [(DYNAMIC, 1), (HYBRID, 1), (DYNAMIC, 3)] {
        for nodes in [2, 16] {
            for config in machines(nodes, rails, policy) {
                for (size, start) in SIZES.map(|size| STARTS.map(|start| (size, start))).concat() {
                    let mut config = config.clone();
                    let section = config.rails.as_mut().expect("it has rails");
                    (section.striping, section.threshold) = (0.0, Bytes::ZERO);
                    if policy == HYBRID && size == 0 {
                        continue; // it is as short as the threshold
                    }
                    alone(&config, nodes, size, Time::from_ps(start));
                }
            }
        }
    }
}

fn alone(config: &Config, nodes: u32, size: u64, start: Time) {
    let paper = Paper { config };
    let (mut here, mut there) = (Bus::default(), Bus::default());
    let asked = paper.handled(paper.command(&mut here, start));
    let reserved = paper.told(asked);
    let granted = paper.told(reserved);
    let seen = paper.seen(&mut here, paper.issued(granted));
    // The rails that are given back.
    let mut unused = Bus { ..here };
    let given_back = paper.handled(paper.command(&mut unused, seen));
    let aborted = paper.told(given_back);
    // The rail that is used.
    let (arrived, known) = paper.message(&mut here, seen, size);
    let reported = paper.seen(&mut there, arrived + config.adapter.input);
    let received = paper.handled(paper.command(&mut there, reported));
    let over = paper.told(received);

    let mut bench = Bench::new(config);
    let ends = bench.send((0, 0), nodes - 1, size, start);
    let rails = bench.cluster.rails().cast_signed();
    let mut changes = [asked, reserved].map(|at| (at, rails)).to_vec();
    changes.extend([(received, -1), (over, -1)]);
    if rails > 1 {
        changes.extend([(given_back, 1 - rails), (aborted, 1 - rails)]);
    }
    changes.sort();
    let mut expected = 0;
    for (at, change) in changes {
        for (moment, expected) in [(at - Time::from_ps(1), expected), (at, expected + change)] {
            run_to(&mut bench.cluster, moment);
            let reserved = (bench.rails.reserved() as u32).cast_signed();
            assert_eq!(reserved, expected, "{size} B at {start}: at {moment}");
        }
        expected += change;
    }
    bench.finish();
    assert_eq!(ends.take(), (known, Ok(())), "{size} B at {start}");
    assert_eq!(bench.received(nodes - 1)[0], size);
}

/// The numbers that a reader can follow with a pencil: 320 bytes between neighbours in the shipped
/// machine, in nanoseconds.
#[test]
fn a_reservation_in_numbers() {
    let config = multirail(2, 1, DYNAMIC);
    let mut bench = Bench::new(&config);
    let ends = bench.send((0, 0), 1, 320, Time::ZERO);
    bench.finish();
    // A command crosses the bus in 20 ns, a block in 160. A control packet has 13 flits, and takes
    // two 30 ns hops.
    let control = 2 * 30 + 12 * 5;
    let handle = 400 * 5;
    let granted = 20 + handle + (control + handle) * 2 + 160;
    // The message: 161 flits.
    let arrived = granted + 20 + 2 * 30 + 160 * 5;
    let known = arrived + 30 + 2 * 30 + 160;
    assert_eq!(ends.take(), (Time::from_ns(known), Ok(())));
}
