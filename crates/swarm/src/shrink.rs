//! Makes a failing case smaller, as long as it fails in the same way: greedy deletion.
//!
//! Each round tries, in this order: fewer faults, fewer phases, fewer operations (halves, quarters,
//! ... single ones), fewer processes, shorter transfers, a plainer machine. The first smaller case
//! that still fails is kept, and the round continues with it. Shrinking ends when no change in a
//! round helps, or after a number of runs.

use crate::case::Case;
use crate::check::{RunFailure, check};
use crate::collective::Kind;
use crate::machine::{Shape, ShippedMachine, SwarmMachine, Waits};
use crate::program::{HEAD, ProcessOperation, ProcessStep, SwarmProgram};
use elan::Matching;
use std::collections::BTreeSet;

/// A smaller case that fails, and how.
pub struct SmallerCase {
    /// The case.
    pub case: Case,
    /// Its problem.
    pub failure: RunFailure,
    /// How many cases were tried.
    pub runs: u32,
}

/// Shrinks a case that fails, with at most `most` runs.
pub fn shrink(case: Case, failure: RunFailure, most: u32) -> SmallerCase {
    let mut best = SmallerCase {
        case,
        failure,
        runs: 0,
    };
    loop {
        let before = best.case.clone();
        best.faults(most);
        best.phases(most);
        best.operations(most);
        best.processes(most);
        best.lengths(most);
        best.machine(most);
        if best.case == before || best.runs >= most {
            return best;
        }
    }
}

impl SmallerCase {
    /// Takes a case if it is another one, and fails in the same way.
    fn try_case(&mut self, case: Case, most: u32) -> bool {
        if case == self.case || self.runs >= most {
            return false;
        }
        self.runs += 1;
        match check(&case) {
            Err(failure) if failure.wrong == self.failure.wrong => {
                self.failure = failure;
                self.case = case;
                true
            }
            _ => false,
        }
    }

    fn faults(&mut self, most: u32) {
        let mut case = self.case.clone();
        case.faults = None;
        self.try_case(case, most);
        let count = self
            .case
            .faults
            .as_ref()
            .map_or(0, |faults| faults.list.len());
        for place in (0..count).rev() {
            let mut case = self.case.clone();
            if let Some(faults) = &mut case.faults {
                faults.list.remove(place);
            }
            self.try_case(case, most);
        }
    }

    fn phases(&mut self, most: u32) {
        for place in (0..self.case.program.phases.len()).rev() {
            let mut case = self.case.clone();
            case.program.phases.remove(place);
            self.try_case(case, most);
        }
        for place in (0..self.case.program.rounds.len()).rev() {
            let mut case = self.case.clone();
            if drop_round(&mut case.program, place) {
                self.try_case(case, most);
            }
        }
    }

    fn operations(&mut self, most: u32) {
        let all: BTreeSet<u32> = self.case.program.steps().map(|(_, step)| step.op).collect();
        let mut all: Vec<u32> = all.into_iter().collect();
        let mut size = all.len();
        while size > 0 {
            let mut from = 0;
            while from < all.len() {
                let end = (from + size).min(all.len());
                let mut case = self.case.clone();
                keep(&mut case.program, |step| !all[from..end].contains(&step.op));
                if self.try_case(case, most) {
                    all.drain(from..end);
                } else {
                    from = end;
                }
            }
            size /= 2;
        }
    }

    fn processes(&mut self, most: u32) {
        for process in (0..self.case.program.processes()).rev() {
            if self.case.program.processes() > 1 {
                let mut case = self.case.clone();
                drop_process(&mut case.program, process);
                self.try_case(case, most);
            }
        }
    }

    fn lengths(&mut self, most: u32) {
        let ops: BTreeSet<u32> = self.case.program.steps().map(|(_, step)| step.op).collect();
        for op in ops {
            for part in [0, 2] {
                let mut case = self.case.clone();
                let steps = case
                    .program
                    .phases
                    .iter_mut()
                    .flat_map(|phase| &mut phase.steps);
                for step in steps.flatten().filter(|step| step.op == op) {
                    shorten(&mut step.act, part);
                }
                self.try_case(case, most);
            }
        }
    }

    fn machine(&mut self, most: u32) {
        let mut changes: Vec<fn(&mut SwarmMachine)> = vec![
            |machine| machine.rails = None,
            |machine| {
                if let Some(rails) = &mut machine.rails {
                    rails.count = 2;
                }
            },
            |machine| machine.network = None,
            |machine| {
                if let Some(network) = &mut machine.network {
                    network.credit_delay.clear();
                }
            },
            |machine| machine.tport = None,
            |machine| machine.slice = None,
            |machine| machine.matching = Matching::Adapter,
            |machine| machine.waits = Waits::Poll,
            |machine| machine.branching = 4,
            |machine| machine.base = ShippedMachine::Es40Qsnet,
        ];
        changes.push(|machine| {
            machine.shape = Shape::least(machine.shape.nodes());
            if let Some(network) = &mut machine.network {
                network.resize(machine.shape.levels());
            }
        });
        for change in changes {
            let mut case = self.case.clone();
            change(&mut case.machine);
            self.try_case(case, most);
        }
        // The processes side by side on the first nodes.
        let mut case = self.case.clone();
        let nodes: BTreeSet<u32> = case.program.places.iter().copied().collect();
        let nodes: Vec<u32> = nodes.into_iter().collect();
        for place in &mut case.program.places {
            *place = nodes.iter().position(|node| node == place).unwrap_or(0) as u32;
        }
        self.try_case(case, most);
        let mut case = self.case.clone();
        let used = case.program.places.iter().max().map_or(1, |last| last + 1);
        case.machine.shape = Shape::least(used);
        if let Some(network) = &mut case.machine.network {
            network.resize(case.machine.shape.levels());
        }
        self.try_case(case, most);
    }
}

/// Keeps only some steps.
fn keep(program: &mut SwarmProgram, wanted: impl Fn(&ProcessStep) -> bool) {
    for phase in &mut program.phases {
        for steps in &mut phase.steps {
            steps.retain(&wanted);
        }
    }
}

/// Leaves out a round of groups, and all its groups' calls. Returns false if there is no such
/// round.
fn drop_round(program: &mut SwarmProgram, place: usize) -> bool {
    let first = 1 + program.rounds[..place].iter().map(Vec::len).sum::<usize>();
    let end = first + program.rounds[place].len();
    keep(program, |step| {
        !matches!(
            step.act, ProcessOperation::Collective(call) if (first..end).contains(&call.group)
        )
    });
    program.rounds.remove(place);
    let steps = program.phases.iter_mut().flat_map(|phase| &mut phase.steps);
    for step in steps.flatten() {
        if let ProcessOperation::Collective(call) = &mut step.act
            && call.group >= end
        {
            call.group -= end - first;
        }
    }
    true
}

/// Leaves out a process, with all operations that it has a part in; collective calls are made
/// without it.
fn drop_process(program: &mut SwarmProgram, process: u32) {
    let names = |act: &ProcessOperation| match *act {
        ProcessOperation::Send { to, .. }
        | ProcessOperation::Enqueue { to, .. }
        | ProcessOperation::Add { to, .. } => to == process,
        ProcessOperation::Put { to, .. } | ProcessOperation::Notify { to, .. } => {
            to.process == process
        }
        ProcessOperation::Spread { to, last } => to.process == process || last == process,
        ProcessOperation::Get { from, .. } => from.process == process,
        _ => false,
    };
    let steps = program.steps();
    let gone = steps.filter(|((_, owner, _), step)| {
        let is_call = matches!(step.act, ProcessOperation::Collective(_));
        !is_call && (*owner == process as usize || names(&step.act))
    });
    let gone: BTreeSet<u32> = gone.map(|(_, step)| step.op).collect();
    keep(program, |step| !gone.contains(&step.op));
    // A group that loses its only member goes with its calls.
    for place in (0..program.rounds.len()).rev() {
        if program.rounds[place]
            .iter()
            .any(|group| group[..] == [process])
        {
            drop_round(program, place);
        }
    }
    program.places.remove(process as usize);
    let rename = |name: &mut u32| *name -= u32::from(*name > process);
    for group in program.rounds.iter_mut().flatten() {
        group.retain(|&member| member != process);
        group.iter_mut().for_each(rename);
    }
    let sizes: Vec<u32> = program
        .groups()
        .iter()
        .map(|group| group.len() as u32)
        .collect();
    for phase in &mut program.phases {
        phase.steps.remove(process as usize);
        for step in phase.steps.iter_mut().flatten() {
            match &mut step.act {
                ProcessOperation::Send { to, .. }
                | ProcessOperation::Enqueue { to, .. }
                | ProcessOperation::Add { to, .. } => rename(to),
                ProcessOperation::Receive { from, .. } => rename(from),
                ProcessOperation::Put { to, .. } | ProcessOperation::Notify { to, .. } => {
                    rename(&mut to.process);
                }
                ProcessOperation::Get { from, .. } => rename(&mut from.process),
                ProcessOperation::Spread { to, last } => {
                    rename(&mut to.process);
                    rename(last);
                }
                ProcessOperation::Notified { at } => rename(&mut at.process),
                ProcessOperation::Collective(call) => call.kind.bound(sizes[call.group]),
                ProcessOperation::Dequeue | ProcessOperation::Compute(_) => {}
            }
        }
    }
}

/// Makes a transfer shorter: to a part of its length, or to zero.
fn shorten(act: &mut ProcessOperation, part: u64) {
    let short = |length: &mut u64| *length = length.checked_div(part).unwrap_or(0);
    match act {
        ProcessOperation::Send { length, .. } => short(length),
        ProcessOperation::Put { to: range, .. }
        | ProcessOperation::Notify { to: range, .. }
        | ProcessOperation::Spread { to: range, .. }
        | ProcessOperation::Get { from: range, .. }
        | ProcessOperation::Notified { at: range } => short(&mut range.length),
        ProcessOperation::Enqueue { length, .. } => {
            short(length);
            *length = (*length).max(HEAD);
        }
        ProcessOperation::Compute(time) => short(time),
        ProcessOperation::Collective(call) => match &mut call.kind {
            Kind::Broadcast { length, .. } => short(length),
            Kind::Reduce { words, .. } => short(words),
            Kind::Collect { longest, .. } => short(longest),
            Kind::Barrier(_) => {}
        },
        ProcessOperation::Receive { .. }
        | ProcessOperation::Dequeue
        | ProcessOperation::Add { .. } => {}
    }
}
