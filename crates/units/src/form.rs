//! How serde reads the text form; [`derive::Quantity`] implements its traits.

use std::fmt;

use crate::error::{Quantity, UnitError};

/// Reads a quantity from a string, and reports a bare number as lacking a unit.
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
