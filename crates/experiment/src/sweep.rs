//! Fields that are swept: one value, or a list of values; and tables of such fields, each of which stands for the Cartesian
//! product of its lists.

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
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

    /// The values, to be changed.
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        match self {
            Sweep::One(value) => std::slice::from_mut(value),
            Sweep::Many(values) => values,
        }
    }

    /// The values with their paths; `path` is the path of the field.
    pub(crate) fn places(&self, path: &str) -> impl Iterator<Item = (String, &T)> {
        let values = self.values().iter().enumerate();
        values.map(move |(index, value)| (self.place(path, index), value))
    }

    /// The path of a value.
    pub(crate) fn place(&self, path: &str, index: usize) -> String {
        match self {
            Sweep::One(_) => path.to_string(),
            Sweep::Many(_) => format!("{path}.{index}"),
        }
    }
}

/// A table whose fields are swept.
pub trait Grid {
    /// The same table with one value for each field.
    type Point;

    /// The fields that the table has, and how many values each has.
    fn lengths(&self) -> Vec<(&'static str, usize)>;

    /// All combinations of values, the first field slowest.
    fn points(&self) -> Vec<Self::Point>;

    /// How many combinations there are.
    fn combinations(&self) -> u64 {
        let lengths = self.lengths().into_iter();
        lengths.fold(1, |product: u64, (_, values)| {
            product.saturating_mul(values as u64)
        })
    }
}

/// Defines a table of swept fields, some of which may be left out: `GRID => POINT`, where `POINT` is a table of one combination
/// of their values; `GRID, POINT` defines `POINT`, too.
macro_rules! grid {
    (
        $(#[$about:meta])*
        $grid:ident, $point:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty,)*
        }
        optional {
            $($(#[$optional_doc:meta])* $optional:ident: $optional_type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $point {
            $($(#[$doc])* pub $field: $type,)*
            $(
                $(#[$optional_doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $optional: Option<$optional_type>,
            )*
        }

        grid! {
            $(#[$about])*
            $grid => $point {
                $($(#[$doc])* $field: $type,)*
            }
            optional {
                $($(#[$optional_doc])* $optional: $optional_type,)*
            }
        }
    };
    (
        $(#[$about:meta])*
        $grid:ident => $point:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty,)*
        }
        optional {
            $($(#[$optional_doc:meta])* $optional:ident: $optional_type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $grid {
            $($(#[$doc])* pub $field: Sweep<$type>,)*
            $(
                $(#[$optional_doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $optional: Option<Sweep<$optional_type>>,
            )*
        }

        impl Grid for $grid {
            type Point = $point;

            fn lengths(&self) -> Vec<(&'static str, usize)> {
                let required = [$((stringify!($field), self.$field.values().len()),)*];
                let optional: &[(&str, Option<usize>)] = &[$((
                    stringify!($optional),
                    self.$optional.as_ref().map(|sweep| sweep.values().len()),
                ),)*];
                let optional = optional.iter().filter_map(|&(key, length)| Some((key, length?)));
                required.into_iter().chain(optional).collect()
            }

            fn points(&self) -> Vec<$point> {
                $(
                    let $optional: Vec<Option<$optional_type>> = match &self.$optional {
                        Some(sweep) => sweep.values().iter().cloned().map(Some).collect(),
                        None => vec![None],
                    };
                )*
                let product = itertools::iproduct!(
                    $(self.$field.values().iter().cloned(),)*
                    $($optional,)*
                );
                product
                    .map(|($($field,)* $($optional,)*)| $point { $($field,)* $($optional,)* })
                    .collect()
            }
        }
    };
}
pub(crate) use grid;

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

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Sweep::One)
    }
}
