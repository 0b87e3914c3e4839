//! The reasons why a text is not the quantity that is needed.

use std::fmt;

/// Quantity kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A [`Time`](crate::Time).
    Time,
    /// A size: [`Bytes`](crate::Bytes).
    Size,
    /// A [`Rate`](crate::Rate).
    Rate,
    /// A count of [`Flits`](crate::Flits).
    Flits,
}

impl Quantity {
    /// A valid text for this quantity, for messages.
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

/// The error for a text that is not the needed quantity. The message quotes the text and lists the
/// allowed forms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// A number without a unit.
    #[error(
        "expected {needed} with its unit, such as {:?}; a bare number has no unit",
        needed.example()
    )]
    Bare {
        /// The needed quantity.
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
        /// The needed quantity.
        needed: Quantity,
    },
    /// A number below zero.
    #[error("`{text}` is negative; {needed} is zero or more")]
    Negative {
        /// The text.
        text: String,
        /// The needed quantity.
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
        /// The needed quantity.
        needed: Quantity,
        /// The unit that was probably meant.
        nearest: Option<&'static str>,
        /// The quantity's units, in ascending order.
        allowed: String,
    },
    /// A well-formed text for another quantity.
    #[error("`{text}` is {found}; {needed} is needed, such as {:?}", needed.example())]
    OtherQuantity {
        /// The text.
        text: String,
        /// The text's quantity.
        found: Quantity,
        /// The needed quantity.
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
        /// The needed quantity.
        needed: Quantity,
        /// The largest value, rounded down to a multiple of the largest unit.
        limit: &'static str,
    },
}

fn did_you_mean(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |unit| format!("; did you mean `{unit}`?"))
}
