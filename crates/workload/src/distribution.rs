//! Distributions of message sizes and inter-arrival times (petrini2003 s5.3: tags S and T of the figures).

use kernel::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a positive quantity with a given mean varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Always the mean.
    Fixed,
    /// Uniform between 0 and twice the mean.
    Uniform,
    /// Exponential.
    Exponential,
}

impl Distribution {
    /// Draws a value, rounded to an integer of at least 1. Every distribution takes one draw, so that streams of
    /// different experiments stay comparable.
    pub fn draw(self, mean: u64, stream: &mut Stream) -> u64 {
        let mean = mean as f64;
        let value = match self {
            Distribution::Fixed => {
                stream.uniform_f64();
                mean
            }
            Distribution::Uniform => 2.0 * mean * stream.uniform_f64(),
            Distribution::Exponential => stream.exponential(mean),
        };
        (value.round() as u64).max(1)
    }
}
