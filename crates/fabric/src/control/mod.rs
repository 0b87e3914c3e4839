//! # The control plane
//!
//! [`Fabric`] owns everything that is decided: which packet enters, which header takes which channel, when circuits
//! open and close, when acknowledgements travel. It drives a mover (trait [`Motion`]) through the data phase and
//! reacts to the moments that the mover reports: when the first flit of a worm enters a link and leaves it, and when the
//! last one enters it.
//!
//! ## The life of a packet
//!
//! 1. [`Fabric::offer`]: it waits at its adapter, high priority before low, until fewer than `packets_in_flight`
//!    packets are unacknowledged and the injection link has a free channel. Its *age* starts there.
//! 2. The header advances: `D` cycles after a link has sent the first flit the header is at the next switch, joins the
//!    group that its tag names, and is granted a channel of an output, in the same cycle if it wins and one is free.
//! 3. The last flit leaves the last link in cycle `s`; the packet is delivered at `s + D`
//!    ([`Notice::Delivered`]), and the destination sends its acknowledgement when it pleases.
//! 4. The acknowledgement returns along the circuit, one header delay per link, through a path of its own: it never
//!    waits for a channel. At the source, cycle `t`, the packet is done ([`Notice::Acknowledged`]) and the EOP starts:
//!    the channel of link `i` of the path is free from cycle `t + 1 + i D` on.
//!
//! With [`Circuit::UntilDelivered`] all channels are free one cycle after delivery, with [`Circuit::Wormhole`] each two
//! cycles after the next link (or the node) has taken the tail. The acknowledgement takes the same time in all cases.

mod arbitration;
mod calendar;
mod packet;

pub use packet::{Ack, Notice, PacketId, PacketRecord, PacketSpec, Priority};

use crate::motion::flit::FlitMover;
use crate::motion::worm::WormMover;
use crate::motion::{ChannelId, FlitCensus, Key, Lanes, Motion, Moved, Worm};
use crate::topology::{FatTree, LinkId, MAX_TAGS, NodeId, Tag};
use crate::{Arbitration, Circuit, Config, Cycle, Engine};
use arbitration::{AgeRule, Crossbar, Group, NO_GROUP, Waiting};
use calendar::Calendar;
use packet::{Flight, Flights};
use std::collections::VecDeque;

/// What is due in a cycle.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The last flit of the packet reaches its destination.
    Delivered(PacketId),
    /// The acknowledgement reaches the source.
    Acknowledged(PacketId, Ack),
    /// The channel is free from this cycle on.
    Free(ChannelId),
}

/// What a link has done since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets whose first flit it has sent.
    pub packets: u64,
    /// Flits of packets.
    pub flits: u64,
    /// Acknowledgements and EOPs. The link was busy for `flits + tokens` cycles.
    pub tokens: u64,
    /// Cycles that packets waited to enter it: from the header's arrival at the switch (or the offer, at an adapter)
    /// to its first flit on the link.
    pub waiting: u64,
}

/// Packets by their state: `offered = queued + under_way + acknowledged`, at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCensus {
    /// Handed in so far.
    pub offered: u64,
    /// Waiting at adapters.
    pub queued: u64,
    /// Injected and not yet acknowledged.
    pub under_way: u64,
    /// Done.
    pub acknowledged: u64,
}

/// The sending side of an adapter, as the fabric sees it.
#[derive(Default)]
struct Port {
    /// Waiting packets and the cycle of their offer: high priority, low priority.
    waiting: [VecDeque<(PacketSpec, Cycle)>; 2],
    outstanding: u32,
    sequence: u32,
    flagged: bool,
}

/// A network of switches and links in motion; see the essay of the module.
pub struct Fabric {
    config: Config,
    crossbar: Crossbar,
    lanes: Lanes,
    motion: Box<dyn Motion>,
    age: AgeRule,
    /// The next cycle to execute.
    now: Cycle,
    calendar: Calendar<Event>,
    flights: Flights,
    ports: Vec<Port>,
    groups: Vec<Group>,
    /// Entry per channel: the packet that holds it; valid while taken.
    holder: Vec<PacketId>,
    /// Entry per link: its free channels, as bits.
    free: Vec<u8>,
    packets: Vec<u64>,
    waited: Vec<u64>,
    offered: u64,
    acknowledged: u64,
    events: u64,
    flagged_groups: Vec<u32>,
    flagged_ports: Vec<NodeId>,
    due: Vec<Event>,
    moved: Vec<Moved>,
    /// All that the mover has reported, by the cycle it happened in, if it is to be kept.
    watched: Option<Vec<(Cycle, Moved)>>,
    /// Whether all that happens in a cycle is done in the opposite order.
    reversed: bool,
}

impl Fabric {
    /// An empty fabric at cycle 0.
    pub fn new(config: Config) -> Self {
        config.assert_valid();
        let tree = &config.tree;
        let links = tree.links() as usize;
        let crossbar = Crossbar::new(&config);
        let lanes = Lanes::new(config.channels);
        let cap = if config.arbitration == Arbitration::Age {
            config.age_cap
        } else {
            0
        };
        Fabric {
            motion: match config.engine {
                Engine::Flit => Box::new(FlitMover::new(&config)),
                Engine::Worm => Box::new(WormMover::new(&config)),
            },
            age: AgeRule {
                cap,
                step: config.age_step,
            },
            now: 0,
            calendar: Calendar::new(),
            flights: Flights::default(),
            ports: (0..tree.positions()).map(|_| Port::default()).collect(),
            groups: vec![Group::default(); crossbar.groups()],
            holder: vec![PacketId(0); lanes.bound(links)],
            free: vec![((1_u32 << config.channels) - 1) as u8; links],
            packets: vec![0; links],
            waited: vec![0; links],
            offered: 0,
            acknowledged: 0,
            events: 0,
            flagged_groups: Vec::new(),
            flagged_ports: Vec::new(),
            due: Vec::new(),
            moved: Vec::new(),
            watched: None,
            reversed: false,
            lanes,
            crossbar,
            config,
        }
    }

    /// The parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The wiring.
    pub fn tree(&self) -> &FatTree {
        &self.config.tree
    }

    /// From here on the events, groups, adapters and flits of a cycle are taken in the opposite order: nothing that the
    /// adapters hear may change. For tests.
    #[doc(hidden)]
    pub fn reverse_order_in_cycles(&mut self) {
        self.reversed = !self.reversed;
        self.motion.reverse();
    }

    /// From here on keeps what the mover reports, for comparisons of movers. Returns what was kept since the last call.
    #[doc(hidden)]
    pub fn watch(&mut self) -> Vec<(Cycle, Moved)> {
        self.watched.replace(Vec::new()).unwrap_or_default()
    }

    /// Hands a packet to its adapter's queue, in cycle `at`: after all cycles before it have been executed.
    pub fn offer(&mut self, at: Cycle, spec: PacketSpec) {
        let nodes = self.tree().nodes();
        assert!(
            spec.source < nodes && spec.destination < nodes && spec.flits > 0,
            "not a packet of this fabric: {spec:?}"
        );
        self.skip_to(at);
        self.offered += 1;
        let class = usize::from(!(self.config.priorities && spec.priority == Priority::High));
        self.ports[spec.source as usize].waiting[class].push_back((spec, self.now.max(at)));
        self.flag_port(spec.source);
    }

    /// Packets that wait at an adapter for an injection channel.
    pub fn queued(&self, node: NodeId) -> usize {
        self.ports[node as usize]
            .waiting
            .iter()
            .map(VecDeque::len)
            .sum()
    }

    /// The destination's one answer to [`Notice::Delivered`], which leaves it in cycle `at`: that of the delivery, or
    /// later.
    pub fn acknowledge(&mut self, at: Cycle, packet: PacketId, ack: Ack) {
        let flight = self.flights.get_mut(packet);
        assert!(
            flight.delivered > 0 && flight.delivered <= at && !flight.answered,
            "an acknowledgement answers a delivery, once"
        );
        flight.answered = true;
        let back = at + self.delay(self.flights.get(packet).path());
        assert!(back >= self.now, "an acknowledgement comes too late");
        self.calendar
            .schedule(back, Event::Acknowledged(packet, ack));
    }

    /// The next cycle in which anything happens without news from outside.
    pub fn next_cycle(&self) -> Option<Cycle> {
        if !self.flagged_groups.is_empty() || !self.flagged_ports.is_empty() {
            return Some(self.now);
        }
        let motion = self
            .now
            .checked_sub(1)
            .and_then(|last| self.motion.next(last));
        self.calendar.next().into_iter().chain(motion).min()
    }

    /// Executes cycles up to and including `until`, or until one of them has news for the adapters. Returns that
    /// cycle, with the news in `notices` (which must be empty), in an order that depends on nothing but their content.
    pub fn advance(&mut self, until: Cycle, notices: &mut Vec<Notice>) -> Option<Cycle> {
        while let Some(cycle) = self.next_cycle().filter(|&cycle| cycle <= until) {
            self.execute(cycle, notices);
            if !notices.is_empty() {
                notices.sort_by_key(Notice::rank);
                return Some(cycle);
            }
        }
        if self.next_cycle().is_some() {
            self.now = self.now.max(until.saturating_add(1));
        }
        None
    }

    /// What a link has done in the cycles that have been executed.
    pub fn counters(&self, link: LinkId) -> LinkCounters {
        let carried = self.motion.carried(link, self.now);
        LinkCounters {
            packets: self.packets[link as usize],
            flits: carried.flits,
            tokens: carried.tokens,
            waiting: self.waited[link as usize],
        }
    }

    /// Events of the control plane so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Packets by state.
    pub fn packet_census(&self) -> PacketCensus {
        PacketCensus {
            offered: self.offered,
            queued: (0..self.ports.len())
                .map(|node| self.queued(node as NodeId) as u64)
                .sum(),
            under_way: self.flights.len() as u64,
            acknowledged: self.acknowledged,
        }
    }

    /// Flits by state, found by inspection of all buffers.
    pub fn flit_census(&self) -> FlitCensus {
        self.motion.census(self.now)
    }

    /// Lengths of the packets under way that have not been delivered, in flits: a bound of what may be in flight.
    pub fn flits_under_way(&self) -> u64 {
        self.flights
            .iter()
            .filter(|flight| flight.delivered == 0)
            .map(|flight| u64::from(flight.spec.flits))
            .sum()
    }

    fn execute(&mut self, cycle: Cycle, notices: &mut Vec<Notice>) {
        self.now = cycle;
        self.motion.arrive(cycle, &mut self.moved);
        self.react();
        self.calendar.take(cycle, &mut self.due);
        self.events += self.due.len() as u64;
        if self.reversed {
            self.due.reverse();
            self.flagged_groups.reverse();
            self.flagged_ports.reverse();
        }
        // None of these lists grows while it is worked off.
        for place in 0..self.due.len() {
            self.process(self.due[place], notices);
        }
        self.due.clear();
        for place in 0..self.flagged_groups.len() {
            self.arbitrate(self.flagged_groups[place]);
        }
        self.flagged_groups.clear();
        for place in 0..self.flagged_ports.len() {
            self.inject(self.flagged_ports[place], notices);
        }
        self.flagged_ports.clear();
        self.motion.step(cycle, &mut self.moved);
        self.react();
        self.now = cycle + 1;
    }

    /// Takes note of what the mover reports.
    fn react(&mut self) {
        if self.reversed {
            self.moved.reverse();
        }
        for place in 0..self.moved.len() {
            let moment = self.moved[place];
            if let Some(watched) = &mut self.watched {
                let cycle = match moment {
                    Moved::Tail(_, cycle) => cycle,
                    Moved::Header(_) | Moved::Head(_) => self.now,
                };
                watched.push((cycle, moment));
            }
            match moment {
                Moved::Header(channel) => self.header(channel),
                Moved::Head(channel) => self.head_sent(channel),
                Moved::Tail(channel, cycle) => self.tail_sent(channel, cycle),
            }
        }
        self.moved.clear();
    }

    fn process(&mut self, event: Event, notices: &mut Vec<Notice>) {
        match event {
            Event::Free(channel) => self.release(channel),
            Event::Delivered(packet) => {
                let now = self.now;
                let flight = self.flights.get_mut(packet);
                flight.delivered = now;
                notices.push(Notice::Delivered(packet, flight.spec));
                if self.config.circuit == Circuit::UntilDelivered {
                    for &channel in self.flights.get(packet).path() {
                        self.calendar.schedule(now + 1, Event::Free(channel));
                    }
                }
            }
            Event::Acknowledged(packet, ack) => notices.push(self.complete(packet, ack)),
        }
    }

    /// A header reaches a switch and joins the group of its next tag.
    fn header(&mut self, channel: ChannelId) {
        let packet = self.holder[channel as usize];
        let hop = *self.crossbar.hop(self.lanes.link(channel));
        let now = self.now;
        self.events += 1;
        let flight = self.flights.get_mut(packet);
        flight.ready = now;
        let tag = flight.route.tags()[usize::from(flight.taken) - 1];
        let waiting = Waiting {
            packet,
            input: hop.input(self.lanes.lane(channel)),
            injected: flight.injected,
            high: self.config.priorities && flight.spec.priority == Priority::High,
            spread: match tag {
                Tag::Adaptive => {
                    arbitration::spread(flight.spec.source, flight.sequence, hop.switch)
                }
                _ => 0,
            },
        };
        let group = hop.next_group(tag);
        self.groups[group as usize].waiting.push(waiting);
        self.flag_group(group);
    }

    /// Grants free channels of a group to waiting headers.
    fn arbitrate(&mut self, number: u32) {
        self.groups[number as usize].flagged = false;
        loop {
            let group = &mut self.groups[number as usize];
            let (outputs, inputs) = self.crossbar.outputs(number);
            let rotation = group.rotation;
            let Some(index) =
                arbitration::winner(&group.waiting, rotation, inputs, self.age, self.now)
            else {
                return;
            };
            let spread = group.waiting[index].spread;
            let free = |link: LinkId| self.free[link as usize];
            let Some(link) = arbitration::least_loaded(outputs, spread, free) else {
                return;
            };
            let header = group.waiting.swap_remove(index);
            group.rotation = (header.input + 1) % inputs;
            self.grant(header.packet, link);
        }
    }

    /// Gives the lowest free channel of a link to a packet.
    fn grant(&mut self, packet: PacketId, link: LinkId) {
        let number = self.free[link as usize].trailing_zeros();
        self.free[link as usize] &= !(1 << number);
        let channel = self.lanes.channel(link, number);
        self.holder[channel as usize] = packet;
        let flight = self.flights.get_mut(packet);
        let upstream = flight.path().last().copied();
        flight.extend(channel);
        let high = self.config.priorities && flight.spec.priority == Priority::High;
        let key = Key::new(high, flight.injected, flight.spec.source, flight.sequence);
        self.motion.open(
            channel,
            Worm {
                flits: flight.spec.flits,
                key,
                upstream,
            },
            self.now,
        );
    }

    /// Injects what an adapter may inject.
    fn inject(&mut self, node: NodeId, notices: &mut Vec<Notice>) {
        let link = self.tree().injection(node);
        let port = &mut self.ports[node as usize];
        port.flagged = false;
        while self.ports[node as usize].outstanding < self.config.packets_in_flight
            && self.free[link as usize] != 0
        {
            let port = &mut self.ports[node as usize];
            let Some((spec, offered)) = port.waiting.iter_mut().find_map(VecDeque::pop_front)
            else {
                return;
            };
            port.outstanding += 1;
            let sequence = port.sequence;
            port.sequence = sequence.wrapping_add(1);
            let packet = self.flights.insert(Flight {
                spec,
                route: self
                    .config
                    .tree
                    .route(spec.source, spec.destination, self.config.ascent),
                sequence,
                offered,
                injected: self.now,
                delivered: 0,
                answered: false,
                ready: offered,
                path: [0; MAX_TAGS + 1],
                taken: 0,
            });
            self.grant(packet, link);
            notices.push(Notice::Injected(spec));
        }
    }

    /// The acknowledgement is back: the packet is done, and with circuits the EOP starts.
    fn complete(&mut self, packet: PacketId, ack: Ack) -> Notice {
        let flight = self.flights.remove(packet);
        self.acknowledged += 1;
        let source = flight.spec.source;
        self.ports[source as usize].outstanding -= 1;
        self.flag_port(source);
        if Flight::holds_circuit(self.config.circuit) {
            let mut passes = self.now + 1;
            for &channel in flight.path() {
                self.calendar.schedule(passes, Event::Free(channel));
                passes += self.delay(&[channel]);
            }
        }
        let record = PacketRecord {
            sequence: flight.sequence,
            links: flight.path().len() as u32,
            offered: flight.offered,
            injected: flight.injected,
            delivered: flight.delivered,
            acknowledged: self.now,
            ack,
        };
        Notice::Acknowledged(record, flight.spec)
    }

    /// A channel is free: whoever waits for it hears of it, and the tokens that closed it are charged.
    fn release(&mut self, channel: ChannelId) {
        let link = self.lanes.link(channel);
        self.motion.close(channel, self.now);
        self.free[link as usize] |= 1 << self.lanes.lane(channel);
        let hop = self.crossbar.hop(link);
        let (reverse, group) = (hop.reverse, hop.group);
        if self.config.tokens {
            self.motion.charge(link, self.now);
            self.motion.charge(reverse, self.now);
        }
        match group {
            NO_GROUP => self.flag_port(link),
            group => self.flag_group(group),
        }
    }

    fn head_sent(&mut self, channel: ChannelId) {
        let link = self.lanes.link(channel);
        self.packets[link as usize] += 1;
        self.waited[link as usize] +=
            self.now - self.flights.get(self.holder[channel as usize]).ready;
    }

    /// The last flit of a packet was sent over a channel in cycle `sent`, this one or the one before.
    fn tail_sent(&mut self, channel: ChannelId, sent: Cycle) {
        let packet = self.holder[channel as usize];
        let hop = self.crossbar.hop(self.lanes.link(channel));
        let (last, arrival) = (hop.ejects, sent + hop.delay);
        if last {
            self.calendar.schedule(arrival, Event::Delivered(packet));
        }
        if self.config.circuit == Circuit::Wormhole {
            let path = self.flights.get(packet).path();
            let place = path
                .iter()
                .position(|&taken| taken == channel)
                .expect("the channel is on the packet's path");
            if place > 0 {
                self.calendar
                    .schedule(sent + 2, Event::Free(path[place - 1]));
            }
            if last {
                self.calendar.schedule(arrival + 2, Event::Free(channel));
            }
        }
    }

    /// Header delay of the links of some channels, in cycles.
    fn delay(&self, channels: &[ChannelId]) -> u64 {
        let delay = |&channel: &ChannelId| self.crossbar.hop(self.lanes.link(channel)).delay;
        channels.iter().map(delay).sum()
    }

    /// Has a group arbitrate in this cycle, if a header waits.
    fn flag_group(&mut self, number: u32) {
        let group = &mut self.groups[number as usize];
        if !group.waiting.is_empty() && !std::mem::replace(&mut group.flagged, true) {
            self.flagged_groups.push(number);
        }
    }

    /// Has an adapter inject in this cycle, if a packet waits.
    fn flag_port(&mut self, node: NodeId) {
        let port = &mut self.ports[node as usize];
        let waits = port.waiting.iter().any(|class| !class.is_empty());
        if waits && !std::mem::replace(&mut port.flagged, true) {
            self.flagged_ports.push(node);
        }
    }

    /// Passes over cycles in which nothing happens: the counters are those before cycle `cycle` from then on. All cycles
    /// before it that have something to do must have been executed.
    pub fn skip_to(&mut self, cycle: Cycle) {
        assert!(
            self.next_cycle().is_none_or(|next| next >= cycle),
            "cycles before {cycle} have not been executed"
        );
        self.now = self.now.max(cycle);
    }
}
