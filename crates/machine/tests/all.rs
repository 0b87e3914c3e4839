//! The machine files' tests: one program, since each program takes long to compile and link.

mod bad_files;
mod parameters;
