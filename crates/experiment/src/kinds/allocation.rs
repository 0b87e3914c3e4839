//! A static rail allocation (coll2003 s2), without a simulation; see [`workload::allocation`].

use super::kind::{Kind, Plot, Runs, Setting};
use crate::check::Check;
use crate::fit::Fit;
use crate::nodes::MOST_NODES;
use crate::run::Run;
use crate::sweep::Sweep;
use derive::{choice, grid};
use rails::AllocationError;
use rails::allocation::{MOST_RAILS, check, most_nodes};
use workload::{Failure, Records};

/// Most nodes in a stored matrix: more than fit into a picture.
const MOST_OF_A_MATRIX: u32 = 1024;

/// A static rail allocation (coll2003 s2): each adapter either transmits or receives, and every
/// node reaches every other.
#[grid(struct Allocation)]
pub struct AllocationGrid {
    /// The node count, which need not be the machine's.
    pub nodes: Sweep<u32>,
    /// How rails are allocated.
    pub algorithm: Sweep<Algorithm>,
    /// How many rails there are, for the optimal algorithm; as few as it needs by default.
    pub rails: Option<Sweep<u32>>,
    /// Whether the allocation's matrix is kept: the transmitters and the receivers on each rail.
    pub matrix: Option<Sweep<bool>>,
}

/// An algorithm that allocates rails statically (coll2003 s2).
#[choice]
pub enum Algorithm {
    /// Algorithm 1: twice the logarithm of the node count.
    Logarithmic,
    /// Algorithm 2: as few as there can be.
    Optimal,
}

impl Kind for AllocationGrid {
    const WHAT: &'static str = "a static allocation of rails";
    const USES_NETWORK: bool = false;
    const PLOT: Plot = Plot {
        over: "nodes",
        metrics: &["rails"],
    };

    fn check(&self, series: &str, _: &Run, check: &mut Check<'_>) {
        let path = format!("{series}.allocation");
        check.lists(&path, self);
        let kept = self.matrix.as_ref();
        let kept = kept.is_some_and(|matrix| matrix.values().contains(&true));
        for (place, &nodes) in self.nodes.places(&format!("{path}.nodes")) {
            if check.range(&place, nodes, 1..=MOST_NODES) && kept && nodes > MOST_OF_A_MATRIX {
                let message = format!("a matrix of {nodes} nodes is too large to be kept");
                let found = check
                    .problem(&place, message)
                    .allowed(format!("at most {MOST_OF_A_MATRIX}"));
                found.hint("or leave out `matrix`, or give it a series of its own");
            }
        }
        self.rails(&path, check);
    }

    // An allocation's nodes need not be the machine's.
    fn fit(&self, _: &str, _: &mut Fit<'_>) {}
}

impl AllocationGrid {
    /// Checks that the given rail count is enough for every node count.
    fn rails(&self, path: &str, checks: &mut Check<'_>) {
        let Some(rails) = &self.rails else {
            return;
        };
        if self.algorithm.values().contains(&Algorithm::Logarithmic) {
            let message =
                "the logarithmic algorithm has no use for `rails`: they follow from the nodes";
            let found = checks.problem(&format!("{path}.rails"), message);
            found.hint("leave it out, or give the optimal algorithm a series of its own");
        }
        for (place, &rails) in rails.places(&format!("{path}.rails")) {
            let nodes = self.nodes.values().iter().copied();
            // The largest node count needs the most rails. Numbers that are out of range have been
            // reported.
            let Some(nodes) = nodes.filter(|&nodes| nodes <= MOST_NODES).max() else {
                continue;
            };
            let Err(error) = check(nodes, rails) else {
                continue;
            };
            let found = checks.problem(&place, error.to_string());
            match error {
                AllocationError::TooFewRails { needed, .. } => {
                    let most = most_nodes(rails);
                    let hint = format!("or fewer nodes: so many rails connect at most {most}");
                    found.allowed(format!("at least {needed}")).hint(hint)
                }
                AllocationError::TooManyRails(_) => found.allowed(format!("at most {MOST_RAILS}")),
            };
        }
    }
}

impl Runs for Allocation {
    fn run(&self, setting: &Setting<'_>) -> Result<Records, Failure> {
        use rails::Allocation;
        let allocation = match (self.algorithm, self.rails) {
            (Algorithm::Logarithmic, _) => Allocation::logarithmic(self.nodes),
            (Algorithm::Optimal, None) => Allocation::optimal(self.nodes),
            (Algorithm::Optimal, Some(rails)) => {
                Allocation::with_rails(self.nodes, rails).expect("it was checked")
            }
        };
        let matrix = self.matrix.unwrap_or(false);
        let cluster = (setting.cluster)();
        Ok(workload::allocation::run(&allocation, matrix, &cluster))
    }
}
