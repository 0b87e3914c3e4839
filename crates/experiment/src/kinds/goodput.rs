//! The expected goodput of one stream over links with bit errors, in closed form; see
//! [`workload::goodput`].

use super::kind::{Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::run::Run;
use crate::sweep::Sweep;
use derive::grid;
use machine::FaultSection;
use units::Bytes;
use workload::{Failure, Goodput, Records};

/// One stream's expected bandwidth under bit errors, by a closed form.
#[grid(Goodput)]
pub struct GoodputGrid {
    /// The node that sends.
    pub from: Sweep<u32>,
    /// The node to which it sends.
    pub to: Sweep<u32>,
    /// Message length, at most a packet's payload.
    pub message: Sweep<Bytes>,
}

impl Kind for GoodputGrid {
    const WHAT: &'static str = "a closed form of goodput";
    const ONLY_BIT_ERRORS: bool = true;
    const PLOT: Plot = Plot {
        over: "fault.bit_error_rate",
        metrics: &["accepted"],
    };

    fn check(&self, series: &str, _: &Run, check: &mut Check<'_>) {
        let path = format!("{series}.goodput");
        check.lists(&path, self);
        check.apart(&path, (&self.from, &self.to), "send to");
    }

    fn fit(&self, series: &str, fit: &mut Fit<'_>) {
        let path = format!("{series}.goodput");
        fit.pair(&path, &self.from, &self.to);
        let noun = fit.machine.topology.noun();
        if noun != "tree" || fit.machine.rails.is_some() {
            let message = "the closed form is that of a tree with one rail";
            let found = fit.problem(&path, message);
            found.hint("run it on another machine, such as es40-qsnet");
        }
        let of_levels =
            |fault: &FaultSection| fault.bit_error_rate.is_some() && fault.links.is_some();
        if !fit.machine.fault.iter().all(of_levels) {
            let message =
                "the closed form holds for bit errors, and the machine lists other faults";
            let found = fit.problem(&path, message);
            found.hint("run it on another machine, such as es40-qsnet");
        }
        let payload = fit.machine.packet.payload.value;
        for (place, &message) in self.message.places(&format!("{path}.message")) {
            if message > payload {
                let found = fit.problem(&place, format!("{message} do not fit in a packet"));
                found.allowed(format!("at most {payload}"));
            }
        }
    }
}

impl Runs for Goodput {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        self.run(&(setting.cluster)())
    }
}
