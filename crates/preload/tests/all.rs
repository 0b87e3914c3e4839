//! The tests for the provider that ranks load: one program, since each program takes long to
//! compile and link.

mod preload;
mod programs;
