//! Cables: deaths, losses, repairs.

use super::{Control, Faults, NEVER};
use crate::control::PacketId;
use crate::control::packet::Fate;
use crate::motion::Motion;
use crate::topology::CompiledRouting;
use crate::{ChannelId, LinkId};

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    pub(super) fn failing(&mut self) -> &mut Faults {
        let faults = self.faults.as_mut();
        faults.expect("cables are cut only in a machine that was made with faults")
    }

    fn both_ways(&self, link: LinkId) -> [LinkId; 2] {
        [link, self.channels.hop(link).reverse]
    }

    /// A link's cable is dead from the cycle on that is executed next.
    pub fn cut(&mut self, motion: &mut M, link: LinkId) {
        let now = self.clock.now();
        for link in self.both_ways(link) {
            let free = self.channels.free(link);
            let faults = self.failing();
            let cable = &mut faults.cables[link];
            cable.cuts += 1;
            if cable.cuts > 1 {
                continue;
            }
            cable.deaths.push((now, NEVER));
            cable.kept = free;
            faults.news = true;
            faults.troubled = true;
            faults.dead += 1;
            self.channels.bar(link);
            for channel in self.channels.of(link) {
                if free >> self.channels.lane(channel) & 1 == 0 {
                    self.lose_what_crosses(motion, channel);
                }
            }
            self.tell(self.channels.hop(link).sender());
        }
    }

    /// A cable that was dead may live again.
    pub fn repair(&mut self, link: LinkId) {
        let now = self.clock.now();
        for link in self.both_ways(link) {
            let faults = self.failing();
            let cable = &mut faults.cables[link];
            assert!(cable.cuts > 0, "a cable is repaired that is not cut");
            cable.cuts -= 1;
            if cable.cuts > 0 {
                continue;
            }
            let death = cable.deaths.last_mut().expect("it has died");
            death.1 = now;
            if death.0 == now {
                // Dead for no cycle.
                cable.deaths.pop();
            }
            let free = std::mem::take(&mut cable.kept);
            faults.news = true;
            faults.dead -= 1;
            self.channels.reopen(link, free);
            self.tell(self.channels.hop(link).sender());
        }
    }

    pub fn is_cut(&self, link: LinkId) -> bool {
        let faults = self.faults.as_ref();
        faults.is_some_and(|faults| faults.cables[link].cuts > 0)
    }

    /// A channel has fallen free: if its cable is dead, the channel is kept for the repair.
    #[cold]
    pub(in crate::control) fn keep(&mut self, channel: ChannelId) {
        let link = self.channels.link(channel);
        if self.is_cut(link) {
            let free = self.channels.bar(link);
            self.failing().cables[link].kept |= free;
        }
    }

    /// A taken channel's cable dies before this cycle: the packet there is lost, unless it has
    /// crossed.
    fn lose_what_crosses(&mut self, motion: &mut M, channel: ChannelId) {
        let packet = self.channels.holder(channel);
        // A channel that waits only for the EOP has no packet.
        if !self.flights.holds(packet, channel)
            || self.flights.get(packet).ack.is_some()
            || self.is_only_claimed(packet)
        {
            return;
        }
        motion.look(channel, self.clock.now(), self);
        let tail = self.failing().seen[channel].tail;
        let delay = self.channels.delay(&[channel]);
        if tail == NEVER || tail + delay >= self.clock.now() {
            self.lose_over(packet, channel);
        }
    }

    /// A packet is lost on a channel.
    pub(in crate::control) fn lose_over(&mut self, packet: PacketId, channel: ChannelId) {
        let flight = self.flights.get_mut(packet);
        flight.fate = Fate::Lost;
        let place = flight.path().iter().position(|&taken| taken == channel);
        let place = place.expect("the packet holds it") as u8;
        flight.broken = flight.broken.min(place);
        let seen = &mut self.failing().seen[channel];
        seen.gone = !seen.header;
    }
}
