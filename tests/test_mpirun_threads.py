"""Threads of a rank that call MPI at once: simulated time is theirs, not the host's."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import FILES, Ended, needs_mpi

Run = Callable[..., Ended]

LIMITS = {
    "c": ((0.99, 1.02), (350, 370)),
    "q": ((0.99, 1.25), (350, 440)),
    "p": ((1.3, 2), (450, 720)),
    "s": ((0.99, 1.02), (1000, 1005)),
    "n": ((0.99, 1.02), (200, 205)),
    "w": ((0.99, 1.02), (350, 370)),
    "t": ((2, 3.2), (0, 0)),
}
"""How long the exchange may take beside the first thread's work, against the exchange alone, and
how many us that work may take. Where the first thread calls MPI, too, the two have one processor in
the model."""


@needs_mpi
def test_threads_take_simulated_time_together(elanite: Run, mpi_programs: Path) -> None:
    ended = elanite("mpirun", "-q", "-n", "2", str(mpi_programs / "beside"), "".join(LIMITS))
    lines = [line.split() for line in ended.out.splitlines()]
    assert [line[0] for line in lines] == [*LIMITS], ended
    for kind, *times in lines:
        alone, beside, work = map(float, times)
        (least, most), (shortest, longest) = LIMITS[kind]
        assert alone == pytest.approx(355_000, rel=0.01), ended
        assert least <= beside / alone <= most, (kind, ended)
        assert shortest <= work / 1000 <= longest, (kind, ended)


@needs_mpi
def test_a_thread_of_the_library_makes_a_run_a_guess(
    elanite: Run, mpi_programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MPICH's own thread looks for messages beside all calls. The host decides when, so the run is
    not repeatable, unless the thread has not looked at all.
    """
    monkeypatch.setenv("MPIR_CVAR_ASYNC_PROGRESS", "1")
    program = str(mpi_programs / "beside")
    ended = elanite("mpirun", "--format", "json", "-n", "2", program, "a")
    alone = float(ended.out.split()[1])
    said = json.loads(ended.err.splitlines()[-1])
    assert not said["repeatable"] or alone == pytest.approx(355_000, rel=0.01), ended


@needs_mpi
@pytest.mark.parametrize("both", [[], ["both"]], ids=["one", "both"])
def test_turns_of_an_interpreter_take_no_time(elanite: Run, both: list[str]) -> None:
    """Threads that compute in Python wait for its lock, and ask for it after 5 ms of real time."""
    program = str(FILES.parent / "mpi" / "turns.py")
    ended = elanite("mpirun", "-f", "json", "-n", "2", sys.executable, program, *both)
    assert ended.code == 0, ended
    assert all(float(line) < 1000 for line in ended.out.splitlines()), ended
    assert json.loads(ended.err.splitlines()[-1])["repeatable"] is not bool(both), ended
