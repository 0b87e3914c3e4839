//! The permitted contents of the processes' memory: boards, words that others add to, queues and
//! events.

use super::{Oracle, State};
use crate::bytes::bytes;
use crate::play::{FinalState, Observation};
use crate::program::{BOARDS, CallLibrary, ProcessOperation, Range, WORDS, queued};
use std::collections::BTreeMap;

/// An addition to a word: its bit, its phase, whether it has succeeded, and the word before it.
type Addition = (u64, usize, State, Option<u64>);

/// A board's bytes, and whether they are certain.
#[derive(Clone)]
struct Board {
    bytes: Vec<u8>,
    sure: Vec<bool>,
}

impl Board {
    fn new(length: u64) -> Self {
        Board {
            bytes: vec![0; length as usize],
            sure: vec![true; length as usize],
        }
    }

    /// Whether these bytes can be in a range.
    fn admits(&self, at: usize, bytes: &[u8]) -> bool {
        let known = self.bytes[at..].iter().zip(&self.sure[at..]);
        let mut pairs = known.zip(bytes);
        pairs.all(|((known, sure), byte)| !sure || known == byte)
    }
}

impl Oracle<'_> {
    /// Every get returns the bytes that were there, and the boards are right in the end.
    pub fn boards(&self) -> Result<(), String> {
        let processes = self.program.places.len();
        let mut boards: Vec<_> = (0..processes).map(|_| BOARDS.map(Board::new)).collect();
        // Failed puts, with the bytes that were there when the process received the error.
        let mut failed: Vec<(Range, &Vec<u8>, u32)> = Vec::new();
        for phase in 0..self.program.phases.len() {
            let mut puts = Vec::new();
            for (process, place, step) in self.steps(phase) {
                let found = self.found((phase, place), process);
                let here = || format!("phase {phase}, process {process}, step {place}");
                match (&step.act, found) {
                    (ProcessOperation::Get { from, .. }, Some(Observation::Bytes(bytes))) => {
                        let board = &boards[from.process as usize][from.board];
                        if !board.admits(from.at as usize, bytes) {
                            return Err(format!("{}: got other bytes than were there", here()));
                        }
                    }
                    (ProcessOperation::Notified { at }, Some(Observation::Bytes(found)))
                        if *found != bytes(step.op, at.length) =>
                    {
                        return Err(format!("{}: the event came before the bytes", here()));
                    }
                    (ProcessOperation::Spread { to, .. }, _) => {
                        let sure = self.state((phase, place), process) == State::Done;
                        let places = self.notified(phase, step.op).map(|(process, _)| process);
                        let to = places.map(|process| Range { process, ..*to });
                        puts.extend(to.map(|to| (to, step.op, sure)));
                    }
                    (
                        ProcessOperation::Put { to, by } | ProcessOperation::Notify { to, by },
                        found,
                    ) => {
                        let state = self.state((phase, place), process);
                        // Shmem reports one error for several puts.
                        let sure = state == State::Done
                            && !(*by == CallLibrary::Shmem && self.failed(process));
                        puts.push((*to, step.op, sure));
                        if let (Some(Observation::Failed(_, Some(seen))), true) =
                            (found, *by != CallLibrary::Shmem)
                        {
                            failed.push((*to, seen, step.op));
                        }
                    }
                    _ => {}
                }
            }
            failed.retain(|(range, _, op)| {
                !puts
                    .iter()
                    .any(|(to, other, _)| other != op && overlap(range, to))
            });
            for (to, op, sure) in puts {
                let board = &mut boards[to.process as usize][to.board];
                let places = to.at as usize..(to.at + to.length) as usize;
                board.sure[places.clone()].fill(sure);
                board.bytes[places].copy_from_slice(&bytes(op, to.length));
            }
        }
        for (process, expected) in boards.iter().enumerate() {
            let Some(left) = &self.played.left[process] else {
                continue;
            };
            for (expected, left) in expected.iter().zip(&left.boards) {
                if !expected.admits(0, left) {
                    return Err(format!("the boards of process {process} differ"));
                }
            }
        }
        for (range, seen, op) in failed {
            let left = self.played.left[range.process as usize].as_ref();
            let board = left.map(|left| &left.boards[range.board]);
            let places = range.at as usize..(range.at + range.length) as usize;
            if board.is_some_and(|board| board[places] != seen[..]) {
                return Err(format!(
                    "bytes of operation {op} came after an error was told"
                ));
            }
        }
        Ok(())
    }

    /// Every addition has been made once.
    pub fn additions(&self) -> Result<(), String> {
        let mut words: BTreeMap<(u32, u32), Vec<Addition>> = BTreeMap::new();
        let mut denied: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for ((phase, process, place), step) in self.program.steps() {
            if let ProcessOperation::Add { to, word, bit } = step.act {
                let found = match self.found((phase, place), process) {
                    Some(Observation::Word(word)) => Some(*word),
                    _ => None,
                };
                let state = self.state((phase, place), process);
                let all = words.entry((to, word)).or_default();
                all.push((1 << bit, phase, state, found));
                let denies = u64::from(self.denied((phase, place), process));
                *denied.entry((to, word)).or_insert(0) |= denies << bit;
            }
        }
        for ((process, word), additions) in &words {
            let wrong = |what: &str| Err(format!("word {word} of process {process}: {what}"));
            let mut seen = Vec::new();
            for &(bit, phase, _, found) in additions {
                let Some(found) = found else {
                    continue;
                };
                let possible = additions.iter().filter(|(_, other, ..)| *other <= phase);
                let possible = possible.fold(0, |all, (bit, ..)| all | bit);
                let certain = additions
                    .iter()
                    .filter(|(_, other, state, _)| *other < phase && *state == State::Done);
                let certain = certain.fold(0, |all, (bit, ..)| all | bit);
                if found & bit != 0 || found & !possible != 0 || certain & !found != 0 {
                    return wrong("an addition was made twice, or late, or not at all");
                }
                seen.push((found, found | bit));
            }
            // One after the other.
            seen.sort_unstable();
            if seen.windows(2).any(|pair| pair[0].1 & !pair[1].0 != 0) {
                return wrong("two additions found the same word");
            }
            let Some(left) = &self.played.left[*process as usize] else {
                continue;
            };
            let all = additions.iter().fold(0, |all, (bit, ..)| all | bit);
            let done = additions
                .iter()
                .filter(|(_, _, state, _)| *state == State::Done);
            let done = done.fold(0, |all, (bit, ..)| all | bit);
            let last = left.words[*word as usize];
            if denied[&(*process, *word)] & last != 0 {
                return wrong("an addition was made, and an error says that it was not");
            }
            if last & !all != 0 || done & !last != 0 {
                return wrong("additions are missing in the end, or too many");
            }
        }
        let untouched = |process: u32, word: u32| !words.contains_key(&(process, word));
        for (process, left) in (0..).zip(&self.played.left) {
            let Some(left) = left else { continue };
            let mut places = (0..WORDS).filter(|&word| untouched(process, word));
            if places.any(|word| left.words[word as usize] != 0) {
                return Err(format!(
                    "a word of process {process} that nobody adds to is not 0"
                ));
            }
        }
        Ok(())
    }

    /// Messages to queues come once, in each sender's order.
    pub fn queues(&self) -> Result<(), String> {
        for process in 0..self.program.places.len() {
            let (mut sent, mut done) = (Vec::new(), 0);
            let mut received = Vec::new();
            for ((phase, owner, place), step) in self.program.steps() {
                let state = self.state((phase, place), owner);
                match step.act {
                    ProcessOperation::Enqueue { to, length } if to as usize == process => {
                        done += usize::from(state == State::Done);
                        sent.push((owner, queued(owner as u32, step.op, length), state));
                    }
                    ProcessOperation::Dequeue if owner == process => {
                        if let Some(Observation::Bytes(message)) = self.found((phase, place), owner)
                        {
                            received.push(message);
                        }
                    }
                    _ => {}
                }
            }
            let many = sent.len();
            for message in &received {
                let Some(place) = sent.iter().position(|(_, other, _)| other == *message) else {
                    return Err(format!(
                        "process {process} took a message from its queue twice, or one that nobody \
                        sent: {message:?}"
                    ));
                };
                let (sender, ..) = sent[place];
                let skipped = |(other, _, state): &(usize, _, State)| {
                    *other == sender && *state == State::Done
                };
                if sent[..place].iter().any(skipped) {
                    return Err(format!(
                        "a message of {sender} overtakes in the queue of {process}"
                    ));
                }
                sent.remove(place);
            }
            let Some(left) = &self.played.left[process] else {
                continue;
            };
            let here = received.len() + left.queued;
            if here < done || here > many {
                return Err(format!(
                    "{done} of {many} messages were put into the queue of process {process} with \
                    success, and {here} are there"
                ));
            }
        }
        Ok(())
    }

    /// The processes with an event that a phase's operation sets, and the event's missing and
    /// surplus occurrences.
    fn notified(
        &self,
        phase: usize,
        op: u32,
    ) -> impl Iterator<Item = (u32, Option<(u32, u32)>)> + '_ {
        let steps = self.steps(phase).filter(move |(_, _, step)| {
            step.op == op && matches!(step.act, ProcessOperation::Notified { .. })
        });
        steps.map(move |(process, ..)| {
            let left = self.played.left[process].as_ref();
            let event = left.and_then(|left: &FinalState| left.events.get(&op));
            (process as u32, event.copied())
        })
    }

    /// Every event is set once. A broadcast sets all its events or, if it fails, no event.
    pub fn events(&self) -> Result<(), String> {
        for ((phase, process, place), step) in self.program.steps() {
            let all = match step.act {
                ProcessOperation::Notify { .. } => false,
                ProcessOperation::Spread { .. } => true,
                _ => continue,
            };
            let state = self.state((phase, place), process);
            for (owner, event) in self.notified(phase, step.op) {
                let Some((missing, extra)) = event else {
                    continue;
                };
                let late = missing > 0 && state == State::Done;
                let half = missing == 0 && state == State::Failed && all;
                if extra > 0 || late || half {
                    return Err(format!(
                        "the event of operation {} at process {owner} lacks {missing} occurrences, \
                        and has {extra} too many: the operation is {state:?}",
                        step.op
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Whether two ranges have a byte in common.
fn overlap(one: &Range, other: &Range) -> bool {
    (one.process, one.board) == (other.process, other.board)
        && one.at < other.at + other.length
        && other.at < one.at + one.length
}
