//! A count that stands still or grows by one in each cycle: what a constant rate makes of time.

use crate::Cycle;

/// The number of flits that have passed a place by a certain cycle, as a straight line.
///
/// The value of a line in the cycle in which it starts or stops is the same before and after: in that cycle the order of
/// those who read and those who change does not matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// The count while it stands; the count at cycle 0, modulo 2^64, while it grows.
    offset: u64,
    /// All ones while it grows, else zero.
    slope: u64,
}

impl Line {
    pub const fn standing(count: u64) -> Self {
        Line {
            offset: count,
            slope: 0,
        }
    }

    pub fn at(self, now: Cycle) -> u64 {
        self.offset.wrapping_add(now & self.slope)
    }

    pub fn grows(self) -> bool {
        self.slope != 0
    }

    /// Grows from cycle `now` on: one more at `now + 1`.
    pub fn start(&mut self, now: Cycle) {
        debug_assert!(!self.grows());
        self.offset = self.offset.wrapping_sub(now);
        self.slope = u64::MAX;
    }

    /// Stands from cycle `now` on.
    pub fn stop(&mut self, now: Cycle) {
        debug_assert!(self.grows());
        self.offset = self.offset.wrapping_add(now);
        self.slope = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_does_not_show_in_its_cycle() {
        let mut line = Line::standing(3);
        line.start(10);
        assert_eq!((line.at(10), line.at(11), line.at(15)), (3, 4, 8));
        line.stop(15);
        assert_eq!((line.at(15), line.at(1000)), (8, 8));
    }
}
