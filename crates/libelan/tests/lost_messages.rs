//! Tport messages where machine parts fail for a while. Messages sent with success arrive, once and
//! in order; messages sent with an error are not received with bytes that the sender has put into
//! its buffer since.

use crate::common;

use common::{
    alloc, b, cable_of, down, failing, filled, job, load, logs, me, opteron, pattern, pid, play,
    sixteen_nodes, store, with_rails,
};
use elan::faults::FaultyPart;
use elan::{Config, Matching, Place, Rail};
use fabric::FatTree;
use libelan::Pe;
use libelan::elan::tport::{Mode, Room, Select, TportError};
use rails::policies::BASIC;
use units::Time;

/// The sender's and the receiver's nodes.
const NODES: [u32; 2] = [1, 14];

/// Machines of either generation, with either matching, with one rail and with two.
fn machines() -> Vec<Config> {
    let elan4 = opteron(FatTree::quaternary(2).expect("16 nodes"));
    let mut by_host = elan4.clone();
    by_host.tport.matching = Matching::Host;
    let rails = with_rails(&elan4, 2, BASIC, 1.0);
    vec![elan4, by_host, rails, sixteen_nodes()]
}

/// A machine with parts that are down from a moment on, for so many microseconds.
fn outage(config: &Config, parts: &[FaultyPart], at: Time, us: u64) -> Config {
    let lasts = Some(Time::from_us(us));
    let list = parts.iter().map(|part| down(part.clone(), at, lasts));
    failing(config.clone(), list.collect())
}

fn error(end: Result<(), TportError>) -> Option<String> {
    end.err().map(|error| error.to_string())
}

/// Sends messages of these kinds, one after the other, and a last one when all is repaired. Returns
/// the sends' results, and the received messages' numbers.
fn send_all(config: &Config, kinds: &[(Mode, u64)]) -> (Vec<Option<String>>, Vec<u64>) {
    let ([ends, ended], [came, received]) = (logs(), logs());
    let (kinds, last) = (kinds.to_vec(), kinds.len() as u64);
    let program = async move |pe: Pe| {
        let (tport, elan) = (pe.elan().tport(), pe.elan().clone());
        if me(&pe) == 0 {
            for (number, &(mode, size)) in (0..).zip(&kinds) {
                let from = filled(&pe, number, size);
                let tx = tport.tx_start(mode, pid(1), (0, number), from, b(size));
                ended.note(error(tport.tx_wait(tx).await));
                store(&pe, from, &pattern(number + 50, size));
            }
            pe.compute(Time::from_ms(9)).await;
            let nothing = alloc(&pe, false, b(1));
            let tx = tport.tx_start(Mode::Standard, pid(1), (0, last), nothing, b(0));
            tport.tx_wait(tx).await.expect("all is repaired");
            return;
        }
        loop {
            let rx = tport.rx_start(Select::exactly(Some(0), None), Room::System);
            let Ok(one) = tport.rx_wait(rx).await else {
                continue;
            };
            if one.tag == last {
                return;
            }
            let at = one.at.expect("it is in a buffer of the system");
            let bytes = load(&pe, at, one.size);
            assert_eq!(bytes[..], pattern(one.tag, one.size.as_u64()));
            received.note(one.tag);
            elan.tport().buf_free(at).expect("it is a buffer");
        }
    };
    let (_, end) = play(config, &job(&NODES), program);
    end.unwrap_or_else(|stop| panic!("{stop}"));
    (ends.borrow().clone(), came.borrow().clone())
}

/// An adapter dies for a moment with messages that were sent with success, or the network does not
/// carry them for so long that the adapter gives them up: they arrive when all works again, once,
/// in order with those that follow. So do the receiver's notices: no sender waits for ever.
#[test]
fn what_was_sent_with_success_arrives() {
    let kinds = [
        (Mode::Standard, 0),
        (Mode::Standard, 200),
        (Mode::Standard, 64),
        (Mode::Standard, 5000),
        (Mode::Standard, 8),
        (Mode::Synchronous, 100),
        (Mode::Standard, 120),
        (Mode::Standard, 90_000),
        (Mode::Standard, 3),
    ];
    let (mut failed, mut arrived) = (0, 0);
    for config in machines() {
        let topology = &config.fabric.topology;
        let rails = (0..topology.rails()).map(|rail| FaultyPart::Rail(Rail::new(rail)));
        let outages = [
            (vec![FaultyPart::Adapter(Place::new(NODES[0]))], 5),
            (vec![FaultyPart::Adapter(Place::new(NODES[0]))], 700),
            (vec![FaultyPart::Adapter(Place::new(NODES[1]))], 5),
            (vec![cable_of(&config, NODES[0])], 2_500),
            (vec![cable_of(&config, NODES[1])], 2_500),
            (rails.collect(), 60),
        ];
        for (parts, us) in outages {
            for step in 0..24 {
                let at = Time::from_ns(650 * step + 37 * (step % 7));
                let (ends, came) = send_all(&outage(&config, &parts, at, us), &kinds);
                let case = format!("{parts:?} at {at} for {us} us: {ends:?}, {came:?}");
                assert!(came.is_sorted_by(|one, next| one < next), "{case}");
                for (number, end) in (0..).zip(&ends) {
                    let is_here = came.contains(&number);
                    match end {
                        None => assert!(is_here, "{number} has not come: {case}"),
                        Some(why) if why.contains("has not been delivered") => {
                            assert!(!is_here, "{number} has come: {case}");
                        }
                        Some(_) => {}
                    }
                }
                failed += ends.iter().flatten().count();
                arrived += came.len();
            }
        }
    }
    assert!(failed > 300 && arrived > 2000, "{failed} and {arrived}");
}

/// A sender gets an error, and uses its buffer again. When the network works again, the receiver
/// gets no other bytes: its receive fails if it has not begun before, and also if it is in the
/// middle.
#[test]
fn a_withdrawn_message_is_not_received() {
    for config in machines() {
        let (mut withdrawn, mut came) = (0, 0);
        for (late, us) in [(true, 3_000), (false, 700), (false, 3_000)] {
            for part in [
                cable_of(&config, NODES[0]),
                cable_of(&config, NODES[1]),
                FaultyPart::Adapter(Place::new(NODES[0])),
            ] {
                for kind in [(Mode::Synchronous, 5000), (Mode::Standard, 90_000)] {
                    for step in 0..12 {
                        let at = Time::from_us(3 + 9 * step);
                        let parts = [part.clone()];
                        let ends = reuse(&outage(&config, &parts, at, us), late, kind);
                        let [sent, received] = ends.map(Option::unwrap_or_default);
                        assert!(!sent.is_empty() || received.is_empty(), "{received}");
                        withdrawn += u32::from(received.contains("withdrawn"));
                        came += u32::from(received.is_empty());
                    }
                }
            }
        }
        assert!(withdrawn > 15 && came > 15, "{withdrawn} and {came}");
    }
}

/// Sends a message from a buffer that the sender uses again as soon as the send is over; returns
/// how both ends ended.
fn reuse(config: &Config, late: bool, (mode, size): (Mode, u64)) -> [Option<String>; 2] {
    let [ends, ended] = logs();
    let program = async move |pe: Pe| {
        let tport = pe.elan().tport();
        if me(&pe) == 0 {
            let from = filled(&pe, 3, size);
            let tx = tport.tx_start(mode, pid(1), (0, 5), from, b(size));
            let end = tport.tx_wait(tx).await;
            store(&pe, from, &pattern(4, size));
            ended.note((0, error(end)));
        } else {
            let to = alloc(&pe, false, b(size));
            if late {
                pe.compute(Time::from_ms(6)).await;
            }
            let rx = tport.rx_start(Select::exactly(Some(0), Some(5)), Room::Buffer(to, b(size)));
            let end = tport.rx_wait(rx).await;
            if end.is_ok() {
                assert_eq!(load(&pe, to, b(size))[..], pattern(3, size));
            }
            ended.note((1, error(end.map(drop))));
        }
    };
    let (_, end) = play(config, &job(&NODES), program);
    let mut ends = ends.borrow().clone();
    ends.sort_by_key(|(process, _)| *process);
    match &ends[..] {
        [(_, sent), (_, received)] => [sent.clone(), received.clone()],
        // A process that gets an error continues without the other, which may wait for ever.
        [(0, Some(sent))] => [Some(sent.clone()), Some("waits".into())],
        [(1, Some(received))] => [Some("waits".into()), Some(received.clone())],
        _ => panic!("{ends:?}, {end:?}"),
    }
}
