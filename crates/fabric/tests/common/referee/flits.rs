//! The referee's flit handling: flits enter, cross, and end.

use super::{Flight, Header, Referee, Taken};
use fabric::topology::End;
use fabric::{Ack, ChannelId, Circuit, Cycle, LinkCounters, PacketSpec, Place, SwitchId};
use std::collections::{BTreeMap, VecDeque};

impl Referee<'_> {
    /// A broadcast gets one more link among those that it needs at a switch. With the last link it
    /// goes on.
    pub(super) fn claimed(
        &mut self,
        switch: SwitchId,
        header: &Header,
        channel: ChannelId,
        now: Cycle,
    ) {
        let crossing = self.crossings.get_mut(&switch).expect("somebody claims");
        crossing.missing.remove(&self.lanes.link(channel));
        crossing.claimed.push(channel);
        if !crossing.missing.is_empty() {
            return;
        }
        crossing.next = now + 1;
        self.set_ups.insert(now + 1);
        let channels = std::mem::take(&mut crossing.claimed);
        let came_by = self.lanes.link(header.from);
        if let Some(sent) = self.sent_on.get_mut(&came_by) {
            assert_eq!(sent.pop_front(), Some(header.packet));
            if sent.is_empty() {
                self.sent_on.remove(&came_by);
            }
        }
        for &channel in &channels {
            let link = self.lanes.link(channel);
            if let End::Switch { .. } = self.case.config.topology.ends(link).1 {
                self.sent_on
                    .entry(link)
                    .or_default()
                    .push_back(header.packet);
            }
        }
        self.open(&channels, Some(header.from), now);
    }

    /// Injects each traffic class's first waiting packet while an adapter has few enough packets in
    /// this class under way and its link has a free channel in the class.
    pub(super) fn inject(&mut self, now: Cycle) -> Vec<PacketSpec> {
        let mut injected = Vec::new();
        let senders: Vec<(Place, u8)> = self.queues.keys().copied().collect();
        for (node, class) in senders {
            let link = self.case.config.topology.injection(node);
            loop {
                let levels = &self.queues[&(node, class)];
                let Some(&(offered, spec)) = levels.iter().find_map(VecDeque::front) else {
                    break;
                };
                let outstanding = self.outstanding.get(&(node, class)).copied();
                let lanes = self.lanes_of(&spec);
                if outstanding.unwrap_or(0) >= self.case.config.packets_in_flight
                    || self.spare_of(link, &lanes) == 0
                {
                    break;
                }
                let levels = self.queues.get_mut(&(node, class)).expect("just seen");
                levels.iter_mut().find_map(VecDeque::pop_front);
                let flight = Flight {
                    spec,
                    sequence: self.sequences[usize::from(node)],
                    injected: now,
                    taken: BTreeMap::new(),
                    undelivered: spec.destination.count(),
                    back: 0,
                    answer: Ack::Accepted,
                    via: None,
                    link: 0,
                };
                self.flights.insert(spec.token, flight);
                self.sequences[usize::from(node)] += 1;
                *self.outstanding.entry((node, class)).or_default() += 1;
                let taken = Taken {
                    ready: offered,
                    upstream: None,
                    before: 0,
                };
                let channel = self.take(spec.token, link, lanes, taken);
                self.open(&[channel], None, now);
                injected.push(spec);
            }
        }
        injected
    }

    /// A first flit is sent: immediately, or in a gap in another worm, or when the last other worm
    /// has left the link.
    pub(super) fn start(&mut self, now: Cycle, channel: ChannelId) {
        let granted = self.unstarted.remove(&channel).expect("it was granted");
        let config = &self.case.config;
        let link = self.lanes.link(channel);
        let flight = &self.flights[&self.holders[&channel]];
        let counters = &mut self.counters[usize::from(link)];
        self.begun.insert(channel, now);
        counters.packets += 1;
        counters.flits += u64::from(flight.spec.flits);
        let taken = &flight.taken[&channel];
        counters.waiting += now - taken.ready;
        counters.delay += now - flight.injected - taken.before;
        let mut others = self.lanes.of(link).filter(|&other| other != channel);
        let alone = others.all(|other| !self.unfinished.contains(&other));
        if alone && !config.tokens && config.share_burst == 0 {
            let busy = 1 + Cycle::from(config.pace_of(link).serialisation());
            let left = self.left.get(&link).map_or(0, |last| last + busy);
            let times = granted..=granted.max(left);
            assert!(
                times.contains(&now),
                "channel {channel} starts at {now}, not {times:?}"
            );
        }
    }

    /// A last flit is sent. In plain wormhole routing it frees the channel before.
    pub(super) fn finish(&mut self, now: Cycle, channel: ChannelId) {
        self.unfinished.remove(&channel);
        let link = self.lanes.link(channel);
        self.left.insert(link, now);
        let packet = self.holders[&channel];
        // No link is faster than its pace: the first and the last flit are at least so far apart.
        let pace = self.case.config.pace_of(link);
        let flits = u64::from(self.flights[&packet].spec.flits);
        let least = (flits - 1) * u64::from(pace.cycles()) / u64::from(pace.flits());
        assert!(
            now - self.begun[&channel] >= least,
            "channel {channel} is faster than its link: {now}"
        );
        let circuit = self.case.config.circuit;
        let wormhole = circuit == Circuit::Wormhole || circuit == Circuit::CutThrough;
        if let End::Node(node) = self.case.config.topology.ends(link).1 {
            let arrives = now + self.delay(channel);
            let deliveries = self.deliveries.entry(arrives).or_default();
            deliveries.insert((packet, node));
            if wormhole {
                let free = arrives + self.release(channel);
                self.freed.entry(free).or_default().push(channel);
            }
        }
        if let Some(upstream) = self.flights[&packet].taken[&channel].upstream {
            let branches = self.branches.get_mut(&upstream).expect("it was opened");
            *branches -= 1;
            if wormhole && *branches == 0 {
                let free = now + self.release(upstream);
                self.freed.entry(free).or_default().push(upstream);
            }
        }
    }

    /// Checks that the network is empty, and returns each link's counters.
    pub fn close(mut self) -> Vec<LinkCounters> {
        assert!(self.flights.is_empty() && self.holders.is_empty() && self.unstarted.is_empty());
        for (link, counters) in (0..).map(fabric::LinkId::new).zip(&mut self.counters) {
            let pace = self.case.config.pace_of(link);
            let slots = counters.flits + counters.tokens;
            counters.busy = slots * u64::from(pace.cycles()) / u64::from(pace.flits());
        }
        self.counters
    }
}
