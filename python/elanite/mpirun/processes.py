"""A run's processes: mpiexec and its descendants, which must not outlive the run.

mpiexec (Elanite's own, or Open MPI's) and each rank make their own sessions, so that no session or
group contains all processes. Three other facts identify them: all have a variable in their
environment that names the run, all descend from mpiexec, and orphans become children of this
process (``PR_SET_CHILD_SUBREAPER``). If this process is killed, the kernel kills mpiexec
(``PR_SET_PDEATHSIG``), and with it the ranks. The ranks also notice this process's end themselves,
and so does a guard, which removes their files.

The processes start without randomised addresses, so that the same variable has the same address in
all ranks.
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

from elanite.base import bounded
from elanite.mpirun.guard import Guard
from elanite.mpirun.launcher import RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ADDR_NO_RANDOMIZE = 0x0040000
_PROC = Path("/proc")

PATIENCE = 5.0
"""Seconds until all killed processes must have ended."""


class ProcessTree:
    """mpiexec and its descendants.

    Call ``start`` in the main thread: if that thread ends, the kernel kills mpiexec.
    """

    def __init__(self, name: str, space: str) -> None:
        self._space = space
        self._mark = f"{RUN}={name}".encode()
        self._mpiexec: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        self._ended = threading.Event()

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], reports: int
    ) -> tuple[IO[bytes], IO[bytes]]:
        """Start mpiexec, which inherits ``reports``; returns its standard output and standard
        error.
        """
        system = ctypes.CDLL(None, use_errno=True)
        prctl, personality = system.prctl, system.personality
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        parent = os.getpid()

        def die_with_parent() -> None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            personality(
                _ADDR_NO_RANDOMIZE
            )  # where it is forbidden, libraries that need it report it
            if os.getppid() != parent:  # this process died before the kernel watched it
                os._exit(1)

        started = subprocess.Popen(  # noqa: S603 - the user's own command
            command,
            env=dict(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=(reports,),
            preexec_fn=die_with_parent,
        )
        self._mpiexec = started
        self._guard = Guard(self._mark, self._space)
        # A thread waits for mpiexec; otherwise it would become a zombie, which the simulator would
        # take for alive.
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
        """The process number for mpiexec."""
        assert self._mpiexec is not None  # noqa: S101 - it was started
        return self._mpiexec.pid

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit code from mpiexec, or minus the signal that killed it; `None` if mpiexec has not
        ended in time.
        """
        assert self._mpiexec is not None  # noqa: S101 - it was started
        return self._mpiexec.returncode if self._ended.wait(seconds) else None

    def end(self, pids: Iterable[int | None] = ()) -> list[int]:
        """Kill all remaining processes, and wait for their ends; returns those that have not ended
        after a while.

        The files of ranks with the process numbers ``pids`` are removed.
        """
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
            self._guard.end(frozenset(pid for pid in pids if pid is not None))
        return []

    def living(self) -> list[int]:
        """The run's processes, found by descent and by their environment."""
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
                if self._mark in bounded.load(entry / "environ", bounded.SYSTEM).split(b"\0"):
                    found.add(pid)
            except OSError:
                continue  # it is gone, or another user's
        if self.pid in parents:
            found.add(self.pid)
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return sorted(found)


def _reap(orphans: set[int]) -> None:
    """Reap processes that have become this process's children."""
    for pid in orphans:
        with suppress(OSError):
            os.waitpid(pid, os.WNOHANG)


def _state(entry: Path) -> tuple[str, int]:
    """A process's state, and its parent."""
    # The second field is a name in brackets, which may contain any character.
    fields = bounded.system(entry / "stat").rsplit(")", 1)[1].split()
    return fields[0], int(fields[1])
