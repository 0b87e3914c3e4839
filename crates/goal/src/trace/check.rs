//! The checks of a trace before it is returned: every number and offset in the binary form, and
//! dependency circles.
//!
//! A text is checked twice: block by block while it is translated, so that errors name its lines,
//! and as a binary file then.

use super::{Edge, Part, Trace};
use crate::binary::{BASE, HEAD, NODE, long, word};
use crate::notes::{MARK, MOST};
use crate::scan::ScanError;
use crate::schedule::circle;
use crate::text::Block;
use crate::{ANY, Kind, Operation, Schedule, TracePlace, TraceProblem};
use units::Time;

/// The longest computation: half of the latest moment in simulated time, so that sums of two have
/// room.
pub(super) const LONGEST: Time = Time::from_secs(100 * 24 * 3600);

/// The error for an atomic on something else than a word.
const WORDS: &str = "an atomic changes a word with 4 or 8 bytes";

/// The error for an operation on a circle.
const CIRCLE: &str =
    "it never starts, because its dependencies form a circle; take one of them out";

impl Trace {
    /// Reads the head and checks everything.
    pub(super) fn checked(mut self) -> Result<Trace, TraceProblem> {
        let mut head = [0; HEAD as usize];
        self.read(0, &mut head)?;
        let ranks = word(&head, 8);
        let length = self.pages.length();
        if ranks == 0 || (length - HEAD) / 16 < ranks.into() {
            let what = format!(
                "{ranks} ranks in {length} bytes: the file is truncated, or its head is damaged"
            );
            return Err(TraceProblem::new(&self.file, TracePlace::Offset(8), what));
        }
        for rank in 0..ranks {
            let part = self.part(rank)?;
            self.parts.push(part);
        }
        self.read_notes()?;
        for rank in 0..ranks {
            self.check(rank)?;
        }
        Ok(self)
    }

    /// Reads the notes behind the last block, if there are any.
    fn read_notes(&mut self) -> Result<(), TraceProblem> {
        let ends = self.parts.iter().map(|part| part.end).max();
        let at = ends.unwrap_or_default();
        let mut head = [0; 12];
        if at + 12 > self.pages.length() {
            return Ok(());
        }
        self.read(at, &mut head)?;
        if head[..8] != *MARK {
            return Ok(());
        }
        let wrong = |what: String| TraceProblem::new(&self.file, TracePlace::Offset(at), what);
        let length = word(&head, 8);
        if length > MOST || at + 12 + u64::from(length) > self.pages.length() {
            let what = format!("the notes have {length} bytes: the file is truncated or damaged");
            return Err(wrong(what));
        }
        let mut text = vec![0; length as usize];
        self.read(at + 12, &mut text)?;
        for note in String::from_utf8_lossy(&text).lines() {
            let read = self.notes.read(note);
            read.map_err(|what| TraceProblem::new(&self.file, TracePlace::Offset(at), what))?;
        }
        Ok(())
    }

    /// The place of a rank's block.
    fn part(&mut self, rank: u32) -> Result<Part, TraceProblem> {
        let at = HEAD + 16 * u64::from(rank);
        let mut place = [0; 16];
        self.read(at, &mut place)?;
        let [begin, end] = [0, 8].map(|place_at| long(&place, place_at).checked_add(BASE));
        let wrong = |what: String| TraceProblem::new(&self.file, TracePlace::Offset(at), what);
        let length = self.pages.length();
        let (begin, end) = match (begin, end) {
            (Some(begin), Some(end)) if begin >= HEAD && begin + 8 <= end && end <= length => {
                (begin, end)
            }
            _ => {
                return Err(wrong(format!(
                    "the block of rank {rank} does not lie within the {length} bytes of the file: \
                    it is truncated or damaged"
                )));
            }
        };
        let mut counts = [0; 8];
        self.read(begin, &mut counts)?;
        let (count, roots) = (word(&counts, 0), word(&counts, 4));
        let needed = 8 + 4 * u64::from(roots) + NODE * u64::from(count);
        if roots > count || needed > end - begin || count == u32::MAX {
            let what = format!(
                "rank {rank} has {count} operations, {roots} of them roots, in {} bytes: the block \
                is truncated or damaged",
                end - begin
            );
            return Err(TraceProblem::new(
                &self.file,
                TracePlace::Offset(begin),
                what,
            ));
        }
        let listed = (end - begin - needed) / 4;
        Ok(Part {
            begin,
            end,
            count,
            roots,
            listed: u32::try_from(listed).unwrap_or(u32::MAX),
            ..Part::default()
        })
    }

    /// Checks a rank's operations and their dependencies.
    fn check(&mut self, rank: u32) -> Result<(), TraceProblem> {
        let part = self.parts[rank as usize];
        let (ranks, count) = (self.ranks(), part.count);
        let mut degrees = vec![0_u32; count as usize];
        let mut waits = Vec::with_capacity(count as usize);
        let (mut longest, mut nic, mut later) = (0, 0, Vec::new());
        for number in 0..count {
            let node = self.node(rank, number)?;
            let operation = node.operation;
            let any = operation.kind.is_incoming();
            let what = match operation.kind {
                Kind::Calc if operation.size > LONGEST.as_ps() / 1000 => {
                    Some("a computation takes at most 100 days; the size is in nanoseconds".into())
                }
                Kind::Calc => None,
                _ if operation.peer >= ranks && !(any && operation.peer == ANY) => Some(format!(
                    "there is no such peer: ranks are 0 to {}",
                    ranks - 1
                )),
                kind if operation.tag == ANY && !any && kind.is_tagged() => {
                    let name = operation.kind.name();
                    Some(format!("a {name} has a tag, and not any"))
                }
                Kind::Atomic | Kind::Swap if ![4, 8].contains(&operation.size) => {
                    Some(WORDS.into())
                }
                _ => None,
            };
            if let Some(what) = what {
                // A text's lines are not known here yet, and a text has no such peers and tags.
                return Err(self.problem(rank, number, &what));
            }
            if operation.kind != Kind::Calc {
                longest = longest.max(operation.size);
                nic = nic.max(operation.nic);
            }
            if operation.kind.is_remote() || operation.kind == Kind::Active {
                let there = &mut self.parts[operation.peer as usize];
                there.longest = there.longest.max(operation.size);
                there.words |= matches!(operation.kind, Kind::Atomic | Kind::Swap);
            }
            waits.push(node.waits);
            later.clear();
            self.later(rank, &node, Edge::End, &mut later)?;
            self.later(rank, &node, Edge::Start, &mut later)?;
            for &operation in &later {
                degrees[operation as usize] = degrees[operation as usize].saturating_add(1);
            }
        }
        let part_of = &mut self.parts[rank as usize];
        part_of.longest = part_of.longest.max(longest);
        part_of.nic = nic;
        if let Some(number) =
            (0..count).find(|&number| degrees[number as usize] != waits[number as usize])
        {
            let what = format!(
                "it waits for {} others, and {} say that it waits for them: the file is damaged",
                waits[number as usize], degrees[number as usize]
            );
            return Err(self.problem(rank, number, &what));
        }
        let mut last = None;
        for place in 0..part.roots {
            let root = self.root(rank, place)?;
            if degrees[root as usize] != 0 || last.is_some_and(|last| last >= root) {
                let what = "it stands among the roots of its rank, and is no root or out of order: \
                    the file is damaged";
                return Err(self.problem(rank, root, what));
            }
            last = Some(root);
        }
        if degrees.iter().filter(|&&degree| degree == 0).count() != part.roots as usize {
            let what = format!("rank {rank} does not list all of its roots: the file is damaged");
            return Err(TraceProblem::new(
                &self.file,
                TracePlace::Offset(part.begin),
                what,
            ));
        }
        self.check_circle(rank, degrees)
    }

    fn check_circle(&mut self, rank: u32, degrees: Vec<u32>) -> Result<(), TraceProblem> {
        let mut failed = None;
        let mut later = Vec::new();
        let found = circle(degrees, |number, each| {
            later.clear();
            let read = self.node(rank, number).and_then(|node| {
                self.later(rank, &node, Edge::End, &mut later)?;
                self.later(rank, &node, Edge::Start, &mut later)
            });
            match read {
                Ok(()) => later.iter().copied().for_each(&mut *each),
                Err(problem) => failed = Some(problem),
            }
        });
        match (failed, found) {
            (Some(problem), _) => Err(problem),
            (None, Some(number)) => Err(self.problem(rank, number, CIRCLE)),
            (None, None) => Ok(()),
        }
    }
}

/// Checks the points for which the check of the binary form has no line.
pub(super) fn check_text(block: &Block) -> Result<(), ScanError> {
    let schedule = &block.schedule;
    let wrong = |number: usize, what: &str| {
        let operation = schedule.operations[number];
        let what = format!("rank {} (`{operation}`): {what}", block.rank);
        Err((TracePlace::Line(block.lines[number]), what))
    };
    let too_long = |operation: &Operation| {
        operation.kind == Kind::Calc && operation.size > LONGEST.as_ps() / 1000
    };
    if let Some(number) = schedule.operations.iter().position(too_long) {
        return wrong(
            number,
            "a computation takes at most 100 days; the size is in nanoseconds",
        );
    }
    let wordless = |operation: &Operation| {
        matches!(operation.kind, Kind::Atomic | Kind::Swap) && ![4, 8].contains(&operation.size)
    };
    if let Some(number) = schedule.operations.iter().position(wordless) {
        return wrong(number, WORDS);
    }
    let mut degrees = vec![0; schedule.operations.len()];
    for &(later, _, _) in &schedule.dependencies {
        degrees[later as usize] += 1;
    }
    if forwards(schedule) {
        return Ok(());
    }
    let mut lists = vec![Vec::new(); schedule.operations.len()];
    for &(later, earlier, _) in &schedule.dependencies {
        lists[earlier as usize].push(later);
    }
    let found = circle(degrees, |number, each| {
        lists[number as usize].iter().copied().for_each(each);
    });
    found.map_or(Ok(()), |number| wrong(number as usize, CIRCLE))
}

/// Whether all dependencies are on earlier operations, so that there is no circle.
fn forwards(schedule: &Schedule) -> bool {
    let mut dependencies = schedule.dependencies.iter();
    dependencies.all(|&(later, earlier, _)| later > earlier)
}
