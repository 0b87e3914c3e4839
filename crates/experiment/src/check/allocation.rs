//! What a static allocation of rails may say.

use super::{Check, MOST_NODES};
use crate::file::{Algorithm, AllocationGrid};
use elan::rails::AllocationError;
use elan::rails::allocation::{MOST_RAILS, check, most_nodes};

/// Most nodes of a matrix that is kept: more than a picture has room for.
const MOST_OF_A_MATRIX: u32 = 1024;

impl Check<'_> {
    /// An allocation of rails; `others` is what the series runs besides.
    pub(super) fn allocation(&mut self, path: &str, grid: &AllocationGrid, others: Option<&str>) {
        if let Some(others) = others {
            let message = format!("this series both allocates rails and runs {others}");
            let problem = self.document.problem(path, message);
            self.problems
                .push(problem.hint("give the allocation a series of its own"));
        }
        self.lists(path, grid);
        let kept = grid.matrix.as_ref();
        let kept = kept.is_some_and(|matrix| matrix.values().contains(&true));
        for (place, &nodes) in grid.nodes.places(&format!("{path}.nodes")) {
            if !(1..=MOST_NODES).contains(&nodes) {
                let message = format!("{nodes} is out of range");
                self.add(&place, message, format!("1 to {MOST_NODES}"));
            } else if kept && nodes > MOST_OF_A_MATRIX {
                let message = format!("a matrix of {nodes} nodes is too large to be kept");
                let problem = self.document.problem(&place, message);
                let problem = problem.allowed(format!("at most {MOST_OF_A_MATRIX}"));
                self.problems
                    .push(problem.hint("or leave out `matrix`, or give it a series of its own"));
            }
        }
        self.rails(path, grid);
    }

    /// Rails that are given are enough for every number of nodes.
    fn rails(&mut self, path: &str, grid: &AllocationGrid) {
        let Some(rails) = &grid.rails else {
            return;
        };
        if grid.algorithm.values().contains(&Algorithm::Logarithmic) {
            let message =
                "the logarithmic algorithm has no use for `rails`: they follow from the nodes";
            let problem = self.document.problem(&format!("{path}.rails"), message);
            self.problems.push(
                problem.hint("leave it out, or give the optimal algorithm a series of its own"),
            );
        }
        for (place, &rails) in rails.places(&format!("{path}.rails")) {
            let nodes = grid.nodes.values().iter().copied();
            // The most of the nodes need most; numbers that are out of range are told by themselves.
            let Some(nodes) = nodes.filter(|&nodes| nodes <= MOST_NODES).max() else {
                continue;
            };
            let Err(error) = check(nodes, rails) else {
                continue;
            };
            let problem = self.document.problem(&place, error.to_string());
            self.problems.push(match error {
                AllocationError::TooFewRails { needed, .. } => {
                    let most = most_nodes(rails);
                    let hint = format!("or fewer nodes: so many rails connect at most {most}");
                    problem.allowed(format!("at least {needed}")).hint(hint)
                }
                AllocationError::TooManyRails(_) => {
                    problem.allowed(format!("at most {MOST_RAILS}"))
                }
            });
        }
    }
}
