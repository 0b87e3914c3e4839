//! Link rates beside the fastest one: a slower link's pace.

use fabric::Pace;
use fabric::pace::MAX_CYCLES_PER_FLIT;
use units::Rate;

/// A link's pace, if it may have such a rate.
pub(crate) fn pace(rate: Rate, fastest: Rate) -> Option<Pace> {
    let [rate, fastest] = [rate, fastest].map(Rate::as_bytes_per_second);
    Pace::nearest(rate, fastest)
}

/// The pace for a link rate, or the mistake and the allowed values.
pub(crate) fn admit(rate: Rate, fastest: Rate) -> Result<Pace, (String, String)> {
    let slowest = fastest
        .as_bytes_per_second()
        .div_ceil(MAX_CYCLES_PER_FLIT.into());
    let slowest = Rate::from_bytes_per_second(slowest);
    pace(rate, fastest).ok_or_else(|| {
        let message = if rate > fastest {
            format!(
                "{rate} is above link.rate, {fastest}: make link.rate the fastest rate of all \
                links, and give the others their own"
            )
        } else {
            format!("{rate} is too slow beside link.rate, {fastest}")
        };
        (message, format!("{slowest} to {fastest}"))
    })
}
