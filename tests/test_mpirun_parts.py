"""Parts of ``elanite mpirun`` by themselves: rank reports, the rank to blame, rank places, command
lines.
"""

from __future__ import annotations

import random
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from elanite import cli
from elanite.base.text import ranks
from elanite.errors import UsageError
from elanite.mpirun import launcher, verdict
from elanite.mpirun.evidence import Evidence, Left
from elanite.mpirun.interrupts import Interrupts
from elanite.mpirun.launcher import Manager, Mpi
from elanite.mpirun.options import Options, computation
from elanite.mpirun.streams import Reports, Scanner
from elanite.mpirun.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize("seed", range(20))
def test_errors_of_mpi_are_found_in_the_stream(seed: int) -> None:
    """However the stream is cut.

    The first rank counts, and a line that only contains the words does not.
    """
    randomly = random.Random(seed)
    reports = Reports()
    scanner = Scanner(reports)
    text = b"one\nsaid Abort(7) on node 9 (rank 9 in comm 0): x\nAbort(\n" + b"-" * 9000 + b"\n"
    text += b"Abort(15) on node 2 (rank 2 in comm 0): Fatal error in MPI_Send: other\n"
    text += b"Abort(1) on node 1 (rank 1 in comm 0): y\n"
    while text:
        size = randomly.choice([1, 2, 7, 83, 84, 200, 2000])
        scanner.feed(text[:size])
        text = text[size:]
    assert reports.abort == (2, 15, "Fatal error in MPI_Send: other")


def test_reports_of_the_process_manager() -> None:
    """Ranks end in this order; the words from the rank that ended all ranks may come after the
    report, or never.
    """
    reports = Reports()
    for line in (
        b'{"event":"aborted","rank":3,"code":15}\n',
        b'{"event":"ended","rank":3,"status":3840}\n',
        b'{"event":"ended","rank":0,"status":9}\n',
        b'{"event":"failed","rank":1,"why":"sent a line that is no request: \\"x\\""}\n',
        b'{"event":"stalled","why":"the start has made no progress"}\n',
    ):
        reports.note(line)
    assert list(reports.statuses.items()) == [(3, 3840), (0, 9)]
    assert reports.abort == (3, 15, "")
    assert reports.complaints == ['rank 1: sent a line that is no request: "x"']
    assert reports.stalled == "the start has made no progress"
    Scanner(reports).feed(b"Abort(15) on node 3 (rank 3 in comm 0): Fatal error\n")
    assert reports.abort == (3, 15, "Fatal error")
    Scanner(reports).feed(b"Abort(15) on node 0 (rank 0 in comm 0): another\n")
    assert reports.abort == (3, 15, "Fatal error")


def evidence(
    outcome: dict[str, Any], statuses: list[int], *dead: int, left: Sequence[Left] = ()
) -> Evidence:
    usual = {
        "end": "died",
        "message": "",
        "waiting": [],
        "rank": None,
        "dead": [],
        "time_us": 1.5,
        "attached": 4,
    }
    reports = Reports(statuses=dict(enumerate(statuses)))
    return Evidence(
        usual | outcome, reports, left, dead, 1, [0, 0, 1, 1], [11, 12, 13, 14], "./x", "mpicc"
    )


@pytest.mark.parametrize("end", ["died", "launcher gone", "absent"])
def test_a_stalled_start_is_no_death_of_the_killed_ranks(end: str) -> None:
    found = evidence({"end": end, "rank": 1, "absent": [2]}, [9, 9, 9, 9], 1)
    found.reports.stalled = "the start has made no progress for 10 s"
    ended = judge(found)
    assert (ended.message, ended.exit_code) == ("the start has made no progress for 10 s", 1)


def test_a_rank_out_of_reach_keeps_mpi_finalize_from_its_end() -> None:
    lost = "rank 1 sends 8 B to rank 2, tag 0"
    ended = judge(evidence({"rank": 1, "lost": lost}, [9, 0, 9, 9], 1))
    assert (
        "exited with code 0 at 1.5 µs of simulated time before MPI_Finalize had ended"
        in ended.message
    )
    assert f"the first message that was lost: {lost}" in ended.message


@pytest.mark.parametrize(
    ("named", "dead", "statuses", "words", "code"),
    [
        (1, [1], [0, 9, 0, 0], "rank 1 (pid 12) on node 0 was killed by signal 9 (SIGKILL)", 1),
        (
            0,
            [1, 0],
            [9, 9, 0, 0],
            "rank 1 (pid 12) on node 0 was killed by signal 9 (SIGKILL)",
            1,
        ),  # 0 was swept away
        (
            0,
            [1],
            [9, 0, 9, 9],
            "rank 1 (pid 12) on node 0 exited with code 0 at 1.5 µs of simulated time without",
            1,
        ),
        (0, [0], [9, 9, 768, 9], "rank 2 (pid 13) on node 1 exited with code 3", 3),
        (2, [], [9, 9, 9, 9], "rank 2 (pid 13) on node 1 was killed by signal 9", 1),
        (
            2,
            [2],
            [0, 139, 9, 9],
            "rank 1 (pid 12) on node 0 was killed by signal 11 (SIGSEGV)",
            1,
        ),  # with a core dump
        (3, [3, 1], [], "rank 3 (pid 14) on node 1 ended without MPI_Finalize", 1),
        (None, [], [0, 0, 15, 256], "rank 3 (pid 14) on node 1 exited with code 1", 1),
    ],
)
def test_who_is_to_blame(
    named: int | None, dead: list[int], statuses: list[int], words: str, code: int
) -> None:
    end = "died" if named is not None else "launcher gone"
    ended = judge(evidence({"end": end, "rank": named}, statuses, *dead))
    assert ended.message.startswith(words)
    assert ended.exit_code == code


@pytest.mark.parametrize(
    ("status", "words"),
    [(0, "exited with code 0 at 1.5 µs"), (9, "was killed by signal 9 (SIGKILL)")],
)
def test_the_process_manager_knows_which_end_was_the_first(status: int, words: str) -> None:
    """A rank that leaves by _exit or kills itself may be seen after the killed ones."""
    found = evidence({"rank": 0}, [9, 9, status, 9], 0, 2)
    found.reports.note(b'{"event": "fatal", "rank": 2}')
    assert judge(found).message.startswith(f"rank 2 (pid 13) on node 1 {words}")


def test_an_exit_without_exit_functions_is_named() -> None:
    """MPICH leaves its process manager in one, which takes the end for a bad one."""
    found = evidence({"end": "finished"}, [9, 9, 0, 9])
    found.reports.note(b'{"event": "fatal", "rank": 2}')
    ended = judge(found)
    assert (
        ended.message
        == "rank 2 (pid 13) on node 1 ended after MPI_Finalize without its exit functions, as by"
        " _exit"
    )
    assert ended.exit_code == 1


def test_a_host_that_stops_ends_its_ranks() -> None:
    said = "the host of node 1 stopped at 1 ms, and ranks 2, 3 with it"
    dead = [{"rank": rank, "call": "MPI_Recv", "time_us": 1000, "stopped": True} for rank in (2, 3)]
    ended = judge(evidence({"end": "stopped", "message": said, "rank": 2, "dead": dead}, []))
    assert (ended.message, ended.exit_code, ended.finished) == (said, 1, False)
    went_on = judge(evidence({"rank": 2, "dead": dead}, [0, 0, 9, 9]))
    assert (
        went_on.message.splitlines()[0]
        == "rank 2 (pid 13) on node 1 failed when its host stopped at 1,000 µs of simulated time in"
        " MPI_Recv"
    )


def test_the_first_message_that_was_lost_is_told_with_what_came_of_it() -> None:
    lost = "rank 0 sends 8 B to rank 1: no way is left"
    aborted = judge(evidence({"end": "launcher gone", "lost": lost}, [], left=[(0, "error", 0)]))
    assert aborted.message.endswith(f"\n  the first message that was lost: {lost}")
    assert not judge(replace(evidence({"end": "finished", "lost": lost}, []), code=0)).message


@pytest.mark.parametrize(("of_mpiexec", "code"), [(255, 1), (254, 254), (1, 1), (0, 1), (None, 1)])
def test_mpiexec_that_lost_its_helper_has_no_code_of_a_rank(
    of_mpiexec: int | None, code: int
) -> None:
    told = replace(evidence({"rank": 3}, [], 3), code=of_mpiexec)
    assert judge(told).exit_code == code


def test_who_ended_early_while_others_went_on() -> None:
    dead = [
        {"rank": 2, "call": "MPI_Abort", "time_us": 3},
        {"rank": 1, "call": "MPI_Recv", "time_us": 4},
        {"rank": 3, "call": "no call of MPI", "last": "MPI_Send", "time_us": 5},
    ]
    early = evidence({"dead": dead, "rank": 2}, [0, 768, 1792, 0], left=[(2, "abort", 7)])
    ended = judge(early)
    assert ended.message.splitlines() == [
        "rank 2 (pid 13) on node 1 called MPI_Abort with code 7 at 3 µs of simulated time",
        (
            "  rank 1 (pid 12) on node 0 exited with code 3 at 4 µs of simulated time in MPI_Recv"
            " without MPI_Finalize"
        ),
        (
            "  rank 3 (pid 14) on node 1 exited with code 0 at 5 µs of simulated time, after"
            " MPI_Send, without MPI_Finalize"
        ),
        "  the other ranks went on to their ends",
    ]
    dead = [{"rank": 1, "call": "MPI_Finalize", "time_us": 4}]
    assert "time before MPI_Finalize had ended\n" in judge(evidence({"dead": dead}, [0, 0])).message
    assert (ended.exit_code, ended.finished) == (1, False)  # that of mpiexec
    all_four = [{"rank": rank, "call": "MPI_Barrier", "time_us": 5} for rank in range(4)]
    swept = judge(evidence({"dead": all_four, "rank": 0}, [9, 9, 11, 9]))
    assert swept.message.startswith(
        "rank 2 (pid 13) on node 1 was killed by signal 11 (SIGSEGV) at 5 µs"
    )
    assert swept.message.endswith("in MPI_Barrier")
    assert judge(evidence({"dead": all_four}, [], left=[(3, "abort", 6)])).exit_code == 6


@pytest.mark.parametrize(
    ("left", "running", "dead", "statuses", "report", "words"),
    [
        (
            [(1, "abort", 7)],
            [1],
            [2],
            [],
            None,
            "rank 1 (pid 12) on node 0 called MPI_Abort with code 7",
        ),
        (
            [(3, "exit", 0), (1, "abort", 7)],
            [1, 3],
            [2],
            [],
            1,
            "rank 3 (pid 14) on node 1 ended without MPI_Finalize",
        ),
        (
            [(3, "exit", 0)],
            [3],
            [2],
            [9, 9, 9, 512],
            None,
            "rank 3 (pid 14) on node 1 exited with code 2",
        ),
        (
            [(3, "error", 0), (1, "exit", 0)],
            [1, 3],
            [2],
            [],
            None,
            "rank 3 (pid 14) on node 1 ended the run with an er",
        ),
        (
            [(3, "error", 0)],
            [3],
            [2],
            [],
            3,
            "rank 3 (pid 14) on node 1 ended the run with an error of MPI: Fatal",
        ),
        (
            [(3, "error", 0)],
            [3],
            [2],
            [],
            1,
            "rank 3 (pid 14) on node 1 ended the run with an error of MPI",
        ),
        (
            [],
            [3],
            [2],
            [],
            1,
            "rank 1 (pid 12) on node 0 ended the run with an error of MPI: Fatal",
        ),
        (
            [(0, "exit", 0)],
            [],
            [2],
            [9, 9, 11, 9],
            None,
            "rank 2 (pid 13) on node 1 was killed by signal 11",
        ),
        (
            [],
            [1],
            [2],
            [],
            None,
            "rank 1 (pid 12) on node 0 ended without MPI_Finalize at 1.5 µs of simulated time in",
        ),
        ([], [1, 3], [2], [], None, "rank 2 (pid 13) on node 1 ended without MPI_Finalize"),
        ([], [1], [2], [9, 9, 9, 9], None, "rank 2 (pid 13) on node 1 was killed by signal 9"),
    ],
)
def test_what_ranks_say_counts_most(
    left: list[Left],
    running: list[int],
    dead: list[int],
    statuses: list[int],
    report: int | None,
    words: str,
) -> None:
    waiting = [
        {"rank": rank, "pid": 11 + rank, "call": "MPI_Send", "what": "", "runs": rank in running}
        for rank in range(4)
    ]
    told = evidence({"waiting": waiting, "rank": 0}, statuses, *dead, left=left)
    if report is not None:
        told.reports.abort = (report, 15, "Fatal error")
    assert judge(told).message.startswith(words)


def test_who_calls_finalize_at_the_exit_leaves_in_good_order() -> None:
    """All ranks exit, and wait in MPI_Finalize, which a destructor calls; one of them then
    aborts.
    """
    waiting = [
        {"rank": rank, "pid": 1, "call": "MPI_Finalize", "what": "", "runs": False}
        for rank in (0, 1, 3)
    ]
    waiting.append({"rank": 2, "pid": 1, "call": "MPI_Abort", "what": "", "runs": True})
    left: list[Left] = [(0, "exit", 0), (1, "exit", 0), (2, "abort", 7)]
    ended = judge(evidence({"waiting": waiting, "rank": 0}, [], 1, left=left))
    assert ended.message == "rank 2 (pid 13) on node 1 called MPI_Abort with code 7"


def test_a_deadlock_of_many_is_abbreviated() -> None:
    waiting = [
        {"rank": rank, "pid": 1, "call": "MPI_Recv", "what": f"a message of rank {rank + 1}"}
        for rank in range(64)
    ]
    ended = judge(evidence({"end": "deadlock", "message": "all wait", "waiting": waiting}, []))
    lines = ended.message.splitlines()
    assert len(lines) == 2 + verdict.MOST_GROUPS + 1
    assert lines[-1] == "  and 48 ranks that wait for other things"
    assert ended.exit_code == 3


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([3], "3"),
        ([1, 0], "0, 1"),
        ([0, 2, 3, 4], "0, 2 to 4"),
        (list(range(0, 40, 2)), "0, 2, 4, 6, 8, 10, ... (20 ranks)"),
    ],
)
def test_ranks_in_short(numbers: list[int], words: str) -> None:
    assert ranks(numbers) == words


def test_placements(tmp_path: Path) -> None:
    assert Options(5, 2).nodes(64) == [0, 0, 1, 1, 2]
    assert Options(5, 2, "cyclic").nodes(64) == [0, 1, 2, 0, 1]
    first = Options(8, 2, "random").nodes(64)
    assert first == Options(8, 2, "random").nodes(64)
    assert first != Options(8, 2, "random", seed=2).nodes(64)
    assert sorted(first.count(node) for node in set(first)) == [2, 2, 2, 2]
    assert sorted(Options(64, 1, "random").nodes(64)) == list(range(64))
    file = tmp_path / "places"
    file.write_text("# by hand\n7\n\n3 # the other\n", encoding="utf-8")
    assert Options(2, 1, str(file)).nodes(64) == [7, 3]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("none", "none"),
        ("2us per call", "2us per call"),
        ("2 us", "2 us per call"),
        ("measured", "measured x 1"),
        ("measured:.5", "measured x .5"),
    ],
)
def test_computation(text: str, meaning: str) -> None:
    assert computation(text) == meaning


@pytest.mark.parametrize(
    "text", ["", "some", "2 KB per call", "measured:", "measured:x", "measured:0", "measured:-1"]
)
def test_no_computation(text: str) -> None:
    if text == "measured:":
        assert computation(text) == "measured x 1"
    else:
        with pytest.raises(UsageError, match="--compute"):
            computation(text)


def test_command_lines() -> None:
    mpich, other = Mpi("/m/mpiexec", "MPICH", "5"), Mpi("/o/mpiexec", "Open MPI", "5")
    manager = Manager(Path("/e/elanite-mpiexec"), "space", 7, 5)
    line = mpich.command(3, {"LD_PRELOAD": "/x-fi.so"}, ["prog", "-n", "1"], manager)
    assert line[:7] == ["/e/elanite-mpiexec", "3", "5", "space", "7", "0", "-"]
    assert line[7:] == ["LD_PRELOAD=/x-fi.so", "--", "prog", "-n", "1"]
    assert mpich.command(3, {}, ["prog"], manager, cleanup=False)[5] == "1"
    assert mpich.command(3, {}, ["prog"], manager, kinds="mpi")[6] == "mpi"
    with pytest.raises(UsageError, match="--disable-auto-cleanup: ranks of Open MPI"):
        other.command(3, {}, ["prog"], manager, cleanup=False)
    with pytest.raises(UsageError, match="--memory-alloc-kinds: Open MPI"):
        other.command(3, {}, ["prog"], manager, kinds="mpi")
    for kinds in ("mpi:alloc_mem,system", "mpi:win_allocate:alloc_mem"):
        assert Options(3, memory_alloc_kinds=kinds).memory_alloc_kinds == kinds
    for kinds in ("", "mpi system", "mpi:", "mpi,,system", "a" * 2000, "mpi\n"):
        with pytest.raises(UsageError, match="are no memory kinds"):
            Options(3, memory_alloc_kinds=kinds)
    line = other.command(3, {"LD_PRELOAD": "/x-fi.so"}, ["prog"], manager)
    assert line[-5:] == ["-x", "LD_PRELOAD=/x-fi.so", "-n", "3", "prog"]
    # No data goes through host memory.
    excluded = {one: line[line.index(one) + 1] for one in ("pml", "osc", "coll", "btl")}
    assert excluded == {"pml": "cm", "osc": "^ucx,rdma", "coll": "^sm,xhc", "btl": "self"}


def test_variables_of_the_run_go_before_those_of_the_user() -> None:
    base = {"FI_PROVIDER": "tcp", "PYTHONHASHSEED": "7", "LD_PRELOAD": "mine.so", "HOME": "/h"}
    found = launcher.environment(base, {"ELANITE_LINK": "/l"}, "run", Path("/lib/x-fi.so"))
    assert (found["FI_PROVIDER"], found["PYTHONHASHSEED"], found["HOME"]) == ("elanite", "7", "/h")
    assert (found["FI_PROVIDER_PATH"], found[launcher.RUN], found["ELANITE_LINK"]) == (
        "/lib",
        "run",
        "/l",
    )
    assert "LD_PRELOAD" not in found
    ranks = launcher.of_ranks({**base, "ASAN_OPTIONS": "halt_on_error=0"}, Path("/lib/x-fi.so"))
    assert ranks == {
        "LD_PRELOAD": "/lib/x-fi.so:mine.so",
        "ASAN_OPTIONS": "halt_on_error=0:verify_asan_link_order=0",
    }


def interrupted(times: int) -> list[bool]:
    """Whether a run that is interrupted so often has been asked to end, after each time that it
    went on.
    """
    found = []
    try:
        with Interrupts() as interrupts:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
                found.append(interrupts.cancel.is_set())
    except KeyboardInterrupt:
        return found
    raise AssertionError("it is not raised in the end")


def test_an_interrupt_waits_for_the_end_of_the_run() -> None:
    """The first only asks for it; the second one does not wait."""
    assert interrupted(1) == [True]
    assert interrupted(2) == [True]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_interrupts_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
        assert not interrupts.cancel.is_set()
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_while_a_class_is_made_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python wraps exceptions raised there."""

    class Interrupted:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def makes_a_class(*_: Any, **__: Any) -> None:
        type("Made", (), {"field": Interrupted()})

    monkeypatch.setattr(cli, "app", makes_a_class)
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        cli.main([])
    signal.signal(signal.SIGTERM, handler)
    assert ended.value.code == 130
