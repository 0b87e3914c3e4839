//! What a collective operation may say.

use super::{Check, MOST_NODES};
use crate::file::{CollectiveGrid, Run};

/// Most groups at a time: each keeps a heap of the library in the memory of every adapter.
const MOST_GROUPS: u32 = 16;

impl Check<'_> {
    /// A collective operation, as `run` runs it.
    pub(super) fn collective(&mut self, path: &str, grid: &CollectiveGrid, run: &Run) {
        self.lists(path, grid);
        self.nodes(&format!("{path}.nodes"), &grid.nodes);
        self.repeats(path, &grid.repeats);
        self.batches_of(path, grid, run);
        self.broadcast(path, grid);
        self.groups(path, grid);
        if let Some(compute) = &grid.compute {
            self.compute(path, compute);
        }
        if let Some(message) = &grid.message {
            self.largest_message(path, message);
        }
    }

    /// Every batch needs a call.
    fn batches_of(&mut self, path: &str, grid: &CollectiveGrid, run: &Run) {
        for (place, &repeats) in grid.repeats.places(&format!("{path}.repeats")) {
            if (1..run.batches).contains(&repeats) {
                let batches = run.batches;
                let message = format!("{repeats} calls are too few for {batches} batches");
                let problem = self.document.problem(&place, message);
                let problem = problem.allowed(format!("at least {batches} for so many"));
                self.problems
                    .push(problem.hint("or fewer `batches` in a `run` of the series"));
            }
        }
    }

    /// What a broadcast needs, a barrier has no use for.
    fn broadcast(&mut self, path: &str, grid: &CollectiveGrid) {
        let of_kind = |broadcast: bool| {
            let mut operations = grid.operation.values().iter();
            operations.find(|operation| operation.is_broadcast() == broadcast)
        };
        let given = [
            ("memory", grid.memory.is_some(), "\"elan\" or \"main\""),
            (
                "message",
                grid.message.is_some(),
                "a size such as \"64 KB\"",
            ),
        ];
        for (key, given, allowed) in given {
            if let (Some(operation), false) = (of_kind(true), given) {
                let message = format!("{} needs `{key}`", operation.name());
                let problem = self.document.problem(path, message);
                self.problems
                    .push(problem.hint(format!("write {key} = ..., {allowed}")));
            }
            if let (Some(operation), true) = (of_kind(false), given) {
                let name = operation.name();
                let message = format!(
                    "{name} is a {}, which has no use for `{key}`",
                    operation.kind()
                );
                let problem = self.document.problem(&format!("{path}.{key}"), message);
                self.problems.push(problem.hint(match of_kind(true) {
                    Some(_) => "give barriers and broadcasts a series each",
                    None => "leave it out",
                }));
            }
        }
    }

    fn groups(&mut self, path: &str, grid: &CollectiveGrid) {
        let Some(groups) = &grid.groups else {
            return;
        };
        let few = grid.nodes.values().iter().filter(|nodes| {
            let countable = nodes.highest().is_none_or(|highest| highest < MOST_NODES);
            countable && !nodes.numbers().is_empty()
        });
        let few = few.map(|nodes| nodes.numbers().len()).min();
        for (place, &groups) in groups.places(&format!("{path}.groups")) {
            if !(1..=MOST_GROUPS).contains(&groups) {
                let message = format!("{groups} is out of range");
                self.add(&place, message, format!("1 to {MOST_GROUPS}"));
            } else if let Some(few) = few.filter(|&few| groups as usize > few) {
                let message = format!("{few} nodes have no roots for {groups} groups");
                self.add(&place, message, "no more groups than nodes");
            }
        }
    }
}
