//! Distributions around a mean: for message sizes and inter-arrival times (petrini2003 s5.3: tags S
//! and T in the figures), and for operating system noise on a processor ([`crate::noise`]).

use derive::choice;
use kernel::random::Stream;

/// How a positive quantity with a given mean varies.
#[choice]
pub enum Distribution {
    /// Always the mean.
    Fixed,
    /// Uniform between 0 and twice the mean.
    Uniform,
    /// Exponential.
    Exponential,
}

impl Distribution {
    /// Draws a value. Every distribution takes one draw, so that different experiments' streams
    /// stay comparable.
    #[inline]
    pub fn draw(self, mean: f64, stream: &mut Stream) -> f64 {
        match self {
            Distribution::Fixed => {
                stream.next_u64();
                mean
            }
            Distribution::Uniform => 2.0 * mean * stream.uniform_f64(),
            Distribution::Exponential => stream.exponential(mean),
        }
    }

    /// The same, rounded to an integer, at least 1.
    #[inline]
    pub fn draw_count(self, mean: u64, stream: &mut Stream) -> u64 {
        let drawn = self.draw(mean as f64, stream);
        // As `f64::round` does it, which is a library call.
        let whole = drawn as u64;
        let up = drawn - whole as f64 >= 0.5;
        whole.saturating_add(up.into()).max(1)
    }
}
