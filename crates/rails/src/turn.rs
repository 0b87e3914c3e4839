//! A process's turn through the rails.

use elan::Rail;
use std::cell::RefCell;
use std::rc::Rc;

/// A process's turn, for its generator and its policy.
pub type SharedTurn = Rc<RefCell<Turn>>;

/// The next rail: "the first free NIC just past the last one allocated in the previous transaction"
/// (coll2003 s3).
#[derive(Clone, Copy, Debug)]
pub struct Turn(Rail);

impl Turn {
    /// A turn that begins with a given rail.
    pub fn starting_at(rail: Rail) -> Self {
        Turn(rail)
    }

    /// Takes `count` rails, in ascending order, beginning with the rail that has the turn.
    pub fn take(&mut self, rails: &[Rail], count: usize) -> Vec<Rail> {
        let next = rails.partition_point(|&rail| rail < self.0);
        let in_turn = rails[next..].iter().chain(&rails[..next]);
        let taken: Vec<Rail> = in_turn.copied().take(count).collect();
        if let Some(last) = taken.last() {
            self.0 = Rail::new(last.get() + 1);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::{Rail, Turn};

    /// The rails that a turn takes from some.
    fn take(turn: &mut Turn, rails: &[u32], count: usize) -> Vec<u32> {
        let rails: Vec<Rail> = rails.iter().copied().map(Rail::new).collect();
        turn.take(&rails, count)
            .into_iter()
            .map(Rail::get)
            .collect()
    }

    #[test]
    fn every_rail_has_its_turn() {
        let mut turn = Turn::starting_at(Rail::new(2));
        let taken: Vec<_> = (0..5)
            .flat_map(|_| take(&mut turn, &[0, 1, 2, 3], 1))
            .collect();
        assert_eq!(taken, [2, 3, 0, 1, 2]);
    }

    #[test]
    fn rails_that_are_not_free_are_passed_over() {
        let mut turn = Turn::starting_at(Rail::new(0));
        assert_eq!(take(&mut turn, &[1, 3], 1), [1]);
        assert_eq!(take(&mut turn, &[0, 1, 3], 2), [3, 0]);
        assert_eq!(take(&mut turn, &[0, 1], 5), [1, 0]);
        assert!(take(&mut turn, &[], 1).is_empty());
        assert_eq!(take(&mut turn, &[0, 1], 1), [1]);
    }
}
