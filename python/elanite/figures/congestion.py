"""Figure 15 of 000: the congestion matrices of whatever points have slices of time, and half of the top level."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite import congestion
from elanite.figures import matrix
from elanite.figures.style import PALETTE, Figure, layered
from elanite.frames import summarise
from elanite.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.plan import Point
    from elanite.store import Store

PAPER = {("qsnet/congestion", "complement"): "15a", ("qsnet/congestion", "bit-reversal"): "15b"}
"""Experiment and series of the matrices that the paper shows."""


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Accepted load with all and with half of the switches at the top; the matrices are drawn by ``matrices``."""
    rows = rows.filter((pl.col("series") == "top-level") & (pl.col("metric") == "accepted"))
    if rows.is_empty():
        return
    data = summarise(rows, ["machine"])
    base = alt.Chart(data).encode(x=alt.X("machine:N", sort=None, title="machine", axis=alt.Axis(labelAngle=0)))
    bars = base.mark_bar(size=70, color=PALETTE[0]).encode(
        y=alt.Y("mean:Q", title="accepted load, MB/s per node"),
        tooltip=["machine", alt.Tooltip("mean:Q", title="MB/s", format=".1f")],
    )
    spread = base.mark_errorbar().encode(y=alt.Y("low:Q", title="accepted load, MB/s per node"), y2="high:Q")
    title = "Complement traffic with half of the top level"
    caption = (
        "Accepted load of complement traffic at saturation, with its 95% confidence interval. The paper gathers from"
        " figure 15 a that the top level could be halved without a detrimental effect. With topology.up=[4,2] half of"
        " its switches are gone and half of the links to it; with topology.parallel=[1,2] half of its switches are"
        " gone, but those that are left use all eight links of an Elite, two to each switch below, and no link is lost."
    )
    yield Figure("top-level", title, "", caption, layered(title, [bars, spread]))


def matrices(points: Sequence[Point], store: Store) -> list[Figure]:
    """The congestion matrices of the points that have slices: one for each configuration, of its first seed.

    A ping has none, and no delays either.
    """
    chosen: dict[str, Point] = {}
    for point in points:
        if point.run["slices"] and not store.table(point.id, "slices").is_empty():
            chosen.setdefault(json.dumps([point.experiment, point.series, point.parameters]), point)
    figures = []
    for point in chosen.values():
        neighbours = [other.parameters for other in chosen.values() if other.series == point.series]
        varying = [
            key for key, value in point.parameters.items() if any(other.get(key) != value for other in neighbours)
        ]
        title = ", ".join([f"Congestion matrix: {point.series}", *(plain(point.parameters[key]) for key in varying)])
        figure = PAPER.get((point.experiment, point.series), "")
        figures.append(
            matrix.draw(
                congestion.matrix(point, store),
                figure or f"{point.series}-{point.id[:8]}",
                title,
                f"figure {figure[:-1]} {figure[-1]}" if figure else "",
                ", ".join(f"{key} {plain(value)}" for key, value in point.parameters.items()),
            )
        )
    return figures
