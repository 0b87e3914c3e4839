//! The fabric's tests: one program, since each program takes long to compile and link.
//! `differential` and `production` are built as a release, too, and are programs of their own.

mod alternatives;
mod broadcast;
mod common;
mod conservation;
mod contention;
mod contract;
mod control_plane;
mod credits;
mod cut_through;
mod deadlock;
mod determinism;
mod families;
mod faults;
mod graphs;
mod kinds;
mod mechanisms;
mod mistakes;
mod one_packet;
mod paces;
mod rails;
mod recording;
mod regions;
mod routes;
mod shortest;
mod tally;
mod topology;
mod torus;
mod traffic_classes;
mod two_packets;
mod uniform;
mod wiring;
mod zero_load;
