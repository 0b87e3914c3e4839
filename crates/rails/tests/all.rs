//! The rails' tests: one program, since each program takes long to compile and link.

mod allocation;
mod common;
mod messages;
mod outside;
mod protocol;
