//! The list of policies.

use super::allocation::Allocation;
use super::config::Kind;
use super::host::Host;
use super::policy::basic::Basic;
use super::policy::dynamic::Dynamic;
use super::policy::fixed::Static;
use super::policy::hybrid::Hybrid;
use super::policy::local_dynamic::LocalDynamic;
use super::policy::turn::Turn;
use super::policy::{Policy, PortOf};
use crate::Rail;
use std::rc::Rc;

/// The policy of the machine, for a process of a node.
pub(super) fn new(
    host: &Rc<Host>,
    allocation: Option<&Rc<Allocation>>,
    index: u32,
    ports: PortOf,
) -> Box<dyn Policy> {
    let turn = Turn::starting_at(Rail::new(index % host.rails.len() as u32));
    match host.config.policy {
        Kind::Static => {
            let allocation = allocation.expect("the machine has been checked");
            Box::new(Static::new(Rc::clone(allocation), turn))
        }
        Kind::Basic => Box::new(Basic::new(turn)),
        Kind::LocalDynamic => Box::new(LocalDynamic::new(turn)),
        Kind::Dynamic => Box::new(Dynamic::new(host, turn, ports)),
        Kind::Hybrid => Box::new(Hybrid::new(host, turn, ports)),
    }
}
