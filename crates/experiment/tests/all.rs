//! The experiments' tests: one program, since each program takes long to compile and link. Separate
//! programs are `simulate`, which is built as a release, too, `bad_files` and `inputs`, which
//! change their process's working directory, and `large` and `inputs`, which count its memory.

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
mod zip;
