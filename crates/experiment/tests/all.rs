//! The tests of the experiments: one program, since each program takes long to compile and link. Programs of their own are
//! `simulate`, which is built as a release, too, and `large` and `inputs`, which count the memory of their process.

mod allocation;
mod bad_files;
mod classes;
mod collectives;
mod common;
mod faults;
mod goodput;
mod jobs;
mod keys;
mod noise;
mod overrides;
mod plan;
mod revision;
mod saturation;
mod today;
mod treeless;
