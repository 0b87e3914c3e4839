//! The model's quantities: [`Time`], [`Bytes`], [`Rate`] and [`Flits`].
//!
//! Each is a newtype over an unsigned integer in its smallest unit (picosecond, byte, byte per
//! second, flit). No value is rounded unless a function documents it. Arithmetic that leaves the
//! integer's range panics in every build profile: this is a broken invariant of the model.
//!
//! # Text
//!
//! People write a quantity as a decimal number and a unit; the unit is never left out:
//!
//! | type | units | examples |
//! |---|---|---|
//! | [`Time`] | ps, ns, us (or µs), ms, s | `35 ns`, `2.2 us` |
//! | [`Bytes`] | B, KB, MB, GB (or KiB, MiB, GiB) | `320 B`, `256 KB` |
//! | [`Rate`] | B/s, KB/s, MB/s, GB/s; read, too: Mb/s, Gb/s | `400 MB/s`, `1.32 GB/s`, `400 Gb/s` |
//! | [`Flits`] | flits (or flit) | `128 flits` |
//!
//! As in the papers, the KB of a size is 1024 bytes and the MB of a rate is 10^6 bytes: a message
//! of "1 MB" at "1 MB/s" takes 1.048576 s.
//!
//! Parsing is exact. A decimal fraction that is not a multiple of the smallest unit is an error, as
//! are a negative number, a number out of range, a missing unit, and another quantity's unit; see
//! [`UnitError`]. Printing uses the largest unit in which the number needs at most three decimals,
//! and the printed text parses to the same value.
//!
//! ```
//! use units::{Bytes, Rate, Time};
//!
//! let flit: Bytes = "2 B".parse()?;
//! let rate: Rate = "400 MB/s".parse()?;
//! assert_eq!(rate.time(flit), Time::from_ns(5));
//! assert_eq!("0.0022 ms".parse::<Time>()?.to_string(), "2.2 us");
//! assert_eq!(
//!     "35 MB".parse::<Time>().unwrap_err().to_string(),
//!     r#"`35 MB` is a size; a time is needed, such as "35 ns""#
//! );
//! # Ok::<(), units::UnitError>(())
//! ```
//!
//! With serde every quantity is written and read as this text; a bare number is an error.
//!
//! # The rooms
//!
//! | room | contents |
//! |---|---|
//! | `time`, `size`, `rate` | the quantities |
//! | `arithmetic` | sums, differences, products and quotients for all quantities |
//! | `scale`, `text`, `form` | units, one parser and one printer, the text form's traits |
//! | `error` | the reasons against a text |
//!
//! # The main path
//!
//! A machine file value becomes a picosecond count:
//!
//! 1. `form.rs`: serde hands the text to the quantity that the key needs.
//! 2. `text.rs`: the parser splits number and unit, and multiplies without rounding.
//! 3. `scale.rs`: the quantity's units, and each unit's size.
//! 4. `time.rs`: the quantity, from now on an integer; `arithmetic.rs` has its operators.

mod arithmetic;
mod error;
mod form;
mod rate;
mod scale;
mod size;
mod text;
mod time;

pub use error::{Quantity, UnitError};
pub use rate::Rate;
pub use size::{Bytes, Flits};
pub use time::Time;
