//! The front of the crate: [`Fabric`].

use crate::control::{
    Ack, Control, Deadlock, LinkCounters, Notice, PacketCensus, PacketId, PacketSpec,
};
use crate::motion::flit::FlitMover;
use crate::motion::worm::WormMover;
use crate::motion::{FlitCensus, Motion, Moved};
use crate::{Config, Cycle, Engine, FatTree, LinkId, NodeId};

/// The mover of the configuration.
enum Mover {
    Flit(FlitMover),
    Worm(WormMover),
}

/// Evaluates an expression with the mover, whichever it is.
macro_rules! with_mover {
    ($mover:expr, $name:ident => $value:expr) => {
        match $mover {
            Mover::Flit($name) => $value,
            Mover::Worm($name) => $value,
        }
    };
}

/// A network of switches and links in motion: a control plane and a mover. See the essays of the crate and of
/// [`crate::control`].
pub struct Fabric {
    control: Control,
    mover: Mover,
}

impl Fabric {
    /// An empty fabric at cycle 0.
    pub fn new(config: Config) -> Self {
        config.assert_valid();
        Fabric {
            mover: match config.engine {
                Engine::Flit => Mover::Flit(FlitMover::new(&config)),
                Engine::Worm => Mover::Worm(WormMover::new(&config)),
            },
            control: Control::new(config),
        }
    }

    /// The parameters.
    pub fn config(&self) -> &Config {
        self.control.config()
    }

    /// The wiring.
    pub fn tree(&self) -> &FatTree {
        &self.config().tree
    }

    /// From here on the events, groups, adapters and flits of a cycle are taken in the opposite order: nothing that the
    /// adapters hear may change. For tests.
    #[doc(hidden)]
    pub fn reverse_order_in_cycles(&mut self) {
        self.control.reverse();
        with_mover!(&mut self.mover, mover => mover.reverse());
    }

    /// From here on keeps what the mover reports, for comparisons of movers. Returns what was kept since the last call.
    #[doc(hidden)]
    pub fn watch(&mut self) -> Vec<(Cycle, Moved)> {
        self.control.watch()
    }

    /// Hands a packet to its adapter's queue, in cycle `at`: after all cycles before it have been executed.
    pub fn offer(&mut self, at: Cycle, spec: PacketSpec) {
        self.skip_to(at);
        self.control.offer(spec);
    }

    /// Packets that wait at an adapter for an injection channel.
    pub fn queued(&self, node: NodeId) -> usize {
        self.control.queued(node)
    }

    /// Channels of the last link to a node that packets hold: it receives, or will at once.
    pub fn arriving(&self, node: NodeId) -> u32 {
        self.control.arriving(node)
    }

    /// The destination's one answer to [`Notice::Delivered`], which leaves it in cycle `at`: that of the delivery, or
    /// later.
    pub fn acknowledge(&mut self, at: Cycle, packet: PacketId, ack: Ack) {
        self.control.acknowledge(at, packet, ack);
    }

    /// The next cycle in which anything happens without news from outside.
    pub fn next_cycle(&self) -> Option<Cycle> {
        with_mover!(&self.mover, mover => self.control.next_cycle(mover))
    }

    /// Executes cycles up to and including `until`, or until one of them has news for the adapters. Returns that
    /// cycle, with the news in `notices` (which must be empty), in an order that depends on nothing but their content.
    pub fn advance(&mut self, until: Cycle, notices: &mut Vec<Notice>) -> Option<Cycle> {
        with_mover!(&mut self.mover, mover => self.control.advance(mover, until, notices))
    }

    /// Passes over cycles in which nothing happens: the counters are those before cycle `cycle` from then on. All cycles
    /// before it that have something to do must have been executed.
    pub fn skip_to(&mut self, cycle: Cycle) {
        assert!(
            self.next_cycle().is_none_or(|next| next >= cycle),
            "cycles before {cycle} have not been executed"
        );
        self.control.skip_to(cycle);
    }

    /// The packets that wait for each other and can never go on, if there are such: a broken promise of the switches, or
    /// broadcasts that are not serialised. It takes a look at every packet; the time to ask is when nothing is left to
    /// happen and packets are under way.
    pub fn deadlock(&self) -> Option<Deadlock> {
        self.control.deadlock()
    }

    /// What a link has done in the cycles that have been executed.
    pub fn counters(&self, link: LinkId) -> LinkCounters {
        with_mover!(&self.mover, mover => self.control.counters(mover, link))
    }

    /// Events of the control plane so far.
    pub fn events(&self) -> u64 {
        self.control.events()
    }

    /// Events of the mover so far: a measure of its work. This, the memory it takes and how far ahead
    /// [`next_cycle`](Self::next_cycle) sees is all that tells one engine from another; no result does.
    pub fn motion_events(&self) -> u64 {
        with_mover!(&self.mover, mover => mover.events())
    }

    /// Packets by state.
    pub fn packet_census(&self) -> PacketCensus {
        self.control.packet_census()
    }

    /// Flits by state, found by inspection of all buffers.
    pub fn flit_census(&self) -> FlitCensus {
        let now = self.control.now();
        with_mover!(&self.mover, mover => mover.census(now))
    }

    /// Lengths of the packets under way that have not been delivered, in flits, those of broadcasts for each destination
    /// that they have not been delivered to: a bound of what may be in flight.
    pub fn flits_under_way(&self) -> u64 {
        self.control.flits_under_way()
    }
}
