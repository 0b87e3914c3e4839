//! Results in parts, and ends that are asked for once.

use super::*;
use link::{EndKind, Payload};
use rank::memory::Span;

#[test]
fn a_result_is_there_with_its_end() {
    let mut calls = CollectedCalls::default();
    let mut bytes = [0u8; 4];
    #[allow(unsafe_code)] // the test's memory
    // SAFETY: it lives until the end of the test.
    let room = unsafe { Span::new(bytes.as_mut_ptr(), 4) };
    let (first, second, failed) = (1, 2, 3);
    calls.begin(first, room.into());
    calls.begin(second, Buffer::default());
    assert!(!calls.has_ended(first) && calls.take(first).is_none());
    let report = |status, id| OperationEnd {
        id,
        status,
        end: EndKind::Collected { size: 4 },
    };
    let done = report(EndStatus::Done, first);
    let tell = |calls: &mut CollectedCalls, ended: OperationEnd, pieces: &[&[u8]]| {
        let mut payload = Payload::new(pieces);
        while let Some((part, bytes)) = payload.take(3) {
            assert!(!calls.has_ended(ended.id));
            calls.report(ended, part, &bytes);
        }
    };
    tell(&mut calls, done, &[b"abcd"]);
    tell(&mut calls, report(EndStatus::Truncated, second), &[]);
    assert!(calls.has_ended(first));
    assert_eq!(calls.take(first), Some(EndStatus::Done));
    assert_eq!(calls.take(first), None);
    assert_eq!(calls.take(second), Some(EndStatus::Truncated));
    assert_eq!(room.bytes(), b"abcd");

    // The reason why a call has failed is longer than the room for its result, which stays as it
    // is.
    calls.begin(failed, room.into());
    tell(
        &mut calls,
        report(EndStatus::Lost { peer: None }, failed),
        &[b"the cable is dead"],
    );
    assert_eq!(calls.take(failed), Some(EndStatus::Lost { peer: None }));
    assert_eq!(room.bytes(), b"abcd");
}
