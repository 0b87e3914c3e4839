"""Figures: Vega-Lite charts of an experiment, drawn from its finished points alone.

``draw`` finds the drawing functions of an experiment by its name; an experiment without any gets a plain figure per
series and metric. A figure carries the number that it has in the paper, and what is published is drawn as dashed rules.
``matrices`` draws the congestion matrices of whatever points have slices of time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.figures import congestion, generic, ping, uniform
from elanite.figures.congestion import matrices
from elanite.figures.style import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

__all__ = ["REGISTRY", "Figure", "draw", "matrices"]

REGISTRY: dict[str, Callable[[pl.DataFrame], Iterator[Figure]]] = {
    "qsnet/ping": ping.draw,
    "qsnet/uniform": uniform.draw,
    "qsnet/congestion": congestion.draw,
    "speed/uniform-64": generic.only("accepted", "latency_mean"),
}
"""Drawing functions by experiment: from the tidy rows to figures; they leave out what has no data."""


def draw(experiment: str, rows: pl.DataFrame) -> list[Figure]:
    """The figures of an experiment from its tidy rows (see ``elanite.frames.tidy``); none without rows."""
    if rows.is_empty():
        return []
    return list(REGISTRY.get(experiment, generic.draw)(rows))
