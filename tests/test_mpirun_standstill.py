"""Runs that cannot continue, and runs that only appear so."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import PATIENCE, Ended, command, needs_mpi, until
from elanite.errors import Exit
from elanite.mpirun import call_sites, oversight
from elanite.mpirun.oversight import Oversight

Run = Callable[..., Ended]


CALLS = {
    "a": "MPI_Test",
    "d": "MPI_(Compare_and_swap|Win_flush)",
    "e": "MPI_(Fetch_and_op|Win_flush)",
    "f": "MPI_(Get|Win_flush)",
    "g": "MPI_Win_sync",
}
"""The loop calls in the program."""


@needs_mpi
@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("b", "MPI_Iprobe"),
        ("c", "MPI_Test(all|any|some)"),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in CALLS.items()),
    ],
)
def test_a_rank_that_polls_in_vain_is_a_deadlock(
    elanite: Run, mpi_programs: Path, kind: str, call: str
) -> None:
    ended = elanite("mpirun", "-q", "-n", "3", str(mpi_programs / "livelock"), kind)
    assert ended.code == Exit.DEADLOCK, ended
    assert "ranks look again and again for what cannot come any more" in ended.err
    assert re.search(
        rf"^  0 +(no call of MPI, after )?{call} .*\(livelock\.c:\d+\)$", ended.err, re.MULTILINE
    ), ended
    # Rank 1's answer to an atomic operation may be under way, and then it has a line of its own.
    lines = {"1, 2": ""} if kind not in "de" or "  1, 2 " in ended.err else {"1": ".*", "2": ""}
    for ranks, also in lines.items():
        waits = rf"receives a message of rank 0, tag 0{also} \(livelock\.c:\d+\)$"
        assert re.search(rf"^  {ranks} +MPI_Recv +{also}{waits}", ended.err, re.MULTILINE), ended


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["m", "n", "o", "p", "q"])
def test_a_rank_that_polls_for_long_is_none(elanite: Run, mpi_programs: Path, kind: str) -> None:
    """Counts its polls, reads the clock, or waits for a rank that computes or sleeps."""
    ended = elanite("mpirun", "-q", "-n", "3", str(mpi_programs / "livelock"), kind)
    assert (ended.code, ended.out) == (0, "ended\n"), ended


@needs_mpi
@pytest.mark.parametrize(
    "kind", ["j", *(pytest.param(each, marks=pytest.mark.slow) for each in "mcbto")]
)
def test_threads_that_wait_for_each_other_are_a_deadlock(
    elanite: Run, mpi_programs: Path, kind: str
) -> None:
    """For a thread's end (also C11's), a mutex, a condition, in two calls, at OpenMP's barrier."""
    ended = elanite("mpirun", "-q", "-n", "2", str(mpi_programs / "stalls"), kind)
    assert (ended.code, ended.out) == (Exit.DEADLOCK, ""), ended
    waits = r"^  0, 1 +MPI_Recv +.*receives a message of any rank, tag 9.* \(stalls\.c:\d+\)$"
    assert re.search(waits, ended.err, re.MULTILINE), ended
    assert "no rank has called MPI" not in ended.err


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "ranks"), [("J", 2), ("P", 2), ("X", 2), ("S", 1), ("T", 1)])
def test_a_thread_that_comes_late_is_none(
    elanite: Run, mpi_programs: Path, kind: str, ranks: int
) -> None:
    """It computes, reads a pipe, waits for another process, sleeps, or waits with a time-out."""
    ended = elanite("mpirun", "-q", "-n", str(ranks), str(mpi_programs / "stalls"), kind)
    assert (ended.code, ended.out) == (0, "ended\n"), ended


@needs_mpi
def test_threads_start_and_sleep_in_simulated_time_before_their_first_call(
    elanite: Run, mpi_programs: Path
) -> None:
    """Another thread waits in MPI, or for the thread's end, meanwhile. The host is late."""
    ended = elanite("mpirun", "-q", "-n", "2", str(mpi_programs / "naps"))
    assert ended.code == 0, ended
    found = re.findall(r"^(\w+) (\d+)$", ended.out, re.MULTILINE)
    assert [name for name, _ in found] == ["late", "receives", "joins"], ended
    late, *times = (int(number) for _, number in found)
    assert late == 0, ended
    assert all(10_000 <= time < 10_050 for time in times), ended


@needs_mpi
@pytest.mark.slow
def test_a_run_that_is_interrupted_shows_its_ranks(mpi_programs: Path, tmp_path: Path) -> None:
    words = command("mpirun", "-q", "-n", "3", str(mpi_programs / "livelock"), "N")
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as started:
        time.sleep(6)
        started.send_signal(signal.SIGINT)
        said = started.communicate(timeout=PATIENCE)[1]
    assert started.returncode == 130, said
    assert re.search(
        r"^interrupted at .* of simulated time\n  ranks +call\n  0 +MPI_Test", said, re.MULTILINE
    ), said


class Core:
    """A stalled run."""

    def __init__(self, pid: int) -> None:
        self.ranks = [[pid, True, "no call of MPI", "MPI_Barrier", 7, 0, 0, 12_000_000]]
        self.moves = 5

    def sight(self) -> tuple[int, int, list[list[object]]]:
        return self.moves, 3, [list(one) for one in self.ranks]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds are milliseconds."""
    for name in ("EVERY", "SILENCE", "START", "LOOKS", "SLOW"):
        monkeypatch.setattr(oversight, name, getattr(oversight, name) / 100)


def watched(core: Core, launcher: int, seconds: float = 0.5) -> None:
    over = Oversight(core, launcher)  # type: ignore[arg-type]
    time.sleep(seconds)
    over.stop()


@pytest.mark.usefixtures("hasty")
def test_a_rank_that_makes_no_call_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as silent:
        os.kill(silent.pid, signal.SIGSTOP)
        watched(Core(silent.pid), os.getpid())
        silent.kill()
    said = capsys.readouterr().err
    named = (
        rf"  rank 0 \(pid {silent.pid}\) has become another program, .*python.*, and is stopped"
        r" \(T\)"
    )
    assert re.search(rf"no call for .* the run goes on:\n{named}; last call MPI_Barrier\n", said), (
        said
    )
    assert said.count("rank 0 (pid") == 1


@pytest.mark.usefixtures("hasty")
def test_ranks_that_only_let_time_pass_are_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    core = Core(os.getpid())
    core.ranks[0][1] = False
    sight = core.sight

    def sleeps() -> tuple[int, int, list[list[object]]]:
        core.ranks[0][7] += 1000
        core.moves += 1
        return sight()

    core.sight = sleeps  # type: ignore[method-assign]
    watched(core, os.getpid())
    said = capsys.readouterr().err
    assert said.count("no rank has called MPI, and simulated time goes on:") == 1
    assert re.search(
        rf"^  rank 0 \(pid {os.getpid()}\) .*; last call MPI_Barrier$", said, re.MULTILINE
    ), said


@pytest.mark.usefixtures("hasty")
def test_ranks_outside_of_mpi_that_keep_the_run_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(program, env=os.environ | {"PMI_RANK": "1"}) as late:
        core = Core(os.getpid())
        core.ranks += [[None, False, "no call", "no call", 0, 0, 0, 0]]
        core.ranks[0][1] = False
        watched(core, os.getpid())
        said = capsys.readouterr().err
        who = rf"  rank 1 \(pid {late.pid}\)"
        named = rf"warning: for \d+ s these ranks have not called MPI_Init; .*:\n{who}"
        assert len(re.findall(named, said)) == 1, said
        core.ranks[1][0] = late.pid
        for rank in core.ranks:
            rank[1:4] = [False, "MPI_Finalize", "MPI_Finalize"]
        core.ranks[0][0] = 2**22 + 1  # it has ended
        watched(core, os.getpid())
        late.kill()
    said = capsys.readouterr().err
    named = rf"have not ended after MPI_Finalize; the run goes on:\n{who} .*\(S\)\n$"
    assert len(re.findall(named, said)) == 1, said


@pytest.mark.usefixtures("hasty")
def test_an_mpiexec_that_is_stopped_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as launcher:
        os.kill(launcher.pid, signal.SIGSTOP)
        watched(Core(os.getpid()), launcher.pid)
        launcher.kill()
    assert f"mpiexec (pid {launcher.pid}) has been stopped (T)" in capsys.readouterr().err


@pytest.mark.usefixtures("hasty")
def test_a_program_that_reads_the_clock_is_warned_of_time_that_stands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    core = Core(os.getpid())
    sight = core.sight

    def reads() -> tuple[int, int, list[list[object]]]:
        core.ranks[0][4] += 1
        core.ranks[0][6] += 1000
        core.moves += 1
        return sight()

    core.sight = reads  # type: ignore[method-assign]
    watched(core, os.getpid())
    said = capsys.readouterr().err
    assert said.count("the program reads the clock") == 1
    assert "ask the program for a number of iterations" in said


def test_the_source_line_of_a_process_is_found(tmp_path: Path) -> None:
    """Line 4 waits; the kernel reports the place, and the stack has the caller."""
    source = tmp_path / "a folder" / "waits.c"
    source.parent.mkdir()
    source.write_text("#include <unistd.h>\nint main(void)\n{\n    pause();\n    return 0;\n}\n")
    for options, line in (["-g"], ["waits.c:4"]), ([], []):
        subprocess.run(["cc", *options, "-o", tmp_path / "waits", source], check=True)
        with subprocess.Popen([tmp_path / "waits"]) as started:
            found = until(lambda: call_sites.site(started.pid) is not None)
            site = call_sites.site(started.pid)
            started.kill()
        assert found
        assert site is not None
        assert list(call_sites.lines([site]).values()) == line
