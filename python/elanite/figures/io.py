"""Figures 17 and 18 and table 1 of 000: I/O on eight of 64 nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.curves import SATURATED, loads, of_loads
from elanite.figures.style import Figure, colour, layered, published, published_at, shape
from elanite.frames import summarise
from elanite.measures.jobs import ALL

if TYPE_CHECKING:
    from collections.abc import Iterator

TRAFFIC = {"uniform": "random", "blocks": "deterministic", "cyclic": "deterministic, cyclic"}
"""The paper's names of the patterns."""

MAPPING = pl.when(pl.col("nodes") == ALL).then(pl.lit("shared")).otherwise(pl.lit("dedicated"))


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Accepted over offered load for each kind of traffic and each place of the I/O nodes; table 1 as a figure."""
    rows = rows.with_columns(mapping=MAPPING, traffic=pl.col("pattern").replace(TRAFFIC))
    for number, pattern in (("17", "uniform"), ("18", "blocks")):
        for letter, place in (("a", "clustered"), ("b", "distributed")):
            here = rows.filter((pl.col("series") == f"{place}-load") & (pl.col("pattern") == pattern))
            if not here.is_empty():
                yield _load(here, number, letter, place)
    highest = rows.filter(
        pl.col("series").is_in(["clustered", "distributed"]) & (pl.col("metric") == "server_accepted")
    )
    if not highest.is_empty():
        yield _table(highest)


def _load(rows: pl.DataFrame, number: str, letter: str, place: str) -> Figure:
    traffic = TRAFFIC[rows["pattern"][0]]
    title = f"I/O: {traffic} destinations, {place} I/O nodes"
    named = rows.with_columns(curve=pl.format("{}, {} arrivals", pl.col("mapping"), pl.col("arrivals")))
    data = of_loads(named, ["curve", "load_MBps"], "server_accepted", "server_offered")
    caption = (
        "What is written to and read from an I/O node, half of the messages read, against what is offered to it."
        f" {SATURATED} Dashed: the maximum that the paper gives (table 1)."
    )
    layers = [
        *loads(data, "curve", "I/O nodes", "offered", "I/O node"),
        *published(f"io.{traffic}.{place}"),
    ]
    return Figure(f"{number}{letter}", title, f"figure {number} {letter}", caption, layered(title, layers))


def _table(rows: pl.DataFrame) -> Figure:
    title = "I/O: highest load of an I/O node"
    rows = rows.with_columns(
        cell=pl.format("{}, {}", pl.col("traffic"), pl.col("series")),
        written=pl.format("{}%", (100 * pl.col("writes")).cast(pl.Int64)),
    )
    keys = ["cell", "written", "mapping"]
    order = pl.col("traffic").replace_strict({name: place for place, name in enumerate(TRAFFIC.values())})
    data = summarise(rows.sort(order, "series", "writes", maintain_order=True), keys)
    cells = data["cell"].unique(maintain_order=True).to_list()
    written = data["written"].unique(maintain_order=True).to_list()
    points = (
        alt.Chart(data)
        .mark_point(filled=True, size=70, opacity=0.9)
        .encode(
            x=alt.X("cell:O", sort=cells, title="destinations, I/O nodes", axis=alt.Axis(labelAngle=-20)),
            xOffset=alt.XOffset("written:N", sort=written),
            y=alt.Y("mean:Q", title="highest load, MB/s per I/O node", scale=alt.Scale(zero=True)),
            color=colour("written", written, "messages written"),
            shape=shape("mapping", ["shared", "dedicated"], "I/O nodes"),
            tooltip=[*keys, alt.Tooltip("mean:Q", title="MB/s", format=".1f")],
        )
    )
    places = {
        f"io.{traffic}.{place}": f"{traffic}, {place}"
        for traffic in ("random", "deterministic")
        for place in ("clustered", "distributed")
    }
    caption = (
        "What is written to and read from an I/O node at saturation, for three fractions of writes; the others are"
        " reads. The paper finds little difference between fractions, and gives the values of the dashes for one half."
        " Reads go the other way than writes, so that half of each can be more than all of one. Deterministic: blocks"
        " of nodes share an I/O node, or, cyclic, the I/O nodes are dealt out in turn; the paper does not say."
    )
    return Figure("table-1", title, "table 1", caption, layered(title, [points, *published_at("cell", places)]))
