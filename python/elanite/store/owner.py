"""The writer of a folder or holder of a claim: a process on a host, such that others can check
whether it has died.

A process's death is proved only to processes that can see it: they run on the host with the same
name, under the same kernel since the same start, and in the same process number space (containers
may share a host's name and have their own numbers). A number may have been given to another process
since, so that a process's start counts, too. The state of other hosts' processes is unknown; their
leftovers expire.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from elanite.base import bounded

_TEXT = re.compile(
    r"(?P<pid>[1-9]\d{0,9})-(?P<start>\d{1,20})-(?P<kernel>[0-9a-f]{8})-(?P<host>[\w.]{1,64})", re.A
)


@dataclass(frozen=True)
class Owner:
    """A process."""

    host: str
    kernel: str
    """A hash over the context of process numbers: the kernel's start, and the process number
    space.
    """
    pid: int
    start: int
    """When the process began, in ticks since the kernel did; 0 if the system does not report it."""

    def __str__(self) -> str:
        """As in file names."""
        return f"{self.pid}-{self.start}-{self.kernel}-{self.host}"

    @property
    def known(self) -> str:
        """As in messages."""
        return f"process {self.pid} on {self.host}"

    def dead(self) -> bool:
        """Whether it is proved that the process has ended."""
        own = own_process()
        if (self.host, self.kernel) != (own.host, own.kernel):
            return False
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return True
        except PermissionError:
            pass  # it lives, and is another user's
        state, start = _about(self.pid)
        return state in "ZX" or start != self.start


def own_process() -> Owner:
    """The process that asks."""
    return _here(os.getpid())


def parse(text: str) -> Owner | None:
    """The owner with this text as its ``str``; `None` for any other text."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    return Owner(found["host"], found["kernel"], int(found["pid"]), int(found["start"]))


@lru_cache(maxsize=1)
def _here(pid: int) -> Owner:
    host = re.sub(r"[^\w.]", "_", socket.gethostname(), flags=re.A)[:64] or "_"
    kernel = hashlib.sha256(f"{_boot()} {_space()}".encode()).hexdigest()[:8]
    return Owner(host, kernel, pid, _about(pid)[1])


def _boot() -> str:
    try:
        return bounded.system("/proc/sys/kernel/random/boot_id")
    except OSError:
        return ""


def _space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _about(pid: int) -> tuple[str, int]:
    """A process's state, and when it began; ``-`` and 0 if the system does not report them."""
    try:
        if str(Path("/proc/self").readlink()) != str(os.getpid()):
            return "-", 0  # this /proc shows other process numbers than ours
        text = bounded.system(f"/proc/{pid}/stat")
        words = text.rpartition(")")[2].split()
        return words[0], int(words[19])
    except (OSError, ValueError, IndexError):
        return "-", 0
