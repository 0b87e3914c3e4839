//! A measurement, its profile, and a simulation with it: the same quantiles.

use elan::Distribution::{Exponential, Fixed, Uniform};
use elan::noise::{NoiseSource, Spread};
use elan::{Cluster, HostCpu, Watch};
use kernel::statistics::Histogram;
use machine::Machine;
use noise::Measurement;
use units::Time;

const MACHINE: &str = include_str!("../../machine/tests/good.toml");

/// The measurement of a machine with such sources: iterations of 1 ms.
fn measured(sources: &[NoiseSource], iterations: usize) -> Measurement {
    let mut cpu = HostCpu::new(sources, 11, 0_u32.into(), 0);
    let compute = Time::from_ms(1);
    let mut now = Time::ZERO;
    let elapsed = (0..iterations).map(|_| {
        let begin = now;
        now = cpu.work(begin, compute);
        now - begin
    });
    Measurement::new(compute, elapsed.collect())
}

/// The same iterations on a machine with the profile.
fn simulated(profile: &str, compute: Time, iterations: u32) -> Histogram {
    let text = format!("{MACHINE}\n{profile}");
    let machine = Machine::parse("profiled.toml", &text, &[]);
    let machine = machine.unwrap_or_else(|problems| panic!("{problems}"));
    let cluster = Cluster::new(machine.cluster_config(), Watch::default()).seeded(3);
    let test = workload::Noise {
        node: 0,
        cpu: 0,
        iterations,
        compute,
    };
    let records = test.run(cluster, 1).unwrap();
    let mut detours = Histogram::new();
    for bin in records.tables.distribution {
        detours.record_n(bin.lower, bin.count);
    }
    detours
}

fn source(name: &str, interval: Spread, duration: Spread) -> NoiseSource {
    NoiseSource {
        name: name.into(),
        cpu: None,
        interval,
        duration,
    }
}

/// Quantiles agree to the threshold, 1 us, and a tenth of the detour, including 7% for a bin, with
/// their rank as sure as a sample with this many iterations makes it: three standard deviations.
/// The time that is taken agrees to 5%.
fn agree(measurement: &Measurement, iterations: u32, quantiles: &[f64]) {
    let profile = measurement.profile("a test");
    let base = measurement.base();
    let (before, after) = (measurement.detours(), simulated(&profile, base, iterations));
    for &quantile in quantiles {
        let found = before.quantile(quantile).unwrap();
        let allowed = measurement.threshold() + found / 10;
        let sure = 3.0 * (quantile * (1.0 - quantile) / before.count() as f64).sqrt();
        let [least, most] = [quantile - sure, quantile + sure]
            .map(|rank| after.quantile(rank.clamp(0.0, 1.0)).unwrap());
        assert!(
            least <= found + allowed && found <= most + allowed,
            "{quantile}: {found}, and {least} to {most}\n{profile}"
        );
    }
    let [one, other] = [&before, &after].map(|detours| detours.mean().unwrap().as_us_f64());
    assert!(
        (one - other).abs() <= 0.05 * one.max(1.0),
        "{one} and {other} us\n{profile}"
    );
}

/// A tick in every fourth iteration, with varying length.
#[test]
fn ticks() {
    let tick = source(
        "tick",
        Spread::Mean(Time::from_ms(4), Fixed),
        Spread::Mean(Time::from_us(10), Uniform),
    );
    agree(
        &measured(&[tick], 20_000),
        200_000,
        &[0.5, 0.7, 0.8, 0.9, 0.95, 0.99],
    );
}

/// Detours in every iteration.
#[test]
fn more_ticks_than_iterations() {
    let tick = source(
        "tick",
        Spread::Mean(Time::from_us(250), Fixed),
        Spread::Mean(Time::from_us(5), Uniform),
    );
    agree(&measured(&[tick], 20_000), 100_000, &[0.1, 0.5, 0.9, 0.98]);
}

/// Ticks, and daemons that take long now and then.
#[test]
fn ticks_and_daemons() {
    let tick = source(
        "tick",
        Spread::Mean(Time::from_ms(10), Fixed),
        Spread::Mean(Time::from_us(3), Fixed),
    );
    let daemon = source(
        "daemon",
        Spread::Mean(Time::from_ms(100), Exponential),
        Spread::Mean(Time::from_us(400), Exponential),
    );
    agree(
        &measured(&[tick, daemon], 100_000),
        400_000,
        &[0.5, 0.8, 0.95, 0.99, 0.995, 0.999],
    );
}

#[test]
fn a_quiet_machine_has_a_profile_without_a_section() {
    let quiet = measured(&[], 100);
    let profile = quiet.profile("a \"test\"");
    assert!(
        profile.contains("There was no noise") && !profile.contains("[noise"),
        "{profile}"
    );
    assert_eq!(
        simulated(&profile, quiet.base(), 100).max(),
        Some(Time::ZERO)
    );
}

/// The measured values are in the profile, and the quotes in its source do no harm.
#[test]
fn a_profile_is_a_section_of_a_machine_file() {
    let elapsed = [1000, 1000, 1040, 1000, 1000, 1040, 1000, 1003].map(Time::from_us);
    let measurement = Measurement::new(Time::from_ms(1), elapsed.to_vec());
    let profile = measurement.profile("a \"test\"");
    assert!(
        profile.contains("8 iterations in 8.083 ms, 3 of them at least 1 us longer"),
        "{profile}"
    );
    let text = format!("{MACHINE}\n{profile}");
    let machine = Machine::parse("profiled.toml", &text, &[]).unwrap();
    let sources = machine.cluster_config().noise;
    let us = |us| Time::from_us(us);
    let spread = |times: &[(Time, u64)]| Spread::Counted(times.into());
    assert_eq!(sources[0].duration, spread(&[(us(3), 1), (us(40), 2)]));
    // From 2 ms to 5.04 ms, to 7.08 ms, and around to 2 ms again; the first and the last are one
    // bin apart at most.
    assert!((sources[0].interval.mean_ps() - 8.083e9 / 3.0).abs() < 1e3);
}
