//! # Attributes that turn plain structures into Elanite's data
//!
//! | attribute | on | adds | crate |
//! |---|---|---|---|
//! | [`Identifier`](derive@Identifier) | `struct LinkId(u32);` | conversions, `all`, `Display` | any |
//! | [`Quantity`](derive@Quantity) | `struct Time(u64);` | the text form: a number and its unit | `units` |
//! | [`Row`](derive@Row) | a row in a results table | columns, values, digest | `workload` |
//! | [`macro@table`] | a table in a file | the file traits; missing keys for options | any |
//! | [`macro@choice`] | words in a file | the file traits | any |
//! | [`macro@section`] | a machine file section | bounds, and the simulator's configuration | `machine` |
//! | [`macro@grid`] | a table with swept fields | one point's table, and all points | `experiment` |
//! | [`Kinds`](derive@Kinds) | the benchmark list | the same list of points, and calls for each kind | `experiment` |
//! | [`macro@call`] | a C function | its symbol, and a note about the call | `elan-c` |
//!
//! Each attribute keeps the definition as it is written: fields, types and comments belong to the
//! structure, and the comments are the descriptions in schemas and tables. An attribute that is
//! used in one crate alone names that crate's traits by their paths (`crate::section::Section`),
//! where their documentation stands.
//!
//! Each module parses an item and returns tokens, or an error with the place in the source
//! ([`syn::Error`]).
//!
//! ## The rooms
//!
//! | room | contents |
//! |---|---|
//! | `identifier`, `quantity`, `row` | derived traits for numbers and rows |
//! | `table`, `section`, `grid`, `kinds`, `call` | one attribute each |
//! | `parse` | item parts that several attributes read |
//!
//! ## The main path
//!
//! A structure with an attribute:
//!
//! 1. `lib.rs`: the compiler hands over the item.
//! 2. `parse.rs`: fields, comments and arguments, or an error with its place.
//! 3. `section.rs` (or another attribute's file): the item as written, and the code that it gains.

mod call;
mod grid;
mod identifier;
mod kinds;
mod parse;
mod quantity;
mod row;
mod section;
mod table;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// An identifier: a number from 0 that indexes a `TiVec`, `struct NAME(u32);`.
#[proc_macro_derive(Identifier)]
pub fn identifier(item: TokenStream) -> TokenStream {
    done(identifier::derive(&parse_macro_input!(item)))
}

/// A quantity, written as a number and a unit from the scale, `#[scale(TIME)]`.
#[proc_macro_derive(Quantity, attributes(scale))]
pub fn quantity(item: TokenStream) -> TokenStream {
    done(quantity::derive(&parse_macro_input!(item)))
}

/// A row in a results table: a column for each field, described by the field's comment.
///
/// `#[digest(EXPRESSION, ...)]` lists the values that a run's digest takes from a row, as
/// expressions over `self`; `#[digest_if(CONDITION)]` restricts the digest to some rows.
/// `#[unit("MB/s")]` is the unit of a field whose type does not imply one.
#[proc_macro_derive(Row, attributes(digest, digest_if, unit))]
pub fn row(item: TokenStream) -> TokenStream {
    done(row::derive(&parse_macro_input!(item)))
}

/// A table in a file: has the file traits and their schema, denies unknown keys, and leaves out
/// keys without a value.
#[proc_macro_attribute]
pub fn table(arguments: TokenStream, item: TokenStream) -> TokenStream {
    done(table::expand(&arguments.into(), parse_macro_input!(item)))
}

/// Words in a file, one for each variant in kebab-case.
#[proc_macro_attribute]
pub fn choice(arguments: TokenStream, item: TokenStream) -> TokenStream {
    done(table::choice(&arguments.into(), parse_macro_input!(item)))
}

/// A machine file section, `#[section("KEY")]`; it is a [`macro@table`].
///
/// `config = TYPE` names the simulator's structure that the section makes, field by field;
/// `more(FIELD: TYPE)` is one more field in this structure, with a value from another section.
/// `within(TYPE = BOUNDS)` are the bounds for all parameters with a type.
///
/// `#[param(...)]` on a field: `within = BOUNDS`, its own bounds; `fabric`, it is a field in the
/// fabric's configuration; `default = VALUE`, where a file may omit it; `unmapped`, no field in the
/// structure has its value.
#[proc_macro_attribute]
pub fn section(arguments: TokenStream, item: TokenStream) -> TokenStream {
    done(section::expand(arguments.into(), parse_macro_input!(item)))
}

/// A [`macro@table`] with swept fields, `Sweep<TYPE>` or `Option<Sweep<TYPE>>`: `#[grid(POINT)]`,
/// where `POINT` is a table with one combination of their values; `#[grid(struct POINT)]` defines
/// `POINT`, too.
#[proc_macro_attribute]
pub fn grid(arguments: TokenStream, item: TokenStream) -> TokenStream {
    done(grid::expand(arguments.into(), parse_macro_input!(item)))
}

/// The benchmark list: an enumeration with a grid in each variant; its key in files is the
/// variant's name.
#[proc_macro_derive(Kinds)]
pub fn kinds(item: TokenStream) -> TokenStream {
    done(kinds::derive(&parse_macro_input!(item)))
}

/// A C function that programs call, `extern "C" fn`: exports it by its name, and notes the call
/// while it runs. `#[call("NAME")]` is its name in reports, if it is another one.
#[proc_macro_attribute]
pub fn call(shown: TokenStream, item: TokenStream) -> TokenStream {
    done(call::expand(shown.into(), &parse_macro_input!(item)))
}

/// The tokens, or the error at its place.
fn done(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

#[cfg(test)]
mod tests;
