//! A program's expected behaviour, with plain vectors.
//!
//! Where errors are not permitted, all effects must be visible. Otherwise the effects of successful
//! operations must be visible; a failed or unreported operation must only not have happened twice,
//! and must have no effect after the error.

mod memory;

use crate::bytes::bytes;
use crate::play::{Note, Observation, PlayEnd, PlayOutcome, StepPlace};
use crate::program::{CallLibrary, ProcessOperation, ProcessStep, SwarmProgram};
use elan::ProcessId;
use std::collections::{BTreeMap, BTreeSet};

/// The permitted outcomes of a program on its machine.
#[derive(Clone, Debug, Default)]
pub struct PermittedOutcomes {
    /// Whether errors may be reported.
    pub errors: bool,
    /// Whether the run may be over before an error is reported.
    pub silent: bool,
    /// Processes that stop in the middle.
    pub stopped: BTreeSet<usize>,
    /// Whether parts continue to fail and to be repaired until the end.
    pub restless: bool,
}

/// Checks whether a run is possible.
///
/// # Errors
/// Its problem.
pub fn check(
    program: &SwarmProgram,
    played: &PlayOutcome,
    allowed: &PermittedOutcomes,
) -> Result<(), String> {
    let mut found = BTreeMap::new();
    for note in &played.notes {
        let key = (note.place, note.process);
        if found.insert(key, note).is_some() {
            return Err(format!("{key:?} is noted twice"));
        }
    }
    let oracle = Oracle {
        program,
        played,
        allowed,
        found,
    };
    oracle.ends()?;
    if !allowed.errors {
        oracle.complete()?;
    }
    for phase in 0..program.phases.len() {
        let messages = oracle.messages(phase);
        messages.map_err(|wrong| format!("phase {phase}: {wrong}"))?;
        oracle.calls(phase)?;
    }
    oracle.boards()?;
    oracle.additions()?;
    oracle.queues()?;
    oracle.events()
}

struct Oracle<'a> {
    program: &'a SwarmProgram,
    played: &'a PlayOutcome,
    allowed: &'a PermittedOutcomes,
    found: BTreeMap<(StepPlace, usize), &'a Note>,
}

/// Whether a step has succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Done,
    Failed,
    /// It was never reported.
    Open,
}

/// A message that was sent and not yet received.
struct SentMessage {
    tag: u64,
    bytes: Vec<u8>,
    state: State,
    /// Whether an error means that no process has it.
    denied: bool,
}

impl<'a> Oracle<'a> {
    fn found(&self, place: StepPlace, process: usize) -> Option<&'a Observation> {
        self.found.get(&(place, process)).map(|note| &note.found)
    }

    fn state(&self, place: StepPlace, process: usize) -> State {
        match self.found(place, process) {
            None => State::Open,
            Some(Observation::Failed(..)) => State::Failed,
            Some(_) => State::Done,
        }
    }

    /// Whether an error means that a step had no effect.
    fn denied(&self, place: StepPlace, process: usize) -> bool {
        let found = self.found(place, process);
        matches!(found, Some(Observation::Failed(why, _)) if why.contains("has not been delivered"))
    }

    /// A phase's steps, by process and place.
    fn steps(&self, phase: usize) -> impl Iterator<Item = (usize, usize, &'a ProcessStep)> {
        let processes = self.program.phases[phase].steps.iter().enumerate();
        processes.flat_map(|(process, steps)| {
            let steps = steps.iter().enumerate();
            steps.map(move |(place, step)| (process, place, step))
        })
    }

    /// Whether a process received any error.
    fn failed(&self, process: usize) -> bool {
        let mut notes = self.played.notes.iter();
        notes.any(|note| note.process == process && matches!(note.found, Observation::Failed(..)))
    }

    /// Whether a process received an error, or may have one pending for an operation that it has
    /// begun and not looked at.
    fn may_know(&self, process: usize) -> bool {
        let phase = self.played.waits[process].map_or(usize::MAX, |(phase, _)| phase);
        let steps = self
            .program
            .phases
            .get(phase)
            .filter(|phase| !phase.blocking);
        let mut steps = steps
            .into_iter()
            .flat_map(|phase| phase.steps[process].iter().enumerate());
        let asks = |act: &ProcessOperation| {
            matches!(
                act,
                ProcessOperation::Enqueue { .. }
                    | ProcessOperation::Send { .. }
                    | ProcessOperation::Receive { .. }
                    | ProcessOperation::Put { .. }
                    | ProcessOperation::Spread { .. }
            )
        };
        self.failed(process)
            || steps.any(|(place, step)| {
                asks(&step.act) && self.found((phase, place), process).is_none()
            })
    }

    /// How the run ends: if processes wait forever, some process received the reason, and no
    /// process waits for an operation without a partner.
    fn ends(&self) -> Result<(), String> {
        let why = match &self.played.end {
            PlayEnd::Finished => return Ok(()),
            PlayEnd::Waits(why) if self.allowed.errors => why,
            PlayEnd::Waits(why) | PlayEnd::Endless(why) => return Err(why.clone()),
        };
        let silent = (0..self.played.waits.len()).all(|process| !self.may_know(process));
        if silent && !self.allowed.silent && self.allowed.stopped.is_empty() {
            return Err(format!("no error was told, but {why}"));
        }
        for (process, place) in self.played.waits.iter().enumerate() {
            let Some((phase, place)) = *place else {
                continue;
            };
            if !self.allowed.restless && !self.allowed.stopped.contains(&process) {
                self.is_told(process, (phase, place))
                    .map_err(|wrong| format!("process {process} waits for ever {wrong}: {why}"))?;
            }
            let step = self
                .program
                .phases
                .get(phase)
                .and_then(|phase| phase.steps[process].get(place));
            let alone = step.is_some_and(|step| {
                matches!(
                    step.act,
                    ProcessOperation::Get { .. }
                        | ProcessOperation::Add { .. }
                        | ProcessOperation::Spread { .. }
                        | ProcessOperation::Compute(_)
                ) || matches!(
                    step.act,
                    ProcessOperation::Put {
                        by, ..
                    } | ProcessOperation::Notify { by, .. } if by != CallLibrary::Shmem
                )
            });
            if alone && !self.allowed.stopped.contains(&process) {
                return Err(format!(
                    "process {process} waits for ever in phase {phase}, step {place}, which needs \
                    no partner: {why}"
                ));
            }
        }
        Ok(())
    }

    /// Whether a process that waits forever could not have been notified: it waits for no message
    /// from an unreachable process, and for no call that all others have reached, or that they have
    /// reported as lost. A stopped host takes the notice of a loss with it, unless another member
    /// has the notice.
    fn is_told(&self, process: usize, (phase, place): StepPlace) -> Result<(), String> {
        if let Some(partner) = self.played.cut_off[process] {
            return Err(format!("for {partner}, which is out of reach"));
        }
        let phases = &self.program.phases;
        let steps = phases.get(phase).map(|phase| &phase.steps);
        let step = steps.and_then(|steps| steps[process].get(place));
        let Some(&ProcessStep {
            op,
            act: ProcessOperation::Collective(call),
        }) = step
        else {
            return Ok(());
        };
        let fails_here = |member: usize| {
            self.program.steps().any(|((phase, owner, place), step)| {
                // Shmem calls fail for earlier accesses, too.
                let here = matches!(
                    step.act,
                    ProcessOperation::Collective(other) if other.group == call.group
                        && !other.is_by_shmem()
                );
                here && owner == member && self.state((phase, place), member) == State::Failed
            })
        };
        let members = &self.program.groups()[call.group];
        let stopped = |member: usize| self.allowed.stopped.contains(&member);
        let mut others = members.iter().map(|&member| member as usize);
        let known = others.any(|member| !stopped(member) && fails_here(member));
        let is_missing = |&member: &u32| {
            let member = member as usize;
            let steps = steps.map(|steps| &steps[member]);
            let own = steps.and_then(|steps| steps.iter().position(|step| step.op == op));
            let own = (phase, own.expect("each member makes the call"));
            match self.state(own, member) {
                State::Done => false,
                State::Failed if call.is_by_shmem() => true,
                State::Failed => stopped(member) && !known,
                State::Open if stopped(member) => true,
                State::Open => self.played.waits[member] != Some(own) && !fails_here(member),
            }
        };
        if members.iter().any(is_missing) {
            return Ok(());
        }
        Err(format!("in {call:?}, and nobody else is missing"))
    }

    /// Every process and every step ends without an error, and releases the memory that it took.
    fn complete(&self) -> Result<(), String> {
        for (&(place, process), note) in &self.found {
            if let Observation::Failed(why, _) = &note.found {
                return Err(format!(
                    "process {process} was told an error in {place:?}, and nothing fails: {why}"
                ));
            }
        }
        let end = (self.program.phases.len(), 0);
        for process in 0..self.program.places.len() {
            if self.found(end, process) != Some(&Observation::Done) {
                return Err(format!("process {process} did not come to its end"));
            }
            let left = self.played.left[process].as_ref();
            let (before, after) = left.expect("it has come to its end").used;
            if before != after {
                return Err(format!(
                    "process {process} used {before}, and has {after} in the end"
                ));
            }
        }
        let count = self.program.steps().count() + self.program.places.len();
        if self.found.len() == count {
            Ok(())
        } else {
            Err(format!("{} of {count} steps have ended", self.found.len()))
        }
    }

    /// Every message is received once, in order, by a receive that wants it, with its bytes.
    fn messages(&self, phase: usize) -> Result<(), String> {
        let mut mail: BTreeMap<(u32, u32), Vec<SentMessage>> = BTreeMap::new();
        for (process, place, step) in self.steps(phase) {
            if let ProcessOperation::Send {
                to, label, length, ..
            } = step.act
            {
                mail.entry((process as u32, to))
                    .or_default()
                    .push(SentMessage {
                        tag: label.tag(phase as u32),
                        bytes: bytes(step.op, length),
                        state: self.state((phase, place), process),
                        denied: self.denied((phase, place), process),
                    });
            }
        }
        for (process, place, step) in self.steps(phase) {
            let ProcessOperation::Receive { from, label, .. } = step.act else {
                continue;
            };
            let Some(Observation::Message { sender, tag, bytes }) =
                self.found((phase, place), process)
            else {
                continue;
            };
            let here = format!("process {process}, step {place}");
            let select = label.select(phase as u32, from);
            if !select.takes(ProcessId::new(*sender), *sender, *tag) {
                return Err(format!("{here}: {select} took {sender}, {tag}"));
            }
            // A receive that failed may have used a message up.
            let gaps = self.failed(process);
            let mail = mail.entry((*sender, process as u32)).or_default();
            let wanted =
                |sent: &SentMessage| select.takes(ProcessId::new(*sender), *sender, sent.tag);
            let is_it = |sent: &SentMessage| (sent.tag, &sent.bytes) == (*tag, bytes);
            let first = mail.iter().position(|sent| {
                wanted(sent) && (is_it(sent) || sent.state == State::Done && !gaps)
            });
            match first.map(|place| mail.remove(place)) {
                Some(sent) if is_it(&sent) && sent.denied => {
                    return Err(format!(
                        "{here}: {sender} was told that this message has not been delivered"
                    ));
                }
                Some(sent) if is_it(&sent) => {}
                Some(_) => {
                    return Err(format!(
                        "{here}: another message of {sender}, or other bytes"
                    ));
                }
                None => {
                    return Err(format!("{here}: {sender} has sent nothing like it"));
                }
            }
        }
        if self.allowed.errors {
            return self.left_over(phase, &mail);
        }
        if mail.values().any(|mail| !mail.is_empty()) {
            return Err("a message was not received".to_string());
        }
        Ok(())
    }

    /// No receive waits forever while a message for it has been sent successfully.
    fn left_over(
        &self,
        phase: usize,
        mail: &BTreeMap<(u32, u32), Vec<SentMessage>>,
    ) -> Result<(), String> {
        for (process, wait) in self.played.waits.iter().enumerate() {
            let stopped = self.allowed.stopped.contains(&process);
            let Some((_, place)) = wait.filter(|&(waits, _)| waits == phase && !stopped) else {
                continue;
            };
            let own = &self.program.phases[phase].steps[process];
            let Some(ProcessOperation::Receive { from, label, .. }) =
                own.get(place).map(|step| &step.act)
            else {
                continue;
            };
            if label.class != 0 || self.failed(process) {
                continue;
            }
            let same = |act: &ProcessOperation| {
                matches!(
                    act,
                    ProcessOperation::Receive {
                        from: other, label: like, ..
                    } if (other, like) == (from, label)
                )
            };
            let waiting = own.iter().enumerate().filter(|(place, step)| {
                same(&step.act) && self.state((phase, *place), process) == State::Open
            });
            let tag = label.tag(phase as u32);
            let sent = mail.get(&(*from, process as u32)).into_iter().flatten();
            let sent = sent.filter(|sent| sent.tag == tag && sent.state == State::Done);
            let (waiting, sent) = (waiting.count(), sent.count());
            // One at a time, or all.
            let open = if self.program.phases[phase].blocking {
                1
            } else {
                waiting
            };
            if sent >= open {
                return Err(format!(
                    "process {process} waits for ever for a message of {from}, tag {tag}, that was \
                    sent with success"
                ));
            }
        }
        Ok(())
    }

    /// Broadcast, reduced and collected data are right.
    fn calls(&self, phase: usize) -> Result<(), String> {
        let mut calls = BTreeMap::new();
        for (process, place, step) in self.steps(phase) {
            if let ProcessOperation::Collective(call) = step.act {
                let outcome = match self.found((phase, place), process) {
                    Some(Observation::Collective(outcome)) => Some(outcome),
                    _ => None,
                };
                let (_, outcomes) = calls
                    .entry(step.op)
                    .or_insert_with(|| (call, BTreeMap::new()));
                outcomes.insert(process as u32, outcome);
            }
        }
        let groups = self.program.groups();
        for (op, (call, outcomes)) in &calls {
            let outcome = |member| *outcomes.get(member).expect("each member makes the call");
            let outcomes: Vec<_> = groups[call.group].iter().map(outcome).collect();
            let checked = call.check(&outcomes);
            checked.map_err(|wrong| format!("phase {phase}, operation {op}, {call:?}: {wrong}"))?;
        }
        Ok(())
    }
}
