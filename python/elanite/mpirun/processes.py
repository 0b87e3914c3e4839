"""The processes of a run: mpiexec and whatever comes of it, of which nothing must outlive the run.

mpiexec and its helper make sessions of their own, and so does each rank, so that neither a session nor a group holds
them together. What does: all have a variable in their environment that names the run, all descend from mpiexec, and
orphans come to this process (``PR_SET_CHILD_SUBREAPER``). If this process is killed, the kernel kills mpiexec
(``PR_SET_PDEATHSIG``), whose helper then ends the ranks; ranks look after that themselves, too, and so does a guard,
which also removes their files.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from elanite.mpirun.guard import Guard
from elanite.mpirun.launcher import RUN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")

PATIENCE = 5.0
"""Seconds until everything that was killed must be gone."""


class Processes:
    """mpiexec and all that it started. ``start`` in the main thread: the kernel watches over that, not the process."""

    def __init__(self, name: str) -> None:
        self._mark = f"{RUN}={name}".encode()
        self._mpiexec: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        self._ended = threading.Event()

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> tuple[IO[bytes], IO[bytes]]:
        """Start mpiexec; returns its standard output and standard error."""
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        parent, now = os.getpid(), int(time.time())

        def die_with_parent() -> None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:  # it died before it was watched
                os._exit(1)

        started = subprocess.Popen(  # noqa: S603 - what the user wants to run
            command,
            env=dict(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        self._mpiexec = started
        self._guard = Guard(self._mark, started.pid, now)
        # A thread waits for it, so that it is no zombie, which the simulator would take for alive.
        threading.Thread(target=self._watch, name="mpiexec", daemon=True).start()
        assert started.stdout is not None  # noqa: S101 - both are pipes
        assert started.stderr is not None  # noqa: S101
        return started.stdout, started.stderr

    def _watch(self) -> None:
        assert self._mpiexec is not None  # noqa: S101 - it was started
        self._mpiexec.wait()
        self._ended.set()

    @property
    def pid(self) -> int:
        """That of mpiexec."""
        assert self._mpiexec is not None  # noqa: S101 - it was started
        return self._mpiexec.pid

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit code of mpiexec, or minus the signal that killed it; None if it has not ended in that time."""
        assert self._mpiexec is not None  # noqa: S101 - it was started
        return self._mpiexec.returncode if self._ended.wait(seconds) else None

    def end(self) -> list[int]:
        """Kill all that is left, and wait until it is gone; returns what is not gone after a while."""
        if self._mpiexec is None:
            return []
        end = time.monotonic() + PATIENCE
        orphans = set()
        while left := self.living():
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            orphans |= set(left) - {self.pid}
            _reap(orphans)
            if time.monotonic() > end:
                return left
            time.sleep(0.01)
        self._ended.wait(PATIENCE)
        _reap(orphans)
        if self._guard is not None:
            self._guard.end()
        return []

    def living(self) -> list[int]:
        """All processes of the run, by what they descend from and by their environment."""
        parents: dict[int, int] = {}
        found = set()
        for entry in _PROC.iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            pid = int(entry.name)
            try:
                state, parent = _state(entry)
                if state in "ZX":
                    continue
                parents[pid] = parent
                if self._mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.add(pid)
            except OSError:
                continue  # it is gone, or another user's
        if self.pid in parents:
            found.add(self.pid)
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return sorted(found)


def _reap(orphans: set[int]) -> None:
    """Take note of the ends of those that have become children of this process."""
    for pid in orphans:
        with suppress(OSError):
            os.waitpid(pid, os.WNOHANG)


def _state(entry: Path) -> tuple[str, int]:
    """The state of a process, and its parent."""
    # The second field is a name in brackets, which may have anything in it.
    fields = (entry / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()
    return fields[0], int(fields[1])
