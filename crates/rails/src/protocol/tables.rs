//! # Tables 1 and 2 of coll2003, as tables
//!
//! Each event is a row and each cell a line, in the paper's order. Lines marked *open* decide a
//! cell that the paper leaves empty, and give the reason. Cells that never happen are assertions.
//! `tests/protocol` explores all interleavings in small networks, and finds every other cell in use
//! and no assertion.
//!
//! Differences between text, algorithms and tables in coll2003, and the choice here:
//!
//! * Algorithm 5 puts the answer to a CTS that comes too late under "Receiving"; in the example in
//!   s4.2 this answer happens in "Receiving & `Out_RTS`", which is empty in table 1. Here the
//!   answer is given in both.
//! * Algorithm 5 sends the remote ACK for a local ACK in "Receiving & `Out_RTS`" only; table 1 in
//!   "Receiving", too. The sender needs it in both.
//! * The text sends a local ACK where an RTS is granted, the tables send a CTS.
//!
//! An answer in "Free", "Receiving" or "Sending" belongs to a request that its process has given
//! up: for such answers these columns exist in the last rows of table 1. While another request is
//! out, table 1 would take the answer for an answer to that request; [`late`] has the choice made
//! instead.

use super::{Control, NicAnswer, NicEvent, NicStatus};

/// The effect of an event in a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// Messages to send, and the new status.
    Go {
        /// To the local process.
        local: Option<NicAnswer>,
        /// To the remote adapter.
        remote: Option<Control>,
        /// The new status.
        next: NicStatus,
    },
    /// Two requests meet: table 2 decides.
    AvoidLivelock,
    /// A cell in table 2: the answer to the remote requester, its effect on the counter, the new
    /// status.
    Meet {
        /// To the remote requester.
        remote: Control,
        /// The counter's change.
        change: i32,
        /// The new status.
        next: NicStatus,
    },
    /// No effect.
    Ignore,
    /// The event cannot happen in this status, and why.
    Never(&'static str),
}

const fn local(answer: NicAnswer, next: NicStatus) -> Transition {
    Transition::Go {
        local: Some(answer),
        remote: None,
        next,
    }
}

const fn remote(control: Control, next: NicStatus) -> Transition {
    Transition::Go {
        local: None,
        remote: Some(control),
        next,
    }
}

/// Gives back a grant that came too late, and refuses the process.
const fn decline(next: NicStatus) -> Transition {
    Transition::Go {
        local: Some(NicAnswer::Nack),
        remote: Some(Control::Abort),
        next,
    }
}

const fn quiet(next: NicStatus) -> Transition {
    Transition::Go {
        local: None,
        remote: None,
        next,
    }
}

const fn meet(remote: Control, change: i32, next: NicStatus) -> Transition {
    Transition::Meet {
        remote,
        change,
        next,
    }
}

const NOT_RECEIVED: Transition =
    Transition::Never("a message is complete that nobody was granted to send");
const NOT_GRANTED: Transition = Transition::Never("a requester aborts what it was not granted");
const NOT_SENT: Transition = Transition::Never("a message was received that nobody sends");

/// Table 1. The columns are the paper's: Free, Receiving, Sending, Reserved, Receiving & `Out_RTS`.
pub const TABLE_1: [[Transition; 5]; 8] = {
    use Control as Rmt;
    use NicAnswer as Lcl;
    use NicStatus::{Free, Receiving, ReceivingOutRts, Reserved, Sending};
    use Transition::{AvoidLivelock, Ignore};
    [
        // Local RTS
        [
            remote(Rmt::Rts, Reserved),        // Free
            local(Lcl::Nack, Receiving),       // Receiving
            local(Lcl::Nack, Sending),         // Sending
            local(Lcl::Nack, Reserved),        // Reserved
            local(Lcl::Nack, ReceivingOutRts), // Receiving & Out_RTS
        ],
        // Local ACK
        [
            NOT_RECEIVED,               // Free: open; it receives no message
            remote(Rmt::Ack, Free),     // Receiving
            NOT_RECEIVED,               // Sending: open; it receives no message
            NOT_RECEIVED,               // Reserved: open; it receives no message
            remote(Rmt::Ack, Reserved), // Receiving & Out_RTS
        ],
        // Local ABORT
        [
            // Free: open; the request was refused, and the NACK is on its way
            Ignore,
            Ignore,                   // Receiving: open; the same
            remote(Rmt::Abort, Free), // Sending
            quiet(Free), // Reserved: open; the process gives up, and the answer will be late
            quiet(Receiving), // Receiving & Out_RTS: open; the same
        ],
        // Remote RTS
        [
            remote(Rmt::Cts, Receiving),        // Free
            remote(Rmt::Nack, Receiving),       // Receiving
            remote(Rmt::Nack, Sending),         // Sending
            AvoidLivelock,                      // Reserved
            remote(Rmt::Nack, ReceivingOutRts), // Receiving & Out_RTS
        ],
        // Remote ABORT
        [
            NOT_GRANTED,     // Free: open; it is not granted
            quiet(Free),     // Receiving
            NOT_GRANTED,     // Sending: open; it is not granted
            NOT_GRANTED,     // Reserved: open; it is not granted
            quiet(Reserved), // Receiving & Out_RTS
        ],
        // Remote CTS
        [
            local(Lcl::Cts, Sending), // Free: late, and still welcome
            decline(Receiving),       // Receiving: late
            decline(Sending),         // Sending: open; late, and it sends another message
            local(Lcl::Cts, Sending), // Reserved
            decline(Receiving),       // Receiving & Out_RTS: open; s4.2, NIC-i of figure 6
        ],
        // Remote ACK
        [
            NOT_SENT,    // Free: open; it sends no message
            NOT_SENT,    // Receiving: open; it sends no message
            quiet(Free), // Sending
            NOT_SENT,    // Reserved: open; it sends no message
            NOT_SENT,    // Receiving & Out_RTS: open; it sends no message
        ],
        // Remote NACK
        [
            local(Lcl::Nack, Free),      // Free: late
            local(Lcl::Nack, Receiving), // Receiving: late
            local(Lcl::Nack, Sending),   // Sending: late
            local(Lcl::Nack, Free),      // Reserved
            local(Lcl::Nack, Receiving), // Receiving & Out_RTS
        ],
    ]
};

/// Table 2, for a remote RTS in "Reserved": the local request wins, or the remote request wins.
pub const TABLE_2: [Transition; 2] = [
    meet(Control::Nack, -1, NicStatus::Reserved), // Local winner
    meet(Control::Cts, 1, NicStatus::ReceivingOutRts), // Remote winner
];

/// A remote RTS in "Reserved" without the procedure (s4.2, figure 6(a)): refused, as where the
/// adapter is in use.
pub const BUSY: Transition = remote(Control::Nack, NicStatus::Reserved);

/// The effect of an answer to an abandoned request while another request is out. The paper has no
/// such cells: its requests have no identities, so the answer would free or grant the other
/// request's reservation.
pub const fn late(event: NicEvent, status: NicStatus) -> Transition {
    use NicStatus::{ReceivingOutRts, Reserved};
    match (event, status) {
        // there is no waiter; the other end must be freed
        (NicEvent::RemoteCts, Reserved) => decline(Reserved),
        (NicEvent::RemoteCts, ReceivingOutRts) => decline(ReceivingOutRts), // the same
        // as in the other columns
        (NicEvent::RemoteNack, Reserved) => local(NicAnswer::Nack, Reserved),
        // the same
        (NicEvent::RemoteNack, ReceivingOutRts) => local(NicAnswer::Nack, ReceivingOutRts),
        _ => Transition::Never("only an answer is late, and only where another request is out"),
    }
}
