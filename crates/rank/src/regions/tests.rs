use super::{Regions, Site, control};
use link::Order;

const A: Site = Site { call: 0, place: 0 };
const B: Site = Site { call: 1, place: 0 };

fn name(from: Site, to: Site) -> String {
    format!("{} > {}", from.name(), to.name())
}

#[test]
fn an_execution_takes_its_time_of_the_plan_or_that_of_the_host() {
    let plan = format!("3\t{}\t70 80\t\n3\t{}\t5\t6 7\n", name(A, B), name(B, A));
    let regions = Regions::planned(3, &plan);
    regions.0.lock().expect("no thread has failed").overhead = 0;
    let times: Vec<u64> = (0..3).map(|_| regions.execute(A, B, 9, 2.0)).collect();
    assert_eq!(times, [70, 80, 18_000]);
    let times: Vec<u64> = (0..4).map(|_| regions.execute(B, A, 9, 2.0)).collect();
    assert_eq!(times, [5, 6, 7, 6]);
    // The simulator gets the measured time, with the name the first time.
    regions.execute(A, B, 10, 1.0);
    let order = |time| Order::Computed { region: 0, time };
    let expected = [(order(9), name(A, B)), (order(10), String::new())];
    assert_eq!(regions.reports(), expected);
    assert_eq!(regions.reports(), []);
    // Within a named part, sites do not matter.
    control(7);
    assert_eq!(regions.execute(B, A, 1, 1.0), 1000);
    assert_eq!(regions.execute(A, B, 2, 1.0), 2000);
    control(1);
    assert_eq!(regions.execute(B, A, 1, 1.0), 7);
    let order = |time| Order::Computed { region: 2, time };
    let expected = [(order(1), "part 7".to_owned()), (order(2), String::new())];
    assert_eq!(regions.reports(), expected);
}
