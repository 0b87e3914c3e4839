"""Figures 13 and 14 of 000: permutations, over the offered load and over the message size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.figures.curves import SATURATED, curves, loads, of_loads
from elanite.figures.style import Figure, layered, published, size_axis
from elanite.frames import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Accepted over offered load, and the highest accepted load over the message size."""
    loaded = rows.filter(pl.col("series") == "load")
    if not loaded.is_empty():
        yield _load(loaded)
    sizes = rows.filter((pl.col("series") == "size") & (pl.col("metric") == "accepted"))
    if not sizes.is_empty():
        yield _size(sizes)


def _rules() -> list[alt.Chart | alt.LayerChart]:
    return published("permutation.complement", "permutation.shuffle")


def _load(rows: pl.DataFrame) -> Figure:
    title = f"Permutations, {rows['nodes'][0]} nodes, {rows['message'][0]} messages"
    data = of_loads(rows, ["pattern", "load_MBps"])
    caption = (
        "Accepted against offered load of the nodes that send, mean of uniform and exponential message sizes and"
        f" inter-arrival times. {SATURATED} Dashed: the asymptotes that the paper gives, 280 MB/s for neighbor,"
        " butterfly and complement, 165 to 200 MB/s for shuffle, transpose and bit reversal."
    )
    layers = [*loads(data, "pattern", "pattern", "MB/s per node"), *_rules()]
    return Figure("13", title, "figure 13", caption, layered(title, layers))


def _size(rows: pl.DataFrame) -> Figure:
    title = "Permutations: highest accepted load by message size"
    data = summarise(rows, ["pattern", "message", "message_bytes"]).sort("message_bytes", maintain_order=True)
    x = size_axis("message_bytes", "mean message size", data["message_bytes"].to_list())
    caption = (
        "Accepted load of the nodes that send, at saturation, over the mean message size. Bars are 95% confidence"
        " intervals; dashed: the asymptotes that the paper gives."
    )
    layers = [*curves(data, "pattern", "pattern", x, "highest accepted load, MB/s per node"), *_rules()]
    return Figure("14", title, "figure 14", caption, layered(title, layers))
