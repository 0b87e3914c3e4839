use super::untagged::Posted;
use super::*;
use crate::abi::{
    FI_ADDR_UNSPEC, FI_MSG, FI_MULTI_RECV, FI_RECV, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_SEND,
    FI_TAGGED,
};
use crate::memory::Span;
use ends::Item;
use link::{Kind, Payload};

/// A buffer of a test, which lives as long as the test.
fn buffer(length: usize) -> (&'static [u8], Span) {
    let bytes: &'static mut [u8] = vec![0; length].leak();
    let (pointer, length) = (bytes.as_mut_ptr(), bytes.len());
    #[allow(unsafe_code)]
    // SAFETY: nobody else knows these bytes, and tests read them only between the desk's calls.
    unsafe {
        (
            std::slice::from_raw_parts(pointer, length),
            Span::new(pointer, length),
        )
    }
}

fn desk() -> (Desk, Goal) {
    let mut desk = Desk::default();
    let goal = Goal {
        queue: Some(desk.ends.new_queue()),
        quiet: false,
        counter: Some(desk.ends.new_counter()),
    };
    (desk, goal)
}

fn next(desk: &mut Desk) -> Option<Item> {
    let item = desk.ends.first(0);
    desk.ends.take(0);
    item
}

fn done(desk: &mut Desk) -> FiCqTaggedEntry {
    match next(desk) {
        Some(Item::Done(entry, _)) => entry,
        other => panic!("{other:?}"),
    }
}

fn failed(desk: &mut Desk) -> FiCqErrEntry {
    match next(desk) {
        Some(Item::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn received(id: u64, status: Status, size: u64) -> News {
    News {
        size,
        tag: 5,
        peer: 1,
        data: NO_LABEL,
        ..News::new(Report::Received, status, 0, id)
    }
}

/// The parts of a payload, none longer than so many bytes.
fn parts(bytes: &[u8], most: usize) -> Vec<(Part, Vec<u8>)> {
    let pieces = [bytes];
    let mut payload = Payload::new(&pieces);
    std::iter::from_fn(|| payload.take(most)).collect()
}

/// Tells news with a payload in one part.
fn tell(desk: &mut Desk, news: &News, bytes: &[u8]) -> Option<(Order, Vec<u8>)> {
    let parts = parts(bytes, usize::MAX);
    desk.news(news, parts[0].0, bytes)
}

#[test]
fn what_is_stored_and_differs_is_kept_for_the_simulator() {
    let sent = b"what was sent";
    let news = |report, id| News {
        size: sent.len() as u64,
        message: 30 + id,
        key: 5,
        checksum: link::checksum([&sent[..]]),
        ..News::new(report, Status::Done, 0, id)
    };
    for report in [
        Report::Received,
        Report::Got,
        Report::Message,
        Report::Write,
    ] {
        for (bytes, most) in [
            (b"what was sent", 99),
            (b"what was sent", 4),
            (b"what was cent", 5),
        ] {
            let (mut desk, goal) = desk();
            let (_memory, span) = buffer(13);
            let operation = Operation {
                context: 7,
                buffer: span.into(),
                flags: 0,
                goal,
            };
            let id = desk.begin(operation);
            assert!(desk.windows.open(5, span, FI_REMOTE_WRITE));
            for (part, bytes) in parts(bytes, most) {
                desk.news(&news(report, id), part, &bytes);
            }
            if report == Report::Message {
                // It has come early.
                let Desk { untagged, ends, .. } = &mut desk;
                let posted = Posted {
                    context: 8,
                    buffer: span.into(),
                    source: FI_ADDR_UNSPEC,
                    several: None,
                    goal,
                };
                untagged.post(posted, ends);
                desk.check_untagged();
            }
            let wrong = desk.wrong.take();
            assert_eq!(wrong.is_some(), bytes != sent, "{report:?}");
            if let Some((order, stored)) = wrong {
                assert_eq!((order.kind(), order.id), (Some(Kind::Differs), 30 + id));
                assert_eq!(stored, bytes);
            }
        }
    }
}

#[test]
fn a_receive_is_filled_in_pieces() {
    let (mut desk, goal) = desk();
    let (first, one) = buffer(3);
    let (second, two) = buffer(5);
    let list = [one, two].map(|span| crate::abi::entries::IoVec {
        base: std::ptr::with_exposed_provenance(span.address),
        length: span.length,
    });
    #[allow(unsafe_code)]
    // SAFETY: the list has two entries, of the test's buffers.
    let both = unsafe { Buffer::new(list.as_ptr(), 2) };
    let id = desk.begin(Operation {
        context: 77,
        buffer: both,
        flags: FI_TAGGED | FI_RECV,
        goal,
    });
    let news = News {
        data: 9,
        checksum: link::checksum([&b"abcdefg"[..]]),
        ..received(id, Status::Done, 7)
    };
    let parts = parts(b"abcdefg", 4);
    desk.news(&news, parts[0].0, &parts[0].1);
    assert_eq!(next(&mut desk), None);
    desk.news(&news, parts[1].0, &parts[1].1);
    assert!(desk.wrong.is_none());
    assert_eq!((first, second), (&b"abc"[..], &b"defg\0"[..]));
    let entry = done(&mut desk);
    assert_eq!((entry.op_context, entry.len, entry.tag), (77, 7, 5));
    assert_eq!(entry.flags, FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA);
    assert_eq!(entry.data, 9);
    assert_eq!(desk.ends.count(0), (1, 0));
    assert!(!desk.is_under_way(id));
}

#[test]
fn failures_go_to_the_queue_even_of_quiet_operations() {
    let (mut desk, goal) = desk();
    let quiet = Goal {
        quiet: true,
        ..goal
    };
    let operation = Operation {
        context: 1,
        buffer: buffer(2).1.into(),
        flags: FI_TAGGED | FI_RECV,
        goal: quiet,
    };
    for (status, error, olen) in [
        (Status::Truncated, FI_ETRUNC, 4),
        (Status::Cancelled, FI_ECANCELED, 0),
    ] {
        let id = desk.begin(operation.clone());
        let size = if status == Status::Truncated { 6 } else { 0 };
        tell(&mut desk, &received(id, status, size), &[]);
        let entry = failed(&mut desk);
        assert_eq!((entry.err, entry.olen, entry.len), (error, olen, 0));
    }
    let id = desk.begin(operation);
    tell(&mut desk, &received(id, Status::Done, 1), b"x");
    assert_eq!(next(&mut desk), None, "it is quiet");
    assert_eq!(desk.ends.count(0), (1, 2));
}

#[test]
fn a_peek_finds_and_claims() {
    let (mut desk, goal) = desk();
    let peek = |desk: &mut Desk, status| {
        let id = desk.begin(Operation {
            context: 3,
            buffer: Buffer::default(),
            flags: FI_TAGGED | FI_RECV | FI_CLAIM,
            goal,
        });
        let news = News {
            report: Report::Found as u32,
            ..received(id, status, 40)
        };
        tell(desk, &news, &[]);
        id
    };
    let id = peek(&mut desk, Status::Nothing);
    assert!(desk.has_missed(id));
    assert_eq!(failed(&mut desk).err, FI_ENOMSG);
    let id = peek(&mut desk, Status::Done);
    assert!(!desk.has_missed(id));
    let entry = done(&mut desk);
    assert_eq!((entry.len, entry.flags), (40, FI_TAGGED | FI_RECV));
    let receive = Operation {
        context: 3,
        buffer: buffer(40).1.into(),
        flags: FI_TAGGED | FI_RECV,
        goal,
    };
    assert_eq!(desk.claim(4, receive.clone()), None, "another context");
    assert_eq!(desk.claim(3, receive.clone()), Some(id));
    assert_eq!(desk.claim(3, receive), None, "only once");
    assert!(desk.is_under_way(id));
}

/// One that is too long for its receive is the error of that receive; one that is discarded is none.
#[test]
fn a_claimed_message_may_find_no_room() {
    for (wish, error) in [(0, Some(FI_ETRUNC)), (FI_DISCARD, None)] {
        let (mut desk, goal) = desk();
        let operation = |flags, room| Operation {
            context: 3,
            buffer: buffer(room).1.into(),
            flags: FI_TAGGED | FI_RECV | flags,
            goal,
        };
        let id = desk.begin(operation(FI_CLAIM, 0));
        let found = News {
            report: Report::Found as u32,
            ..received(id, Status::Done, 40)
        };
        tell(&mut desk, &found, &[]);
        done(&mut desk);
        assert_eq!(desk.claim(3, operation(wish, 0)), Some(id));
        tell(&mut desk, &received(id, Status::Truncated, 40), &[]);
        match error {
            Some(error) => assert_eq!((failed(&mut desk).err, desk.ends.count(0)), (error, (1, 1))),
            None => assert_eq!(done(&mut desk).len, 40),
        }
    }
}

#[test]
fn a_probe_answers_looks_for_the_same() {
    let mut desk = Desk::default();
    let look = |id, tag| Order {
        id,
        tag,
        ..Order::new(Kind::Peek, 0)
    };
    let begin = |desk: &mut Desk| {
        let id = desk.number();
        desk.probe.begin(look(id, 7));
        id
    };
    let found = |id| News {
        report: Report::Found as u32,
        ..received(id, Status::Done, 40)
    };
    assert_eq!(desk.probe.answer(&look(90, 7), false), None);
    let id = begin(&mut desk);
    assert_eq!(desk.probe.answer(&look(91, 8), false), None, "another one");
    let vain = desk.probe.answer(&look(92, 7), false).expect("it waits");
    assert_eq!((vain.id, vain.status()), (92, Status::Nothing));
    tell(&mut desk, &found(id), &[]);
    let seen = desk.probe.answer(&look(93, 7), false);
    assert_eq!(seen, Some(found(93)));
    assert!(!desk.probe.is_there(), "it answers once");
    // What is to be claimed, the simulator is asked for.
    let id = begin(&mut desk);
    tell(&mut desk, &found(id), &[]);
    assert_eq!(desk.probe.answer(&look(94, 7), true), None);
    assert!(!desk.probe.is_there());
    // One that was refused answers nothing.
    let id = begin(&mut desk);
    tell(
        &mut desk,
        &News::new(Report::Found, Status::Refused, 0, id),
        &[],
    );
    assert!(!desk.probe.is_there());
}

#[test]
fn a_probe_is_given_up_for_what_it_does_not_agree_with() {
    let mut desk = Desk::default();
    let give_up = |desk: &mut Desk, kind, waits| {
        let order = Order::new(kind, 0);
        desk.probe.give_up(&order, waits)
    };
    assert_eq!(
        give_up(&mut desk, Kind::Receive, true),
        None,
        "there is none"
    );
    for (kind, waits, stays) in [
        (Kind::Send, true, true),
        (Kind::Put, true, true),
        (Kind::Called, false, true),
        (Kind::Reply, false, true),
        (Kind::Send, false, false),
        (Kind::Receive, true, false),
        (Kind::Peek, true, false),
        (Kind::Claim, true, false),
    ] {
        let id = desk.number();
        desk.probe.begin(Order {
            id,
            ..Order::new(Kind::Peek, 0)
        });
        let cancelled = give_up(&mut desk, kind, waits);
        assert_eq!(cancelled, (!stays).then_some(id), "{kind:?}");
        assert_eq!(desk.probe.is_there(), stays, "{kind:?}");
        // One that has ended need not be taken back.
        if stays {
            tell(
                &mut desk,
                &News::new(Report::Found, Status::Done, 0, id),
                &[],
            );
            assert_eq!(give_up(&mut desk, Kind::Receive, true), None);
            assert!(!desk.probe.is_there());
        }
    }
}

#[test]
fn untagged_messages_share_a_buffer() {
    let (mut desk, goal) = desk();
    let message = |length: u64| News {
        peer: 1,
        data: NO_LABEL,
        size: length,
        ..News::new(Report::Message, Status::Done, 0, 0)
    };
    // The first comes before there is a buffer.
    tell(&mut desk, &message(10), &[1; 10]);
    let (bytes, span) = buffer(64);
    let post = |context| Posted {
        context,
        buffer: span.into(),
        source: FI_ADDR_UNSPEC,
        several: Some((20, 0)),
        goal,
    };
    let Desk { untagged, ends, .. } = &mut desk;
    untagged.post(post(1), ends);
    let first = done(&mut desk);
    assert_eq!((first.len, first.flags), (10, FI_MSG | FI_RECV));
    tell(&mut desk, &message(5), &[2; 5]);
    let second = done(&mut desk);
    assert_eq!(second.buf, first.buf + 16, "aligned");
    assert_eq!((bytes[9], bytes[15], bytes[20]), (1, 0, 2));
    // What is left after this one is less than 20 bytes: the buffer goes back.
    tell(&mut desk, &message(1), &[3]);
    assert_eq!(done(&mut desk).flags, FI_MSG | FI_RECV | FI_MULTI_RECV);
    // The next one does not fit into the rest of a buffer: that goes back without it.
    let Desk { untagged, ends, .. } = &mut desk;
    untagged.post(post(2), ends);
    untagged.post(post(3), ends);
    tell(&mut desk, &message(10), &[4; 10]);
    assert_eq!(done(&mut desk).op_context, 2);
    tell(&mut desk, &message(60), &[5; 60]);
    let back = done(&mut desk);
    assert_eq!(
        (back.op_context, back.flags, back.len),
        (2, FI_MULTI_RECV, 0)
    );
    let last = done(&mut desk);
    assert_eq!(
        (last.op_context, last.len),
        (3, 60),
        "it is alone in the next"
    );
    // In pieces, and longer than a whole buffer.
    let Desk { untagged, ends, .. } = &mut desk;
    untagged.post(post(4), ends);
    for (part, bytes) in parts(&[6; 70], 40) {
        desk.news(&message(70), part, &bytes);
    }
    let error = failed(&mut desk);
    assert_eq!((error.err, error.olen), (FI_ETRUNC, 6));
}

#[test]
fn memory_is_reached_by_key_and_place() {
    let (mut desk, _) = desk();
    let (bytes, span) = buffer(10);
    let access = FI_REMOTE_READ | FI_REMOTE_WRITE;
    assert!(desk.windows.open(5, span, access));
    assert!(!desk.windows.open(5, span, access), "the key is taken");
    let news = |report, key, offset, size| News {
        key,
        offset,
        size,
        ..News::new(report, Status::Done, 0, 8)
    };
    tell(&mut desk, &news(Report::Write, 5, 7, 3), b"abc");
    assert_eq!(&bytes[6..], b"\0abc");
    let (order, reply) = tell(&mut desk, &news(Report::Read, 5, 8, 2), &[]).expect("asked");
    assert_eq!((order.id, order.size, &reply[..]), (8, 2, &b"bc"[..]));
    for (key, offset) in [(6, 0), (5, 9), (5, u64::MAX)] {
        let (_, reply) = tell(&mut desk, &news(Report::Read, key, offset, 2), &[]).expect("asked");
        assert_eq!(reply, b"", "key {key}, place {offset}");
        tell(&mut desk, &news(Report::Write, key, offset, 2), b"xx");
    }
    assert_eq!(&bytes[6..], b"\0abc");
    desk.windows.close(5);
    let (_, reply) = tell(&mut desk, &news(Report::Read, 5, 0, 1), &[]).expect("asked");
    assert_eq!(reply, b"");
}

#[test]
fn counters_wait_only_while_something_is_under_way() {
    let (mut desk, goal) = desk();
    assert!(!desk.ends.looks_again(0));
    assert_eq!(desk.ends.show(0), 0);
    assert!(!desk.ends.looks_again(0), "nothing will come");
    let id = desk.begin(Operation {
        context: 0,
        buffer: Buffer::default(),
        flags: FI_SEND,
        goal,
    });
    assert!(desk.ends.looks_again(0));
    tell(
        &mut desk,
        &News::new(Report::Stored, Status::Refused, 0, id),
        &[],
    );
    assert_eq!(failed(&mut desk).err, FI_EKEYREJECTED);
    assert!(!desk.ends.looks_again(0));
}

#[test]
fn what_ends_after_its_endpoint_is_forgotten() {
    let (mut desk, goal) = desk();
    let (bytes, span) = buffer(4);
    let id = desk.begin(Operation {
        context: 0,
        buffer: span.into(),
        flags: FI_RECV,
        goal,
    });
    desk.close_endpoint();
    tell(&mut desk, &received(id, Status::Done, 4), b"abcd");
    assert_eq!((bytes, next(&mut desk)), (&[0; 4][..], None));
}
