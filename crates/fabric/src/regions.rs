//! # Regions: one network on several engines
//!
//! The network may be cut into *regions* ([`Config::regions`](crate::Config::regions)). Each region
//! has an engine of its own, a control plane and a worm mover, for its adapters, its switches and
//! the links that begin there. Engines share no state; they exchange messages. So several threads
//! may each work on some regions ([`Config::threads`](crate::Config::threads)). No result depends
//! on the cut, nor on the threads: packets, counters and moments are those of the network on one
//! engine, in every cycle. A network of one region has the same engine, without a border.
//!
//! ## Why that is possible
//!
//! Whatever happens in a cycle depends only on counts before the cycle, and changes nothing
//! elsewhere in that cycle: flits take at least a cycle to the next switch, and places in buffers
//! fall free at least a cycle after their flit has left (essays of the crate and of
//! [`motion::worm`](crate::motion::worm)). So regions may execute a cycle in any order, or at the
//! same time, and read the messages afterwards.
//!
//! *Windows.* No message is due earlier than the least header delay or credit delay of the links between regions, and the
//! EOP takes as long to the first of these. Regions execute so many cycles, a *window*, between two
//! meetings, where nothing else tells them to stop: where the nodes run on the threads of their
//! regions ([`Network::run`](crate::Network::run)). Nodes elsewhere want to hear news at once, so
//! that [`Network::advance`](crate::Network::advance) stops after each cycle.
//!
//! An adapter and its switch are in one region. So injection, delivery, the shared memory port,
//! arbitration and all choices of a switch look at one region.
//!
//! ## Mirrors
//!
//! All regions have the same numbers of links and channels, and a region has records of them all,
//! but uses few that are not its own. At the border, a record of a channel of another region is a
//! *mirror*: messages keep those fields that this region reads.
//!
//! * *Inbound:* the channel ends here. The mirror has the line `R` of arrived flits, the length of the worm, and the
//!   channels behind. The flight of the packet comes with the header as a *visitor* (`control::border`).
//! * *Outbound:* the channel begins here. Behind it stands a record of its own with the line of the credits that are back
//!   (`motion::worm::mirrors`). Nothing else of another region is read.
//!
//! ## Messages
//!
//! | message | sent | due |
//! |---|---|---|
//! | the flight, and `ArrivalStarts` | when an outbound channel sends the first flit | after the delay of the link |
//! | `ArrivalStarts`, `ArrivalStops` | when an outbound channel starts, or stops in mid-worm | after the delay of the link |
//! | `Leaves`, `Stays` | when a channel behind an inbound one starts, or stops in mid-worm | after the credit delay of the link |
//! | `Free` of an inbound channel | when its tail has left the buffer | a cycle more than the credit delay later |
//! | `Free` of any channel of the path | at the delivery, where circuits last until then: windows of a cycle | in the next cycle |
//! | `Charge` | with each release of a channel on the border, to the owner of the link of the opposite direction | with the release |
//! | the answer, with the flight | when the adapter answers | when it is back at the source |
//! | `Enters` | when the EOP is about to pass an outbound link | when it passes |
//! | `Ended` | when the answer is back, if the destination awaits the EOP | when the EOP is there |
//!
//! Broadcasts, the parts of which are in several regions, have further messages (`control::border::broadcast`):
//!
//! | message | sent | due |
//! |---|---|---|
//! | a broadcast is opened on an outbound link | with the opening | before its header |
//! | a delivery, to the region of the source; to all, where circuits last until then | at the delivery | in the next window |
//! | a destination's answer, to the region of the source | when the adapter answers | when it is back there |
//! | the EOP with the combined answer | when it is about to pass an outbound link | when it passes |
//!
//! ## What one region must have
//!
//! A machine with faults has one region, whatever its configuration asks for: some consequences of
//! faults take no time between distant regions. A sink behind a link gives the sender all credits in
//! the cycle of the sink, where credits take a cycle; a source that waits beyond its timeout hears of
//! the end of its packet in the cycle in which garbage ends at the destination; and the tail of a
//! worm that is sunk is reported up to a cycle late, which may be the cycle in which it is drained.
//! Two more meetings in each such cycle would be needed. The flit mover always moves a whole network.
//!
//! ## Costs
//!
//! A region has tables of the network's size, but records only of the links that begin or end in it;
//! the other places are blank (`table::blank`). Tables of adapters are whole, and so are those of
//! late credits. Each window has one meeting of all threads (`pace`, `team`).

mod divided;
mod pace;
mod sync;
mod team;

pub(crate) use divided::Divided;
