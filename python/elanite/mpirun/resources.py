"""The needs of an MPICH's ranks, compared with the host before the first rank starts.

A rank that finds no room later ends amid ``MPI_Init``, or the kernel ends some process. Each rank
is a process with two descriptors in the process manager and one in the simulator. MPICH makes a
file of about a megabyte for it in ``/dev/shm``. Its memory grows with the rank count: MPICH keeps a
page for each other rank's address. The amounts were measured with MPICH 5.0.2 and empty programs
with 256 and 1,024 ranks; the program's own memory comes on top.
"""

from __future__ import annotations

import resource
import shutil
from dataclasses import dataclass
from pathlib import Path

from elanite.base import host
from elanite.base.text import counted
from elanite.errors import UsageError

RANK_MEMORY = 3_200_000
"""Bytes per rank with its file, its stack and its page table."""
PEER_MEMORY = 4_200
"""Bytes per rank for each rank in the run."""
RANK_FILE = 1_061_440
"""Bytes in a rank's file in ``/dev/shm``."""
RANK_DESCRIPTORS = 2
OWN_DESCRIPTORS = 64
"""Descriptors in the process manager and the simulator, beside those for ranks."""

_SHARED = Path("/dev/shm")  # noqa: S108 - where shm_open makes its files


@dataclass(frozen=True)
class Host:
    """A host's free resources. `None` is no limit, or an unknown one."""

    memory: int | None
    """Free memory in bytes."""
    shared: int | None
    """Free bytes in ``/dev/shm``."""
    descriptors: int | None
    """Open files per process, if it raises its own limit."""
    processes: int | None
    """Processes and threads of this user or its control group."""

    @classmethod
    def here(cls) -> Host:
        """The current process's host."""
        memory = host.memory()
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        return cls(
            memory=memory.left if memory else None,
            shared=shutil.disk_usage(_SHARED).free if _SHARED.is_dir() else None,
            descriptors=None if files == resource.RLIM_INFINITY else files,
            processes=host.processes(),
        )


def memory(ranks: int) -> int:
    """Bytes that the MPI of so many ranks takes, those in ``/dev/shm`` too."""
    return ranks * (RANK_MEMORY + PEER_MEMORY * ranks)


def check(ranks: int, here: Host) -> None:
    """Raises ``UsageError`` if the host has no room for the ranks; the message names the limit and
    a remedy.
    """
    lacking = [
        _lacks(
            "memory",
            memory(ranks),
            here.memory,
            "start fewer ranks, or use a host with more memory",
            host.MEGABYTE,
        ),
        _lacks(
            f"room in {_SHARED}",
            ranks * RANK_FILE,
            here.shared,
            f"enlarge it: mount -o remount,size=SIZE {_SHARED}, or in a container --shm-size SIZE",
            host.MEGABYTE,
        ),
        _lacks(
            "open files of a process",
            ranks * RANK_DESCRIPTORS + OWN_DESCRIPTORS,
            here.descriptors,
            "raise the hard limit (ulimit -Hn)",
        ),
        _lacks(
            "processes",
            ranks + 1,
            here.processes,
            "raise the limit (ulimit -u, or pids.max of the control group)",
        ),
    ]
    if found := [one for one in lacking if one]:
        raise UsageError(
            f"this host has no room for {counted(ranks, 'rank', 'ranks')}:\n  " + "\n  ".join(found)
        )


def _lacks(what: str, needed: int, left: int | None, remedy: str, unit: int = 1) -> str:
    if left is None or needed <= left:
        return ""
    name = " MB" if unit > 1 else ""
    return f"{what}: {-(-needed // unit):,}{name} needed, {left // unit:,}{name} left; {remedy}"
