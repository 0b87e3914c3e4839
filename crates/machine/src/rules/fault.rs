//! Rules for faults in a machine file.

use crate::check::Check;
use crate::file::Machine;

/// Reports invalid faults, and those that the machine cannot have.
pub(super) fn check(machine: &Machine, check: &mut Check<'_>) {
    for (index, fault) in machine.fault.iter().enumerate() {
        if let Err(wrong) = machine.admits(fault) {
            check.add(|document| wrong.in_document(document, &format!("fault.{index}")));
        }
    }
}
