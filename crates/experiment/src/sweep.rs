//! A field that is swept: one value, or a list of them.

use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// One value, or a list of values of which each is used in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Sweep<T> {
    /// The same for all points.
    One(T),
    /// Every one in turn.
    Many(Vec<T>),
}

impl<T> Sweep<T> {
    /// The values.
    pub fn values(&self) -> &[T] {
        match self {
            Sweep::One(value) => std::slice::from_ref(value),
            Sweep::Many(values) => values,
        }
    }

    /// The values with their paths, where the path of the field is `path`.
    pub(crate) fn places(&self, path: &str) -> impl Iterator<Item = (String, &T)> {
        let listed = matches!(self, Sweep::Many(_));
        let place = move |index| {
            if listed {
                format!("{path}.{index}")
            } else {
                path.to_string()
            }
        };
        self.values()
            .iter()
            .enumerate()
            .map(move |(index, value)| (place(index), value))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Sweep<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany(PhantomData))
    }
}

/// Hands a list to `Vec<T>` and anything else to `T`, so that the errors are those of `T` at their own places.
struct OneOrMany<T>(PhantomData<T>);

macro_rules! pass_on {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E: serde::de::Error>(self, value: $type) -> Result<Self::Value, E> {
            T::deserialize(value.into_deserializer()).map(Sweep::One)
        })*
    };
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
    type Value = Sweep<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value or a list of values")
    }

    pass_on!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str, visit_string: String);

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Sweep::Many)
    }
}
