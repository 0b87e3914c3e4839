//! Noise as written in machine files, and its meaning to the simulator.
//!
//! ```toml
//! [noise.tick]
//! cpu = { value = "all", source = "..." }
//! interval = { value = "1 ms", source = "..." }
//! duration = { value = "2 us", source = "..." }
//! durations = { value = "exponential", source = "..." }
//! ```
//!
//! A time may also be a list of counted times, each with its count:
//! `[["1.5 us", 120], ["9 us", 3]]`. `elanite noise` writes such sections. [`elan::noise`]
//! describes how they take effect.

use crate::param::{OneOrList, Param};
use derive::table;
use elan::Distribution;
use elan::noise::{NoiseSource, Spread};
use schemars::JsonSchema;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use units::Time;

/// One cause of noise: detours from a process's computation, such as timer ticks.
#[table]
#[schemars(rename = "Noise")]
pub struct NoiseCause {
    /// The processors that the cause stops on every node: "all", or the number of one processor,
    /// from 0.
    pub cpu: Param<Processors>,
    /// The time from one detour's start to the next: the mean, or a list of counted times.
    pub interval: Param<MeanOrCounts>,
    /// How intervals vary around their mean; fixed if not given. Counted times have their own
    /// distribution.
    pub intervals: Option<Param<Distribution>>,
    /// A detour's duration: the mean, or a list of counted times.
    pub duration: Param<MeanOrCounts>,
    /// How durations vary around their mean, in the same way.
    pub durations: Option<Param<Distribution>>,
}

/// The processors that a cause of noise stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", inline)]
pub enum Processors {
    /// All processors, each at its own moments.
    All,
    /// The processor with this number.
    One(u32),
}

impl Serialize for Processors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Processors::All => serializer.serialize_str("all"),
            Processors::One(cpu) => serializer.serialize_u32(*cpu),
        }
    }
}

impl<'de> Deserialize<'de> for Processors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AllOrOne;
        impl Visitor<'_> for AllOrOne {
            type Value = Processors;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"all\", or the number of a processor, from 0")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Processors, E> {
                match text {
                    "all" => Ok(Processors::All),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Processors, E> {
                let cpu = u32::try_from(number);
                cpu.map(Processors::One)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(number), &self))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Processors, E> {
                self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }
        deserializer.deserialize_any(AllOrOne)
    }
}

/// A mean, or times that were counted, each with how often it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum MeanOrCounts {
    /// The mean.
    Mean(Time),
    /// Times and counts.
    Counts(Vec<(Time, u64)>),
}

/// An element in such a list.
#[derive(Deserialize)]
#[serde(expecting = "a time and how often it was seen, such as [\"35 ns\", 2]")]
struct Count(Time, u64);

impl<'de> Deserialize<'de> for MeanOrCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrList {
            expected: "a time with its unit, such as \"35 ns\", or a list of times with counts, \
                such as [[\"35 ns\", 2]]",
            one: MeanOrCounts::Mean,
            list: |counts: Vec<Count>| {
                let counts = counts.into_iter().map(|Count(time, count)| (time, count));
                MeanOrCounts::Counts(counts.collect())
            },
        })
    }
}

impl MeanOrCounts {
    /// The times with the distribution that a mean has.
    pub(crate) fn spread(&self, distribution: Option<&Param<Distribution>>) -> Spread {
        let distribution = distribution.map_or(Distribution::Fixed, |given| given.value);
        match self {
            MeanOrCounts::Counts(times) => Spread::Counted(times.as_slice().into()),
            MeanOrCounts::Mean(mean) => Spread::Mean(*mean, distribution),
        }
    }
}

impl NoiseCause {
    /// The times as the simulator needs them.
    pub(crate) fn source(&self, name: &str) -> NoiseSource {
        NoiseSource {
            name: name.to_string(),
            cpu: match self.cpu.value {
                Processors::All => None,
                Processors::One(cpu) => Some(cpu),
            },
            interval: self.interval.value.spread(self.intervals.as_ref()),
            duration: self.duration.value.spread(self.durations.as_ref()),
        }
    }
}
