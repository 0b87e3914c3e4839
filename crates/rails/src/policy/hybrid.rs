//! Hybrid allocation: short messages take a free rail, long ones follow dynamic allocation (coll2003 s4.3, algorithm 7).
//!
//! A short message takes one rail, the next in turn of the free rails, and reserves nothing. The algorithm does not say
//! what a process does when no rail is free. Since the process "uses the basic algorithm" for short messages (s6.6), it
//! then takes the next in turn of all rails.

use super::dynamic::Dynamic;
use super::turn::Turn;
use super::{Picking, Policy, PortOf, RailMessage, next_of};
use crate::host::{Host, RailAdapter};

pub(crate) struct Hybrid {
    turn: Turn,
    long: Dynamic,
}

impl Hybrid {
    pub fn new(host: &Host, turn: Turn, ports: PortOf) -> Self {
        let long = Dynamic::new(host, turn, ports);
        Hybrid { turn, long }
    }
}

impl Policy for Hybrid {
    fn pick<'a>(&'a mut self, host: &'a Host, message: RailMessage) -> Picking<'a> {
        if message.size > host.config.threshold {
            return self.long.pick(host, message);
        }
        let mut rails = host.rails_that(RailAdapter::is_free);
        if rails.is_empty() {
            rails = host.rails_that(RailAdapter::is_up);
        }
        next_of(&mut self.turn, &rails, host, message)
    }
}
