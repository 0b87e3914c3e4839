//! Bits that arrive wrong.

use super::{MANY, TIMEOUT, ended, link, news, noisy, run, switch, times, tree};
use crate::common::{Heard, broadcast, packet};
use fabric::{Ack, LinkId};

/// A switch discards a packet with a wrong header; the destination discards one with a wrong body;
/// a wrong acknowledgement does not reach the source, and its bad EOP comes behind the timeout.
#[test]
fn bit_errors_strike_header_body_and_acknowledgement() {
    let traffic = [(0, ended(packet(0, 15, 10)))];
    let tree = tree();
    let up = link(&tree, "switch 1.0", "switch 2.3");
    let header = noisy(&tree, up, |faults| faults.header_bits = MANY);
    let bench = run(&header, &[], &traffic);
    // The tail is at the second switch in cycle 3 + 9 + 3; the answer takes two links.
    assert_eq!(times(&bench.record(0)), (0, 0, 21, Ack::Corrupted));
    assert!(news(&bench).is_empty());
    assert_eq!(bench.fabric.counters(up).errors, 1);

    let body = noisy(&tree, up, |faults| faults.flit_bits = MANY);
    let bench = run(&body, &[], &traffic);
    assert_eq!(times(&bench.record(0)), (0, 21, 33, Ack::Corrupted));
    assert_eq!(news(&bench), [(21, 15, "damaged"), (46, 15, "bad")]);
    assert_eq!(bench.fabric.counters(up).errors, 1);

    let back = link(&tree, "switch 2.3", "switch 1.0");
    let token = noisy(&tree, back, |faults| faults.token_bits = MANY);
    let bench = run(&token, &[], &traffic);
    assert_eq!(times(&bench.record(0)), (0, 21, TIMEOUT, Ack::TimedOut));
    assert_eq!(
        news(&bench),
        [(21, 15, "delivered"), (TIMEOUT + 13, 15, "bad")]
    );
    assert_eq!(bench.fabric.counters(back).errors, 1);
    assert_eq!(bench.fabric.counters(up), {
        let unhurt = run(&tree, &[], &traffic);
        unhurt.fabric.counters(up)
    });
}

/// As often as the rate predicts: among 4,000 packets with 100 bits, over a link with 1 wrong bit
/// in 1,000, about 381 are damaged.
#[test]
fn bit_errors_are_as_frequent_as_the_rate_says() {
    let config = noisy(&switch(), LinkId::new(5), |faults| faults.flit_bits = 10);
    let traffic: Vec<_> = (0..4000)
        .map(|number| (40 * number, packet(0, 1, 10)))
        .collect();
    let bench = run(&config, &[], &traffic);
    let errors = bench.fabric.counters(LinkId::new(5)).errors;
    let expected = 4000.0 * (1.0 - 0.999_f64.powi(100));
    // Five standard deviations.
    assert!((errors as f64 - expected).abs() < 5.0 * 18.6, "{errors}");
    let corrupted = bench
        .done()
        .filter(|(record, _)| record.ack == Ack::Corrupted);
    assert_eq!(corrupted.count() as u64, errors);
}

/// Checks that two error kinds occur together as often as independent ones: within five standard
/// deviations.
fn assert_independent(both: usize, (one, other): (usize, usize), of: usize) {
    let expected = one as f64 * other as f64 / of as f64;
    let apart = (both as f64 - expected).abs();
    assert!(
        apart < 5.0 * expected.sqrt(),
        "{both} of {of}, not {expected}: {one} and {other}"
    );
}

/// A packet's errors are independent of those in the two packets after it.
#[test]
fn bit_errors_of_successive_packets_are_independent() {
    let config = noisy(&switch(), LinkId::new(5), |faults| faults.flit_bits = 20);
    let traffic: Vec<_> = (0..3000)
        .map(|number| (40 * number, packet(0, 1, 10)))
        .collect();
    let bench = run(&config, &[], &traffic);
    let wrong: Vec<bool> = (0..3000)
        .map(|token| bench.record(token).ack == Ack::Corrupted)
        .collect();
    let all = wrong.iter().filter(|&&wrong| wrong).count();
    // With a probability of 1 - 0.999^200.
    assert!(all.abs_diff(544) < 110, "{all}");
    for apart in 1..4 {
        let pairs = wrong.iter().zip(&wrong[apart..]);
        let both = pairs.filter(|&(&one, &other)| one && other).count();
        assert_independent(both, (all, all), 3000);
    }
}

/// A broadcast to all nodes at its switch comes back over its source's cable, which its answer
/// takes, too. Packet and answer errors are independent.
#[test]
fn bit_errors_of_body_and_answer_are_independent() {
    let config = noisy(&switch(), LinkId::new(4), |faults| {
        (faults.flit_bits, faults.token_bits, faults.timeout) = (22, 220, 60);
    });
    let traffic: Vec<_> = (0..1500)
        .map(|number| (120 * number, broadcast(0, 0, 3, 10)))
        .collect();
    let bench = run(&config, &[], &traffic);
    let damaged = bench.heard.iter().filter_map(|heard| match heard {
        Heard::Damaged(_, _, spec) => Some(spec.token),
        _ => None,
    });
    let damaged: Vec<u64> = damaged.collect();
    let unheard = |token: u64| bench.record(token).ack == Ack::TimedOut;
    let silent = (0..1500).filter(|&token| unheard(token)).count();
    let both = damaged.iter().filter(|&&token| unheard(token)).count();
    // Each with a probability of 1 - 0.999^220.
    let counts = (damaged.len(), silent);
    assert!(
        counts.0.abs_diff(296) < 80 && counts.1.abs_diff(296) < 80,
        "{counts:?}"
    );
    assert_independent(both, counts, 1500);
}
