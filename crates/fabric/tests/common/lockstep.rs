//! Two fabrics in lockstep, one with each mover, under the same traffic; and the earliest record in
//! which they differ.
//!
//! At every checkpoint these are compared: the notices to the adapters, the headers, heads and
//! tails of all channels with their cycles, the traffic and packet waits of each link, and the
//! positions of all flits. With a checkpoint after every cycle, the comparison covers every flow
//! change on every link.

use super::guard::guarded;
use super::random::{Case, inputs};
use super::search::Tally;
use super::{Bench, Heard};
use fabric::motion::{FlitCensus, Lanes, MotionReport};
use fabric::topology::End;
use fabric::{
    Config, Cycle, Destination, Engine, LinkCounters, LinkId, PacketSpec, Place, Priority, Topology,
};
use std::collections::{BTreeSet, VecDeque};
use std::fmt::{self, Debug, Display, Formatter};

/// How a case is compared.
#[derive(Clone, Debug)]
pub struct Manner {
    /// Cycles between checkpoints.
    pub stride: Cycle,
    /// Whether the worm mover handles each cycle in the opposite order.
    pub reversed: bool,
    /// The comparison ends this many cycles after the last offer, the turnarounds of all packets
    /// not counted, if the network has not come to rest.
    pub patience: Cycle,
}

impl Display for Manner {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let (stride, order) = (
            self.stride,
            if self.reversed { "opposite" } else { "usual" },
        );
        let (source, destination, flits) = (LATE.source, LATE.destination, LATE.flits);
        write!(
            f,
            "compared every {stride} cycles, the worm mover in the {order} order; when all is at \
            rest, \
             node {source} -> {destination}, {flits} flits, as far as a buffer holds them"
        )
    }
}

/// Sent when all flits have stopped, to see whether both movers notice. Shorter where a buffer must
/// hold a whole packet.
const LATE: PacketSpec = PacketSpec {
    source: Place::new(0),
    destination: Destination::Node(Place::new(0)),
    flits: 5,
    priority: Priority::Low,
    traffic_class: 0,
    awaits_end: false,
    token: 0,
};

/// The earliest divergent record, and the common records before it.
#[derive(Clone, Debug)]
pub struct Difference {
    cycle: Cycle,
    what: String,
    flit: String,
    worm: String,
    before: Vec<String>,
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(
            f,
            "earliest divergent record: cycle {}, {}",
            self.cycle, self.what
        )?;
        writeln!(f, "  flit mover: {}", self.flit)?;
        writeln!(f, "  worm mover: {}", self.worm)?;
        writeln!(
            f,
            "what both agree on just before, on links that meet there:"
        )?;
        for line in &self.before {
            writeln!(f, "  {line}")?;
        }
        if self.before.is_empty() {
            writeln!(f, "  nothing")?;
        }
        Ok(())
    }
}

/// A header, a head or a tail, and its cycle.
type Moment = (Cycle, MotionReport);

/// One side: a machine with one engine, and the compared part of its record.
struct Side {
    bench: Bench,
    heard: usize,
    counters: Vec<LinkCounters>,
}

impl Side {
    fn new(case: &Case, engine: Engine) -> Self {
        let config = Config {
            engine,
            ..case.config.clone()
        };
        let mut bench = Bench::with_answers(config, case.answer());
        bench.fabric.watch();
        Side {
            bench,
            heard: 0,
            counters: Vec::new(),
        }
    }

    /// The notices to the adapters since the last call.
    fn news(&mut self) -> Vec<Heard> {
        let from = std::mem::replace(&mut self.heard, self.bench.heard.len());
        self.bench.heard[from..].to_vec()
    }

    /// The moments that were reported since the last call, sorted; tails separately.
    fn moments(&mut self) -> [Vec<Moment>; 2] {
        let mut moments = self.bench.fabric.watch();
        moments.sort_unstable();
        let is_tail = |&(_, moved): &Moment| matches!(moved, MotionReport::Tail(..));
        let (tails, others) = moments.into_iter().partition(is_tail);
        [others, tails]
    }

    fn count(&mut self) -> FlitCensus {
        let fabric = &self.bench.fabric;
        self.counters = self.bench.counters();
        fabric.flit_census()
    }
}

/// Both sides, and the record on which they agree.
struct Pair {
    flit: Side,
    worm: Side,
    topology: Topology,
    lanes: Lanes,
    /// Tails that the flit mover has reported. The worm mover may report a tail later where the
    /// report has no effect.
    tails: BTreeSet<Moment>,
    /// The last moments that were compared.
    agreed: VecDeque<Moment>,
    /// By link: flits carried at the last checkpoint, and whether it moved in the cycle before.
    flow: Vec<(u64, bool)>,
    each_cycle: bool,
    tally: Tally,
}

/// Moments that are kept for a report.
const AGREED: usize = 4096;
const SHOWN: usize = 12;

impl Pair {
    fn new(case: &Case, manner: &Manner) -> Self {
        let mut worm = Side::new(case, Engine::Worm);
        if manner.reversed {
            worm.bench.fabric.reverse_order_in_cycles();
        }
        let topology = case.config.topology.clone();
        Pair {
            flit: Side::new(case, Engine::Flit),
            worm,
            lanes: Lanes::new(case.config.channels),
            tails: BTreeSet::new(),
            agreed: VecDeque::new(),
            flow: vec![(0, false); topology.links() as usize],
            each_cycle: manner.stride == 1,
            tally: Tally {
                cases: 1,
                ..Tally::default()
            },
            topology,
        }
    }

    /// Has both sides act; a broken invariant on one side is a difference.
    fn both<T>(
        &mut self,
        cycle: Cycle,
        act: impl Fn(&mut Side) -> T,
    ) -> Result<[T; 2], Difference> {
        let flit = guarded(|| act(&mut self.flit));
        let worm = guarded(|| act(&mut self.worm));
        match (flit, worm) {
            (Ok(flit), Ok(worm)) => Ok([flit, worm]),
            ends => {
                let [flit, worm] = <[Result<T, String>; 2]>::from(ends)
                    .map(|end| end.err().unwrap_or_else(|| "goes on".into()));
                Err(self.difference(cycle, "an invariant is broken", None, flit, worm))
            }
        }
    }

    /// Goes to the end of cycle `at` and compares all events.
    fn go_to(&mut self, at: Cycle) -> Result<(), Difference> {
        self.both(at, |side| side.bench.run_until(at))?;
        let [[flit, tails], [worm, worm_tails]] = self.both(at, Side::moments)?;
        self.compare_moments(&flit, &worm)?;
        self.tails.extend(tails);
        self.compare_tails(&worm_tails)?;
        let [flit, worm] = self.both(at, Side::news)?;
        for place in 0..flit.len().max(worm.len()) {
            self.same(
                at,
                None,
                "an adapter hears",
                &flit.get(place),
                &worm.get(place),
            )?;
        }
        let [flit, worm] = self.both(at, Side::count)?;
        self.compare_counters(at)?;
        self.same(at, None, "the flits are", &flit, &worm)
    }

    fn compare_moments(&mut self, flit: &[Moment], worm: &[Moment]) -> Result<(), Difference> {
        for place in 0..flit.len().max(worm.len()) {
            let (flit, worm) = (flit.get(place), worm.get(place));
            if flit != worm {
                let earliest = flit.into_iter().chain(worm).min().expect("one is there");
                return Err(self.divergent(*earliest, "the next header or head", flit, worm));
            }
            self.agree(flit);
        }
        Ok(())
    }

    fn compare_tails(&mut self, worm: &[Moment]) -> Result<(), Difference> {
        for tail in worm {
            if !self.tails.remove(tail) {
                return Err(self.divergent(*tail, "a tail", None, Some(tail)));
            }
            self.agree(Some(tail));
        }
        Ok(())
    }

    fn agree(&mut self, moment: Option<&Moment>) {
        self.tally.moments += 1;
        self.agreed.extend(moment);
        let surplus = self.agreed.len().saturating_sub(AGREED);
        self.agreed.drain(..surplus);
    }

    fn divergent(
        &self,
        earliest: Moment,
        what: &str,
        flit: Option<&Moment>,
        worm: Option<&Moment>,
    ) -> Difference {
        let [flit, worm] = [flit, worm]
            .map(|moment| moment.map_or("none yet".into(), |&moment| self.describe(moment)));
        let link = self.link_of(earliest.1);
        self.difference(earliest.0, what, Some(link), flit, worm)
    }

    fn compare_counters(&mut self, at: Cycle) -> Result<(), Difference> {
        let (flit, worm) = (&self.flit.counters, &self.worm.counters);
        let mut links = LinkId::all(self.topology.links()).zip(flit.iter().zip(worm));
        if let Some((link, (flit, worm))) = links.find(|(_, (flit, worm))| flit != worm) {
            self.same(at, Some(link), "has so far", flit, worm)?;
        }
        if self.each_cycle {
            for (counters, (before, moved)) in flit.iter().zip(&mut self.flow) {
                let moves = counters.flits > *before;
                self.tally.changes += u64::from(moves != *moved);
                (*before, *moved) = (counters.flits, moves);
            }
        }
        Ok(())
    }

    fn same<T: PartialEq + Debug>(
        &self,
        cycle: Cycle,
        link: Option<LinkId>,
        what: &str,
        flit: &T,
        worm: &T,
    ) -> Result<(), Difference> {
        if flit == worm {
            return Ok(());
        }
        let name = link.map_or(String::new(), |link| self.name(link) + " ");
        let (flit, worm) = (format!("{flit:?}"), format!("{worm:?}"));
        Err(self.difference(cycle, &(name + what), link, flit, worm))
    }

    fn difference(
        &self,
        cycle: Cycle,
        what: &str,
        link: Option<LinkId>,
        flit: String,
        worm: String,
    ) -> Difference {
        let near =
            |&&(_, moved): &&Moment| link.is_none_or(|link| self.touch(link, self.link_of(moved)));
        let mut before: Vec<_> = self.agreed.iter().filter(near).collect();
        before.sort_unstable();
        let shown = before.len().saturating_sub(SHOWN);
        let before = before[shown..].iter().map(|&&moment| self.describe(moment));
        Difference {
            cycle,
            what: what.to_string(),
            flit,
            worm,
            before: before.collect(),
        }
    }

    /// Whether two links have an end in common.
    fn touch(&self, a: LinkId, b: LinkId) -> bool {
        let place = |end| match end {
            End::Node(node) => (true, node.get()),
            End::Switch { switch, .. } => (false, switch.get()),
        };
        let ends = |link| <[End; 2]>::from(self.topology.ends(link)).map(place);
        ends(a).iter().any(|end| ends(b).contains(end))
    }

    fn link_of(&self, moved: MotionReport) -> LinkId {
        let (MotionReport::Header(channel)
        | MotionReport::Head(channel)
        | MotionReport::Tail(channel, _)) = moved;
        self.lanes.link(channel)
    }

    fn name(&self, link: LinkId) -> String {
        let (from, to) = self.topology.ends(link);
        let [from, to] = [from, to].map(|end| self.topology.end_name(end));
        format!("link {link} ({from} -> {to})")
    }

    fn describe(&self, (cycle, moved): Moment) -> String {
        let (channel, what) = match moved {
            MotionReport::Header(channel) => (channel, "the header arrives"),
            MotionReport::Head(channel) => (channel, "the first flit is sent"),
            MotionReport::Tail(channel, _) => (channel, "the last flit is sent"),
        };
        let (link, lane) = (
            self.name(self.lanes.link(channel)),
            self.lanes.lane(channel),
        );
        format!("cycle {cycle}: {link}, channel {lane}: {what}")
    }

    /// Goes to the next checkpoint, `bound` at the latest. Cycles without work for the flit mover
    /// change no state; they are passed over and not counted.
    fn step(&mut self, at: Cycle, stride: Cycle, bound: Cycle) -> Result<Cycle, Difference> {
        let quiet = self.flit.bench.fabric.next_cycle().unwrap_or(Cycle::MAX);
        let next = (at + stride).max(quiet).min(bound);
        self.tally.cycles += stride.min(next - at);
        self.go_to(next - 1)?;
        Ok(next)
    }

    /// All flits have stopped: both sides must have come to rest in the same cycle, the earliest
    /// cycle for a new packet.
    fn rest(&mut self, at: Cycle, turnaround: Cycle) -> Result<(), Difference> {
        let [flit, worm] = self.both(at, |side| side.bench.fabric.next_cycle())?;
        self.same(at, None, "the next cycle with anything to do", &flit, &worm)?;
        let [flit, worm] = self.both(at, |side| side.bench.fabric.packet_census())?;
        self.same(at, None, "the packets are", &flit, &worm)?;
        if flit.acknowledged < flit.offered {
            let [flit, worm] = [flit, worm].map(|census| format!("{census:?}"));
            let what = "packets are left over: a deadlock or a loss";
            return Err(self.difference(at, what, None, flit, worm));
        }
        self.both(at, |side| {
            let fabric = &mut side.bench.fabric;
            let flits = LATE.flits.min(fabric.config().buffer);
            fabric.offer(0, PacketSpec { flits, ..LATE });
        })?;
        self.go_to(at + 1_000_000 + turnaround)?;
        match self.tails.first() {
            Some(tail) => Err(self.divergent(*tail, "a tail", Some(tail), None)),
            None => Ok(()),
        }
    }
}

/// Runs a case with both movers, and compares them.
pub fn compare(case: &Case, manner: &Manner) -> Result<Tally, Difference> {
    let stride = manner.stride;
    let mut pair = Pair::new(case, manner);
    let mut at = 0;
    for (then, input) in inputs(&case.acts, &case.traffic) {
        while at + stride <= then {
            at = pair.step(at, stride, then)?;
        }
        pair.both(at, |side| side.bench.input(then, input))?;
    }
    let last = case.traffic.last().map_or(0, |offer| offer.0);
    let last = last.max(case.acts.last().map_or(0, |act| act.0));
    let held = case.turnaround * case.traffic.len() as u64;
    let until = last + manner.patience + held;
    while pair.flit.bench.fabric.next_cycle().is_some() && at < until {
        at = pair.step(at, stride, Cycle::MAX)?;
    }
    pair.tally.packets = pair.flit.bench.fabric.packet_census().acknowledged;
    if at < until {
        pair.rest(at, case.turnaround)?;
    }
    Ok(pair.tally)
}

/// Compares a case; a difference between two checkpoints is sought again cycle by cycle.
pub fn compare_closely(case: &Case, manner: &Manner) -> Result<Tally, Difference> {
    compare(case, manner).map_err(|difference| {
        let closely = Manner {
            stride: 1,
            ..manner.clone()
        };
        compare(case, &closely).err().unwrap_or(difference)
    })
}
