//! # Dynamic rail allocation: an adapter's state machine
//!
//! Source: coll2003 s4.2, algorithms 5 and 6, tables 1 and 2.
//!
//! A process asks its adapter for a way to another node (local RTS); the adapter asks that node's
//! adapter on the same rail (remote RTS), which reserves itself and grants (CTS) or refuses (NACK).
//! The process sends its message or gives the way back (ABORT); the receiver reports the message's
//! end (ACK). While reserved, an adapter sends or receives, never both.
//!
//! [`Nic`] is one adapter's part: it takes a [`ControlMessage`] and immediately returns the
//! answers. It has no clock, never waits and never allocates. Every RTS is answered immediately, by
//! CTS or NACK: there is no deadlock. Two adapters may refuse each other because both are reserved,
//! and try again for ever. Priorities avoid this *livelock*: an RTS carries the requester's
//! counter; when two requests meet, the one with the higher (counter, node) proceeds.
//!
//! ## A process's duties to its adapter
//!
//! * The process numbers its requests; no two requests from a node on a rail have the same number.
//!   A retry is a new request.
//! * The process answers *every* local CTS, by its message or by ABORT, even a CTS that comes after
//!   the process has given up.
//! * Until the process sends, it may give up at any time, by ABORT. It ignores a NACK that comes
//!   later.
//! * Where the message arrives, a local ACK for its request reports the message, once.
//!
//! ## Crossing messages
//!
//! One request's messages are a chain: RTS; then CTS or NACK; after a CTS, data or ABORT; after
//! data, ACK. The receiver of each message sends the next, so no two packets of a request are ever
//! under way at the same time. Hence the network may order packets freely, also packets between the
//! same two adapters; `tests/protocol` explores both orders. Different requests' packets do cross.
//! The request's identity, node and number, distinguishes them:
//!
//! | message | for another request than the one in hand | then |
//! |---|---|---|
//! | local ABORT | the process gave up while a NACK was on its way to it, or gave up and then declined the CTS | ignored |
//! | CTS | the process gave up before it came | [table 1](tables::TABLE_1) or, if reserved again by then, [ours](tables::late) |
//! | NACK | the same | the same |
//! | ABORT, ACK, local ACK | never: they end a reservation, and only they end it | an assertion |
//!
//! A late CTS is a reservation at the other end, which holds until it is used or aborted. The
//! adapter offers the reservation to the process (if the adapter is free) or aborts the reservation
//! itself.
//!
//! ## Granted requests
//!
//! A request's rank is (counter, node), with the counter that its RTS carries, for as long as the
//! request is out. Both ends judge by these ranks. s4.2: "the priorities of the remote NIC
//! (incoming request) and the local NIC (outgoing request) are compared". One may read algorithm 6
//! to compare the adapter's present counter instead. That livelocks, with three adapters in step
//! (`judging_by_the_present_counter_livelocks`).
//!
//! *Some grants are used,* if processes use their grants. An adapter gives a grant back only if it
//! has yielded to a higher-ranked request, which is thereby granted. Ranks rise along this chain,
//! so the chain ends, and it ends at a grant that is used.
//!
//! *In rounds, some requests are granted.* Let all requests in a round be out at once. A refused
//! request has met a higher-ranked one, which is then judged at its own destination. Ranks rise
//! along this chain, too, so the chain ends at a grant or at an adapter that is in use. For other
//! overlaps there is no such proof: a wave of refusals could run round a circle while all counters
//! fall. No such wave was found: in 160,000 random networks, a request was granted within 2.85
//! round trips whenever no message was being sent.
//!
//! *Some requests may never be granted.* The procedure avoids livelock, not starvation: an adapter
//! pays a point for refusing a request even if its own request is then refused, and every other
//! adapter in an even circle that works in step can wait for ever
//! (`in_step_an_even_circle_starves_every_other_adapter`). Delays that vary make circles fair.
//!
//! There are no units, as there is no time here. [`tables`] holds the paper's tables, and decides
//! the cases that the paper leaves open.

pub mod tables;

use elan::NodeId;
use tables::{TABLE_1, TABLE_2, Transition};

/// An adapter's status: the columns of table 1, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NicStatus {
    /// The adapter is available.
    Free,
    /// Granted to a remote request; the adapter receives a message, or will.
    Receiving,
    /// The adapter's request was granted: the process sends its message, or will.
    Sending,
    /// Reserved by a local request with its RTS out.
    Reserved,
    /// Granted to a higher-priority remote request while the adapter's own RTS is out.
    ReceivingOutRts,
}

impl NicStatus {
    /// All statuses, in table 1's order.
    pub const ALL: [Self; 5] = [
        Self::Free,
        Self::Receiving,
        Self::Sending,
        Self::Reserved,
        Self::ReceivingOutRts,
    ];

    /// Whether an RTS is out that the process has not given up.
    pub fn is_asking(self) -> bool {
        matches!(self, Self::Reserved | Self::ReceivingOutRts)
    }
}

/// An adapter's events: the rows of table 1, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NicEvent {
    /// A process asks for a way to another node.
    LocalRts,
    /// The message that was being received is complete.
    LocalAck,
    /// A process gives up its request, or gives back its grant.
    LocalAbort,
    /// Another adapter asks for this one.
    RemoteRts,
    /// The adapter to which the grant was given does not use it.
    RemoteAbort,
    /// The other adapter grants.
    RemoteCts,
    /// The message that was being sent has been received.
    RemoteAck,
    /// The other adapter refuses.
    RemoteNack,
}

impl NicEvent {
    /// All events, in table 1's order.
    pub const ALL: [Self; 8] = [
        Self::LocalRts,
        Self::LocalAck,
        Self::LocalAbort,
        Self::RemoteRts,
        Self::RemoteAbort,
        Self::RemoteCts,
        Self::RemoteAck,
        Self::RemoteNack,
    ];
}

/// An adapter's message to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Control {
    /// Request to send.
    Rts,
    /// Clear to send: the request is granted.
    Cts,
    /// The request is refused.
    Nack,
    /// The message has been received.
    Ack,
    /// The reservation is not used.
    Abort,
}

/// An adapter's answer to a process on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NicAnswer {
    /// Both ends are reserved: send, or ABORT.
    Cts,
    /// Refused: try again.
    Nack,
}

/// A request for a way to another node. No two requests from a node on a rail are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// The node that asks, the message's sender.
    pub node: NodeId,
    /// The request's number at its node.
    pub number: u64,
}

/// A control packet between two adapters on a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControlPacket {
    /// The packet's kind.
    pub control: Control,
    /// The request that the packet is about.
    pub request: Request,
    /// In an RTS, the requester's counter when the RTS was sent; 0 in all other packets.
    pub counter: i32,
}

/// An event in table 1, with its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ControlMessage {
    /// A process on this node asks for a way to node `to`.
    LocalRts {
        /// A request from this node, never used before.
        request: Request,
        /// Another node.
        to: NodeId,
    },
    /// The message of this request from another node has arrived here.
    LocalAck(Request),
    /// A process on this node gives up its request, or gives back its grant.
    LocalAbort(Request),
    /// A packet has come from node `from`'s adapter.
    Remote {
        /// The node that sent the packet.
        from: NodeId,
        /// The packet.
        packet: ControlPacket,
    },
}

impl ControlMessage {
    /// The message's row in table 1.
    pub fn event(self) -> NicEvent {
        match self {
            Self::LocalRts { .. } => NicEvent::LocalRts,
            Self::LocalAck(_) => NicEvent::LocalAck,
            Self::LocalAbort(_) => NicEvent::LocalAbort,
            Self::Remote { packet, .. } => match packet.control {
                Control::Rts => NicEvent::RemoteRts,
                Control::Cts => NicEvent::RemoteCts,
                Control::Nack => NicEvent::RemoteNack,
                Control::Ack => NicEvent::RemoteAck,
                Control::Abort => NicEvent::RemoteAbort,
            },
        }
    }

    /// The request that the message is about.
    pub fn request(self) -> Request {
        match self {
            Self::LocalRts { request, .. }
            | Self::LocalAck(request)
            | Self::LocalAbort(request) => request,
            Self::Remote { packet, .. } => packet.request,
        }
    }

    /// The same message about another request.
    #[must_use]
    pub fn about(mut self, other: Request) -> Self {
        match &mut self {
            Self::LocalRts { request, .. }
            | Self::LocalAck(request)
            | Self::LocalAbort(request) => *request = other,
            Self::Remote { packet, .. } => packet.request = other,
        }
        self
    }
}

/// An adapter's answers to a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Replies {
    /// To the process on this node that made the request.
    pub local: Option<(NicAnswer, Request)>,
    /// To that node's adapter, on the same rail.
    pub remote: Option<(NodeId, ControlPacket)>,
}

/// A local request that an adapter is reserved for or sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outgoing {
    /// The request.
    pub request: Request,
    /// The node that the request goes to.
    pub to: NodeId,
    /// The counter that the request's RTS carried: its priority for as long as it is out.
    pub counter: i32,
}

/// One adapter's part in its rail's allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nic {
    node: NodeId,
    /// Whether requests that meet are compared (algorithm 6). Otherwise the remote request is
    /// refused.
    avoidance: bool,
    status: NicStatus,
    /// The priority of the adapter's next request (algorithm 5: from zero).
    counter: i32,
    /// The local request that the adapter is reserved for or sends.
    outgoing: Option<Outgoing>,
    /// The remote request to which the adapter is granted.
    incoming: Option<Request>,
}

impl Nic {
    /// A node's adapter, free. `avoidance` is the livelock avoidance procedure; without it,
    /// requests that meet refuse each other.
    pub fn new(node: NodeId, avoidance: bool) -> Self {
        Self {
            node,
            avoidance,
            status: NicStatus::Free,
            counter: 0,
            outgoing: None,
            incoming: None,
        }
    }

    /// The adapter's node.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The adapter's status: the `NStatus` that its node's processes see (coll2003 s4.1).
    pub fn status(&self) -> NicStatus {
        self.status
    }

    /// The priority of the adapter's next request: it falls by one when the adapter refuses a
    /// request for its own, and rises by one when the adapter yields.
    pub fn counter(&self) -> i32 {
        self.counter
    }

    /// The local request that the adapter is reserved for or sends.
    pub fn outgoing(&self) -> Option<Outgoing> {
        self.outgoing
    }

    /// The remote request to which the adapter is granted.
    pub fn incoming(&self) -> Option<Request> {
        self.incoming
    }

    /// The table cell that decides the effect of `message`. Does not change the state.
    ///
    /// # Panics
    /// If the message ends a reservation that does not exist, or answers a request twice.
    pub fn cell(&self, message: ControlMessage) -> Transition {
        let (event, request) = (message.event(), message.request());
        self.check(message);
        let own = self.is_out(request);
        match event {
            NicEvent::LocalAbort if !own => Transition::Ignore,
            NicEvent::RemoteCts | NicEvent::RemoteNack if !own && self.status.is_asking() => {
                tables::late(event, self.status)
            }
            _ => match TABLE_1[event as usize][self.status as usize] {
                Transition::AvoidLivelock if !self.avoidance => tables::BUSY,
                Transition::AvoidLivelock => TABLE_2[usize::from(!self.local_wins(message))],
                cell => cell,
            },
        }
    }

    /// Takes a message; returns the answers: at most one to a process and one packet to an adapter.
    ///
    /// # Panics
    /// As [`Nic::cell`], and in the cells that never happen according to the tables.
    pub fn handle(&mut self, message: ControlMessage) -> Replies {
        let (local, remote, next, change) = match self.cell(message) {
            Transition::Ignore => return Replies::default(),
            Transition::Go {
                local,
                remote,
                next,
            } => (local, remote, next, 0),
            Transition::Meet {
                remote,
                change,
                next,
            } => (None, Some(remote), next, change),
            Transition::Never(why) => panic!("{message:?} at {self:?}: {why}"),
            Transition::AvoidLivelock => unreachable!("`cell` resolves it"),
        };
        let request = message.request();
        let peer = self.peer(message);
        let remote = remote.map(|control| {
            let counter = match control {
                Control::Rts => self.counter,
                _ => 0,
            };
            let packet = ControlPacket {
                control,
                request,
                counter,
            };
            (peer, packet)
        });
        // Reservations follow from the status: a reservation begins with its status, and ends with
        // it.
        self.outgoing = match next {
            NicStatus::Free | NicStatus::Receiving => None,
            _ => self.outgoing.or(Some(Outgoing {
                request,
                to: peer,
                counter: self.counter,
            })),
        };
        self.incoming = match next {
            NicStatus::Receiving | NicStatus::ReceivingOutRts => self.incoming.or(Some(request)),
            _ => None,
        };
        self.status = next;
        self.counter += change;
        Replies {
            local: local.map(|answer| (answer, request)),
            remote,
        }
    }

    /// Whether a request is the local one that the adapter is reserved for or sends.
    fn is_out(&self, request: Request) -> bool {
        self.outgoing.is_some_and(|own| own.request == request)
    }

    /// Algorithm 6: whether the adapter's own request goes before the request of `message`, which
    /// it meets. Both are judged by the counters that their packets carry.
    fn local_wins(&self, message: ControlMessage) -> bool {
        let ControlMessage::Remote { from, packet } = message else {
            unreachable!("requests meet by a remote RTS")
        };
        let own = self.outgoing.expect("it is reserved");
        (own.counter, self.node) > (packet.counter, from)
    }

    /// The other end of the message's request.
    fn peer(&self, message: ControlMessage) -> NodeId {
        match message {
            ControlMessage::LocalRts { to, .. } => to,
            ControlMessage::LocalAck(request) => request.node,
            ControlMessage::LocalAbort(_) => self.outgoing.expect("it is its own request").to,
            ControlMessage::Remote { from, .. } => from,
        }
    }

    /// Asserts that the message comes from the right node, and ends an existing reservation.
    fn check(&self, message: ControlMessage) {
        let request = message.request();
        let asked_by = match message {
            ControlMessage::LocalRts { to, .. } => {
                assert!(to != self.node, "a request of {to} to itself");
                self.node
            }
            ControlMessage::LocalAbort(_) => self.node,
            ControlMessage::LocalAck(_) => request.node,
            ControlMessage::Remote { from, packet } => match packet.control {
                Control::Rts | Control::Abort => from,
                Control::Cts | Control::Nack | Control::Ack => self.node,
            },
        };
        assert!(
            request.node == asked_by,
            "{message:?} at the adapter of {} is from the wrong one",
            self.node
        );
        let own = self.is_out(request);
        let sending = self.status == NicStatus::Sending;
        match message.event() {
            NicEvent::LocalAck | NicEvent::RemoteAbort => assert!(
                self.incoming.is_none_or(|granted| granted == request),
                "{message:?} at {self:?} would end the reservation of another"
            ),
            NicEvent::RemoteAck => assert!(
                own || !sending,
                "{message:?} at {self:?} would end the reservation of another"
            ),
            NicEvent::RemoteCts | NicEvent::RemoteNack => {
                assert!(!(own && sending), "{message:?} at {self:?} answers again");
            }
            NicEvent::LocalRts | NicEvent::RemoteRts | NicEvent::LocalAbort => {}
        }
    }
}
