//! The turn of a process through the rails.

/// Whose turn it is: "the first free NIC just past the last one allocated in the previous transaction" (coll2003 s3).
#[derive(Clone, Copy, Debug)]
pub struct Turn(u32);

impl Turn {
    /// One that begins with a rail.
    pub fn starting_at(rail: u32) -> Self {
        Turn(rail)
    }

    /// Takes so many of some rails, which are in ascending order: those whose turn it is.
    pub fn take(&mut self, rails: &[u32], count: usize) -> Vec<u32> {
        let next = rails.partition_point(|&rail| rail < self.0);
        let in_turn = rails[next..].iter().chain(&rails[..next]);
        let taken: Vec<u32> = in_turn.copied().take(count).collect();
        if let Some(last) = taken.last() {
            self.0 = last + 1;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;

    #[test]
    fn every_rail_has_its_turn() {
        let mut turn = Turn::starting_at(2);
        let taken: Vec<_> = (0..5).flat_map(|_| turn.take(&[0, 1, 2, 3], 1)).collect();
        assert_eq!(taken, [2, 3, 0, 1, 2]);
    }

    #[test]
    fn rails_that_are_not_free_are_passed_over() {
        let mut turn = Turn::starting_at(0);
        assert_eq!(turn.take(&[1, 3], 1), [1]);
        assert_eq!(turn.take(&[0, 1, 3], 2), [3, 0]);
        assert_eq!(turn.take(&[0, 1], 5), [1, 0]);
        assert!(turn.take(&[], 1).is_empty());
        assert_eq!(turn.take(&[0, 1], 1), [1]);
    }
}
