//! Sampled computation in a run: ranks get the plan that a table gives, and what they measure besides is added to the table.

use crate::options::Problem;
use crate::table::{Sampled, Table};
use rustix::fs::MemfdFlags;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

/// The sampling of a run.
pub(crate) struct Sampling {
    table: Table,
    /// The plan, as a file in memory.
    plan: File,
}

/// What the ranks of a run have measured.
#[derive(Default)]
pub(crate) struct Measured {
    /// Names of regions by rank and number.
    names: BTreeMap<(u32, u64), String>,
    /// Region, rank and nanoseconds, in the order of each rank.
    executions: Vec<(u32, u64, u64)>,
}

/// The table of a run that has ended.
#[derive(Clone, Debug)]
pub struct Extended {
    /// The text of the file.
    pub text: String,
    /// How many executions the run has measured.
    pub executions: u64,
}

impl Sampling {
    /// Reads the table, and makes the plan.
    ///
    /// # Errors
    /// The mistakes of the table; if the host has no memory for the plan.
    pub fn new(asked: &Sampled) -> Result<Sampling, Problem> {
        let table = match &asked.text {
            Some(text) => Table::parse(&asked.file, text, &asked.program)?,
            None => Table::new(asked.program.clone()),
        };
        let flags = MemfdFlags::CLOEXEC;
        let plan = rustix::fs::memfd_create("elanite-plan", flags).map_err(std::io::Error::from)?;
        let mut plan = File::from(plan);
        plan.write_all(table.plan(|_| 1.0).as_bytes())?;
        Ok(Sampling { table, plan })
    }

    /// Where ranks find the plan: the value of [`link::PLAN_VARIABLE`].
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.plan.as_raw_fd())
    }

    /// The table with what the ranks have measured.
    pub fn extended(&self, measured: &Measured) -> Extended {
        let mut table = self.table.clone();
        for (rank, region, time) in &measured.executions {
            if let Some(name) = measured.names.get(&(*rank, *region)) {
                table.add(name, *rank, *time);
            }
        }
        Extended {
            text: table.text(),
            executions: measured.executions.len() as u64,
        }
    }
}

impl Measured {
    /// A rank has measured an execution of a region, whose name it gives at the first time.
    pub fn add(&mut self, rank: u32, region: u64, name: &[u8], time: u64) {
        if !name.is_empty() {
            let name = link::plan::name(String::from_utf8_lossy(name).into_owned());
            self.names.entry((rank, region)).or_insert(name);
        }
        self.executions.push((rank, region, time));
    }

    /// Whether no rank has measured anything.
    pub fn is_empty(&self) -> bool {
        self.executions.is_empty()
    }
}
