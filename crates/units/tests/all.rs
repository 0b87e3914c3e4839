//! The unit crate's tests: one program, since each program takes long to compile and link.

mod arithmetic;
mod serde;
mod text;
