//! A call's share of the processor: a process that has started a call computes as soon as the
//! call's own instructions are over, whatever the call then waits for.

use crate::common;

use common::{b, down, failing, filled, four_nodes, job, me, opteron, pid, run_on, with_rails};
use elan::faults::FaultyPart;
use elan::{Config, Rail};
use fabric::FatTree;
use libelan::Pe;
use libelan::elan::tport::{Mode, Room, Select};
use rails::policies::BASIC;
use units::Time;

const WORK: Time = Time::from_us(30);

/// The machines: both generations; several rails; the home rail down for good.
fn machines() -> [Config; 4] {
    let four = four_nodes();
    let fault = down(FaultyPart::Rail(Rail::new(0)), Time::from_us(1), None);
    [
        opteron(FatTree::quaternary(1).unwrap()),
        with_rails(&four, 2, BASIC, 1.0),
        failing(with_rails(&four, 2, BASIC, 1.0), vec![fault]),
        four,
    ]
}

/// Computes behind calls that were started at `begin`, which themselves take so long.
async fn computes(pe: &Pe, what: &str, begin: Time, calls: Time) {
    let end = pe.compute(WORK).await;
    assert_eq!(end - begin, calls + WORK, "{what}");
    // No later call finds one of these on its way out.
    pe.compute(Time::from_us(300)).await;
}

/// The calls of process 0. The other process answers those that wait for it when all have been started.
async fn calls(pe: Pe) {
    let (elan, tport, call) = (pe.elan(), pe.elan().tport(), pe.node().config().host.call);
    let near = elan.galloc_elan(64, b(3000)).unwrap();
    let far = elan.galloc_main(64, b(3000)).unwrap();
    let queue = elan.queue_rx(1, b(8)).unwrap();
    let own = filled(&pe, 1, 3000);
    if me(&pe) == 1 {
        pe.compute(Time::from_ms(12)).await;
        for _ in 0..3 {
            queue.wait().await;
        }
        let buffer = Room::Buffer(own, b(3000));
        for _ in 0..4 {
            let rx = tport.rx_start(Select::exactly(None, Some(1)), buffer);
            tport.rx_wait(rx).await.unwrap();
        }
        let tx = tport.tx_start(Mode::Standard, pid(0), (1, 2), own, b(8));
        return tport.tx_wait(tx).await.unwrap();
    }
    pe.compute(Time::from_us(50)).await;
    for (place, size) in [(near, b(8)), (near, b(3000)), (far, b(8)), (far, b(3000))] {
        let begin = pe.now();
        let put = elan.put(pid(1), own, place, size);
        computes(&pe, "a put", begin, call).await;
        elan.wait(put).await.unwrap();
        let begin = pe.now();
        let get = elan.get(pid(1), place, own, size);
        computes(&pe, "a get", begin, call).await;
        elan.wait(get).await.unwrap();
    }
    // One slot: the second and the third message wait until the first has been read.
    let begin = pe.now();
    let messages = [(); 3].map(|()| elan.queue_tx(pid(1), queue.at(), own, b(8)));
    computes(&pe, "messages to a queue", begin, call * 3).await;
    assert!(messages[0].is_done() && !messages[1].is_done() && !messages[2].is_done());
    let begin = pe.now();
    let room = Room::Buffer(own, b(3000));
    let rx = tport.rx_start(Select::exactly(None, Some(2)), room);
    computes(&pe, "a receive", begin, call).await;
    let mut sends = Vec::new();
    for (mode, size) in [
        (Mode::Standard, b(8)),
        (Mode::Synchronous, b(8)),
        (Mode::Standard, b(3000)),
        (Mode::Synchronous, b(3000)),
    ] {
        let begin = pe.now();
        sends.push(tport.tx_start(mode, pid(1), (0, 1), own, size));
        computes(&pe, "a message", begin, call).await;
    }
    assert!(!rx.is_done() && !sends[1].is_done() && !sends[3].is_done());
    for message in messages {
        elan.wait(message).await.unwrap();
    }
    for tx in sends {
        tport.tx_wait(tx).await.unwrap();
    }
    tport.rx_wait(rx).await.unwrap();
}

#[test]
fn a_process_computes_while_its_calls_proceed() {
    for config in machines() {
        run_on(&config, &job(&[0, 3]), calls);
    }
}

/// A message to a process on the same node is copied by its sender, at the start, and by its
/// receiver as soon as that is idle: neither waits for the other in its own turn.
#[test]
fn a_process_computes_while_messages_of_its_node_wait() {
    run_on(&four_nodes(), &job(&[2, 2]), async |pe| {
        let (tport, host) = (pe.elan().tport(), pe.node().config().host);
        let long = pe.node().config().tport.big + b(1);
        let own = filled(&pe, 1, long.as_u64());
        if me(&pe) == 1 {
            pe.compute(Time::from_ms(10)).await;
            for _ in 0..3 {
                let rx = tport.rx_start(Select::ANY, Room::Buffer(own, long));
                tport.rx_wait(rx).await.unwrap();
            }
            let tx = tport.tx_start(Mode::Standard, pid(0), (1, 2), own, b(8));
            return tport.tx_wait(tx).await.unwrap();
        }
        let begin = pe.now();
        let rx = tport.rx_start(Select::ANY, Room::Buffer(own, b(8)));
        computes(&pe, "a receive", begin, host.call).await;
        let mut sends = Vec::new();
        for (mode, size, copied) in [
            (Mode::Standard, b(3000), b(3000)),
            (Mode::Synchronous, b(3000), b(3000)),
            (Mode::Standard, long, b(0)),
        ] {
            let begin = pe.now();
            sends.push(tport.tx_start(mode, pid(1), (0, 1), own, size));
            let own_part = host.call + host.copy.time(copied);
            computes(&pe, "a message", begin, own_part).await;
        }
        assert!(sends[0].is_done() && !sends[1].is_done() && !sends[2].is_done());
        for tx in sends {
            tport.tx_wait(tx).await.unwrap();
        }
        tport.rx_wait(rx).await.unwrap();
    });
}
