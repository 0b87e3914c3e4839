//! Today's links and buses: a long packet stream's duration as computed on paper, to the
//! picosecond.

use crate::common;

use experiment::{Point, simulate};
use units::Time;

const TODAY: &str = include_str!("today.toml");

/// Packets of 4 KB in 64-byte flits, over hops of 100 cycles, with credits for whole packets: 8 +
/// 10 + 4096 bytes are 65 flits. Acknowledgements take no link slots.
const LINK: [&str; 11] = [
    "switch.tokens=false",
    "link.flit=64 B",
    "link.buffer=65 flits",
    "link.channels=8",
    "switch.circuit=cut-through",
    "packet.payload=4 KB",
    "packet.transaction=4 KB",
    "adapter.packets_in_flight=1024",
    "adapter.share_burst=0 flits",
    "adapter.input_buffers=1024",
    "adapter.time_slice=20 us",
];

/// Fifth-generation PCI Express with 16 lanes moves about 64 GB/s in each direction: 4 KB in 64 ns.
const BUS: [&str; 5] = [
    "bus.duplex=full",
    "bus.rate=64 GB/s",
    "bus.burst=4 KB",
    "bus.burst_overhead=0 ns",
    "bus.turnaround=0 ns",
];

/// A series' points at a link rate.
fn points(series: &str, gigabits: u64, more: &[&str]) -> Vec<Point> {
    let cycle = Time::from_ps(512_000 / gigabits);
    let (rate, delay) = (
        format!("link.rate={gigabits} Gb/s"),
        format!("link.hop_delay={}", cycle * 100),
    );
    let overrides = [rate.as_str(), &delay];
    let overrides: Vec<&str> = [&overrides, &LINK[..], &BUS, more].concat();
    common::series(series, "today.toml", TODAY, &overrides)
}

/// The additional duration of a 2 MB message over a 1 MB message, in one direction and in both.
fn second_half(series: &str, gigabits: u64, more: &[&str]) -> [Time; 2] {
    let latency = |point: &Point| {
        let records = simulate(point, None).unwrap_or_else(|error| panic!("{series}: {error}"));
        Time::from_ps((records.value("latency") * 1e6).round() as u64)
    };
    let points = points(series, gigabits, more);
    let [one, one_more, both, both_more] = points.iter().map(latency).collect::<Vec<_>>()[..]
    else {
        panic!("four points");
    };
    [one_more - one, both_more - both]
}

/// Between adapter memories only the link counts: 256 packets of 65 cycles, at any rate, in each
/// direction independently.
#[test]
fn a_stream_has_the_rate_of_the_link() {
    for gigabits in [100, 200, 400, 800] {
        let cycle = Time::from_ps(512_000 / gigabits);
        let takes = cycle * (256 * 65);
        assert_eq!(
            second_half("link", gigabits, &[]),
            [takes; 2],
            "{gigabits} Gb/s"
        );
    }
}

/// Between main memories at 800 Gb/s the bus is slower than the link, 64 ns for each packet against
/// 41.6 ns. It moves both directions at the same time; otherwise both would take at least twice the
/// time.
#[test]
fn a_stream_has_the_rate_of_the_bus() {
    let takes = Time::from_ns(64) * 256;
    assert_eq!(second_half("bus", 800, &[]), [takes; 2]);
    let [one, both] = second_half("bus", 800, &["bus.duplex=half"]);
    assert_eq!(one, takes);
    assert!(both >= takes * 2, "{both}");
}

/// A node's eight adapters, over which a policy stripes a message, carry it in an eighth of one
/// adapter's time: this is the average difference between 2 MB and 1 MB, except for cycle phases.
#[test]
fn eight_adapters_have_eight_times_the_rate() {
    let mean = |point: &Point| {
        let records = simulate(point, None).unwrap_or_else(|error| panic!("rails: {error}"));
        let mut rows = records.tables.rows.iter();
        let row = rows.find(|row| row.metric == "latency_mean");
        row.expect("messages have arrived").value
    };
    let means: Vec<f64> = points("rails", 800, &[]).iter().map(mean).collect();
    let [one, one_more, eight, eight_more] = means[..] else {
        panic!("four points: {means:?}");
    };
    let cycle = Time::from_ps(640).as_us_f64();
    for (found, rails) in [(one_more - one, 1.0), (eight_more - eight, 8.0)] {
        let cycles = 256.0 * 65.0 / rails;
        assert!(
            (found / cycle - cycles).abs() < 2.0,
            "{found} us, {rails} rails: {means:?} us"
        );
    }
}
