//! The kernel's tests: one program, since each program takes long to compile and link. `memory`
//! replaces its process's allocator and is a separate program.

mod common;
mod digest;
mod executor;
mod label;
mod limits;
mod mistakes;
mod queue;
mod random;
mod registry;
mod signal;
mod statistics;
