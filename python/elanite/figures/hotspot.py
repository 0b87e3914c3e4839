"""Figure 16 b of petrini2003: the bandwidth of each node that writes to a hot node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.claims import claims
from elanite.figures.style import RULE, Figure, colour, layered, shape
from elanite.frames import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator

CURVES = "sizes / arrivals"
GROUPS = ("hotspot.64.near", "hotspot.64.middle", "hotspot.64.far")


def of_nodes(nodes: pl.DataFrame) -> Iterator[Figure]:
    """The bandwidth of each node in the largest configuration that writes."""
    rows = nodes.filter(pl.col("series") == "nodes")
    if rows.is_empty():
        return
    most: int = rows["nodes"].sort()[-1]
    rows = rows.filter(pl.col("nodes") == most).with_columns(
        curve=pl.format("{} / {}", pl.col("sizes"), pl.col("arrivals")), value=pl.col("accepted")
    )
    title = f"Hot-spot: bandwidth of each of {rows['node'].n_unique()} nodes that write"
    data = summarise(rows, ["node", "curve"]).sort("node", maintain_order=True)
    order = data["curve"].unique(maintain_order=True).to_list()
    y = alt.Y("mean:Q", title="accepted load, MB/s", scale=alt.Scale(zero=True))
    points = (
        alt.Chart(data)
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(
            x=alt.X("node:Q", title="node"),
            y=y,
            color=colour("curve", order, CURVES),
            shape=shape("curve", order, CURVES),
            tooltip=[alt.Tooltip("node"), alt.Tooltip("curve"), alt.Tooltip("mean:Q", title="MB/s", format=".2f")],
        )
    )
    caption = (
        "The bandwidth of each node into the memory of node 0, mean over seeds. Dashed: the paper's figures for the"
        " nodes of the same first-level switch, and for nodes whose packets meet others at two levels, and at three"
        " levels."
    )
    yield Figure("16b", title, "figure 16 b", caption, layered(title, [points, *_groups()]))


def _groups() -> list[alt.Chart]:
    """The published bandwidth of each group of nodes, as a dashed rule over it."""
    groups = [claim for claim in claims() if claim.id in GROUPS]
    data = pl.DataFrame(
        [
            {
                "first": claim.of["node"]["least"] - 0.5,
                "last": claim.of["node"]["most"] + 0.5,
                "value": claim.value,
                "text": f"published {claim.value:g} {claim.unit}",
            }
            for claim in groups
        ]
    )
    base = alt.Chart(data).encode(x=alt.X("first:Q"), y=alt.Y("value:Q"))
    rule = base.mark_rule(strokeDash=[6, 4], color=RULE, strokeWidth=1.5).encode(x2=alt.X2("last:Q"))
    words = base.mark_text(align="left", baseline="bottom", dx=4, dy=-2, color=RULE).encode(text=alt.Text("text:N"))
    return [rule, words]
