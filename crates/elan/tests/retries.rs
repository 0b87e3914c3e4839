//! When packets that the network refuses or loses go again, and for how long their sources try:
//! times on paper.

use crate::common;

use common::{add_one, cable_of, cluster, down, failing, logs, run_to, sixteen_nodes};
use elan::{Config, Dma, DmaError, NodeId, Place, Placement, Priority, Recoveries, Region, Thread};
use units::{Bytes, Time};

const FROM: u32 = 1;
const TO: u32 = 14;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// A DMA's packet.
    Put,
    /// A thread's packet.
    Add,
    /// A packet of a broadcast DMA to three nodes.
    Broadcast,
}

/// An act's end.
struct Sent {
    end: Time,
    result: Result<(), DmaError>,
    sender: Recoveries,
}

/// Sends at time zero on a machine with a destination that refuses all packets for a while.
fn send(config: &Config, act: Act, refuses: Option<[Time; 2]>) -> Sent {
    let mut cluster = cluster(config);
    let [sender, target] = [FROM, TO].map(|node| cluster.node(NodeId::new(node)));
    if let Some([from, to]) = refuses {
        let target = target.clone();
        cluster.spawn("refuses", async move {
            target.sleep_until(from).await;
            target.accept(false);
            target.sleep_until(to).await;
            target.accept(true);
        });
    }
    let size = Bytes::new(64);
    let source = sender.allocate(Placement::Adapter, size).start();
    let at = |node: u32| {
        cluster
            .node(NodeId::new(node))
            .allocate(Placement::Adapter, size)
    };
    let [first, _, last] = [TO - 2, TO - 1, TO].map(at).map(Region::start);
    let [ends, noted] = logs();
    let host = sender.clone();
    if act == Act::Add {
        let adds = async move |thread: Thread| {
            let sent = thread.send(last, &[add_one(last)], Priority::Low).await;
            noted.note((host.now(), sent.map(|_| ())));
        };
        sender.run("adds", adds).expect("there is a stack");
    } else {
        let dma = match act {
            Act::Broadcast => Dma::broadcast(source, first, Place::new(TO), size),
            _ => Dma::new(source, last, size),
        };
        cluster.spawn("sends", async move {
            let result = host.dma(dma).await;
            noted.note((host.now(), result));
        });
    }
    run_to(&mut cluster, Time::from_ms(5));
    let (end, result) = ends.take();
    let sender = sender.recoveries();
    Sent {
        end,
        result,
        sender,
    }
}

/// The machine with a cable at the destination that is dead at some times, unknown to the routing
/// tables.
fn cut(times: &[[Time; 2]]) -> Config {
    let config = sixteen_nodes();
    let cable = cable_of(&config, TO);
    let cuts = times
        .iter()
        .map(|&[from, to]| down(cable.clone(), from, Some(to - from)));
    let mut config = failing(config, cuts.collect());
    config.faults.as_mut().expect("cables fail").detect = Time::from_secs(1);
    config
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

/// A cable that is dead for a moment loses a packet or its answer. The packet goes again after the
/// output timeout and a back-off: 20 us more of it end the packet 20 us later. Broadcasts have
/// their own back-off, and other packets do not wait for it.
#[test]
fn a_packet_without_an_answer_goes_again_after_its_back_off() {
    for act in [Act::Put, Act::Add, Act::Broadcast] {
        let mut lost = 0;
        for step in 0..160 {
            let at = Time::from_ns(25 * step);
            let plain = cut(&[[at, at + Time::from_ns(30)]]);
            let before = send(&plain, act, None);
            if before.sender.timed_out != 1 || before.sender.resent != 1 {
                continue;
            }
            lost += 1;
            for of_broadcasts in [false, true] {
                let mut config = plain.clone();
                let faults = config.faults.as_mut().expect("cables fail");
                *(if of_broadcasts {
                    &mut faults.broadcast_backoff
                } else {
                    &mut faults.backoff
                }) += us(20);
                let after = send(&config, act, None);
                assert_eq!((before.result, after.result), (Ok(()), Ok(())));
                let waits = of_broadcasts == (act == Act::Broadcast);
                let later = if waits { us(20) } else { Time::ZERO };
                assert_eq!(after.end - before.end, later, "{act:?} at {at}");
            }
        }
        assert!(lost > 5, "{act:?}: {lost} lost packets");
    }
}

/// The network refuses a packet for ever. It goes again after 1 us three times, and after 100 us
/// from then on, until the source gives up: about 3, 103, 203 and 303 us after the first time, and
/// the last one is beyond 250 us.
#[test]
fn refusals_of_the_network_count_up_to_the_trap() {
    for act in [Act::Put, Act::Add] {
        let mut config = cut(&[[Time::ZERO, us(4000)]]);
        let adapter = &mut config.adapter;
        (adapter.retries, adapter.retry_delay, adapter.trap_delay) = (3, us(1), us(100));
        config.faults.as_mut().expect("cables fail").give_up = us(250);
        let sent = send(&config, act, None);
        let sender = sent.sender;
        let counts = (sender.unreachable, sender.resent, sender.given_up);
        assert_eq!(counts, (7, 6, 1), "{act:?}");
        assert!(sent.result.is_err_and(|error| error.loss().is_some()));
        // The first packet leaves within 10 us, and each refusal comes back within 1 us.
        assert!(
            (us(303)..us(320)).contains(&sent.end),
            "{act:?}: {}",
            sent.end
        );
    }
}

/// The cable is dead for 100 us, then the destination refuses for 100 us, then the cable is dead
/// for 150 us. No time without an answer from the destination is as long as the 200 us after which
/// the source gives up, and the packet arrives. Without the answers between them, the dead times
/// are too long.
#[test]
fn an_answer_of_the_destination_begins_the_time_anew() {
    for act in [Act::Put, Act::Add] {
        let patient = |mut config: Config| {
            let adapter = &mut config.adapter;
            (adapter.retries, adapter.retry_delay) = (u32::MAX, us(1));
            config.faults.as_mut().expect("cables fail").give_up = us(200);
            config
        };
        let twice = patient(cut(&[[Time::ZERO, us(100)], [us(200), us(350)]]));
        let refuses = Some([us(50), us(300)]);
        let sent = send(&twice, act, refuses);
        assert_eq!(sent.result, Ok(()), "{act:?}");
        assert!(
            (us(350)..us(360)).contains(&sent.end),
            "{act:?}: {}",
            sent.end
        );
        assert!(sent.sender.unreachable > 100 && sent.sender.given_up == 0);
        let once = patient(cut(&[[Time::ZERO, us(350)]]));
        let sent = send(&once, act, refuses);
        assert!(sent.result.is_err(), "{act:?}");
        assert!(
            (us(200)..us(215)).contains(&sent.end),
            "{act:?}: {}",
            sent.end
        );
    }
}
