use super::*;
use crate::atomic::{Atomic, Width};
use crate::collective::{CollectiveKind, Combiner};
use crate::collective::{Element, ReductionOperator, VectorReduction};
use crate::order::{CollectiveCall, MessageFilter, RemoteMemory};

const RANKS: u32 = 4;

fn wanted(from: Option<u32>) -> MessageFilter {
    MessageFilter {
        from,
        tag: 7,
        mask: 0xff,
    }
}

const PLACE: RemoteMemory = RemoteMemory {
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

const SUM: Combiner = Combiner::Known(VectorReduction {
    operation: ReductionOperator::Sum,
    element: Element::F64,
});

/// An order for each kind.
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
        Order::Executed {
            region: 5,
            time: 1 << 50,
        },
    ]
}

/// The order as the simulator parses it.
fn parsed(order: Order) -> Result<Body, Violation> {
    let mut bytes = payload(&order);
    let raw = Record::plain(1, Body::Order(77, order)).raw();
    Record::parse(&raw, &mut bytes, RANKS).map(|record| record.body)
}

/// The part of an order that is its payload.
fn payload(order: &Order) -> Vec<u8> {
    match order {
        Order::Group { ranks, .. } => bytemuck::cast_slice(ranks).to_vec(),
        _ => Vec::new(),
    }
}

#[test]
fn records_come_back_as_they_were_written() {
    let waits = [
        RankWait::Sleep { until: 3 },
        RankWait::Report(Patience::until(u64::MAX)),
        RankWait::Report(Patience {
            until: 9,
            threads: true,
            writes: false,
            guessed: true,
        }),
        RankWait::Meeting {
            which: 5,
            ranks: 1 << 33,
        },
        RankWait::File(FileAccess {
            offset: 4096,
            read: 1 << 40,
            written: 7,
        }),
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
    for body in bodies {
        let record = Record {
            time: 11,
            checksum: 12,
            body,
        };
        let mut bytes = match &record.body {
            Body::Order(_, order) => payload(order),
            _ => Vec::new(),
        };
        assert_eq!(Record::parse(&record.raw(), &mut bytes, RANKS), Ok(record));
        assert!(bytes.is_empty());
    }
}

#[test]
fn the_longest_order_fits() {
    let most = u64::MAX;
    let on = RemoteMemory {
        rank: RANKS - 1,
        key: most,
        offset: most,
    };
    let record = Record {
        time: most,
        checksum: most,
        body: Body::Order(
            most,
            Order::Atomic {
                on: RemoteMemory {
                    rank: u32::MAX,
                    ..on
                },
                atomic: Atomic::Xor,
                width: Width::Eight,
                operand: most,
                compare: most,
            },
        ),
    };
    let foul = Violation::Peer {
        peer: u32::MAX,
        ranks: RANKS,
    };
    assert_eq!(
        Record::parse(&record.raw(), &mut Vec::new(), RANKS),
        Err(foul)
    );
}

/// Each byte in each order, changed in each bit, is read as some record or refused.
#[test]
fn bytes_that_are_no_record_are_refused() {
    let parse = |raw: &Raw| Record::parse(raw, &mut Vec::new(), RANKS);
    assert_eq!(parse(&Raw::MORE), Err(Violation::Record));
    let mut refused = 0;
    for order in orders() {
        let raw = Record::plain(1, Body::Order(77, order)).raw();
        for bit in 0..8 * size_of::<Raw>() {
            let mut wrong = raw;
            bytemuck::bytes_of_mut(&mut wrong)[bit / 8] ^= 1 << (bit % 8);
            refused += u32::from(parse(&wrong) == Err(Violation::Record));
        }
    }
    assert!(refused > 100, "{refused} changes were refused");
}

#[test]
fn ranks_exist() {
    let mut naming = 0;
    for peer in [RANKS, u32::MAX] {
        let place = RemoteMemory {
            rank: peer,
            ..PLACE
        };
        let wanted = wanted(Some(peer));
        for order in [
            send(peer),
            Order::Untagged {
                to: peer,
                data: None,
            },
            Order::Receive {
                wanted,
                room: 80,
                request: true,
            },
            Order::Peek {
                wanted,
                claims: true,
            },
            Order::Probe { wanted },
            Order::Put {
                to: place,
                notice: 6,
            },
            Order::Get {
                from: place,
                size: 8,
            },
            Order::Atomic {
                on: place,
                atomic: Atomic::Add,
                width: Width::Four,
                operand: 1,
                compare: 0,
            },
            Order::Enqueue { to: peer, name: 2 },
        ] {
            naming += 1;
            assert_eq!(parsed(order), Err(Violation::Peer { peer, ranks: RANKS }));
        }
    }
    assert_eq!(naming, 18);
}

#[test]
fn collective_calls_make_sense() {
    let bytes = Combiner::Known(VectorReduction {
        operation: ReductionOperator::Sum,
        element: Element::Byte,
    });
    for (combiner, size) in [
        (None, 16),
        (Some(SUM), 15),
        (Some(bytes), 16),
        (Some(Combiner::Own { element: 0 }), 0),
        (Some(Combiner::Own { element: 2 }), 9),
    ] {
        let kind = CollectiveKind::AllReduce as u32;
        let foul = Violation::Collective { kind };
        assert_eq!(parsed(reduce(combiner, size)), Err(foul), "{combiner:?}");
    }
    let barrier = CollectiveCall {
        group: 0,
        kind: CollectiveKind::Barrier,
        root: 0,
        size: 16,
        combiner: Some(SUM),
        hardware: false,
        posted: false,
    };
    let kind = CollectiveKind::Barrier as u32;
    let parsed = parsed(Order::Collective(barrier));
    assert_eq!(parsed, Err(Violation::Collective { kind }));
}

#[test]
fn the_payload_of_a_group_is_words() {
    let group = Order::Group {
        key: 5,
        ranks: Vec::new(),
    };
    let raw = Record::plain(1, Body::Order(77, group)).raw();
    let parsed = Record::parse(&raw, &mut vec![1; 9], RANKS);
    assert_eq!(parsed, Err(Violation::Group { key: 5 }));
}
