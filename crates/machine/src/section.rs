//! Machine file sections as tables. For each parameter a table has its key, its description, its
//! type and thereby its unit, its bounds, its default where the file may omit it, and the
//! simulator's field that gets its value.

use crate::check::Check;
use crate::param::{Param, PerLevel};
use std::fmt::Display;
use std::ops::{RangeFrom, RangeInclusive};
use units::{Bytes, Flits, Time};

/// Longest plausible time for one step in an adapter, switch or bus; this bound keeps sums far from
/// overflow.
pub(crate) const LONGEST: Time = Time::from_secs(10);

/// Largest size, for the same reason.
pub(crate) const LARGEST: Bytes = Bytes::from_mb(1024);

/// A parameter's bounds, which do not depend on others.
pub(crate) trait Bounds<T> {
    /// Reports a value that is out of bounds.
    fn check(&self, key: &str, value: T, check: &mut Check<'_>);
}

/// Bounds with a least and a greatest value.
impl<T: PartialOrd + Display + Copy> Bounds<T> for RangeInclusive<T> {
    fn check(&self, key: &str, value: T, check: &mut Check<'_>) {
        check.range(key, value, self.clone());
    }
}

/// Bounds with a least value only.
impl<T: PartialOrd + Display + Copy> Bounds<T> for RangeFrom<T> {
    fn check(&self, key: &str, value: T, check: &mut Check<'_>) {
        if value < self.start {
            let found = check.at(key, format!("{value} is out of range"));
            found.allowed(format!("at least {}", self.start));
        }
    }
}

/// A parameter that a file must or may give.
pub(crate) trait Parameterised {
    /// The parameter's value type.
    type Value;

    /// The value, if it is given.
    fn given(&self) -> Option<Self::Value>;
}

impl<T: Clone> Parameterised for Param<T> {
    type Value = T;

    fn given(&self) -> Option<T> {
        Some(self.value.clone())
    }
}

impl<T: Clone> Parameterised for Option<Param<T>> {
    type Value = T;

    fn given(&self) -> Option<T> {
        self.as_ref().map(|parameter| parameter.value.clone())
    }
}

/// A machine file section; [`derive::section`] implements it.
pub(crate) trait Section {
    /// Reports the parameters out of bounds, as far as the bounds do not depend on other
    /// parameters.
    fn check(&self, check: &mut Check<'_>);
}

impl<S: Section> Section for Option<S> {
    fn check(&self, check: &mut Check<'_>) {
        if let Some(section) = self {
            section.check(check);
        }
    }
}

/// The fabric's units: its cycle, and its link levels.
pub(crate) struct Scale {
    pub cycle: Time,
    pub levels: usize,
}

/// A value in the fabric's units: unchanged, or in cycles and flits.
pub(crate) trait Resolve<T> {
    fn resolve(self, scale: &Scale) -> T;
}

impl<T> Resolve<T> for T {
    fn resolve(self, _: &Scale) -> T {
        self
    }
}

impl Resolve<u64> for Time {
    fn resolve(self, scale: &Scale) -> u64 {
        self.div_ceil(scale.cycle)
    }
}

impl Resolve<u32> for Flits {
    fn resolve(self, _: &Scale) -> u32 {
        self.as_u32()
    }
}

impl Resolve<u64> for Flits {
    fn resolve(self, _: &Scale) -> u64 {
        self.as_u32().into()
    }
}

impl Resolve<Vec<u32>> for PerLevel {
    fn resolve(self, scale: &Scale) -> Vec<u32> {
        let delay = |level| self.level(level).expect("the machine has been checked");
        let cycles = |level| delay(level).div_ceil(scale.cycle) as u32;
        (0..scale.levels).map(cycles).collect()
    }
}
