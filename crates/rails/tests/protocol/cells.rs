//! Every cell in tables 1 and 2, against a transcript of the paper. The transcript is text; empty
//! cells are the paper's.

use elan::NodeId;
use rails::protocol::tables::{TABLE_1, TABLE_2, Transition, late};
use rails::protocol::{
    Control, ControlMessage, ControlPacket, Nic, NicAnswer, NicEvent, NicStatus, Replies, Request,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Table 1 in coll2003: messages to be sent, and the new status.
const PAPER: &str = "
Event/Status | Free                 | Receiving                          | Sending              | \
Reserved                 | Receiving & Out_RTS
Local RTS    | Remote RTS; Reserved | Local NACK; Receiving              | Local NACK; Sending  | \
Local NACK; Reserved     | Local NACK; Receiving & Out_RTS
Local ACK    |                      | Remote ACK; Free                   |                      \
|                          | Remote ACK; Reserved
Local ABORT  |                      |                                    | Remote ABORT; Free   \
|                          |
Remote RTS   | Remote CTS; Receiving| Remote NACK; Receiving             | Remote NACK; Sending | \
call livelock_avoidance  | Remote NACK; Receiving & Out_RTS
Remote ABORT |                      | -; Free                            |                      \
|                          | -; Reserved
Remote CTS   | Local CTS; Sending   | Rmt ABORT & Lcl NACK; Receiving    |                      | \
Local CTS; Sending       |
Remote ACK   |                      |                                    | -; Free              \
|                          |
Remote NACK  | Local NACK; Free     | Local NACK; Receiving              | Local NACK; Sending  | \
Local NACK; Free         | Local NACK; Receiving";

/// The effects in the cells that the paper leaves empty, in the same words.
const OPEN: &str = "
Local ABORT  | ignored              | ignored                            |                      | \
-; Free                  | -; Receiving
Remote CTS   |                      |                                    | Rmt ABORT & Lcl NACK; \
Sending | | Rmt ABORT & Lcl NACK; Receiving";

fn event_name(event: NicEvent) -> &'static str {
    match event {
        NicEvent::LocalRts => "Local RTS",
        NicEvent::LocalAck => "Local ACK",
        NicEvent::LocalAbort => "Local ABORT",
        NicEvent::RemoteRts => "Remote RTS",
        NicEvent::RemoteAbort => "Remote ABORT",
        NicEvent::RemoteCts => "Remote CTS",
        NicEvent::RemoteAck => "Remote ACK",
        NicEvent::RemoteNack => "Remote NACK",
    }
}

fn status_name(status: NicStatus) -> &'static str {
    match status {
        NicStatus::Free => "Free",
        NicStatus::Receiving => "Receiving",
        NicStatus::Sending => "Sending",
        NicStatus::Reserved => "Reserved",
        NicStatus::ReceivingOutRts => "Receiving & Out_RTS",
    }
}

/// The messages and the new status, as the paper would write them.
fn written(replies: &Replies, next: NicStatus) -> String {
    let local = replies.local.map(|(answer, _)| match answer {
        NicAnswer::Cts => "CTS",
        NicAnswer::Nack => "NACK",
    });
    let remote = replies.remote.map(|(_, packet)| match packet.control {
        Control::Rts => "RTS",
        Control::Cts => "CTS",
        Control::Nack => "NACK",
        Control::Ack => "ACK",
        Control::Abort => "ABORT",
    });
    let sent = match (remote, local) {
        (None, None) => "-".to_string(),
        (Some(remote), None) => format!("Remote {remote}"),
        (None, Some(local)) => format!("Local {local}"),
        (Some(remote), Some(local)) => format!("Rmt {remote} & Lcl {local}"),
    };
    format!("{sent}; {}", status_name(next))
}

/// A transcript's cell.
fn in_table(table: &'static str, event: NicEvent, status: NicStatus) -> &'static str {
    let cells = |line: &'static str| line.split('|').map(str::trim).collect::<Vec<_>>();
    let head = cells(PAPER.trim().lines().next().expect("a head"));
    let column = head.iter().position(|name| *name == status_name(status));
    let rows = table.trim().lines().map(cells);
    let row = rows.into_iter().find(|row| row[0] == event_name(event));
    row.map_or("", |row| row[column.expect("all statuses are columns")])
}

const SELF: NodeId = NodeId::new(5);
const PEER: NodeId = NodeId::new(3);
const OTHER: NodeId = NodeId::new(9);

fn own(number: u64) -> Request {
    Request { node: SELF, number }
}

fn of(node: NodeId) -> Request {
    Request { node, number: 70 }
}

fn remote(from: NodeId, control: Control, request: Request, counter: i32) -> ControlMessage {
    let packet = ControlPacket {
        control,
        request,
        counter,
    };
    ControlMessage::Remote { from, packet }
}

/// An adapter in this status: its own request 1 goes to `PEER`; its incoming request is from
/// `OTHER`.
fn nic(status: NicStatus) -> Nic {
    let mut nic = Nic::new(SELF, true);
    let ask = ControlMessage::LocalRts {
        request: own(1),
        to: PEER,
    };
    let asked = remote(OTHER, Control::Rts, of(OTHER), 9);
    let granted = remote(PEER, Control::Cts, own(1), 0);
    let way: &[ControlMessage] = match status {
        NicStatus::Free => &[],
        NicStatus::Receiving => &[asked],
        NicStatus::Sending => &[ask, granted],
        NicStatus::Reserved => &[ask],
        NicStatus::ReceivingOutRts => &[ask, asked],
    };
    for message in way {
        nic.handle(*message);
    }
    assert_eq!(nic.status(), status);
    nic
}

/// An event's message, as it usually comes to an adapter in this status: it is about the request in
/// hand, if it can be. In the other columns the request has number 2, and had been given up.
fn usual(event: NicEvent, status: NicStatus) -> ControlMessage {
    let out = match status {
        NicStatus::Reserved | NicStatus::ReceivingOutRts => own(1),
        _ => own(2),
    };
    match event {
        NicEvent::LocalRts => ControlMessage::LocalRts {
            request: own(3),
            to: PEER,
        },
        NicEvent::LocalAck => ControlMessage::LocalAck(of(OTHER)),
        NicEvent::LocalAbort if status == NicStatus::Sending => ControlMessage::LocalAbort(own(1)),
        NicEvent::LocalAbort => ControlMessage::LocalAbort(out),
        NicEvent::RemoteRts => remote(PEER, Control::Rts, of(PEER), 0),
        NicEvent::RemoteAbort => remote(OTHER, Control::Abort, of(OTHER), 0),
        NicEvent::RemoteCts => remote(PEER, Control::Cts, out, 0),
        NicEvent::RemoteAck => remote(PEER, Control::Ack, own(1), 0),
        NicEvent::RemoteNack => remote(PEER, Control::Nack, out, 0),
    }
}

/// An event's outcome, in the paper's words.
fn outcome(event: NicEvent, status: NicStatus) -> String {
    let (mut nic, message) = (nic(status), usual(event, status));
    let before = nic.clone();
    match nic.cell(message) {
        Transition::Never(_) => {
            let handled = catch_unwind(AssertUnwindSafe(|| nic.handle(message)));
            assert!(handled.is_err(), "{event:?} in {status:?} is accepted");
            String::new()
        }
        Transition::Ignore => {
            assert_eq!(nic.handle(message), Replies::default());
            assert_eq!(nic, before);
            "ignored".into()
        }
        _ => {
            let replies = nic.handle(message);
            written(&replies, nic.status())
        }
    }
}

#[test]
fn table_1_is_that_of_the_paper() {
    for event in NicEvent::ALL {
        for status in NicStatus::ALL {
            let paper = in_table(PAPER, event, status);
            let expected = match paper {
                "" => in_table(OPEN, event, status),
                "call livelock_avoidance" => {
                    let cell = TABLE_1[event as usize][status as usize];
                    assert_eq!(cell, Transition::AvoidLivelock);
                    continue;
                }
                cell => cell,
            };
            assert_eq!(outcome(event, status), expected, "{event:?}, {status:?}");
        }
    }
}

#[test]
fn table_2_is_that_of_the_paper() {
    // The remote request's counter, its node, and the winner: algorithm 6. The local counter is 0,
    // the node 5.
    for (counter, from, local) in [
        (-1, OTHER, true),
        (0, PEER, true),
        (0, OTHER, false),
        (1, PEER, false),
        (1, OTHER, false),
    ] {
        let mut nic = nic(NicStatus::Reserved);
        let replies = nic.handle(remote(from, Control::Rts, of(from), counter));
        let (expected, change) = if local {
            ("Remote NACK; Reserved", -1)
        } else {
            ("Remote CTS; Receiving & Out_RTS", 1)
        };
        assert_eq!(written(&replies, nic.status()), expected);
        assert_eq!(nic.counter(), change);
        assert_eq!(nic.incoming(), (!local).then(|| of(from)));
        let out = nic.outgoing().expect("the RTS is still out");
        assert_eq!((out.request, out.to, out.counter), (own(1), PEER, 0));
    }
    let [local, remote] = TABLE_2;
    assert!(matches!(local, Transition::Meet { change: -1, .. }));
    assert!(matches!(remote, Transition::Meet { change: 1, .. }));
}

#[test]
fn without_the_procedure_a_reserved_adapter_refuses() {
    let mut nic = Nic::new(SELF, false);
    nic.handle(ControlMessage::LocalRts {
        request: own(1),
        to: PEER,
    });
    let before = nic.clone();
    let replies = nic.handle(remote(OTHER, Control::Rts, of(OTHER), 9));
    assert_eq!(written(&replies, nic.status()), "Remote NACK; Reserved");
    assert_eq!(nic, before);
}

#[test]
fn messages_go_to_whom_they_are_for() {
    for event in NicEvent::ALL {
        for status in NicStatus::ALL {
            let (mut nic, message) = (nic(status), usual(event, status));
            if matches!(nic.cell(message), Transition::Never(_)) {
                continue;
            }
            let replies = nic.handle(message);
            let to = match event {
                NicEvent::LocalAck | NicEvent::RemoteAbort => OTHER,
                _ => PEER,
            };
            if let Some((node, packet)) = replies.remote {
                assert_eq!(node, to, "{event:?}, {status:?}");
                assert_eq!(packet.request, message.request());
            }
            if let Some((_, request)) = replies.local {
                assert_eq!(request, message.request());
            }
        }
    }
}

#[test]
fn an_rts_carries_the_counter() {
    let mut nic = nic(NicStatus::Reserved);
    nic.handle(remote(OTHER, Control::Rts, of(OTHER), 9));
    nic.handle(remote(OTHER, Control::Abort, of(OTHER), 0));
    nic.handle(remote(PEER, Control::Nack, own(1), 0));
    let replies = nic.handle(ControlMessage::LocalRts {
        request: own(2),
        to: PEER,
    });
    let (_, packet) = replies.remote.expect("it is free");
    assert_eq!((packet.control, packet.counter), (Control::Rts, 1));
}

/// An answer to request 2, which was given up, while request 1 is out.
#[test]
fn a_late_answer_leaves_another_request_alone() {
    for status in [NicStatus::Reserved, NicStatus::ReceivingOutRts] {
        for (event, control, expected) in [
            (NicEvent::RemoteCts, Control::Cts, "Rmt ABORT & Lcl NACK"),
            (NicEvent::RemoteNack, Control::Nack, "Local NACK"),
        ] {
            let mut nic = nic(status);
            let before = nic.clone();
            let message = remote(OTHER, control, own(2), 0);
            assert_eq!(nic.cell(message), late(event, status));
            let replies = nic.handle(message);
            let expected = format!("{expected}; {}", status_name(status));
            assert_eq!(written(&replies, nic.status()), expected);
            assert_eq!(nic, before);
            assert!(replies.remote.is_none_or(|(to, _)| to == OTHER));
        }
    }
    for event in NicEvent::ALL {
        for status in NicStatus::ALL {
            let answer = matches!(event, NicEvent::RemoteCts | NicEvent::RemoteNack);
            let never = matches!(late(event, status), Transition::Never(_));
            assert_eq!(never, !(answer && status.is_asking()));
        }
    }
}

#[test]
fn an_abort_that_crosses_an_answer_is_ignored() {
    for status in NicStatus::ALL {
        let mut nic = nic(status);
        let before = nic.clone();
        assert_eq!(
            nic.handle(ControlMessage::LocalAbort(own(2))),
            Replies::default()
        );
        assert_eq!(nic, before);
    }
}

#[test]
fn only_its_owner_ends_a_reservation() {
    let foreign = [
        (NicStatus::Receiving, ControlMessage::LocalAck(of(PEER))),
        (
            NicStatus::Receiving,
            remote(PEER, Control::Abort, of(PEER), 0),
        ),
        (
            NicStatus::ReceivingOutRts,
            ControlMessage::LocalAck(of(PEER)),
        ),
        (NicStatus::Sending, remote(PEER, Control::Ack, own(2), 0)),
        // An RTS is answered once.
        (NicStatus::Sending, remote(PEER, Control::Cts, own(1), 0)),
        (NicStatus::Sending, remote(PEER, Control::Nack, own(1), 0)),
        // From a node that the request does not concern.
        (
            NicStatus::Receiving,
            remote(PEER, Control::Abort, of(OTHER), 0),
        ),
        (
            NicStatus::Reserved,
            remote(PEER, Control::Cts, of(OTHER), 0),
        ),
        (NicStatus::Free, ControlMessage::LocalAbort(of(OTHER))),
        (
            NicStatus::Free,
            ControlMessage::LocalRts {
                request: own(3),
                to: SELF,
            },
        ),
    ];
    for (status, message) in foreign {
        let mut nic = nic(status);
        let handled = catch_unwind(AssertUnwindSafe(|| nic.handle(message)));
        assert!(handled.is_err(), "{message:?} in {status:?} is accepted");
    }
}
