"""Point memory: estimated before the first one is simulated, and compared with the host's memory.

A point's memory is mainly its network's: a share for each node (adapter, host, counters), and one
for each link (buffers, channels, the results' rows). The two figures were fitted to the resident
memory under uniform traffic at 60 MB/s, 20 us long, on quaternary trees, tori and dragonflies with
64 to 65,536 nodes and the es40-qsnet's adapters:

| network | nodes | links of a node | measured, MB | estimate, MB |
|---|---|---|---|---|
| tree of 4 x 4 switches | 64 | 6 | 75 | 86 |
| | 1,024 | 10 | 108 | 98 |
| | 4,096 | 12 | 157 | 144 |
| | 65,536 | 16 | 1,218 | 1,173 |
| torus | 64 | 8 | 77 | 86 |
| | 1,024 | 8 | 107 | 97 |
| | 4,096 | 8 | 137 | 134 |
| | 65,536 | 10 | 809 | 937 |
| dragonfly | 72 | 4.5 | 77 | 86 |
| | 1,056 | 4.8 | 99 | 95 |
| | 5,256 | 4.8 | 147 | 137 |
| | 66,048 | 2.7 | 612 | 655 |

Both cover the whole process, with the interpreter and its libraries; ``tests/test_memory.py``
measures again. Queues that grow, where more is offered than a network carries, come on top:
``run.max_memory`` bounds them.

With several threads, each thread's region has its own links' records, and some pages of the others'
(``REGION``).

``fitted`` takes the points that fit into the room at a time. A point that needs more than the whole
room fails alone, with the limit and a remedy, and the others are simulated.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import host
from elanite.base.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.base.host import Room
    from elanite.inputs.plan import Point

PROCESS = 85_000_000
"""A command's bytes without points."""
NODE = 7_000
"""Bytes per node with its adapter."""
LINK = 600
"""Bytes per link and direction."""
REGION = 15
"""Bytes per link and direction for each region after the first: 15 on 4,096 nodes, 6 on 65,536."""
OVERHEAD = 1.5
"""A process's resident memory for each byte that a simulation allocates: 5.77 GB were measured for
4 GB.
"""


@dataclass(frozen=True)
class Share:
    """One point's part of the room."""

    bytes: int
    """Most bytes that the point's simulation may allocate: queues grow where more is offered than
    is carried.
    """
    words: str
    """The limit and a remedy, for a point that would need more."""
    room: int
    """The part of the room, in bytes."""

    @classmethod
    def of(cls, room: Room, jobs: int) -> Share:
        """The share for one of ``jobs`` points."""
        more = f"--jobs 1 gives a point all of it; {room.remedy}" if jobs > 1 else room.remedy
        each = int(room.left / jobs / OVERHEAD)
        words = (
            f"{_mb(room.left)} are left for {counted(jobs, 'point')} at a time: {room.limit};"
            f" {more}"
        )
        return cls(each, words, room.left // jobs)


@dataclass(frozen=True)
class MemoryFit:
    """How many points fit, and which do not fit at all."""

    jobs: int
    """How many points find room at the same time."""
    refused: dict[str, str]
    """Why a point cannot be simulated here, by its identity."""
    share: Share | None
    """The memory that each point may take; `None` if it is unknown."""
    line: str
    """The reason why fewer points than requested are simulated at a time; empty otherwise."""


def of_point(point: Point) -> int:
    """The bytes that a point needs beside the process's."""
    return of_machine(point.json)


def of_machine(point_json: str) -> int:
    """The bytes that the machine of a point needs beside the process's."""
    machine = json.loads(point_json)["machine"]
    rails = machine.get("rails", {}).get("count", {}).get("value", 1)
    return int(
        NODE * machine["topology"]["nodes"]["value"] * rails + LINK * _core.links(point_json)
    )


def on_threads(point: Point, threads: int) -> int:
    """The bytes that a point with several threads needs beside the process's."""
    return of_point(point) + REGION * _core.links(point.json) * (threads - 1)


def fitted(
    points: Sequence[Point], jobs: int, room: Room | None = None, *, threads: int = 1
) -> MemoryFit:
    """The count of points that may run at the same time, at most ``jobs``, by default in this
    process's room.

    Each has several ``threads``, if its network may have several regions.
    """
    room = room or _room()
    if room is None:
        return MemoryFit(jobs, {}, None, "")
    several = [point for point in points if threads > 1 and _core.undivided(point.json) is None]
    needs = {point.id: of_point(point) for point in points}
    needs |= {point.id: on_threads(point, threads) for point in several}
    refused = {
        identity: (
            f"it needs about {_mb(need)} of memory, and {_mb(room.left)} are left: {room.limit};"
            f" {room.remedy}"
        )
        for identity, need in needs.items()
        if need > room.left
    }
    largest = sorted(
        (need for identity, need in needs.items() if identity not in refused), reverse=True
    )
    asked = min(jobs, len(largest))
    fit = asked
    while fit > 1 and sum(largest[:fit]) > room.left:
        fit -= 1
    if fit == asked:
        return MemoryFit(jobs, refused, Share.of(room, max(asked, 1)), "")
    needed = (
        f"{asked} need about {_mb(sum(largest[:asked]))} of memory, and {_mb(room.left)} are left"
    )
    line = (
        f"simulating {counted(fit, 'point')} at a time instead of {jobs}: {needed} ({room.limit})"
    )
    return MemoryFit(fit, refused, Share.of(room, fit), line)


def _room() -> Room | None:
    """The closest limit for the memory that this process may still take."""
    rooms = [room for room in (host.memory(), host.process_left()) if room is not None]
    return min(rooms, key=lambda room: room.left, default=None)


def _mb(amount: int) -> str:
    return f"{amount // host.MEGABYTE:,} MB"
