//! The adapter's tests: one program, since each program takes long to compile and link.

mod beside;
mod broadcast;
mod bus;
mod cluster;
mod common;
mod distribution;
mod dma;
mod elan4;
mod errors;
mod events;
mod faults;
mod get;
mod latency;
mod messages;
mod mistakes;
mod moments;
mod noise;
mod payload;
mod protection;
mod queues;
mod retries;
mod threads;
