//! Link, bus and thread processor utilisation over time, for pictures of a run.
//!
//! The run is cut into periods. Its length is not known beforehand: when there are as many periods
//! as memory is meant to hold, each two become one, and later ones are twice as long. A period ends
//! with the first event, or a rank's turn, at or after its nominal end.

use crate::Cluster;
use units::Time;

/// Bounds of the kept period count, both even.
const PERIODS: (usize, usize) = (16, 512);

/// Busy-time sums that are kept, above the lower bound of periods: networks with more parts have
/// fewer periods.
const SUMS: usize = 1 << 22;

/// The first period's length.
const SHORTEST: Time = Time::from_us(1);

/// The kind of thing that a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterKind {
    /// A directed link.
    Link,
    /// An adapter's I/O bus.
    Bus,
    /// An adapter's thread processor.
    Thread,
}

impl MeterKind {
    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            MeterKind::Link => "link",
            MeterKind::Bus => "bus",
            MeterKind::Thread => "thread",
        }
    }
}

/// How busy one thing was in one period; periods in which it was idle have no row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesRow {
    /// When the period began.
    pub begin: Time,
    /// When it ended.
    pub end: Time,
    /// The thing's kind.
    pub thing: MeterKind,
    /// The thing's number.
    pub id: u32,
    /// Busy time in the period.
    pub busy: Time,
}

/// The sums so far, cut into periods.
pub struct MeterSeries {
    things: Vec<(MeterKind, u32)>,
    /// The period count at which each two become one.
    most: usize,
    /// End of each period, and each thing's total busy time until then.
    periods: Vec<(Time, Vec<Time>)>,
    length: Time,
    next: Time,
}

impl MeterSeries {
    /// No periods, for a cluster at the start of its run.
    pub fn new(cluster: &Cluster) -> Self {
        let links = cluster.config().fabric.topology.links();
        let adapters = cluster.nodes() * cluster.rails();
        let links = (0..links).map(|id| (MeterKind::Link, id));
        let buses = (0..adapters).map(|id| (MeterKind::Bus, id));
        let threads = (0..adapters).map(|id| (MeterKind::Thread, id));
        let things: Vec<_> = links.chain(buses).chain(threads).collect();
        MeterSeries {
            most: (SUMS / things.len().max(1) / 2 * 2).clamp(PERIODS.0, PERIODS.1),
            things,
            periods: Vec::new(),
            length: SHORTEST,
            next: SHORTEST,
        }
    }

    /// When the open period ends.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Ends a period now.
    pub fn cut(&mut self, cluster: &Cluster) {
        let (cycle, nodes) = (cluster.config().cycle, cluster.nodes());
        let adapter = |id: u32| cluster.adapter((id / nodes).into(), (id % nodes).into());
        let busy = |&(thing, id): &(MeterKind, u32)| match thing {
            MeterKind::Link => cycle * cluster.link(id).busy,
            MeterKind::Bus => adapter(id).bus_busy(),
            MeterKind::Thread => adapter(id).thread_busy(),
        };
        let sums = self.things.iter().map(busy).collect();
        self.periods.push((cluster.now(), sums));
        if self.periods.len() == self.most {
            let mut number = 0;
            self.periods.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.length = self.length * 2;
        }
        self.next = cluster.now() + self.length;
    }

    /// The rows. The last period must have been cut before.
    pub fn rows(self) -> Vec<SeriesRow> {
        let mut rows = Vec::new();
        let mut before = (Time::ZERO, vec![Time::ZERO; self.things.len()]);
        for period in self.periods {
            let sums = period.1.iter().zip(&before.1);
            for (&(thing, id), (after, before_it)) in self.things.iter().zip(sums) {
                let busy = after.saturating_sub(*before_it);
                if !busy.is_zero() {
                    rows.push(SeriesRow {
                        begin: before.0,
                        end: period.0,
                        thing,
                        id,
                        busy,
                    });
                }
            }
            before = period;
        }
        rows
    }
}
