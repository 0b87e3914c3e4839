"""Threads inside a point: several work on one large network, each on a region of it.

No result depends on their number (``crates/fabric/src/regions.rs``), so that it is no part of a
point's identity. Points side by side use the processors better: a point's threads meet in every
simulated cycle with an event. So without ``--threads`` a point gets several only if all of these
hold when it begins:

* the points that have not ended leave each of them ``LEAST`` processors. Processors that other
  programs use when the campaign begins, by the host's load, do not count: threads that wait for a
  busy processor take many times as long;
* the network has ``NODES`` nodes for each thread, over all rails;
* the memory suffices.

``NODES`` comes from the measured gains of 16 threads (``docs/speed-engine.md``): 1.8 times on 1,024
nodes, 4.5 times on 16,384. Networks with faults have one region, and their points one thread.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.text import counted
from elanite.campaign import memory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elanite.campaign.memory import Share
    from elanite.inputs.plan import Point

MOST = 256
"""Most threads on a network."""

LEAST = 4
"""Fewest threads without ``--threads``."""

NODES = 1024
"""Nodes for each thread without ``--threads``."""


@dataclass(frozen=True)
class Threads:
    """How many threads work on a point."""

    asked: int | None
    """The number for every point; `None`: the rule in the module essay."""
    free: int
    """Processors that other programs left free when the campaign began."""
    share: Share | None = None
    """Each point's memory."""

    def of(self, point: Point, unfinished: int) -> int:
        """The threads for a point that begins while ``unfinished`` points, with this one, last."""
        if self.asked is not None:
            return self.asked if self.asked > 1 and _core.undivided(point.json) is None else 1
        most = min(self.free // max(unfinished, 1), MOST)
        if most < LEAST:
            return 1
        most = min(most, _nodes(point) // NODES)
        if most < LEAST or _core.undivided(point.json) is not None:
            return 1
        room = self.share.room if self.share else None
        while most > 1 and room is not None and memory.on_threads(point, most) > room:
            most -= 1
        return most

    def note(self, points: Iterable[Point]) -> str:
        """Why some points have one thread, although several were requested; else empty."""
        if self.asked is None or self.asked == 1:
            return ""
        found = (_core.undivided(point.json) for point in points)
        why = Counter(reason for reason in found if reason is not None)
        if not why:
            return ""
        reasons = "; ".join(f"{reason} ({count})" for reason, count in why.items())
        many = counted(why.total(), "point")
        return f"--threads {self.asked}: {many} on one thread: {reasons}"


def idle(processors: int) -> int:
    """The processors that other programs leave free: the load of the last minute is theirs."""
    try:
        return max(processors - round(os.getloadavg()[0]), 1)
    except OSError:  # the system has no such figure
        return processors


def _nodes(point: Point) -> int:
    machine = json.loads(point.json)["machine"]
    rails = machine.get("rails", {}).get("count", {}).get("value", 1)
    return int(machine["topology"]["nodes"]["value"] * rails)
