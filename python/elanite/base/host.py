"""The host's limits: memory, processes and open files, the rooms that they leave, and their errors.

Limits are compared with a command's needs before it starts, since a library that finds no memory or
no thread aborts the process. Any library's exception that still comes from a limit is recognised by
the system's words (``reason``), and becomes an error with the limit and a remedy.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.errors import ElaniteError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

MEGABYTE = 1_000_000
LEAST_MEMORY = 120 * MEGABYTE
DRAWING_MEMORY = 250 * MEGABYTE
"""Free memory in bytes for a command, and for one that draws pictures. Under control groups with
100 MB, the kernel killed ``elanite run``, and with 150 MB a command that drew."""
LEAST_FILES = 64
"""A command's open files."""
LEAST_STACK = 512 * 1024
"""A command's stack in bytes. With 120 KiB, a replay ended by a segmentation fault, and with 130
KiB a command that drew; threads of the C library have stacks of this size, too.
"""
_MOST_THREADS = 4096
LEAST_TIME = 2
"""A command's seconds of processor time."""
LEAST_PROCESSES = 32
THREADS = 4
"""A command's processes and threads, also for each processor: libraries have pools in proportion.
On two processors, 12 were measured for ``elanite run`` and 16 with pictures.
"""

_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")
_MEMORY = Path("/proc/meminfo")
_UNLIMITED = 1 << 60
"""Control groups version 1 writes about 2^63 for no limit."""

_FILES = "raise the limit: ulimit -n 1024"
_STACK = "raise the limit: ulimit -s 8192"
_PROCESSES = "raise the limit (ulimit -u, or pids.max of the control group)"


@dataclass(frozen=True)
class Room:
    """A resource's free part, its limit, and a remedy."""

    left: int
    limit: str
    remedy: str


def memory() -> Room | None:
    """The memory that this process and its children may still take, by the closest limit; `None` if
    unknown.
    """
    rooms = []
    if (free := available()) is not None:
        rooms.append(Room(free, "the memory of this host", "use a host with more memory"))
    if (group := group_left("memory.max", "memory.current", "memory.stat")) is not None:
        rooms.append(
            Room(group, "the memory limit of the control group", "raise it (memory.max, --memory)")
        )
    return min(rooms, key=lambda room: room.left, default=None)


@dataclass(frozen=True)
class HostLimit:
    """A limit on a process's memory, and a command's needs in bytes."""

    number: int
    """The limit's number in ``resource``."""
    name: str
    remedy: str
    column: int
    """The column of ``/proc/self/statm`` with the pages that count."""
    least: int
    thread: int
    """The need for each processor, since threads reserve more than they use."""
    work: int
    """The need of libraries and threads after a campaign has begun."""
    drawing: int
    """The need with pictures."""

    @property
    def limit(self) -> int | None:
        """The limit in bytes; `None` without one."""
        limit = resource.getrlimit(self.number)[0]
        return None if limit == resource.RLIM_INFINITY else limit

    def used(self) -> int:
        """The bytes of this process that count."""
        return int(bounded.system("/proc/self/statm").split()[self.column]) * resource.getpagesize()

    def need(self) -> int:
        """A command's bytes on this host."""
        return self.least + self.thread * (os.cpu_count() or 1)


BOUNDS = (
    # 1,146 MB were measured for `elanite run` on two processors; V8, the engine for JavaScript,
    # reserves 69,500 MB.
    HostLimit(
        number=resource.RLIMIT_AS,
        name="the address space of a process",
        remedy="raise the limit: ulimit -v unlimited",
        column=0,
        least=1_000 * MEGABYTE,
        thread=200 * MEGABYTE,
        work=500 * MEGABYTE,
        drawing=72_000 * MEGABYTE,
    ),
    # 305 MB were measured for `elanite run`, 530 MB for a calibration, 900 MB with pictures.
    HostLimit(
        number=resource.RLIMIT_DATA,
        name="the data of a process",
        remedy="raise the limit: ulimit -d unlimited",
        column=5,
        least=400 * MEGABYTE,
        thread=100 * MEGABYTE,
        work=200 * MEGABYTE,
        drawing=1_500 * MEGABYTE,
    ),
)


def process_left() -> Room | None:
    """The memory that this process may still take, by its own limits; `None` without any."""
    rooms = [
        Room(max(limit - each.used() - each.work, 0), each.name, each.remedy)
        for each in BOUNDS
        if (limit := each.limit) is not None
    ]
    return min(rooms, key=lambda room: room.left, default=None)


def require() -> None:
    """Raise ``UsageError`` if a process's limits are too low for any command."""
    limited = False
    for each in BOUNDS:
        limited = limited or each.limit is not None
        _require(each, each.need())
    if limited:
        # The allocator reserves 1 GiB at a time, unless it is configured before it is loaded.
        os.environ.setdefault("MIMALLOC_ARENA_RESERVE", "64MiB")
    _require_memory(LEAST_MEMORY)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files != resource.RLIM_INFINITY and files < LEAST_FILES:
        raise UsageError(
            f"a process may open {files} files, and a command needs {LEAST_FILES}; {_FILES}"
        )
    stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
    if stack != resource.RLIM_INFINITY and stack < LEAST_STACK:
        raise UsageError(
            f"the stack of a process is limited to {stack // 1024} KiB, and a command needs"
            f" {LEAST_STACK // 1024}; {_STACK}"
        )
    _require_processor_time()
    _require_surroundings()
    os.umask(mask := os.umask(0o077))
    if mask & 0o700 and os.geteuid() != 0:
        raise UsageError(
            f"the umask {mask:03o} takes your own rights from new files and folders; choose"
            " another one: umask 022"
        )
    left = processes()
    needed = LEAST_PROCESSES + THREADS * (os.cpu_count() or 1)
    if left is not None and left < needed:
        raise UsageError(
            f"{max(left, 0)} processes and threads are left for this user, and a command needs"
            f" {needed}; {_PROCESSES}"
        )


def _require_surroundings() -> None:
    """Raise ``UsageError`` for variables with which libraries give up."""
    if sys.flags.optimize > 1:
        raise UsageError(
            "Python runs without the texts in programs (-OO), which libraries need; unset"
            " PYTHONOPTIMIZE"
        )
    for name in ("POLARS_MAX_THREADS", "RAYON_NUM_THREADS"):
        value = os.environ.get(name, "1")
        if not (value.isdecimal() and 0 < int(value) < _MOST_THREADS):
            raise UsageError(f"{name}={value}: a number of threads from 1 on is meant; unset it")


def _require_processor_time() -> None:
    """End this process with an error before the kernel kills it.

    The kernel kills at the hard limit, and sends a signal at the soft one: this process sets the
    soft one below.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    limit = min((one for one in (soft, hard) if one != resource.RLIM_INFINITY), default=None)
    if limit is None:
        return
    used = int(time.process_time())
    if limit - used < LEAST_TIME:
        raise UsageError(_out_of_time(limit, f"a command needs {LEAST_TIME} s"))

    def expired(*_: object) -> None:
        raise ElaniteError(_out_of_time(limit, "this command has used them"))

    signal.signal(signal.SIGXCPU, expired)
    spare = min(processors() + 1, (limit - used) // 2)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (limit - spare, hard))


def _out_of_time(limit: int, why: str) -> str:
    return (
        f"the processor time of a process is limited to {limit:,} s, and {why}; raise the limit:"
        " ulimit -t unlimited"
    )


def require_drawing(option: str) -> None:
    """Raise ``UsageError`` if memory has a limit too low for pictures; ``option`` requests one."""
    for each in BOUNDS:
        _require(each, each.drawing, f"{option}: ")
    _require_memory(DRAWING_MEMORY, f"{option}: ")


def _require(bound: HostLimit, needed: int, before: str = "") -> None:
    if (limit := bound.limit) is not None and limit < needed:
        have, need = limit // MEGABYTE, needed // MEGABYTE
        raise UsageError(
            f"{before}{bound.name} is limited to {have:,} MB, and {need:,} MB are needed;"
            f" {bound.remedy}"
        )


def _require_memory(needed: int, before: str = "") -> None:
    room = memory()
    if room is not None and room.left < needed:
        left, need = room.left // MEGABYTE, needed // MEGABYTE
        raise UsageError(
            f"{before}{room.limit} leaves {left:,} MB, and {need:,} MB are needed; {room.remedy}"
        )


def reason(raised: BaseException) -> str | None:
    """The limit behind an exception, and a remedy; `None` if it has another cause."""
    seen: BaseException | None = raised
    while seen is not None:
        if (found := _reason(seen)) is not None:
            return found
        seen = seen.__cause__ or seen.__context__
    return None


def _reason(raised: BaseException) -> str | None:
    number, text = getattr(raised, "errno", None), str(raised)
    if (
        isinstance(raised, MemoryError)
        or number == errno.ENOMEM
        or any(words in text for words in ("failed to map segment", "Cannot allocate memory"))
    ):
        room = _closest()
        where = f": {room.limit}, {room.left // MEGABYTE:,} MB" if room else ""
        return (
            f"memory has run out{where}; {room.remedy if room else 'use a host with more memory'}"
        )
    if number in (errno.EMFILE, errno.ENFILE) or "Too many open files" in text:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return f"too many files are open: a process may have {limit:,}; {_FILES}"
    if (
        number == errno.EAGAIN
        or "can't start new thread" in text
        or "Resource temporarily unavailable" in text
    ):
        return (
            f"no process or thread can be started: the limit of this user is reached; {_PROCESSES}"
        )
    if number == errno.EFBIG or "File too large (os error" in text:
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        where = f"{raised.filename}: " if isinstance(raised, OSError) and raised.filename else ""
        return f"{where}a file may have {limit:,} bytes; raise the limit: ulimit -f unlimited"
    return None


def _closest() -> Room | None:
    """The nearest limit on memory, with its amount; `None` if even this finds no memory."""
    try:
        limits = [
            (limit - each.used(), Room(limit, each.name, each.remedy))
            for each in BOUNDS
            if (limit := each.limit)
        ]
        return min(limits, key=lambda found: found[0])[1] if limits else memory()
    except (MemoryError, OSError):
        return None


def failure(raised: BaseException) -> ElaniteError | None:
    """``reason`` as an error."""
    words = reason(raised)
    return None if words is None else ElaniteError(words)


def available() -> int | None:
    """The memory that programs may take without swapping, by the kernel's estimate, in bytes."""
    try:
        lines = bounded.system(_MEMORY).splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


_FIRST_VERSION = {
    "memory.max": ("memory", "memory.limit_in_bytes"),
    "memory.current": ("memory", "memory.usage_in_bytes"),
    "pids.max": ("pids", "pids.max"),
    "pids.current": ("pids", "pids.current"),
}
"""The controllers and files in control groups version 1, by their version 2 names."""


def _own_groups(controller: str) -> Iterator[tuple[Path, int]]:
    """The folders of this process's control group and of those around it, with their version, 1 or
    2.
    """
    try:
        lines = bounded.system(_OWN_GROUP).splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, own = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = _GROUPS / controller if controllers else _GROUPS
        folder = root / own.lstrip("/")
        while folder.is_relative_to(root):
            yield folder, 1 if controllers else 2
            folder = folder.parent


def group_left(most: str, now: str, details: str = "") -> int | None:
    """The rest of a limit in this process's control group and those around it, for both versions.

    ``details`` is a memory group's file with its parts: cached files count as used, and the kernel
    drops them where a process needs memory.
    """
    left = []
    for folder, version in _own_groups(_FIRST_VERSION[most][0]):
        limit, used = (
            (_FIRST_VERSION[most][1], _FIRST_VERSION[now][1]) if version == 1 else (most, now)
        )
        try:
            text = bounded.system(folder / limit).strip()
            if text != "max" and int(text) < _UNLIMITED:
                spare = _cached(bounded.system(folder / details)) if details else 0
                left.append(int(text) - int(bounded.system(folder / used)) + spare)
        except (OSError, ValueError):
            pass  # the root group has no limits
    return min(left, default=None)


def _cached(details: str) -> int:
    """The bytes of files in a memory group, in the names of the first version if there are such."""
    parts = dict(line.split() for line in details.splitlines())
    files = ("inactive_file", "active_file")
    return sum(int(parts.get(f"total_{name}", parts.get(name, 0))) for name in files)


def processors() -> int:
    """The processors that this process may use: those of its affinity, at most the quota of its
    control groups.

    A container with ``--cpus 2`` sees all processors of its host, and has the time of two. At least
    1.
    """
    count = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    for folder, version in _own_groups("cpu"):
        try:
            if version == 1:
                quota, period = (
                    bounded.system(folder / f"cpu.cfs_{name}_us").strip()
                    for name in ("quota", "period")
                )
            else:
                quota, period = bounded.system(folder / "cpu.max").split()
            if quota not in ("max", "-1"):
                count = min(count, int(quota) // int(period))
        except (OSError, ValueError):
            pass  # the root group has no quota
    return max(count, 1)


def processes() -> int | None:
    """The count of further processes and threads; a user's limit does not hold for the
    superuser.
    """
    found = [left] if (left := group_left("pids.max", "pids.current")) is not None else []
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    user = os.getuid()
    if limit != resource.RLIM_INFINITY and user != 0:
        found.append(limit - _threads(user))
    return min(found, default=None)


def _threads(user: int) -> int:
    """A user's processes and threads."""
    count = 0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid == user:
                count += sum(1 for _ in (entry / "task").iterdir())
        except OSError:
            continue  # it has ended
    return count
