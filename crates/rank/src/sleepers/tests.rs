use super::{Sleeper, cut, wake};
use crate::pending::{self, tests::ALONE};
use std::sync::PoisonError;

/// The one test of this module, since sleeps are the process's.
#[test]
fn a_step_ends_at_the_first_sleep_that_ends_in_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(cut(0, 10, 100), 100);
    assert!(!wake(100));
    let first = Sleeper::until(60);
    let second = Sleeper::until(8000);
    assert_eq!([cut(0, 10, 50), cut(0, 10, 100)], [50, 60]);
    // A sleeper that is late does not hold time up for ever.
    assert!(wake(60));
    assert_eq!(cut(0, 60, 100), 100);
    drop(first);
    // Steps grow with the time since the looks began.
    assert_eq!([cut(0, 60, 100), cut(0, 1600, 1601)], [100, 1700]);
    assert_eq!([cut(1600, 1600, 1601), cut(0, 7999, 9000)], [1601, 8000]);
    assert!(!wake(7999));
    drop(second);
    pending::acted();
    assert_eq!(cut(0, 1600, 1601), 1601);
}
