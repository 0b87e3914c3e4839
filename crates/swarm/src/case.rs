//! A case: a machine, a program, and faults. It is data, so that a case can be changed, printed,
//! and read again.

use crate::draw;
use crate::faults::FaultPlan;
use crate::machine::SwarmMachine;
use crate::program::SwarmProgram;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// A machine, its program, and its faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The machine.
    pub machine: SwarmMachine,
    /// The program.
    pub program: SwarmProgram,
    /// Faults, if the machine lists any.
    pub faults: Option<FaultPlan>,
}

impl Case {
    /// The case for a seed.
    pub fn of(seed: u64) -> Case {
        let (mut machine, program) = draw::draw(seed);
        machine.draw_slice(seed);
        machine.draw_credits(seed);
        Case {
            faults: FaultPlan::draw(seed, &machine, &program),
            machine,
            program,
        }
    }

    /// Reads a case that was printed.
    ///
    /// # Errors
    /// Where the text is not a case, and why.
    pub fn parse(text: &str) -> Result<Case, String> {
        serde_json::from_str(text).map_err(|error| format!("not a case: {error}"))
    }

    /// A one-line description.
    pub fn summary(&self) -> String {
        let steps = self.program.steps().count();
        let faults = self.faults.as_ref().map_or(0, |faults| faults.list.len());
        format!(
            "{} processes on {} nodes, {} phases, {steps} steps, {faults} faults",
            self.program.processes(),
            self.machine.shape.nodes(),
            self.program.phases.len()
        )
    }
}

impl Display for Case {
    /// In one line, without a single quotation mark.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}
