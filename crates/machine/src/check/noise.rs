//! What a machine file may say about noise.

use super::Check;
use crate::file::{LONGEST, Machine, Noise};
use crate::noise::{Distribution, MeanOrCounts, Processors};
use crate::param::Param;
use units::Time;

/// Shortest mean interval, and longest: below it a run would do nothing else, above it nothing would ever happen.
const SHORTEST_INTERVAL: Time = Time::from_us(1);
const LONGEST_INTERVAL: Time = Time::from_secs(24 * 3600);

/// Most different times that were counted, and most of one: sums stay far from overflow.
const MOST_TIMES: usize = 10_000;
const MOST_COUNTS: u64 = 1 << 40;

/// Most that all causes together may take of a processor.
const MOST_TAKEN: f64 = 0.9;

impl Check<'_> {
    /// Processors, and what takes them away.
    pub(super) fn noise(&mut self, machine: &Machine) {
        let cpus = machine.cpus();
        if self.told("host.cpus") {
            return;
        }
        let before = self.problems.len();
        for (name, noise) in &machine.noise {
            self.source(name, noise, cpus);
        }
        if self.problems.len() == before {
            self.taken(machine, cpus);
        }
    }

    fn source(&mut self, name: &str, noise: &Noise, cpus: u32) {
        let key = |key: &str| format!("noise.{name}.{key}");
        if name.is_empty()
            || !name
                .chars()
                .all(|letter| letter.is_alphanumeric() || "-_".contains(letter))
        {
            let problem = self
                .document
                .problem(&format!("noise.{name}"), format!("`{name}` is no name"));
            self.problems
                .push(problem.allowed("letters, digits, - and _"));
        }
        if let Processors::One(cpu) = noise.cpu.value
            && cpu >= cpus
        {
            let problem = self.at(&key("cpu"), format!("there is no processor {cpu}"));
            self.problems.push(
                problem
                    .allowed(format!("\"all\", or 0 to {}", cpus - 1))
                    .hint("host.cpus says how many processors a node has"),
            );
        }
        let (interval, duration) = (&noise.interval.value, &noise.duration.value);
        self.spread(&key("intervals"), interval, noise.intervals.as_ref());
        self.spread(&key("durations"), duration, noise.durations.as_ref());
        if self.bounded(&key("duration"), duration, (Time::ZERO, LONGEST))
            && self.bounded(&key("interval"), interval, (Time::ZERO, LONGEST_INTERVAL))
        {
            let mean = Time::from_ps(interval.spread(noise.intervals.as_ref()).mean_ps() as u64);
            self.range(&key("interval"), mean, SHORTEST_INTERVAL, LONGEST_INTERVAL);
        }
    }

    /// Counted times need no distribution.
    fn spread(&mut self, key: &str, times: &MeanOrCounts, given: Option<&Param<Distribution>>) {
        if matches!(times, MeanOrCounts::Counts(_)) && given.is_some() {
            let message = "times that were counted have their distribution";
            let problem = self.at(key, message);
            self.problems.push(problem.hint("leave it out"));
        }
    }

    /// Whether a mean, or counted times, are in a range.
    fn bounded(&mut self, key: &str, times: &MeanOrCounts, (least, most): (Time, Time)) -> bool {
        let counts = match times {
            MeanOrCounts::Mean(mean) => return self.range(key, *mean, least, most),
            MeanOrCounts::Counts(counts) => counts,
        };
        if !(1..=MOST_TIMES).contains(&counts.len()) {
            let message = format!("a list of {} times", counts.len());
            let problem = self.at(key, message);
            self.problems
                .push(problem.allowed(format!("1 to {MOST_TIMES} times, each with its count")));
            return false;
        }
        for (index, &(time, count)) in counts.iter().enumerate() {
            let place = format!("{key}.value.{index}");
            let inside = self.range(&format!("{place}.0"), time, least, most)
                && self.range(&format!("{place}.1"), count, 1, MOST_COUNTS);
            if !inside {
                return false;
            }
        }
        let each = counts.iter();
        let sum: u128 = each
            .map(|&(time, count)| u128::from(time.as_ps()) * u128::from(count))
            .sum();
        let longest = Time::MAX;
        let fits = sum <= u128::from(longest.as_ps());
        if !fits {
            let problem = self.at(key, "the sum of all times is too long");
            self.problems
                .push(problem.allowed(format!("at most {} s", longest / Time::from_secs(1))));
        }
        fits
    }

    /// A processor is there for processes first of all.
    fn taken(&mut self, machine: &Machine, cpus: u32) {
        let sources: Vec<_> = machine
            .noise
            .iter()
            .map(|(name, noise)| (name, noise.source(name)))
            .collect();
        for cpu in 0..cpus {
            let here = || {
                sources
                    .iter()
                    .filter(move |(_, source)| source.cpu.is_none_or(|own| own == cpu))
            };
            let taken: f64 = here().map(|(_, source)| source.share()).sum();
            if taken > MOST_TAKEN {
                let worst = here().max_by(|a, b| a.1.share().total_cmp(&b.1.share()));
                let name = worst.expect("something takes it").0;
                let percent = 100.0 * taken;
                let message = format!("with this, {percent:.0}% of processor {cpu} is taken");
                let problem = self.at(&format!("noise.{name}.duration"), message);
                let problem = problem.allowed(format!(
                    "at most {:.0}% by all causes together",
                    100.0 * MOST_TAKEN
                ));
                self.problems
                    .push(problem.hint("shorter durations, or longer intervals"));
                return;
            }
        }
    }
}
