use super::student_t_975;

#[test]
fn quantiles_are_those_of_printed_tables() {
    for (freedom, quantile) in [
        (1, 12.706_204_7),
        (2, 4.302_652_7),
        (9, 2.262_157_2),
        (10, 2.228_138_9),
        (11, 2.200_985_2),
        (15, 2.131_449_5),
        (20, 2.085_963_4),
        (29, 2.045_229_6),
        (40, 2.021_075_4),
        (120, 1.979_930_4),
        (1000, 1.962_339_1),
        (usize::MAX, 1.959_964_0),
    ] {
        let difference: f64 = student_t_975(freedom) - quantile;
        assert!(difference.abs() < 1e-5, "{freedom}: {difference}");
    }
}

#[test]
fn quantiles_fall_with_the_degrees_of_freedom() {
    for freedom in 1..1000 {
        assert!(student_t_975(freedom) > student_t_975(freedom + 1));
    }
}
