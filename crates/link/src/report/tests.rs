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
        End::Sent,
        End::Received(envelope),
        End::Received(Envelope {
            data: None,
            ..envelope
        }),
        End::Found(envelope),
        End::Stored,
        End::Got,
        End::Fetched { word: u64::MAX },
        End::Enqueued,
        End::Collected { size: 7 },
    ];
    let statuses = [
        Status::Done,
        Status::Truncated,
        Status::Cancelled,
        Status::Nothing,
        Status::Refused,
    ];
    let ended = |(end, status)| Report::Ended(Ended { id: 5, status, end });
    let all = ends
        .iter()
        .flat_map(|&end| statuses.map(|status| (end, status)));
    // Who has sent a message that is lost is not known by the message.
    let lost = [None, Some(2)].map(|peer| (End::Sent, Status::Lost { peer }));
    let others = [
        Report::Untagged {
            from: 1,
            data: None,
        },
        Report::Write {
            place: Place {
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
    let mut kinds = Vec::new();
    for report in all.chain(lost).map(ended).chain(others) {
        let delivery = Delivery {
            report,
            checksum: 7,
            message: 8,
        };
        kinds.push(delivery.raw().kind);
        assert_eq!(Delivery::parse(&delivery.raw()), Some(delivery));
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert!(kinds.into_iter().eq(1..=ReportKind::Arrived as u32));
}

#[test]
fn a_report_without_a_meaning_is_none() {
    for (kind, status) in [
        (0, 0),
        (14, 0),
        (ReportKind::Sent as u32, 6),
        (ReportKind::Sent as u32, u32::MAX),
    ] {
        let raw = RawReport {
            kind,
            status,
            ..RawReport::default()
        };
        assert_eq!(Delivery::parse(&raw), None);
    }
}
