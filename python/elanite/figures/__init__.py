"""Figures: Vega-Lite charts of an experiment, drawn from its finished points alone.

``draw`` finds the drawing functions of an experiment by its name; an experiment without any gets a plain figure per
series and metric. A figure carries the number that it has in the paper, and what is published is drawn as dashed rules.
``matrices`` draws the congestion matrices of whatever points have slices of time, and ``drawn`` everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite import frames
from elanite.figures import (
    ablations,
    collectives,
    combined,
    comparison,
    congestion,
    deadlock,
    generic,
    hotspot,
    io,
    multirail,
    multirail_beyond,
    multirail_livelock,
    multirail_static,
    noise,
    permutations,
    ping,
    qsnet2,
    uniform,
)
from elanite.figures.congestion import matrices
from elanite.figures.style import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from elanite.plan import Point
    from elanite.store import Store, Table

__all__ = ["REGISTRY", "TABLES", "Figure", "draw", "drawn", "matrices"]

REGISTRY: dict[str, Callable[[pl.DataFrame], Iterator[Figure]]] = {
    "qsnet/ping": ping.draw,
    "qsnet/uniform": uniform.draw,
    "qsnet/congestion": congestion.draw,
    "qsnet/permutations": permutations.draw,
    "qsnet/hotspot": hotspot.draw,
    "qsnet/io": io.draw,
    "qsnet/combined": combined.draw,
    "qsnet/ablations": ablations.draw,
    "collectives/ping": ping.of_collectives,
    "collectives/barrier": collectives.barriers,
    "collectives/broadcast": collectives.broadcasts,
    "collectives/prediction": collectives.predictions,
    "collectives/deadlock": deadlock.draw,
    "comparison/generations": comparison.draw,
    "multirail/allocation": multirail_static.draw,
    "multirail/bandwidth": multirail.bandwidth,
    "multirail/nodes": multirail.nodes,
    "multirail/rails": multirail.rails,
    "multirail/saturation": multirail.saturation,
    "multirail/hybrid": multirail.hybrid,
    "multirail/livelock": multirail_livelock.draw,
    "multirail/beyond": multirail_beyond.draw,
    "multirail/beyond-es40": multirail_beyond.draw,
    "qsnet2/ping": qsnet2.pings,
    "qsnet2/overlap": qsnet2.overlaps,
    "qsnet2/noise": generic.only(),
    "qsnet2/noise-scaling": noise.scaling,
    "speed/uniform-64": generic.only("accepted", "latency_mean"),
}
"""Drawing functions by experiment: from the tidy rows to figures; they leave out what has no data."""

TABLES: dict[str, tuple[Table, Callable[[pl.DataFrame], Iterator[Figure]]]] = {
    "qsnet/hotspot": ("nodes", hotspot.of_nodes),
    "collectives/barrier": ("distribution", collectives.distributions),
    "collectives/deadlock": ("deadlock", deadlock.cycles),
    "multirail/allocation": ("allocation", multirail_static.matrices),
    "qsnet2/noise": ("distribution", noise.draw),
}
"""The same from another table of the store."""


def draw(experiment: str, rows: pl.DataFrame, kinds: Mapping[str, str] | None = None) -> list[Figure]:
    """The figures of an experiment from its tidy rows (see ``elanite.frames.tidy``); none without rows.

    ``kinds`` are those of its series, for an experiment without figures of its own.
    """
    if rows.is_empty():
        return []
    own = REGISTRY.get(experiment)
    return list(own(rows) if own else generic.draw(rows, kinds))


def drawn(experiment: str, points: Sequence[Point], store: Store) -> list[Figure]:
    """All figures of an experiment from its finished points."""
    found = draw(experiment, frames.tidy(points, store), {point.series: point.kind for point in points})
    if points and experiment in TABLES:
        table, draw_table = TABLES[experiment]
        found += draw_table(frames.tidy(points, store, table))
    return found + matrices(points, store)
