"""Petrini2003's figure 16 b: the bandwidth for each node that writes to a hot node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures import axes, grouping, published_values
from elanite.figures.published_values import PlottedValue
from elanite.figures.style import FORMAT, Figure, colour, layered, shape
from elanite.results.frames import summarise
from elanite.store import empty
from elanite.validation.claims import claims
from elanite.validation.measures import GroupMeasure
from elanite.validation.measures.quantities import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.validation.claim import Claim

CURVES = "sizes / arrivals"
GROUPS = ("hotspot.64.near", "hotspot.64.middle", "hotspot.64.far")


def of_nodes(nodes: pl.DataFrame) -> Iterator[Figure]:
    """Each node's bandwidth in the largest configuration that writes."""
    rows = nodes.filter(pl.col("series") == "nodes")
    if rows.is_empty():
        return
    most: int = rows["nodes"].sort()[-1]
    rows = rows.filter(pl.col("nodes") == most).with_columns(
        curve=pl.format("{} / {}", pl.col("sizes"), pl.col("arrivals")), value=pl.col("accepted")
    )
    yield from grouping.part_figures(
        rows, [*empty("nodes").columns, "sizes", "arrivals"], _of_nodes
    )


def _of_nodes(rows: pl.DataFrame) -> Iterator[Figure]:
    count = rows["node"].n_unique()
    title = (
        f"Hot-spot: bandwidth of each of {count} nodes that write"
        if count > 1
        else "Hot-spot: bandwidth of a node"
    )
    data = summarise(rows, ["node", "curve"]).sort("node", maintain_order=True)
    order = data["curve"].unique(maintain_order=True).to_list()
    stated = _groups(rows)
    ends = axes.ends(data, published_values.drawn(stated))
    y = alt.Y("mean:Q", title="accepted load, MB/s", scale=axes.scale(ends))
    points = (
        alt.Chart(data)
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(
            x=alt.X("node:Q", title="node"),
            y=y,
            color=colour("curve", order, CURVES),
            shape=shape("curve", order, CURVES),
            tooltip=[
                alt.Tooltip("node"),
                alt.Tooltip("curve"),
                alt.Tooltip("mean:Q", format=FORMAT),
            ],
        )
    )
    caption = "The bandwidth of each node into the memory of node 0, mean over seeds."
    if stated:
        at = {place: f"node {place:g}" for place in published_values.all_places(stated)}
        caption += (
            " Dashed: the paper's figures for the nodes of the same first-level switch, and for"
            " nodes whose packets meet others at two levels, and at three levels."
            f" {published_values.caption(stated, at)}"
        )
    layers = [points, *published_values.layers(stated, axes.rounded(ends))]
    yield Figure("16b", title, "figure 16 b", caption, layered(title, layers))


def _groups(rows: pl.DataFrame) -> list[PlottedValue]:
    """Each node group's published bandwidth, from its first node to its last one, if the rows are
    of its network.
    """
    return [
        PlottedValue(claim, places=_nodes(claim))
        for claim in claims()
        if claim.id in GROUPS and published_values.fits(claim, rows)
    ]


def _nodes(claim: Claim) -> tuple[float, ...]:
    """A group's first and last node."""
    nodes = (
        claim.measure.quantity.first.where["node"]
        if isinstance(claim.measure, GroupMeasure)
        else None
    )
    return nodes.span if isinstance(nodes, Limits) else ()
