//! Requests and replies as text.

use launch::spawn::{ProgramRanks, Spawn};
use launch::wire::{LINE, RankRequest, Reply, RequestBuffer, RequestError, places};
use proptest::prelude::*;

type Meaning = fn() -> RankRequest;

/// Requests by MPICH's library, with their meanings.
const REQUESTS: &[(&str, Meaning)] = &[
    ("cmd=init pmi_version=1 pmi_subversion=1", || {
        RankRequest::Init
    }),
    ("cmd=get_maxes", || RankRequest::Maxes),
    ("cmd=get_appnum", || RankRequest::ApplicationNumber),
    ("cmd=get_universe_size", || RankRequest::UniverseSize),
    ("cmd=get_my_kvsname", || RankRequest::SpaceName),
    (
        "cmd=put kvsname=k key=-allgather-1-0 value=02008089C0000202[8]",
        || RankRequest::Put {
            key: "-allgather-1-0".into(),
            value: "02008089C0000202[8]".into(),
        },
    ),
    ("cmd=get kvsname=k key=P0-business", || RankRequest::Get {
        key: "P0-business".into(),
    }),
    ("cmd=barrier_in", || RankRequest::Barrier {
        group: String::new(),
    }),
    ("cmd=barrier_in group=0,3:7", || RankRequest::Barrier {
        group: "0,3:7".into(),
    }),
    ("cmd=finalize", || RankRequest::Finalize),
    ("cmd=abort exitcode=7", || RankRequest::Abort { code: 7 }),
    ("cmd=abort", || RankRequest::Abort { code: 1 }),
    ("cmd=publish_name service=s port=a=b", || {
        RankRequest::Publish {
            service: "s".into(),
            port: "a=b".into(),
        }
    }),
    ("cmd=lookup_name service=s", || RankRequest::LookUp {
        service: "s".into(),
    }),
    ("cmd=unpublish_name service=s", || RankRequest::Unpublish {
        service: "s".into(),
    }),
    (
        "mcmd=spawn\nnprocs=2\nexecname=./x y\ntotspawns=1\nspawnssofar=1\nargcnt=2\n\
        arg1=a = b\narg2= \nendcmd",
        || {
            RankRequest::Spawn(Spawn {
                parts: vec![part(&["./x y", "a = b", " "], 2)],
                values: vec![],
            })
        },
    ),
    (
        "mcmd=spawn\nnprocs=1\nexecname=./x\ntotspawns=2\nspawnssofar=1\npreput_num=1\n\
        preput_key_0=K\n\
        preput_val_0=a b\nendcmd\nmcmd=spawn\nnprocs=3\nexecname=./y\ntotspawns=2\n\
        spawnssofar=2\n\
         info_num=2\ninfo_key_0=host\ninfo_val_0=h\ninfo_key_1=wdir\ninfo_val_1=/\nendcmd",
        || {
            let second = ProgramRanks {
                folder: Some("/".into()),
                ..part(&["./y"], 3)
            };
            RankRequest::Spawn(Spawn {
                parts: vec![part(&["./x"], 1), second],
                values: vec![("K".into(), "a b".into())],
            })
        },
    ),
    ("cmd=places first=5", || RankRequest::Places { first: 5 }),
];

fn part(words: &[&str], ranks: u32) -> ProgramRanks {
    ProgramRanks {
        words: words.iter().map(Into::into).collect(),
        ranks,
        folder: None,
    }
}

fn all(incoming: &mut RequestBuffer) -> Vec<RankRequest> {
    let mut found = Vec::new();
    while let Some(request) = incoming.next_request().expect("requests of PMI-1") {
        found.push(request);
    }
    found
}

proptest! {
    #[test]
    fn requests_come_in_any_pieces(
        numbers in prop::collection::vec(0..REQUESTS.len(), 0..20),
        size in 1_usize..60,
    ) {
        let lines: Vec<&str> = numbers.iter().map(|&number| REQUESTS[number].0).collect();
        let text = lines.join("\n") + "\n";
        prop_assume!(!numbers.is_empty());
        let mut incoming = RequestBuffer::default();
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            incoming.extend(piece);
            found.extend(all(&mut incoming));
        }
        let meant: Vec<RankRequest> = numbers.iter().map(|&number| REQUESTS[number].1()).collect();
        prop_assert_eq!(found, meant);
    }

    #[test]
    fn any_bytes_are_requests_or_errors(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut incoming = RequestBuffer::default();
        incoming.extend(&bytes);
        while let Ok(Some(_)) = incoming.next_request() {}
    }
}

#[test]
fn foul_lines_are_named() {
    let foul = |text: &str| {
        let mut incoming = RequestBuffer::default();
        incoming.extend(text.as_bytes());
        incoming.next_request().expect_err("no request").to_string()
    };
    assert_eq!(
        foul("cmd=dance\n"),
        r#"a line that is no request: "cmd=dance""#
    );
    assert_eq!(foul("\n"), r#"a line that is no request: """#);
    assert_eq!(
        foul("cmd=get kvsname=k\n"),
        r#"a request without key: "cmd=get kvsname=k""#
    );
    for (lines, key) in [("nprocs=2", "execname"), ("execname=x", "nprocs")] {
        assert_eq!(
            foul(&format!("mcmd=spawn\n{lines}\nendcmd\n")),
            format!(r#"a request without {key}: "mcmd=spawn""#)
        );
    }
    let endless = "x".repeat(LINE + 1);
    assert_eq!(foul(&endless), RequestError::Long.to_string());
}

#[test]
fn replies_are_lines() {
    let replies = [
        (Reply::Put(Ok(())), "cmd=put_result rc=0 msg=success\n"),
        (
            Reply::Get(Some("v".into())),
            "cmd=get_result rc=0 msg=success value=v\n",
        ),
        (
            Reply::Get(None),
            "cmd=get_result rc=-1 msg=key_not_found value=unknown\n",
        ),
        (Reply::BarrierOut, "cmd=barrier_out rc=0\n"),
        (Reply::Spawn(Ok(())), "cmd=spawn_result rc=0\n"),
    ];
    assert_eq!(places(7), "cmd=places first=7\n");
    for (reply, line) in replies {
        assert_eq!(reply.to_string(), line);
    }
}
