//! The libraries' tests: one program, since each program takes long to compile and link.

mod broadcast;
mod collectives;
mod common;
mod costs;
mod elan3;
mod faults;
mod groups;
mod leftovers;
mod lost_messages;
mod mistakes;
mod mpi;
mod orders;
mod posted;
mod putget;
mod rails;
mod tports;
mod turns;
mod waits;
