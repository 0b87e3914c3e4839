//! The loop on the machine that runs the tests: its invariants, not its noise.

use super::*;

const REQUEST: ProbeRequest = ProbeRequest {
    length: Time::from_ms(50),
    compute: Time::from_us(100),
    cpu: None,
};

fn measured(request: ProbeRequest) -> Result<Measurement, Error> {
    measure(request, &AtomicBool::new(false))
}

#[test]
fn iterations_fill_the_length() {
    let found = measured(REQUEST).unwrap();
    assert!((2..=501).contains(&found.elapsed().len()));
    let total: Time = found.elapsed().iter().sum();
    // It ends with the first iteration after the length, or with the number that there is room for.
    assert!(
        total >= REQUEST.length || found.elapsed().len() == 501,
        "{total}"
    );
}

#[test]
fn a_processor_that_is_not_there() {
    match measured(ProbeRequest {
        cpu: Some(100_000),
        ..REQUEST
    }) {
        Err(Error::NoCpu { cpu, allowed }) => assert!(cpu == 100_000 && !allowed.is_empty()),
        other => assert_eq!(other.err(), Some(Error::Unbound)),
    }
}

#[test]
fn numbers_out_of_range() {
    let told = |request| measured(request).unwrap_err().to_string();
    let length = |length| ProbeRequest { length, ..REQUEST };
    let compute = |compute| ProbeRequest { compute, ..REQUEST };
    assert!(told(length(Time::from_ms(1))).contains("length of the measurement: 1 ms"));
    assert!(told(length(Time::from_secs(4000))).contains("allowed: 10 ms to 3600 s"));
    assert!(told(compute(Time::from_us(1))).contains("the computation: 1 us"));
    assert!(told(compute(Time::from_secs(2))).contains("10 us to 1 s"));
    assert!(told(compute(Time::from_ms(40))).contains("number of iterations"));
    let many = ProbeRequest {
        length: Time::from_secs(3600),
        compute: Time::from_us(10),
        cpu: None,
    };
    assert!(told(many).contains("360000000 is out of range; allowed: 10 to 10000000"));
}

#[test]
fn a_measurement_can_be_cancelled() {
    let long = ProbeRequest {
        length: Time::from_secs(3600),
        compute: Time::from_ms(1),
        cpu: None,
    };
    let outcome = measure(long, &AtomicBool::new(true));
    assert_eq!(outcome.err(), Some(Error::Cancelled));
}

#[test]
fn numbers_for_people() {
    assert_eq!(runs(&[0, 1, 2, 5, 7, 8]), "0 to 2, 5, 7 to 8");
}
