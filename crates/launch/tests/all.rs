//! The tests for the process manager: one program, since each program takes long to link.

mod manager;
mod run;
mod space;
mod wire;
