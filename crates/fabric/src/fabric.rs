//! The front of the crate: [`Fabric`].

use crate::control::{
    Ack, Control, Deadlock, Hold, LinkCounters, NoWay, Notice, PacketCensus, PacketId, PacketSpec,
};
use crate::motion::flit::FlitMover;
use crate::motion::worm::WormMover;
use crate::motion::{FlitCensus, Motion, Moved};
use crate::topology::{Routing, with_routing};
use crate::{Config, Cycle, Engine, LinkId, Place, Topology};

/// A control plane and a mover, made for one kind of topology.
struct Running<R: Routing, M> {
    control: Control<R>,
    mover: M,
}

/// What [`Fabric`] asks of a [`Running`], whatever topology and mover it is made for.
trait Network {
    fn config(&self) -> &Config;
    fn reverse(&mut self);
    fn watch(&mut self) -> Vec<(Cycle, Moved)>;
    fn record(&mut self, from: Cycle);
    fn recorded(&mut self) -> Vec<Hold>;
    fn offer(&mut self, spec: PacketSpec);
    fn queued(&self, node: Place) -> usize;
    fn arriving(&self, node: Place) -> u32;
    fn acknowledge(&mut self, at: Cycle, packet: PacketId, ack: Ack);
    fn cut(&mut self, link: LinkId);
    fn repair(&mut self, link: LinkId);
    fn learn(&mut self);
    fn is_cut(&self, link: LinkId) -> bool;
    fn way(&self, from: Place, to: Place) -> Result<(), NoWay>;
    fn next_cycle(&self) -> Option<Cycle>;
    fn advance(&mut self, until: Cycle, notices: &mut Vec<Notice>) -> Option<Cycle>;
    fn skip_to(&mut self, cycle: Cycle);
    fn deadlock(&self) -> Option<Deadlock>;
    fn counters(&self, link: LinkId) -> LinkCounters;
    fn events(&self) -> [u64; 2];
    fn packet_census(&self) -> PacketCensus;
    fn flit_census(&self) -> FlitCensus;
    fn taken(&self) -> u64;
    fn flits_under_way(&self) -> u64;
}

impl<R: Routing, M: Motion> Network for Running<R, M> {
    fn config(&self) -> &Config {
        self.control.config()
    }

    fn reverse(&mut self) {
        self.control.reverse();
        self.mover.reverse();
    }

    fn watch(&mut self) -> Vec<(Cycle, Moved)> {
        self.control.watch()
    }

    fn record(&mut self, from: Cycle) {
        self.control.record(from);
    }

    fn recorded(&mut self) -> Vec<Hold> {
        self.control.recorded()
    }

    fn offer(&mut self, spec: PacketSpec) {
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

    fn cut(&mut self, link: LinkId) {
        self.control.cut(&mut self.mover, link);
    }

    fn repair(&mut self, link: LinkId) {
        self.control.repair(link);
    }

    fn learn(&mut self) {
        self.control.learn();
    }

    fn is_cut(&self, link: LinkId) -> bool {
        self.control.is_cut(link)
    }

    fn way(&self, from: Place, to: Place) -> Result<(), NoWay> {
        self.control.way(from, to)
    }

    fn next_cycle(&self) -> Option<Cycle> {
        self.control.next_cycle(&self.mover)
    }

    fn advance(&mut self, until: Cycle, notices: &mut Vec<Notice>) -> Option<Cycle> {
        self.control.advance(&mut self.mover, until, notices)
    }

    fn skip_to(&mut self, cycle: Cycle) {
        self.control.skip_to(cycle);
    }

    fn deadlock(&self) -> Option<Deadlock> {
        self.control.deadlock()
    }

    fn counters(&self, link: LinkId) -> LinkCounters {
        self.control.counters(&self.mover, link)
    }

    fn events(&self) -> [u64; 2] {
        [self.control.events(), self.mover.events()]
    }

    fn packet_census(&self) -> PacketCensus {
        self.control.packet_census()
    }

    fn flit_census(&self) -> FlitCensus {
        self.mover.census(self.control.now())
    }

    fn taken(&self) -> u64 {
        self.control.taken()
    }

    fn flits_under_way(&self) -> u64 {
        self.control.flits_under_way()
    }
}

/// An empty fabric at cycle 0.
fn start(routing: impl Routing + 'static, config: Config) -> Box<dyn Network> {
    match config.engine {
        Engine::Flit => Box::new(Running {
            mover: FlitMover::new(&config),
            control: Control::new(config, routing),
        }),
        Engine::Worm => Box::new(Running {
            mover: WormMover::new(&config),
            control: Control::new(config, routing),
        }),
    }
}

/// A network of switches and links in motion: a control plane and a mover. See the essays of the crate and of
/// [`crate::control`].
pub struct Fabric {
    network: Box<dyn Network>,
}

impl Fabric {
    /// An empty fabric at cycle 0.
    pub fn new(config: Config) -> Self {
        config.assert_valid();
        Fabric {
            network: with_routing!(config, routing => start(routing, config)),
        }
    }

    /// The parameters.
    pub fn config(&self) -> &Config {
        self.network.config()
    }

    /// The topology, which can be asked for all of its wiring.
    pub fn topology(&self) -> &Topology {
        &self.config().topology
    }

    /// From here on the events, groups, adapters and flits of a cycle are taken in the opposite order: the notices to the
    /// adapters must not change. For tests.
    #[doc(hidden)]
    pub fn reverse_order_in_cycles(&mut self) {
        self.network.reverse();
    }

    /// From here on keeps the moments that the mover reports, for comparisons of movers. Returns those kept since the last call.
    #[doc(hidden)]
    pub fn watch(&mut self) -> Vec<(Cycle, Moved)> {
        self.network.watch()
    }

    /// From here on keeps who holds which channel when, for a picture of the time from cycle `from` on. Ask at the start of the run:
    /// what is held already is not known.
    pub fn record(&mut self, from: Cycle) {
        self.network.record(from);
    }

    /// Ends the recording that [`record`](Self::record) began, and returns the holds that lasted beyond its cycle `from`, in the
    /// order of sources, packets and channels on their ways. Headers that wait at switches for a channel are among the holds; packets
    /// that wait at their adapters are not. Empty if there was no recording.
    pub fn recorded(&mut self) -> Vec<Hold> {
        self.network.recorded()
    }

    /// Hands a packet to its adapter's queue, in cycle `at`: after all cycles before it have been executed.
    pub fn offer(&mut self, at: Cycle, spec: PacketSpec) {
        self.skip_to(at);
        self.network.offer(spec);
    }

    /// Packets that wait at an adapter for an injection channel.
    pub fn queued(&self, node: impl Into<Place>) -> usize {
        self.network.queued(node.into())
    }

    /// Channels of the last link to a node that packets hold: the node receives these packets now, or will at once.
    pub fn arriving(&self, node: impl Into<Place>) -> u32 {
        self.network.arriving(node.into())
    }

    /// The destination's one answer to [`Notice::Delivered`]. The answer leaves the destination in cycle `at`: the cycle of the
    /// delivery, or later.
    pub fn acknowledge(&mut self, at: Cycle, packet: PacketId, ack: Ack) {
        self.network.acknowledge(at, packet, ack);
    }

    /// The cable of a link is dead from cycle `at` on, in both directions; all cycles before must have been executed, and none
    /// from `at` on. Cuts of one cable are counted: the cable lives again after as many repairs. The machine must have
    /// [`Faults`](crate::Faults).
    pub fn cut(&mut self, at: Cycle, link: impl Into<LinkId>) {
        self.skip_to(at);
        self.network.cut(link.into());
    }

    /// Takes back one [`cut`](Self::cut) of a cable, from cycle `at` on.
    pub fn repair(&mut self, at: Cycle, link: impl Into<LinkId>) {
        self.skip_to(at);
        self.network.repair(link.into());
    }

    /// From cycle `at` on the routing tables of all sources know which cables are dead in this cycle: no more and no fewer, until
    /// they learn again.
    pub fn learn(&mut self, at: Cycle) {
        self.skip_to(at);
        self.network.learn();
    }

    /// Whether the cable of a link is dead.
    pub fn is_cut(&self, link: impl Into<LinkId>) -> bool {
        self.network.is_cut(link.into())
    }

    /// Whether the routing tables know a way for a packet to one node.
    ///
    /// # Errors
    /// Which cables leave no way, with their names for people.
    pub fn way(&self, from: impl Into<Place>, to: impl Into<Place>) -> Result<(), NoWay> {
        self.network.way(from.into(), to.into())
    }

    /// The next cycle in which anything happens without news from outside.
    pub fn next_cycle(&self) -> Option<Cycle> {
        self.network.next_cycle()
    }

    /// Executes cycles up to and including `until`, or until a cycle has news for the adapters. Returns that cycle, with the
    /// news in `notices` (which must be empty), in an order that depends only on their content.
    pub fn advance(&mut self, until: Cycle, notices: &mut Vec<Notice>) -> Option<Cycle> {
        self.network.advance(until, notices)
    }

    /// Passes over cycles in which nothing happens: from then on the counters are those before cycle `cycle`. All earlier cycles
    /// that have something to do must have been executed.
    pub fn skip_to(&mut self, cycle: Cycle) {
        assert!(
            self.next_cycle().is_none_or(|next| next >= cycle),
            "cycles before {cycle} have not been executed"
        );
        self.network.skip_to(cycle);
    }

    /// The packets that wait for each other and can never go on, if there are such: a defect of the routing, or broadcasts that
    /// are not serialised. The search looks at every packet; ask when nothing is left to happen and packets are under way.
    pub fn deadlock(&self) -> Option<Deadlock> {
        self.network.deadlock()
    }

    /// What a link has done in the cycles that have been executed.
    pub fn counters(&self, link: impl Into<LinkId>) -> LinkCounters {
        self.network.counters(link.into())
    }

    /// Events of the control plane so far.
    pub fn events(&self) -> u64 {
        self.network.events()[0]
    }

    /// Events of the mover so far: a measure of its work. Engines differ only in this number, in their memory and in how far
    /// ahead [`next_cycle`](Self::next_cycle) sees; they do not differ in any result.
    pub fn motion_events(&self) -> u64 {
        self.network.events()[1]
    }

    /// Packets by state.
    pub fn packet_census(&self) -> PacketCensus {
        self.network.packet_census()
    }

    /// Flits by state, found by inspection of all buffers.
    pub fn flit_census(&self) -> FlitCensus {
        self.network.flit_census()
    }

    /// Virtual channels of all links that packets hold, or tokens that are on their way to free them.
    pub fn channels_taken(&self) -> u64 {
        self.network.taken()
    }

    /// Sum of the lengths of the packets under way that have not been delivered, in flits. A broadcast counts once for each
    /// destination that it has not reached. The sum bounds the number of flits in flight.
    pub fn flits_under_way(&self) -> u64 {
        self.network.flits_under_way()
    }
}
