//! The workloads' tests: one program, since each program takes long to compile and link.

mod by_hand;
mod circuits;
mod collective;
#[path = "../../rails/tests/common/mod.rs"]
mod common;
mod faults;
mod goodput;
mod mistakes;
mod mix;
mod noise;
mod pattern;
mod ping;
mod qsnet2;
mod rails;
mod source;
mod table;
mod trace;
mod traffic;
