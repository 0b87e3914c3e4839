//! Runs with real processes: shells that speak PMI-1 through the descriptor that they find.

use launch::process::LaunchProgram;
use launch::report::Reporter;
use launch::serve::serve;
use launch::stall::{listed, named};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A request on the connection, and the reply; `$R` is the rank.
const TALK: &str = r#"
R=$PMI_RANK
ask() { printf "%b\n" "$1" >&$PMI_FD; read -r reply <&$PMI_FD; }
"#;

struct Ended {
    code: i32,
    /// The events, a line each.
    reports: Vec<String>,
    output: String,
}

/// Runs a shell script on this many ranks.
fn run(name: &str, ranks: u32, keep_going: bool, script: &str) -> Ended {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let (reports, output) = (folder.join("reports"), folder.join("output"));
    fs::write(&output, "").expect("a file");
    let words = ["bash", "-c", &format!("{TALK}\n{script}")].map(Into::into);
    let variables = vec![("OUTPUT".into(), output.clone().into())];
    let program =
        LaunchProgram::new(words.into(), variables, (ranks, ranks + 3)).expect("a program");
    let reporter = Reporter::new(fs::File::create(&reports).expect("a file"));
    let patience = Duration::from_millis(1_500);
    let code = serve(program, "space".into(), keep_going, patience, reporter).expect("a run");
    let lines = |path| -> Vec<String> {
        let text = fs::read_to_string(path).expect("a file");
        text.lines().map(String::from).collect()
    };
    let mut written = lines(output);
    written.sort_unstable();
    Ended {
        code,
        reports: lines(reports),
        output: written.join("\n"),
    }
}

fn ended(rank: u32, status: i32) -> String {
    format!(r#"{{"event":"ended","rank":{rank},"status":{status}}}"#)
}

#[test]
fn ranks_learn_what_the_others_have_put() {
    let script = r#"
ask "cmd=init pmi_version=1 pmi_subversion=1"
ask "cmd=put kvsname=k key=a$R value=v$R"
ask "cmd=barrier_in"
ask "cmd=get kvsname=k key=a$(((R + 1) % PMI_SIZE))"
echo "$R of $PMI_SIZE: ${reply##*value=}" >>$OUTPUT
ask "cmd=finalize"
"#;
    let found = run("learn", 20, false, script);
    assert_eq!(found.code, 0);
    let meant: Vec<String> = (0..20)
        .map(|rank| format!("{rank} of 20: v{}", (rank + 1) % 20))
        .collect();
    let mut sorted = meant.clone();
    sorted.sort_unstable();
    assert_eq!(found.output, sorted.join("\n"));
    assert_eq!(found.reports.len(), 20);
    assert!((0..20).all(|rank| found.reports.contains(&ended(rank, 0))));
}

#[test]
fn rank_0_alone_reads_the_input_and_all_have_sessions() {
    let script = r#"
[ "$(ps -o sid= -p $$ | tr -d ' ')" = $$ ] && echo "$R leads" >>$OUTPUT
[ $R = 0 ] || { [ "$(readlink /proc/self/fd/0)" = /dev/null ] && echo "$R null" >>$OUTPUT; }
"#;
    let found = run("sessions", 2, false, script);
    assert_eq!(found.output, "0 leads\n1 leads\n1 null");
}

#[test]
fn a_rank_that_aborts_ends_all_others() {
    let script = r#"
ask "cmd=init"
[ $R = 1 ] && ask "cmd=abort exitcode=7"
sleep 1000
"#;
    for keep_going in [false, true] {
        let found = run("abort", 3, keep_going, script);
        assert_eq!(found.code, 7);
        assert_eq!(found.reports[0], r#"{"event":"aborted","rank":1,"code":7}"#);
        assert!((0..3).all(|rank| found.reports.contains(&ended(rank, 9))));
    }
}

/// Scripts for rank 1, its status, and whether it ends the others; and whether it does so if the
/// others are to continue.
const ENDS: &[(&str, i32, bool, bool)] = &[
    ("kill -SEGV $$", 11, true, true),
    ("exit 5", 5 << 8, false, false),
    ("ask cmd=init; exit 0", 0, true, false),
    ("exit 0", 0, false, false),
    (
        "ask cmd=init; ask cmd=finalize; exit 5",
        5 << 8,
        false,
        false,
    ),
];

#[test]
fn a_bad_end_ends_the_others() {
    for (number, &(what, status, ends, always)) in ENDS.iter().enumerate() {
        for keep_going in [false, true] {
            // The others outlast rank 1.
            let script = format!("[ $R = 1 ] && {{ ulimit -c 0; {what}; }}; sleep 0.7; exit 0");
            let found = run(&format!("end-{number}"), 3, keep_going, &script);
            assert_eq!(found.reports[0], ended(1, status), "{what}");
            let killed = if keep_going { always } else { ends };
            for rank in [0, 2] {
                let others = ended(rank, if killed { 9 } else { 0 });
                assert!(
                    found.reports.contains(&others),
                    "{what}: {:?}",
                    found.reports
                );
            }
            let fatal = r#"{"event":"fatal","rank":1}"#.to_owned();
            assert_eq!(found.reports.contains(&fatal), killed, "{what}");
            assert_eq!(found.code == 0, status == 0 && !killed, "{what}");
        }
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let reports = folder.join("nowhere");
    let program =
        LaunchProgram::new(vec!["/no/such/program".into()], vec![], (2, 2)).expect("a program");
    let reporter = Reporter::new(fs::File::create(&reports).expect("a file"));
    let code = serve(
        program,
        "space".into(),
        false,
        Duration::from_secs(9),
        reporter,
    );
    assert_eq!(code.expect("a run"), 127);
    let said = fs::read_to_string(reports).expect("a file");
    assert!(
        said.contains("cannot start /no/such/program: No such file"),
        "{said}"
    );
}

#[test]
fn a_start_without_progress_names_the_ranks() {
    let script = r#"
[ $R = 2 ] && kill -STOP $$
ask "cmd=init"
ask "cmd=barrier_in"
"#;
    let found = run("stall", 4, false, script);
    assert_eq!(found.code, 1);
    let why = "ranks 0-1, 3 wait in MPI_Init for rank 2, which has not called MPI_Init; rank 2 is \
        stopped (T), to continue it: kill -CONT ";
    assert!(found.reports[0].contains(why), "{:?}", found.reports);
}

#[test]
fn a_rank_that_computes_or_reads_its_input_is_no_stall() {
    let script = r#"
[ $R = 2 ] && { end=$((SECONDS + 4)); while [ $SECONDS -lt $end ]; do :; done; }
ask "cmd=init"
ask "cmd=barrier_in"
ask "cmd=finalize"
"#;
    let found = run("busy", 3, false, script);
    assert_eq!(found.code, 0, "{:?}", found.reports);
}

#[test]
fn what_is_no_request_is_reported() {
    let found = run(
        "foul",
        1,
        false,
        r#"printf "GET / HTTP/1.1\n" >&$PMI_FD; exit 0"#,
    );
    let why =
        r#"{"event":"failed","rank":0,"why":"sent a line that is no request: \"GET / HTTP/1.1\""}"#;
    assert_eq!(found.reports, [why.to_owned(), ended(0, 0)]);
}

#[test]
fn ranks_are_listed_as_ranges() {
    assert_eq!(listed([5, 0, 1, 2]), "0-2, 5");
    assert_eq!(listed([]), "");
    assert_eq!(named(&[7]), "rank 7");
    assert_eq!(named(&[0, 1, 5]), "ranks 0-1, 5");
    assert_eq!(listed((0..40).step_by(2)), "0, 2, 4, 6, 8, 10, 12, 14, ...");
}

#[test]
fn ranks_start_more_ranks() {
    let script = r#"
ask "cmd=init pmi_version=1 pmi_subversion=1"
if [ -n "$PMI_SPAWNED" ]; then
    ask "cmd=put kvsname=k key=a$R value=v$ELANITE_RANK"
    ask "cmd=barrier_in"
    ask "cmd=get kvsname=k key=a$(((R + 1) % PMI_SIZE))"
    other=${reply##*value=}
    ask "cmd=get kvsname=k key=port"
    echo "$R of $PMI_SIZE in $(pwd): $other, ${reply##*value=}" >>$OUTPUT
elif [ $R = 1 ]; then
    printf "cmd=places first=2\n" >&$PMI_FD
    ask "mcmd=spawn\nnprocs=3\nexecname=$0\ntotspawns=1\nspawnssofar=1\nargcnt=2\narg1=-c\narg2=. $SCRIPT\npreput_num=1\npreput_key_0=port\npreput_val_0=the port\ninfo_num=1\ninfo_key_0=wdir\ninfo_val_0=/\nendcmd"
    echo "$reply" >>$OUTPUT
fi
ask "cmd=finalize"
"#;
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("spawn-script");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("script");
    let whole = format!("SCRIPT={}\n{TALK}\n{script}", file.display());
    fs::write(&file, &whole).expect("a file");
    let found = run("spawn", 2, false, &whole);
    let lines = [
        "0 of 3 in /: v3, the port",
        "1 of 3 in /: v4, the port",
        "2 of 3 in /: v2, the port",
    ];
    assert_eq!(
        found.output,
        [&lines[..], &["cmd=spawn_result rc=0"]].concat().join("\n")
    );
    assert_eq!(found.code, 0);
    assert!((0..5).all(|rank| found.reports.contains(&ended(rank, 0))));
}
