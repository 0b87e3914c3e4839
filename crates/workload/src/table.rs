//! # Tables: one definition of what a run leaves behind
//!
//! A row is a plain structure. [`table!`](crate::table) defines it together with what everybody else must know of it: the
//! names of its columns, their types and units, and what of a row counts in the digest of a run. The extension module
//! hands tables over, the store keeps them and the library offers them by these definitions alone.
//!
//! A field is a column of the same name. A [`Time`] is a column of whole picoseconds, `NAME_ps`. What can be missing is an
//! `Option`. What follows from other fields, such as the name of a switch from its number, is left out of the digest.

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
    /// Its name in Arrow and polars.
    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "Boolean",
            Type::U32 => "UInt32",
            Type::U64 => "UInt64",
            Type::F64 => "Float64",
            Type::Text => "String",
        }
    }
}

/// One value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// It is missing.
    None,
    /// Of [`Type::Bool`].
    Bool(bool),
    /// Of [`Type::U32`].
    U32(u32),
    /// Of [`Type::U64`].
    U64(u64),
    /// Of [`Type::F64`].
    F64(f64),
    /// Of [`Type::Text`].
    Text(&'a str),
}

/// What can stand in a column.
pub trait Cell {
    /// The type of the column.
    const TYPE: Type;

    /// The unit, of types that imply one; else empty.
    const UNIT: &'static str = "";

    /// The value.
    fn value(&self) -> Value<'_>;

    /// Adds it to a digest: all numbers as integers of 64 bits, and what is missing as the greatest one or an empty text.
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
    ($($type:ty: $kind:ident $(in $unit:literal)?, |$cell:ident| $value:expr;)*) => {
        $(impl Cell for $type {
            const TYPE: Type = Type::$kind;
            $(const UNIT: &'static str = $unit;)?

            fn value(&self) -> Value<'_> {
                let $cell = self;
                Value::$kind($value)
            }
        })*
    };
}

cells! {
    bool: Bool, |cell| *cell;
    u32: U32, |cell| *cell;
    u64: U64, |cell| *cell;
    f64: F64, |cell| *cell;
    String: Text, |cell| cell;
    &str: Text, |cell| cell;
    Time: U64 in "ps", |cell| cell.as_ps();
    (u32, u32): U64, |cell| u64::from(cell.0) << 32 | u64::from(cell.1);
}

impl<T: Cell> Cell for Option<T> {
    const TYPE: Type = T::TYPE;
    const UNIT: &'static str = T::UNIT;

    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::None, T::value)
    }
}

/// What a column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub kind: Type,
    /// Their unit; empty if they have none, or a column of its own says it.
    pub unit: &'static str,
    /// What it says.
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

/// One row of a table; see [`table!`](crate::table).
pub trait Row {
    /// What the columns are.
    fn columns() -> Vec<Column>;

    /// A value for each column.
    fn values(&self) -> Vec<Value<'_>>;

    /// Adds what the row says, but what follows from other rows.
    fn add_to(&self, digest: &mut Digest);
}

/// A table of any rows.
pub trait Table {
    /// What its columns are.
    fn columns(&self) -> Vec<Column>;

    /// Its rows, each with a value for every column.
    fn rows(&self) -> Box<dyn Iterator<Item = Vec<Value<'_>>> + '_>;

    /// Adds all rows.
    fn add_to(&self, digest: &mut Digest);
}

impl<R: Row> Table for Vec<R> {
    fn columns(&self) -> Vec<Column> {
        R::columns()
    }

    fn rows(&self) -> Box<dyn Iterator<Item = Vec<Value<'_>>> + '_> {
        Box::new(self.iter().map(R::values))
    }

    fn add_to(&self, digest: &mut Digest) {
        for row in self {
            row.add_to(digest);
        }
    }
}

/// Defines the rows of a table: the fields with their types, and their units where the types imply none; and what of a row
/// counts in the digest.
#[macro_export]
macro_rules! table {
    (
        $(#[$about:meta])*
        $row:ident {
            $(#[doc = $doc:literal] $field:ident: $type:ty $(=> $unit:literal)?,)*
        }
        digest |$this:ident| [$($hashed:expr),*]
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $row {
            $(#[doc = $doc] pub $field: $type,)*
        }

        impl $crate::table::Row for $row {
            fn columns() -> Vec<$crate::table::Column> {
                vec![$({
                    let unit: &[&'static str] = &[$($unit)?];
                    let unit = unit.first().copied();
                    $crate::table::Column::of::<$type>(stringify!($field), unit, $doc)
                },)*]
            }

            fn values(&self) -> Vec<$crate::table::Value<'_>> {
                vec![$($crate::table::Cell::value(&self.$field),)*]
            }

            #[allow(unused_variables)] // of a table that follows from another one as a whole
            fn add_to(&self, digest: &mut kernel::Digest) {
                let $this = self;
                $($crate::table::Cell::add_to(&$hashed, digest);)*
            }
        }
    };
}
