//! Sections of machine files as tables: for each parameter its key, what it says, its type and with it its unit, its
//! bounds, what it is where a file does not say, and where it goes.

use crate::check::Check;
use crate::param::Param;
use std::fmt::Display;
use std::ops::{RangeFrom, RangeInclusive};

/// Bounds of a parameter, which do not depend on others.
pub(crate) trait Bounds<T> {
    /// Reports a value outside.
    fn check(&self, key: &str, value: T, check: &mut Check<'_>);
}

/// Of what has a least and a greatest value.
impl<T: PartialOrd + Display + Copy> Bounds<T> for RangeInclusive<T> {
    fn check(&self, key: &str, value: T, check: &mut Check<'_>) {
        check.range(key, value, *self.start(), *self.end());
    }
}

/// Of what has a least value.
impl<T: PartialOrd + Display + Copy> Bounds<T> for RangeFrom<T> {
    fn check(&self, key: &str, value: T, check: &mut Check<'_>) {
        if value < self.start {
            let problem = check.at(key, format!("{value} is out of range"));
            let allowed = format!("at least {}", self.start);
            check.problems.push(problem.allowed(allowed));
        }
    }
}

/// A parameter that a file gives, or need not give.
pub(crate) trait Given {
    /// The type of its value.
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

/// A value, or its default; without one the file gives it.
macro_rules! value {
    ($parameter:expr) => {
        $parameter.value.clone()
    };
    ($parameter:expr, $default:expr) => {
        $crate::section::Given::given(&$parameter).unwrap_or($default)
    };
}

/// Defines a section: `KEY: TYPE, in BOUNDS => FIELD or DEFAULT;` for each parameter, where `FIELD` is that of the
/// simulator's structure that the section makes, if it makes one.
macro_rules! section {
    (
        $(#[$about:meta])*
        $name:ident = $section:literal $(=> $config:path)? {
            $($(#[$doc:meta])* $key:ident: $type:ty $(, in $bounds:expr)? $(=> $field:ident $(or $default:expr)?)?;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$doc])* pub $key: $type,)*
        }

        impl $name {
            /// Reports the parameters that are out of bounds.
            pub(crate) fn check(&self, check: &mut $crate::check::Check<'_>) {
                $($(if let Some(value) = $crate::section::Given::given(&self.$key) {
                    let key = concat!($section, ".", stringify!($key));
                    $crate::section::Bounds::check(&($bounds), key, value, check);
                })?)*
            }

            $crate::section::section! { @config self $(, $config)? {
                $($($field: $crate::section::value!(self.$key $(, $default)?),)?)*
            } }
        }
    };
    (@config $this:ident { }) => {};
    (@config $this:ident, $config:path { $($fields:tt)* }) => {
        /// In the simulator's terms.
        pub(crate) fn config(&$this) -> $config {
            $config { $($fields)* }
        }
    };
}

pub(crate) use {section, value};
