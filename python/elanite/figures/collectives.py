"""The share of barrier calls that end within a time, with and without other traffic
(petrini2001).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures import grouping
from elanite.figures.axes import DECADES
from elanite.figures.style import FORMAT, RULE, Figure, colour, layered
from elanite.results.frames import padded
from elanite.store import empty
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.figures.curves import Layers

TRAFFIC = pl.col("background.pattern")
"""The other traffic; null without any."""

OTHER = {
    "background.pattern": pl.String,
    "background.nodes": pl.Int64,
    "background.message": pl.String,
}
"""The columns on the other traffic; a series without other traffic lacks them."""

BESIDE = 1.25
"""The factor by which a distribution's axis exceeds the distribution on either side."""

STEPS = 500
"""Most drawn steps in a cumulative distribution."""


def _background(rows: pl.DataFrame) -> str:
    """Some rows' other traffic, in words; empty without any."""
    rows = rows.filter(TRAFFIC.is_not_null())
    if rows.is_empty():
        return ""
    nodes, message = rows.select("background.nodes", "background.message").row(0)
    return (
        f" The other traffic: {nodes} nodes send messages of {message} on average from and to"
        " adapter memory, each as much as it can; the paper does not state the size of its"
        " messages."
    )


def distributions(table: pl.DataFrame) -> Iterator[Figure]:
    """The cumulative distribution of call times, with and without other traffic, on the most
    nodes.
    """
    rows = padded(table, **OTHER).filter(
        pl.col("series").is_in(["distribution", "hardware-loaded", "software-loaded"])
    )
    rows = rows.filter(pl.col("nodes") == pl.col("nodes").max())
    known = [*empty("distribution").columns, "nodes", "operation", "background.pattern"]
    yield from grouping.part_figures(rows, known, _distributions)


def _distributions(rows: pl.DataFrame) -> Iterator[Figure]:
    for operation, word in (("hgsync", "hardware"), ("gsync", "software")):
        here = rows.filter(pl.col("operation") == operation)
        if not here.is_empty():
            yield _distribution(here, operation, word)


def _distribution(rows: pl.DataFrame, operation: str, word: str) -> Figure:
    title = f"Distribution of the latency of the {word} barrier, {rows['nodes'][0]} nodes"
    traffic = (
        pl.when(TRAFFIC.is_null())
        .then(pl.lit("no other traffic"))
        .otherwise(pl.format("{} traffic", TRAFFIC))
    )
    rows = rows.with_columns(traffic=traffic, latency=pl.col("lower_ps") / 1e6)
    least, most = (
        float(one)
        for one in rows.select(pl.col("latency").min(), most=pl.col("latency").max()).row(0)
    )
    ends = (least / BESIDE, most * BESIDE)
    data = pl.concat(
        [_cumulative(here, *ends) for _, here in rows.group_by("traffic", maintain_order=True)]
    )
    order = data["traffic"].unique(maintain_order=True).to_list()
    axis = alt.Axis(values=DECADES, grid=False)
    x = alt.X("latency:Q", title="latency, µs", scale=alt.Scale(type="log", nice=False), axis=axis)
    base = alt.Chart(data).encode(x=x)
    lines = base.mark_line(interpolate="step-after").encode(
        y=alt.Y("share:Q", title="calls that take no longer, %", scale=alt.Scale(domain=[0, 100])),
        color=colour("traffic", order, "background"),
        tooltip=[
            alt.Tooltip("traffic"),
            alt.Tooltip("latency:Q", format=FORMAT),
            alt.Tooltip("share:Q", format=FORMAT),
        ],
    )
    caption = (
        "The share of the calls of all processes that take no longer than a time, over this"
        f" time.{_background(rows)} Dashed: the points that the paper states{_words(operation)}."
    )
    return Figure(
        f"distribution-{word}",
        title,
        "",
        caption,
        layered(title, [lines, *_stated(operation, ends[0])]),
    )


def _cumulative(rows: pl.DataFrame, left: float, right: float) -> pl.DataFrame:
    """A distribution as steps between two ends, few enough to be drawn; all seeds' calls count
    alike.
    """
    bins = rows.group_by("traffic", "latency").agg(pl.col("count").sum()).sort("latency")
    steps = bins.with_columns(share=100 * pl.col("count").cum_sum() / pl.col("count").sum())
    step = (pl.col("share") * STEPS / 100).floor()
    kept = steps.filter(
        (step != step.shift(1)).fill_null(True) | (pl.col("latency") == pl.col("latency").max())
    )
    ends = pl.DataFrame(
        {"traffic": [rows["traffic"][0]] * 2, "latency": [left, right], "share": [0.0, 100.0]}
    )
    return pl.concat([ends, kept.select("traffic", "latency", "share")]).sort("latency")


def _points(operation: str) -> list[tuple[float, float]]:
    """A distribution's published points: a latency, and the percentage of calls that take less."""
    return [
        (claim.value, float(claim.metric.removeprefix("latency_p")))
        for claim in claims()
        if claim.metric.startswith("latency_p")
        and claim.value
        and ("operation", (operation,)) in claim.where
    ]


def _words(operation: str) -> str:
    """The published points in words, behind a colon."""
    points = ", ".join(f"{share:g}% < {latency:g} µs" for latency, share in _points(operation))
    return f": {points}" if points else ""


def _stated(operation: str, left: float) -> Layers:
    """A distribution's published points, with a line to each axis."""
    points = [
        {
            "latency": latency,
            "share": share,
            "left": left,
            "zero": 0.0,
            "text": f"{share:g}% < {latency:g} µs",
        }
        for latency, share in _points(operation)
    ]
    if not points:
        return []
    base = alt.Chart(pl.DataFrame(points)).encode(x=alt.X("latency:Q"), y=alt.Y("share:Q"))
    rule = base.mark_rule(strokeDash=[6, 4], color=RULE, strokeWidth=1.5)
    rule = rule.encode(tooltip=alt.Tooltip("text:N", title="published"))
    return [rule.encode(y2=alt.Y2("zero:Q")), rule.encode(x2=alt.X2("left:Q"))]
