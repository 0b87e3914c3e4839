use super::untagged::PostedBuffer;
use super::*;
use crate::abi::{
    FI_ADDR_UNSPEC, FI_MSG, FI_MULTI_RECV, FI_RECV, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_SEND,
    FI_TAGGED,
};
use completions::Completion;
use link::{Complaint, MessageFilter, Order, Payload, RemoteMemory};
use rank::memory::Span;

/// A test's buffer, which lives as long as the test.
fn buffer(length: usize) -> (&'static [u8], Span) {
    let bytes: &'static mut [u8] = vec![0; length].leak();
    let (pointer, length) = (bytes.as_mut_ptr(), bytes.len());
    #[allow(unsafe_code)]
    // SAFETY: no other code knows these bytes, and tests read them only between the progress
    // engine's calls.
    unsafe {
        (
            std::slice::from_raw_parts(pointer, length),
            Span::new(pointer, length),
        )
    }
}

fn engine() -> (ProgressEngine, Binding) {
    let mut engine = ProgressEngine::default();
    let binding = Binding {
        queue: Some(engine.completions.new_queue()),
        quiet: false,
        counter: Some(engine.completions.new_counter()),
    };
    (engine, binding)
}

fn operation(
    context: Pointer,
    buffer: impl Into<Buffer>,
    flags: u64,
    binding: Binding,
) -> PendingOp {
    PendingOp {
        context,
        buffer: buffer.into(),
        flags,
        binding,
    }
}

fn next(engine: &mut ProgressEngine) -> Option<Completion> {
    let item = engine.completions.first(0);
    engine.completions.take(0);
    item
}

fn done(engine: &mut ProgressEngine) -> FiCqTaggedEntry {
    match next(engine) {
        Some(Completion::Done(entry, _)) => entry,
        other => panic!("{other:?}"),
    }
}

fn failed(engine: &mut ProgressEngine) -> FiCqErrEntry {
    match next(engine) {
        Some(Completion::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn envelope(size: u64) -> Envelope {
    Envelope {
        from: 1,
        tag: 5,
        data: None,
        size,
    }
}

fn ended(id: u64, status: EndStatus, end: EndKind) -> Delivery {
    Report::Ended(OperationEnd { id, status, end }).into()
}

fn received(id: u64, status: EndStatus, size: u64) -> Delivery {
    ended(id, status, EndKind::Received(envelope(size)))
}

/// A peek's end, with a 40-byte message if there is one.
fn found(id: u64, status: EndStatus) -> Delivery {
    ended(id, status, EndKind::Found(envelope(40)))
}

const LOST: EndStatus = EndStatus::Lost { peer: Some(1) };

/// A payload's parts, each with at most `most` bytes.
fn parts(bytes: &[u8], most: usize) -> Vec<(PayloadPart, Vec<u8>)> {
    let pieces = [bytes];
    let mut payload = Payload::new(&pieces);
    std::iter::from_fn(|| payload.take(most)).collect()
}

/// Gives the engine a report with its payload in one part.
fn tell(engine: &mut ProgressEngine, report: &Delivery, bytes: &[u8]) -> Option<Vec<u8>> {
    let parts = parts(bytes, usize::MAX);
    engine.report(report, parts[0].0, bytes)
}

#[test]
fn what_is_stored_and_differs_is_kept_for_the_simulator() {
    let sent = b"what was sent";
    let size = sent.len() as u64;
    let (id, status) = (1, EndStatus::Done);
    let end = |end| Report::Ended(OperationEnd { id, status, end });
    let write = Report::Write {
        place: RemoteMemory {
            rank: 1,
            key: 5,
            offset: 0,
        },
        size,
        notice: 0,
    };
    let untagged = Report::Untagged {
        from: 1,
        data: None,
    };
    for report in [
        end(EndKind::Received(envelope(size))),
        end(EndKind::Got),
        untagged,
        write,
    ] {
        let delivery = Delivery {
            report,
            checksum: link::checksum([&sent[..]]),
            message: 31,
        };
        for (bytes, most) in [
            (b"what was sent", 99),
            (b"what was sent", 4),
            (b"what was cent", 5),
        ] {
            let (mut engine, binding) = engine();
            let (_memory, span) = buffer(13);
            assert_eq!(engine.begin(operation(7, span, 0, binding)), id);
            assert!(engine.regions.open(5, span, FI_REMOTE_WRITE));
            for (part, bytes) in parts(bytes, most) {
                engine.report(&delivery, part, &bytes);
            }
            if report == untagged {
                // It has come early.
                let posted = PostedBuffer {
                    context: 8,
                    buffer: span.into(),
                    source: FI_ADDR_UNSPEC,
                    several: None,
                    binding,
                };
                engine.post(posted);
            }
            let wrong = engine.wrong.take();
            let complaint = Complaint::Differs { message: 31 };
            let expected = (bytes != sent).then(|| (complaint, bytes.to_vec()));
            assert_eq!(wrong, expected, "{report:?}");
        }
    }
}

#[test]
fn a_receive_is_filled_in_pieces() {
    let (mut engine, binding) = engine();
    let (first, one) = buffer(3);
    let (second, two) = buffer(5);
    let list = [one, two].map(|span| crate::abi::entries::IoVec {
        base: std::ptr::with_exposed_provenance(span.address),
        length: span.length,
    });
    #[allow(unsafe_code)]
    // SAFETY: the list has two entries, of the test's buffers.
    let both = unsafe { Buffer::new(list.as_ptr(), 2) };
    let id = engine.begin(operation(77, both, FI_TAGGED | FI_RECV, binding));
    let envelope = Envelope {
        data: Some(9),
        ..envelope(7)
    };
    let report = Delivery {
        checksum: link::checksum([&b"abcdefg"[..]]),
        ..ended(id, EndStatus::Done, EndKind::Received(envelope))
    };
    let parts = parts(b"abcdefg", 4);
    engine.report(&report, parts[0].0, &parts[0].1);
    assert_eq!(next(&mut engine), None);
    engine.report(&report, parts[1].0, &parts[1].1);
    assert!(engine.wrong.is_none());
    assert_eq!((first, second), (&b"abc"[..], &b"defg\0"[..]));
    let entry = done(&mut engine);
    assert_eq!((entry.op_context, entry.len, entry.tag), (77, 7, 5));
    assert_eq!(entry.flags, FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA);
    assert_eq!(entry.data, 9);
    assert_eq!(engine.completions.count(0), (1, 0));
    assert!(!engine.is_under_way(id));
}

#[test]
fn failures_go_to_the_queue_even_of_quiet_operations() {
    let (mut engine, binding) = engine();
    let quiet = Binding {
        quiet: true,
        ..binding
    };
    let operation = operation(1, buffer(2).1, FI_TAGGED | FI_RECV, quiet);
    for (status, error, olen) in [
        (EndStatus::Truncated, FI_ETRUNC, 4),
        (EndStatus::Cancelled, FI_ECANCELED, 0),
        (LOST, FI_EIO, 0),
    ] {
        let id = engine.begin(operation.clone());
        let size = if status == EndStatus::Truncated { 6 } else { 0 };
        let why: &[u8] = if status == LOST {
            b"the cable is dead"
        } else {
            &[]
        };
        tell(&mut engine, &received(id, status, size), why);
        let entry = failed(&mut engine);
        assert_eq!((entry.err, entry.olen, entry.entry.len), (error, olen, 0));
    }
    let id = engine.begin(operation);
    tell(&mut engine, &received(id, EndStatus::Done, 1), b"x");
    assert_eq!(next(&mut engine), None, "it is quiet");
    assert_eq!(engine.completions.count(0), (1, 3));
}

/// An MPICH request, as far as its context matters: the status; its third word is the source and
/// the last one the error.
fn request(source: i32) -> (&'static [i32], Pointer) {
    let words: &'static mut [i32] = vec![7; 400].leak();
    words[320..325].copy_from_slice(&[9, 0, source, 5, 0]);
    let context = words[340..].as_mut_ptr().expose_provenance();
    (words, context)
}

#[test]
fn a_program_that_handles_errors_hears_of_a_loss_by_its_request() {
    let (mut engine, binding) = engine();
    let (words, context) = request(-32766);
    let lost = |engine: &mut ProgressEngine, context, flags| {
        let id = engine.begin(operation(context, buffer(2).1, flags, binding));
        tell(engine, &received(id, LOST, 0), b"its cable is dead");
        assert!(!engine.is_under_way(id));
    };
    lost(&mut engine, context, FI_TAGGED | FI_RECV);
    assert_eq!(failed(&mut engine).err, FI_EIO, "nobody has asked");
    engine.losses.learn(request(3).1, |_| 0);
    assert!(!engine.losses.are_told(), "no receive without a message");
    engine.losses.learn(context, |why| {
        assert_eq!(
            why,
            c"rank 1 of the run cannot be reached: its cable is dead"
        );
        77
    });
    lost(&mut engine, context, FI_TAGGED | FI_RECV);
    let entry = done(&mut engine);
    assert_eq!((entry.op_context, entry.len, entry.tag), (context, 0, 0));
    assert_eq!(words[320..326], [9, 0, -32766, 5, 77, 7]);
    lost(&mut engine, context, FI_MSG | FI_RECV);
    assert_eq!(failed(&mut engine).err, FI_EIO, "no request of a program");
    assert!(!engine.losses.take_injected());
    let id = engine.begin(operation(0, Buffer::default(), 0, binding));
    let sent = ended(id, LOST, EndKind::Sent);
    tell(&mut engine, &sent, b"no way");
    assert!(engine.losses.take_injected());
    assert!(!engine.losses.take_injected(), "only once");
}

#[test]
fn a_peek_finds_and_claims() {
    let (mut engine, binding) = engine();
    let peek = |engine: &mut ProgressEngine, status| {
        let flags = FI_TAGGED | FI_RECV | FI_CLAIM;
        let id = engine.begin(operation(3, Buffer::default(), flags, binding));
        tell(engine, &found(id, status), &[]);
        id
    };
    let id = peek(&mut engine, EndStatus::Nothing);
    assert!(engine.has_missed(id));
    assert_eq!(failed(&mut engine).err, FI_ENOMSG);
    let id = peek(&mut engine, EndStatus::Done);
    assert!(!engine.has_missed(id));
    let entry = done(&mut engine);
    assert_eq!((entry.len, entry.flags), (40, FI_TAGGED | FI_RECV));
    let receive = operation(3, buffer(40).1, FI_TAGGED | FI_RECV, binding);
    assert_eq!(engine.claim(4, receive.clone()), None, "another context");
    assert_eq!(engine.claim(3, receive.clone()), Some(id));
    assert_eq!(engine.claim(3, receive), None, "only once");
    assert!(engine.is_under_way(id));
}

/// A message that is too long for its receive fails this receive; a discarded message fails no
/// receive.
#[test]
fn a_claimed_message_may_find_no_room() {
    for (wish, error) in [(0, Some(FI_ETRUNC)), (FI_DISCARD, None)] {
        let (mut engine, binding) = engine();
        let operation = |flags| operation(3, buffer(0).1, FI_TAGGED | FI_RECV | flags, binding);
        let id = engine.begin(operation(FI_CLAIM));
        tell(&mut engine, &found(id, EndStatus::Done), &[]);
        done(&mut engine);
        assert_eq!(engine.claim(3, operation(wish)), Some(id));
        tell(&mut engine, &received(id, EndStatus::Truncated, 40), &[]);
        match error {
            Some(error) => assert_eq!(
                (failed(&mut engine).err, engine.completions.count(0)),
                (error, (1, 1))
            ),
            None => assert_eq!(done(&mut engine).len, 40),
        }
    }
}

#[test]
fn a_probe_answers_looks_for_the_same() {
    let mut engine = ProgressEngine::default();
    let tagged = |tag| MessageFilter {
        from: None,
        tag,
        mask: u64::MAX,
    };
    let begin = |engine: &mut ProgressEngine| {
        let id = engine.number();
        engine.probe.begin(id, tagged(7));
        id
    };
    assert_eq!(engine.probe.answer(90, tagged(7), false), None);
    let id = begin(&mut engine);
    assert_eq!(
        engine.probe.answer(91, tagged(8), false),
        None,
        "another one"
    );
    let nothing = engine.probe.answer(92, tagged(7), false).expect("it waits");
    assert_eq!((nothing.id, nothing.status), (92, EndStatus::Nothing));
    tell(&mut engine, &found(id, EndStatus::Done), &[]);
    let seen = engine.probe.answer(93, tagged(7), false);
    assert_eq!(
        seen.map(|ended| Report::Ended(ended).into()),
        Some(found(93, EndStatus::Done))
    );
    assert!(!engine.probe.is_there(), "it answers once");
    // A look that is to claim a message asks the simulator.
    let id = begin(&mut engine);
    tell(&mut engine, &found(id, EndStatus::Done), &[]);
    assert_eq!(engine.probe.answer(94, tagged(7), true), None);
    assert!(!engine.probe.is_there());
    // A refused probe gives no answers.
    let id = begin(&mut engine);
    tell(&mut engine, &found(id, EndStatus::Refused), &[]);
    assert!(!engine.probe.is_there());
}

#[test]
fn a_probe_is_given_up_for_what_it_does_not_agree_with() {
    let mut engine = ProgressEngine::default();
    let wanted = MessageFilter {
        from: None,
        tag: 0,
        mask: 0,
    };
    let receive = Order::Receive {
        wanted,
        room: 0,
        request: false,
    };
    let give_up =
        |engine: &mut ProgressEngine, order: &Order, waits| engine.probe.give_up(order, waits);
    assert_eq!(give_up(&mut engine, &receive, true), None, "there is none");
    let send = Order::Untagged { to: 0, data: None };
    let called = Order::Called {
        call: 1,
        began: 0,
        served: false,
    };
    let claims = false;
    for (order, waits, stays) in [
        (&send, true, true),
        (&called, false, true),
        (&send, false, false),
        (&receive, true, false),
        (&Order::Peek { wanted, claims }, true, false),
        (&Order::Probe { wanted }, true, false),
        (&Order::Claim { room: 0 }, true, false),
    ] {
        let id = engine.number();
        engine.probe.begin(id, wanted);
        let cancelled = give_up(&mut engine, order, waits);
        assert_eq!(cancelled, (!stays).then_some(id), "{order:?}");
        assert_eq!(engine.probe.is_there(), stays, "{order:?}");
        // A probe that has ended need not be taken back.
        if stays {
            tell(&mut engine, &found(id, EndStatus::Done), &[]);
            assert_eq!(give_up(&mut engine, &receive, true), None);
            assert!(!engine.probe.is_there());
        }
    }
}

#[test]
fn untagged_messages_share_a_buffer() {
    let (mut engine, binding) = engine();
    let message = &Delivery::from(Report::Untagged {
        from: 1,
        data: None,
    });
    // The first comes before there is a buffer.
    tell(&mut engine, message, &[1; 10]);
    let (bytes, span) = buffer(64);
    let post = |context| PostedBuffer {
        context,
        buffer: span.into(),
        source: FI_ADDR_UNSPEC,
        several: Some((20, 0)),
        binding,
    };
    engine.post(post(1));
    let first = done(&mut engine);
    assert_eq!((first.len, first.flags), (10, FI_MSG | FI_RECV));
    tell(&mut engine, message, &[2; 5]);
    let second = done(&mut engine);
    assert_eq!(second.buf, first.buf + 16, "aligned");
    assert_eq!((bytes[9], bytes[15], bytes[20]), (1, 0, 2));
    // Less than 20 bytes are left after this message: the buffer goes back.
    tell(&mut engine, message, &[3]);
    assert_eq!(done(&mut engine).flags, FI_MSG | FI_RECV | FI_MULTI_RECV);
    // The next message does not fit into a buffer's rest: the buffer goes back without it.
    engine.post(post(2));
    engine.post(post(3));
    tell(&mut engine, message, &[4; 10]);
    assert_eq!(done(&mut engine).op_context, 2);
    tell(&mut engine, message, &[5; 60]);
    let back = done(&mut engine);
    assert_eq!(
        (back.op_context, back.flags, back.len),
        (2, FI_MULTI_RECV, 0)
    );
    let last = done(&mut engine);
    assert_eq!(
        (last.op_context, last.len),
        (3, 60),
        "it is alone in the next"
    );
    // In pieces, and longer than a whole buffer.
    engine.post(post(4));
    for (part, bytes) in parts(&[6; 70], 40) {
        engine.report(message, part, &bytes);
    }
    let error = failed(&mut engine);
    assert_eq!((error.err, error.olen), (FI_ETRUNC, 6));
}

#[test]
fn memory_is_reached_by_key_and_place() {
    let (mut engine, _) = engine();
    let (bytes, span) = buffer(10);
    let access = FI_REMOTE_READ | FI_REMOTE_WRITE;
    assert!(engine.regions.open(5, span, access));
    assert!(!engine.regions.open(5, span, access), "the key is taken");
    let write = |key, offset, size| {
        let place = RemoteMemory {
            rank: 1,
            key,
            offset,
        };
        Delivery::from(Report::Write {
            place,
            size,
            notice: 0,
        })
    };
    let read = |key, offset, size| Delivery::from(Report::Read { key, offset, size });
    tell(&mut engine, &write(5, 7, 3), b"abc");
    assert_eq!(&bytes[6..], b"\0abc");
    let reply = tell(&mut engine, &read(5, 8, 2), &[]).expect("asked");
    assert_eq!(reply, b"bc");
    for (key, offset) in [(6, 0), (5, 9), (5, u64::MAX)] {
        let reply = tell(&mut engine, &read(key, offset, 2), &[]).expect("asked");
        assert_eq!(reply, b"", "key {key}, place {offset}");
        tell(&mut engine, &write(key, offset, 2), b"xx");
    }
    assert_eq!(&bytes[6..], b"\0abc");
    engine.regions.close(5);
    let reply = tell(&mut engine, &read(5, 0, 1), &[]).expect("asked");
    assert_eq!(reply, b"");
}

#[test]
fn counters_wait_only_while_something_is_under_way() {
    let (mut engine, binding) = engine();
    assert!(!engine.completions.looks_again(0));
    assert_eq!(engine.completions.show(0), 0);
    assert!(!engine.completions.looks_again(0), "nothing will come");
    let id = engine.begin(operation(0, Buffer::default(), FI_SEND, binding));
    assert!(engine.completions.looks_again(0));
    let refused = ended(id, EndStatus::Refused, EndKind::Stored);
    tell(&mut engine, &refused, &[]);
    assert_eq!(failed(&mut engine).err, FI_EKEYREJECTED);
    assert!(!engine.completions.looks_again(0));
}

#[test]
fn what_ends_after_its_endpoint_is_forgotten() {
    let (mut engine, binding) = engine();
    let (bytes, span) = buffer(4);
    let id = engine.begin(operation(0, span, FI_RECV, binding));
    engine.close_endpoint();
    tell(&mut engine, &received(id, EndStatus::Done, 4), b"abcd");
    assert_eq!((bytes, next(&mut engine)), (&[0; 4][..], None));
}

#[test]
fn a_receive_that_stands_for_a_collective_call_ends_with_it() {
    let (mut engine, binding) = engine();
    let flags = FI_TAGGED | FI_RECV;
    let (memory, span) = buffer(6);
    let posted = engine.begin(operation(70, span, flags, binding));
    // A blocking call, at the same time, has its own number.
    let (room, blocking_span) = buffer(6);
    let blocks = engine.begin_collective(blocking_span.into());
    let collected = |id, status, size| ended(id, status, EndKind::Collected { size });
    for (part, bytes) in parts(b"posted", 4) {
        assert!(engine.is_under_way(posted));
        engine.report(&collected(posted, EndStatus::Done, 6), part, &bytes);
    }
    assert_eq!(memory, b"posted");
    let entry = done(&mut engine);
    assert_eq!((entry.op_context, entry.len), (70, 6));
    assert_eq!(entry.flags & flags, flags);
    assert!(!engine.collected.has_ended(blocks));
    tell(
        &mut engine,
        &collected(blocks, EndStatus::Done, 6),
        b"blocks",
    );
    assert_eq!(engine.collected.take(blocks), Some(EndStatus::Done));
    assert_eq!(room, b"blocks");
    assert!(next(&mut engine).is_none());

    let lost = EndStatus::Lost { peer: None };
    for (status, error) in [(EndStatus::Truncated, FI_ETRUNC), (lost, FI_EIO)] {
        let posted = engine.begin(operation(71, Span::default(), flags, binding));
        let report = collected(posted, status, 0);
        let why: &[u8] = if status == lost { b"a dead cable" } else { b"" };
        tell(&mut engine, &report, why);
        let failed = failed(&mut engine);
        assert_eq!((failed.entry.op_context, failed.err), (71, error));
    }
}
