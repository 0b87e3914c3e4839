//! Sections of machine files as tables. For each parameter a table has its key, its description, its type and thereby its unit,
//! its bounds, its default where a file need not give it, and the field of the simulator that gets its value.

use crate::check::Check;
use crate::param::{Param, PerLevel};
use std::fmt::Display;
use std::ops::{RangeFrom, RangeInclusive};
use units::{Bytes, Flits, Time};

/// Longest plausible time of one step in an adapter, switch or bus; this bound keeps sums far from overflow.
pub(crate) const LONGEST: Time = Time::from_secs(10);

/// Largest size of anything, for the same reason.
pub(crate) const LARGEST: Bytes = Bytes::from_mb(1024);

/// Bounds of a parameter, which do not depend on others.
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
pub(crate) trait Given {
    /// The type of the parameter's value.
    type Value;

    /// The value, if it is given.
    fn given(&self) -> Option<Self::Value>;
}

impl<T: Clone> Given for Param<T> {
    type Value = T;

    fn given(&self) -> Option<T> {
        Some(self.value.clone())
    }
}

impl<T: Clone> Given for Option<Param<T>> {
    type Value = T;

    fn given(&self) -> Option<T> {
        self.as_ref().map(|parameter| parameter.value.clone())
    }
}

/// A section of a machine file.
pub(crate) trait Section {
    /// Reports the parameters that are out of those bounds which do not depend on other parameters.
    fn check(&self, _check: &mut Check<'_>) {}
}

impl<S: Section> Section for Option<S> {
    fn check(&self, check: &mut Check<'_>) {
        if let Some(section) = self {
            section.check(check);
        }
    }
}

/// The units of the fabric: its cycle, and the levels of its links.
pub(crate) struct Scale {
    pub cycle: Time,
    pub levels: usize,
}

/// A value in the terms of the fabric: unchanged, or in cycles and flits.
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

/// A value, or its default; a parameter without a default is always in the file.
macro_rules! value {
    ($parameter:expr) => {
        $parameter.value.clone()
    };
    ($parameter:expr, $default:expr) => {
        $crate::section::Given::given(&$parameter).unwrap_or($default)
    };
}

/// Defines a section: `KEY: TYPE, in BOUNDS => FIELD or DEFAULT;` for each parameter. `FIELD` is a field of the simulator's
/// structure that the section makes, if it makes one, or `[fabric.FIELD]`, a field of the fabric. The structure may have one
/// more field, `with FIELD: TYPE`, whose value comes from another section.
macro_rules! section {
    (
        $(#[$about:meta])*
        $name:ident = $section:literal $(=> $config:path $(: with $more:ident: $more_type:ty)?)? {
            $(
                $(#[$doc:meta])*
                $key:ident: $type:ty
                    $(, in $bounds:expr)? $(=> $field:ident $(or $default:expr)?)? $(=> [fabric.$of_fabric:ident])?;
            )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$doc])* pub $key: $type,)*
        }

        impl $crate::section::Section for $name {
            fn check(&self, check: &mut $crate::check::Check<'_>) {
                $($(if let Some(value) = $crate::section::Given::given(&self.$key) {
                    let key = concat!($section, ".", stringify!($key));
                    $crate::section::Bounds::check(&($bounds), key, value, check);
                })?)*
            }
        }

        impl $name {
            /// Sets those that are the fabric's.
            #[allow(dead_code, unused_variables)] // of sections without such
            pub(crate) fn set(&self, config: &mut fabric::Config, scale: &$crate::section::Scale) {
                $($(
                    config.$of_fabric = $crate::section::Resolve::resolve(self.$key.value.clone(), scale);
                )?)*
            }

            $crate::section::section! { @config self $(, $config $(, $more: $more_type)?)? {
                $($($field: $crate::section::value!(self.$key $(, $default)?),)?)*
            } }
        }
    };
    (@config $this:ident { }) => {};
    (@config $this:ident, $config:path $(, $more:ident: $more_type:ty)? { $($fields:tt)* }) => {
        /// In the simulator's terms.
        pub(crate) fn config(&$this $(, $more: $more_type)?) -> $config {
            $config { $($fields)* $($more,)? }
        }
    };
}

/// Defines the machine: one field for each section. Each section is checked.
macro_rules! sections {
    ($(#[$about:meta])* $machine:ident { $($(#[$doc:meta])* $name:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $machine {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl $machine {
            /// Reports the parameters of all sections that are out of bounds.
            pub(crate) fn check_bounds(&self, check: &mut $crate::check::Check<'_>) {
                $($crate::section::Section::check(&self.$name, check);)*
            }
        }
    };
}

pub(crate) use {section, sections, value};
