//! The traits of the text form: `FromStr`, `Display`, serde and JSON schema.

use std::fmt;

use crate::error::{Quantity, UnitError};

/// Implements the traits of the text form for a newtype, with the units of the scale.
macro_rules! text_form {
    ($name:ident, $scale:ident) => {
        impl std::str::FromStr for $name {
            type Err = crate::UnitError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                // `parse` bounds the value by the range of the type.
                crate::text::parse(text, &crate::scale::$scale).map(|value| Self(value as _))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                #[allow(clippy::useless_conversion)]
                crate::text::print(f, self.0.into(), &crate::scale::$scale)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let quantity = crate::scale::$scale.quantity;
                // "Any", so that the visitor sees a bare number and can say that it lacks a unit.
                deserializer.deserialize_any(crate::form::Text(quantity, std::marker::PhantomData))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": crate::scale::$scale.pattern(),
                    "description": crate::scale::$scale.description(),
                })
            }
        }
    };
}
pub(crate) use text_form;

/// Reads a quantity from a string, and says of a bare number that it lacks a unit.
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
