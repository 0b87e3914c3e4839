"""Watches a run in progress, in the host's time, and prints on standard error the reasons for
delays.

| after | named |
|---|---|
| 10 s without a call | a rank that computes, is stopped, waits for a lock, or called ``exec`` |
| 10 s | an mpiexec that is stopped |
| 30 s after the start | ranks that have not called ``MPI_Init`` |
| 10 s after ``MPI_Finalize`` | ranks that do not end |
| 4 s of polls alone | all ranks, with the messages that they poll for |
| 5 s in which simulated time hardly moves | a program that reads the clock in a loop |

The run goes on in all these cases: from outside it cannot be known that a program computes in vain.
A wait that certainly cannot end is a deadlock, and ends the run (crate ``mpirun``,
``server/standstill.rs``).

On a terminal a line shows how far the run has come. It disappears before anything else is written.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elanite.base import bounded
from elanite.base.text import number, ranks
from elanite.mpirun import call_sites
from elanite.mpirun.launcher import LIBRARY

if TYPE_CHECKING:
    from elanite._core import MpiRun

EVERY = 0.5
"""Seconds between two looks."""

SILENCE = 10.0
"""Seconds without a call after which a rank is named."""

START = 30.0
"""Seconds without ``MPI_Init`` after which a rank is named."""

LOOKS = 4.0
"""Seconds with polls alone after which the ranks are named."""

SLOW = 5.0
"""Seconds after which a warning names a program that reads the clock."""

SHARE = 0.05
"""This computer's time share below which simulated time hardly moves."""

MOST = 8
"""Most ranks that are named one by one."""

STATES = {
    "R": "runs",
    "S": "sleeps in the kernel",
    "D": "waits for a device",
    "T": "is stopped",
    "t": "is stopped by a debugger",
}


class _Sight(NamedTuple):
    """A rank, as ``MpiRun.sight`` gives it."""

    pid: int | None
    """`None`: the rank has not joined the simulation."""
    runs: bool
    """Whether it has its turn."""
    call: str
    """The call in which it is."""
    last: str
    """Its latest call."""
    begun: int
    """Calls that it has begun."""
    frame: int
    """Its latest call's stack pointer."""
    readings: int
    """How often it has read a clock."""
    now: int
    """Its local time, in ps."""


@dataclass
class _Silence:
    """How long a rank has made no call."""

    count: int = -1
    since: float = 0.0
    named: bool = False


class Oversight:
    """The watch over one run, from the ranks' start to ``stop``."""

    def __init__(self, core: MpiRun, launcher: int) -> None:
        self._core = core
        self._launcher = launcher
        self._over = threading.Event()
        self._writes = threading.Lock()
        self._shown = False
        self._began = time.monotonic()
        self._ranks: list[_Silence] = []
        self._begins = True
        self._left: float | None = None
        self._said_left = False
        self._stopped: float | None = None
        self._said_stopped = False
        self._moves = -1
        self._moved = self._began
        self._calls = 0
        self._looked = False
        self._counted: tuple[int, float, int] | None = None
        self._named = False
        self._slow: tuple[float, float, int] | None = None
        self._warned = False
        self._thread = threading.Thread(target=self._watch, name="oversight", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching, and remove the progress line."""
        self._over.set()
        self._thread.join()
        self.hide()

    def hide(self) -> None:
        """Remove the progress line before another output."""
        if self._shown:
            with self._writes:
                if self._shown:
                    _write("\r\x1b[K")
                    self._shown = False

    def say(self, text: str) -> None:
        """Write lines to standard error."""
        self.hide()
        _write(text + "\n")

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            now = time.monotonic()
            moves, messages, ranks_now = self._core.sight()
            found = [_Sight(*one) for one in ranks_now]
            self._silent(now, found)
            self._only_looks(now, moves, found)
            self._no_calls(now, found)
            self._clock(now, found)
            self._mpiexec(now)
            self._outside(now, found)
            self._progress(now, messages, found)

    def _silent(self, now: float, found: list[_Sight]) -> None:
        """Name ranks that have their turn and make no call."""
        # Ranks may start more ranks.
        self._ranks += [_Silence(since=now) for _ in found[len(self._ranks) :]]
        lines = []
        for rank, (one, sight) in enumerate(zip(self._ranks, found, strict=True)):
            if sight.begun != one.count or not sight.runs:
                one.count, one.since, one.named = sight.begun, now, False
            elif not one.named and now - one.since >= SILENCE and sight.pid is not None:
                one.named = True
                lines.append(
                    f"  rank {rank} (pid {sight.pid}) {self._doing(sight.pid)};"
                    f" {_call(sight.call, sight.last)}"
                )
        if lines:
            shown = lines[:MOST] + (
                [f"  and {len(lines) - MOST} other ranks"] if len(lines) > MOST else []
            )
            head = (
                f"no call for {SILENCE:.0f} s of this computer's time, while the others wait; the"
                " run goes on:"
            )
            self.say("\n".join([f"warning: {head}", *shown]))

    def _doing(self, pid: int) -> str:
        state = _state(pid)
        said = f"{STATES.get(state, 'has ended')} ({state})"
        if _has_left(pid):
            said = f"has become another program, {_exe(pid)}, and {said}"
        elif state == "S" and (place := call_sites.site(pid)) is not None:
            said += "".join(f" at {line}" for line in call_sites.lines([place]).values())
        return said

    def _only_looks(self, now: float, moves: int, found: list[_Sight]) -> None:
        """Name all ranks if they only poll."""
        calls = sum(one.begun for one in found)
        if moves != self._moves or not moves:
            self._moves, self._moved, self._looked, self._calls = moves, now, False, calls
            return
        if self._looked or now - self._moved < LOOKS:
            return
        if calls - self._calls < 100 * (now - self._moved):
            return  # a rank has computed most of the time
        self._looked = True
        lines = []
        for (call, last), who in _grouped(found)[:MOST]:
            lines.append(
                f"  {'rank' if len(who) == 1 else 'ranks'} {ranks(who)}: {_call(call, last)}"
            )
        head = (
            f"for {LOOKS:.0f} s of this computer's time no rank has done more than to look; the run"
            " goes on:"
        )
        self.say("\n".join([f"warning: {head}", *lines]))

    def _no_calls(self, now: float, found: list[_Sight]) -> None:
        """Name ranks if none calls MPI while simulated time goes on."""
        calls, simulated = (
            sum(one.begun for one in found),
            max((one.now for one in found), default=0),
        )
        if self._counted is None or calls != self._counted[0]:
            self._counted, self._named = (calls, now, simulated), False
            return
        _, since, before = self._counted
        if self._named or now - since < SILENCE or simulated == before:
            return
        self._named = True
        lines = [
            f"  rank {rank} (pid {one.pid}) {self._doing(one.pid)}; {_call(one.call, one.last)}"
            for rank, one in enumerate(found[:MOST])
            if one.pid is not None
        ]
        head = (
            f"for {SILENCE:.0f} s of this computer's time no rank has called MPI, and simulated"
            " time goes on:"
        )
        self.say("\n".join([f"warning: {head}", *lines]))

    def _clock(self, now: float, found: list[_Sight]) -> None:
        """Warn once if the program reads the clock, and simulated time hardly moves."""
        attached = [one for one in found if one.pid is not None]
        if self._warned or not found or len(attached) < len(found):
            return
        simulated, readings = (
            max(one.now for one in found) / 1e12,
            sum(one.readings for one in found),
        )
        if self._slow is None:
            self._slow = (now, simulated, readings)
            return
        since, before, read = self._slow
        if now - since < SLOW:
            return
        self._slow = (now, simulated, readings)
        rate = (simulated - before) / (now - since)
        if readings - read < SLOW or rate > SHARE:
            return
        self._warned = True
        times = readings - read
        self.say(
            f"warning: the program reads the clock ({times:,} times in {now - since:.0f} s), and a"
            f" second of this computer is {number(1e6 * rate)} µs of simulated time: a loop that"
            " lasts a second by the clock takes"
            f" {'very long' if rate < 1e-9 else f'{1 / rate:,.0f} s'}; ask the program for a number"
            " of iterations, or give computation a time (--compute)"
        )

    def _mpiexec(self, now: float) -> None:
        """Name an mpiexec that is stopped."""
        if _state(self._launcher) not in "Tt":
            self._stopped, self._said_stopped = None, False
            return
        self._stopped = now if self._stopped is None else self._stopped
        if not self._said_stopped and now - self._stopped >= SILENCE:
            self._said_stopped = True
            self.say(
                f"warning: mpiexec (pid {self._launcher}) has been stopped (T) for {SILENCE:.0f} s;"
                f" it keeps the run; to continue it: kill -CONT {self._launcher}"
            )

    def _outside(self, now: float, found: list[_Sight]) -> None:
        """Name ranks that keep the run before ``MPI_Init`` or after ``MPI_Finalize``."""
        if self._begins and now - self._began >= START:
            self._begins = False
            waited = [rank for rank, one in enumerate(found) if one.pid is None]
            pids = _started(self._launcher) if waited else {}
            here = [(rank, pids.get(rank)) for rank in waited]
            self._name(f"for {START:.0f} s these ranks have not called MPI_Init", here)
        if not found or any(not one.call == one.last == "MPI_Finalize" for one in found):
            self._left = None
            return
        self._left = now if self._left is None else self._left
        if not self._said_left and now - self._left >= SILENCE:
            self._said_left = True
            here = [(rank, one.pid) for rank, one in enumerate(found) if _lives(one.pid)]
            self._name(f"for {SILENCE:.0f} s these ranks have not ended after MPI_Finalize", here)

    def _name(self, what: str, here: list[tuple[int, int | None]]) -> None:
        lines = [
            f"  rank {rank} (pid {pid}) {STATES.get(state, 'has ended')} ({state})"
            for rank, pid in here
            if pid is not None and (state := _state(pid))
        ]
        if lines:
            more = [f"  and {len(lines) - MOST} other ranks"] if len(lines) > MOST else []
            head = f"warning: {what}; the run goes on:"
            self.say("\n".join([head, *lines[:MOST], *more]))

    def _progress(self, now: float, messages: int, found: list[_Sight]) -> None:
        """Show how far the run has come, on a terminal."""
        if not found or now - self._began < 2 or not sys.stderr.isatty():
            return
        times = [one.now / 1e6 for one in found]
        slowest = min(range(len(times)), key=lambda rank: (not found[rank].runs, times[rank]))
        rate = messages / (now - self._began)
        text = (
            f"{number(max(times))} µs simulated, {messages:,} messages, {rate:,.0f}/s, rank"
            f" {slowest} at {number(times[slowest])} µs:"
            f" {_call(found[slowest].call, found[slowest].last)}"
        )
        with self._writes:
            with suppress(OSError):
                text = text[: os.get_terminal_size(2).columns - 1]
            _write(f"\r\x1b[K{text}")
            self._shown = True


def _grouped(found: list[_Sight]) -> list[tuple[tuple[str, str], list[int]]]:
    groups: dict[tuple[str, str], list[int]] = {}
    for rank, one in enumerate(found):
        groups.setdefault(
            (one.call if one.call == one.last else "no call of MPI", one.last), []
        ).append(rank)
    return list(groups.items())


def _call(call: str, last: str) -> str:
    if not call.startswith("no call"):
        return f"in {call}"
    return "no call so far" if last.startswith("no call") else f"last call {last}"


def _state(pid: int) -> str:
    try:
        return bounded.system(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return "X"


def _lives(pid: int | None) -> bool:
    return pid is not None and _state(pid) not in "ZX"


def _started(launcher: int) -> dict[int, int]:
    """The processes that a process manager has started, by their ranks."""
    found = {}
    with suppress(OSError):
        for pid in bounded.system(f"/proc/{launcher}/task/{launcher}/children").split():
            with suppress(OSError, ValueError):
                held = bounded.system(f"/proc/{pid}/environ").split("\0")
                (rank,) = [one.partition("=")[2] for one in held if one.startswith("PMI_RANK=")]
                found[int(rank)] = int(pid)
    return found


def _has_left(pid: int) -> bool:
    """Whether the process has replaced its program, and with it the simulated network
    (``exec``).
    """
    try:
        return LIBRARY not in bounded.system(f"/proc/{pid}/maps")
    except OSError:
        return False


def _exe(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return ""


def _write(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
