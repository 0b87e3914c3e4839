use super::Figure;

fn figure(values: &[f64]) -> Figure {
    Figure::of(values.to_vec())
}

fn near(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-12, "{one} is not {other}");
}

#[test]
fn common_noise_is_no_uncertainty_of_a_ratio() {
    let one = figure(&[50.0, 60.0, 70.0]);
    let other = figure(&[100.0, 120.0, 140.0]);
    let half = one.ratio(&other).interval;
    assert_eq!((half.low, half.mean, half.high), (0.5, 0.5, 0.5));
    let shuffled = figure(&[60.0, 70.0, 50.0]).ratio(&other).interval;
    near(shuffled.mean, 0.5);
    assert!(shuffled.half() > 0.2);
}

#[test]
fn figures_of_unlike_samples_are_independent() {
    let one = figure(&[1.0, 3.0]);
    let other = figure(&[10.0, 10.0, 10.0, 10.0]);
    let apart = one.difference(&other).interval;
    near(apart.mean, -8.0);
    // One of the two has no noise.
    near(apart.half(), one.interval.half());
    let ratio = one.ratio(&other).interval;
    near(ratio.mean, 0.2);
    near(ratio.half(), 0.2 * one.interval.relative());
}

#[test]
fn a_difference_keeps_its_values_and_a_ratio_has_none() {
    let one = figure(&[1.0, 2.0, 4.0]);
    assert_eq!(
        one.difference(&figure(&[1.0, 1.0, 1.0])).values,
        [0.0, 1.0, 3.0]
    );
    near(one.difference(&one).interval.half(), 0.0);
    assert!(one.ratio(&one).values.is_empty());
}
