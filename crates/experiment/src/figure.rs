//! The figures of an experiment, as its file asks for them: what is on the axes, which curves, how many panels, and which
//! published values beside them.
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
//! A figure decides nothing of any result: it is no part of a point's key, and is drawn from finished points. The names in a
//! figure are checked when the file is read (`check`). Texts may hold `{column}`, which stands for the values of that
//! column. An experiment without figures gets a plain figure for each metric.

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
    /// The line above the figure; where it is empty, kinds of figures that know what they show have a title of their own.
    pub title: String,
    /// The figure of a document that this figure corresponds to.
    #[serde(default)]
    pub paper: String,
    /// The text below the figure, besides the text that each kind of figure has.
    #[serde(default)]
    pub caption: String,
    /// What the caption says of dashed curves, if there are any.
    #[serde(default)]
    pub dashed: String,
    /// How the figure is drawn.
    #[serde(default)]
    pub draw: Drawing,
    /// The series; all of them by default.
    #[serde(default)]
    pub series: Vec<String>,
    /// Which rows are drawn: columns, each with its value, a list of values, or a table of the bounds `least` and `most`, both
    /// included.
    #[serde(default, rename = "where")]
    pub select: BTreeMap<String, Value>,
    /// Whether only the load at which a configuration accepts the most is drawn.
    #[serde(default)]
    pub sustained: bool,
    /// Whether only points that are not saturated are drawn.
    #[serde(default)]
    pub steady: bool,
    /// A parameter; there is a figure for each of its values, whose texts may hold it and `{letter}`, a for the first.
    #[serde(default)]
    pub panel: String,
    /// The metric on the vertical axis; by default, the one that this kind of figure is about.
    #[serde(default)]
    pub metric: String,
    /// The metric of the offered load, on the horizontal axis of loads.
    #[serde(default)]
    pub offered: String,
    /// The parameter on the horizontal axis.
    #[serde(default)]
    pub x: String,
    /// What the horizontal axis says; the name of the parameter by default.
    #[serde(default)]
    pub x_title: String,
    /// How values lie on the horizontal axis.
    #[serde(default)]
    pub x_scale: XScale,
    /// What the vertical axis says, with the unit after the last comma; the metric by default.
    #[serde(default)]
    pub y_title: String,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// The names of curves: texts with `{column}`; those that are not empty are joined by commas. Other parameters that vary are
    /// added to them.
    #[serde(default)]
    pub curve: Vec<String>,
    /// What the legend says above the curves.
    #[serde(default)]
    pub legend: String,
    /// What the values of a column are called in the names of curves: a list of pairs, in the order of the legend.
    #[serde(default)]
    pub names: BTreeMap<String, Vec<(String, String)>>,
    /// Rows whose values count twice, as those of two directions together.
    #[serde(default)]
    pub twice: BTreeMap<String, Value>,
    /// Other rows, whose curves are drawn dashed beside those of the same names.
    #[serde(default)]
    pub beside: Option<Rows>,
    /// Claims whose published values are drawn dashed.
    #[serde(default)]
    pub published: Vec<Published>,
    /// The places on the horizontal axis where a dashed line crosses the figure.
    #[serde(default)]
    pub mark: Option<f64>,
}

/// Rows of the same metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rows {
    /// The series; all of them by default.
    pub series: Vec<String>,
    /// Columns, as those of the figure.
    #[serde(rename = "where")]
    pub select: BTreeMap<String, Value>,
}

/// A published value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The name of the claim.
    pub claim: String,
    /// Its name, beside a line across the figure or in the caption; a line without a name has no text.
    #[serde(default = "published")]
    pub label: String,
    /// Its place on the horizontal axis; by default that of the claim, or a line across the whole figure if the claim has none.
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
    /// By powers of two, of sizes in bytes.
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
    /// Means with their intervals as bars, for each value of a parameter.
    Bars,
    /// What each node has of a load.
    Nodes,
    /// The congestion matrix of points with slices of time; such points have one in any case, without these texts.
    Congestion,
    /// A table of the loads of I/O nodes.
    IoTable,
    /// What a job keeps of its bandwidth beside others.
    Kept,
    /// A table of changes of the machine.
    Ablations,
    /// A table of machines side by side.
    Machines,
    /// A table of policies of several rails.
    Policies,
    /// The share of calls that take no longer than a time, over that time.
    Distribution,
    /// How many iterations of a noise test take a time, over that time.
    Histogram,
    /// What noise adds.
    Noise,
    /// Whether broadcasts come to a deadlock.
    Deadlocks,
    /// Who waits for whom in a deadlock.
    Cycles,
    /// The rails that nodes need.
    Allocation,
    /// Who transmits on which rail.
    Matrices,
}
