//! The text form of all quantities: one parser, one printer, one table of units per quantity.
//!
//! Both directions use integers only. `17.05 us` is 17 us and, digit by digit from the last,
//! 5/100 us and 0/10 us, where each division must leave no remainder.

use std::fmt;

use crate::error::{Quantity, UnitError};

/// A unit: how it is written and how many of the smallest unit it is.
pub(crate) struct Unit {
    pub symbol: &'static str,
    pub size: u64,
    /// Other accepted symbols.
    pub also: &'static [&'static str],
    /// Spellings that are not accepted but understood well enough to name the right one.
    pub hints: &'static [&'static str],
}

/// The units of a quantity.
pub(crate) struct Scale {
    pub quantity: Quantity,
    /// In ascending order; the first has size 1.
    pub units: &'static [Unit],
    /// The smallest unit, spelled out in the plural.
    pub smallest: &'static str,
    /// The largest value.
    pub max: u64,
    /// `max` for people.
    pub limit: &'static str,
}

const fn unit(
    symbol: &'static str,
    size: u64,
    also: &'static [&'static str],
    hints: &'static [&'static str],
) -> Unit {
    Unit {
        symbol,
        size,
        also,
        hints,
    }
}

pub(crate) const TIME: Scale = Scale {
    quantity: Quantity::Time,
    units: &[
        unit("ps", 1, &[], &["picosecond", "psec"]),
        unit("ns", 1_000, &[], &["nanosecond", "nsec"]),
        // MICRO SIGN and GREEK SMALL LETTER MU look alike; keyboards produce either.
        unit(
            "us",
            1_000_000,
            &["\u{b5}s", "\u{3bc}s"],
            &["microsecond", "usec"],
        ),
        unit("ms", 1_000_000_000, &[], &["millisecond", "msec"]),
        unit("s", 1_000_000_000_000, &[], &["second", "sec"]),
    ],
    smallest: "picoseconds",
    max: u64::MAX,
    limit: "18446744 s",
};

pub(crate) const SIZE: Scale = Scale {
    quantity: Quantity::Size,
    units: &[
        unit("B", 1, &[], &["byte"]),
        unit("KB", 1 << 10, &["KiB"], &["K", "kilobyte"]),
        unit("MB", 1 << 20, &["MiB"], &["M", "megabyte"]),
        unit("GB", 1 << 30, &["GiB"], &["G", "gigabyte"]),
    ],
    smallest: "bytes",
    max: u64::MAX,
    limit: "17179869183 GB",
};

pub(crate) const RATE: Scale = Scale {
    quantity: Quantity::Rate,
    units: &[
        unit("B/s", 1, &[], &["Bps"]),
        unit("KB/s", 1_000, &[], &["KBps", "KiB/s"]),
        unit("MB/s", 1_000_000, &[], &["MBps", "MiB/s"]),
        unit("GB/s", 1_000_000_000, &[], &["GBps", "GiB/s"]),
    ],
    smallest: "bytes per second",
    max: u64::MAX,
    limit: "18446744073 GB/s",
};

pub(crate) const FLITS: Scale = Scale {
    quantity: Quantity::Flits,
    units: &[unit("flits", 1, &["flit"], &[])],
    smallest: "flits",
    max: u32::MAX as u64,
    limit: "4294967295 flits",
};

const SCALES: [&Scale; 4] = [&TIME, &SIZE, &RATE, &FLITS];

impl Scale {
    fn find(&self, symbol: &str) -> Option<&'static Unit> {
        self.units
            .iter()
            .find(|unit| unit.symbol == symbol || unit.also.contains(&symbol))
    }

    /// The unit that was probably meant by `word`: the same but for case, a spelled-out name, or
    /// a single slip of the keyboard.
    fn nearest(&self, word: &str) -> Option<&'static str> {
        let known = |unit: &&Unit| {
            let singular = word.strip_suffix('s').unwrap_or(word);
            unit.symbol.eq_ignore_ascii_case(word)
                || unit.also.iter().any(|name| name.eq_ignore_ascii_case(word))
                || unit.hints.iter().any(|name| {
                    name.eq_ignore_ascii_case(word) || name.eq_ignore_ascii_case(singular)
                })
        };
        let slip = |unit: &&Unit| strsim::damerau_levenshtein(unit.symbol, word) == 1;
        let units = self.units.iter();
        // A slip in a unit of one letter could be any word of two.
        let slip = || {
            units
                .clone()
                .find(|unit| unit.symbol.len() > 1 && slip(unit))
        };
        units
            .clone()
            .find(known)
            .or_else(slip)
            .map(|unit| unit.symbol)
    }

    fn symbols(&self) -> String {
        let symbols: Vec<_> = self.units.iter().map(|unit| unit.symbol).collect();
        match symbols.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => symbols.concat(),
        }
    }

    /// A regular expression of all valid texts, for the JSON schema.
    pub fn pattern(&self) -> String {
        let symbols: Vec<_> = self
            .units
            .iter()
            .flat_map(|unit| [unit.symbol].into_iter().chain(unit.also.iter().copied()))
            .collect();
        format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({})\s*$", symbols.join("|"))
    }

    /// What a valid text is, in words.
    pub fn description(&self) -> String {
        let Self { quantity, .. } = self;
        let symbols = self.symbols();
        let example = quantity.example();
        format!(
            "{quantity} in {symbols}, such as \"{example}\"; a whole number of {}",
            self.smallest
        )
    }
}

/// Parses `text` to a number of the smallest unit of `scale`.
pub(crate) fn parse(text: &str, scale: &Scale) -> Result<u64, UnitError> {
    let needed = scale.quantity;
    let trimmed = text.trim();
    let quoted = || trimmed.to_owned();
    if trimmed.starts_with(['-', '\u{2212}']) {
        return Err(UnitError::Negative {
            text: quoted(),
            needed,
        });
    }
    let (whole, rest) = digits(trimmed);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => ("0", rest),
    };
    let symbol = rest.trim_start();
    // An exponent, a second point or a group separator would otherwise be read as a unit.
    let garbled = symbol.starts_with(|c: char| !c.is_alphabetic())
        || symbol.contains(|c: char| c.is_ascii_digit());
    if whole.is_empty() || fraction.is_empty() || garbled {
        return Err(UnitError::NotANumber {
            text: quoted(),
            needed,
        });
    }
    if symbol.is_empty() {
        return Err(UnitError::Bare { needed });
    }
    let Some(unit) = scale.find(symbol) else {
        return Err(wrong_unit(trimmed, symbol, scale));
    };
    let fraction = fraction_of(fraction, unit.size).ok_or_else(|| UnitError::TooFine {
        text: quoted(),
        smallest: scale.smallest,
    })?;
    whole
        .bytes()
        .try_fold(0_u64, |sum, digit| {
            sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })
        .and_then(|whole| whole.checked_mul(unit.size)?.checked_add(fraction))
        .filter(|&value| value <= scale.max)
        .ok_or_else(|| UnitError::TooLarge {
            text: quoted(),
            needed,
            limit: scale.limit,
        })
}

/// Splits the leading ASCII digits off `text`.
fn digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at(end)
}

/// `0.<digits>` of `size`; `None` if that is no integer.
fn fraction_of(digits: &str, size: u64) -> Option<u64> {
    digits.bytes().rev().try_fold(0, |tail, digit| {
        // `tail` is below `size`, at most 10^12: no overflow.
        let sum = u64::from(digit - b'0') * size + tail;
        sum.is_multiple_of(10).then_some(sum / 10)
    })
}

fn wrong_unit(text: &str, symbol: &str, scale: &Scale) -> UnitError {
    let text = text.to_owned();
    let needed = scale.quantity;
    match SCALES.iter().find(|other| other.find(symbol).is_some()) {
        Some(other) => UnitError::OtherQuantity {
            text,
            found: other.quantity,
            needed,
        },
        None => UnitError::UnknownUnit {
            text,
            unit: symbol.to_owned(),
            needed,
            nearest: scale.nearest(symbol),
            allowed: scale.symbols(),
        },
    }
}

/// Prints `value` in the largest unit in which it needs at most three decimals.
pub(crate) fn print(f: &mut fmt::Formatter<'_>, value: u64, scale: &Scale) -> fmt::Result {
    if value == 1 && scale.quantity == Quantity::Flits {
        return f.pad("1 flit");
    }
    let fits = |unit: &&Unit| {
        let thousandths = u128::from(value % unit.size) * 1000;
        unit.size == 1 || (value >= unit.size && thousandths.is_multiple_of(u128::from(unit.size)))
    };
    let unit = scale
        .units
        .iter()
        .rev()
        .find(fits)
        .expect("the smallest unit fits");
    let whole = value / unit.size;
    let thousandths = u128::from(value % unit.size) * 1000 / u128::from(unit.size);
    let fraction = if thousandths == 0 {
        String::new()
    } else {
        format!(".{thousandths:03}")
    };
    f.pad(&format!(
        "{whole}{} {}",
        fraction.trim_end_matches('0'),
        unit.symbol
    ))
}

/// Gives a quantity its text form: `FromStr`, `Display`, serde and JSON schema.
macro_rules! text_form {
    ($name:ident, $scale:ident) => {
        impl std::str::FromStr for $name {
            type Err = crate::UnitError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                // `parse` bounds the value by the range of the type.
                crate::text::parse(text, &crate::text::$scale).map(|value| Self(value as _))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                #[allow(clippy::useless_conversion)]
                crate::text::print(f, self.0.into(), &crate::text::$scale)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let quantity = crate::text::$scale.quantity;
                deserializer.deserialize_str(crate::text::Text(quantity, std::marker::PhantomData))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": crate::text::$scale.pattern(),
                    "description": crate::text::$scale.description(),
                })
            }
        }
    };
}
pub(crate) use text_form;

/// Reads a quantity from a string, and says of a bare number what it lacks.
pub(crate) struct Text<T>(pub Quantity, pub std::marker::PhantomData<T>);

impl<T: std::str::FromStr<Err = UnitError>> serde::de::Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} with its unit, such as {:?}",
            self.0,
            self.0.example()
        )
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<T, E> {
        Err(E::custom(UnitError::Bare { needed: self.0 }))
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<T, E> {
        Err(E::custom(UnitError::Bare { needed: self.0 }))
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<T, E> {
        Err(E::custom(UnitError::Bare { needed: self.0 }))
    }
}
