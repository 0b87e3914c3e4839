//! Rules for noise in a machine file.

use crate::check::Check;
use crate::file::Machine;
use crate::noise::{MeanOrCounts, NoiseCause, Processors};
use crate::param::Param;
use crate::section::LONGEST;
use elan::Distribution;
use elan::noise::NoiseSource;
use std::ops::RangeInclusive;
use units::Time;

/// Bounds of mean intervals: with shorter ones, a run would process only detours; with longer ones,
/// a detour would never occur.
const INTERVALS: RangeInclusive<Time> = Time::from_us(1)..=Time::from_secs(24 * 3600);

/// Most different counted times, and highest count of one time: sums stay far from overflow.
const MOST_TIMES: usize = 10_000;
const MOST_COUNTS: u64 = 1 << 40;

/// The largest processor share that all causes together may take.
const MOST_TAKEN: f64 = 0.9;

/// Processors, and the noise that takes them away.
pub(super) fn check(machine: &Machine, check: &mut Check<'_>) {
    let cpus = machine.cpus();
    if check.told("host.cpus") {
        return;
    }
    let before = check.count();
    for (name, noise) in &machine.noise {
        check_source(name, noise, cpus, check);
    }
    if check.count() == before {
        check_taken(machine, cpus, check);
    }
}

fn check_source(name: &str, noise: &NoiseCause, cpus: u32, check: &mut Check<'_>) {
    let key = |key: &str| format!("noise.{name}.{key}");
    let fits = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
    if name.is_empty() || !name.chars().all(fits) {
        let found = check.problem(&format!("noise.{name}"), format!("`{name}` is no name"));
        found.allowed("letters, digits, - and _");
    }
    if let Processors::One(cpu) = noise.cpu.value
        && cpu >= cpus
    {
        let found = check.at(&key("cpu"), format!("there is no processor {cpu}"));
        let found = found.allowed(format!("\"all\", or 0 to {}", cpus - 1));
        found.hint("host.cpus says how many processors a node has");
    }
    let (interval, duration) = (&noise.interval.value, &noise.duration.value);
    check_spread(&key("intervals"), interval, noise.intervals.as_ref(), check);
    check_spread(&key("durations"), duration, noise.durations.as_ref(), check);
    if is_bounded(&key("duration"), duration, LONGEST, check)
        && is_bounded(&key("interval"), interval, *INTERVALS.end(), check)
    {
        let mean = interval.spread(noise.intervals.as_ref()).mean_ps();
        check.range(&key("interval"), Time::from_ps(mean as u64), INTERVALS);
    }
}

/// Counted times need no distribution.
fn check_spread(
    key: &str,
    times: &MeanOrCounts,
    given: Option<&Param<Distribution>>,
    check: &mut Check<'_>,
) {
    if matches!(times, MeanOrCounts::Counts(_)) && given.is_some() {
        check
            .at(key, "times that were counted have their distribution")
            .hint("leave it out");
    }
}

/// Whether a mean, or counted times, are not too long.
fn is_bounded(key: &str, times: &MeanOrCounts, most: Time, check: &mut Check<'_>) -> bool {
    let counts = match times {
        MeanOrCounts::Mean(mean) => return check.range(key, *mean, Time::ZERO..=most),
        MeanOrCounts::Counts(counts) => counts,
    };
    if !(1..=MOST_TIMES).contains(&counts.len()) {
        let found = check.at(key, format!("a list of {} times", counts.len()));
        found.allowed(format!("1 to {MOST_TIMES} times, each with its count"));
        return false;
    }
    for (index, &(time, count)) in counts.iter().enumerate() {
        let place = format!("{key}.value.{index}");
        let inside = check.range(&format!("{place}.0"), time, Time::ZERO..=most)
            && check.range(&format!("{place}.1"), count, 1..=MOST_COUNTS);
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
        let found = check.at(key, "the sum of all times is too long");
        found.allowed(format!("at most {} s", longest / Time::from_secs(1)));
    }
    fits
}

/// Reports noise that leaves a processor too little time for processes.
fn check_taken(machine: &Machine, cpus: u32, check: &mut Check<'_>) {
    let sources = machine.noise.iter().map(|(name, noise)| noise.source(name));
    let sources: Vec<_> = sources.collect();
    for cpu in 0..cpus {
        let here = || {
            sources
                .iter()
                .filter(move |source| source.cpu.is_none_or(|own| own == cpu))
        };
        let taken: f64 = here().map(NoiseSource::share).sum();
        if taken > MOST_TAKEN {
            let worst = here().max_by(|a, b| a.share().total_cmp(&b.share()));
            let name = &worst.expect("something takes it").name;
            let percent = 100.0 * taken;
            let message = format!("with this, {percent:.0}% of processor {cpu} is taken");
            let found = check.at(&format!("noise.{name}.duration"), message);
            let found = found.allowed(format!(
                "at most {:.0}% by all causes together",
                100.0 * MOST_TAKEN
            ));
            found.hint("shorter durations, or longer intervals");
            return;
        }
    }
}
