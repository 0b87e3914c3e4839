//! The text form: accepted texts, refused texts and the messages about them, and the round trip.

use proptest::prelude::*;
use units::{Bytes, Flits, Rate, Time};

fn time(text: &str) -> Time {
    text.parse().unwrap()
}

fn refusal<T: std::str::FromStr<Err = units::UnitError>>(text: &str) -> String {
    match text.parse::<T>() {
        Ok(_) => panic!("{text:?} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn accepts_every_unit() {
    assert_eq!(time("7 ps"), Time::from_ps(7));
    assert_eq!(time("35 ns"), Time::from_ns(35));
    assert_eq!(time("2.2 us"), Time::from_ns(2200));
    assert_eq!(time("2.2 µs"), Time::from_ns(2200));
    assert_eq!(time("2.2 μs"), Time::from_ns(2200));
    assert_eq!(time("5 ms"), Time::from_ms(5));
    assert_eq!(time("1 s"), Time::from_secs(1));

    let bytes = |text: &str| text.parse::<Bytes>().unwrap().as_u64();
    assert_eq!(bytes("0 B"), 0);
    assert_eq!(bytes("320 B"), 320);
    assert_eq!(bytes("256 KB"), 256 * 1024);
    assert_eq!(bytes("256 KiB"), 256 * 1024);
    assert_eq!(bytes("64 MB"), 64 << 20);
    assert_eq!(bytes("1 GB"), 1 << 30);
    assert_eq!(bytes("1.5 KB"), 1536);

    let rate = |text: &str| text.parse::<Rate>().unwrap().as_bytes_per_second();
    assert_eq!(rate("7 B/s"), 7);
    assert_eq!(rate("1 KB/s"), 1000);
    assert_eq!(rate("400 MB/s"), 400_000_000);
    assert_eq!(rate("1.32 GB/s"), 1_320_000_000);
    assert_eq!(rate("400 Gb/s"), 50_000_000_000);
    assert_eq!(rate("0.4 Gb/s"), rate("400 Mb/s"));

    assert_eq!("1 flit".parse(), Ok(Flits::new(1)));
    assert_eq!("128 flits".parse(), Ok(Flits::new(128)));
}

#[test]
fn blanks_and_zeros_do_not_matter() {
    for text in [
        "35ns",
        " 35  ns ",
        "035 ns",
        "35.0 ns",
        "0.035 us",
        "35.000000000000000 ns",
    ] {
        assert_eq!(time(text), Time::from_ns(35), "{text:?}");
    }
}

#[test]
fn fractions_are_exact() {
    assert_eq!(time("0.000000000001 s"), Time::from_ps(1));
    assert_eq!(time("17.05 us"), Time::from_ps(17_050_000));
    assert_eq!(time("18446744073.709551615 ms"), Time::MAX);
    assert_eq!("1.0009765625 KB".parse(), Ok(Bytes::new(1025)));
    // 2^30 has thirty twos, so thirty decimals can still be exact.
    assert_eq!(
        "0.000000000931322574615478515625 GB".parse(),
        Ok(Bytes::new(1))
    );
}

#[test]
fn prints_in_the_largest_unit_with_three_decimals() {
    for (ps, text) in [
        (0, "0 ps"),
        (999, "999 ps"),
        (1_000, "1 ns"),
        (2_200_000, "2.2 us"),
        (12_345, "12.345 ns"),
        (12_345_678, "12345.678 ns"),
        (5_000_000_000, "5 ms"),
        (u64::MAX, "18446744073709551.615 ns"),
    ] {
        assert_eq!(Time::from_ps(ps).to_string(), text);
    }
    for (bytes, text) in [
        (320, "320 B"),
        (1536, "1.5 KB"),
        (1537, "1537 B"),
        (262_144, "256 KB"),
        (1 << 20, "1 MB"),
        (1 << 30, "1 GB"),
    ] {
        assert_eq!(Bytes::new(bytes).to_string(), text);
    }
    assert_eq!(Rate::from_mb_per_second(1320).to_string(), "1.32 GB/s");
    assert_eq!(Rate::from_mb_per_second(50_000).to_string(), "50 GB/s");
    assert_eq!(Rate::from_mb_per_second(400).to_string(), "400 MB/s");
    assert_eq!(Flits::new(0).to_string(), "0 flits");
    assert_eq!(Flits::new(1).to_string(), "1 flit");
    assert_eq!(
        format!("{:>8}|{:<8}|", Time::from_ns(35), Bytes::new(2)),
        "   35 ns|2 B     |"
    );
}

#[test]
fn refuses_a_bare_number() {
    let message = r#"expected a time with its unit, such as "35 ns"; a bare number has no unit"#;
    assert_eq!(refusal::<Time>("35"), message);
    assert_eq!(refusal::<Time>(" 3.5 "), message);
    assert!(refusal::<Flits>("128").starts_with("expected a number of flits with its unit"));
}

#[test]
fn refuses_what_is_no_number() {
    for text in [
        "",
        "ns",
        "fast",
        ".5 us",
        "5. us",
        "1e3 ns",
        "1_000 ns",
        "1,5 us",
        "+1 ns",
        "1.2.3 ns",
        "NaN ns",
        "0x10 ns",
        "35 ns 2 ps",
        "½ us",
    ] {
        assert_eq!(
            refusal::<Time>(text),
            format!(
                r#"`{text}` is not a time: write a decimal number and its unit, such as "35 ns""#
            )
        );
    }
}

#[test]
fn refuses_negative_numbers() {
    assert_eq!(
        refusal::<Time>("-35 ns"),
        "`-35 ns` is negative; a time is zero or more"
    );
    assert_eq!(
        refusal::<Rate>("-1"),
        "`-1` is negative; a rate is zero or more"
    );
    assert_eq!(
        refusal::<Bytes>("\u{2212}1 B"),
        "`\u{2212}1 B` is negative; a size is zero or more"
    );
}

#[test]
fn refuses_other_quantities() {
    assert_eq!(
        refusal::<Time>("35 MB"),
        r#"`35 MB` is a size; a time is needed, such as "35 ns""#
    );
    assert_eq!(
        refusal::<Bytes>("35 MB/s"),
        r#"`35 MB/s` is a rate; a size is needed, such as "256 KB""#
    );
    assert_eq!(
        refusal::<Rate>("35 ns"),
        r#"`35 ns` is a time; a rate is needed, such as "400 MB/s""#
    );
    assert_eq!(
        refusal::<Flits>("2 B"),
        r#"`2 B` is a size; a number of flits is needed, such as "128 flits""#
    );
}

#[test]
fn names_the_unit_that_was_meant() {
    let nearest = |message: String| message.split('`').nth(5).map(str::to_owned);
    for (text, unit) in [
        ("1 NS", "ns"),
        ("1 nss", "ns"),
        ("1 nanoseconds", "ns"),
        ("1 usec", "us"),
        ("1 microsecond", "us"),
        ("1 sec", "s"),
        ("1 S", "s"),
    ] {
        assert_eq!(
            nearest(refusal::<Time>(text)).as_deref(),
            Some(unit),
            "{text}"
        );
    }
    for (text, unit) in [
        ("1 kB", "KB"),
        ("1 k", "KB"),
        ("1 bytes", "B"),
        ("1 MBB", "MB"),
    ] {
        assert_eq!(
            nearest(refusal::<Bytes>(text)).as_deref(),
            Some(unit),
            "{text}"
        );
    }
    for (text, unit) in [
        ("1 MBps", "MB/s"),
        ("1 mb/s", "MB/s"),
        ("1 MiB/s", "MB/s"),
        ("1 MB/", "MB/s"),
        ("1 Gbit/s", "Gb/s"),
        ("1 Gbps", "Gb/s"),
        ("1 GBps", "GB/s"),
    ] {
        assert_eq!(
            nearest(refusal::<Rate>(text)).as_deref(),
            Some(unit),
            "{text}"
        );
    }
    assert_eq!(
        refusal::<Time>("35 nss"),
        "unknown unit `nss` in `35 nss`; a time is in ps, ns, us, ms or s; did you mean `ns`?"
    );
    assert_eq!(
        refusal::<Flits>("3 furlongs"),
        "unknown unit `furlongs` in `3 furlongs`; a number of flits is in flits"
    );
}

#[test]
fn refuses_what_cannot_be_held() {
    assert_eq!(
        refusal::<Time>("0.5 ps"),
        "`0.5 ps` is not a whole number of picoseconds"
    );
    assert_eq!(
        refusal::<Time>("1.2345 ns"),
        "`1.2345 ns` is not a whole number of picoseconds"
    );
    assert_eq!(
        refusal::<Bytes>("1.3 KB"),
        "`1.3 KB` is not a whole number of bytes"
    );
    assert_eq!(
        refusal::<Flits>("1.5 flits"),
        "`1.5 flits` is not a whole number of flits"
    );
    assert_eq!(
        refusal::<Time>("18446745 s"),
        "`18446745 s` is too large; a time is at most 18446744 s"
    );
    assert_eq!(
        refusal::<Time>("18446744073709551616 ps"),
        "`18446744073709551616 ps` is too large; a time is at most 18446744 s"
    );
    assert_eq!(
        refusal::<Bytes>("17179869184 GB"),
        "`17179869184 GB` is too large; a size is at most 17179869183 GB"
    );
    assert_eq!(
        refusal::<Rate>("18446744074 GB/s"),
        "`18446744074 GB/s` is too large; a rate is at most 18446744073 GB/s"
    );
    assert_eq!(
        refusal::<Flits>("4294967296 flits"),
        "`4294967296 flits` is too large; a number of flits is at most 4294967295 flits"
    );
}

proptest! {
    #[test]
    fn time_round_trips(ps in any::<u64>(), shift in 0..64) {
        let time = Time::from_ps(ps >> shift);
        prop_assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn bytes_round_trip(bytes in any::<u64>(), down in 0..64, up in 0..40) {
        let bytes = Bytes::new(bytes >> down << up);
        prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
    }

    #[test]
    fn rate_round_trips(rate in any::<u64>(), shift in 0..64) {
        let rate = Rate::from_bytes_per_second(rate >> shift);
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
    }

    #[test]
    fn flits_round_trip(flits in any::<u32>(), shift in 0..32) {
        let flits = Flits::new(flits >> shift);
        prop_assert_eq!(flits.to_string().parse(), Ok(flits));
    }

    #[test]
    fn a_decimal_is_its_picoseconds(whole in 0_u64..1_000_000, thousandths in 0_u64..1_000) {
        let time: Time = format!("{whole}.{thousandths:03} us").parse().unwrap();
        prop_assert_eq!(time.as_ps(), whole * 1_000_000 + thousandths * 1_000);
    }

    #[test]
    fn no_text_panics(text in r"[-+.0-9 a-zA-Z/µ\PC]{0,40}") {
        let _ = text.parse::<Time>();
        let _ = text.parse::<Bytes>();
        let _ = text.parse::<Rate>();
        let _ = text.parse::<Flits>();
    }

    #[test]
    fn numbers_of_any_length_parse_or_are_refused(
        text in r"[0-9]{1,60}(\.[0-9]{1,60})? (s|ps|GB|GB/s|flits)"
    ) {
        let _ = text.parse::<Time>();
        let _ = text.parse::<Bytes>();
        let _ = text.parse::<Rate>();
        let _ = text.parse::<Flits>();
    }
}
