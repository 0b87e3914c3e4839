//! A recording: channel holds and waits over time.
//!
//! A link's counters give total waits; a recording shows the packets themselves, for pictures of a
//! few microseconds in a small network. A recording is kept only on request, and does not change
//! the simulation.
//!
//! A [`Hold`] begins when a header starts to wait for a link (at an adapter: when the packet is
//! offered), and ends when the channel is free again. With circuits, the time from the last flit to
//! the end of the hold is the circuit's cost: the channel is idle, and no other packet may have it.
//! Holds that end before the recording begins are dropped, so that a recording may be requested at
//! the start of a run and show a moment long after it, with all circuits that were open then.

use super::Control;
use super::packet::Flight;
use crate::PacketId;
use crate::motion::{Motion, MotionReport};
use crate::topology::{CompiledRouting, Destination, Path};
use crate::{ChannelId, Cycle, LinkId, Place};
use std::collections::BTreeMap;

/// One channel on the way of a packet: when the packet waited for it, had it and gave it back. All
/// times in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The adapter that sent the packet.
    pub source: Place,
    /// How many packets this adapter had injected before.
    pub sequence: u32,
    /// Where the packet goes.
    pub destination: Destination,
    /// The packet's length in flits.
    pub flits: u32,
    /// The place of the channel on the packet's way, from 0 at the adapter; for a broadcast part,
    /// on this part's way.
    pub hop: u32,
    /// The link. While the header waits for any of several links, this is the first one.
    pub link: LinkId,
    /// The channel's place on its link, once the packet has it.
    pub channel: Option<u32>,
    /// Since when the header has waited at the link's start.
    pub waits: Cycle,
    /// When the packet got the channel.
    pub opened: Option<Cycle>,
    /// When the first flit was sent over the channel.
    pub head: Option<Cycle>,
    /// When the last flit was sent over the channel. The worm mover computes it only for a way's
    /// last link, unless the circuit needs it; the flit mover has it for all links.
    pub tail: Option<Cycle>,
    /// From when on the channel was free again.
    pub closed: Option<Cycle>,
    /// When the last flit had reached the destination, if the packet got so far; for a broadcast,
    /// the last destination that it has reached.
    pub delivered: Option<Cycle>,
    /// When the acknowledgement had reached the source, if it did.
    pub acknowledged: Option<Cycle>,
}

/// A packet's times that are known only after its channels were taken: delivered, acknowledged.
type End = (Option<Cycle>, Option<Cycle>);

/// A finished recording, for a network or a region.
pub(crate) struct FinishedRecording {
    holds: Vec<Hold>,
    /// Packet ends, by source and sequence.
    ends: BTreeMap<(Place, u32), End>,
}

/// The holds of all regions, in their order, each with the end of its packet.
pub(crate) fn united(regions: impl Iterator<Item = Option<FinishedRecording>>) -> Vec<Hold> {
    let mut holds = Vec::new();
    let mut ends: BTreeMap<(Place, u32), End> = BTreeMap::new();
    for recorded in regions.flatten() {
        holds.extend(recorded.holds);
        for (packet, (delivered, acknowledged)) in recorded.ends {
            let end = ends.entry(packet).or_default();
            *end = (end.0.max(delivered), end.1.max(acknowledged));
        }
    }
    for hold in &mut holds {
        if let Some(&end) = ends.get(&(hold.source, hold.sequence)) {
            (hold.delivered, hold.acknowledged) = end;
        }
    }
    holds.sort_by_key(|hold| (hold.source, hold.sequence, hold.hop, hold.link, hold.waits));
    holds
}

/// A recording under way.
pub(super) struct Recording {
    /// Holds that end before are dropped.
    from: Cycle,
    /// The present holds, by channel.
    held: BTreeMap<ChannelId, Hold>,
    ended: Vec<Hold>,
    /// Packet ends, by source and sequence.
    ends: BTreeMap<(Place, u32), End>,
    /// The moments that the mover has reported, each with its cycle, if they are to be kept.
    pub moments: Option<Vec<(Cycle, MotionReport)>>,
}

impl Recording {
    pub fn new(from: Cycle) -> Self {
        Recording {
            from,
            held: BTreeMap::new(),
            ended: Vec::new(),
            ends: BTreeMap::new(),
            moments: None,
        }
    }

    fn note(&mut self, channel: ChannelId, note: impl FnOnce(&mut Hold)) {
        // A channel that was taken before the recording was requested is unknown.
        if let Some(hold) = self.held.get_mut(&channel) {
            note(hold);
        }
    }

    /// The mover reports a moment.
    #[cold]
    pub fn moved(&mut self, moment: MotionReport, now: Cycle) {
        let cycle = match moment {
            MotionReport::Header(_) | MotionReport::Head(_) => now,
            MotionReport::Tail(_, cycle) => cycle,
        };
        if let Some(moments) = &mut self.moments {
            moments.push((cycle, moment));
        }
        match moment {
            MotionReport::Header(_) => {}
            MotionReport::Head(channel) => self.note(channel, |hold| hold.head = Some(cycle)),
            MotionReport::Tail(channel, _) => self.note(channel, |hold| hold.tail = Some(cycle)),
        }
    }

    #[cold]
    pub fn opened(&mut self, channel: ChannelId, hold: Hold) {
        self.held.insert(channel, hold);
    }

    #[cold]
    pub fn closed(&mut self, channel: ChannelId, at: Cycle) {
        let Some(hold) = self.held.remove(&channel) else {
            return;
        };
        if at > self.from {
            let closed = Some(at);
            self.ended.push(Hold { closed, ..hold });
        }
    }

    #[cold]
    pub fn completed<P: Path>(&mut self, flight: &Flight<P>, now: Cycle) {
        if now >= self.from {
            let end = (delivered(flight), Some(now));
            let packet = (flight.spec.source, flight.sequence);
            self.ends.insert(packet, end);
        }
    }
}

/// When a packet was delivered, if it was.
fn delivered<P: Path>(flight: &Flight<P>) -> Option<Cycle> {
    (flight.delivered > 0).then_some(flight.delivered)
}

impl<R: CompiledRouting + ?Sized, M: Motion> Control<R, M> {
    /// From here on keeps the holds that last beyond cycle `from`.
    pub fn record(&mut self, from: Cycle) {
        self.recording = Some(Box::new(Recording::new(from)));
    }

    /// Ends the recording. See [`crate::Network::recorded`].
    pub fn recorded(&mut self) -> Option<FinishedRecording> {
        let recording = self.recording.take()?;
        let Recording {
            held,
            mut ended,
            mut ends,
            ..
        } = *recording;
        ended.extend(held.into_values());
        ended.extend(self.waiting());
        for (_, flight) in self.flights.iter() {
            let packet = (flight.spec.source, flight.sequence);
            // A broadcast has a flight for each part.
            let (end, acknowledged) = ends.entry(packet).or_default();
            if acknowledged.is_none() {
                *end = delivered(flight).max(*end);
            }
        }
        Some(FinishedRecording { holds: ended, ends })
    }

    /// The headers that wait at switches for a channel.
    fn waiting(&self) -> Vec<Hold> {
        let mut found = Vec::new();
        for (number, group) in self.crossbar.groups.iter_enumerated() {
            let mut next = group.waiting;
            while let Some(packet) = next {
                let flight = self.flights.get(packet);
                let any = self.crossbar.outputs(number).0[0];
                let link = if flight.only == super::packet::ANY_LINK {
                    any
                } else {
                    flight.only
                };
                found.push(hold(flight, link));
                next = flight.next;
            }
        }
        found
    }

    /// A hold as far as it is known when the packet gets the channel.
    #[cold]
    pub(super) fn note_opened(&mut self, packet: PacketId, channel: ChannelId) {
        let flight = self.flights.get(packet);
        let mut hold = hold(flight, self.channels.link(channel));
        // The channel is on the path already.
        hold.hop -= 1;
        hold.channel = Some(self.channels.lane(channel));
        hold.opened = Some(self.clock.now());
        if let Some(recording) = &mut self.recording {
            recording.opened(channel, hold);
        }
    }
}

/// The hold on a packet's next channel, for which its header waits.
fn hold<P: Path>(flight: &Flight<P>, link: LinkId) -> Hold {
    Hold {
        source: flight.spec.source,
        sequence: flight.sequence,
        destination: flight.spec.destination,
        flits: flight.spec.flits,
        hop: flight.path().len() as u32,
        link,
        channel: None,
        waits: flight.ready,
        opened: None,
        head: None,
        tail: None,
        closed: None,
        delivered: None,
        acknowledged: None,
    }
}
