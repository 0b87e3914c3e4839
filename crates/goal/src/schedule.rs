//! One rank's graph in memory, and its text.

use crate::Operation;
use std::fmt;

/// A rank's operations and their dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The operations; an operation's number is its place.
    pub operations: Vec<Operation>,
    /// Dependencies: the first operation starts when the second has ended, or has started if the
    /// flag is set.
    pub dependencies: Vec<(u32, u32, bool)>,
}

impl Schedule {
    /// Adds an operation; returns its number.
    pub fn add(&mut self, operation: Operation) -> u32 {
        self.operations.push(operation);
        self.operations.len() as u32 - 1
    }

    /// Lets an operation start only when another has ended (`requires`).
    pub fn requires(&mut self, later: u32, earlier: u32) {
        self.dependencies.push((later, earlier, false));
    }

    /// Lets an operation start only when another has started (`irequires`).
    pub fn irequires(&mut self, later: u32, earlier: u32) {
        self.dependencies.push((later, earlier, true));
    }
}

/// A rank's block without its head: the operations have the labels `l0`, `l1` and so on.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, operation) in self.operations.iter().enumerate() {
            write!(f, "l{number}: {operation}")?;
            if operation.region > 0 {
                write!(f, " //@ {}", operation.region)?;
            }
            writeln!(f)?;
        }
        for &(later, earlier, started) in &self.dependencies {
            let how = if started { "irequires" } else { "requires" };
            writeln!(f, "l{later} {how} l{earlier}")?;
        }
        Ok(())
    }
}

/// An operation on a dependency circle, if there is a circle. `degrees` holds each operation's
/// dependency count, and `visit` calls its second argument with every operation that depends on the
/// first.
pub(crate) fn circle(
    mut degrees: Vec<u32>,
    mut visit: impl FnMut(u32, &mut dyn FnMut(u32)),
) -> Option<u32> {
    let numbered = (0..).zip(&degrees);
    let free = numbered.filter(|&(_, &degree)| degree == 0);
    let mut free: Vec<u32> = free.map(|(operation, _)| operation).collect();
    while let Some(operation) = free.pop() {
        visit(operation, &mut |later| {
            let degree = &mut degrees[later as usize];
            *degree -= 1;
            if *degree == 0 {
                free.push(later);
            }
        });
    }
    let left = degrees.iter().position(|&degree| degree != 0)?;
    Some(left as u32)
}
