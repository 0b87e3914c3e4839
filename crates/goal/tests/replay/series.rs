//! The series of links and buses that a replay on a machine records.

use super::{cluster, machine, open, ping_pong};
use elan::series::MeterKind;
use elan::{NodeId, Placement};
use goal::replay::on_cluster;
use libelan::ProcessJob;
use units::Time;

/// A replay that keeps operations and series equals one without them, and its series add up.
#[test]
fn series_change_nothing_and_add_up_to_the_busy_time_of_each_link() {
    let trace = ping_pong(40, 30_000);
    let machine = machine("es40-qsnet", &[]);
    let job = ProcessJob::new("rank", NodeId::all(2), 1).unwrap();
    let mut both = Vec::new();
    for keep in [false, true] {
        let mut cluster = cluster(&machine);
        let replayed = on_cluster(open(&trace), &mut cluster, &job, Placement::Main, keep).unwrap();
        both.push((replayed.digest, replayed.time, cluster.digest()));
        assert_eq!(replayed.series.is_empty(), !keep);
        let links = cluster.config().fabric.topology.links();
        for id in (0..links).filter(|_| keep) {
            let counters = cluster.link(id);
            let busy = cluster.config().cycle * (counters.flits + counters.tokens);
            let rows = replayed.series.iter();
            let rows = rows.filter(|row| (row.thing, row.id) == (MeterKind::Link, id));
            assert_eq!(rows.map(|row| row.busy).sum::<Time>(), busy, "link {id}");
        }
        assert!(
            !keep
                || replayed
                    .series
                    .iter()
                    .any(|row| row.thing == MeterKind::Bus)
        );
        assert!(replayed.series.iter().all(|row| row.begin < row.end));
    }
    assert_eq!(both[0], both[1]);
}
