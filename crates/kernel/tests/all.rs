//! The tests of the kernel: one program, since each program takes long to compile and link. `memory` replaces the allocator of its
//! process and is a program of its own.

mod common;
mod digest;
mod executor;
mod label;
mod limits;
mod mistakes;
mod queue;
mod random;
mod signal;
mod statistics;
