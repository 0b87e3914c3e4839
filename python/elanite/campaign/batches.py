"""Batches: points that a worker simulates one after the other, about half a minute's work.

A batch costs an engine some milliseconds, regardless of its content, and is a dead worker's
greatest loss (finished points stay in the store). So batches are neither short nor long. Long
points come first, so that no worker begins a long one when the others have finished. A campaign
with little work has smaller batches, so that every worker gets some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.inputs.plan import Point

SECONDS = 30.0
"""Estimated processor seconds per batch; a longer point is a batch by itself."""

MOST = 200
"""Most points per batch; a point is about 10 KB of text."""

_EACH = 4
"""Batches that every worker gets at least, if there are enough points."""


def batches(points: Sequence[Point], cost: Mapping[str, float], workers: int) -> list[list[Point]]:
    """Every point in one batch, by their processor seconds; the same batches for the same points,
    costs and workers.
    """
    ordered = sorted(points, key=lambda point: (-cost[point.id], point.id))
    enough = min(SECONDS, sum(cost[point.id] for point in points) / (_EACH * workers))
    most = min(MOST, -(-len(points) // (_EACH * workers)))
    found: list[list[Point]] = []
    filled = 0.0
    for point in ordered:
        if not found or len(found[-1]) >= most or filled + cost[point.id] > enough:
            found.append([])
            filled = 0.0
        found[-1].append(point)
        filled += cost[point.id]
    return found
