//! The rails that carry library messages (coll2003), on a machine with several rails.
//!
//! A process is attached at all rails' adapters. Its main memory has the same addresses at all of
//! them; its adapter memory is on rail 0, the *home* rail. The machine's policy (`[rails]`) picks
//! the rails for transfers between main memories; a transfer with an end in adapter memory can only
//! take the home rail. coll2003 treats the messages of a process that blocks while it sends; the
//! libraries' treatment of the others is ours:
//!
//! | transfer | rails |
//! |---|---|
//! | bytes of longer Tport messages, from main memory to main memory | as the policy picks, by the receiver; its thread gets them |
//! | Elanlib's and Shmem's puts and gets beyond [`SMALL`] bytes, from main memory to main memory | as the policy picks, by the caller; a get asks on each rail, and is served on it |
//! | shorter ones, and words, to or from main memory | one rail, and they never wait: the next in turn among the free rails, or among all if no rail is free; under static and basic the next in turn |
//! | hardware broadcasts' bytes, under the same conditions | as the policy picks, by the root; a signal on the home rail ends the broadcast |
//! | software broadcasts' segments, reductions' partial results and results, under the same conditions | as the policy picks, by each sender; a signal on the home rail follows each (`lanes.rs`) |
//! | envelopes with small messages, messages between Tport threads | home: the thread there matches the envelopes, in their order |
//! | barriers, collective calls' signals, calls that adapters carry out while their hosts compute | home: the events, and the threads that send on, are there |
//! | atomics, queues, puts and gets with an end in adapter memory | home: the words are there, so that all atomics on a word take one rail and are in order |
//! | puts with an event ([`put_notify`](super::Elan::put_notify)), all Elan3lib calls | home |
//!
//! | policy | a message takes | the message waits |
//! |---|---|---|
//! | static | the next in turn among the rails on which the sender's node only transmits and the receiver's node only receives; on one node, among all rails | never |
//! | basic | the next rail in turn | never |
//! | local-dynamic | rails with adapters that neither send nor receive at the picking process | until there is one |
//! | dynamic | among these, rails that were also free at a Tport message's sender when it sent the envelope, which reports it; if no rail was, and for puts, gets and broadcasts, as local-dynamic | until there is one |
//! | hybrid | up to `rails.threshold`, the next in turn among the rails that are free where it is picked, or among all; else as dynamic | if it is long, as dynamic |
//!
//! Dynamic allocation reserves both ends by control messages. Here the envelope carries its
//! sender's knowledge instead: no more packets travel, and no rail is reserved at the sender, so
//! two receivers may get from one adapter. A put or a get has no envelope. Local-dynamic and
//! dynamic allocation stripe a message over the part of these rails that `rails.striping` sets. A
//! rail that either policy has picked is taken, for all the job's processes on the node, until its
//! stripe ends. While a put waits for a rail, later calls of its process proceed. Under static
//! allocation a broadcast takes the rails on which the root transmits and all others receive, or
//! the home rail if no rail is left, or another rail if the home rail is down. A collective call's
//! message takes any rail if the allocation's are down. A rail counts as free while it receives if
//! all others are down.
//!
//! *Order.* An adapter does not see data that wait for the bus of another rail's adapter. So on a
//! machine with several rails all puts, and broadcast bytes, are over when they are in main memory
//! ([`elan::Dma::stored`]); on a machine with one rail, when they are accepted. A process that is
//! notified of a put after its end finds its bytes, over any rail for the notification or the get.
//!
//! *Costs.* The thread hands a descriptor to another adapter by a command, across its own bus and
//! the other adapter's bus. The thread sees the end through main memory (an event on that adapter,
//! its block, a poll) and a word across its own bus. A host posts each stripe by a call. These
//! costs are assumed; nothing is published about them.
//!
//! *Failures.* A rail may fail, work again, and fail again. The policies pick no rail that is down,
//! and pick it again after its return. Bytes that a failed rail has not carried go again, over
//! newly picked rails; each byte exactly once, which is asserted. Transfers that can only take the
//! home rail take a detour over another rail while the home rail is down ([`super::detour`]), and
//! an envelope that has overtaken another by that waits for it. A hardware barrier on a failing
//! rail continues with detours (`hardware.rs`). When no rail works, puts, gets, atomics, messages
//! to queues and sends fail ([`DmaError::NoRail`]): they have no later effect. Small Elan4 sends
//! that have succeeded go again as soon as a rail works. Collective calls wait for a rail that
//! works again, and so do receives, and sends after their envelope's arrival, unless the machine
//! lists faults and no rail works for `faults.detect`; if no rail ever works again, this is a
//! deadlock, and its report names them.
//!
//! This holds for rails that fail as a whole. A process also avoids a dead adapter at its own node.
//! It does not avoid dead cables and switches, or others' dead adapters: no policy sees these
//! faults, and a transfer that has picked their rail fails with the network's error
//! ([`DmaError::Network`]).

use super::pool::Pool;
use super::post::{Mailbox, Post};
use super::remote::{SMALL, THROTTLE};
use crate::elan3::Heap;
use crate::error::JobError;
use elan::{ContextError, DmaError, ElanAddr, Node, NodeId, Placement, Rail};
use rails::{Allocation, Candidates, Config, Turn, stripes};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use typed_index_collections::{TiVec, ti_vec};
use units::Bytes;

/// The rail count that an envelope can describe; further rails count as taken.
pub(super) const MOST_TOLD: u32 = 12;

/// A process's knowledge about its node's rails.
pub(crate) struct Rails {
    config: Config,
    /// The allocation, under the policy static.
    allocation: Option<Rc<Allocation>>,
    /// The process at each rail's adapter, its own first.
    places: TiVec<Rail, Node>,
    /// Its mailbox there, and memory for small puts' and gets' bytes.
    mail: TiVec<Rail, (Mailbox, Pool)>,
    /// The rails that the job's processes on this node have taken.
    taken: Rc<TiVec<Rail, Cell<bool>>>,
    turn: RefCell<Turn>,
    /// The job's messages on detours.
    pub(super) post: Rc<Post>,
}

/// A message that is to be carried.
#[derive(Clone, Copy, Debug)]
pub(super) struct RailRequest {
    /// The nodes from which and to which its bytes travel.
    pub from: NodeId,
    pub to: NodeId,
    pub size: Bytes,
    /// Rails that were free at the other end, as bits, if that is known.
    pub free: Option<u32>,
}

/// A message's rails, and whether they are taken for it.
pub(super) struct RailsPick {
    pub rails: Vec<Rail>,
    pub taken: bool,
}

impl Rails {
    /// Attaches a job's processes to all rails. The result is empty on a machine without a policy
    /// for rails.
    ///
    /// # Errors
    /// If an adapter has no context or no memory left.
    pub fn attach(processes: &[Node]) -> Result<Vec<Option<Rails>>, JobError> {
        let Some(config) = processes.first().and_then(|node| node.config().rails) else {
            return Ok(processes.iter().map(|_| None).collect());
        };
        let (nodes, rails) = processes[0].nodes_and_rails();
        let allocation = config.policy.allocates().then(|| {
            let allocation = Allocation::with_rails(nodes, rails);
            Rc::new(allocation.expect("the machine has been checked"))
        });
        let mut locals = BTreeMap::new();
        let none = || Rc::new(ti_vec![Cell::new(false); rails as usize]);
        let mut places = attach_beside(processes, rails)?.into_iter();
        let post = Rc::<Post>::default();
        let attach = |process: &Node| {
            let local = locals.entry(process.place());
            let (before, taken) = local.or_insert_with(|| (0, none()));
            let first = Rail::new(*before % rails);
            *before += 1;
            let places = places.next().expect("every process is attached");
            let mail = places.iter().map(mailbox).collect::<Result<_, _>>()?;
            Ok(Some(Rails {
                config,
                allocation: allocation.clone(),
                places,
                mail,
                taken: Rc::clone(taken),
                turn: RefCell::new(Turn::starting_at(first)),
                post: Rc::clone(&post),
            }))
        };
        processes.iter().map(attach).collect()
    }

    /// All rails.
    pub(super) fn all(&self) -> impl Iterator<Item = Rail> + use<> {
        Rail::all(self.places.len() as u32)
    }

    /// The process at a rail's adapter.
    pub(super) fn place(&self, rail: Rail) -> &Node {
        &self.places[rail]
    }

    /// The process's mailbox at a rail's adapter.
    pub(super) fn mailbox(&self, rail: Rail) -> &Mailbox {
        &self.mail[rail].0
    }

    /// Slots of [`SMALL`] bytes in the memory of a rail's adapter, as many as the process may need.
    pub(super) fn slots(&self, rail: Rail) -> &Pool {
        &self.mail[rail].1
    }

    /// From one look at the rails to the next, if no rail is free.
    pub(super) fn poll(&self) -> units::Time {
        self.config.poll
    }

    /// The rails for which a condition holds, in ascending order.
    fn those(&self, holds: impl Fn(Rail) -> bool) -> Vec<Rail> {
        self.places.keys().filter(|&rail| holds(rail)).collect()
    }

    /// Whether a rail works.
    pub(super) fn is_up(&self, rail: Rail) -> bool {
        !self.place(rail).is_down()
    }

    /// Whether the adapter neither sends nor receives, as far as its node's processes know. The
    /// only rail that is left is free while it receives: a message may come for a queue that is
    /// full, and wait for this process's next step.
    fn is_free(&self, rail: Rail) -> bool {
        let adapter = self.place(rail);
        let receives = adapter.is_receiving() && !self.is_left_alone(rail);
        let busy = self.taken[rail].get() || receives;
        self.is_up(rail) && !busy && !adapter.is_sending()
    }

    /// Whether all the machine's other rails are down.
    fn is_left_alone(&self, rail: Rail) -> bool {
        let mut others = self.all().filter(|&other| other != rail).peekable();
        others.peek().is_some() && others.all(|other| !self.is_up(other))
    }

    /// The rails that are free now, as bits.
    pub(super) fn free(&self) -> u32 {
        let told = self.those(|rail| rail.get() < MOST_TOLD && self.is_free(rail));
        told.iter().fold(0, |bits, rail| bits | 1 << rail.get())
    }

    /// The rails that work and lead from one node to another, by the machine's allocation.
    ///
    /// # Errors
    /// If there are no such rails.
    fn between(&self, from: NodeId, to: NodeId) -> Result<Vec<Rail>, DmaError> {
        let mut up = self.those(|rail| self.is_up(rail));
        if let Some(allocation) = self.allocation.as_ref().filter(|_| from != to) {
            let between: Vec<Rail> = allocation.rails_between(from, to).collect();
            up.retain(|rail| between.contains(rail));
        }
        if up.is_empty() {
            return Err(DmaError::NoRail { from, to });
        }
        Ok(up)
    }

    /// Picks the rail for a small message, which never waits.
    ///
    /// # Errors
    /// If no rail between the two nodes works.
    pub(super) fn pick_one(&self, from: NodeId, to: NodeId) -> Result<Rail, DmaError> {
        let mut rails = self.between(from, to)?;
        if !matches!(self.config.candidates(Bytes::ZERO), Candidates::All)
            && rails.iter().any(|&rail| self.is_free(rail))
        {
            rails.retain(|&rail| self.is_free(rail));
        }
        let rails = self.turn.borrow_mut().take(&rails, 1);
        Ok(rails[0])
    }

    /// Picks a message's rails by the machine's policy; `None` if the message has to wait for a
    /// rail.
    ///
    /// # Errors
    /// If no rail between the two nodes works.
    pub(super) fn pick(&self, wanted: RailRequest) -> Result<Option<RailsPick>, DmaError> {
        let up = self.between(wanted.from, wanted.to)?;
        Ok(self.pick_of(up, wanted.size, wanted.free))
    }

    /// Picks the rails for a collective call's message from one process on the node to processes on
    /// other nodes, as [`pick`](Self::pick). If no working rail leads to all of them by the
    /// machine's allocation, the first working rail carries the message: the call would otherwise
    /// wait for a rail although one works.
    ///
    /// # Errors
    /// If no rail works.
    pub(super) fn pick_for_all(
        &self,
        from: NodeId,
        to: impl Iterator<Item = NodeId>,
        size: Bytes,
    ) -> Result<Option<RailsPick>, DmaError> {
        let mut up = self.between(from, from)?;
        let first = up[0];
        if let Some(allocation) = &self.allocation {
            let others: Vec<NodeId> = to.collect();
            let leads = |rail| {
                let receives = |&other: &NodeId| !allocation.transmits(rail, other);
                allocation.transmits(rail, from) && others.iter().all(receives)
            };
            up.retain(|&rail| leads(rail));
        }
        if up.is_empty() {
            let (rails, taken) = (vec![first], false);
            return Ok(Some(RailsPick { rails, taken }));
        }
        Ok(self.pick_of(up, size, None))
    }

    /// Picks from some working rails.
    fn pick_of(&self, up: Vec<Rail>, size: Bytes, told: Option<u32>) -> Option<RailsPick> {
        let free = || {
            let free = up.iter().copied().filter(|&rail| self.is_free(rail));
            free.collect::<Vec<Rail>>()
        };
        let (rails, taken) = match self.config.candidates(size) {
            Candidates::All => (up, false),
            Candidates::FreeFirst => (
                Some(free()).filter(|free| !free.is_empty()).unwrap_or(up),
                false,
            ),
            Candidates::FreeHere => (free(), true),
            Candidates::FreeAtBothEnds => {
                let (mut both, here) = (free(), free());
                both.retain(|rail| {
                    let known = |told: u32| rail.get() < MOST_TOLD && told >> rail.get() & 1 == 1;
                    told.is_none_or(known)
                });
                (if both.is_empty() { here } else { both }, true)
            }
        };
        let count = if taken {
            stripes(&self.config, rails.len(), size)
        } else {
            1
        };
        let rails = self.turn.borrow_mut().take(&rails, count);
        if taken {
            for &rail in &rails {
                self.taken[rail].set(true);
            }
        }
        (!rails.is_empty()).then_some(RailsPick { rails, taken })
    }

    /// A rail that was taken is free again.
    pub(super) fn release(&self, rail: Rail) {
        self.taken[rail].set(false);
    }
}

/// Attaches processes at all rails' adapters. All nodes' first processes are in contexts with one
/// number there, so are the second ones, and so on: broadcasts need this.
fn attach_beside(processes: &[Node], rails: u32) -> Result<Vec<TiVec<Rail, Node>>, ContextError> {
    let mut places: Vec<TiVec<Rail, Node>> = Vec::new();
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    let mut counts = BTreeMap::new();
    for (index, process) in processes.iter().enumerate() {
        places.push(ti_vec![process.clone()]);
        let count = counts.entry(process.place()).or_insert(0);
        if *count == rounds.len() {
            rounds.push(Vec::new());
        }
        rounds[*count].push(index);
        *count += 1;
    }
    for rail in Rail::all(rails).skip(1) {
        for round in &rounds {
            let of_round: Vec<Node> = round.iter().map(|&one| processes[one].clone()).collect();
            let beside = Node::all_beside(&of_round, rail)?;
            for (&index, place) in round.iter().zip(beside) {
                places[index].push(place);
            }
        }
    }
    Ok(places)
}

/// A process's memory at a rail's adapter: a mailbox, and slots for small puts and gets.
fn mailbox(place: &Node) -> Result<(Mailbox, Pool), JobError> {
    let own = place.attach(place.capability())?;
    let slots = SMALL * u64::from(THROTTLE);
    let mut heap = Heap::fixed(own.clone(), Placement::Adapter, slots)?;
    let slots = Pool::new(&mut heap, THROTTLE, SMALL)?;
    Ok((Mailbox::new(own)?, slots))
}

/// Whether a process's bytes lie in main memory.
pub(super) fn in_main(process: &Node, at: ElanAddr, size: Bytes) -> bool {
    process.placement(at, size) == Ok(Placement::Main)
}
