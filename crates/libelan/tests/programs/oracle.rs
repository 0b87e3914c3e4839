//! What a program should do, with plain vectors.

use crate::common::{pattern, pid};
use crate::draw::{BOARDS, Program, Range, Step};
use crate::play::{Found, Note};
use std::collections::BTreeMap;

/// A message that was sent and not yet received.
struct Sent {
    tag: u64,
    bytes: Vec<u8>,
}

/// Checks whether the notes are possible.
pub fn check(program: &Program, notes: &[Note]) -> Result<(), String> {
    let processes = program.places.len();
    let mut boards: Vec<_> = (0..processes)
        .map(|_| BOARDS.map(|length| vec![0; length as usize]))
        .collect();
    let mut found = BTreeMap::new();
    for note in notes {
        let place = (note.phase, note.process, note.step);
        if found.insert(place, &note.found).is_some() {
            return Err(format!("{place:?} is noted twice"));
        }
    }
    let groups = program.groups();
    for (number, phase) in program.phases.iter().enumerate() {
        let mut calls = BTreeMap::new();
        let mut mail = BTreeMap::new();
        for (process, steps) in phase.steps.iter().enumerate() {
            for step in steps {
                if let Step::Send {
                    to,
                    tag,
                    length,
                    seed,
                    ..
                } = *step
                {
                    let bytes = pattern(seed >> 8, length);
                    let box_of: &mut Vec<Sent> = mail.entry((process as u32, to)).or_default();
                    box_of.push(Sent { tag, bytes });
                }
            }
        }
        for (process, steps) in phase.steps.iter().enumerate() {
            for (index, step) in steps.iter().enumerate() {
                let where_ = format!("phase {number}, process {process}, step {index}");
                let note = found.remove(&(number, process, index));
                match (*step, note) {
                    (Step::Receive { select, .. }, Some(Found::Message { sender, tag, bytes })) => {
                        if !select.takes(pid(*sender), *sender, *tag) {
                            return Err(format!("{where_}: {select} took {sender}, {tag}"));
                        }
                        let mail = mail.entry((*sender, process as u32)).or_default();
                        // The first message that this sender has sent and the receive takes.
                        let wanted = |sent: &Sent| select.takes(pid(*sender), *sender, sent.tag);
                        let Some(place) = mail.iter().position(wanted) else {
                            return Err(format!("{where_}: {sender} has sent nothing like it"));
                        };
                        let sent = mail.remove(place);
                        if (sent.tag, &sent.bytes) != (*tag, bytes) {
                            return Err(format!(
                                "{where_}: another message of {sender}, or other bytes"
                            ));
                        }
                    }
                    (Step::Get { from }, Some(Found::Bytes(bytes))) => {
                        let same = board(&mut boards, from) == bytes;
                        let wrong = || format!("{where_}: got other bytes than were there");
                        same.then_some(()).ok_or_else(wrong)?;
                    }
                    (Step::Collective(call), Some(Found::Collective(outcome))) => {
                        let (_, outcomes) = calls
                            .entry(call.serial)
                            .or_insert_with(|| (call, BTreeMap::new()));
                        outcomes.insert(process as u32, outcome);
                    }
                    (Step::Receive { .. } | Step::Get { .. } | Step::Collective(_), _) => {
                        return Err(format!("{where_}: nothing came of it"));
                    }
                    _ => {}
                }
            }
        }
        for (call, outcomes) in calls.values() {
            let outcome = |member| *outcomes.get(member).expect("each member makes the call");
            let outcomes: Vec<_> = groups[call.group].iter().map(outcome).collect();
            let checked = call.check(&outcomes);
            checked.map_err(|wrong| format!("phase {number}, {call:?}: {wrong}"))?;
        }
        if mail.values().any(|mail| !mail.is_empty()) {
            return Err(format!("phase {number}: a message was not received"));
        }
        for step in phase.steps.iter().flatten() {
            if let Step::Put { to, seed } = *step {
                board(&mut boards, to).copy_from_slice(&pattern(seed >> 8, to.length));
            }
        }
    }
    for (process, expected) in boards.iter().enumerate() {
        let note = found.remove(&(program.phases.len(), process, 0));
        let Some(Found::Boards(boards)) = note else {
            return Err(format!("process {process} did not come to its end"));
        };
        if boards != expected {
            return Err(format!("the boards of process {process} differ"));
        }
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err("something was found that nobody looked for".to_string())
    }
}

/// The bytes of a range.
fn board(boards: &mut [[Vec<u8>; 2]], range: Range) -> &mut [u8] {
    let board = &mut boards[range.process as usize][range.board];
    &mut board[range.at as usize..(range.at + range.length) as usize]
}
