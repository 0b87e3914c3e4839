//! A count that stands still or grows by one in each cycle.

use crate::Cycle;
use bytemuck::Zeroable;

/// The count of flits that have passed a place by a certain cycle, as a straight line.
///
/// In the cycle in which a line starts or stops its value is the same before and after the change:
/// in that cycle reads and changes may come in any order.
///
/// Counts are below 2^32; the arithmetic is modulo 2^32 in every cycle. A line that is read may
/// have grown for less than 2^32 cycles: see [`WormMover::sweep`](super::WormMover::sweep).
#[derive(Clone, Copy, Debug, Zeroable)]
pub(super) struct Line {
    /// The count while it stands; the count at cycle 0 while it grows.
    offset: u32,
    /// All ones while it grows, else zero.
    slope: u32,
}

impl Line {
    pub const fn standing(count: u32) -> Self {
        Line {
            offset: count,
            slope: 0,
        }
    }

    pub fn at(self, now: Cycle) -> u32 {
        self.offset.wrapping_add(now as u32 & self.slope)
    }

    pub fn grows(self) -> bool {
        self.slope != 0
    }

    /// The count after `cycles` more cycles, for any number.
    pub fn after(self, now: Cycle, cycles: Cycle) -> u64 {
        let grown = if self.grows() { cycles } else { 0 };
        u64::from(self.at(now)) + grown
    }

    /// By how much the line will stay ahead of a count: its lead now if the line stands, no bound
    /// if it grows.
    pub fn lead(self, count: u32, now: Cycle) -> u32 {
        self.at(now).wrapping_sub(count) | self.slope
    }

    /// Lets the line grow from cycle `now` on: the count is one more at `now + 1`.
    pub fn start(&mut self, now: Cycle) {
        debug_assert!(!self.grows());
        self.offset = self.offset.wrapping_sub(now as u32);
        self.slope = u32::MAX;
    }

    /// Lets the line stand from cycle `now` on.
    pub fn stop(&mut self, now: Cycle) {
        debug_assert!(self.grows());
        self.offset = self.offset.wrapping_add(now as u32);
        self.slope = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_does_not_show_in_its_cycle() {
        // The second start is just before cycle 2^32.
        for begin in [10, (1 << 32) - 2] {
            let mut line = Line::standing(3);
            line.start(begin);
            let grown = [0, 1, 5].map(|cycles| line.at(begin + cycles));
            assert_eq!(grown, [3, 4, 8]);
            assert_eq!(line.lead(4, begin + 5), u32::MAX);
            line.stop(begin + 5);
            assert_eq!((line.at(begin + 5), line.at(begin + 1000)), (8, 8));
            assert_eq!(line.lead(4, begin + 1000), 4);
        }
    }
}
