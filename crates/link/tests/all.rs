//! The tests for the link between ranks and simulator: one program, since each program takes long
//! to compile and link.

mod calls;
mod collective;
mod hostile;
mod loom;
mod payload;
mod ranks;
