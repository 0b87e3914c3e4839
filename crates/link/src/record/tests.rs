use super::*;
use crate::atomic::{Atomic, Width};
use crate::collective::{CollectiveKind, Combiner};
use crate::collective::{Element, Operation, Reduction};
use crate::order::{CollectiveCall, Place, Wanted};
use crate::raw::ANYBODY;

const RANKS: u32 = 4;

fn wanted(from: Option<u32>) -> Wanted {
    Wanted {
        from,
        tag: 7,
        mask: 0xff,
    }
}

const PLACE: Place = Place {
    rank: 3,
    key: 1 << 63,
    offset: 4096,
};

fn send(to: u32) -> Order {
    Order::Send {
        to,
        tag: 5,
        data: Some(0),
        synchronous: true,
        request: false,
    }
}

fn atomic() -> Order {
    Order::Atomic {
        on: PLACE,
        atomic: Atomic::CompareSwap,
        width: Width::Eight,
        operand: 9,
        compare: u64::MAX,
    }
}

fn reduce(combiner: Option<Combiner>, size: u64) -> Order {
    Order::Collective(CollectiveCall {
        group: 8,
        kind: CollectiveKind::AllReduce,
        root: 2,
        size,
        combiner,
        hardware: true,
        posted: false,
    })
}

const SUM: Combiner = Combiner::Known(Reduction {
    operation: Operation::Sum,
    element: Element::F64,
});

/// An order of each kind.
fn orders() -> Vec<Order> {
    vec![
        send(3),
        Order::Untagged { to: 0, data: None },
        Order::Receive {
            wanted: wanted(None),
            room: 80,
            request: true,
        },
        Order::Peek {
            wanted: wanted(Some(2)),
            claims: true,
        },
        Order::Probe {
            wanted: wanted(None),
        },
        Order::Claim { room: 1 },
        Order::Cancel,
        Order::Put {
            to: PLACE,
            notice: 6,
        },
        Order::Get {
            from: PLACE,
            size: 1 << 40,
        },
        atomic(),
        Order::Queue {
            name: 1,
            slots: 2,
            slot: 3,
        },
        Order::Enqueue { to: 1, name: 2 },
        Order::Dequeued { name: 2 },
        Order::Group {
            key: 5,
            ranks: vec![3, 1],
        },
        Order::Spawn { count: 3 },
        reduce(Some(SUM), 16),
        reduce(Some(Combiner::Own { element: 3 }), 9),
        Order::Collective(CollectiveCall {
            group: 0,
            kind: CollectiveKind::Barrier,
            root: 0,
            size: 0,
            combiner: None,
            hardware: false,
            posted: true,
        }),
        Order::Called {
            call: 17,
            began: 8,
            served: true,
        },
        Order::Computed {
            region: 4,
            time: 1 << 40,
        },
    ]
}

fn parsed(raw: &RawOrder) -> Result<Body, Foul> {
    Record::parse(raw, &mut Vec::new(), RANKS).map(|record| record.body)
}

/// The raw record of an order.
fn raw(order: Order) -> RawOrder {
    let body = Body::Order(77, order);
    let record = Record {
        time: 1,
        checksum: 2,
        body,
    };
    record.raw()
}

#[test]
fn records_come_back_as_they_were_written() {
    let waits = [
        Wait::Sleep { until: 3 },
        Wait::Report(Patience::until(u64::MAX)),
        Wait::Report(Patience {
            until: 9,
            threads: true,
            writes: false,
            guessed: true,
        }),
        Wait::Meeting {
            which: 5,
            ranks: 1 << 33,
        },
    ];
    let complaints = [
        Complaint::Differs { message: 6 },
        Complaint::Refuses {
            by: 2,
            offset: 3,
            size: 4,
        },
    ];
    let orders = orders().into_iter().map(|order| Body::Order(77, order));
    let waits = waits.into_iter().zip([false, true, false, true]);
    let bodies = orders
        .chain(waits.map(|(wait, still)| Body::Wait(wait, still)))
        .chain(complaints.map(Body::Complaint))
        .chain([Body::Reply, Body::Finish]);
    let mut kinds = Vec::new();
    for body in bodies {
        let record = Record {
            time: 11,
            checksum: 12,
            body,
        };
        let mut bytes = match &record.body {
            Body::Order(_, Order::Group { ranks, .. }) => bytemuck::cast_slice(ranks).to_vec(),
            _ => Vec::new(),
        };
        kinds.push(record.raw().kind);
        assert_eq!(Record::parse(&record.raw(), &mut bytes, RANKS), Ok(record));
        assert!(bytes.is_empty());
    }
    kinds.sort_unstable();
    kinds.dedup();
    let all = 1..=OrderKind::Spawn as u32;
    let all = all.filter(|&kind| kind != OrderKind::More as u32);
    assert!(kinds.into_iter().eq(all), "each kind but `More` is here");
}

#[test]
fn kinds_exist() {
    for kind in [0, OrderKind::More as u32, 27, u32::MAX] {
        let wrong = RawOrder {
            kind,
            ..RawOrder::default()
        };
        assert_eq!(parsed(&wrong), Err(Foul::Kind { kind }));
    }
}

#[test]
fn ranks_exist() {
    let mut naming = 0;
    for order in orders() {
        let group = matches!(order, Order::Collective(_));
        let raw = raw(order);
        // The root of a collective call is a place in its group.
        if group || parsed(&RawOrder { peer: 1, ..raw }) == parsed(&RawOrder { peer: 2, ..raw }) {
            continue;
        }
        naming += 1;
        for peer in [RANKS, ANYBODY - 1] {
            let wrong = RawOrder { peer, ..raw };
            assert_eq!(parsed(&wrong), Err(Foul::Peer { peer, ranks: RANKS }));
        }
        let anybody = RawOrder {
            peer: ANYBODY,
            ..raw
        };
        let kind = try_cast(raw.kind).expect("it exists");
        let looks = matches!(
            kind,
            OrderKind::Receive | OrderKind::Peek | OrderKind::Probe
        );
        assert_eq!(parsed(&anybody).is_ok(), looks, "{kind:?}");
    }
    assert_eq!(
        naming, 9,
        "sends of both kinds, receives and looks, put, get, atomic, insertion"
    );
}

#[test]
fn atomics_and_collective_calls_make_sense() {
    let good = raw(atomic());
    for wrong in [
        RawOrder { tag: 7, ..good },
        RawOrder { data: 5, ..good },
        RawOrder {
            tag: u64::MAX,
            ..good
        },
    ] {
        assert_eq!(parsed(&wrong), Err(Foul::Atomic));
    }
    let good = raw(reduce(Some(SUM), 16));
    let own = raw(reduce(Some(Combiner::Own { element: 3 }), 9));
    for wrong in [
        RawOrder { tag: 4, ..good },
        RawOrder { data: 99, ..good },
        RawOrder { offset: 4, ..good },
        RawOrder { size: 15, ..good },
        RawOrder { offset: 0, ..own },
        RawOrder { offset: 2, ..own },
    ] {
        let foul = Foul::Collective { tag: wrong.tag };
        assert_eq!(parsed(&wrong), Err(foul), "{wrong:?}");
    }
}

#[test]
fn the_payload_of_a_group_is_words() {
    let group = raw(Order::Group {
        key: 5,
        ranks: Vec::new(),
    });
    let mut bytes = vec![1; 9];
    let parsed = Record::parse(&group, &mut bytes, RANKS);
    assert_eq!(parsed, Err(Foul::Group { key: 5 }));
}
