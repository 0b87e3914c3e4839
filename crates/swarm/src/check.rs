//! Runs a case on both movers, and checks all that must hold.

use crate::case::Case;
use crate::faults::FaultPlan;
use crate::oracle::{self, PermittedOutcomes};
use crate::play::{self, Observation, PlayEnd, PlayOutcome};
use crate::probe;
use elan::{Census, Cluster, Matching, Node, NodeId, Rail, Watch};
use fabric::Engine;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::rc::Rc;
use std::sync::Once;
use units::Time;

/// The kinds of problems that shrinking distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The case cannot be run.
    Case,
    /// An assertion in the simulator.
    Panic,
    /// A run makes no progress: it exceeds its bounds, or processes run without end at one moment.
    Endless,
    /// The program's notes are impossible.
    Program,
    /// Something is left in the machine.
    Leak,
    /// The machine does not work as before although everything has been repaired, or not as it
    /// should around a dead cable.
    Probe,
    /// The movers differ.
    Movers,
}

/// A problem with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFailure {
    /// The kind.
    pub wrong: FailureKind,
    /// Its description.
    pub what: String,
}

impl Display for RunFailure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.wrong, self.what)
    }
}

/// The results of a correct run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// The digest over all packets.
    pub digest: String,
    /// Packets that were acknowledged.
    pub packets: u64,
    /// Steps that ended well.
    pub done: u64,
    /// Errors that were reported.
    pub errors: u64,
    /// Whether processes wait forever.
    pub waits: bool,
}

/// Simulated time within which each run ends that masters its faults, and after which a run is over
/// that does not.
const LONGEST: Time = Time::from_secs(2);
const OVER: Time = Time::from_ms(30);

/// The permitted outcomes in a case.
fn allowed(case: &Case) -> PermittedOutcomes {
    case.faults
        .as_ref()
        .map_or_else(PermittedOutcomes::default, |faults| PermittedOutcomes {
            errors: !faults.are_mastered(&case.machine, &case.program),
            // A source with more patience than the run's time may not have reported its error.
            silent: faults.give_up > OVER / 4,
            stopped: faults.stopped(&case.program),
            restless: faults.are_restless(),
        })
}

/// Runs a case, and checks it.
///
/// # Errors
/// The problem.
pub fn check(case: &Case) -> Result<RunReport, RunFailure> {
    let [worm, flit] = [Engine::Worm, Engine::Flit].map(|engine| run(case, engine));
    let (worm, census) = worm?;
    let (flit, _) = flit?;
    let fails = |wrong, what| Err(RunFailure { wrong, what });
    let allowed = allowed(case);
    if let Err(what) = oracle::check(&case.program, &worm, &allowed) {
        return fails(FailureKind::Program, what);
    }
    if !census.is_empty() && may_be_empty(case, &worm, &allowed) {
        return fails(
            FailureKind::Leak,
            format!("in the end there are {census:?}"),
        );
    }
    if worm != flit {
        return fails(FailureKind::Movers, difference(&worm, &flit));
    }
    let errors = worm
        .notes
        .iter()
        .filter(|note| matches!(note.found, Observation::Failed(..)))
        .count();
    Ok(RunReport {
        packets: worm.packets,
        done: (worm.notes.len() - errors) as u64,
        errors: errors as u64,
        waits: worm.end != PlayEnd::Finished,
        digest: worm.digest,
    })
}

/// Whether the machine must be empty. Messages to a full queue are retransmitted forever if the
/// queue's process has given up.
fn may_be_empty(case: &Case, played: &PlayOutcome, allowed: &PermittedOutcomes) -> bool {
    let is_full = played.left.iter().flatten().any(|left| left.full);
    let by_host = case.machine.matching == Matching::Host;
    // Members of a group may still notify each other of a part that fails just before the end.
    let over = !allowed.silent && !allowed.restless;
    over && (!allowed.errors || !(is_full || by_host))
}

/// The differences between two runs of one case.
fn difference(worm: &PlayOutcome, flit: &PlayOutcome) -> String {
    let mut notes = worm.notes.iter().zip(&flit.notes);
    if let Some((one, other)) = notes.find(|(one, other)| one != other) {
        return format!("first the worm mover has {one:?}, and the flit mover {other:?}");
    }
    format!(
        "{} and {} notes, digests {} and {}, ends {:?} at {} and {:?} at {}",
        worm.notes.len(),
        flit.notes.len(),
        worm.digest,
        flit.digest,
        worm.end,
        worm.at,
        flit.end,
        flit.at
    )
}

/// Runs a case on a mover. Also returns the remainder in the machine.
///
/// # Errors
/// If the run makes no progress, or the machine is faulty afterwards.
fn run(case: &Case, engine: Engine) -> Result<(PlayOutcome, Census), RunFailure> {
    let fails = |wrong| move |what| RunFailure { wrong, what };
    let mut config = case
        .machine
        .config(engine)
        .map_err(fails(FailureKind::Case))?;
    let faults = case.faults.as_ref();
    config.faults = faults.map(|faults| faults.config(&config.fabric.topology, &case.program));
    let played = quietly(|| {
        let watch = Watch {
            limits: play::limits(),
            ..Watch::default()
        };
        let mut cluster = Cluster::new(config, watch);
        let around = faults.and_then(|faults| faults.leads_around(&case.machine));
        let around = around.filter(|_| !case.program.broadcasts());
        let before = refused_by(&mut cluster, around);
        let allowed = allowed(case);
        let times = play::Times {
            longest: if allowed.errors { OVER } else { LONGEST },
            // Operations that no process has given up are over by then.
            rest: faults.map_or(Time::from_ms(5), |faults| {
                faults.give_up + Time::from_ms(20)
            }),
        };
        let (waits, stopped) = (case.machine.waits(), &allowed.stopped);
        let played = play::play(&mut cluster, &case.program, waits, stopped, times)?;
        let census = cluster.census();
        let mends = faults.is_some_and(FaultPlan::are_over);
        let late = before
            .get()
            .map(|before| refused(&adapters(&cluster)) - before);
        let sound = if let Some(many @ 1..) = late {
            Err(format!(
                "{many} packets ran into a cable that the routing tables know to be dead"
            ))
        } else if mends {
            probe::probe(&mut cluster)
        } else {
            Ok(())
        };
        Ok((played, census, sound))
    });
    let played = played.map_err(fails(FailureKind::Panic))?;
    let (played, census, sound) = played.map_err(fails(FailureKind::Case))?;
    if let PlayEnd::Endless(why) = played.end {
        return Err(fails(FailureKind::Endless)(why));
    }
    sound.map_err(fails(FailureKind::Probe))?;
    Ok((played, census))
}

/// All adapters.
fn adapters(cluster: &Cluster) -> Vec<Node> {
    let rails = (0..cluster.rails()).map(Rail::new);
    let of_rail = |rail| NodeId::all(cluster.nodes()).map(move |node| cluster.adapter(rail, node));
    rails.flat_map(of_rail).collect()
}

/// Packets that some adapters have refused so far because no working link led on.
fn refused(adapters: &[Node]) -> u64 {
    let each = adapters
        .iter()
        .map(|adapter| adapter.recoveries().unreachable);
    each.sum()
}

/// How many packets were refused by a moment, once it has come.
fn refused_by(cluster: &mut Cluster, at: Option<Time>) -> Rc<Cell<Option<u64>>> {
    let so_far = Rc::new(Cell::new(None));
    if let Some(at) = at {
        let (adapters, so_far) = (adapters(cluster), Rc::clone(&so_far));
        cluster.spawn("watch", async move {
            adapters[0].sleep_until(at).await;
            so_far.set(Some(refused(&adapters)));
        });
    }
    so_far
}

thread_local! {
    /// The place for an expected panic's message, if a panic is expected.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a function that may panic, and returns the panic's message.
fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            let mut quiet = false;
            SAID.with_borrow_mut(|said| {
                if let Some(said) = said {
                    *said = panic.to_string();
                    quiet = true;
                }
            });
            if !quiet {
                before(panic);
            }
        }));
    });
    SAID.set(Some(String::new()));
    let result = catch_unwind(AssertUnwindSafe(work));
    let said = SAID.take();
    result.map_err(|_| said.unwrap_or_default())
}
