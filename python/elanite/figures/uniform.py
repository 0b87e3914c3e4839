"""Figures 11 and 12 of 000: uniform traffic, over the offered load, the network size and the message size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.curves import SATURATED, curves, loads, of_loads
from elanite.figures.style import RULE, Figure, layered, published, size_axis
from elanite.frames import summarise, sustained

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
    title = f"Uniform traffic, {nodes} nodes, {rows['message'][0]} messages"
    data = of_loads(rows, ["curve", "load_MBps"])
    rules = published("uniform.64.bandwidth") if nodes == 64 else []
    caption = (
        f"Accepted against offered load for uniform and exponential message sizes and inter-arrival times. {SATURATED}"
        + (" Dashed: the range that the paper gives for the asymptote." if rules else "")
    )
    layers = [*loads(data, "curve", CURVES, "MB/s per node"), *rules]
    return Figure(f"11{letter}", title, f"figure 11 {letter}", caption, layered(title, layers))


def _nodes(best: pl.DataFrame) -> Figure:
    title = "Uniform traffic: highest accepted load by network size"
    data = summarise(best, ["nodes", "curve"]).sort("nodes")
    x = alt.X("nodes:O", title="nodes", axis=alt.Axis(labelAngle=0))
    layers = [
        *curves(data, "curve", CURVES, x, "highest accepted load, MB/s per node"),
        *published("uniform.64.bandwidth", label="64 nodes"),
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
    x = size_axis("message_bytes", "mean message size", data["message_bytes"].to_list())
    limit = pl.DataFrame({"x": [16384]})
    mark = alt.Chart(limit).mark_rule(strokeDash=[6, 4], color=RULE).encode(x="x:Q")
    caption = (
        "The highest accepted load over the mean message size. The paper finds a penalty above 16 KB (dashed). Bars are"
        " 95% confidence intervals."
    )
    layers = [*curves(data, "line", CURVES, x, "highest accepted load, MB/s per node"), mark]
    return Figure("12", title, "figure 12", caption, layered(title, layers))
