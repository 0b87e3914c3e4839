//! Lists that go together.
//!
//! A series' lists make all combinations. `zip = ["nodes", "load"]` pairs lists in place of this:
//! the first values with the first, and so on, as in a table with a column for each list.
//! `zip = [["nodes", "load"], ["message", "sizes"]]` are two such tables, which multiply each other
//! and the other lists. The names are those of the columns in results: `machine`, `fault.at`, a
//! benchmark's fields, with their job's name where there are several jobs.
//!
//! A [`Row`] is one place in each of these tables: the series with single values in their columns.
//! Rows are checked one by one, so values need to fit only their own row. A point does not depend
//! on the way in which it is written: the same points of series without `zip` have the same
//! identities.

use crate::check::Check;
use crate::fault::FaultGrid;
use crate::kinds::{Benchmark, Series};
use crate::plan::MOST_POINTS;
use crate::run::Run;
use crate::sweep::{Grid, Sweep};
use itertools::Itertools;

/// The column of machine changes.
const MACHINE: &str = "machine";

/// A series with one value in each zipped list.
#[derive(Clone)]
pub(crate) struct Row {
    /// The place of its machine changes in their list, if this is zipped.
    machine: Option<usize>,
    /// The faults in all series.
    pub shared: Vec<FaultGrid>,
    /// The series' faults.
    pub fault: Vec<FaultGrid>,
    /// The benchmark.
    pub benchmark: Benchmark,
}

impl Row {
    /// The row's machines, from those of all machine changes.
    pub fn machines<'a, M>(&self, all: &'a [M]) -> &'a [M] {
        self.machine.map_or(all, |place| &all[place..=place])
    }

    /// The number of value combinations.
    fn combinations(&self) -> u64 {
        let faults = self.shared.iter().chain(&self.fault);
        let faults = faults.map(Grid::combinations);
        faults.fold(self.benchmark.combinations(), u64::saturating_mul)
    }

    /// All lists by their columns, with their lengths.
    fn lengths(&self) -> Vec<(String, usize)> {
        let faults = self.shared.iter().chain(&self.fault).enumerate();
        let faults = faults.flat_map(|(index, fault)| {
            let prefix = self.prefix(index);
            let lengths = fault.lengths().into_iter();
            lengths.map(move |(key, length)| (format!("{prefix}{key}"), length))
        });
        faults.chain(self.benchmark.lengths()).collect()
    }

    /// Keeps one value of a column.
    fn keep(&mut self, column: &str, place: usize) {
        if column == MACHINE {
            self.machine = Some(place);
        }
        let prefixes = (0..self.shared.len() + self.fault.len()).map(|index| self.prefix(index));
        let prefixes: Vec<String> = prefixes.collect();
        let faults = self.shared.iter_mut().chain(&mut self.fault);
        for (fault, prefix) in faults.zip(prefixes) {
            if let Some(key) = column.strip_prefix(&prefix) {
                fault.keep(key, place);
            }
        }
        self.benchmark.keep(column, place);
    }

    /// The start of a fault's column names, as in [`crate::fault::columns`].
    fn prefix(&self, index: usize) -> String {
        if self.shared.len() + self.fault.len() > 1 {
            format!("fault.{index}.")
        } else {
            "fault.".to_string()
        }
    }
}

impl Series {
    /// The rows; without zipped lists a single one, which has all lists. `shared` are the faults in
    /// all series.
    pub(crate) fn rows(&self, shared: &[FaultGrid]) -> impl Iterator<Item = Row> {
        let (whole, groups) = (self.whole(shared), self.groups());
        let lengths = self.lengths(&whole);
        let places = groups.iter().map(|group| 0..length(&lengths, &group[0]));
        let places: Vec<_> = if groups.is_empty() {
            vec![Vec::new()]
        } else {
            places.multi_cartesian_product().collect()
        };
        places.into_iter().map(move |places| {
            let mut row = whole.clone();
            for (group, place) in groups.iter().zip(places) {
                for column in group {
                    row.keep(column, place);
                }
            }
            row
        })
    }

    /// The number of value combinations.
    pub(crate) fn combinations(&self, shared: &[FaultGrid]) -> u64 {
        let mut row = self.whole(shared);
        let lengths = self.lengths(&row);
        let mut count = self.tables(&lengths);
        for column in self.groups().iter().flatten() {
            row.keep(column, 0);
        }
        if let (None, Some(machines)) = (row.machine, &self.machine) {
            count = count.saturating_mul(machines.values().len() as u64);
        }
        count.saturating_mul(row.combinations())
    }

    /// Checks the zipped lists and all values, row by row. `run` and `shared` are the settings and
    /// faults of all series.
    pub(crate) fn check_values(
        &self,
        path: &str,
        (run, shared): (&Run, &[FaultGrid]),
        check: &mut Check<'_>,
    ) {
        let run = run.with(&self.run);
        let before = check.problems.len();
        let whole = self.whole(shared);
        let lengths = self.lengths(&whole);
        let sound = self.check_zip(path, &lengths, check);
        let places = if sound { self.tables(&lengths) } else { 0 };
        if places > MOST_POINTS {
            let found = check.problem(&format!("{path}.zip"), format!("these are {places} points"));
            found.allowed(format!("at most {MOST_POINTS}"));
        } else if places > 0 {
            for row in self.rows(shared) {
                row.benchmark.check(path, &run, check);
            }
            // A mistake outside of the zipped lists is in all rows.
            let found = check.problems.split_off(before);
            for problem in found {
                if !check.problems[before..].contains(&problem) {
                    check.problems.push(problem);
                }
            }
        } else {
            self.benchmark.check(path, &run, check);
        }
    }

    /// Checks the columns' names and the lists' lengths; whether they are sound.
    fn check_zip(&self, path: &str, lengths: &[(String, usize)], check: &mut Check<'_>) -> bool {
        let before = check.problems.len();
        let path = format!("{path}.zip");
        let mixed = self.zip.iter().any(|one| matches!(one, Sweep::One(_)));
        if mixed && self.zip.iter().any(|one| matches!(one, Sweep::Many(_))) {
            let found = check.problem(&path, "columns stand beside groups of columns");
            found.allowed(
                "columns, or groups such as [[\"nodes\", \"load\"], [\"message\", \"sizes\"]]",
            );
            return false;
        }
        let groups = self.groups();
        for group in &groups {
            if group.len() < 2 {
                let found = check.problem(&path, "a list goes together with another one");
                found.allowed("two columns or more in a group");
            }
        }
        let all: Vec<&String> = groups.iter().flatten().collect();
        for (index, name) in all.iter().enumerate() {
            if !lengths.iter().any(|(known, _)| known == *name) {
                let known = lengths.iter().map(|(known, _)| known.as_str());
                let allowed = known.clone().join(", ");
                let found = check.problem(&path, format!("the series has no column `{name}`"));
                let found = found.allowed(allowed);
                if let Some(near) = config::nearest(name, known) {
                    found.hint(format!("did you mean `{near}`?"));
                }
            } else if all[..index].contains(name) {
                let found = check.problem(&path, format!("`{name}` is in it twice"));
                found.allowed("each column once");
            }
        }
        if check.problems.len() > before {
            return false;
        }
        for group in groups.iter().filter(|group| {
            let unlike = |column: &String| length(lengths, column) != length(lengths, &group[0]);
            group.iter().any(unlike)
        }) {
            let each = |column: &String| format!("`{column}` {}", length(lengths, column));
            let each = group.iter().map(each).join(", ");
            let found = check.problem(&path, format!("lists of unequal lengths: {each}"));
            found.allowed("lists of the same length");
        }
        check.problems.len() == before
    }

    /// The columns of each table.
    fn groups(&self) -> Vec<Vec<String>> {
        let groups = self.zip.iter().map(|group| group.values().to_vec());
        if self.zip.iter().any(|group| matches!(group, Sweep::One(_))) {
            vec![groups.flatten().collect()]
        } else {
            groups.collect()
        }
    }

    /// The number of rows.
    fn tables(&self, lengths: &[(String, usize)]) -> u64 {
        let groups = self.groups();
        let each = groups.iter().map(|group| length(lengths, &group[0]) as u64);
        each.fold(1, u64::saturating_mul)
    }

    /// All lists by their columns, with their lengths.
    fn lengths(&self, whole: &Row) -> Vec<(String, usize)> {
        let machines = self.machine.iter();
        let machines = machines.map(|sweep| (MACHINE.to_string(), sweep.values().len()));
        machines.chain(whole.lengths()).collect()
    }

    /// The series with all its lists.
    fn whole(&self, shared: &[FaultGrid]) -> Row {
        Row {
            machine: None,
            shared: shared.to_vec(),
            fault: self.fault.clone(),
            benchmark: self.benchmark.clone(),
        }
    }
}

/// A column's list length; 0 without this column.
fn length(lengths: &[(String, usize)], column: &str) -> usize {
    let found = lengths.iter().find(|(name, _)| name == column);
    found.map_or(0, |&(_, length)| length)
}
