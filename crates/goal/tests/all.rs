//! The traces' tests: one program, since each program takes long to compile and link.

mod mistakes;
mod pattern;
mod reading;
mod replay;
