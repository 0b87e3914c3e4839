//! What ranks order, and how an order lies in memory.
//!
//! The parser checks every field that a kind uses, so that whoever has an [`Order`] finds none without a meaning.

use crate::atomic::{Atomic, Width};
use crate::collective::{CollectiveKind, Combiner};
use crate::foul::Foul;
use crate::raw::{ANYBODY, OrderKind, RawOrder, flag, flags};

/// Completion data in a raw record that stands for none.
const NO_DATA: u32 = u32::MAX;

/// What a rank orders.
///
/// *Completion data* are 32 bits that the MPI library sends beside a message (`FI_REMOTE_CQ_DATA`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Send a message, which is the payload.
    Send {
        /// The receiver.
        to: u32,
        /// The tag.
        tag: u64,
        /// Completion data.
        data: Option<u32>,
        /// Whether the send ends only when it is matched.
        synchronous: bool,
        /// Whether the program sends in a call that does not block, and that makes a request.
        request: bool,
    },
    /// Send an untagged message, which is the payload.
    Untagged {
        /// The receiver.
        to: u32,
        /// Completion data.
        data: Option<u32>,
    },
    /// Post a receive.
    Receive {
        /// Which message.
        wanted: Wanted,
        /// Bytes of its buffer.
        room: u64,
        /// Whether the program receives in a call that does not block, and that makes a request.
        request: bool,
    },
    /// Look for a message that has come.
    Peek {
        /// Which message.
        wanted: Wanted,
        /// Whether the message stays for an [`Order::Claim`] of the same number.
        claims: bool,
    },
    /// Wait for a message, and leave it where it is.
    Probe {
        /// Which message.
        wanted: Wanted,
    },
    /// Receive the message that the peek of this number has found.
    Claim {
        /// Bytes of its buffer.
        room: u64,
    },
    /// Take back the receive or probe of this number, if it has no message yet: it ends as [`Status::Cancelled`], or as
    /// without this order.
    ///
    /// [`Status::Cancelled`]: crate::Status::Cancelled
    Cancel,
    /// Store the payload in the memory of another rank.
    Put {
        /// Where.
        to: Place,
        /// A number that the other rank gets with the bytes, or 0.
        notice: u64,
    },
    /// Fetch bytes from the memory of another rank.
    Get {
        /// From where.
        from: Place,
        /// How many.
        size: u64,
    },
    /// Change a word in the memory of another rank, in one step, and fetch the old word.
    Atomic {
        /// Where the word is.
        on: Place,
        /// The change.
        atomic: Atomic,
        /// The length of the word.
        width: Width,
        /// The operand.
        operand: u64,
        /// The word to compare with.
        compare: u64,
    },
    /// Make a queue for messages of other ranks. A queue of this name stays as it is.
    Queue {
        /// The queue's name.
        name: u64,
        /// How many messages it holds.
        slots: u32,
        /// Bytes of the longest message.
        slot: u64,
    },
    /// Put the payload into a queue of another rank.
    Enqueue {
        /// The rank.
        to: u32,
        /// The queue's name.
        name: u64,
    },
    /// The program has taken one message out of a queue: its slot is free.
    Dequeued {
        /// The queue's name.
        name: u64,
    },
    /// Each member of a group ([`crate::collective`]) names it once, before its first call of the group, and leaves it
    /// at last. The report on the number says whether there is room for the group.
    Group {
        /// The group's name.
        key: u64,
        /// The members; none if the rank leaves the group.
        ranks: Vec<u32>,
    },
    /// Start so many ranks, a world of their own (`MPI_Comm_spawn`). The report is that of a collective call, and its
    /// payload is the number of the first of these ranks in the run; the others have the next numbers.
    Spawn {
        /// How many.
        count: u32,
    },
    /// Call a group: this member's bytes are the payload.
    Collective(CollectiveCall),
    /// A call of MPI has ended: for the record.
    Called {
        /// The call ([`crate::calls`]).
        call: u32,
        /// When it began.
        began: u64,
        /// Whether Elanlib has carried it out.
        served: bool,
    },
    /// The host has measured an execution of a region ([`crate::plan`]): for the table. The payload of a region's first order is its
    /// name.
    Computed {
        /// The rank's number of the region.
        region: u64,
        /// Processor time in nanoseconds.
        time: u64,
    },
}

/// A member's call of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveCall {
    /// The group's name.
    pub group: u64,
    /// The call.
    pub kind: CollectiveKind,
    /// The root, by its place in the group.
    pub root: u32,
    /// Bytes of a whole vector or message.
    pub size: u64,
    /// How vectors are combined, if they are.
    pub combiner: Option<Combiner>,
    /// Whether by the hardware, where that serves the group.
    pub hardware: bool,
    /// Whether the rank goes on at once, and the adapter carries the call out.
    pub posted: bool,
}

/// The messages that a receive or a look takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// From this rank only.
    pub from: Option<u32>,
    /// The tag.
    pub tag: u64,
    /// Bits of the tag that count.
    pub mask: u64,
}

impl Wanted {
    /// Whether a message is taken.
    pub fn takes(&self, from: u32, tag: u64) -> bool {
        self.from.is_none_or(|rank| rank == from) && (tag ^ self.tag) & self.mask == 0
    }
}

/// A place in the memory of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The rank.
    pub rank: u32,
    /// Which memory: a key that the rank has registered, [`ADDRESS_SPACE`](crate::ADDRESS_SPACE) or
    /// [`ELAN3_SPACE`](crate::ELAN3_SPACE).
    pub key: u64,
    /// Where in it.
    pub offset: u64,
}

impl Order {
    /// Whether the order is for the records only: the rank does nothing by it.
    pub fn is_record(&self) -> bool {
        matches!(self, Order::Called { .. } | Order::Computed { .. })
    }

    /// Whether the order has a payload that deserves a checksum.
    pub fn carries(&self) -> bool {
        matches!(
            self,
            Order::Send { .. }
                | Order::Untagged { .. }
                | Order::Put { .. }
                | Order::Enqueue { .. }
                | Order::Collective(_)
        )
    }
}

impl Place {
    fn raw(self, kind: OrderKind) -> RawOrder {
        RawOrder {
            peer: self.rank,
            key: self.key,
            offset: self.offset,
            ..RawOrder::of(kind)
        }
    }

    fn parse(raw: &RawOrder, ranks: u32) -> Result<Place, Foul> {
        Ok(Place {
            rank: rank(raw.peer, ranks)?,
            key: raw.key,
            offset: raw.offset,
        })
    }
}

impl Wanted {
    fn raw(self, kind: OrderKind) -> RawOrder {
        RawOrder {
            peer: self.from.unwrap_or(ANYBODY),
            tag: self.tag,
            mask: self.mask,
            ..RawOrder::of(kind)
        }
    }

    fn parse(raw: &RawOrder, ranks: u32) -> Result<Wanted, Foul> {
        let from = match raw.peer {
            ANYBODY => None,
            peer => Some(rank(peer, ranks)?),
        };
        Ok(Wanted {
            from,
            tag: raw.tag,
            mask: raw.mask,
        })
    }
}

/// A rank that exists.
fn rank(peer: u32, ranks: u32) -> Result<u32, Foul> {
    if peer < ranks {
        Ok(peer)
    } else {
        Err(Foul::Peer { peer, ranks })
    }
}

impl CollectiveCall {
    fn raw(self) -> RawOrder {
        let (data, element) = self.combiner.map_or((0, 0), Combiner::words);
        RawOrder {
            key: self.group,
            tag: self.kind as u64,
            peer: self.root,
            size: self.size,
            data,
            offset: element,
            flags: flags([
                (self.hardware, flag::HARDWARE),
                (self.posted, flag::REQUEST),
            ]),
            ..RawOrder::of(OrderKind::Collective)
        }
    }

    fn parse(raw: &RawOrder) -> Result<CollectiveCall, Foul> {
        let wrong = Foul::Collective { tag: raw.tag };
        let kind = CollectiveKind::of_tag(raw.tag).ok_or(wrong)?;
        let combiner = if kind.combines() {
            let combiner = Combiner::of_words(raw.data, raw.offset);
            let whole = |one: &Combiner| raw.size.is_multiple_of(one.element());
            Some(combiner.filter(whole).ok_or(wrong)?)
        } else {
            None
        };
        Ok(CollectiveCall {
            group: raw.key,
            kind,
            root: raw.peer,
            size: raw.size,
            combiner,
            hardware: raw.flags & flag::HARDWARE != 0,
            posted: raw.flags & flag::REQUEST != 0,
        })
    }
}

impl Order {
    /// The raw order.
    pub(crate) fn raw(&self) -> RawOrder {
        let data = |data: &Option<u32>| data.unwrap_or(NO_DATA);
        match self {
            Order::Send {
                to,
                tag,
                data: given,
                synchronous,
                request,
            } => RawOrder {
                peer: *to,
                tag: *tag,
                data: data(given),
                flags: flags([(*synchronous, flag::SYNCHRONOUS), (*request, flag::REQUEST)]),
                ..RawOrder::of(OrderKind::Send)
            },
            Order::Untagged { to, data: given } => RawOrder {
                peer: *to,
                data: data(given),
                ..RawOrder::of(OrderKind::Untagged)
            },
            Order::Receive {
                wanted,
                room,
                request,
            } => RawOrder {
                size: *room,
                flags: flags([(*request, flag::REQUEST)]),
                ..wanted.raw(OrderKind::Receive)
            },
            Order::Peek { wanted, claims } => RawOrder {
                flags: flags([(*claims, flag::CLAIMS)]),
                ..wanted.raw(OrderKind::Peek)
            },
            Order::Probe { wanted } => wanted.raw(OrderKind::Probe),
            Order::Claim { room } => RawOrder {
                size: *room,
                ..RawOrder::of(OrderKind::Claim)
            },
            Order::Cancel => RawOrder::of(OrderKind::Cancel),
            Order::Put { to, notice } => RawOrder {
                tag: *notice,
                ..to.raw(OrderKind::Put)
            },
            Order::Get { from, size } => RawOrder {
                size: *size,
                ..from.raw(OrderKind::Get)
            },
            Order::Atomic {
                on,
                atomic,
                width,
                operand,
                compare,
            } => RawOrder {
                tag: *atomic as u64,
                data: *width as u32,
                mask: *operand,
                size: *compare,
                ..on.raw(OrderKind::Atomic)
            },
            Order::Queue { name, slots, slot } => RawOrder {
                key: *name,
                data: *slots,
                size: *slot,
                ..RawOrder::of(OrderKind::Queue)
            },
            Order::Enqueue { to, name } => RawOrder {
                peer: *to,
                key: *name,
                ..RawOrder::of(OrderKind::Enqueue)
            },
            Order::Dequeued { name } => RawOrder {
                key: *name,
                ..RawOrder::of(OrderKind::Dequeued)
            },
            Order::Group { key, .. } => RawOrder {
                key: *key,
                ..RawOrder::of(OrderKind::Group)
            },
            Order::Spawn { count } => RawOrder {
                data: *count,
                ..RawOrder::of(OrderKind::Spawn)
            },
            Order::Collective(call) => call.raw(),
            Order::Called {
                call,
                began,
                served,
            } => RawOrder {
                data: *call,
                key: *began,
                flags: flags([(*served, flag::SERVED)]),
                ..RawOrder::of(OrderKind::Called)
            },
            Order::Computed { region, time } => RawOrder {
                key: *region,
                size: *time,
                ..RawOrder::of(OrderKind::Computed)
            },
        }
    }

    /// The order of a raw one of this kind; see [`Record::parse`](crate::Record::parse).
    pub(crate) fn parse(
        raw: &RawOrder,
        kind: OrderKind,
        bytes: &mut Vec<u8>,
        ranks: u32,
    ) -> Result<Order, Foul> {
        let has = |flag| raw.flags & flag != 0;
        let data = (raw.data != NO_DATA).then_some(raw.data);
        Ok(match kind {
            OrderKind::Send => Order::Send {
                to: rank(raw.peer, ranks)?,
                tag: raw.tag,
                data,
                synchronous: has(flag::SYNCHRONOUS),
                request: has(flag::REQUEST),
            },
            OrderKind::Untagged => Order::Untagged {
                to: rank(raw.peer, ranks)?,
                data,
            },
            OrderKind::Receive => Order::Receive {
                wanted: Wanted::parse(raw, ranks)?,
                room: raw.size,
                request: has(flag::REQUEST),
            },
            OrderKind::Peek => Order::Peek {
                wanted: Wanted::parse(raw, ranks)?,
                claims: has(flag::CLAIMS),
            },
            OrderKind::Probe => Order::Probe {
                wanted: Wanted::parse(raw, ranks)?,
            },
            OrderKind::Claim => Order::Claim { room: raw.size },
            OrderKind::Cancel => Order::Cancel,
            OrderKind::Put => Order::Put {
                to: Place::parse(raw, ranks)?,
                notice: raw.tag,
            },
            OrderKind::Get => Order::Get {
                from: Place::parse(raw, ranks)?,
                size: raw.size,
            },
            OrderKind::Atomic => {
                let (atomic, width) = (Atomic::of(raw.tag), Width::of(raw.data));
                let (Some(atomic), Some(width)) = (atomic, width) else {
                    return Err(Foul::Atomic);
                };
                Order::Atomic {
                    on: Place::parse(raw, ranks)?,
                    atomic,
                    width,
                    operand: raw.mask,
                    compare: raw.size,
                }
            }
            OrderKind::Queue => Order::Queue {
                name: raw.key,
                slots: raw.data,
                slot: raw.size,
            },
            OrderKind::Enqueue => Order::Enqueue {
                to: rank(raw.peer, ranks)?,
                name: raw.key,
            },
            OrderKind::Dequeued => Order::Dequeued { name: raw.key },
            OrderKind::Group => {
                let bytes = std::mem::take(bytes);
                let (words, []) = bytes.as_chunks() else {
                    return Err(Foul::Group { key: raw.key });
                };
                Order::Group {
                    key: raw.key,
                    ranks: words.iter().map(|&word| u32::from_ne_bytes(word)).collect(),
                }
            }
            OrderKind::Spawn => Order::Spawn { count: raw.data },
            OrderKind::Collective => Order::Collective(CollectiveCall::parse(raw)?),
            OrderKind::Called => Order::Called {
                call: raw.data,
                began: raw.key,
                served: has(flag::SERVED),
            },
            OrderKind::Computed => Order::Computed {
                region: raw.key,
                time: raw.size,
            },
            _ => return Err(Foul::Kind { kind: raw.kind }),
        })
    }
}
