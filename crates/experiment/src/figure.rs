//! An experiment's figures, as its file requests them: axes, curves, panels, and the published
//! values beside them.
//!
//! ```toml
//! [[figure]]
//! name = "11{letter}"
//! title = "Uniform traffic, {nodes} nodes"
//! panel = "nodes"                                # a figure for each number of nodes
//! draw = "loads"                                 # accepted over offered load; `curves` by default
//! curve = "{sizes} / {arrivals}"
//! published = [{ claim = "uniform.64.bandwidth" }]
//! ```
//!
//! A figure does not affect results: it is not part of a point's key, and is drawn from finished
//! points. The names in a figure are checked when the file is read (`check`). Texts may hold
//! `{column}`, which stands for that column's values. An experiment without figures gets a plain
//! figure for each metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Short name, unique in the file.
    pub name: String,
    /// The line above the figure; where it is empty, specialised figure kinds have their own title.
    pub title: String,
    /// The published figure that this figure corresponds to.
    #[serde(default)]
    pub paper: String,
    /// The text below the figure, in addition to the figure kind's own text.
    #[serde(default)]
    pub caption: String,
    /// The caption's text about dashed curves, if there are any.
    #[serde(default)]
    pub dashed: String,
    /// How the figure is drawn.
    #[serde(default)]
    pub draw: Drawing,
    /// The series; all by default.
    #[serde(default)]
    pub series: Vec<String>,
    /// The rows that are drawn: columns, each with its value, a list of values, or a table with the
    /// bounds `least` and `most`, both included.
    #[serde(default, rename = "where")]
    pub select: BTreeMap<String, Value>,
    /// Whether only the load at which a configuration accepts the most is drawn.
    #[serde(default)]
    pub sustained: bool,
    /// Whether only points whose load is steady are drawn; undecided ones are left out, too.
    #[serde(default)]
    pub steady: bool,
    /// A parameter; each value has its own figure, and the texts may hold the value and `{letter}`,
    /// a for the first.
    #[serde(default)]
    pub panel: String,
    /// The metric on the vertical axis; by default, the figure kind's own.
    #[serde(default)]
    pub metric: String,
    /// The offered load's metric, on the horizontal load axis.
    #[serde(default)]
    pub offered: String,
    /// The parameter on the horizontal axis.
    #[serde(default)]
    pub x: String,
    /// The horizontal axis's label; the parameter's name by default.
    #[serde(default)]
    pub x_title: String,
    /// How values lie on the horizontal axis.
    #[serde(default)]
    pub x_scale: XScale,
    /// The vertical axis's label, with the unit after the last comma; the metric by default.
    #[serde(default)]
    pub y_title: String,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// Curve names: texts with `{column}`; those that are not empty are joined by commas. Other
    /// parameters that vary are added to them.
    #[serde(default)]
    pub curve: Vec<String>,
    /// The legend's title above the curves.
    #[serde(default)]
    pub legend: String,
    /// How a column's values are called in curve names: a list of pairs, in legend order.
    #[serde(default)]
    pub names: BTreeMap<String, Vec<(String, String)>>,
    /// Rows that count twice, as for two directions together.
    #[serde(default)]
    pub twice: BTreeMap<String, Value>,
    /// Other rows, with dashed curves beside those with the same names.
    #[serde(default)]
    pub beside: Option<Rows>,
    /// Claims with published values that are drawn dashed.
    #[serde(default)]
    pub published: Vec<Published>,
    /// The places on the horizontal axis where a dashed line crosses the figure.
    #[serde(default)]
    pub mark: Option<f64>,
}

/// Rows with the same metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rows {
    /// The series; all by default.
    pub series: Vec<String>,
    /// Columns, as in the figure.
    #[serde(rename = "where")]
    pub select: BTreeMap<String, Value>,
}

/// A published value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The claim's name.
    pub claim: String,
    /// Its name, beside a line across the figure or in the caption; a line without a name has no
    /// text.
    #[serde(default = "published")]
    pub label: String,
    /// Its place on the horizontal axis; by default the claim's, or a line across the whole figure
    /// if the claim has no place.
    #[serde(default)]
    pub x: Option<f64>,
}

fn published() -> String {
    "published".into()
}

/// How values lie on a horizontal axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum XScale {
    /// In proportion.
    #[default]
    Linear,
    /// By powers of two.
    Log,
    /// By powers of two, for sizes in bytes.
    Sizes,
    /// By powers of ten, as probabilities are.
    Decades,
    /// One step for each value.
    Steps,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drawing {
    /// Means with their intervals, over a parameter.
    #[default]
    Curves,
    /// Accepted over offered load.
    Loads,
    /// Means with their intervals as bars, per parameter value.
    Bars,
    /// Each node's part of a load.
    Nodes,
    /// The congestion matrix for points with time slices; such points always have one, without
    /// these texts.
    Congestion,
    /// A table of I/O node loads.
    IoTable,
    /// The bandwidth that a job keeps beside others.
    Kept,
    /// A table of changes to the machine.
    Ablations,
    /// A table of machines side by side.
    Machines,
    /// A table of policies for several rails.
    Policies,
    /// The share of calls that take no longer than a time, over that time.
    Distribution,
    /// The iteration count in a noise test, over the iteration's duration.
    Histogram,
    /// The time that noise adds.
    Noise,
    /// Whether broadcasts come to a deadlock.
    Deadlocks,
    /// The waits in a deadlock.
    Cycles,
    /// The rails that nodes need.
    Allocation,
    /// The transmitters on each rail.
    Matrices,
}
