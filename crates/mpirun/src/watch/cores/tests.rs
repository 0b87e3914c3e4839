use super::{Choice, Cores, MEASURED, Purpose, TAKEN, Way, change};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::process::Command;
use std::time::Duration;

/// The way that is taken after a measurement, where a turn takes so long apart and together.
fn taken(apart: Duration, together: Duration) -> Way {
    let (mut choice, mut now) = (Choice::new(), Duration::ZERO);
    let mut measured = Vec::new();
    loop {
        now += match choice.way {
            Way::Apart => apart,
            Way::Together => together,
        };
        choice.turn(now);
        match choice.purpose {
            Purpose::Measure => measured.push(choice.way),
            Purpose::Run if !measured.is_empty() => return choice.way,
            Purpose::Run => assert_eq!(choice.way, Way::Apart, "at first"),
        }
        assert!(now < 2 * TAKEN, "{measured:?}");
    }
}

#[test]
fn the_faster_way_is_taken() {
    let micros = Duration::from_micros;
    assert_eq!(taken(micros(100), micros(12)), Way::Together);
    assert_eq!(taken(micros(12), micros(100)), Way::Apart);
    // Turns that last are not measured together.
    assert_eq!(taken(micros(1000), micros(1)), Way::Apart);
    assert_eq!(taken(micros(50), micros(1500)), Way::Apart);
}

#[test]
fn ranks_run_together_until_one_computes() {
    let mut ranks: Vec<_> = (0..2)
        .map(|_| {
            Command::new("sleep")
                .arg("100")
                .spawn()
                .expect("it is installed")
        })
        .collect();
    let pids: Vec<u32> = ranks.iter().map(std::process::Child::id).collect();
    let set = |pid: u32| sched_getaffinity(Pid::from_raw(pid.cast_signed())).expect("it runs");
    let mut cores = Cores::new(std::process::id());
    if let Some(usual) = cores.usual {
        // One has processors of its own.
        let mut own = CpuSet::new();
        own.set(
            (0..CpuSet::MAX_CPU)
                .find(|&cpu| usual.is_set(cpu))
                .expect("there are two"),
        );
        assert!(change(pids[1], &usual, &own));
        cores.choice.take(Way::Together, Purpose::Run, MEASURED);
        cores.follow(|| vec![pids[0], pids[1], std::process::id(), 1]);
        assert!(cores.patience().is_some());
        let one = sched_getaffinity(None).expect("it runs");
        assert_eq!((one.count(), set(pids[0]), set(pids[1])), (1, one, own));
        cores.late();
        assert!(cores.patience().is_none());
        assert_eq!((set(pids[0]), set(pids[1])), (usual, own));
        assert_eq!(sched_getaffinity(None).expect("it runs"), usual);
    }
    for rank in &mut ranks {
        rank.kill().expect("it runs");
        rank.wait().expect("it ends");
    }
}
