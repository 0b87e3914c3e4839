"""Curves that several figures share: accepted over offered load, and a bandwidth over whatever varies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.style import RULE, colour, shape
from elanite.frames import summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

Layers = list["alt.Chart | alt.LayerChart"]

SATURATED = (
    "Bands are 95% confidence intervals over batches and seeds. Triangles are saturated points: more is offered than is"
    " accepted, and the sources' queues grow. Dotted: accepted = offered."
)
"""What a caption says about ``loads``."""


def of_loads(
    rows: pl.DataFrame, keys: Sequence[str], accepted: str = "accepted", offered: str = "offered"
) -> pl.DataFrame:
    """What ``loads`` draws, a line for each group: the accepted load with its interval, what was offered, the state."""
    means = summarise(rows.filter(pl.col("metric") == accepted), keys)
    for metric, name in ((offered, "offered"), ("saturated", "saturated")):
        here = rows.filter(pl.col("metric") == metric).group_by(keys).agg(pl.col("value").mean().alias(name))
        means = means.join(here, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return means.with_columns(
        state=pl.when(pl.col("saturated") > 0.5).then(pl.lit("saturated")).otherwise(pl.lit("steady"))
    )


def loads(data: pl.DataFrame, curve: str, legend: str, x: str, per: str) -> Layers:
    """Accepted over offered load (the column ``x``), in MB/s ``per`` something, a curve for each value of a column."""
    order = data[curve].unique(maintain_order=True).to_list()
    base = alt.Chart(data).encode(
        x=alt.X(f"{x}:Q", title=f"offered load, MB/s per {per}"), color=colour(curve, order, legend)
    )
    y = f"accepted load, MB/s per {per}"
    band = base.mark_errorband(opacity=0.2).encode(y=alt.Y("low:Q", title=y), y2="high:Q")
    points = base.mark_point(size=55, strokeWidth=1.5, opacity=1).encode(
        y="mean:Q",
        fill=alt.condition("datum.state == 'steady'", colour(curve, order, legend), alt.value("transparent")),
        shape=alt.Shape(
            "state:N",
            title="point",
            scale=alt.Scale(domain=["steady", "saturated"], range=["circle", "triangle-up"]),
        ),
        tooltip=[
            curve,
            alt.Tooltip("offered:Q", title="offered, MB/s", format=".1f"),
            alt.Tooltip("mean:Q", title="accepted, MB/s", format=".1f"),
            alt.Tooltip("low:Q", format=".1f"),
            alt.Tooltip("high:Q", format=".1f"),
            "state",
        ],
    )
    top = max(data["high"].to_list()) * 1.05
    diagonal = alt.Chart(pl.DataFrame({"x": [0.0, top], "y": [0.0, top]})).mark_line(
        strokeDash=[2, 3], strokeWidth=1, color=RULE
    )
    return [band, base.mark_line().encode(y="mean:Q"), points, diagonal.encode(x="x:Q", y="y:Q")]


def curves(data: pl.DataFrame, curve: str, legend: str, x: alt.X, y: str) -> Layers:
    """Means with their intervals over a quantity, one curve for each value of a column."""
    order = data[curve].unique(maintain_order=True).to_list()
    base = alt.Chart(data).encode(x=x, color=colour(curve, order, legend))
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        y="mean:Q",
        shape=shape(curve, order, legend),
        tooltip=[curve, x.shorthand, alt.Tooltip("mean:Q", title="MB/s", format=".1f")],
    )
    bars = base.mark_errorbar().encode(y=alt.Y("low:Q", title=y, scale=alt.Scale(zero=True)), y2="high:Q")
    return [base.mark_line().encode(y="mean:Q"), bars, points]
