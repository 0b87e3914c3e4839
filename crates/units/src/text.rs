//! The text form of all quantities: one parser and one printer.
//!
//! Both directions use integers only. `17.05 us` is 17 us and, digit by digit from the last,
//! 5/100 us and 0/10 us, where each division must leave no remainder.

use std::fmt;

use crate::error::{Quantity, UnitError};
use crate::scale::{SCALES, Scale, Unit};

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

/// `0.<digits>` times `size`; `None` if the product is not an integer.
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
