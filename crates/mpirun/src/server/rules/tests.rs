use super::*;

const NOW: Time = Time::from_us(5);

fn order(kind: OrderKind, time: Time) -> Order {
    Order::new(kind, time.as_ps())
}

fn judged(orders: &[Order], asked: bool) -> Result<u64, Refusal> {
    let mut batch: Batch = orders.iter().map(|&order| (order, Vec::new())).collect();
    check(&mut batch, 4, NOW, asked)?;
    Ok(batch.last().map_or(0, |(last, _)| last.key))
}

fn foul(orders: &[Order], asked: bool) -> Foul {
    match judged(orders, asked) {
        Err(Refusal::Foul(foul)) => foul,
        other => panic!("{orders:?}: {other:?}"),
    }
}

#[test]
fn turns_of_ranks_that_keep_to_the_rules_are_carried_out() {
    let wait = order(OrderKind::Wait, NOW);
    let send = Order {
        peer: 3,
        ..order(OrderKind::Send, NOW)
    };
    let receive = Order {
        peer: Order::ANYBODY,
        ..order(OrderKind::Receive, NOW)
    };
    assert_eq!(judged(&[wait], false), Ok(0));
    assert_eq!(judged(&[send, receive, wait], false), Ok(0));
    assert_eq!(judged(&[send, order(OrderKind::Finish, NOW)], false), Ok(0));
    let still = Order {
        flags: Flags::STILL.0,
        ..wait
    };
    assert_eq!(judged(&[order(OrderKind::Reply, NOW), still], true), Ok(0));
}

#[test]
fn a_turn_ends_with_its_only_wait() {
    let (wait, finish) = (order(OrderKind::Wait, NOW), order(OrderKind::Finish, NOW));
    let called = order(OrderKind::Called, NOW);
    for orders in [
        &[][..],
        &[called],
        &[wait, wait],
        &[finish, wait],
        &[wait, finish],
    ] {
        assert_eq!(foul(orders, false), Foul::NoWait, "{orders:?}");
    }
    assert_eq!(foul(&[finish], true), Foul::NoWait);
    let still = Order {
        flags: Flags::STILL.0,
        ..wait
    };
    assert_eq!(foul(&[still], false), Foul::Answer);
    assert_eq!(foul(&[wait], true), Foul::Answer);
    assert_eq!(
        foul(&[order(OrderKind::Reply, NOW), wait], false),
        Foul::Answer
    );
}

#[test]
fn kinds_and_ranks_exist() {
    let wait = order(OrderKind::Wait, NOW);
    for kind in [0, 10, 13, 21, u32::MAX] {
        let wrong = Order { kind, ..wait };
        assert_eq!(foul(&[wrong, wait], false), Foul::Kind { kind });
    }
    for kind in [
        OrderKind::Send,
        OrderKind::Put,
        OrderKind::Get,
        OrderKind::Receive,
    ] {
        for peer in [4, u32::MAX - 1] {
            let wrong = Order {
                peer,
                ..order(kind, NOW)
            };
            assert_eq!(foul(&[wrong, wait], false), Foul::Peer { peer, ranks: 4 });
        }
    }
    let to_anybody = Order {
        peer: Order::ANYBODY,
        ..order(OrderKind::Send, NOW)
    };
    assert!(matches!(
        foul(&[to_anybody, wait], false),
        Foul::Peer { .. }
    ));
}

#[test]
fn time_goes_on_to_the_horizon() {
    let just_before = order(OrderKind::Wait, Time::from_ps(NOW.as_ps() - 1));
    assert!(matches!(foul(&[just_before], false), Foul::Past { .. }));
    let (later, wait) = (
        order(OrderKind::Called, NOW * 2),
        order(OrderKind::Wait, NOW),
    );
    assert!(matches!(foul(&[later, wait], false), Foul::Past { .. }));
    for time in [HORIZON, Time::MAX] {
        let far = order(OrderKind::Wait, time);
        assert_eq!(judged(&[far], false), Err(Refusal::Horizon));
    }
    let until = |key| judged(&[Order { key, ..wait }], false);
    assert_eq!(until(7), Ok(7));
    assert_eq!(until(NEVER), Ok(NEVER));
    assert_eq!(until(NEVER - 1), Ok(HORIZON.as_ps()));
    let sleep = Order {
        key: NEVER,
        flags: Flags::SLEEP.0,
        ..wait
    };
    assert_eq!(judged(&[sleep], false), Ok(HORIZON.as_ps()));
}
