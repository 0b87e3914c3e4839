//! Rates of links beside the fastest one: the pace of a slower link.

use fabric::Pace;
use fabric::pace::MAX_CYCLES_PER_FLIT;
use units::Rate;

/// The pace of a link, if it may have such a rate.
pub(crate) fn pace(rate: Rate, fastest: Rate) -> Option<Pace> {
    let [rate, fastest] = [rate, fastest].map(Rate::as_bytes_per_second);
    Pace::nearest(rate, fastest)
}

/// The pace of a link of a rate, or what is wrong and what is allowed.
pub(crate) fn admit(rate: Rate, fastest: Rate) -> Result<Pace, (String, String)> {
    let slowest = fastest
        .as_bytes_per_second()
        .div_ceil(MAX_CYCLES_PER_FLIT.into());
    let slowest = Rate::from_bytes_per_second(slowest);
    pace(rate, fastest).ok_or_else(|| {
        let message = if rate > fastest {
            format!(
                "{rate} is above link.rate, {fastest}: make link.rate the fastest rate of all links, and give the others their own"
            )
        } else {
            format!("{rate} is too slow beside link.rate, {fastest}")
        };
        (message, format!("{slowest} to {fastest}"))
    })
}
