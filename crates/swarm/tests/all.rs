//! The swarm's tests: one program, since each program takes long to compile and link.

mod endurance;
mod mistakes;
mod oracle;
mod swarm;
