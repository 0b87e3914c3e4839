//! The reasons why a text is not the quantity that is needed.

use std::fmt;

/// The kinds of quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A [`Time`](crate::Time).
    Time,
    /// A size: [`Bytes`](crate::Bytes).
    Size,
    /// A [`Rate`](crate::Rate).
    Rate,
    /// A number of [`Flits`](crate::Flits).
    Flits,
}

impl Quantity {
    /// A valid text of this quantity, for messages.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::Time => "35 ns",
            Self::Size => "256 KB",
            Self::Rate => "400 MB/s",
            Self::Flits => "128 flits",
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "a time",
            Self::Size => "a size",
            Self::Rate => "a rate",
            Self::Flits => "a number of flits",
        })
    }
}

/// The error of a text that is not the quantity that is needed. The message quotes the text and
/// says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// A number without a unit.
    #[error(
        "expected {needed} with its unit, such as {:?}; a bare number has no unit",
        needed.example()
    )]
    Bare {
        /// What is needed.
        needed: Quantity,
    },
    /// The text does not begin with a plain decimal number.
    #[error(
        "`{text}` is not {needed}: write a decimal number and its unit, such as {:?}",
        needed.example()
    )]
    NotANumber {
        /// The text.
        text: String,
        /// What is needed.
        needed: Quantity,
    },
    /// A number below zero.
    #[error("`{text}` is negative; {needed} is zero or more")]
    Negative {
        /// The text.
        text: String,
        /// What is needed.
        needed: Quantity,
    },
    /// A unit that no quantity has.
    #[error(
        "unknown unit `{unit}` in `{text}`; {needed} is in {allowed}{}",
        did_you_mean(*nearest)
    )]
    UnknownUnit {
        /// The text.
        text: String,
        /// The unit as written.
        unit: String,
        /// What is needed.
        needed: Quantity,
        /// The unit that was probably meant.
        nearest: Option<&'static str>,
        /// The units of the quantity, in ascending order.
        allowed: String,
    },
    /// A well-formed text of another quantity.
    #[error("`{text}` is {found}; {needed} is needed, such as {:?}", needed.example())]
    OtherQuantity {
        /// The text.
        text: String,
        /// What the text is.
        found: Quantity,
        /// What is needed.
        needed: Quantity,
    },
    /// Finer than the smallest unit.
    #[error("`{text}` is not a whole number of {smallest}")]
    TooFine {
        /// The text.
        text: String,
        /// The smallest unit, spelled out in the plural.
        smallest: &'static str,
    },
    /// Beyond the range of the integer that holds the quantity.
    #[error("`{text}` is too large; {needed} is at most {limit}")]
    TooLarge {
        /// The text.
        text: String,
        /// What is needed.
        needed: Quantity,
        /// The largest value, rounded down to a whole number of the largest unit.
        limit: &'static str,
    },
}

fn did_you_mean(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |unit| format!("; did you mean `{unit}`?"))
}
