//! The processor time that noise takes: closed forms, an oracle, and conservation.

use elan::Distribution::{Exponential, Fixed, Uniform};
use elan::noise::{Detours, NoiseSource, Spread};
use elan::{HostCpu, NodeId};
use proptest::prelude::*;
use std::sync::Arc;
use units::Time;

const SEED: u64 = 7;
const NODE: NodeId = NodeId::new(3);

fn source(name: &str, interval: Spread, duration: Spread) -> NoiseSource {
    NoiseSource {
        name: name.into(),
        cpu: None,
        interval,
        duration,
    }
}

fn ps(ps: u64) -> Time {
    Time::from_ps(ps)
}

/// All sources' detours that are due before a moment, in due order.
fn all_detours(sources: &[NoiseSource], until: Time) -> Vec<(Time, Time)> {
    let of = |source: &NoiseSource| {
        let detours = Detours::new(source, SEED, NODE, 1);
        detours
            .take_while(|&(due, _)| due < until)
            .collect::<Vec<_>>()
    };
    let mut all: Vec<_> = sources.iter().flat_map(of).collect();
    all.sort_by_key(|&(due, _)| due);
    all
}

/// The spans in which detours have the processor, one after the other, apart from each other.
fn spans(detours: &[(Time, Time)]) -> Vec<(Time, Time)> {
    let mut free = Time::ZERO;
    let span = |&(due, duration): &(Time, Time)| {
        let start = free.max(due);
        free = start + duration;
        (start, free)
    };
    detours.iter().map(span).collect()
}

/// The spans' time between two moments.
fn within(spans: &[(Time, Time)], from: Time, to: Time) -> Time {
    let part = |&(start, end): &(Time, Time)| end.min(to).saturating_sub(start.max(from));
    spans.iter().map(part).sum()
}

fn spread() -> impl Strategy<Value = Spread> {
    let distribution = prop::sample::select(vec![Fixed, Uniform, Exponential]);
    prop_oneof![
        3 => (500..2000_u64, distribution).prop_map(|(mean, kind)| Spread::Mean(ps(mean), kind)),
        1 => prop::collection::vec((0..2000_u64, 1..9_u64), 1..6).prop_map(|mut counts| {
            counts.push((500, 100));
            let counts = counts.into_iter().map(|(time, count)| (ps(time), count));
            Spread::Counted(counts.collect())
        }),
    ]
}

/// Durations are short beside intervals, so that something is left for processes.
fn shortened(spread: Spread) -> Spread {
    let short = |time: Time| time / 32;
    match spread {
        Spread::Mean(time, distribution) => Spread::Mean(short(time), distribution),
        Spread::Counted(times) => {
            let times = times.iter().map(|&(time, count)| (short(time), count));
            Spread::Counted(times.collect())
        }
    }
}

fn sources() -> impl Strategy<Value = Vec<NoiseSource>> {
    let one = (spread(), spread()).prop_map(|(interval, duration)| (interval, shortened(duration)));
    proptest::collection::vec(one, 0..4).prop_map(|spreads| {
        let named = spreads.into_iter().enumerate();
        named
            .map(|(index, (interval, duration))| source(&format!("{index}"), interval, duration))
            .collect()
    })
}

proptest! {
    /// Any work at any moments takes its own time, and the detours' time between its beginning and
    /// its end; it ends at a moment when no detour has the processor.
    #[test]
    fn time_is_conserved(
        sources in sources(), steps in proptest::collection::vec((0..3000_u64, 0..5000_u64), 1..20)
    ) {
        let mut cpu = HostCpu::new(&sources, SEED, NODE, 1);
        let mut now = Time::ZERO;
        for (pause, work) in steps {
            let (begin, work) = (now + ps(pause), ps(work));
            let end = cpu.work(begin, work);
            let spans = spans(&all_detours(&sources, end));
            prop_assert_eq!(end - begin, work + within(&spans, begin, end));
            if !work.is_zero() {
                prop_assert_eq!(within(&spans, end - ps(1), end), Time::ZERO, "work ends while it \
                    works");
            }
            now = end;
        }
    }

    /// Work in parts, one right after the other, is done when the whole would be: with no detour
    /// due between the parts, or one.
    #[test]
    fn parts_make_the_whole(
        sources in sources(),
        begin in 0..3000_u64,
        parts in proptest::collection::vec(1..3000_u64, 1..8)
    ) {
        let mut whole = HostCpu::new(&sources, SEED, NODE, 1);
        let mut cpu = HostCpu::new(&sources, SEED, NODE, 1);
        let end = parts.iter().fold(ps(begin), |now, &part| cpu.work(now, ps(part)));
        prop_assert_eq!(end, whole.work(ps(begin), ps(parts.iter().sum())));
    }

    /// One source with one interval and one duration: a long piece of work's time in closed form.
    #[test]
    fn one_periodic_source(period in 2..5000_u64, share in 0.0..0.9_f64, work in 0..100_000_u64) {
        let duration = (period as f64 * share) as u64;
        let source = source(
            "tick", Spread::Mean(ps(period), Fixed), Spread::Mean(ps(duration), Fixed)
        );
        let (first, _) = Detours::new(&source, SEED, NODE, 1).next().unwrap();
        prop_assert!(first < ps(period));
        // The n-th detour is met if it is due before the end that the ones before it make.
        let met = work.saturating_sub(first.as_ps()).div_ceil(period - duration);
        let mut cpu = HostCpu::new(&[source], SEED, NODE, 1);
        prop_assert_eq!(cpu.work(Time::ZERO, ps(work)), ps(work + met * duration));
    }
}

#[test]
fn a_processor_without_sources_takes_the_time_of_the_work() {
    let mut cpu = HostCpu::default();
    assert_eq!(cpu.work(ps(5), ps(7)), ps(12));
    let elsewhere = NoiseSource {
        cpu: Some(0),
        ..source(
            "tick",
            Spread::Mean(ps(10), Fixed),
            Spread::Mean(ps(5), Fixed),
        )
    };
    let mut other = HostCpu::new(&[elsewhere], SEED, NODE, 1);
    assert_eq!(other.work(ps(5), ps(1000)), ps(1005));
}

/// Nodes, processors, names and seeds each have their own streams; equal ones have equal streams.
#[test]
fn streams_have_owners() {
    let interval = Spread::Mean(Time::from_us(10), Exponential);
    let one = source(
        "a",
        interval.clone(),
        Spread::Mean(Time::from_ns(100), Fixed),
    );
    let other = source("b", interval, Spread::Mean(Time::from_ns(100), Fixed));
    let dues = |source, seed, node, cpu| -> Vec<Time> {
        let detours = Detours::new(source, seed, NodeId::new(node), cpu);
        detours.take(5).map(|(due, _)| due).collect()
    };
    let first = dues(&one, 1, 0, 0);
    assert_eq!(first, dues(&one, 1, 0, 0));
    for different in [
        dues(&other, 1, 0, 0),
        dues(&one, 2, 0, 0),
        dues(&one, 1, 1, 0),
        dues(&one, 1, 0, 1),
    ] {
        assert_ne!(first, different);
    }
}

/// Sources began long ago, for any distribution: on average as many detours are due in the first
/// microseconds as later.
#[test]
fn sources_began_long_before_the_run() {
    let mean = Time::from_us(10);
    let counted = [(Time::from_us(1), 9), (Time::from_us(91), 1)];
    for interval in [
        Spread::Mean(mean, Fixed),
        Spread::Mean(mean, Uniform),
        Spread::Mean(mean, Exponential),
        Spread::Counted(Arc::new(counted)),
    ] {
        assert!((interval.mean_ps() - 1e7).abs() < 1.0);
        let tick = source("tick", interval.clone(), Spread::Mean(Time::ZERO, Fixed));
        let runs = 20_000;
        let early = |node| {
            let detours = Detours::new(&tick, SEED, NodeId::new(node), 0);
            detours
                .take_while(|&(due, _)| due < Time::from_us(2))
                .count()
        };
        let count: usize = (0..runs).map(early).sum();
        let per_run = count as f64 / f64::from(runs);
        assert!((per_run - 0.2).abs() < 0.015, "{interval:?}: {per_run}");
    }
}

#[test]
#[should_panic(expected = "overlaps with work")]
fn work_does_not_overlap() {
    let mut cpu = HostCpu::default();
    cpu.work(ps(0), ps(10));
    cpu.work(ps(9), ps(1));
}
