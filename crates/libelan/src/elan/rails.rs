//! The rails that carry the messages of the libraries (coll2003), on a machine with several rails.
//!
//! A process is attached at the adapters of all rails. Its main memory has the same addresses at all of them; its adapter
//! memory is that of rail 0, the *home* rail. The machine's policy (`[rails]`) picks the rails of whatever moves between main
//! memories; what has an end in adapter memory can only take the home rail. coll2003 treats the messages of a process that
//! blocks while it sends; what the libraries do with the others is ours:
//!
//! | what | rails |
//! |---|---|
//! | bytes of longer Tport messages, from main memory to main memory | as the policy picks, by the receiver, whose thread gets them |
//! | puts and gets of Elanlib and Shmem of more than [`SMALL`] bytes, from main memory to main memory | as the policy picks, by the caller; a get asks on each rail, and is served on it |
//! | shorter ones, and words, to or from main memory | one rail, and they never wait: the next in turn of the free rails, or of all if none is free; under static and basic the next in turn |
//! | bytes of hardware broadcasts, under the same conditions | as the policy picks, by the root; a signal on the home rail ends the broadcast |
//! | segments of software broadcasts, partial results and results of reductions, under the same conditions | as the policy picks, by each sender; a signal on the home rail follows each (`lanes.rs`) |
//! | envelopes with small messages, messages between threads of Tports | home: the thread there matches the envelopes, in their order |
//! | barriers, signals of collective calls, calls that adapters carry out while their hosts compute | home: the events, and the threads that send on, are there |
//! | atomics, queues, puts and gets with an end in adapter memory | home: the words are there, so that all atomics on a word take one rail and are in order |
//! | puts with an event ([`put_notify`](super::Elan::put_notify)), all calls of Elan3lib | home |
//!
//! | policy | a message takes | the message waits |
//! |---|---|---|
//! | static | the next in turn of the rails on which the sender's node only transmits and the receiver's node only receives; on one node, of all rails | for nothing |
//! | basic | the next rail in turn | for nothing |
//! | local-dynamic | rails whose adapters at the process that picks neither send nor receive | until there is one |
//! | dynamic | of these, rails that were also free at the sender of a Tport message when it sent the envelope, which says so; if none was, and for puts, gets and broadcasts, as local-dynamic | until there is one |
//! | hybrid | up to `rails.threshold`, the next in turn of the rails that are free where it is picked, or of all; else as dynamic | if it is long, as dynamic |
//!
//! Dynamic allocation reserves both ends by control messages. Here the envelope carries what its sender knew instead: no
//! more packets travel, and nothing is reserved at the sender, so two receivers may get from one adapter. A put or a get has
//! no envelope. Local-dynamic and dynamic allocation stripe a message over the part of these rails that `rails.striping` says.
//! A rail that either policy has picked is taken, for all processes of the job on the node, until its stripe ends. While a put
//! waits for a rail, later calls of its process go on. Under static allocation a broadcast takes the rails on which the root
//! transmits and all others receive, or the home rail if there are none, or another rail if the home rail is down. A message of a
//! collective call takes any rail if those of the allocation are down. A rail counts as free while it receives if all others are down.
//!
//! *Order.* An adapter does not see what waits for the bus of another rail's adapter. So on a machine with several rails all
//! puts, and the bytes of broadcasts, are over when they are in main memory ([`elan::Dma::stored`]); on a machine with one
//! rail, when they are accepted. A process that is told of a put after its end finds its bytes, over whichever rail it is told
//! or gets them.
//!
//! *Costs.* The thread hands a descriptor to another adapter by a command, across its own bus and the other adapter's bus.
//! The thread learns of the end through main memory (an event of that adapter, its block, a poll) and a word across its own
//! bus. A host posts each stripe by a call. Nothing is published about these costs; they are assumed.
//!
//! *Failures.* A rail may fail, work again, and fail again. The policies pick no rail that is down, and pick it again after its
//! return. What a failed rail has not carried goes again, over rails that are picked anew; each byte exactly once, which is
//! asserted. What can only take the home rail takes a detour over another rail while the home rail is down
//! ([`super::detour`]), and an envelope that has overtaken another by that waits for it. A hardware barrier whose rail fails
//! goes on with detours (`hardware.rs`). When no rail works, puts, gets, atomics, messages to queues and sends fail
//! ([`DmaError::NoRail`]): nothing comes of them later. Small sends of an Elan4 that have succeeded go again as soon as a rail
//! works. Collective calls wait for a rail that works again, and so do receives, and sends whose envelope has arrived, unless the
//! machine lists faults and no rail works for `faults.detect`; if there will be none, this is a deadlock, whose report names them.
//!
//! This holds for rails that fail as a whole. A process also goes around a dead adapter of its own node. It does not go around dead
//! cables and switches, or dead adapters of others: no policy sees these faults, and what has picked their rail fails with the error
//! of the network ([`DmaError::Network`]).

use super::pool::Pool;
use super::post::{Mailbox, Post};
use super::remote::{SMALL, THROTTLE};
use crate::elan3::Heap;
use crate::error::JobError;
use elan::{DmaError, ElanAddr, NoContext, Node, NodeId, Placement, Rail};
use rails::{Allocation, Candidates, Config, Turn, stripes};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use typed_index_collections::{TiVec, ti_vec};
use units::Bytes;

/// The number of rails that an envelope can describe; further rails count as taken.
pub(super) const MOST_TOLD: u32 = 12;

/// What a process knows of the rails of its node.
pub(crate) struct Rails {
    config: Config,
    /// The allocation, under the policy static.
    allocation: Option<Rc<Allocation>>,
    /// The process at the adapter of each rail, its own first.
    places: TiVec<Rail, Node>,
    /// Its mailbox there, and memory for the bytes of small puts and gets.
    mail: TiVec<Rail, (Mailbox, Pool)>,
    /// The rails that processes of the job on this node have taken.
    taken: Rc<TiVec<Rail, Cell<bool>>>,
    turn: RefCell<Turn>,
    /// The messages of the job that are on detours.
    pub(super) post: Rc<Post>,
}

/// A message that is to be carried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The nodes from which and to which its bytes travel.
    pub from: NodeId,
    pub to: NodeId,
    pub size: Bytes,
    /// Rails that were free at the other end, as bits, if that is known.
    pub free: Option<u32>,
}

/// The rails of a message, and whether they are taken for it.
pub(super) struct Picked {
    pub rails: Vec<Rail>,
    pub taken: bool,
}

impl Rails {
    /// Attaches the processes of a job to all rails. The result is empty on a machine without a policy for rails.
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

    /// The process at the adapter of a rail.
    pub(super) fn place(&self, rail: Rail) -> &Node {
        &self.places[rail]
    }

    /// The process's mailbox at the adapter of a rail.
    pub(super) fn mailbox(&self, rail: Rail) -> &Mailbox {
        &self.mail[rail].0
    }

    /// Slots of [`SMALL`] bytes in the memory of a rail's adapter, as many as the process may need.
    pub(super) fn slots(&self, rail: Rail) -> &Pool {
        &self.mail[rail].1
    }

    /// From one look at the rails to the next, if none is free.
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

    /// Whether the adapter neither sends nor receives, as far as the processes of its node know. The only rail that is left is free
    /// while it receives: a message may come for a queue that is full, and wait for what this process does next.
    fn is_free(&self, rail: Rail) -> bool {
        let adapter = self.place(rail);
        let receives = adapter.is_receiving() && !self.is_left_alone(rail);
        let busy = self.taken[rail].get() || receives;
        self.is_up(rail) && !busy && !adapter.is_sending()
    }

    /// Whether all other rails of the machine are down.
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
    /// If there are none.
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

    /// Picks the rail of a small message, which waits for nothing.
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

    /// Picks the rails of a message by the machine's policy; none if the message has to wait for a rail.
    ///
    /// # Errors
    /// If no rail between the two nodes works.
    pub(super) fn pick(&self, wanted: Wanted) -> Result<Option<Picked>, DmaError> {
        let up = self.between(wanted.from, wanted.to)?;
        Ok(self.pick_of(up, wanted.size, wanted.free))
    }

    /// Picks the rails of a collective call's message from one process of the node to processes of other nodes, as [`pick`](Self::pick).
    /// If no rail that works leads to all of them by the machine's allocation, the first rail that works carries the message: the call
    /// would otherwise wait for a rail although one works.
    ///
    /// # Errors
    /// If no rail works.
    pub(super) fn pick_for_all(
        &self,
        from: NodeId,
        to: impl Iterator<Item = NodeId>,
        size: Bytes,
    ) -> Result<Option<Picked>, DmaError> {
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
            return Ok(Some(Picked { rails, taken }));
        }
        Ok(self.pick_of(up, size, None))
    }

    /// Picks of some rails that work.
    fn pick_of(&self, up: Vec<Rail>, size: Bytes, told: Option<u32>) -> Option<Picked> {
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
        (!rails.is_empty()).then_some(Picked { rails, taken })
    }

    /// A rail that was taken is free again.
    pub(super) fn release(&self, rail: Rail) {
        self.taken[rail].set(false);
    }
}

/// Attaches processes at the adapters of all rails. The first processes of all nodes are in contexts of one number there, so
/// are the second ones, and so on: broadcasts need this.
fn attach_beside(processes: &[Node], rails: u32) -> Result<Vec<TiVec<Rail, Node>>, NoContext> {
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

/// The memory of a process at the adapter of a rail: a mailbox, and slots for small puts and gets.
fn mailbox(place: &Node) -> Result<(Mailbox, Pool), JobError> {
    let own = place.attach(place.capability())?;
    let slots = SMALL * u64::from(THROTTLE);
    let mut heap = Heap::fixed(own.clone(), Placement::Adapter, slots)?;
    let slots = Pool::new(&mut heap, THROTTLE, SMALL)?;
    Ok((Mailbox::new(own)?, slots))
}

/// Whether bytes of a process lie in main memory.
pub(super) fn in_main(process: &Node, at: ElanAddr, size: Bytes) -> bool {
    process.placement(at, size) == Ok(Placement::Main)
}
