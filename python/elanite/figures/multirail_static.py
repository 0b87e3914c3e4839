"""Static rail allocation (coll2003 s2): the rails that nodes need (figure 2), and matrices (figures
3 and 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures import grouping
from elanite.figures.style import Figure, below, colour, layered, shape
from elanite.figures.table import LESS, MORE

if TYPE_CHECKING:
    from collections.abc import Iterator

ALGORITHMS = {"logarithmic": "algorithm 1, 2 log₂ n", "optimal": "algorithm 2, optimal"}

ROLES = {"transmit": ("1, transmits", MORE), "receive": ("0, receives", LESS)}
"""Roles in words, and tints as light as black text on them needs, on any page."""

PAPER = {("logarithmic", 8, 6): "3", ("optimal", 20, 6): "4"}
"""The matrices that the paper has as figures, by algorithm, nodes and rails."""

DRAWN = ("figure-3", "figure-4")
"""The series with drawn matrices."""

MARKS = [2**power for power in range(1, 11)]

SQUARE = 34
"""Rail height in pixels."""


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Rails over nodes, a curve for each algorithm."""
    rows = rows.filter((pl.col("metric") == "rails") & ~pl.col("series").is_in(DRAWN))
    if not rows.is_empty():
        yield from grouping.part_figures(rows, ("algorithm", "nodes"), _draw)


def _draw(rows: pl.DataFrame) -> Iterator[Figure]:
    data = rows.select("algorithm", "nodes", "value").unique().sort("algorithm", "nodes")
    data = data.with_columns(curve=pl.col("algorithm").replace_strict(ALGORITHMS))
    order = [name for name in ALGORITHMS.values() if name in data["curve"].to_list()]
    few, many = data["nodes"].to_list()[0], max(data["nodes"].to_list())
    x = alt.X(
        "nodes:Q",
        title="nodes",
        scale=alt.Scale(type="log", base=2, domain=[few, many], nice=False),
        axis=alt.Axis(values=[*(mark for mark in MARKS if mark < many * 0.8), many], grid=False),
    )
    y = alt.Y("value:Q", title="rails", scale=alt.Scale(zero=True), axis=alt.Axis(tickMinStep=1))
    base = alt.Chart(data).encode(x=x, y=y, color=colour("curve", order, "static allocation"))
    marks = base.mark_point(filled=True, size=45, opacity=1).encode(
        shape=shape("curve", order, "static allocation"),
        tooltip=[alt.Tooltip("curve"), alt.Tooltip("nodes"), alt.Tooltip("value:Q", title="rails")],
    )
    title = "Static allocation: the rails that nodes need to reach each other"
    caption = (
        "Each adapter either transmits or receives, and every node is to reach every other without"
        " nodes in between. Marks are computed points, both ends of every step. No static"
        " allocation needs fewer rails than algorithm 2: r rails connect at most C(r, r/2) nodes."
    )
    last = {
        row["algorithm"]: row["value"]
        for row in data.filter(pl.col("nodes") == many).iter_rows(named=True)
    }
    if len(last) == len(ALGORITHMS):
        caption += (
            f" {many:,} nodes need {last['logarithmic']:.0f} rails with algorithm 1,"
            f" {last['optimal']:.0f} with 2."
        )
    layers = [base.mark_line(interpolate="step-after"), marks]
    yield Figure("2", title, "figure 2", caption, layered(title, layers))


def matrices(table: pl.DataFrame) -> Iterator[Figure]:
    """The nodes that transmit and receive on each rail, a picture for each allocation."""
    here = table.filter(pl.col("series").is_in(DRAWN))
    for _, matrix in here.group_by("id", maintain_order=True):
        yield _matrix(matrix)


def _matrix(matrix: pl.DataFrame) -> Figure:
    algorithm, nodes, rails = (
        matrix["algorithm"][0],
        matrix["node"].n_unique(),
        matrix["rail"].n_unique(),
    )
    words = {role: said for role, (said, _) in ROLES.items()}
    data = matrix.select("rail", "node", role=pl.col("role").replace_strict(words)).with_columns(
        digit=pl.col("role").str.head(1)
    )
    scale = alt.Scale(domain=list(words.values()), range=[tint for _, tint in ROLES.values()])
    x = alt.X(
        "node:O", title="node", axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False)
    )
    y = alt.Y("rail:O", title="rail", axis=alt.Axis(domain=False, ticks=False))
    base = alt.Chart(data).encode(
        x=x, y=y, tooltip=[alt.Tooltip("rail"), alt.Tooltip("node"), alt.Tooltip("role")]
    )
    tints = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color(
            "role:N", title="the node's adapter on the rail", scale=scale, legend=below(opacity=1)
        )
    )
    number = PAPER.get((algorithm, nodes, rails), "")
    name = ALGORITHMS[algorithm].split(",")[0]
    title = f"Static allocation: {rails} rails and {nodes} nodes, {name}"
    caption = (
        "A node reaches another node on a rail on which it has a 1 and the other node a 0; each"
        " pair has a rail each way."
        + (f" As figure {number} of the paper has it." if number else "")
    )
    if number == "4":
        caption += " Our copy of it lacks the last column."
    chart = layered(
        title,
        [tints, base.mark_text(baseline="middle", color="black").encode(text=alt.Text("digit:N"))],
    )
    chart = chart.properties(height=SQUARE * rails)
    return Figure(
        number or f"{algorithm}-{nodes}-{rails}",
        title,
        f"figure {number}" if number else "",
        caption,
        chart,
    )
