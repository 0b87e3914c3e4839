//! The tests of the experiments: one program, since each program takes long to compile and link. Programs of their own are
//! `simulate`, which is built as a release, too, `bad_files` and `inputs`, which change the working directory of their process, and
//! `large` and `inputs`, which count its memory.

mod allocation;
mod classes;
mod collectives;
mod common;
mod faults;
mod goodput;
mod jobs;
mod keys;
mod mistakes;
mod noise;
mod overrides;
mod plan;
mod revision;
mod runs;
mod saturation;
mod today;
mod trace;
mod treeless;
