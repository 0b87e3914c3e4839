//! # The adapter's process for policies that reserve (coll2003 s4.2)
//!
//! A thread on each adapter takes control messages from one queue: its node's processes send them
//! by a command, other nodes' adapters by a packet. The thread works `handle` cycles on each ("a
//! few hundreds of clock cycles", s5.1), asks the [state machine](super::protocol) for the answer,
//! and answers: another adapter by a packet into that adapter's queue, a process by an event with a
//! block that is copied across the bus.
//!
//! *Failures.* While the rail is down, its adapters continue with their knowledge, and their
//! packets get lost. When the rail works again, earlier agreements are void, and all adapters are
//! free. Every control message names the return of the rail after which it was made; those from
//! before the last return are ignored. So are answers that a process no longer waits for, and
//! reports of earlier messages: receivers wait for another event after a return.
//!
//! The bound of the queue. Each of the n - 1 other adapters has at most one request out, which
//! waits here to be answered; its last request's ABORT may lie before it. This adapter's one
//! request gets one answer, and later one ACK, not both at once. Each of the node's
//! [`MOST_PROCESSES`] has at most one request out, one gives back its grant, and one message is
//! reported. The sum is 2 (n - 1) + 1 + processes + 2; [`SLOTS`] for each adapter and process
//! exceed it.

use super::protocol::{Control, ControlMessage, ControlPacket, Nic, NicAnswer, NicStatus, Request};
use elan::Node;
use elan::adapter::queue::ProcessQueueId;
use elan::config::rails::Config;
use elan::memory::{Address, EventId, MemoryError};
use elan::thread::Thread;
use elan::transaction::{INSERTED, Transaction, WORD, word_of};
use elan::{NodeId, Priority, Rail};
use std::cell::{Cell, RefCell, RefMut};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use typed_index_collections::TiVec;

/// Queue slots for each adapter on the rail, and for this one.
const SLOTS: u32 = 4;

/// The most processes per node that the queue has room for.
pub(super) const MOST_PROCESSES: u32 = 256;

/// The answer that a process waits for, to its request.
pub(super) struct Reply {
    /// Occurs with the answer.
    pub event: EventId,
    /// The number of the last answered request, and whether it was granted.
    pub answer: Cell<Option<(u64, bool)>>,
}

/// A process's granted request.
#[derive(Clone, Copy)]
pub(super) struct Grant {
    pub number: u64,
    /// How often the rail had failed by then, and returned: the grant is useless after another
    /// failure.
    pub failures: u32,
}

/// How often an adapter's rail has worked again after a failure.
fn returns(adapter: &Node) -> u32 {
    adapter.failures() - u32::from(adapter.is_down())
}

/// An adapter's state, and how often its rail had returned when it was made.
struct State {
    nic: Nic,
    returns: u32,
    /// Requests from the node's processes that have not been answered: their numbers, and where to
    /// answer.
    waiting: Vec<(u64, Rc<Reply>)>,
}

/// An adapter's process, as its node sees it.
pub(super) struct Port {
    adapter: Node,
    avoidance: bool,
    state: RefCell<State>,
    queue: ProcessQueueId,
}

/// The places of the rail adapters' queues.
type Queues = TiVec<NodeId, Address>;

/// Starts a rail's adapters.
pub(super) fn start(
    adapters: Vec<Node>,
    config: Config,
) -> Result<TiVec<NodeId, Rc<Port>>, MemoryError> {
    let slots = SLOTS * (adapters.len() as u32 + MOST_PROCESSES);
    let port = |adapter: Node| {
        let queue = adapter.queue(slots, WORD * INSERTED as u64, None)?;
        let (_, node) = adapter.rail_and_node();
        Ok(Rc::new(Port {
            adapter,
            avoidance: config.avoidance,
            state: RefCell::new(State {
                nic: Nic::new(node, config.avoidance),
                returns: 0,
                waiting: Vec::new(),
            }),
            queue,
        }))
    };
    let ports = adapters.into_iter().map(port);
    let ports: TiVec<NodeId, Rc<Port>> = ports.collect::<Result<_, MemoryError>>()?;
    let queues: Rc<Queues> = Rc::new(ports.iter().map(|port| port.queue.start()).collect());
    for port in &ports {
        let (rail, node) = port.adapter.rail_and_node();
        let (own, queues) = (Rc::clone(port), Rc::clone(&queues));
        let label = format!("rail {rail} of node {node}");
        port.adapter.run_resident(label, async move |thread| {
            own.serve(&thread, &queues, config.handle).await;
        })?;
    }
    Ok(ports)
}

impl Port {
    /// The adapter's state: after a return of the rail, a free adapter's.
    fn state(&self) -> RefMut<'_, State> {
        let mut state = self.state.borrow_mut();
        let returns = returns(&self.adapter);
        if state.returns != returns {
            let nic = Nic::new(state.nic.node(), self.avoidance);
            let waiting = Vec::new();
            *state = State {
                nic,
                returns,
                waiting,
            };
        }
        state
    }

    fn nic(&self) -> RefMut<'_, Nic> {
        RefMut::map(self.state(), |state| &mut state.nic)
    }

    /// Whether the adapter is free of reservations.
    pub fn is_free(&self) -> bool {
        self.nic().status() == NicStatus::Free
    }

    /// A process asks for a way to another node.
    pub fn request(&self, number: u64, to: NodeId, reply: &Rc<Reply>) {
        self.adapter.prime(reply.event, 1);
        self.state().waiting.push((number, Rc::clone(reply)));
        let request = self.named(number);
        self.tell(ControlMessage::LocalRts { request, to });
    }

    /// A process gives back a reservation that it has been granted, unless the reservation is void.
    pub fn abort(&self, grant: Grant) {
        if grant.failures == returns(&self.adapter) {
            self.take_reply(grant.number);
            self.tell(ControlMessage::LocalAbort(self.named(grant.number)));
        }
    }

    fn take_reply(&self, number: u64) -> Option<Rc<Reply>> {
        let waiting = &mut self.state().waiting;
        let place = waiting.iter().position(|(other, _)| *other == number)?;
        Some(waiting.swap_remove(place).1)
    }

    fn named(&self, number: u64) -> Request {
        let node = self.nic().node();
        Request { node, number }
    }

    fn tell(&self, message: ControlMessage) {
        let message = encode(message, returns(&self.adapter));
        self.adapter.insert(self.queue, &message);
    }

    /// Asserts that a message may go: at both ends its request is granted, and no other request is.
    pub fn assert_granted(&self, number: u64, there: &Port) {
        let request = self.named(number);
        let (own, other) = (self.nic(), there.nic());
        assert!(
            own.status() == NicStatus::Sending
                && own
                    .outgoing()
                    .is_some_and(|out| out.request == request && out.to == other.node()),
            "{own:?} sends what it is not reserved for"
        );
        let receives = matches!(
            other.status(),
            NicStatus::Receiving | NicStatus::ReceivingOutRts
        );
        assert!(
            receives && other.incoming() == Some(request),
            "{other:?} does not expect {request:?}"
        );
    }

    /// Asserts that the adapter which this one sends to receives from this one.
    pub fn check<'a>(&self, port: impl Fn(NodeId, Rail) -> &'a Rc<Port>) {
        let nic = self.nic();
        if nic.status() != NicStatus::Sending {
            return;
        }
        let out = nic.outgoing().expect("it sends something");
        let (rail, _) = self.adapter.rail_and_node();
        let there = port(out.to, rail);
        let other = there.nic();
        // The report of the message's end may be on its way here, and the next message begun there,
        // in any direction.
        let incoming = other.incoming();
        assert!(
            incoming.is_none_or(|one| one == out.request || one.node != out.request.node),
            "{nic:?} sends to an adapter that receives {incoming:?}"
        );
    }

    /// The thread's program.
    async fn serve(&self, thread: &Thread, queues: &Queues, handle: u32) {
        loop {
            let (message, made) = decode(&thread.receive(self.queue).await);
            if made == returns(&self.adapter) {
                thread.step(handle.into()).await;
            }
            if made != returns(&self.adapter) {
                continue;
            }
            let replies = self.nic().handle(message);
            if let Some((to, packet)) = replies.remote {
                let from = self.nic().node();
                let at = queues[to];
                let insert = Transaction::Insert {
                    queue: at.elan,
                    words: words(ControlMessage::Remote { from, packet }, made),
                };
                thread.post(at, &[insert], Priority::High).await;
            }
            if let Some((answer, request)) = replies.local {
                let reply = self.take_reply(request.number);
                // A process that has given up is not waiting any more.
                if let Some(reply) = reply {
                    let granted = answer == NicAnswer::Cts;
                    reply.answer.set(Some((request.number, granted)));
                    thread.set(reply.event).await;
                }
            }
        }
    }
}

/// Waits for the process's event at an adapter, or until the rail is down.
pub(super) async fn event_or_failure(adapter: &Node, event: EventId) {
    let mut occurred = pin!(adapter.wait(event));
    let mut down = adapter.down().wait();
    poll_fn(|context| match occurred.as_mut().poll(context) {
        Poll::Pending => Pin::new(&mut down).poll(context),
        ready @ Poll::Ready(()) => ready,
    })
    .await;
}

/// Waits for the process's event at an adapter, or until the rail works again after a failure.
async fn event_or_return(adapter: &Node, event: EventId) {
    let mut occurred = pin!(adapter.wait(event));
    let mut returned = pin!(async {
        adapter.down().wait().await;
        adapter.up().wait().await;
    });
    poll_fn(|context| match occurred.as_mut().poll(context) {
        Poll::Pending => returned.as_mut().poll(context),
        ready @ Poll::Ready(()) => ready,
    })
    .await;
}

/// Starts a receiver for a process, which reports every message that arrives there to the adapter's
/// process. Returns the event that such a message's last packet names; after a return of the rail,
/// there is a new one.
pub(super) fn report_arrivals(port: &Rc<Port>, adapter: &Node) -> Rc<Cell<EventId>> {
    let event = Rc::new(Cell::new(adapter.event(1)));
    let (port, adapter, known) = (Rc::clone(port), adapter.clone(), Rc::clone(&event));
    let (rail, node) = adapter.rail_and_node();
    let label = format!("receiver of node {node} on rail {rail}");
    adapter.clone().serve(label, async move {
        loop {
            let (arrival, before) = (known.get(), returns(&adapter));
            event_or_return(&adapter, arrival).await;
            if returns(&adapter) != before {
                known.set(adapter.event(1));
                continue;
            }
            adapter.prime(arrival, 1);
            let granted = port.nic().incoming();
            port.tell(ControlMessage::LocalAck(
                granted.expect("it is reserved until its message is reported"),
            ));
        }
    });
    event
}

/// The control message kinds, as their packets name them.
const CODES: [Option<Control>; 8] = [
    None, // local RTS
    None, // local ACK
    None, // local ABORT
    Some(Control::Rts),
    Some(Control::Cts),
    Some(Control::Nack),
    Some(Control::Ack),
    Some(Control::Abort),
];

/// The bits for a message's kind, and the first bit of the count of returns; 24 of its bits travel.
const KIND: u64 = 0xff;
const RETURNS: u32 = 40;

/// A control message in words: returns of the rail so far, its kind and the other end; the
/// request's node with the counter; and its number.
fn words(message: ControlMessage, returns: u32) -> [u64; INSERTED] {
    let (code, other, counter) = match message {
        ControlMessage::LocalRts { to, .. } => (0, to.get(), 0),
        ControlMessage::LocalAck(_) => (1, 0, 0),
        ControlMessage::LocalAbort(_) => (2, 0, 0),
        ControlMessage::Remote { from, packet } => {
            let code = CODES.iter().position(|code| *code == Some(packet.control));
            let code = code.expect("every packet has a code");
            (code as u64, from.get(), packet.counter)
        }
    };
    let request = message.request();
    [
        u64::from(returns) << RETURNS | code << 32 | u64::from(other),
        u64::from(request.node.get()) << 32 | u64::from(counter.cast_unsigned()),
        request.number,
    ]
}

fn encode(message: ControlMessage, returns: u32) -> [u8; 8 * INSERTED] {
    let mut bytes = [0; 8 * INSERTED];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words(message, returns)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// A control message, and how often the rail had returned when it was made.
fn decode(bytes: &[u8]) -> (ControlMessage, u32) {
    let word = |index: usize| word_of(&bytes[8 * index..8 * (index + 1)]);
    let (other, counter) = (NodeId::new(word(0) as u32), (word(1) as u32).cast_signed());
    let request = Request {
        node: NodeId::new((word(1) >> 32) as u32),
        number: word(2),
    };
    let message = match word(0) >> 32 & KIND {
        0 => ControlMessage::LocalRts { request, to: other },
        1 => ControlMessage::LocalAck(request),
        2 => ControlMessage::LocalAbort(request),
        code => {
            let control = CODES[code as usize].expect("a code of a packet");
            ControlMessage::Remote {
                from: other,
                packet: ControlPacket {
                    control,
                    request,
                    counter,
                },
            }
        }
    };
    (message, (word(0) >> RETURNS) as u32)
}

#[cfg(test)]
mod tests;
