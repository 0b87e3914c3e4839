//! Factors on computation times: a replay on faster or slower processors.

use crate::{Kind, Operation};

/// Factors by region for classes of ranks. Without classes, the trace's times hold.
#[derive(Clone, Debug, Default)]
pub struct Scales {
    /// Each class's factors: first for computations without a region, then for each region in
    /// order.
    classes: Vec<Vec<f64>>,
    /// Each rank's class.
    ranks: Vec<u32>,
}

impl Scales {
    /// Factors for the ranks and regions in a trace.
    ///
    /// # Errors
    /// A rank or a region without a factor; a factor that is negative or not finite.
    pub fn new(
        classes: Vec<Vec<f64>>,
        ranks: Vec<u32>,
        (rank_count, regions): (u32, u32),
    ) -> Result<Scales, String> {
        if ranks.len() != rank_count as usize {
            return Err(format!(
                "there are classes for {} of {rank_count} ranks",
                ranks.len()
            ));
        }
        let factors = regions as usize + 1;
        if classes.iter().any(|class| class.len() != factors) {
            return Err(format!("a class has not {factors} factors"));
        }
        if ranks.iter().any(|&class| class as usize >= classes.len()) {
            return Err("a rank has no class".into());
        }
        let valid = |factor: &f64| factor.is_finite() && *factor >= 0.0;
        if !classes.iter().flatten().all(valid) {
            return Err("factors are finite, and not negative".into());
        }
        Ok(Scales { classes, ranks })
    }

    /// The factor on an operation's time in a rank; `None` if the operation is not a computation.
    pub(crate) fn factor(&self, rank: u32, operation: &Operation) -> Option<f64> {
        let calc = operation.kind == Kind::Calc && !self.ranks.is_empty();
        calc.then(|| self.of(rank, operation.region))
    }

    /// The factor in a region of a rank, from 1 on, or without a region (0).
    ///
    /// # Panics
    /// If there are no classes, or no such rank or region.
    pub fn of(&self, rank: u32, region: u32) -> f64 {
        let class = self.ranks[rank as usize];
        self.classes[class as usize][region as usize]
    }
}
