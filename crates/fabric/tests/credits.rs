//! The closed form of credits ([`fabric::Credits`]) against the simulator: one stream over one
//! switch.

use crate::common;

use common::{one_switch, packet, records};
use fabric::config::MAX_HOP_DELAY;
use fabric::{Circuit, Config, Credits, Engine};

/// The share of a link's rate that a long packet stream has: between two deliveries with whole
/// turns on all channels between them.
fn simulated(config: &Config, flits: u32, turnaround: u64) -> f64 {
    const TURNS: u32 = 12;
    let most = config.channels.min(config.packets_in_flight);
    let count = most * (TURNS + 4) + 1;
    let traffic: Vec<_> = (0..count).map(|_| (0, packet(0, 1, flits))).collect();
    let done = records(config, turnaround, &traffic);
    let mut delivered: Vec<u64> = done.iter().map(|record| record.delivered).collect();
    delivered.sort_unstable();
    let first = delivered.len() - 1 - (most * TURNS) as usize;
    let took = delivered[delivered.len() - 1] - delivered[first];
    f64::from(most * TURNS * flits) / took as f64
}

/// Within 1% of the closed form; returns the predicted share. Several channels starved by their
/// buffers get in each other's way: the share is an upper bound there.
fn check(config: &Config, flits: u32, turnaround: u64) -> f64 {
    let credits = Credits::new(config, 0, flits, turnaround);
    let predicted = credits.share();
    let found = simulated(config, flits, turnaround);
    let starved = credits.channels > 1 && credits.sending > u64::from(flits);
    let least = if starved { 0.6 } else { 0.99 };
    assert!(
        found < 1.01 * predicted && found > least * predicted,
        "simulated {found}, predicted {predicted}: {flits} flits, {turnaround} cycles of \
        turnaround, {config:?}"
    );
    predicted
}

/// Machines with one switch.
fn machines(circuit: Circuit, window: u32, engine: Engine) -> Vec<Config> {
    let mut machines = Vec::new();
    for delay in [1, 11, 60, 195, MAX_HOP_DELAY] {
        for channels in [1, 2, 4, 7, 16] {
            // Credits take a cycle, or as long as the way out.
            let credit = if channels % 2 == 0 { delay } else { 1 };
            machines.push(Config {
                circuit,
                channels,
                credit_delay: vec![credit],
                packets_in_flight: window,
                engine,
                ..one_switch(delay)
            });
        }
    }
    machines
}

/// Checks that some shares are below 1, and some are not.
fn assert_both(shares: &[f64]) {
    let limited = shares.iter().filter(|&&share| share < 1.0).count();
    assert!(limited > 5 && limited < shares.len() - 5, "{shares:?}");
}

#[test]
fn channels_limit_wormholes_and_cut_through() {
    let mut shares = Vec::new();
    for circuit in [Circuit::Wormhole, Circuit::CutThrough] {
        for config in machines(circuit, 1024, Engine::Worm) {
            for flits in [3, 65, 189] {
                shares.push(check(&config, flits, 50));
            }
        }
    }
    assert_both(&shares);
}

/// A buffer that does not cover the way to the next switch and back starves its channel.
#[test]
fn buffers_limit_wormholes() {
    let mut shares = Vec::new();
    for config in machines(Circuit::Wormhole, 1024, Engine::Worm) {
        for (buffer, flits) in [(1, 30), (12, 65), (61, 200), (64, 200), (128, 300)] {
            let config = Config {
                buffer,
                ..config.clone()
            };
            shares.push(check(&config, flits, 50));
        }
    }
    assert_both(&shares);
}

/// A worm alone, to the cycle: `B` flits in every round trip of `D + C` cycles, so that the rate
/// share is the lesser of 1 and `B / (D + C)`; and the channel is free for the next worm `C + 1`
/// cycles after the tail has left the buffer.
#[test]
fn a_round_trip_sustains_a_buffer_of_flits() {
    let (mut starved, mut whole) = (0, 0);
    for (delay, credit) in [
        (1, 1),
        (1, 2),
        (1, 40),
        (3, 2),
        (11, 1),
        (11, 11),
        (40, 7),
        (195, 195),
    ] {
        for buffer in [1, 2, 3, 12, 13, 21, 22, 23, 64, 390] {
            let trip = u64::from(delay + credit);
            for turns in [1, 4] {
                let flits = turns * buffer + 1;
                let [turns, room, length] = [turns, buffer, flits].map(u64::from);
                // The last flit is the first one in another turn.
                let sending = turns * trip.max(room) + 1;
                if room < trip {
                    starved += 1;
                    assert_eq!(
                        sending - 1,
                        (length - 1) * trip / room,
                        "the rate is B / (D + C)"
                    );
                } else {
                    whole += 1;
                    assert_eq!(sending, length, "the whole rate");
                }
                let delay_of_two = 2 * u64::from(delay);
                let first = delay_of_two + sending - 1;
                // The tail leaves the buffer over the second link when it has arrived.
                let second = sending - 1 + trip + 1;
                for engine in [Engine::Flit, Engine::Worm] {
                    let config = Config {
                        circuit: Circuit::Wormhole,
                        channels: 1,
                        credit_delay: vec![credit],
                        packets_in_flight: 2,
                        buffer,
                        engine,
                        ..one_switch(delay)
                    };
                    let traffic = [(0, packet(0, 1, flits)), (0, packet(0, 2, 1))];
                    let done = records(&config, 9, &traffic);
                    assert_eq!(done[0].delivered, first, "{flits} flits, {config:?}");
                    assert_eq!(done[1].injected, second, "{flits} flits, {config:?}");
                }
            }
        }
    }
    assert!(starved > 40 && whole > 40, "{starved} starved, {whole} not");
}

/// Held circuits are limited by the way of the packet and of its acknowledgement.
#[test]
fn held_circuits_limit_streams() {
    for circuit in [Circuit::UntilDelivered, Circuit::UntilAcknowledged] {
        let mut shares = Vec::new();
        for window in [2, 1024] {
            for config in machines(circuit, window, Engine::Worm) {
                for (buffer, flits, turnaround) in [(128, 65, 0), (128, 189, 50), (12, 189, 50)] {
                    // The adapter's window counts acknowledgements, which a channel does not wait
                    // for here.
                    if circuit == Circuit::UntilDelivered && window < 1024 {
                        continue;
                    }
                    let config = Config {
                        buffer,
                        ..config.clone()
                    };
                    shares.push(check(&config, flits, turnaround));
                }
            }
        }
        assert_both(&shares);
    }
}

/// The motion's definition has the same shares.
#[test]
fn the_flit_mover_agrees() {
    for circuit in [Circuit::Wormhole, Circuit::UntilAcknowledged] {
        for config in machines(circuit, 1024, Engine::Flit) {
            if config.hop_delay[0] < 100 {
                check(
                    &Config {
                        buffer: 20,
                        ..config
                    },
                    65,
                    50,
                );
            }
        }
    }
}

/// Traffic classes part the channels.
#[test]
fn a_traffic_class_has_its_own_credits() {
    for config in machines(Circuit::CutThrough, 1024, Engine::Worm) {
        let classes = config.channels.min(2);
        let config = Config {
            traffic_classes: classes,
            ..config
        };
        let credits = Credits::new(&config, 0, 65, 50);
        assert_eq!(credits.channels, config.channels.div_ceil(classes));
        check(
            &Config {
                channels: credits.channels,
                traffic_classes: 1,
                ..config
            },
            65,
            50,
        );
    }
}

/// The sufficient channel count gives the whole rate, and one less does not.
#[test]
fn enough_channels_are_enough() {
    for delay in [60, 195, 780] {
        let of = |channels| Config {
            circuit: Circuit::CutThrough,
            channels,
            packets_in_flight: 1024,
            ..one_switch(delay)
        };
        let enough = Credits::new(&of(1), 0, 65, 50).enough(0);
        assert!((check(&of(enough), 65, 50) - 1.0).abs() < 1e-9);
        assert!(check(&of(enough - 1), 65, 50) < 1.0);
    }
}
