//! The experiment file format. These comments are also the descriptions in the JSON schema.

use crate::check::Check;
use crate::fault::FaultGrid;
use crate::figure::Figure;
use crate::kinds::{Sections, Series};
use crate::run::Run;
use crate::sweep::Sweep;
use config::{Document, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An experiment: one or more series of points on one machine or more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Experiment")]
pub struct Experiment<S = Series> {
    /// One line about the experiment.
    pub title: String,
    /// The document, sections and figures that the experiment reproduces.
    #[serde(default)]
    pub source: String,
    /// The experiment's machine, unless the command line names another; or a list of machines, each
    /// of which runs it.
    pub machine: Sweep<String>,
    /// Defaults for all series.
    #[serde(default)]
    pub run: Run,
    /// Faults while the series run, in addition to the machine file's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<FaultGrid>,
    /// The series.
    pub series: Vec<S>,
    /// The figures; a plain one for each series and metric by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figure: Vec<Figure>,
}

impl Experiment<Sections> {
    /// The experiment without empty series, and everything that is out of bounds.
    pub(crate) fn checked(self, document: &Document) -> (Experiment, Vec<Problem>) {
        let mut check = Check::new(document);
        self.check_machines(&mut check);
        if self.series.is_empty() {
            let found = check.problem("series", "an experiment needs at least one series");
            found.allowed("one [[series]] or more");
        }
        let run = self.run;
        run.check(&mut check);
        for (index, series) in self.series.iter().enumerate() {
            let path = format!("series.{index}");
            let name = format!("{path}.name");
            if self.series[..index]
                .iter()
                .any(|other| other.name == series.name)
            {
                let message = format!("there are two series `{}`", series.name);
                check
                    .problem(&name, message)
                    .hint("give each series a name of its own");
            }
            check.name(&name, &series.name);
            series.run.check(&path, &run, &mut check);
            if let Some(machines) = &series.machine {
                check.list(&format!("{path}.machine"), machines.values().len());
            }
        }
        for (index, fault) in self.fault.iter().enumerate() {
            fault.check(&format!("fault.{index}"), &mut check);
        }
        let mut series = Vec::new();
        for (index, sections) in self.series.into_iter().enumerate() {
            let path = format!("series.{index}");
            if let Some(one) = sections.series(&path, &mut check) {
                one.check_values(&path, (&run, &self.fault), &mut check);
                one.check_faults(&path, &self.fault, &mut check);
                series.push(one);
            }
        }
        let experiment = Experiment {
            title: self.title,
            source: self.source,
            machine: self.machine,
            run,
            fault: self.fault,
            series,
            figure: self.figure,
        };
        (experiment, check.finish())
    }

    /// One machine or more, each once.
    fn check_machines(&self, check: &mut Check<'_>) {
        let names = self.machine.values();
        check.list("machine", names.len());
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                let path = self.machine.place("machine", index);
                check
                    .problem(&path, format!("`{name}` is in the list twice"))
                    .allowed("each machine once");
            }
        }
    }
}
