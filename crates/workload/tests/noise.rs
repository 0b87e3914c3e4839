//! The noise test: a fixed tick, by closed forms.
#![allow(clippy::float_cmp)] // equal results are equal to the last bit

use crate::common;

use common::{cluster, four_nodes};
use elan::Distribution::Fixed;
use elan::noise::{NoiseSource, Spread};
use units::Time;
use workload::Noise;

const COMPUTE: Time = Time::from_ms(1);

/// A tick every 10 ms takes 50 us. Of 250 iterations of 1 ms, 25 meet one, or one more or less.
#[test]
fn a_tick_takes_its_share_of_each_batch() {
    let mut config = four_nodes();
    config.noise = vec![NoiseSource {
        name: "tick".into(),
        cpu: None,
        interval: Spread::Mean(Time::from_ms(10), Fixed),
        duration: Spread::Mean(Time::from_us(50), Fixed),
    }];
    let noise = Noise {
        node: 1,
        cpu: 0,
        iterations: 1000,
        compute: COMPUTE,
    };
    let records = noise.run(cluster(&config), 4).expect("it ends");
    let (elapsed, long) = (records.values("elapsed"), records.values("above_1_percent"));
    assert_eq!((elapsed.len(), long.len()), (4, 4));
    for (elapsed, long) in elapsed.iter().zip(&long) {
        let met = long * 250.0;
        assert!((met - 25.0).abs() < 1.5, "{met}");
        assert!(
            (elapsed - 1000.0 - met * 50.0 / 250.0).abs() < 1e-6,
            "{elapsed}"
        );
    }
    assert_eq!(records.value("elapsed_p50"), 1000.0);
    assert_eq!(records.value("elapsed_max"), 1050.0);
    let [none, one] = &records.tables.distribution[..] else {
        panic!("{:?}", records.tables.distribution)
    };
    assert_eq!((none.lower, none.count + one.count), (Time::ZERO, 1000));
    assert_eq!(long.iter().sum::<f64>() * 250.0, one.count as f64);

    let quiet = noise.run(cluster(&four_nodes()), 4).expect("it ends");
    assert_eq!(quiet.values("elapsed"), [1000.0; 4]);
    assert_eq!(quiet.values("above_1_percent"), [0.0; 4]);
}

/// A detour that takes a hundredth of the work is noticed, a shorter one is not.
#[test]
fn a_hundredth_is_noticed() {
    for (us, share) in [(9_950, 0.0), (10_000, 1.0), (10_050, 1.0)] {
        let mut config = four_nodes();
        config.noise = vec![NoiseSource {
            name: "tick".into(),
            cpu: None,
            interval: Spread::Mean(Time::from_us(900), Fixed),
            duration: Spread::Mean(Time::from_ns(us), Fixed),
        }];
        let noise = Noise {
            node: 0,
            cpu: 0,
            iterations: 50,
            compute: COMPUTE,
        };
        let records = noise.run(cluster(&config), 1).expect("it ends");
        let (met, found) = (
            records.value("elapsed") - 1000.0,
            records.value("above_1_percent"),
        );
        let ticks = met / Time::from_ns(us).as_us_f64();
        assert!((1.0..1.2).contains(&ticks), "{ticks} ticks in an iteration");
        // A few iterations have two of them.
        let twice = if share == 0.0 { ticks - 1.0 } else { share };
        assert!((found - twice).abs() < 1e-6, "{us} ns: {found}");
    }
}

/// Rare long detours and more frequent short ones: the quantiles lie between them by their shares.
#[test]
fn quantiles_of_detours() {
    let tick = |name: &str, ms: u64, us: u64| NoiseSource {
        name: name.into(),
        cpu: None,
        interval: Spread::Mean(Time::from_ms(ms), Fixed),
        duration: Spread::Mean(Time::from_us(us), Fixed),
    };
    let mut config = four_nodes();
    // 50 of 20,000 iterations are longer by 50 us, and one by 3 ms.
    config.noise = vec![tick("short", 400, 50), tick("long", 15_000, 3_000)];
    let noise = Noise {
        node: 0,
        cpu: 0,
        iterations: 20_000,
        compute: COMPUTE,
    };
    let records = noise.run(cluster(&config), 1).expect("it ends");
    let value = |metric| records.value(metric);
    assert_eq!(
        (value("elapsed_p50"), value("elapsed_p99")),
        (1000.0, 1000.0)
    );
    assert!(
        (value("elapsed_p99_99") / 1050.0 - 1.0).abs() < 0.01,
        "{}",
        value("elapsed_p99_99")
    );
    assert!(value("elapsed_max") >= 4000.0, "{}", value("elapsed_max"));
}
