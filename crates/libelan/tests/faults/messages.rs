//! Tagged messages in a network that fails.

use super::{between, moments, outage};
use crate::common::{
    alloc, assert_holds, b, cable_of, down, failing, filled, job, logs, me, pid, play, run_on,
    sixteen_nodes,
};
use elan::faults::FaultyPart;
use elan::{Config, Place};
use libelan::Pe;
use libelan::elan::tport::{Mode, Room, Select, TportError};
use libelan::mpi::ANY_SOURCE;
use units::Time;

/// How messages are sent.
pub(super) const MESSAGES: [(Mode, u64); 7] = [
    (Mode::Standard, 0),
    (Mode::Standard, 200),
    (Mode::Synchronous, 100),
    (Mode::Standard, 1000),
    (Mode::Standard, 20_000),
    (Mode::Synchronous, 5000),
    (Mode::Standard, 90_000),
];

/// Sends a message of each kind there and back, unexpected or not; returns the results at the first
/// process.
pub(super) fn exchange(
    config: &Config,
    late: bool,
    message: (Mode, u64),
) -> Vec<(u32, Result<(), TportError>)> {
    let [ends, noted] = logs();
    let program = async move |pe: Pe| {
        let (mode, size) = message;
        let (tport, other) = (pe.elan().tport(), 1 - me(&pe));
        for round in 0..2 {
            let seed = 10 * round + 3;
            let label = (me(&pe), round);
            let outcome = if u64::from(me(&pe)) == round {
                let from = filled(&pe, seed, size);
                let tx = tport.tx_start(mode, pid(other), label, from, b(size));
                tport.tx_wait(tx).await
            } else {
                let to = alloc(&pe, false, b(size.max(1)));
                if late {
                    pe.compute(Time::from_us(40)).await;
                }
                let source = (!late).then_some(other);
                let select = Select {
                    process: source.map(pid),
                    ..Select::exactly(source, Some(round))
                };
                let rx = tport.rx_start(select, Room::Buffer(to, b(size)));
                let received = tport.rx_wait(rx).await;
                if let Ok(received) = received {
                    assert_eq!((received.size, received.tag), (b(size), round));
                    assert_holds(&pe, to, seed, size);
                }
                received.map(drop)
            };
            noted.note((me(&pe), outcome));
        }
        // No more messages come.
        let more = tport.peek(Select::ANY).await;
        assert!(more.is_err() || more == Ok(None), "{more:?}");
    };
    let (_, end) = play(config, &job(&[1, 14]), program);
    end.unwrap_or_else(|stop| panic!("{message:?}, late {late}: {stop}"));
    let ends = ends.borrow().clone();
    assert_eq!(ends.len(), 4);
    ends
}

/// Messages of any length survive outages at all moments.
#[test]
fn messages_survive_outages() {
    let config = sixteen_nodes();
    for part in [cable_of(&config, 1), cable_of(&config, 14), between()] {
        for late in [false, true] {
            for message in MESSAGES {
                for at in moments(40, 2_700) {
                    let ends = exchange(&outage(&part, at, 70), late, message);
                    let fine = ends.iter().all(|(_, end)| end.is_ok());
                    assert!(fine, "{message:?}, late {late}, {part:?} at {at}: {ends:?}");
                }
            }
        }
    }
}

/// Without a way between two processes, both get an error that names the other, and do not wait for
/// ever.
#[test]
fn messages_without_a_way_fail_at_both_ends() {
    let config = sixteen_nodes();
    let mut failed = 0;
    for part in [
        cable_of(&config, 1),
        FaultyPart::Adapter(Place::new(14)),
        between(),
    ] {
        for late in [false, true] {
            for message in MESSAGES {
                for at in moments(12, 8_300) {
                    let config = failing(sixteen_nodes(), vec![down(part.clone(), at, None)]);
                    for (process, end) in exchange(&config, late, message) {
                        let Err(error) = end else { continue };
                        failed += 1;
                        let text = error.to_string();
                        let named = text.contains(&format!("process {}", 1 - process));
                        let own = text.contains("the rail is down");
                        let refused = matches!(error, TportError::Refused { .. });
                        assert!(
                            named || own || refused,
                            "{message:?}, {part:?} at {at}: {text}"
                        );
                    }
                }
            }
        }
    }
    assert!(failed > 500, "{failed}");
}

/// A receive from any process fails only when no process is in reach.
#[test]
fn a_receive_from_anybody_waits_for_those_in_reach() {
    let lost = down(cable_of(&sixteen_nodes(), 3), Time::from_us(10), None);
    let config = failing(sixteen_nodes(), vec![lost]);
    run_on(&config, &job(&[1, 2, 3]), async |pe| {
        let (mpi, buffer) = (pe.mpi(), alloc(&pe, false, b(64)));
        match me(&pe) {
            0 => {
                let text = |error: TportError| error.to_string();
                let from_lost = mpi.recv(2, 7, buffer, b(64)).await.map_err(text);
                assert!(from_lost.is_err_and(|text| text.contains("node 3 (process 2)")));
                let received = mpi.recv(ANY_SOURCE, 7, buffer, b(64)).await;
                assert_eq!(received.unwrap().source, 1);
                assert!(pe.now() > Time::from_ms(5));
            }
            1 => {
                pe.compute(Time::from_ms(5)).await;
                mpi.send(0, 7, buffer, b(64)).await.unwrap();
            }
            _ => {
                let received = mpi.recv(ANY_SOURCE, 7, buffer, b(64)).await;
                assert!(received.is_err_and(|error| error.to_string().contains("node 3")));
            }
        }
    });
}
