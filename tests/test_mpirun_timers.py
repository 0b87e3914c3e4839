"""A real program's clocks and timers use simulated time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ended, needs_mpi

Run = Callable[..., Ended]

TIMES = {
    "alarm in sleep": 1e6,
    "setitimer in nanosleep": 2000,
    "ualarm in pause": 2000,
    "setitimer in poll": 2000,
    "setitimer in select": 2000,
    "interval, five times": 10_000,
    "setitimer in a loop": 2000,
    "setitimer, reading clocks": 2000,
    "timer_create in usleep": 2000,
    "timer_create in sigwait": 2000,
    "sigtimedwait": 2000,
    "timer_create with a thread": 2000,
    "timerfd in read": 2000,
    "timerfd counts": 2000,
    "timerfd in poll": 2000,
    "timerfd in epoll_wait": 2000,
    "timerfd in select": 2000,
    "getrusage": 2000,
    "times": 20_000,
    "sleep of a thread": 2000,
}
"""Each one's simulated time, in us."""

STEPS = {"setitimer, reading clocks": 41.0}
"""Loops that read the clock advance in steps up to 20 us."""


@needs_mpi
def test_every_timer_takes_the_time_that_is_asked(elanite: Run, mpi_programs: Path) -> None:
    ended = elanite("mpirun", "-n", "2", str(mpi_programs / "timers"))
    assert ended.code == 0, ended
    found = {line[:28].rstrip(): line[28:].strip() for line in ended.out.splitlines()}
    assert found.keys() == TIMES.keys()
    for what, asked in TIMES.items():
        assert "bad" not in found[what], (what, ended)
        assert asked <= float(found[what]) <= asked + STEPS.get(what, 0.0), (what, ended)
    # A loop without a call was guessed to wait.
    assert re.search(r"^  repeatable +no: the host's timing", ended.err, re.MULTILINE), ended


@needs_mpi
def test_time_that_passes_at_readings_of_a_clock_is_told_apart(elanite: Run, mpi_programs: Path) -> None:
    """A program that measures its computation looks like a loop that waits; the summary gives its duration."""
    ended = elanite("mpirun", "-n", "2", "--format", "json", str(mpi_programs / "readings"))
    assert ended.code == 0, ended
    waited = dict(line.split() for line in ended.out.splitlines())
    summary = json.loads(ended.err.splitlines()[-1])
    assert summary["clocks_us"]["rank"] == 1
    # The last reading is from MPI_Wtime.
    assert summary["clocks_us"]["time"] == pytest.approx(float(waited["1"]), abs=0.001)
    assert float(waited["0"]) < 1
    assert summary["clocks_us"]["time"] > 0.9 * summary["simulated_us"]
