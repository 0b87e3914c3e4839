"""A real program's clocks and timers use simulated time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
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
    "a blocked timer's overruns": 1050,
    "timer_create with threads": 7000,
    "timerfd in read": 2000,
    "timerfd counts": 2000,
    "timerfd in poll": 2000,
    "timerfd in epoll_wait": 2000,
    "timerfd in select": 2000,
    "getrusage": 2000,
    "times": 20_000,
    "usleep of a handle": 2000,
    "sleep of a thread": 2000,
}
"""Each one's simulated time, in us."""

WAITS = {
    "poll, fortified": 2000,
    "ppoll, fortified": 2000,
    "names, fortified": 0,
    "read, fortified": 0,
    "thrd_sleep": 2000,
    "cnd_timedwait": 2000,
    "mtx_timedlock": 2000,
    "thrd_join": 400_000,
    "pthread_rwlock_timedwrlock": 2000,
    "pthread_rwlock_clockwrlock": 2000,
    "pthread_timedjoin_np": 2000,
    "a word, by the kernel": 400_000,
    "pthread_barrier_wait": 400_000,
    "epoll_pwait2": 2000,
    "an alarm in pselect's mask": 2000,
    "an alarm in ppoll's mask": 2000,
    "an alarm before pselect": 0,
    "an alarm in a signalfd": 2000,
    "ftime": 5000,
    "SO_RCVTIMEO in recv": 2000,
    "SO_RCVTIMEO in recvmsg": 2000,
    "SO_RCVTIMEO in read": 2000,
    "MSG_DONTWAIT": 0,
    "an alarm in SO_RCVTIMEO": 1000,
    "SO_SNDTIMEO within a send": 2000,
    "SO_SNDTIMEO in write": 2000,
    "aio_suspend": 2000,
    "an alarm posts": 2000,
    "an alarm in sem_timedwait": 2000,
    "an alarm in mutex_timedlock": 5000,
    "an alarm writes into a pipe": 2000,
    "an alarm in read": 2000,
    "an alarm in waitpid": 2000,
}
"""Each one's simulated time, in us.

Threads nap for 0.4 s, so that others wait for them before they wake.
"""

ORDER = dict.fromkeys(
    [
        "cond_timedwait",
        "poll",
        "poll without an end",
        "mq_timedreceive",
        "semtimedop",
        "short sleeps",
        "sched_yield",
        "readings",
    ],
    100_000,
) | {"usleep": 600_000, "mq_timedreceive, in vain": 2000, "semtimedop, in vain": 2000}
"""Each one's simulated time, in us: the sleep of the thread for which the first eight wait."""

BLOCKED = dict.fromkeys(
    ["mutex", "rwlock", "spinlock", "pipe", "socket", "eventfd", "pipe, after a loop"], 100_000.0
)
"""Each one's simulated time, in us: the sleep of the thread that ends the wait."""

STEPS = {"setitimer, reading clocks": 41.0, "readings": 41.0}
"""Loops that read the clock advance in steps up to 20 us."""


def require(ended: Ended, times: dict[str, float]) -> None:
    """Each line's time is the one that was asked for."""
    assert ended.code == 0, ended
    found = {line[:28].rstrip(): line[28:].strip() for line in ended.out.splitlines()}
    assert found.keys() == times.keys()
    for what, asked in times.items():
        assert "bad" not in found[what], (what, ended)
        assert asked <= float(found[what]) <= asked + STEPS.get(what, 0.0), (what, ended)


@needs_mpi
@pytest.mark.parametrize("level", ["0", "3"])
def test_a_rank_waits_for_the_sleep_of_its_thread(
    elanite: Run, mpi_programs: Path, level: str
) -> None:
    """By waits that give up later, by sleeps, and in loops that give way or read a clock."""
    require(elanite("mpirun", "-n", "2", str(mpi_programs / "order"), level), ORDER)


@needs_mpi
def test_a_blocked_rank_waits_for_the_sleep_of_its_thread(elanite: Run, mpi_programs: Path) -> None:
    """By locks and files without a time-out, which is a guess."""
    ended = elanite("mpirun", "-n", "2", str(mpi_programs / "blocked"))
    require(ended, BLOCKED)
    assert re.search(r"^  repeatable +no: the host's timing", ended.err, re.MULTILINE), ended


@needs_mpi
def test_naps_of_a_thread_without_mpi_take_no_time_of_its_rank(
    elanite: Run, mpi_programs: Path
) -> None:
    """Also not those of the first thread: 100 exchanges of some 6 us, and a nap of 7 ms."""
    ended = elanite("mpirun", "-n", "2", str(mpi_programs / "worker"))
    assert ended.code == 0, ended
    exchanges, nap = map(float, ended.out.split())
    assert exchanges < 1000, ended
    assert nap == 7000, ended
    assert re.search(r"^  repeatable +yes", ended.err, re.MULTILINE), ended


@needs_mpi
@pytest.mark.parametrize("mode", ["clock", "poll", "sleep", "look"])
def test_time_that_passes_beside_a_thread_is_a_guess(
    elanite: Run, mpi_programs: Path, mode: str
) -> None:
    """Readings, time-outs, sleeps and looks take time, and the host decides on their number."""
    ended = elanite("mpirun", "-n", "2", str(mpi_programs / "worker"), mode)
    assert ended.code == 0, ended
    assert re.search(r"^  repeatable +no: the host's timing", ended.err, re.MULTILINE), ended


@needs_mpi
@pytest.mark.slow
def test_a_busy_host_does_not_end_the_sleep_of_a_thread(elanite: Run, mpi_programs: Path) -> None:
    """Processes that compute share the processors with the ranks, which then often stand in the
    midst of their loops.
    """
    run = ["mpirun", "-n", "2", str(mpi_programs / "order")]
    computes = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(computes) for _ in range(5 * len(os.sched_getaffinity(0)))]
    try:
        for _ in range(8):
            require(elanite(*run), ORDER)
    finally:
        for each in busy:
            each.kill()
            each.wait()


@needs_mpi
@pytest.mark.parametrize(("program", "times"), [("timers", TIMES), ("waits", WAITS)])
def test_every_timer_takes_the_time_that_is_asked(
    elanite: Run, mpi_programs: Path, program: str, times: dict[str, float]
) -> None:
    ended = elanite("mpirun", "-n", "2", str(mpi_programs / program))
    require(ended, times)
    # A loop, or a call in which the kernel waits, was guessed to wait for a timer.
    assert re.search(r"^  repeatable +no: the host's timing", ended.err, re.MULTILINE), ended


@needs_mpi
@pytest.mark.parametrize("kind", "xmnbrk")
def test_a_timer_rings_while_all_ranks_wait(elanite: Run, mpi_programs: Path, kind: str) -> None:
    """That is no deadlock: time advances to the timer, and the handler ends the program."""
    ended = elanite("mpirun", "-n", "3", str(mpi_programs / "alarms"), kind)
    assert "deadlock" not in ended.err, ended
    if kind == "k":
        assert (ended.code, ended.out) == (1, ""), ended
        assert re.search(r"rank 0 .* was killed by signal 14 \(SIGALRM\) at 300,\d+ µs", ended.err)
        return
    rings, time = (5, 1_500_000) if kind == "r" else (1, 300_000)
    found = re.fullmatch(rf"{rings} at (\d+) us\n", ended.out)
    assert found, ended
    assert time <= int(found[1]) < time + 500, ended
    assert ended.code == 7, ended


@needs_mpi
def test_time_that_passes_at_readings_of_a_clock_is_told_apart(
    elanite: Run, mpi_programs: Path
) -> None:
    """A program that measures its computation looks like a loop that waits; the summary gives its
    duration.
    """
    ended = elanite("mpirun", "-n", "2", "--format", "json", str(mpi_programs / "readings"))
    assert ended.code == 0, ended
    waited = dict(line.split() for line in ended.out.splitlines())
    summary = json.loads(ended.err.splitlines()[-1])
    assert summary["clocks_us"]["rank"] == 1
    # The last reading is from MPI_Wtime.
    assert summary["clocks_us"]["time"] == pytest.approx(float(waited["1"]), abs=0.001)
    assert float(waited["0"]) < 1
    assert summary["clocks_us"]["time"] > 0.9 * summary["simulated_us"]
