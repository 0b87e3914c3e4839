//! Circuits: the channels that packets held over time, for pictures.
//!
//! On request, a run keeps the circuits during a *watched* time, which begins when the warm-up
//! ends. A row is one channel on a packet's way: since when the packet's header waited for the
//! channel, when the packet got it, when the first and the last flit crossed the link, and when the
//! channel was free again. The rows include circuits opened before the watched time and still open
//! then. A row without an end is a channel still held when the watched time is over; a row without
//! a channel is a header that still waits.
//!
//! A watched microsecond with 64 loaded nodes has some hundred rows; the rows are for small
//! networks and short times.

use crate::Window;
use crate::slices::Slices;
use elan::{Cluster, Stop};
use fabric::control::Hold;
use units::Time;

/// A channel on a packet's way.
#[derive(Clone, Debug, PartialEq, derive::Row)]
#[
    digest(
        self.source,
        self.rail,
        self.sequence,
        self.hop,
        self.link,
        self.channel,
        self.waits,
        self.opened,
        self.head,
        self.tail,
        self.closed
    )
]
pub struct CircuitRow {
    /// The node that sent the packet.
    pub source: u32,
    /// The rail on which it travels, from 0.
    pub rail: u32,
    /// Packets that this node's adapter had sent before.
    pub sequence: u32,
    /// The packet's first destination.
    pub first: u32,
    /// The packet's last destination: the first one, unless the packet is a broadcast.
    pub last: u32,
    /// Packet length in flits.
    pub flits: u32,
    /// The channel's place on the way, from 0 at the adapter.
    pub hop: u32,
    /// Link number; the first link, if a header waits for any of several.
    pub link: u32,
    /// Channel number on its link, once the packet has it.
    pub channel: Option<u32>,
    /// Since when the header waited at the link's start.
    pub waits: Time,
    /// When the packet got the channel.
    pub opened: Option<Time>,
    /// When the first flit was sent over the link.
    pub head: Option<Time>,
    /// When the last flit was sent over the link; the worm engine knows it only for a way's last
    /// link.
    pub tail: Option<Time>,
    /// From when on the channel was free again.
    pub closed: Option<Time>,
    /// When the last flit had reached the destination.
    pub delivered: Option<Time>,
    /// When the acknowledgement had reached the source.
    pub acknowledged: Option<Time>,
}

/// Keeps the watched time's circuits, on request.
pub(crate) struct Circuits {
    /// The watched time's end, until it has come.
    end: Option<Time>,
    rows: Vec<CircuitRow>,
}

impl Circuits {
    /// The circuits for a run that begins now.
    pub fn new(cluster: &mut Cluster, window: Window) -> Self {
        let watched = !window.watch.is_zero();
        if watched {
            cluster.record(window.warm_up);
        }
        Circuits {
            end: watched.then(|| window.warm_up + window.watch),
            rows: Vec::new(),
        }
    }

    /// Runs until the watched time is over, if that is due by `end`.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn run_until(
        &mut self,
        cluster: &mut Cluster,
        slices: &mut Slices,
        end: Time,
    ) -> Result<(), Stop> {
        let Some(due) = self.end.filter(|&due| due <= end) else {
            return Ok(());
        };
        slices.run_until(cluster, due)?;
        self.end = None;
        let holds = cluster.recorded();
        let rows = holds.iter().map(|hold| row(cluster, hold));
        self.rows = rows.collect();
        Ok(())
    }

    /// The watched time's rows.
    pub fn into_rows(self) -> Vec<CircuitRow> {
        self.rows
    }
}

fn row(cluster: &Cluster, hold: &Hold) -> CircuitRow {
    let config = cluster.config();
    let topology = &config.fabric.topology;
    let time = |at| config.cycle * at;
    let (rail, source) = topology.rail_and_node(hold.source);
    let node = |place| topology.rail_and_node(place).1.get();
    CircuitRow {
        source: source.get(),
        rail: rail.get(),
        sequence: hold.sequence,
        first: node(hold.destination.first()),
        last: node(hold.destination.last()),
        flits: hold.flits,
        hop: hold.hop,
        link: hold.link.get(),
        channel: hold.channel,
        waits: time(hold.waits),
        opened: hold.opened.map(time),
        head: hold.head.map(time),
        tail: hold.tail.map(time),
        closed: hold.closed.map(time),
        delivered: hold.delivered.map(time),
        acknowledged: hold.acknowledged.map(time),
    }
}
