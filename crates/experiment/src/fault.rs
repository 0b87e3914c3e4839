//! Faults in experiment files: `[[fault]]` for all series, `[[series.fault]]` for one. The fields are those of
//! [`machine::Fault`], and each is one value or a list. Faults multiply the points of a series as the lists of its benchmark do.

use crate::check::Check;
use crate::fit::Fit;
use crate::kinds::kind::fields;
use crate::sweep::{Grid, Sweep};
use config::Problem;
use itertools::Itertools;
use machine::{Fault, Pick, Wrong};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use units::Time;

/// Defines the table of swept fields. None is always given; [`Fault::check`] says which go together.
macro_rules! grid {
    ($($(#[$doc:meta])* $field:ident = $key:literal: $type:ty,)*) => {
        /// One fault: a part of the machine, and how it fails.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "Fault")]
        pub struct FaultGrid {
            $(
                $(#[$doc])*
                #[serde(rename = $key, default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<Sweep<$type>>,
            )*
        }

        impl Grid for FaultGrid {
            type Point = Fault;

            fn lengths(&self) -> Vec<(&'static str, usize)> {
                let lengths = [$(($key, self.$field.as_ref().map(|sweep| sweep.values().len())),)*];
                lengths.into_iter().filter_map(|(key, length)| Some((key, length?))).collect()
            }

            fn points(&self) -> Vec<Fault> {
                let mut points = vec![Fault::default()];
                $(if let Some(sweep) = &self.$field {
                    let product = points.into_iter().cartesian_product(sweep.values());
                    points = product.map(|(point, value)| Fault { $field: Some(value.clone()), ..point }).collect();
                })*
                points
            }
        }
    };
}

grid! {
    /// The cable at a node or at a port of a switch, both directions: "node 3" or "switch 1.2, port 5".
    link = "link": String,
    /// Several cables: "all", or those of a level of links, such as "level 0", which joins nodes and switches.
    links = "links": String,
    /// A switch by its name in tables, such as "1.2": all its cables.
    switch = "switch": String,
    /// The adapter of this node: its cable is dead, and it executes nothing.
    adapter = "adapter": u32,
    /// The host of this node: no process of the node runs any more. Its adapters still answer the network.
    node = "node": u32,
    /// A rail: all its adapters and switches. Beside another part: the rail of that part.
    rail = "rail": u32,
    /// How many of `links` fail; all if not given.
    count = "count": u32,
    /// Which of `links` fail, where `count` says how many; random if not given.
    pick = "pick": Pick,
    /// The probability that a bit arrives wrong over a link, 0 to 1e-3.
    bit_error_rate = "bit_error_rate": f64,
    /// The part is down from this moment on.
    at = "at": Time,
    /// How long the part is down; for ever if not given.
    lasts = "for": Time,
    /// The part fails at random: mean time from its repair to its next failure, exponentially distributed.
    mtbf = "mtbf": Time,
    /// Mean time to its repair, exponentially distributed.
    mttr = "mttr": Time,
}

impl FaultGrid {
    /// Finds problems that do not depend on the machine. `path` is the path of the fault.
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

    /// The problem of one of the points, at the value that it has from this table.
    fn problem(
        &self,
        fault: &Fault,
        wrong: Wrong,
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

/// All combinations of the values of several faults, the first slowest; one combination if there are no faults.
pub(crate) fn combinations<'a>(faults: impl Iterator<Item = &'a FaultGrid>) -> Vec<Vec<Fault>> {
    let mut all = vec![Vec::new()];
    for grid in faults {
        let product = all.iter().cartesian_product(grid.points());
        all = product
            .map(|(before, fault): (&Vec<Fault>, Fault)| [&before[..], &[fault]].concat())
            .collect();
    }
    all
}

/// The fields of faults, by their names in tables and figures: `fault.at`, or `fault.0.at` where there are several faults.
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
