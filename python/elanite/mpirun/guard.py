"""What a run would leave behind when this process is killed: a process of its own that outlives it and clears away.

MPICH makes a file for each rank in ``/dev/shm``, and removes it in ``MPI_Finalize``: a rank that is killed leaves it.
Their names are ``mpich_shm_H_N`` with the number N of the rank's node, and H made of the name that mpiexec gives to the
run: its process number, the second in which it started, the name of this host (``posix_init.c``, ``mpir_pmi.c`` and
``pmiserv_utils.c`` of MPICH 5). So it can be said which ones a run has, before they are there and after everybody is
gone.

A simulator that ends in order tells the guard, and removes the files itself. Where it was killed, the guard finds the
end of its input, kills what is left of the run, and removes them. It is started as a script, without the package and
its imports.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

SHARED = Path("/dev/shm")  # noqa: S108 - where shm_open makes its files
NAME = re.compile(r"mpich_(?:shm|vci)_([0-9a-f]+)_\d+")

SECONDS = 30
"""In which mpiexec has given the run its name, from its start on."""

TIMES = 64
"""How often, by sessions, a program may initialise MPI with nothing left behind if it is killed then."""

PATIENCE = 8.0
"""Seconds in which all of a run must be gone."""

_DONE = b"done"


def worlds(pid: int, started: int) -> frozenset[str]:
    """What stands for H in names of files, if an mpiexec with this number was started in this second or soon after."""
    libc = ctypes.CDLL(None)
    host, found = socket.gethostname(), set()
    for second in range(started, started + SECONDS):
        libc.srand(ctypes.c_uint(second))
        hashed = _fnv(f"kvs_{pid}_0_{libc.rand()}_{host}")
        # Later versions count how often a process has initialised MPI.
        found |= {f"{hashed:x}"} | {f"{_fnv(f'-{times}', hashed):x}" for times in range(1, TIMES)}
    return frozenset(found)


def _fnv(name: str, hashed: int = 2166136261) -> int:
    """FNV-1a of 32 bits, of a name that goes on from one with this hash."""
    for byte in name.encode():
        hashed = (hashed ^ byte) * 16777619 & 0xFFFFFFFF
    return hashed


def sweep(chosen: frozenset[str]) -> None:
    """Remove the files of a run."""
    for path in SHARED.iterdir() if SHARED.is_dir() else ():
        matched = NAME.fullmatch(path.name)
        if matched and matched[1] in chosen:
            with contextlib.suppress(OSError):
                path.unlink()


class Guard:
    """The guard of a run, as the simulator sees it."""

    def __init__(self, mark: bytes, pid: int, started: int) -> None:
        """Of the run with this variable in its environment, whose mpiexec was started in this second."""
        self._worlds = worlds(pid, started)
        words = [sys.executable, "-I", "-S", __file__, mark.decode(), *sorted(self._worlds)]
        nothing = subprocess.DEVNULL
        self._process = subprocess.Popen(  # noqa: S603 - this file
            words, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, cwd="/", start_new_session=True
        )

    def end(self) -> None:
        """Nobody of the run is left: clear away, and let the guard go."""
        sweep(self._worlds)
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
    """Wait for the end of the simulator; after a bad one, kill and clear away."""
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
