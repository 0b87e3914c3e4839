//! Policies that a program registers.

use crate::common::multirail::{Bench, multirail};
use elan::Rail;
use rails::policies::BASIC;
use rails::{Host, Kind, PickFuture, Policy, RailMessage, RailPick, RailPolicy, register};
use std::future::ready;
use units::Time;

/// The last rail that works, or always the same rails.
struct Last(Option<Vec<Rail>>);

impl RailPolicy for Last {
    fn pick<'a>(&'a mut self, message: RailMessage, host: &'a Host) -> PickFuture<'a> {
        let rails = match &self.0 {
            Some(rails) => rails.clone(),
            None => host.up().pop().into_iter().collect(),
        };
        let picks: Vec<RailPick> = rails.into_iter().map(RailPick::shared).collect();
        let is_lost = host.up().is_empty();
        Box::pin(ready(if is_lost {
            Err(host.no_rail(message))
        } else {
            Ok(picks)
        }))
    }
}

/// A policy's kind, once it is registered.
fn registered(name: &'static str, make: rails::PolicyFactory) -> Kind {
    let kind = Kind { name, ..BASIC };
    register(Policy { kind, make });
    kind
}

/// The policy decides alone, also when a rail fails.
#[test]
fn a_registered_policy_picks_the_rails() {
    let last = registered("last", |_| Box::new(Last(None)));
    let mut bench = Bench::new(&multirail(2, 3, last));
    let end = Time::from_us(100);
    bench.cluster.fail_rail(Rail::new(2), end);
    let sizes = [(700, Time::ZERO), (500, end * 2)];
    let puts = sizes.map(|(size, at)| bench.put(0, 1, size, at));
    let ends = bench.spawn(0, 0, puts.into());
    bench.finish();
    assert!(ends.borrow().iter().all(|(_, end)| end.is_ok()));
    assert_eq!(bench.received(1), [0, 500, 700]);
}

/// The names are the shipped policies', in their order, and the registered ones'.
#[test]
fn an_unknown_name_is_an_error() {
    registered("another", |_| Box::new(Last(None)));
    assert_eq!(
        Policy::named("another").map(|policy| policy.kind.name),
        Ok("another")
    );
    let names = Policy::named("no-such").expect_err("it is not registered");
    let shipped = ["static", "basic", "local-dynamic", "dynamic", "hybrid"];
    assert_eq!(names[..5], shipped);
    assert!(names[5..].contains(&"another"));
}

#[test]
#[should_panic(expected = "`basic` is a policy of Elanite")]
fn a_shipped_policy_stays() {
    registered("basic", |_| Box::new(Last(None)));
}

fn sends(name: &'static str, make: rails::PolicyFactory) {
    let mut bench = Bench::new(&multirail(2, 3, registered(name, make)));
    bench.send((0, 0), 1, 8, Time::ZERO);
    bench.finish();
}

#[test]
#[should_panic(expected = "a policy picks at least one rail, none twice; this one has picked []")]
fn a_policy_picks_a_rail() {
    sends("none", |_| Box::new(Last(Some(Vec::new()))));
}

#[test]
#[should_panic(expected = "a policy picks at least one rail, none twice")]
fn a_policy_picks_no_rail_twice() {
    sends("twice", |_| Box::new(Last(Some(vec![Rail::new(1); 2]))));
}
