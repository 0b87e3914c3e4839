//! Random numbers: one stream per component.
//!
//! A stream is a function of a seed and its owning component's path, such as `node.12/arrivals`.
//! Streams with different seeds or paths are independent: drawing more numbers in one place does
//! not affect others.
//!
//! The output is fixed permanently, on every machine. The generator is `ChaCha8` with counter and
//! nonce from zero, read as little-endian 64-bit words. Its key is, in 32 bytes, the seed
//! (little-endian), eight zero bytes, and the path's XXH3-128 hash (little-endian). The helpers
//! below are defined by formulas on these words rather than by a library that may improve its
//! algorithms, and use no function from the machine's own mathematical library. A test pins the
//! first draws.
//!
//! A run without a draw is the same for every seed. [`watch`] reports whether a run drew any
//! number, so that a comparison between two runs can identify differences that may be noise. The
//! report is per thread, like the memory in [`measure`](crate::memory::measure), since a run is one
//! thread's work.

use std::cell::Cell;
use std::ops::Range;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use xxhash_rust::xxh3::xxh3_128;

thread_local! {
    /// Whether this thread has drawn a number that depends on a run's seed.
    static DRAWN: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and returns whether it drew numbers that depend on a run's seed: from streams that
/// it made with [`Stream::new`], or reported by [`note_draw`]. Calls may be nested.
pub fn watch<R>(work: impl FnOnce() -> R) -> (R, bool) {
    /// Reports to an enclosing call, also if `work` panics.
    struct Outer(bool);
    impl Drop for Outer {
        fn drop(&mut self) {
            DRAWN.set(DRAWN.get() | self.0);
        }
    }
    let _outer = Outer(DRAWN.replace(false));
    let result = work();
    (result, DRAWN.get())
}

/// Reports to [`watch`] a draw that uses no stream, such as a hash over the seed.
pub fn note_draw() {
    DRAWN.set(true);
}

/// One component's random numbers. Not `Clone`: two owners would draw the same numbers.
#[derive(Debug)]
pub struct Stream {
    generator: ChaCha8Rng,
    /// Whether this stream has no draw left to report: after the first one.
    reported: bool,
}

impl Stream {
    /// The stream for the component at `path` in a run with this `seed`.
    #[must_use]
    pub fn new(seed: u64, path: &str) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[16..].copy_from_slice(&xxh3_128(path.as_bytes()).to_le_bytes());
        Self {
            generator: ChaCha8Rng::from_seed(key),
            reported: false,
        }
    }

    /// The stream for a `number` that is part of the configuration, such as a permutation's: its
    /// draws are the same for every run seed, and [`watch`] does not report them.
    #[must_use]
    pub fn fixed(number: u64, path: &str) -> Self {
        Self {
            reported: true,
            ..Self::new(number, path)
        }
    }

    /// The next 64-bit word.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        if !self.reported {
            self.report();
        }
        self.generator.next_u64()
    }

    #[cold]
    fn report(&mut self) {
        self.reported = true;
        note_draw();
    }

    /// A number in `range`; all are equally likely. With words w and the range's length n, the
    /// number is the upper half of the 128-bit product w n; a w is skipped if the lower half is
    /// less than 2^64 mod n, which makes the draw exactly uniform.
    ///
    /// # Panics
    /// If the range is empty.
    #[inline]
    pub fn uniform_u64(&mut self, range: Range<u64>) -> u64 {
        assert!(
            range.start < range.end,
            "a draw from the empty range {range:?}"
        );
        let length = range.end - range.start;
        // 2^64 mod n; needed only where the lower half is less than n.
        let skipped = || length.wrapping_neg() % length;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(length);
            let low = product as u64;
            if low >= length || low >= skipped() {
                return range.start + (product >> 64) as u64;
            }
        }
    }

    /// A number in [0, 1): a word's upper 53 bits, over 2^53.
    #[inline]
    pub fn uniform_f64(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * STEP
    }

    /// A number from the exponential distribution with this mean: -mean ln(1 - u) for a
    /// [`uniform_f64`](Self::uniform_f64) u; at most 36.74 times the mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform_f64())
    }
}
