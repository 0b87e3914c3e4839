//! # Regions: one network on several engines
//!
//! The network may be cut into *regions* ([`Config::regions`](crate::Config::regions)). Each region
//! has an engine of its own, a control plane and a worm mover, for its adapters, its switches and
//! the links that begin there. Engines share no state; they exchange messages. So several threads
//! may each work on some regions ([`Config::threads`](crate::Config::threads)). Results are
//! independent of the cut and the threads: packets, counters and moments are those of the network
//! on one engine, in every cycle. A one-region network has the same engine, without a border.
//!
//! ## Why that is possible
//!
//! Each action in a cycle depends only on counts before the cycle, and has no effect elsewhere in
//! that cycle: flits take at least a cycle to the next switch, and places in buffers fall free at
//! least a cycle after their flit has left (essays of the crate and
//! [`motion::worm`](crate::motion::worm)). So regions may execute a cycle in any order, or at the
//! same time, and read the messages afterwards.
//!
//! *Windows.* No message is due earlier than the least header delay or credit delay on the links
//! between regions, and the EOP takes as long to the first such link. Regions execute this many
//! cycles, a *window*, between two meetings, unless stopped earlier: where the nodes run on the
//! threads of their regions ([`Network::run`](crate::Network::run)). Nodes elsewhere need notices
//! immediately, so that [`Network::advance`](crate::Network::advance) stops after each cycle.
//!
//! An adapter and its switch are in one region. So injection, delivery, the shared memory port,
//! arbitration and all switch choices look at one region.
//!
//! ## Mirrors
//!
//! All regions have the same link and channel numbers, and a region has records for them all, but
//! uses few that are not its own. At the border, a record for another region's channel is a
//! *mirror*: messages keep those fields that this region reads.
//!
//! * *Inbound:* the channel ends here. The mirror has the arrival line `R`, the worm's length, and
//!   the channels behind. The packet's flight comes with the header as a *visitor*
//!   (`control::border`).
//! * *Outbound:* the channel begins here. Behind it stands a separate record with the line of
//!   returned credits (`motion::worm::mirrors`). No other field in another region is read.
//!
//! ## Messages
//!
//! | message | sent | due |
//! |---|---|---|
//! | the flight, and `ArrivalStarts` | when an outbound channel sends the first flit | after the link's delay |
//! | `ArrivalStarts`, `ArrivalStops` | when an outbound channel starts, or stops in mid-worm | after the link's delay |
//! | `FlitArrives` | for each flit over a slow outbound link | after the link's delay |
//! | `Leaves`, `Stays` | when a channel behind an inbound one starts, or stops in mid-worm | after the link's credit delay |
//! | `Free` for an inbound channel | when its tail has left the buffer | a cycle more than the credit delay later |
//! | `Free` for any channel on the path | at the delivery, where circuits last until then: one-cycle windows | in the next cycle |
//! | `Charge` | with each channel release on the border, to the owner of the link in the opposite direction | with the release |
//! | the answer, with the flight | when the adapter answers | when it is back at the source |
//! | `Enters` | when the EOP is about to pass an outbound link | when it passes |
//! | `Ended` | when the answer is back, if the destination awaits the EOP | when the EOP is there |
//!
//! Broadcasts with parts in several regions have further messages (`control::border::broadcast`):
//!
//! | message | sent | due |
//! |---|---|---|
//! | a broadcast is opened on an outbound link | with the opening | before its header |
//! | a delivery, to the source's region; to all, where circuits last until then | at the delivery | in the next window |
//! | a destination's answer, to the source's region | when the adapter answers | when it is back there |
//! | the EOP with the combined answer | when it is about to pass an outbound link | when it passes |
//!
//! ## One region
//!
//! A machine with faults has one region, regardless of its configuration: some fault consequences
//! take no time between distant regions. A sink behind a link gives the sender all credits in the
//! cycle of the sink, where credits take a cycle; a source that waits beyond its timeout is
//! notified of its packet's end in the cycle in which garbage ends at the destination; and a sunk
//! worm's tail is reported up to a cycle late, which may be the cycle in which it is drained. Two
//! more meetings in each such cycle would be needed. The flit mover always moves a whole network.
//!
//! ## Costs
//!
//! A region has tables of the network's size, but records only for the links that begin or end in
//! it, and for its adapters. The other places are blank, and take memory only where they share a
//! page with a record (`table::blank`). The cut keeps the regions' records together: in a
//! quaternary tree for 16,384 nodes, 16 regions have 1.21 times the network's pages, since a link
//! between regions has a record at both ends. The lines of credits that return late are whole
//! tables. Each window has one meeting of all threads (`pace`, `team`).

mod divided;
mod pace;
mod sync;
mod team;

pub(crate) use divided::Divided;
