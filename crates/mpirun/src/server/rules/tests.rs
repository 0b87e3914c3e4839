use super::*;
use link::{Complaint, Order};

const NOW: Time = Time::from_us(5);

fn record(body: Body, time: Time) -> Record {
    Record {
        time: time.as_ps(),
        checksum: 0,
        body,
    }
}

fn order(time: Time) -> Record {
    record(Body::Order(1, Order::Cancel), time)
}

fn waits(until: u64, still: bool) -> Record {
    let wait = RankWait::Report(Patience::until(until));
    record(Body::Wait(wait, still), NOW)
}

fn records(all: &[Record]) -> Records {
    all.iter().map(|one| (one.clone(), Vec::new())).collect()
}

fn foul(all: &[Record]) -> Violation {
    match turn(records(all), NOW) {
        Err(Refusal::Foul(foul)) => foul,
        other => panic!("{all:?}: {:?}", other.err()),
    }
}

fn foul_answer(all: &[Record]) -> Violation {
    match answer(records(all), NOW) {
        Err(Refusal::Foul(foul)) => foul,
        other => panic!("{all:?}: {other:?}"),
    }
}

/// The number of orders in a lawful turn, and its end.
fn judged(all: &[Record]) -> (usize, TurnEnd) {
    let turn = turn(records(all), NOW);
    let turn = turn.unwrap_or_else(|refusal| panic!("{all:?}: {refusal:?}"));
    (turn.orders.len(), turn.end.expect("it is given").1)
}

#[test]
fn turns_of_ranks_that_keep_to_the_rules_are_carried_out() {
    let wait = waits(7, false);
    let ends = TurnEnd::Waits(RankWait::Report(Patience::until(7)));
    assert_eq!(judged(std::slice::from_ref(&wait)), (0, ends));
    assert_eq!(judged(&[order(NOW), order(NOW), wait]), (2, ends));
    let finish = record(Body::Finish, NOW);
    assert_eq!(judged(&[order(NOW), finish]), (1, TurnEnd::Leaves));
    let reply = record(Body::Reply, NOW);
    let still = waits(7, true);
    assert_eq!(
        answer(records(&[reply, still.clone()]), NOW),
        Ok(Some((vec![], 0)))
    );
    assert_eq!(answer(records(&[still]), NOW), Ok(None));
}

#[test]
fn a_turn_ends_with_its_only_wait() {
    let (wait, finish) = (waits(7, false), record(Body::Finish, NOW));
    for all in [
        &[][..],
        &[order(NOW)],
        &[wait.clone(), wait.clone()],
        &[finish.clone(), wait.clone()],
        &[wait.clone(), finish.clone()],
    ] {
        assert_eq!(foul(all), Violation::NoWait, "{all:?}");
    }
    assert_eq!(foul_answer(&[]), Violation::NoWait);
    assert_eq!(foul_answer(&[finish]), Violation::NoWait);
    assert_eq!(foul(&[waits(7, true)]), Violation::Answer);
    assert_eq!(foul_answer(std::slice::from_ref(&wait)), Violation::Answer);
    assert_eq!(foul(&[record(Body::Reply, NOW), wait]), Violation::Answer);
}

#[test]
fn who_is_asked_only_answers() {
    let still = waits(7, true);
    let complaint = record(Body::Complaint(Complaint::Differs { message: 1 }), NOW);
    for wrong in [order(NOW), complaint] {
        assert_eq!(foul_answer(&[wrong, still.clone()]), Violation::Answer);
    }
}

#[test]
fn time_goes_on_to_the_horizon() {
    let before = Time::from_ps(NOW.as_ps() - 1);
    let wait = waits(7, false);
    for all in [
        &[record(wait.body.clone(), before)][..],
        &[order(before), wait.clone()],
        &[order(NOW * 2), wait.clone()],
    ] {
        assert!(matches!(foul(all), Violation::Past { .. }), "{all:?}");
    }
    let late = [record(Body::Reply, before), waits(7, true)];
    assert!(matches!(foul_answer(&late), Violation::Past { .. }));
    for time in [HORIZON, Time::MAX] {
        let far = record(wait.body.clone(), time);
        assert!(matches!(turn(records(&[far]), NOW), Err(Refusal::Horizon)));
    }
    let until = |until| judged(&[waits(until, false)]).1;
    for (given, ends) in [(7, 7), (NEVER, NEVER), (NEVER - 1, HORIZON.as_ps())] {
        let ends = TurnEnd::Waits(RankWait::Report(Patience::until(ends)));
        assert_eq!(until(given), ends);
    }
    let sleep = record(Body::Wait(RankWait::Sleep { until: NEVER }, false), NOW);
    let until = HORIZON.as_ps();
    assert_eq!(
        judged(&[sleep]).1,
        TurnEnd::Waits(RankWait::Sleep { until })
    );
}
