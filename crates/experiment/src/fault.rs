//! Faults in experiment files: `[[fault]]` for all series, `[[series.fault]]` for one. The fields
//! are [`machine::FaultSection`]'s, and each is one value or a list. Faults multiply a series'
//! points like its benchmark's lists.

use crate::check::Check;
use crate::fit::Fit;
use crate::sweep::{Grid, Sweep, fields};
use config::Problem;
use derive::grid;
use itertools::Itertools;
use machine::{FaultProblem, FaultSection, Pick};
use serde::Serialize;
use serde_json::{Map, Value, json};
use units::{Rate, Time};

/// One fault: a machine part, and how it fails.
#[grid(FaultSection)]
#[schemars(rename = "Fault")]
pub struct FaultGrid {
    /// The cable at a node or at a switch port, both directions: "node 3" or "switch 1.2, port 5".
    pub link: Option<Sweep<String>>,
    /// Several cables: "all", or a link level, such as "level 0", which joins nodes and switches.
    pub links: Option<Sweep<String>>,
    /// A switch by its name in tables, such as "1.2": all its cables.
    pub switch: Option<Sweep<String>>,
    /// This node's adapter: its cable is dead, and it executes no commands.
    pub adapter: Option<Sweep<u32>>,
    /// This node's host: the node's processes stop. Its adapters still answer the network.
    pub node: Option<Sweep<u32>>,
    /// A rail: all its adapters and switches. Beside another part: that part's rail.
    pub rail: Option<Sweep<u32>>,
    /// How many of `links` fail; all if not given.
    pub count: Option<Sweep<u32>>,
    /// Which of `links` fail, if `count` is given; random if not given.
    pub pick: Option<Sweep<Pick>>,
    /// The probability that a bit arrives wrong over a link, 0 to 1e-3.
    pub bit_error_rate: Option<Sweep<f64>>,
    /// The rate to which links have trained, in the whole run: below the regular link rate.
    pub rate: Option<Sweep<Rate>>,
    /// The part is down from this moment on.
    pub at: Option<Sweep<Time>>,
    /// How long the part is down; permanently if not given.
    #[serde(rename = "for")]
    pub lasts: Option<Sweep<Time>>,
    /// The part fails at random: mean time from its repair to its next failure, exponentially
    /// distributed.
    pub mtbf: Option<Sweep<Time>>,
    /// Mean time to its repair, exponentially distributed.
    pub mttr: Option<Sweep<Time>>,
}

impl FaultGrid {
    /// Whether all links have bit errors, or all links at a level.
    pub(crate) fn is_bit_errors_of_levels(&self) -> bool {
        self.links.is_some() && self.bit_error_rate.is_some() && self.count.is_none()
    }

    /// Finds problems that do not depend on the machine. `path` is the fault's path.
    pub(crate) fn check(&self, path: &str, check: &mut Check<'_>) {
        check.lists(path, self);
        let problem = self.points().iter().find_map(|fault| {
            let wrong = fault.check().err()?;
            Some(self.problem(fault, wrong, path, |path, message| {
                check.document.problem(path, message)
            }))
        });
        check.problems.extend(problem);
    }

    /// Finds problems that depend on the machine.
    pub(crate) fn fit(&self, path: &str, fit: &mut Fit<'_>) {
        let problem = self.points().iter().find_map(|fault| {
            let wrong = fit.machine.admits(fault).err()?;
            Some(self.problem(fault, wrong, path, |path, message| {
                fit.document().problem(path, message)
            }))
        });
        fit.problems().extend(problem);
    }

    /// One point's problem, at the value that it has from this table.
    fn problem(
        &self,
        fault: &FaultSection,
        wrong: FaultProblem,
        path: &str,
        at: impl FnOnce(&str, String) -> Problem,
    ) -> Problem {
        wrong.problem(|key, message| {
            if key.is_empty() {
                return at(path, message);
            }
            let path = format!("{path}.{key}");
            let value = &json!(fault)[key];
            let values = json!(self);
            let place = values[key]
                .as_array()
                .map(|values| values.iter().position(|one| one == value));
            match place.flatten() {
                Some(index) => at(&format!("{path}.{index}"), message),
                None => at(&path, message),
            }
        })
    }
}

/// All combinations of several faults' values, the first slowest; one combination if there are no
/// faults.
pub(crate) fn combinations<'a>(
    faults: impl Iterator<Item = &'a FaultGrid>,
) -> Vec<Vec<FaultSection>> {
    let mut all = vec![Vec::new()];
    for grid in faults {
        let product = all.iter().cartesian_product(grid.points());
        all = product
            .map(|(before, fault): (&Vec<FaultSection>, FaultSection)| {
                [&before[..], &[fault]].concat()
            })
            .collect();
    }
    all
}

/// Fault fields, by their names in tables and figures: `fault.at`, or `fault.0.at` where there are
/// several faults.
pub(crate) fn columns<'a, F: Serialize + 'a>(
    faults: impl ExactSizeIterator<Item = &'a F>,
) -> Map<String, Value> {
    let several = faults.len() > 1;
    let of_fault = |(index, fault): (usize, &'a F)| {
        let name = if several {
            format!("fault.{index}")
        } else {
            "fault".to_string()
        };
        fields(fault)
            .into_iter()
            .map(move |(key, value)| (format!("{name}.{key}"), value))
    };
    faults.enumerate().flat_map(of_fault).collect()
}
