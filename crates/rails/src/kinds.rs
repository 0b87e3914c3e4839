//! The list of policies.

use super::allocation::Allocation;
use super::host::Host;
use super::policy::basic::Basic;
use super::policy::dynamic::Dynamic;
use super::policy::fixed::Static;
use super::policy::hybrid::Hybrid;
use super::policy::local_dynamic::LocalDynamic;
use super::policy::turn::SharedTurn;
use super::policy::{Policy, PortOf};
use elan::config::rails::Kind;
use std::rc::Rc;

/// The policy of the machine, for a process of a node.
pub(super) fn new(
    host: &Rc<Host>,
    allocation: Option<&Rc<Allocation>>,
    turn: &SharedTurn,
    ports: PortOf,
) -> Box<dyn Policy> {
    let own = *turn.borrow();
    match host.config.policy {
        Kind::Static => {
            let allocation = allocation.expect("the machine has been checked");
            Box::new(Static::new(Rc::clone(allocation), own))
        }
        Kind::Basic => Box::new(Basic::new(own)),
        Kind::LocalDynamic => Box::new(LocalDynamic::new(Rc::clone(turn))),
        Kind::Dynamic => Box::new(Dynamic::new(host, own, ports)),
        Kind::Hybrid => Box::new(Hybrid::new(host, own, ports)),
    }
}
