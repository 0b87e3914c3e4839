"""``elanite mpirun --record``: a recorded run's replay takes the run's time, and has its
messages.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from conftest import Ended, command, execute, needs_mpi

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_mpi

TOLERANCE = 0.01
"""The allowed difference between a recorded run and its replay, on the run's machine."""


def recorded(folder: Path, *words: str) -> tuple[Ended, Path]:
    trace = folder / "run.goal"
    return execute(
        command("mpirun", "--format", "json", "--record", str(trace), *words), cwd=folder
    ), trace


def replayed(trace: Path, *words: str) -> dict[str, Any]:
    ended = execute(command("replay", str(trace), "--format", "json", *words), cwd=trace.parent)
    assert ended.code == 0, ended
    found: dict[str, Any] = json.loads(ended.out)
    return found


CASES = [
    pytest.param("collectives", 4, (), id="collectives"),
    pytest.param("farm", 4, (), id="farm"),
    pytest.param("ping", 2, (), id="ping", marks=pytest.mark.slow),
    pytest.param("halo", 8, (), id="halo", marks=pytest.mark.slow),
    pytest.param("collectives", 7, (), id="collectives of seven", marks=pytest.mark.slow),
    pytest.param("gradient", 8, (), id="gradient", marks=pytest.mark.slow),
    pytest.param("probe", 4, (), id="probe", marks=pytest.mark.slow),
    pytest.param(
        "gradient", 8, ("--ranks-per-node", "2"), id="two ranks on a node", marks=pytest.mark.slow
    ),
    pytest.param("halo", 4, ("--machine", "opteron-qsnet2"), id="Elan4", marks=pytest.mark.slow),
    pytest.param("gradient", 4, ("--network", "ideal"), id="ideal network", marks=pytest.mark.slow),
    pytest.param(
        "probe", 4, ("--network", "ideal"), id="probe on the ideal network", marks=pytest.mark.slow
    ),
    pytest.param(
        "probe", 4, ("--machine", "opteron-qsnet2"), id="probe on Elan4", marks=pytest.mark.slow
    ),
    pytest.param(
        "halo", 4, ("--network", "ideal"), id="halo on the ideal network", marks=pytest.mark.slow
    ),
    pytest.param("any", 4, (), id="any of several", marks=pytest.mark.slow),
    pytest.param("vectors", 4, (), id="vectors", marks=pytest.mark.slow),
    pytest.param("polls", 4, (), id="polls by probes", marks=pytest.mark.slow),
    pytest.param("polls", 4, ("--network", "ideal"), id="polls on the ideal network"),
    pytest.param(
        "polls", 4, ("--machine", "opteron-qsnet2"), id="polls on Elan4", marks=pytest.mark.slow
    ),
    pytest.param("tests", 4, (), id="polls by tests", marks=pytest.mark.slow),
    *(
        pytest.param(pattern, 4, options, id=f"{pattern}: {name}", marks=marks)
        for pattern in ("fences", "scoped", "passive", "flag")
        for options, name, marks in (
            (("--network", "ideal"), "ideal network", ()),
            ((), "ES40s", pytest.mark.slow),
            (("--machine", "opteron-qsnet2"), "Elan4", pytest.mark.slow),
        )
    ),
    pytest.param("groups", 6, ("--network", "ideal"), id="communicators on the ideal network"),
    pytest.param(
        "groups",
        6,
        ("--machine", "opteron-qsnet2"),
        id="communicators on Elan4",
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("pattern", "ranks", "options"), CASES)
def test_a_replay_takes_the_time_of_the_run(
    mpi_programs: Path, tmp_path: Path, pattern: str, ranks: int, options: tuple[str, ...]
) -> None:
    program = str(mpi_programs / "patterns")
    ended, trace = recorded(tmp_path, "-n", str(ranks), *options, program, pattern)
    assert ended.code == 0, ended
    run = json.loads(ended.err.splitlines()[-1])
    again = replayed(trace, *options)
    assert again["messages"] == run["messages"] > 0
    assert again["bytes"] == run["bytes"]
    assert again["simulated_us"] == pytest.approx(run["simulated_us"], rel=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "options", "differs"),
    [
        ("halo", ("-n", "4", "--network", "ideal"), False),
        ("groups", ("-n", "6"), True),
    ],
)
def test_the_summary_tells_how_long_the_replay_takes(
    mpi_programs: Path, tmp_path: Path, pattern: str, options: tuple[str, ...], *, differs: bool
) -> None:
    """A replay that differs by more than 1% is reported with the size of the difference."""
    words = ("mpirun", *options, "--record", "run.goal", str(mpi_programs / "patterns"), pattern)
    ended = execute(command(*words), cwd=tmp_path)
    assert ended.code == 0, ended
    said = " ".join(ended.err.split("on this machine the replay takes ", 1)[1].split())
    change = float(said.split(" µs, ", 1)[1].split("%", 1)[0])
    assert (abs(change) > 1) == ("MPI_Iprobe" in said) == differs
    assert ("--network ideal" in ended.err) == ("ideal" in options)


@pytest.mark.slow
def test_the_command_that_a_record_names_replays_it_on_the_same_machine(
    mpi_programs: Path, tmp_path: Path
) -> None:
    words = [
        "-np",
        "4",
        "--machine",
        "opteron-qsnet2",
        "--ranks-per-node",
        "2",
        "--placement",
        "cyclic",
    ]
    words += [
        "--set",
        "bus.rate=500 MB/s",
        "--record",
        "my run.goal",
        str(mpi_programs / "patterns"),
        "farm",
    ]
    ended = execute(command("mpirun", *words), cwd=tmp_path)
    assert ended.code == 0, ended
    said = ended.err.split("to replay it: ", 1)[1].splitlines()[0]
    assert shlex.split(said) == [
        *(
            "elanite",
            "replay",
            "my run.goal",
            "--machine",
            "opteron-qsnet2",
            "--set",
            "bus.rate=500 MB/s",
        ),
        *("--ranks-per-node", "2", "--placement", "cyclic"),
    ]
    again = execute(command(*shlex.split(said)[1:]), cwd=tmp_path)
    assert again.code == 0, again
    assert "4 ranks on 2 nodes of opteron-qsnet2" in again.out + again.err


def test_a_recorded_program_computes(mpi_programs: Path, tmp_path: Path) -> None:
    """The program's computation is in the trace, and the cost of library calls is not."""
    words = ["-n", "4", "--compute", "20us per call", str(mpi_programs / "patterns"), "gradient"]
    ended, trace = recorded(tmp_path, *words)
    assert ended.code == 0, ended
    run = json.loads(ended.err.splitlines()[-1])
    assert replayed(trace)["simulated_us"] == pytest.approx(run["simulated_us"], rel=TOLERANCE)
    ideal = replayed(trace, "--network", "ideal")["simulated_us"]
    assert 20 * 30 < ideal < run["simulated_us"]


def test_what_cannot_be_recorded_is_refused(mpi_programs: Path, tmp_path: Path) -> None:
    """The error names the first operation, and an existing trace stays unchanged."""
    (tmp_path / "run.goal").write_text("num_ranks 1\nrank 0 {\n}\n")
    program = (str(mpi_programs / "patterns"), "shared")
    ended, trace = recorded(tmp_path, "-n", "2", "--ranks-per-node", "2", *program)
    assert ended.code == 2, ended
    assert "cannot be recorded in GOAL: rank " in ended.err
    assert "; in all, by call: MPI_Win_sync: looks at words in memory (1)" in " ".join(
        ended.err.split()
    )
    assert trace.read_text() == "num_ranks 1\nrank 0 {\n}\n"
    assert not list(tmp_path.glob(".*.goal*"))


def test_a_run_that_fails_leaves_no_trace(mpi_programs: Path, tmp_path: Path) -> None:
    ended, trace = recorded(tmp_path, "-n", "2", str(mpi_programs / "patterns"), "nothing")
    assert ended.code != 0
    assert not trace.exists()
    assert not list(tmp_path.glob(".*.goal*"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--collectives", "hardware"), "--record: a trace in GOAL has no collective operations"),
        (("--fault", "link = 'node 0', at = '1 ms'"), "--record: a trace has the program alone"),
    ],
)
def test_options_that_no_trace_can_have(
    mpi_programs: Path, tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    ended, trace = recorded(tmp_path, "-n", "2", *options, str(mpi_programs / "patterns"), "ping")
    assert ended.code == 2, ended
    assert says in ended.err
    assert not trace.exists()
