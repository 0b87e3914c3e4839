//! # Tables: one definition of what a run leaves behind
//!
//! A row is a plain structure that derives [`Row`](derive::Row): the names of its columns, their types, units and
//! descriptions, and the values that the digest of a run takes from a row. The extension module hands tables
//! over, the store keeps them and the library offers them by these definitions alone.
//!
//! A field is a column of the same name. A [`Time`] is a column of whole picoseconds, `NAME_ps`. What can be missing is an
//! `Option`. Columns that follow from other fields, such as the name of a switch from its number, are left out of the digest.
//!
//! The digest of a table can be taken again from its columns, as the store keeps them ([`Table::add_columns`]): rows are made of
//! the columns that the digest takes, and go the same way as those of a run.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;

use kernel::Digest;
use units::Time;

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Yes or no.
    Bool,
    /// A number of something: 32 bits.
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

    /// Some value of the type.
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

/// One value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A missing value.
    None,
    /// A value of [`Type::Bool`].
    Bool(bool),
    /// A value of [`Type::U32`].
    U32(u32),
    /// A value of [`Type::U64`].
    U64(u64),
    /// A value of [`Type::F64`].
    F64(f64),
    /// A value of [`Type::Text`].
    Text(&'a str),
}

/// A type of which values can stand in a column.
pub trait Cell {
    /// The type of the column.
    const TYPE: Type;

    /// The unit, for types that imply one; else empty.
    const UNIT: &'static str = "";

    /// The value.
    fn value(&self) -> Value<'_>;

    /// The cell that holds a value; `None` if a cell of this type cannot.
    fn of(value: Value<'_>) -> Option<Self>
    where
        Self: Sized;

    /// Adds the value to a digest: numbers as integers of 64 bits, a missing value as the greatest integer or an empty text.
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
    ($($type:ty: $kind:ident $(in $unit:literal)?, |$cell:ident| $value:expr, |$held:ident| $made:expr;)*) => {
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
    (u32, u32): U64, |cell| u64::from(cell.0) << 32 | u64::from(cell.1), |held| Some(((held >> 32) as u32, held as u32));
}

/// A text as a constant of the program. There are few of these, and they are short; `None` for one too many or too long.
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

/// The description of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// The type of the column's values.
    pub kind: Type,
    /// The unit of the values; empty if they have none, or if a column of its own says the unit.
    pub unit: &'static str,
    /// What the column says.
    pub about: &'static str,
}

impl Column {
    /// The column of a field of type `T`.
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

/// The values of a column, for [`Table::add_columns`].
pub trait Values {
    /// The value in a row; `None` if there is no such row.
    fn at(&self, row: usize) -> Option<Value<'_>>;
}

/// One row of a table; [`derive::Row`] implements it.
pub trait Row {
    /// The descriptions of the columns.
    fn columns() -> Vec<Column>;

    /// A value for each column.
    fn values(&self) -> Vec<Value<'_>>;

    /// The row of these values, one for each column; `None` if a value is none of its column.
    fn of<'a>(value: impl FnMut(usize) -> Option<Value<'a>>) -> Option<Self>
    where
        Self: Sized;

    /// Whether the digest takes each column.
    fn hashed() -> Vec<bool>;

    /// Adds what the row says, except what follows from other rows.
    fn add_to(&self, digest: &mut Digest);
}

/// A table of any rows.
pub trait Table {
    /// The descriptions of the table's columns.
    fn columns(&self) -> Vec<Column>;

    /// The table's rows, each with a value for every column.
    fn rows(&self) -> Box<dyn Iterator<Item = Vec<Value<'_>>> + '_>;

    /// Whether the digest takes each of the columns.
    fn hashed(&self) -> Vec<bool>;

    /// Adds all rows.
    fn add_to(&self, digest: &mut Digest);

    /// Adds rows that are given by columns, as [`Table::add_to`] adds those of this table: an entry for each of the columns, of
    /// which those that the digest takes must be there.
    ///
    /// Returns `None` if a value is missing, or none of its column.
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
