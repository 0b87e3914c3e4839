//! Messages over several rails (coll2003 s2-4), by every policy.
//!
//! * `alone`: a lone message's times, worked out on paper and met to the picosecond;
//! * `choice`: the rails that a message takes, and its waits;
//! * `rivals`: messages that want the same rails;
//! * `programs`: random programs, with every byte compared, and their invariants;
//! * `failures`: rails that fail while they run;
//! * `large`: many nodes, and many rails.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `PROPTEST_CASES` | random programs of each test | 30 to 100 |
//!
//! A failure prints the program, and proptest the seed that makes it.

mod alone;
mod choice;
mod failures;
mod large;
mod programs;
mod rivals;

use proptest::prelude::ProptestConfig;

/// So many random programs, unless the environment sets the count.
fn cases(quick: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES");
    let cases = asked.ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(cases.unwrap_or(quick))
}
