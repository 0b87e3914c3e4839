"""Clocks and timers of a real program take simulated time."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from conftest import Ended, needs_mpi

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
"""The simulated time of each, in us."""

STEPS = {"setitimer, reading clocks": 41.0}
"""Loops that read the clock go on in steps of up to 20 us."""


@needs_mpi
def test_every_timer_takes_the_time_that_is_asked(elanite: Callable[..., Ended], mpi_programs: Path) -> None:
    ended = elanite("mpirun", "-n", "2", str(mpi_programs / "timers"))
    assert ended.code == 0, ended
    found = {line[:28].rstrip(): line[28:].strip() for line in ended.out.splitlines()}
    assert found.keys() == TIMES.keys()
    for what, asked in TIMES.items():
        assert "bad" not in found[what], (what, ended)
        assert asked <= float(found[what]) <= asked + STEPS.get(what, 0.0), (what, ended)
    # A loop without a call was guessed to wait.
    assert re.search(r"^  repeatable +no: the host's timing", ended.err, re.MULTILINE), ended
