use super::*;

#[test]
fn reports_come_back_as_they_were_written() {
    let envelope = Envelope {
        from: 3,
        tag: 9,
        data: Some(0),
        size: 1 << 40,
    };
    let ends = [
        EndKind::Sent,
        EndKind::Received(envelope),
        EndKind::Received(Envelope {
            data: None,
            ..envelope
        }),
        EndKind::Found(envelope),
        EndKind::Stored,
        EndKind::Got,
        EndKind::Fetched { word: u64::MAX },
        EndKind::Enqueued,
        EndKind::Collected { size: 7 },
    ];
    let statuses = [
        EndStatus::Done,
        EndStatus::Truncated,
        EndStatus::Cancelled,
        EndStatus::Nothing,
        EndStatus::Refused,
    ];
    let ended = |(end, status)| Report::Ended(OperationEnd { id: 5, status, end });
    let all = ends
        .iter()
        .flat_map(|&end| statuses.map(|status| (end, status)));
    // A lost message does not identify its sender.
    let lost = [None, Some(2)].map(|peer| (EndKind::Sent, EndStatus::Lost { peer }));
    let others = [
        Report::Untagged {
            from: 1,
            data: None,
        },
        Report::Write {
            place: RemoteMemory {
                rank: 1,
                key: 2,
                offset: 3,
            },
            size: 4,
            notice: 5,
        },
        Report::Read {
            key: 1,
            offset: 2,
            size: 3,
        },
        Report::Combine,
        Report::Arrived { queue: 6 },
    ];
    for report in all.chain(lost).map(ended).chain(others) {
        let delivery = Delivery {
            report,
            checksum: 7,
            message: 8,
        };
        assert_eq!(Delivery::parse(&delivery.raw()), Some(delivery));
    }
}

#[test]
fn the_longest_report_fits() {
    let most = u64::MAX;
    let envelope = Envelope {
        from: u32::MAX,
        tag: most,
        data: Some(u32::MAX),
        size: most,
    };
    let place = RemoteMemory {
        rank: u32::MAX,
        key: most,
        offset: most,
    };
    for report in [
        Report::Ended(OperationEnd {
            id: most,
            status: EndStatus::Lost {
                peer: Some(u32::MAX),
            },
            end: EndKind::Received(envelope),
        }),
        Report::Write {
            place,
            size: most,
            notice: most,
        },
    ] {
        let delivery = Delivery {
            report,
            checksum: most,
            message: most,
        };
        assert_eq!(Delivery::parse(&delivery.raw()), Some(delivery));
    }
}

#[test]
fn a_report_without_a_meaning_is_none() {
    assert_eq!(Delivery::parse(&Raw::MORE), None);
    for (at, byte) in [(0, 6), (2, 6), (3, 8)] {
        let mut raw = Delivery::from(Report::Ended(OperationEnd {
            id: 5,
            status: EndStatus::Done,
            end: EndKind::Sent,
        }))
        .raw();
        bytemuck::bytes_of_mut(&mut raw)[at] = byte;
        assert_eq!(Delivery::parse(&raw), None, "byte {at}");
    }
}
