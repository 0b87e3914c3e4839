//! Arithmetic: exact, and loud at the range's end.

use proptest::prelude::*;
use units::{Bytes, Flits, Rate, Time};

#[test]
fn sums_and_multiples() {
    let mut time = Time::from_us(1) + Time::from_ns(5) * 2 - Time::from_ns(10);
    time += Time::from_ps(3);
    time -= Time::from_ps(2);
    assert_eq!(time, Time::from_ps(1_000_001));
    assert_eq!(time / 2, Time::from_ps(500_000));
    assert_eq!(
        [Bytes::new(1), Bytes::new(2)].iter().sum::<Bytes>(),
        Bytes::new(3)
    );
    assert_eq!(
        [Flits::new(1), Flits::new(2)].into_iter().sum::<Flits>(),
        Flits::new(3)
    );
}

#[test]
fn quotients_count_parts() {
    let cycle = Time::from_ns(5);
    let time = Time::from_ns(12);
    assert_eq!(time / cycle, 2);
    assert_eq!(time.div_ceil(cycle), 3);
    assert_eq!(time % cycle, Time::from_ns(2));
    assert!(!time.is_multiple_of(cycle));
    assert!(Time::from_ns(55).is_multiple_of(cycle));
    assert_eq!(Bytes::from_mb(1).div_ceil(Bytes::new(320)), 3277);
}

#[test]
fn the_range_has_an_end() {
    assert_eq!(Time::MAX.checked_add(Time::from_ps(1)), None);
    assert_eq!(Time::ZERO.checked_sub(Time::from_ps(1)), None);
    assert_eq!(Time::MAX.checked_mul(2), None);
    assert_eq!(Time::MAX.saturating_add(Time::from_ps(1)), Time::MAX);
    assert_eq!(Flits::ZERO.saturating_sub(Flits::new(1)), Flits::ZERO);
}

#[test]
#[should_panic(expected = "overflow")]
fn leaving_the_range_panics() {
    let _ = Time::ZERO - Time::from_ps(1);
}

#[test]
fn transfers_round_up() {
    let pci = Rate::from_mb_per_second(264);
    // 64 B / 264 MB/s = 242,424.24 ps
    assert_eq!(pci.time(Bytes::new(64)), Time::from_ps(242_425));
    assert_eq!(pci.time(Bytes::ZERO), Time::ZERO);
    assert_eq!(Rate::ZERO.checked_time(Bytes::new(1)), None);
    assert_eq!(
        Rate::from_bytes_per_second(1).checked_time(Bytes::MAX),
        None
    );
}

#[test]
fn results_are_in_the_units_of_the_papers() {
    let bandwidth = Rate::of(Bytes::from_mb(1), Time::from_secs(1));
    assert!((bandwidth - 1.048_576).abs() < 1e-12);
    assert!(Rate::of(Bytes::ZERO, Time::ZERO).abs() < f64::EPSILON);
    assert!(Rate::of(Bytes::new(1), Time::ZERO).is_infinite());
    assert!((Time::from_ns(2200).as_us_f64() - 2.2).abs() < 1e-12);
    assert!((Time::from_ms(5).as_secs_f64() - 0.005).abs() < 1e-12);
}

proptest! {
    #[test]
    fn a_transfer_is_the_least_time_that_suffices(
        bytes in 0_u64..1 << 40, rate in 1_u64 << 20..1 << 40
    ) {
        let time = Rate::from_bytes_per_second(rate).time(Bytes::new(bytes));
        let moved = |ps: u64| u128::from(ps) * u128::from(rate) / 1_000_000_000_000;
        prop_assert!(moved(time.as_ps()) >= u128::from(bytes));
        prop_assert!(time.is_zero() || moved(time.as_ps() - 1) < u128::from(bytes));
    }
}
