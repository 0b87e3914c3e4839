//! Swept fields: one value, or a list of values; and tables with such fields, each of which stands
//! for the Cartesian product of its lists.

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;
use std::marker::PhantomData;

/// One value, or a list of values, each used in turn.
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

    /// The values with their paths; `path` is the field's path.
    pub(crate) fn places(&self, path: &str) -> impl Iterator<Item = (String, &T)> {
        let values = self.values().iter().enumerate();
        values.map(move |(index, value)| (self.place(path, index), value))
    }

    /// A value's path.
    pub(crate) fn place(&self, path: &str, index: usize) -> String {
        match self {
            Sweep::One(_) => path.to_string(),
            Sweep::Many(_) => format!("{path}.{index}"),
        }
    }
}

/// A table with swept fields; [`derive::grid`] implements it.
pub trait Grid {
    /// The same table with one value for each field.
    type Point;

    /// The fields that the table has, by their columns' names, and how many values each has.
    fn lengths(&self) -> Vec<(String, usize)>;

    /// Keeps only one value of the field with this column, by its place in the list; other names
    /// are ignored.
    fn keep(&mut self, name: &str, index: usize);

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

/// A table's fields.
pub(crate) fn fields(table: &(impl Serialize + ?Sized)) -> Map<String, Value> {
    match json!(table) {
        Value::Object(fields) => fields,
        other => panic!("{other} is no table"),
    }
}

/// A field in a grid: swept, or swept if it is given.
pub(crate) trait Field {
    /// A point's field.
    type Value;

    /// Its value count, if it is given.
    fn length(&self) -> Option<usize>;

    /// Each point's field in turn; one point lacks the field if it is not given.
    fn each(&self) -> Vec<Self::Value>;

    /// Keeps only the list's value at this place.
    fn keep(&mut self, index: usize);
}

impl<T: Clone> Field for Sweep<T> {
    type Value = T;

    fn length(&self) -> Option<usize> {
        Some(self.values().len())
    }

    fn each(&self) -> Vec<T> {
        self.values().to_vec()
    }

    fn keep(&mut self, index: usize) {
        if let Sweep::Many(values) = self {
            let kept = values.swap_remove(index);
            *self = Sweep::One(kept);
        }
    }
}

impl<T: Clone> Field for Option<Sweep<T>> {
    type Value = Option<T>;

    fn length(&self) -> Option<usize> {
        self.as_ref()?.length()
    }

    fn each(&self) -> Vec<Option<T>> {
        match self {
            Some(sweep) => sweep.values().iter().cloned().map(Some).collect(),
            None => vec![None],
        }
    }

    fn keep(&mut self, index: usize) {
        if let Some(sweep) = self {
            sweep.keep(index);
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Sweep<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany(PhantomData))
    }
}

/// Hands a list to `Vec<T>` and anything else to `T`, so that the errors are those of `T` at their
/// own places.
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

    pass_on!(
        visit_bool: bool,
        visit_i64: i64,
        visit_u64: u64,
        visit_f64: f64,
        visit_str: &str,
        visit_string: String
    );

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Sweep::Many)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Sweep::One)
    }
}
