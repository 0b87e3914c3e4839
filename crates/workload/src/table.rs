//! # Tables: one definition of what a run leaves behind
//!
//! A row is a plain structure. [`table!`](crate::table!) defines it together with what other code must know of it: the names
//! of its columns, their types and units, and what the digest of a run takes from a row. The extension module hands tables
//! over, the store keeps them and the library offers them by these definitions alone.
//!
//! A field is a column of the same name. A [`Time`] is a column of whole picoseconds, `NAME_ps`. What can be missing is an
//! `Option`. Columns that follow from other fields, such as the name of a switch from its number, are left out of the digest.

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

/// One row of a table; see [`table!`](crate::table!).
pub trait Row {
    /// The descriptions of the columns.
    fn columns() -> Vec<Column>;

    /// A value for each column.
    fn values(&self) -> Vec<Value<'_>>;

    /// Adds what the row says, except what follows from other rows.
    fn add_to(&self, digest: &mut Digest);
}

/// A table of any rows.
pub trait Table {
    /// The descriptions of the table's columns.
    fn columns(&self) -> Vec<Column>;

    /// The table's rows, each with a value for every column.
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

/// Defines the rows of a table: the fields with their types, and their units where the types imply none; and what the
/// digest takes from a row, or from some of the rows.
#[macro_export]
macro_rules! table {
    (
        $(#[$about:meta])*
        $row:ident {
            $(#[doc = $doc:literal] $field:ident: $type:ty $(=> $unit:literal)?,)*
        }
        digest |$this:ident| [$($hashed:expr),*] $(if $counts:expr)?
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
                $(if !($counts) {
                    return;
                })?
                $($crate::table::Cell::add_to(&$hashed, digest);)*
            }
        }
    };
}
