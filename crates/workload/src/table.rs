//! # Tables: one definition for all of a run's results
//!
//! A row is a plain structure that derives [`Row`](derive::Row): the names of its columns, their
//! types, units and descriptions, and the values that a run's digest takes from a row. The
//! extension module, the store and the library use only these definitions.
//!
//! A field is a column with the same name. A [`Time`] is a column with whole picoseconds,
//! `NAME_ps`. An optional value is an `Option`. The digest omits columns that follow from other
//! fields, such as a switch's name from its number.
//!
//! A table's digest can be computed again from its columns, as the store keeps them
//! ([`Table::add_columns`]): rows are made from the columns in the digest, and treated like a run's
//! rows.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;

use kernel::Digest;
use units::Time;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Yes or no.
    Bool,
    /// A count: 32 bits.
    U32,
    /// A count: 64 bits.
    U64,
    /// A measured value.
    F64,
    /// A text.
    Text,
}

impl Type {
    /// The type's name in Arrow and polars.
    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "Boolean",
            Type::U32 => "UInt32",
            Type::U64 => "UInt64",
            Type::F64 => "Float64",
            Type::Text => "String",
        }
    }

    /// Some value with the type.
    fn blank(self) -> Value<'static> {
        match self {
            Type::Bool => Value::Bool(false),
            Type::U32 => Value::U32(0),
            Type::U64 => Value::U64(0),
            Type::F64 => Value::F64(0.0),
            Type::Text => Value::Text(""),
        }
    }
}

/// One value in a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A missing value.
    None,
    /// A [`Type::Bool`] value.
    Bool(bool),
    /// A [`Type::U32`] value.
    U32(u32),
    /// A [`Type::U64`] value.
    U64(u64),
    /// A [`Type::F64`] value.
    F64(f64),
    /// A [`Type::Text`] value.
    Text(&'a str),
}

/// A type whose values can stand in a column.
pub trait Cell {
    /// The column's type.
    const TYPE: Type;

    /// The unit, for types that imply one; otherwise empty.
    const UNIT: &'static str = "";

    /// The value.
    fn value(&self) -> Value<'_>;

    /// The cell that holds a value; `None` if a cell with this type cannot.
    fn of(value: Value<'_>) -> Option<Self>
    where
        Self: Sized;

    /// Adds the value to a digest: numbers as 64-bit integers, a missing value as the greatest
    /// integer or an empty text.
    fn add_to(&self, digest: &mut Digest) {
        match self.value() {
            Value::None if Self::TYPE == Type::Text => digest.str(""),
            Value::None => digest.u64(u64::MAX),
            Value::Bool(value) => digest.u64(value.into()),
            Value::U32(value) => digest.u64(value.into()),
            Value::U64(value) => digest.u64(value),
            Value::F64(value) => digest.f64(value),
            Value::Text(text) => digest.str(text),
        };
    }
}

macro_rules! cells {
    (
        $(
            $type:ty: $kind:ident $(in $unit:literal)?,
            |$cell:ident| $value:expr,
            |$held:ident| $made:expr;
        )*
    ) => {
        $(impl Cell for $type {
            const TYPE: Type = Type::$kind;
            $(const UNIT: &'static str = $unit;)?

            fn value(&self) -> Value<'_> {
                let $cell = self;
                Value::$kind($value)
            }

            fn of(value: Value<'_>) -> Option<Self> {
                match value {
                    Value::$kind($held) => $made,
                    _ => None,
                }
            }
        })*
    };
}

cells! {
    bool: Bool, |cell| *cell, |held| Some(held);
    u32: U32, |cell| *cell, |held| Some(held);
    u64: U64, |cell| *cell, |held| Some(held);
    f64: F64, |cell| *cell, |held| Some(held);
    String: Text, |cell| cell, |held| Some(held.to_owned());
    &str: Text, |cell| cell, |held| constant(held);
    Time: U64 in "ps", |cell| cell.as_ps(), |held| Some(Time::from_ps(held));
    (u32, u32): U64, |cell| u64::from(cell.0) << 32 | u64::from(cell.1), |held| Some(
        ((held >> 32) as u32, held as u32)
    );
}

/// A text as a program constant. There are few of these, and they are short; `None` for one too
/// many or too long.
fn constant(text: &str) -> Option<&'static str> {
    static KNOWN: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut known = KNOWN.lock().expect("no holder panics");
    let known = known.get_or_insert_default();
    if let Some(found) = known.get(text) {
        return Some(found);
    }
    if known.len() >= 4096 || text.len() > 256 {
        return None;
    }
    let kept: &'static str = Box::leak(text.into());
    known.insert(kept);
    Some(kept)
}

impl<T: Cell> Cell for Option<T> {
    const TYPE: Type = T::TYPE;
    const UNIT: &'static str = T::UNIT;

    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::None, T::value)
    }

    fn of(value: Value<'_>) -> Option<Self> {
        match value {
            Value::None => Some(None),
            value => T::of(value).map(Some),
        }
    }
}

/// A column's description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// The type of the column's values.
    pub kind: Type,
    /// The unit of the values; empty if they have no unit, or if another column holds it.
    pub unit: &'static str,
    /// The column's meaning.
    pub about: &'static str,
}

impl Column {
    /// The column for a field with type `T`.
    pub fn of<T: Cell>(field: &str, unit: Option<&'static str>, about: &'static str) -> Self {
        let name = match T::UNIT {
            "" => field.to_string(),
            unit => format!("{field}_{unit}"),
        };
        let about = about.trim_start();
        let unit = unit.unwrap_or(T::UNIT);
        let kind = T::TYPE;
        Column {
            name,
            kind,
            unit,
            about,
        }
    }
}

/// A column's values, for [`Table::add_columns`].
pub trait Values {
    /// The value in a row; `None` if there is no such row.
    fn at(&self, row: usize) -> Option<Value<'_>>;
}

/// One row in a table; [`derive::Row`] implements it.
pub trait Row {
    /// The column descriptions.
    fn columns() -> Vec<Column>;

    /// A value for each column.
    fn values(&self) -> Vec<Value<'_>>;

    /// The row with these values, one per column; `None` if a value does not fit its column.
    fn of<'a>(value: impl FnMut(usize) -> Option<Value<'a>>) -> Option<Self>
    where
        Self: Sized;

    /// Whether the digest takes each column.
    fn hashed() -> Vec<bool>;

    /// Adds the row's values, except those that follow from other rows.
    fn add_to(&self, digest: &mut Digest);
}

/// A table with any rows.
pub trait Table {
    /// The table's column descriptions.
    fn columns(&self) -> Vec<Column>;

    /// The table's rows, each with a value for every column.
    fn rows(&self) -> Box<dyn Iterator<Item = Vec<Value<'_>>> + '_>;

    /// Whether the digest takes each column.
    fn hashed(&self) -> Vec<bool>;

    /// Adds all rows.
    fn add_to(&self, digest: &mut Digest);

    /// Adds rows that are given by columns, as [`Table::add_to`] adds this table's rows: an entry
    /// per column, present for each column in the digest.
    ///
    /// Returns `None` if a value is missing, or does not fit its column.
    fn add_columns(
        &self,
        digest: &mut Digest,
        columns: &[Option<&dyn Values>],
        rows: Range<usize>,
    ) -> Option<()>;
}

impl<R: Row> Table for Vec<R> {
    fn columns(&self) -> Vec<Column> {
        R::columns()
    }

    fn rows(&self) -> Box<dyn Iterator<Item = Vec<Value<'_>>> + '_> {
        Box::new(self.iter().map(R::values))
    }

    fn hashed(&self) -> Vec<bool> {
        R::hashed()
    }

    fn add_to(&self, digest: &mut Digest) {
        for row in self {
            row.add_to(digest);
        }
    }

    fn add_columns(
        &self,
        digest: &mut Digest,
        columns: &[Option<&dyn Values>],
        rows: Range<usize>,
    ) -> Option<()> {
        let (kinds, hashed) = (R::columns(), R::hashed());
        for number in rows {
            let value = |column: usize| match columns[column] {
                Some(values) => values.at(number),
                None if hashed[column] => None,
                None => Some(kinds[column].kind.blank()),
            };
            R::of(value)?.add_to(digest);
        }
        Some(())
    }
}
