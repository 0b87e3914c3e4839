//! Programs side by side: flow completion times, slowdowns, and link shares, by closed forms.
#![allow(clippy::float_cmp)] // equal results are equal to the last bit

use crate::common;

use common::{cluster, sixteen_nodes};
use elan::{Cluster, Config, NodeId, Placement};
use goal::pattern::{Calls, CollectivePattern as Collective};
use units::{Bytes, Rate, Time};
use workload::flows::Flow;
use workload::mix::{Machines, TraceOperations, TraceProgram};
use workload::{Distribution, FlowRow, Flows, Job, Mix, Pattern, Records, Window};

/// A flow that starts some microseconds after its list.
fn flow(start: u64, source: u32, destination: u32, kb: u64) -> Flow {
    Flow {
        start: Time::from_us(start),
        source: source.into(),
        destination: destination.into(),
        size: Bytes::from_kb(kb),
        class: 0,
    }
}

fn list(name: &str, flows: &[Flow]) -> Flows {
    Flows {
        name: name.into(),
        flows: flows.to_vec(),
        memory: Placement::Adapter,
        start: Time::ZERO,
    }
}

/// Three all-reduces by a ring, over four nodes from `first` on.
fn ring(name: &str, first: u32, start: u64) -> TraceProgram {
    TraceProgram {
        name: name.into(),
        operations: TraceOperations::Calls(Calls {
            pattern: Collective::AllReduceRing,
            ranks: 4,
            group: 4,
            size: 64 << 10,
            calls: 3,
        }),
        nodes: (first..first + 4).map(NodeId::new).collect(),
        start: Time::from_us(start),
        buffered: Bytes::ZERO,
        traffic_class: 0,
    }
}

fn on(config: &Config, mix: &Mix) -> Records {
    let made = || -> Cluster { cluster(config) };
    let machines = Machines {
        cluster: &made,
        whole: &made,
    };
    let window = Window {
        warm_up: Time::from_us(50),
        length: Time::from_ms(1),
        batches: 1,
        slices: 0,
        watch: Time::ZERO,
        precision: None,
    };
    mix.run(machines, window, 1).expect("it ends")
}

fn of_flows(flows: &[Flow]) -> Vec<FlowRow> {
    let mix = Mix {
        flows: vec![list("web", flows)],
        ..Mix::default()
    };
    on(&sixteen_nodes(), &mix).tables.flows
}

/// The only value of a program's metric.
fn value(records: &Records, job: &str, metric: &str) -> f64 {
    let rows = records.tables.rows.iter();
    let mut rows = rows.filter(|row| row.metric == metric && row.job.as_deref() == Some(job));
    let (Some(row), None) = (rows.next(), rows.next()) else {
        panic!("{metric} of {job} is there once");
    };
    row.value
}

/// Flows that never meet take as long as alone, with any starts and in any listed order.
#[test]
fn flows_that_do_not_meet_take_their_ideal() {
    let flows = [
        flow(3000, 2, 3, 64),
        flow(0, 0, 1, 64),
        flow(7, 4, 5, 1),
        flow(900, 0, 1, 16),
    ];
    let rows = of_flows(&flows);
    assert_eq!(rows.len(), 4);
    for (row, flow) in rows.iter().zip(&flows) {
        assert_eq!((row.start, row.size), (flow.start, flow.size.as_u64()));
        assert_eq!(
            (row.fct, row.slowdown),
            (Some(row.ideal), Some(1.0)),
            "{row:?}"
        );
    }
    assert_eq!(rows[0].ideal, rows[1].ideal, "both stay below one switch");
    assert!(rows[3].ideal < rows[1].ideal && rows[2].ideal < rows[3].ideal);
}

/// Two flows into one link need at least the time for all their flits on it, and no more than one
/// flow of all bytes over the machine's slowest part: so the last one ends between both.
#[test]
fn two_flows_share_the_link_to_their_destination() {
    let config = sixteen_nodes();
    let pair = of_flows(&[flow(0, 0, 5, 256), flow(0, 1, 5, 256)]);
    let whole = of_flows(&[flow(0, 0, 5, 512)]);
    let last = pair
        .iter()
        .filter_map(|row| row.fct)
        .max()
        .expect("they end");
    let packets = (256_u64 << 10).div_ceil(config.packet.payload.as_u64());
    let flits = u64::from(config.packet.flits(config.packet.payload));
    assert!(last >= config.cycle * (2 * packets * flits), "{last}");
    assert!(
        last <= whole[0].ideal + pair[0].ideal / 50,
        "{last}, {}",
        whole[0].ideal
    );
    for row in &pair {
        let slowdown = row.slowdown.expect("they end");
        assert!((1.2..2.02).contains(&slowdown), "{slowdown}");
    }
}

/// One node's flows share its adapter: a long one delays short ones by no more than time slices.
#[test]
fn flows_of_a_node_share_its_adapter() {
    let rows = of_flows(&[flow(0, 0, 5, 1024), flow(100, 0, 9, 1)]);
    let [long, short] = [&rows[0], &rows[1]].map(|row| row.fct.expect("they end"));
    assert!(short < long / 4, "{short} and {long}");
    assert!(long > rows[0].ideal && short > rows[1].ideal);
}

/// Flows beyond the adapter's queue capacity wait at their host, in the order of their starts, and
/// all arrive.
#[test]
fn flows_wait_for_places_in_the_queue() {
    let mut config = sixteen_nodes();
    config.adapter.queue = 2;
    let flows: Vec<Flow> = (0..7).rev().map(|place| flow(place, 0, 5, 64)).collect();
    let mix = Mix {
        flows: vec![list("web", &flows)],
        ..Mix::default()
    };
    let rows = on(&config, &mix).tables.flows;
    let mut ends: Vec<_> = rows
        .iter()
        .map(|row| (row.start, row.start + row.fct.expect("they end")))
        .collect();
    ends.sort_unstable();
    // With two places, a flow starts when the one before the last has ended.
    for three in ends.windows(3) {
        assert!(three[2].1 > three[0].1, "{ends:?}");
    }
    let wire = rows[0].ideal.as_us_f64();
    assert!(
        ends[6].1.as_us_f64() > 6.0 * wire,
        "the adapter sends one after another"
    );
}

/// Percentiles use the nearest rank, over all flows and per size class.
#[test]
fn percentiles_are_of_the_nearest_rank() {
    // Apart from each other: completion times are ideals, which rise with the size.
    let flows: Vec<Flow> = (0..101)
        .map(|place| flow(500 * place, 0, 1, 1 + place / 4))
        .collect();
    let mix = Mix {
        flows: vec![list("web", &flows)],
        ..Mix::default()
    };
    let records = on(&sixteen_nodes(), &mix);
    let rows = &records.tables.flows;
    let fct = |place: usize| rows[place].ideal.as_us_f64();
    assert_eq!(value(&records, "web", "flows"), 101.0);
    assert_eq!(value(&records, "web", "fct_p50"), fct(50));
    assert_eq!(value(&records, "web", "fct_p99"), fct(99));
    assert_eq!(value(&records, "web", "fct_p99_9"), fct(100));
    let fcts = rows.iter().filter_map(|row| row.fct);
    let mean = fcts.map(Time::as_us_f64).sum::<f64>() / 101.0;
    assert!((value(&records, "web", "fct_mean") / mean - 1.0).abs() < 1e-12);
    assert!((value(&records, "web", "fct_slowdown_p50") - 1.0).abs() < 1e-3);
    // 1 to 10 KB are 40 flows, 11 to 26 KB the others.
    assert_eq!(value(&records, "web, to 10 KB", "flows"), 40.0);
    assert_eq!(value(&records, "web, to 10 KB", "fct_p99_9"), fct(39));
    assert_eq!(value(&records, "web, 10 KB to 100 KB", "flows"), 61.0);
}

/// Programs on machine parts without common links take as long as alone.
#[test]
fn programs_that_share_no_link_have_no_slowdown() {
    let mix = Mix {
        flows: vec![list("web", &[flow(0, 4, 5, 64), flow(10, 6, 5, 64)])],
        traces: vec![ring("first", 0, 0), ring("second", 8, 2000)],
        ..Mix::default()
    };
    let records = on(&sixteen_nodes(), &mix);
    for name in ["web", "first", "second"] {
        assert_eq!(value(&records, name, "slowdown"), 1.0, "{name}");
    }
    // A start is not part of the duration; it moves the trace among the network's cycles.
    let [first, second] = ["first", "second"].map(|name| value(&records, name, "time"));
    assert!((first / second - 1.0).abs() < 0.1, "{first} and {second}");
    assert_eq!(
        value(&records, "first", "time"),
        value(&records, "first", "time_alone")
    );
    let shares = &records.tables.shares;
    let shared = shares.iter().filter(|one| {
        shares
            .iter()
            .any(|two| one.link == two.link && one.job != two.job)
    });
    assert_eq!(shared.count(), 0);
}

/// Programs in each other's way take longer than alone, and each link's shares add up to its
/// counters.
#[test]
fn programs_in_each_others_way_take_longer() {
    let uniform = Job {
        name: "uniform".into(),
        nodes: (0..16).map(NodeId::new).collect(),
        pattern: Pattern::Uniform,
        servers: Vec::new(),
        message: Bytes::from_kb(4),
        sizes: Distribution::Exponential,
        arrivals: Distribution::Exponential,
        source: None,
        load: Rate::from_mb_per_second(60),
        writes: 0.5,
        memory: Placement::Adapter,
        processes: 1,
        traffic_class: 0,
    };
    let mix = Mix {
        jobs: vec![uniform],
        flows: vec![list("web", &[flow(0, 4, 0, 512), flow(0, 5, 1, 512)])],
        traces: vec![ring("ring", 0, 0)],
    };
    let records = on(&sixteen_nodes(), &mix);
    for name in ["uniform", "web", "ring"] {
        assert!(value(&records, name, "slowdown") > 1.01, "{name}");
    }
    let slowdown = value(&records, "ring", "time") / value(&records, "ring", "time_alone");
    assert_eq!(value(&records, "ring", "slowdown"), slowdown);
    let slowdown =
        value(&records, "uniform", "latency_mean") / value(&records, "uniform", "latency_alone");
    assert!((value(&records, "uniform", "slowdown") / slowdown - 1.0).abs() < 1e-9);
    let tables = &records.tables;
    for link in &tables.links {
        let own = tables.shares.iter().filter(|share| share.link == link.link);
        let (packets, flits) = own.fold((0, 0), |(packets, flits), share| {
            (packets + share.packets, flits + share.flits)
        });
        // The job's packets may have a channel and no flit on the link when the run ends, or when
        // the window begins.
        assert!(packets.abs_diff(link.packets) <= 4, "{link:?}: {packets}");
        let longest = u64::from(sixteen_nodes().packet.flits(Bytes::new(320)));
        assert!(
            flits.abs_diff(link.flits) <= 4 * longest,
            "{link:?}: {flits}"
        );
    }
    // The ring's bytes over a node's link: 2 x 3 steps with a quarter of the vector, three times,
    // and its overhead.
    let sent = tables
        .shares
        .iter()
        .find(|share| share.from == "node 2" && share.job.as_deref() == Some("ring"));
    let payload = 3 * 6 * (64 << 10) / 4;
    let sent = sent.expect("the ring sends").bytes;
    assert!(
        (payload..payload * 3 / 2).contains(&sent),
        "{sent} bytes of {payload}"
    );
    assert!(
        tables.shares.iter().all(|share| share.job.is_some()),
        "every packet has a program"
    );
}

/// The percentiles are values of the list by their nearest ranks, in the list and in each of its
/// size classes; a flow's number is its place in the list. A program alone is compared with none.
#[test]
fn statistics_of_many_flows() {
    let size = |number: u64| if number.is_multiple_of(50) { 12 } else { 1 };
    let one = |number: u64| {
        let (from, to) = (number % 16, (number * 7 + 3) % 16);
        let to = if from == to { (to + 1) % 16 } else { to };
        flow(number / 2, from as u32, to as u32, size(number))
    };
    let mut flows: Vec<Flow> = (0..2002).map(one).collect();
    // The longest of a class, and the shortest of the next.
    flows[0].size = Bytes::new(10 << 10);
    flows[1].size = Bytes::new((10 << 10) + 1);
    let mix = Mix {
        flows: vec![list("web", &flows)],
        ..Mix::default()
    };
    let records = on(&sixteen_nodes(), &mix);
    let rows = &records.tables.flows;
    assert!(rows.iter().map(|row| row.flow).eq(0..2002));
    let names = ["web", "web, to 10 KB", "web, 10 KB to 100 KB"];
    let classes = [0..=u64::MAX, 0..=10 << 10, (10 << 10) + 1..=100 << 10];
    for (name, sizes) in names.into_iter().zip(classes) {
        let some = || rows.iter().filter(|row| sizes.contains(&row.size));
        let fcts: Vec<f64> = some().map(|row| row.fct.unwrap().as_us_f64()).collect();
        let slowdowns: Vec<f64> = some()
            .map(|row| row.fct.unwrap().as_us_f64() / row.ideal.as_us_f64())
            .collect();
        assert_eq!(value(&records, name, "flows"), fcts.len() as f64);
        for (metric, mut values) in [("fct", fcts), ("fct_slowdown", slowdowns)] {
            values.sort_by(f64::total_cmp);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            assert_eq!(value(&records, name, &format!("{metric}_mean")), mean);
            for (percentile, share) in [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999)] {
                // The least value with at least this share of all at or below it.
                let number = values.len() as f64;
                let least = (1..=values.len()).find(|&rank| rank as f64 >= number * share - 1e-6);
                let expected = values[least.unwrap() - 1];
                let found = value(&records, name, &format!("{metric}_{percentile}"));
                assert_eq!(found, expected, "{name}: {metric} {percentile}");
            }
        }
    }
    assert_eq!(rows_alone(&records), 0);
}

/// Rows that compare a program with itself alone.
fn rows_alone(records: &Records) -> usize {
    let rows = records.tables.rows.iter();
    rows.filter(|row| row.metric.ends_with("alone")).count()
}

/// A job of two nodes that send to a third, on nodes that no list uses.
fn steady() -> Job {
    let node = NodeId::new;
    Job {
        name: "steady".into(),
        nodes: [8, 9, 10].map(node).to_vec(),
        pattern: Pattern::Pairs(vec![(node(8), node(9)), (node(10), node(9))]),
        servers: Vec::new(),
        message: Bytes::new(640),
        sizes: Distribution::Fixed,
        arrivals: Distribution::Fixed,
        source: None,
        load: Rate::from_mb_per_second(20),
        writes: 1.0,
        memory: Placement::Adapter,
        processes: 1,
        traffic_class: 0,
    }
}

/// A single program is compared with nothing; messages that faults end are counted where the
/// machine has failed parts, and only there.
#[test]
fn a_job_alone_and_among_faults() {
    let list = list("web", &[flow(0, 0, 1, 600)]);
    let mix = |flows: &[Flows]| Mix {
        jobs: vec![steady()],
        flows: flows.to_vec(),
        ..Mix::default()
    };
    let whole = sixteen_nodes();
    let cut = common::cable_of(&whole, 10);
    let fault = common::down(cut, Time::from_us(1), None);
    let failing = common::failing(whole.clone(), vec![fault]);
    let flows = std::slice::from_ref(&list);
    let records = on(&failing, &mix(flows));
    assert_eq!(rows_alone(&records), 2, "the job's and the list's");
    // Node 10 gives its first message up after a millisecond, and so on.
    let failed = value(&records, "steady", "failed");
    assert!((1.0..3.0).contains(&failed), "{failed}");
    assert_eq!(on(&whole, &mix(flows)).values("failed"), [0.0; 0]);
}

/// A job beside a list has the rows of a job alone: its load, over the time from the warm-up's end
/// to the last flow's, and each sender's.
#[test]
fn a_job_beside_a_list_has_its_rows() {
    let mix = Mix {
        jobs: vec![steady()],
        flows: vec![list("web", &[flow(0, 0, 1, 600)])],
        ..Mix::default()
    };
    let records = on(&sixteen_nodes(), &mix);
    let row = |metric| value(&records, "steady", metric);
    let near = |found: f64| assert!((found / 20.0 - 1.0).abs() < 0.05, "{found} of 20 MB/s");
    near(row("offered"));
    near(row("accepted"));
    assert_eq!(row("saturated"), 0.0);
    let nodes = &records.tables.nodes;
    assert!(nodes.iter().map(|one| one.node).eq([8, 10]));
    for one in nodes {
        near(one.offered);
        near(one.accepted);
    }
    assert_eq!(row("slowdown"), 1.0, "they do not meet");
    assert_eq!(value(&records, "web", "slowdown"), 1.0);
}
