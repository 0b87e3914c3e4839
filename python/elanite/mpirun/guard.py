"""The guard: a process that outlives this one, and removes a run's remains if this process is
killed.

MPICH makes a file for each rank in ``/dev/shm``, and removes the file in ``MPI_Finalize``; a killed
rank's file stays. These files are named ``mpich_shm_H_N``. N is the number of the rank's node. H is
a hash of the process manager's name for the run's key-value space (``posix_init.c`` and
``mpir_pmi.c`` in MPICH 5). So the names of a run's files are known before the files exist and after
all processes have ended. A rank that finds no process manager initialises MPI alone, and H is its
process number.

A simulator that ends in order notifies the guard, and removes the files itself. If the simulator is
killed, the guard finds its input's end, kills the run's remaining processes, and removes the files.
The guard starts as a script, without the package and its imports.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

SHARED = Path("/dev/shm")  # noqa: S108 - where shm_open makes its files
NAME = re.compile(r"mpich_(?:shm|vci)_([0-9a-f]+)_\d+")

TIMES = 64
"""How often, by sessions, a program may initialise MPI such that the guard still removes its
files.
"""

PATIENCE = 8.0
"""Seconds in which all of a run's processes must have ended."""

_DONE = b"done"


def worlds(space: str) -> frozenset[str]:
    """The values of H in the file names of the run whose key-value space has this name."""
    hashed = _fnv(space)
    # Later versions count how often a process has initialised MPI.
    return frozenset(
        {f"{hashed:x}"} | {f"{_fnv(f'-{times}', hashed):x}" for times in range(1, TIMES)}
    )


def _fnv(name: str, hashed: int = 2166136261) -> int:
    """FNV-1a with 32 bits, for a name that continues a name with this hash."""
    for byte in name.encode():
        hashed = (hashed ^ byte) * 16777619 & 0xFFFFFFFF
    return hashed


def sweep(chosen: frozenset[str]) -> None:
    """Remove a run's files."""
    for path in SHARED.iterdir() if SHARED.is_dir() else ():
        matched = NAME.fullmatch(path.name)
        if matched and matched[1] in chosen:
            with contextlib.suppress(OSError):
                path.unlink()


class Guard:
    """A run's guard, on the simulator's side."""

    def __init__(self, mark: bytes, space: str) -> None:
        """Guard the run with this variable in its environment, and with this name for its key-value
        space.
        """
        self._worlds = worlds(space)
        words = [sys.executable, "-I", "-S", __file__, mark.decode(), *sorted(self._worlds)]
        nothing = subprocess.DEVNULL
        self._process = subprocess.Popen(  # noqa: S603 - this file
            words,
            stdin=subprocess.PIPE,
            stdout=nothing,
            stderr=nothing,
            cwd="/",
            start_new_session=True,
        )

    def end(self, pids: frozenset[int] = frozenset()) -> None:
        """All processes in the run, with ranks of these numbers, have ended: remove the files, and
        end the guard.
        """
        sweep(self._worlds | {f"{pid:x}" for pid in pids})
        with contextlib.suppress(OSError):
            self._process.communicate(_DONE)


def living(mark: bytes) -> list[int]:
    """Processes with this variable in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def main(mark: bytes, chosen: frozenset[str]) -> None:
    """Wait for the simulator's end; after a bad end, kill the run's processes and remove their
    files.
    """
    if sys.stdin.buffer.read() == _DONE:
        return
    end = time.monotonic() + PATIENCE
    while (left := living(mark)) and time.monotonic() < end:
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    sweep(chosen)


if __name__ == "__main__":
    main(sys.argv[1].encode(), frozenset(sys.argv[2:]))
