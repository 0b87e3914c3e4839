"""Figures 11 and 12 of 000: uniform traffic, over the offered load, the network size and the message size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.style import RULE, Figure, colour, layered, published, shape, size_axis
from elanite.frames import parameters, summarise, sustained

if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS = "abc"
CURVES = "sizes / arrivals"


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Accepted over offered load per network size, the maximum over nodes, the maximum over message sizes."""
    rows = rows.with_columns(
        curve=pl.format("{} / {}", pl.col("sizes"), pl.col("arrivals")),
    )
    loads = _of_the_main_size(rows)
    for letter, nodes in zip(LETTERS, loads["nodes"].unique().sort().to_list(), strict=False):
        yield _load(loads.filter(pl.col("nodes") == nodes), nodes, letter)
    longest = rows.filter(pl.col("series") == "saturation")
    longest = loads if longest.is_empty() else longest
    if longest["nodes"].n_unique() > 1:
        yield _nodes(sustained(longest))
    by_size = rows.filter(pl.col("message_bytes").n_unique().over("series", "nodes", "curve") > 1)
    if not by_size.is_empty():
        yield _message_size(sustained(by_size))


def _of_the_main_size(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of the message size with the most offered loads: figure 11; the other sizes make figure 12."""
    loads = rows.group_by("series", "message_bytes").agg(pl.col("load_MBps").n_unique().alias("loads"))
    main = loads.sort("loads", "message_bytes", "series", descending=True).row(0, named=True)
    return rows.filter((pl.col("message_bytes") == main["message_bytes"]) & (pl.col("series") == main["series"]))


def _load(rows: pl.DataFrame, nodes: int, letter: str) -> Figure:
    message = rows["message"][0]
    title = f"Uniform traffic, {nodes} nodes, {message} messages"
    keys = [name for name in parameters(rows) if name != "series"]
    accepted = summarise(rows.filter(pl.col("metric") == "accepted"), keys)
    saturated = rows.filter(pl.col("metric") == "saturated").group_by(keys).agg(pl.col("value").mean())
    data = accepted.join(saturated, on=keys, how="left", nulls_equal=True, maintain_order="left").with_columns(
        state=pl.when(pl.col("value") > 0.5).then(pl.lit("saturated")).otherwise(pl.lit("steady"))
    )
    order = data["curve"].unique(maintain_order=True).to_list()
    x = alt.X("load_MBps:Q", title="offered load, MB/s per node")
    base = alt.Chart(data).encode(x=x, color=colour("curve", order, CURVES))
    band = base.mark_errorband(opacity=0.2).encode(y=alt.Y("low:Q", title="accepted load, MB/s per node"), y2="high:Q")
    line = base.mark_line().encode(y="mean:Q")
    points = base.mark_point(size=55, strokeWidth=1.5, opacity=1).encode(
        y="mean:Q",
        fill=alt.condition("datum.state == 'steady'", colour("curve", order, CURVES), alt.value("transparent")),
        shape=alt.Shape(
            "state:N",
            title="point",
            scale=alt.Scale(domain=["steady", "saturated"], range=["circle", "triangle-up"]),
        ),
        tooltip=[
            "curve",
            "load",
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
    rules = published("uniform.64.bandwidth") if nodes == 64 else []
    caption = (
        "Accepted against offered load for uniform and exponential message sizes and inter-arrival times; bands are"
        " 95% confidence intervals over batches and seeds. Triangles are saturated points: more is offered than is"
        " accepted, and the sources' queues grow. Dotted: accepted = offered."
        + (" Dashed: the range that the paper gives for the asymptote." if rules else "")
    )
    layers = [band, line, points, diagonal.encode(x="x:Q", y="y:Q"), *rules]
    return Figure(f"11{letter}", title, f"figure 11 {letter}", caption, layered(title, layers))


def _nodes(best: pl.DataFrame) -> Figure:
    title = "Uniform traffic: highest accepted load by network size"
    data = summarise(best, ["nodes", "curve"]).sort("nodes")
    order = data["curve"].unique(maintain_order=True).to_list()
    base = alt.Chart(data).encode(
        x=alt.X("nodes:O", title="nodes", axis=alt.Axis(labelAngle=0)),
        color=colour("curve", order, CURVES),
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        y="mean:Q",
        shape=shape("curve", order, CURVES),
        tooltip=["curve", "nodes", alt.Tooltip("mean:Q", title="MB/s", format=".1f")],
    )
    bars = base.mark_errorbar().encode(
        y=alt.Y("low:Q", title="highest accepted load, MB/s per node", scale=alt.Scale(zero=True)),
        y2="high:Q",
    )
    layers = [
        base.mark_line().encode(y="mean:Q"),
        bars,
        points,
        *published("uniform.64.bandwidth", label="64 nodes:"),
    ]
    caption = (
        "The highest accepted load of each distribution, from longer runs than those of figures 11 a to c. Bars are 95%"
        " confidence intervals; dashed: the range that the paper gives for 64 nodes."
    )
    return Figure("11d", title, "figure 11 d", caption, layered(title, layers))


def _message_size(best: pl.DataFrame) -> Figure:
    title = "Uniform traffic: highest accepted load by message size"
    several = best["nodes"].n_unique() > 1
    named = pl.format("{}, {} nodes", pl.col("curve"), pl.col("nodes")) if several else pl.col("curve")
    data = summarise(best.with_columns(line=named), ["line", "message", "message_bytes"]).sort("message_bytes")
    order = data["line"].unique(maintain_order=True).to_list()
    base = alt.Chart(data).encode(
        x=size_axis("message_bytes", "mean message size", data["message_bytes"].to_list()),
        color=colour("line", order, CURVES),
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        y="mean:Q",
        shape=shape("line", order, CURVES),
        tooltip=["line", "message", alt.Tooltip("mean:Q", title="MB/s", format=".1f")],
    )
    bars = base.mark_errorbar().encode(
        y=alt.Y("low:Q", title="highest accepted load, MB/s per node", scale=alt.Scale(zero=True)),
        y2="high:Q",
    )
    limit = pl.DataFrame({"x": [16384]})
    mark = alt.Chart(limit).mark_rule(strokeDash=[6, 4], color=RULE).encode(x="x:Q")
    caption = (
        "The highest accepted load over the mean message size. The paper finds a penalty above 16 KB (dashed). Bars are"
        " 95% confidence intervals."
    )
    layers = [base.mark_line().encode(y="mean:Q"), bars, points, mark]
    return Figure("12", title, "figure 12", caption, layered(title, layers))
