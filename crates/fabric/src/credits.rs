//! # Credits: the link rate that flow control sustains
//!
//! A channel serves one packet at a time. From the grant until the channel is free again a packet
//! *holds* it, for a flow-control *round trip*, and meanwhile a link sends at most one packet by
//! each channel. So a stream with `P`-flit packets over links with `c` channels has at most the
//! share `c P / hold` of the rate. With hop delays `D` and credit delays `C` in cycles, buffers `B`
//! in flits and acknowledgements that leave `A` cycles after a delivery:
//!
//! | circuit | a channel is held for |
//! |---|---|
//! | wormhole, cut-through | `sending + D + C`: the tail leaves the buffer `D` cycles after it was sent, and `C + 1` cycles later the channel is free |
//! | until delivered | `sending + D + D'`, on the first link of a two-link way, the shortest one |
//! | until acknowledged | `sending + 2 (D + D') + A`, on both links; an adapter has `packets_in_flight` such packets |
//!
//! *Sending* a packet takes `P` cycles if the buffer covers the *round trip*, the way to the next
//! switch and the credit's way back, `B >= D + C`: a flit takes a buffer place for `D + C` cycles.
//! Else the link sends `B` flits in every `D + C` cycles, the share `B / (D + C)` of its rate,
//! which for the packet's last flit makes `(P - 1) / B (D + C) + (P - 1) mod B + 1` cycles.
//!
//! These are bounds for one stream that meets no other packet. A packet that waits behind another
//! one for the next link holds its channel for longer; [`Credits::share_behind`] has the share if
//! each packet waits for a number of others. Routing classes share the channels here as if every
//! packet could take all channels, so that the shares are upper bounds there.

use crate::{Circuit, Config, Cycle};

/// The flow control on the links of one level, for a stream with one packet length.
#[derive(Clone, Debug, PartialEq)]
pub struct Credits {
    /// Channels that the stream may hold at a time: those in its traffic class, and no more than an
    /// adapter has packets in flight if circuits are held until the acknowledgement.
    pub channels: u32,
    /// Flits per packet.
    pub flits: u32,
    /// Cycles for which a packet holds a channel.
    pub hold: Cycle,
    /// Cycles in which the packet is sent.
    pub sending: Cycle,
}

impl Credits {
    /// The credits on a level, from 0, for packets with one length in flits. Acknowledgements leave
    /// `turnaround` cycles after a delivery. Held circuits are those between two nodes at one
    /// switch, on any level.
    ///
    /// # Panics
    /// If there is no such level, or if a packet has no flits.
    pub fn new(config: &Config, level: usize, flits: u32, turnaround: Cycle) -> Self {
        assert!(flits >= 1, "a packet has flits");
        let class = config.channels.div_ceil(config.traffic_classes);
        let (channels, level) = match config.circuit {
            Circuit::Wormhole | Circuit::CutThrough => (class, level),
            Circuit::UntilDelivered => (class, 0),
            Circuit::UntilAcknowledged => (class.min(config.packets_in_flight), 0),
        };
        let delay = Cycle::from(config.hop_delay[level]);
        let trip = delay + Cycle::from(config.credit_delay(level));
        let sending = sending(flits, config.buffer, trip);
        let hold = sending
            + match config.circuit {
                Circuit::Wormhole | Circuit::CutThrough => trip,
                Circuit::UntilDelivered => 2 * delay,
                Circuit::UntilAcknowledged => 4 * delay + turnaround,
            };
        Credits {
            channels,
            flits,
            hold,
            sending,
        }
    }

    /// The greatest share of a link's rate that a stream gets, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.share_behind(0)
    }

    /// The same, where each packet waits for `others` equally long ones before the next link.
    pub fn share_behind(&self, others: u32) -> f64 {
        let hold = self.hold + Cycle::from(others) * Cycle::from(self.flits);
        let sent = f64::from(self.channels) * f64::from(self.flits);
        (sent / hold as f64).min(1.0)
    }

    /// The least channel count with which the share is 1, where each packet waits for `others`
    /// packets.
    pub fn enough(&self, others: u32) -> u32 {
        let flits = Cycle::from(self.flits);
        let needed = (self.hold + Cycle::from(others) * flits).div_ceil(flits);
        u32::try_from(needed).unwrap_or(u32::MAX)
    }
}

/// Cycles in which a packet is sent over a hop into a buffer, the places in which come back after a
/// round trip.
fn sending(flits: u32, buffer: u32, trip: Cycle) -> Cycle {
    let [before, buffer] = [flits - 1, buffer].map(Cycle::from);
    let turn = trip.max(buffer);
    before / buffer * turn + before % buffer + 1
}
