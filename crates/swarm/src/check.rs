//! Runs a case on both movers, and checks all that must hold.

use crate::case::Case;
use crate::faults::Faults;
use crate::oracle::{self, Allowed};
use crate::play::{self, End, Found, Played};
use crate::probe;
use elan::{Census, Cluster, Matching, Node, NodeId, Rail, Watch};
use fabric::Engine;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::rc::Rc;
use std::sync::Once;
use units::Time;

/// What is wrong, in kinds that shrinking keeps apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The case cannot be run.
    Case,
    /// An assertion of the simulator.
    Panic,
    /// A run makes no progress: it passes its bounds, or processes run without end at one moment.
    Endless,
    /// What the program found cannot be.
    Program,
    /// Something is left in the machine.
    Leak,
    /// The machine does not work as before although everything has been repaired, or not as it should around a dead cable.
    Probe,
    /// The movers differ.
    Movers,
}

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub wrong: Wrong,
    /// What it is.
    pub what: String,
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.wrong, self.what)
    }
}

/// What a right run was like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The digest of all packets.
    pub digest: String,
    /// Packets that were acknowledged.
    pub packets: u64,
    /// Steps that ended well.
    pub done: u64,
    /// Errors that were told.
    pub errors: u64,
    /// Whether processes wait for ever.
    pub waits: bool,
}

/// Simulated time within which each run ends that masters its faults, and after which a run is over that does not.
const LONGEST: Time = Time::from_secs(2);
const OVER: Time = Time::from_ms(30);

/// What may happen in a case.
fn allowed(case: &Case) -> Allowed {
    case.faults
        .as_ref()
        .map_or_else(Allowed::default, |faults| Allowed {
            errors: !faults.are_mastered(&case.machine, &case.program),
            // A source that is more patient than the run may not have told its error.
            silent: faults.give_up > OVER / 4,
            stopped: faults.stopped(&case.program),
            restless: faults.are_restless(),
        })
}

/// Runs a case, and checks it.
///
/// # Errors
/// What is wrong.
pub fn check(case: &Case) -> Result<Report, Failure> {
    let [worm, flit] = [Engine::Worm, Engine::Flit].map(|engine| run(case, engine));
    let (worm, census) = worm?;
    let (flit, _) = flit?;
    let fails = |wrong, what| Err(Failure { wrong, what });
    let allowed = allowed(case);
    if let Err(what) = oracle::check(&case.program, &worm, &allowed) {
        return fails(Wrong::Program, what);
    }
    if !census.is_empty() && may_be_empty(case, &worm, &allowed) {
        return fails(Wrong::Leak, format!("in the end there are {census:?}"));
    }
    if worm != flit {
        return fails(Wrong::Movers, difference(&worm, &flit));
    }
    let errors = worm
        .notes
        .iter()
        .filter(|note| matches!(note.found, Found::Failed(..)))
        .count();
    Ok(Report {
        packets: worm.packets,
        done: (worm.notes.len() - errors) as u64,
        errors: errors as u64,
        waits: worm.end != End::Finished,
        digest: worm.digest,
    })
}

/// Whether nothing may be left. Messages to a full queue are sent again for ever if the queue's process has given up.
fn may_be_empty(case: &Case, played: &Played, allowed: &Allowed) -> bool {
    let is_full = played.left.iter().flatten().any(|left| left.full);
    let by_host = case.machine.matching == Matching::Host;
    // A part that fails just before the end may have members of a group tell each other.
    let over = !allowed.silent && !allowed.restless;
    over && (!allowed.errors || !(is_full || by_host))
}

/// How two runs of one case differ.
fn difference(worm: &Played, flit: &Played) -> String {
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

/// Runs a case on a mover. Returns also what is left in the machine.
///
/// # Errors
/// If the run makes no progress, or the machine does not work afterwards as it should.
fn run(case: &Case, engine: Engine) -> Result<(Played, Census), Failure> {
    let fails = |wrong| move |what| Failure { wrong, what };
    let mut config = case.machine.config(engine).map_err(fails(Wrong::Case))?;
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
            // What was given up by nobody is over by then.
            rest: faults.map_or(Time::from_ms(5), |faults| {
                faults.give_up + Time::from_ms(20)
            }),
        };
        let (waits, stopped) = (case.machine.waits(), &allowed.stopped);
        let played = play::play(&mut cluster, &case.program, waits, stopped, times)?;
        let census = cluster.census();
        let mends = faults.is_some_and(Faults::are_over);
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
    let played = played.map_err(fails(Wrong::Panic))?;
    let (played, census, sound) = played.map_err(fails(Wrong::Case))?;
    if let End::Endless(why) = played.end {
        return Err(fails(Wrong::Endless)(why));
    }
    sound.map_err(fails(Wrong::Probe))?;
    Ok((played, census))
}

/// All adapters.
fn adapters(cluster: &Cluster) -> Vec<Node> {
    let rails = (0..cluster.rails()).map(Rail::new);
    let of_rail = |rail| NodeId::all(cluster.nodes()).map(move |node| cluster.adapter(rail, node));
    rails.flat_map(of_rail).collect()
}

/// Packets of some adapters so far that were refused because no living link led on.
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
    /// Where the message of a panic goes that is expected to come, if one is.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs something that may panic, and returns what the panic said.
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
