//! The network behind [`Fabric`](crate::Fabric): its trait, and a control plane with a mover that
//! implements it, compiled for each pair of routing and mover.

use crate::control::{
    self, Ack, Control, Deadlock, GroupFn, Hold, LinkCounters, NoRoute, Notice, PacketCensus,
    PacketSpec, Share,
};
use crate::motion::{FlitCensus, Motion, MotionReport};
use crate::topology::CompiledRouting;
use crate::{Config, Cycle, LinkId, PacketId, Place, Topology};
use std::sync::{Arc, Mutex, PoisonError};

/// A network of switches and links in motion. See the essays of the crate and `control`.
pub trait Network {
    /// The parameters.
    fn config(&self) -> &Config;

    /// The topology, which answers all questions about its wiring.
    fn topology(&self) -> &Topology {
        &self.config().topology
    }

    /// From here on a cycle's events, groups, adapters and flits are taken in the opposite order:
    /// the notices to the adapters must not change. For tests.
    #[doc(hidden)]
    fn reverse_order_in_cycles(&mut self);

    /// From here on keeps the moments that the mover reports, for mover comparisons. Returns those
    /// kept since the last call.
    #[doc(hidden)]
    fn watch(&mut self) -> Vec<(Cycle, MotionReport)>;

    /// From here on keeps the channel holds, for a picture from cycle `from` on. To be called at
    /// the start of the run: earlier holds are lost.
    fn record(&mut self, from: Cycle);

    /// Ends the recording that [`record`](Self::record) began, and returns the holds that lasted
    /// beyond its cycle `from`, sorted by source, packet and channel on the way. Headers that wait
    /// at switches for a channel are among the holds; packets that wait at their adapters are not.
    /// Empty if there was no recording.
    fn recorded(&mut self) -> Vec<Hold>;

    /// From here on counts each link's traffic by packet group; `group` maps packet tokens to
    /// groups. An earlier tally is forgotten.
    fn tally(&mut self, group: GroupFn);

    /// The tally's counts so far, by links and groups that have carried a packet. Empty if there is
    /// no tally.
    fn tallied(&self) -> Vec<Share>;

    /// Hands a packet to its adapter's queue, in cycle `at`: after all cycles before it have been
    /// executed.
    fn offer(&mut self, at: Cycle, spec: PacketSpec);

    /// Packets that wait at an adapter for an injection channel.
    fn queued(&self, node: Place) -> usize;

    /// Channels on the last link to a node that packets hold: the node receives these packets now,
    /// or will immediately.
    fn arriving(&self, node: Place) -> u32;

    /// The destination's one answer to [`Notice::Delivered`]. The answer leaves the destination in
    /// cycle `at`: the cycle of the delivery, or later.
    fn acknowledge(&mut self, at: Cycle, packet: PacketId, ack: Ack);

    /// A link's cable is dead from cycle `at` on, in both directions; all cycles before, and no
    /// cycle from `at` on, must have been executed. Cuts are counted per cable: the cable lives
    /// again after as many repairs. The machine must have [`FaultConfig`](crate::FaultConfig).
    fn cut(&mut self, at: Cycle, link: LinkId);

    /// Takes back one [`cut`](Self::cut) on a cable, from cycle `at` on.
    fn repair(&mut self, at: Cycle, link: LinkId);

    /// From cycle `at` on the routing tables of all sources list exactly the cables that are dead
    /// in this cycle, until they learn again.
    fn learn(&mut self, at: Cycle);

    /// Whether a link's cable is dead.
    fn is_cut(&self, link: LinkId) -> bool;

    /// Whether the routing tables have a way for a packet to one node.
    ///
    /// # Errors
    /// Which cables leave no way, with their names for people.
    fn way(&self, from: Place, to: Place) -> Result<(), NoRoute>;

    /// The next cycle in which anything happens without news from outside.
    fn next_cycle(&self) -> Option<Cycle>;

    /// Executes cycles up to and including `until`, or until a cycle has news for the adapters.
    /// Returns that cycle, with the news in `notices` (which must be empty), in an order that
    /// depends only on their content.
    fn advance(&mut self, until: Cycle, notices: &mut Vec<Notice>) -> Option<Cycle>;

    /// The network's region count.
    fn regions(&self) -> usize {
        1
    }

    /// An adapter's region.
    fn region_of(&self, _adapter: Place) -> usize {
        0
    }

    /// Executes cycles up to and including `until`, with each region's nodes on the thread that
    /// works on the region. Nodes offer packets from their own adapters only, and answer deliveries
    /// to these.
    fn run(&mut self, until: Cycle, nodes: &[SharedNodes]);

    /// Passes over cycles without events: from then on the counters are those before cycle `cycle`.
    /// All earlier cycles with events must have been executed.
    fn skip_to(&mut self, cycle: Cycle);

    /// The packets that wait for each other and can never go on, if there are such: a defect in the
    /// routing, or broadcasts that are not serialised. The search looks at every packet; call it
    /// when no events are left and packets are under way.
    fn deadlock(&self) -> Option<Deadlock>;

    /// A link's counters over the executed cycles.
    fn counters(&self, link: LinkId) -> LinkCounters;

    /// Control-plane events so far.
    fn events(&self) -> u64;

    /// Mover events so far: a measure of its work. Engines differ only in this number, in their
    /// memory and in how far ahead [`next_cycle`](Self::next_cycle) sees; they do not differ in any
    /// result.
    fn motion_events(&self) -> u64;

    /// Packets by state.
    fn packet_census(&self) -> PacketCensus;

    /// Flits by state, found by inspecting all buffers.
    fn flit_census(&self) -> FlitCensus;

    /// Virtual channels on all links that packets hold, or that tokens are on their way to free.
    fn channels_taken(&self) -> u64;

    /// Total length of the packets under way that have not been delivered, in flits. A broadcast
    /// counts once for each destination that it has not reached. The sum bounds the flits in
    /// flight.
    fn flits_under_way(&self) -> u64;
}

/// The nodes at a region's adapters; they run on the thread that works on the region.
pub trait Nodes: Send {
    /// The next cycle in which a node has a packet to offer.
    fn next(&self) -> Option<Cycle>;

    /// Offers packets in that cycle.
    fn offer(&mut self, now: Cycle, region: &mut dyn Network);

    /// Takes the notices in cycle `now`, and answers deliveries with [`Network::acknowledge`].
    fn hear(&mut self, now: Cycle, notices: &mut Vec<Notice>, region: &mut dyn Network);
}

/// A region's nodes, which belong to the program between two runs.
pub type SharedNodes = Arc<Mutex<dyn Nodes>>;

/// A control plane and a mover, made for one kind of topology.
pub(crate) struct Simulation<R: CompiledRouting + ?Sized, M: Motion> {
    pub control: Control<R, M>,
    pub mover: M,
}

impl<R: CompiledRouting + ?Sized, M: Motion> Simulation<R, M> {
    /// Executes cycles up to and including `until`, with nodes that act and receive notices. No
    /// notices are left.
    pub fn run_nodes(&mut self, nodes: &mut dyn Nodes, until: Cycle, notices: &mut Vec<Notice>) {
        loop {
            let offers = nodes.next().filter(|&at| at <= until);
            let last = offers.map_or(Some(until), |at| at.checked_sub(1));
            let news = last.and_then(|last| self.advance(last, notices));
            if let Some(now) = news {
                nodes.hear(now, notices, self);
                notices.clear();
            } else if let Some(at) = offers {
                nodes.offer(at, self);
            } else {
                return;
            }
        }
    }
}

impl<R: CompiledRouting + ?Sized, M: Motion> Network for Simulation<R, M> {
    fn config(&self) -> &Config {
        self.control.config()
    }

    fn reverse_order_in_cycles(&mut self) {
        self.control.reverse();
        self.mover.reverse();
    }

    fn watch(&mut self) -> Vec<(Cycle, MotionReport)> {
        self.control.watch()
    }

    fn record(&mut self, from: Cycle) {
        self.control.record(from);
    }

    fn recorded(&mut self) -> Vec<Hold> {
        control::united(std::iter::once(self.control.recorded()))
    }

    fn tally(&mut self, group: GroupFn) {
        self.control.tally(group);
    }

    fn tallied(&self) -> Vec<Share> {
        self.control.tallied()
    }

    fn offer(&mut self, at: Cycle, spec: PacketSpec) {
        self.skip_to(at);
        self.control.offer(spec);
    }

    fn queued(&self, node: Place) -> usize {
        self.control.queued(node)
    }

    fn arriving(&self, node: Place) -> u32 {
        self.control.arriving(node)
    }

    fn acknowledge(&mut self, at: Cycle, packet: PacketId, ack: Ack) {
        self.control.acknowledge(at, packet, ack);
    }

    fn cut(&mut self, at: Cycle, link: LinkId) {
        self.skip_to(at);
        self.control.cut(&mut self.mover, link);
    }

    fn repair(&mut self, at: Cycle, link: LinkId) {
        self.skip_to(at);
        self.control.repair(link);
    }

    fn learn(&mut self, at: Cycle) {
        self.skip_to(at);
        self.control.learn();
    }

    fn is_cut(&self, link: LinkId) -> bool {
        self.control.is_cut(link)
    }

    fn way(&self, from: Place, to: Place) -> Result<(), NoRoute> {
        self.control.way(from, to)
    }

    fn next_cycle(&self) -> Option<Cycle> {
        self.control.next_cycle(&self.mover)
    }

    fn advance(&mut self, until: Cycle, notices: &mut Vec<Notice>) -> Option<Cycle> {
        self.control.advance(&mut self.mover, until, notices)
    }

    fn run(&mut self, until: Cycle, nodes: &[SharedNodes]) {
        let mut nodes = nodes[0].lock().unwrap_or_else(PoisonError::into_inner);
        self.run_nodes(&mut *nodes, until, &mut Vec::new());
    }

    fn skip_to(&mut self, cycle: Cycle) {
        assert!(
            self.next_cycle().is_none_or(|next| next >= cycle),
            "cycles before {cycle} have not been executed"
        );
        self.control.skip_to(cycle);
    }

    fn deadlock(&self) -> Option<Deadlock> {
        control::deadlock(&[&self.control])
    }

    fn counters(&self, link: LinkId) -> LinkCounters {
        self.control.counters(&self.mover, link)
    }

    fn events(&self) -> u64 {
        self.control.events()
    }

    fn motion_events(&self) -> u64 {
        self.mover.events()
    }

    fn packet_census(&self) -> PacketCensus {
        self.control.packet_census()
    }

    fn flit_census(&self) -> FlitCensus {
        let behind = |_| unreachable!("the network is whole");
        self.control.flit_census(&self.mover, &behind)
    }

    fn channels_taken(&self) -> u64 {
        self.control.taken()
    }

    fn flits_under_way(&self) -> u64 {
        self.control.flits_under_way()
    }
}
