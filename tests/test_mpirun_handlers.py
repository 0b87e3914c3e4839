"""Programs that handle MPI errors, on a machine with a dead cable: calls return errors, and others
continue.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import BIN, FILES, PATIENCE, Ended, needs_mpi

pytestmark = needs_mpi

Run = Callable[..., Ended]

FAULT = (
    *("--set", "faults.timeout=50 us", "--set", "faults.backoff=20 us"),
    *("--set", "faults.detect=200 us", "--set", "faults.give_up=1 ms"),
    *("--fault", "link = 'node 3', at = '1 ms'"),
)

WHY = (
    "the network between node 0 and node 3 (process 3) has failed: no way is left, since the cable"
    " from node 3"
)


@pytest.fixture
def handler(elanite: Run, mpi_programs: Path) -> Run:
    """Run the program on four ranks; the last one's cable dies."""

    def run(how: str, *options: str) -> Ended:
        return elanite("mpirun", *FAULT, *options, "-n", "4", str(mpi_programs / "handler"), how)

    return run


@pytest.mark.parametrize("how", ["returns", "function"])
def test_each_call_returns_its_error(handler: Run, how: str) -> None:
    """For single messages and for several at a time; the run ends well, and can be repeated."""
    first, second = (handler(how) for _ in range(2))
    assert first.code == 0, first
    assert first.out == second.out == "15 errors, and on\n", first
    assert f"rank 3 of the run cannot be reached: {WHY}" in first.err
    digests = [re.search(r"digest +(\w+)", one.err) for one in (first, second)]
    assert digests[0]
    assert digests[1]
    assert digests[0][1] == digests[1][1]
    assert re.search(
        r"^  first lost +rank [03] sends 20000 B to rank [03], tag 1: the network between",
        first.err,
        re.MULTILINE,
    )


def test_a_cable_that_dies_under_a_message_fails_its_call(handler: Run) -> None:
    ended = handler("late", "-q")
    assert (ended.code, ended.out) == (0, "1 errors, and on\n"), ended
    assert "Communication error" in ended.err or "rank 3 of the run cannot be reached" in ended.err


def test_a_collective_call_by_elanlib_returns_its_error(handler: Run) -> None:
    """The default on every machine with the hardware; the remaining ranks continue."""
    ended = handler("collective", "-q")
    assert (ended.code, ended.out) == (0, "1 errors, and on\n"), ended


def test_a_collective_call_by_messages_ends_the_program(handler: Run) -> None:
    """MPICH continues in no rank, or the ranks wait for each other."""
    ended = handler("collective", "-q", "--collectives", "mpi")
    assert (ended.code != 0, ended.out) == (True, ""), ended
    assert re.search(
        r"^error: (rank \d .* ended the run with an error of MPI|deadlock)", ended.err, re.MULTILINE
    ), ended
    assert "the first message that was lost: rank" in ended.err


@pytest.mark.parametrize("way", ["hardware", "elan"])
def test_calls_that_do_not_block_return_their_errors(handler: Run, way: str) -> None:
    """From the calls that wait for them; the remaining ranks continue."""
    ended = handler("posted", "--collectives", way)
    assert (ended.code, ended.out) == (0, "3 errors, and on\n"), ended
    assert f"the collective operation is lost: {WHY.split(' between')[0]}" in ended.err
    assert re.search(
        r"^  first lost +rank \d has begun a barrier among 4 ranks by ", ended.err, re.MULTILINE
    ), ended


def test_a_probe_fails(handler: Run) -> None:
    ended = handler("probe", "-q")
    assert (ended.code, ended.out) == (0, "1 errors, and on\n"), ended


def test_without_a_handler_the_first_error_ends_the_program(handler: Run) -> None:
    ended = handler("fatal", "-q")
    assert ended.code not in (0, 1), ended
    assert ended.out == ""
    assert re.search(
        r"^error: rank \d .* ended the run with an error of MPI", ended.err, re.MULTILINE
    ), ended
    assert "the first message that was lost: rank" in ended.err


def test_errors_are_exceptions_of_mpi4py(elanite: Run) -> None:
    program = str(FILES.parent / "mpi" / "handler.py")
    ended = elanite("mpirun", "-q", *FAULT, "-n", "4", sys.executable, program)
    assert (ended.code, ended.out) == (0, "4 exceptions, and on\n"), ended


@pytest.mark.skipif(not (BIN / "mpicc_abi").exists(), reason="this MPICH has no standard interface")
def test_programs_of_the_standard_interface_get_their_errors_too(
    elanite: Run, tmp_path: Path
) -> None:
    sources = [str(FILES.parent / "mpi" / name) for name in ("handler.c", "check.c")]
    subprocess.run(
        [str(BIN / "mpicc_abi"), "-O2", "-o", "handler", *sources],
        cwd=tmp_path,
        check=True,
        timeout=PATIENCE,
    )
    ended = elanite("mpirun", "-q", *FAULT, "-n", "4", "./handler")
    assert (ended.code, ended.out) == (0, "15 errors, and on\n"), ended
