//! This process's session with the simulator: its local time, its turn, and the lock around both.
//!
//! Local time advances in two ways only: the simulator gives it with a turn, and the rank's own
//! computation adds to it ([`Session::compute`]). Reading it takes no lock, as programs read clocks
//! anywhere. When the rank has left the simulation, its clocks still show local time, so that a
//! program's measurements around its end are meaningful; there is no simulation then, and a sleep
//! just adds to local time. The program may initialise MPI once more, as sessions allow. Then the
//! rank comes back, at its local time or, if the simulation is ahead, at the simulation's time.

mod due;
mod sleep;
mod turn;

pub use due::set_ring;

use crate::library::LibraryProblem;
use crate::pending;
use crate::regions::Regions;
use crate::repeats::{Frame, Repeats};
use crate::system;
use crate::thread::{self, ThreadState};
use link::{
    Compute, Delivery, Departure, FileAccess, LinkError, Order, OutOfBand, PayloadPart, Rank,
    Settings, World,
};
use std::any::Any;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// This process as a rank.
pub struct Session {
    settings: Settings,
    rank: u32,
    ranks: u32,
    /// This process.
    pid: u32,
    world: World,
    now: AtomicU64,
    /// The step by which time advances at an unsuccessful look.
    tick: AtomicU64,
    /// Whether orders have been given since the last wait: the simulated processor may be at work
    /// for them.
    at_work: AtomicBool,
    /// Whether MPI has looked for a message without success. Its arrival is not reported.
    found_nothing: AtomicBool,
    /// Whether the rank has slept since MPI looked: the simulator still has the messages that have
    /// come meanwhile.
    slept: AtomicBool,
    /// How often MPI has looked since it last did something else.
    looks: AtomicU32,
    /// How often MPI has looked in all.
    looks_in_all: AtomicU64,
    /// How often MPI has looked since the last report or order.
    idle: AtomicU32,
    /// How often MPI may look for messages that do not reach the network, before further looks
    /// count.
    spare_looks: AtomicU32,
    /// How often MPI may look before the simulator reports a deadlock, since it let the rank go on
    /// for that; 0 if it has not.
    last_looks: AtomicU32,
    out_of_band: OutOfBand,
    repeats: Repeats,
    regions: Regions,
    /// All ranks' simulated nodes.
    nodes: Vec<u32>,
    state: Mutex<SessionState>,
    /// How many threads wait for the lock.
    queue: AtomicU32,
    /// Whether a thread waits for the simulator.
    waits: AtomicBool,
}

/// The receiver of reports. It is called under the session's lock, and makes no calls.
pub trait ReportReceiver: Any + Send {
    /// Takes in a report with a payload part, and returns the bytes to reply with if the report
    /// asks for any.
    fn report(&mut self, delivery: &Delivery, part: PayloadPart, bytes: &[u8]) -> Option<Vec<u8>>;

    /// Why the run cannot go on, if it cannot.
    fn complaint(&mut self) -> Option<LibraryProblem>;

    /// Orders that follow from reports, with their numbers.
    fn next_orders(&mut self) -> Vec<(u64, Order)>;

    /// An order is about to be given, in a call that waits for a message or not (`probes`). Returns
    /// the number of a probe to take back first.
    fn give_up_probe(&mut self, order: &Order, probes: bool) -> Option<u64>;

    /// Whether a probe waits for a message.
    fn has_probe(&self) -> bool;
}

/// The state under the lock.
pub struct SessionState {
    /// The receiver of reports, which has the rank's pending operations.
    pub engine: Box<dyn ReportReceiver>,
    link: Rank,
}

/// The lock, taken.
pub struct SessionGuard<'a>(MutexGuard<'a, SessionState>);

impl Deref for SessionGuard<'_> {
    type Target = SessionState;

    fn deref(&self) -> &SessionState {
        &self.0
    }
}

impl DerefMut for SessionGuard<'_> {
    fn deref_mut(&mut self) -> &mut SessionState {
        &mut self.0
    }
}

impl Drop for SessionGuard<'_> {
    fn drop(&mut self) {
        HOLDS.set(false);
    }
}

thread_local! {
    /// Whether this thread holds the lock, or waits for it.
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread holds the session's lock, or waits for it.
pub fn is_held() -> bool {
    HOLDS.get()
}

/// How often a thread gives its processor to others, for them to take the lock.
const MOST_YIELDS: u32 = 1024;

static SESSION: OnceLock<Session> = OnceLock::new();

/// Set in the process's children, which are not ranks.
static CHILD: AtomicBool = AtomicBool::new(false);

/// Set while the rank has left the simulation.
static LEFT: AtomicBool = AtomicBool::new(false);

/// How often the rank has come back to the simulation.
static VISITS: AtomicU32 = AtomicU32::new(0);

/// How often the rank has come back to the simulation: MPI objects from an earlier visit are gone
/// when it comes back.
pub fn visit() -> u32 {
    VISITS.load(Ordering::Relaxed)
}

/// Attaches this process, which has no session yet, to the simulator.
///
/// # Errors
/// See [`LinkError`].
pub fn begin(
    path: &str,
    rank: u32,
    engine: Box<dyn ReportReceiver>,
) -> Result<&'static Session, LinkError> {
    let link = Rank::attach(path, rank)?;
    let settings = link.settings();
    let regions = match settings.compute {
        Compute::Sampled(_) => Regions::planned(rank, &plan()?),
        _ => Regions::default(),
    };
    let session = Session {
        settings,
        rank,
        ranks: link.ranks(),
        pid: std::process::id(),
        world: link.world(),
        now: AtomicU64::new(link.now()),
        tick: AtomicU64::new(settings.tick),
        at_work: AtomicBool::new(false),
        found_nothing: AtomicBool::new(false),
        slept: AtomicBool::new(false),
        looks: AtomicU32::new(0),
        looks_in_all: AtomicU64::new(0),
        idle: AtomicU32::new(0),
        spare_looks: AtomicU32::new(0),
        last_looks: AtomicU32::new(0),
        out_of_band: link.out_of_band(),
        repeats: Repeats::default(),
        regions,
        nodes: link.nodes(),
        state: Mutex::new(SessionState { engine, link }),
        queue: AtomicU32::new(0),
        waits: AtomicBool::new(false),
    };
    Ok(SESSION.get_or_init(|| session))
}

/// The plan's text for sampled computation.
fn plan() -> Result<String, LinkError> {
    let path = std::env::var(link::PLAN_VARIABLE).unwrap_or_default();
    let read = std::fs::read_to_string(&path);
    read.map_err(|source| LinkError::Memory { path, source })
}

/// The session, if this process is a rank.
pub fn get() -> Option<&'static Session> {
    shown().filter(|_| !LEFT.load(Ordering::Relaxed))
}

/// The session with the time that the clocks show: also for a rank that has left the simulation.
pub fn shown() -> Option<&'static Session> {
    if CHILD.load(Ordering::Relaxed) {
        return None;
    }
    SESSION.get()
}

/// Whether this process is a rank's child.
pub fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

/// This process is a rank's child, and has no session.
pub fn forget() {
    CHILD.store(true, Ordering::Relaxed);
}

/// Set when the session continues after the MPI library leaves it.
static KEPT: AtomicBool = AtomicBool::new(false);

/// Our own libraries use the session: it continues when the MPI library leaves it. Returns whether
/// they did before.
pub fn keep() -> bool {
    KEPT.swap(true, Ordering::Relaxed)
}

/// Whether the session continues when the MPI library leaves it.
pub fn is_kept() -> bool {
    KEPT.load(Ordering::Relaxed)
}

impl Session {
    /// The run's settings.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// This rank's number in the run, and how many ranks there may be.
    pub fn rank(&self) -> (u32, u32) {
        (self.rank, self.ranks)
    }

    /// The ranks that started together with this one: `MPI_COMM_WORLD`.
    pub fn world(&self) -> World {
        self.world
    }

    /// All ranks' simulated nodes.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Local time in picoseconds.
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Acquire)
    }

    /// The rank has computed for this long.
    pub fn compute(&self, time: u64) {
        self.now.fetch_add(time, Ordering::AcqRel);
    }

    /// The program's regions, for sampled computation.
    pub fn regions(&self) -> &Regions {
        &self.regions
    }

    /// Takes the lock.
    pub fn lock(&self) -> SessionGuard<'_> {
        if let Some(held) = self.try_lock() {
            return held;
        }
        self.queue.fetch_add(1, Ordering::Relaxed);
        // The wait is for no thread's act.
        HOLDS.set(true);
        let guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.queue.fetch_sub(1, Ordering::Relaxed);
        SessionGuard(guard)
    }

    /// Whether a thread waits for the lock.
    fn is_wanted(&self) -> bool {
        self.queue.load(Ordering::Relaxed) > 0
    }

    /// Whether a thread waits until the simulator lets the rank go on. Takes no lock.
    pub fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// Lets waiting threads have the lock: a thread that takes it again immediately is mostly
    /// faster than one that must be woken.
    pub fn give_way(&self) {
        let queue = || self.queue.load(Ordering::Relaxed);
        let before = queue();
        for _ in 0..MOST_YIELDS {
            if before == 0 || queue() < before {
                return;
            }
            system::give_way(); // the program does not give way
        }
    }

    /// Takes the lock, if no thread has it.
    pub fn try_lock(&self) -> Option<SessionGuard<'_>> {
        let guard = match self.state.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        HOLDS.set(true);
        Some(SessionGuard(guard))
    }

    /// Sets the MPI call that the rank is in, by its number; 0 outside calls. Takes no lock.
    pub fn in_call(&self, call: u32) {
        self.out_of_band.in_call(call);
    }

    /// The program begins a call, from a frame above this place on the stack. Takes no lock.
    pub fn begins_call(&self, call: u32, frame: &Frame) {
        self.out_of_band.begins_call(call, frame.stack);
        if self.out_of_band.is_observed() {
            self.repeats.call(frame, || self.out_of_band.is_new());
        }
    }

    /// A thread's outermost call ends. Takes no lock.
    pub fn ends_call(&self, thread: &ThreadState) {
        self.out_of_band.in_call(0);
        if let Some(place) = thread.stops_looking() {
            self.out_of_band.looks_no_more(place);
        }
    }

    /// The calling thread has looked without success. The simulator sees that while it observes, if
    /// the thread is in a call that blocks, and so are all that are in calls: another one may wait
    /// for its turn in the MPI library. It sees a look in one-sided communication after many,
    /// since MPICH handles a message from the rank to itself at each.
    fn has_looked(&self) {
        const MANY: u32 = 1 << 17;
        let thread = thread::current();
        let looks = thread.looks.get().saturating_add(1);
        thread.looks.set(looks);
        let is_observed = self.out_of_band.is_observed();
        pending::observed(is_observed);
        if !is_observed || !thread::blocks() || looks <= MANY && thread::one_sided() {
            return;
        }
        if thread.place.get().is_none() && thread.may_look() {
            let (number, call) = (system::thread(), thread.call.get());
            thread.looks_at(self.out_of_band.starts_looking(number, call));
        }
        if let Some(place) = thread.place.get()
            && thread::all_look()
        {
            self.out_of_band.looks(place);
        }
    }

    /// How many calls the program has begun, with its clock readings.
    pub fn calls(&self) -> u32 {
        self.out_of_band.calls()
    }

    /// The program reads a clock, or waits with a time-out. Takes no lock.
    pub fn reads_clock(&self) {
        self.out_of_band.reads_clock();
    }

    /// Whether this process is the rank, and not a child that shares its memory.
    pub fn is_own(&self) -> bool {
        std::process::id() == self.pid
    }

    /// The program has used a file in no simulated time. Takes no lock.
    pub fn untimed(&self, access: FileAccess) {
        self.out_of_band.untimed(access);
    }

    /// The process is about to end, and how. Takes no lock.
    pub fn leaves(&self, how: Departure) {
        self.out_of_band.leaves(how);
    }

    /// The process exits. A rank that is in the simulation leaves it by this; a rank that has left
    /// will not come back.
    pub fn exits(&self) {
        if LEFT.load(Ordering::Relaxed) {
            self.out_of_band.exits();
        } else {
            self.leaves(Departure::Exit);
        }
    }

    /// How often MPI has looked in all.
    pub fn looks_in_all(&self) -> u64 {
        self.looks_in_all.load(Ordering::Relaxed)
    }

    /// The program does not look again but does other work: [`Session::look`]'s steps begin again.
    pub fn look_anew(&self) {
        self.tick.store(self.settings.tick, Ordering::Relaxed);
        self.found_nothing.store(false, Ordering::Relaxed);
        self.looks.store(0, Ordering::Relaxed);
        self.last_looks.store(0, Ordering::Relaxed);
    }

    /// MPI has looked for a message, and there is none. If MPI waits for one, it must look again:
    /// only receives and probes are notified of arriving messages.
    pub fn found_nothing(&self) {
        self.found_nothing.store(true, Ordering::Relaxed);
    }
}
