//! Random numbers, drawn from a seed.

use kernel::random::Stream;

/// Draws numbers.
pub struct Draw(Stream);

impl Draw {
    /// A seed's numbers, for a purpose.
    pub fn new(seed: u64, purpose: &str) -> Self {
        Draw(Stream::new(seed, purpose))
    }

    /// A number from 0 to before `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.uniform_u64(0..end)
    }

    /// True so often.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Any of the given values.
    pub fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for end in (1..values.len()).rev() {
            values.swap(end, self.below(end as u64 + 1) as usize);
        }
    }

    /// A length, mostly short.
    pub fn length(&mut self, short: bool) -> u64 {
        let most = self.one_of(&[1, SHORT, SHORT, 300, 400, 3000, 20_000]);
        self.below(most.min(if short { SHORT } else { u64::MAX }))
    }
}

/// Up to this length, a transfer is short.
const SHORT: u64 = 65;
