"""Figure 16 of 000: the bandwidth of a hot node, and what each of the others has of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.claims import claims
from elanite.figures.curves import curves
from elanite.figures.style import RULE, Figure, colour, layered, published, shape
from elanite.frames import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator

CURVES = "sizes / arrivals"
GROUPS = ("hotspot.64.near", "hotspot.64.middle", "hotspot.64.far")


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """The aggregate bandwidth of writes over the number of nodes, and that of reads."""
    rows = rows.filter(pl.col("metric") == "server_accepted").with_columns(
        curve=pl.format("{} / {}", pl.col("sizes"), pl.col("arrivals"))
    )
    for series, name, words, paper in (
        ("nodes", "16a", "write to", "up to 32 nodes; it finds 8% less for 64."),
        (
            "reads",
            "reads",
            "read from",
            "for writes of up to 32 nodes; it finds no significant difference between the two.",
        ),
    ):
        here = rows.filter(pl.col("series") == series)
        if not here.is_empty():
            yield _aggregate(here, name, words, paper)


def _aggregate(rows: pl.DataFrame, name: str, words: str, says: str) -> Figure:
    title = f"Hot-spot: all nodes {words} node 0, {rows['message'][0]} messages"
    data = summarise(rows, ["nodes", "curve"]).sort("nodes", maintain_order=True)
    marks = data["nodes"].unique().sort().to_list()
    x = alt.X("nodes:Q", title="nodes", axis=alt.Axis(values=marks, grid=False))
    layers = [
        *curves(data, "curve", CURVES, x, "bandwidth of the hot node, MB/s"),
        *published("hotspot.32.bandwidth", label="to 32 nodes"),
    ]
    caption = (
        "Payload that all other nodes together move, at saturation. Bars are 95% confidence intervals over batches and"
        f" seeds. Dashed: what the paper gives {says}"
    )
    paper = "figure 16 a" if name == "16a" else ""
    return Figure(name, title, paper, caption, layered(title, layers))


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
            tooltip=["node", "curve", alt.Tooltip("mean:Q", title="MB/s", format=".2f")],
        )
    )
    caption = (
        "What each node writes into the memory of node 0, mean over seeds. Dashed: what the paper gives for the nodes"
        " of the same first-level switch, for those whose packets meet others at two levels, and at three."
    )
    yield Figure("16b", title, "figure 16 b", caption, layered(title, [points, *_groups()]))


def _groups() -> list[alt.Chart]:
    """The published bandwidth of each group of nodes, as a dashed rule over it."""
    groups = [claim for claim in claims() if claim.id in GROUPS]
    data = pl.DataFrame(
        [
            {
                "first": claim.nodes[0] - 0.5,
                "last": claim.nodes[-1] + 0.5,
                "value": claim.value,
                "text": f"published {claim.value:g} {claim.unit}",
            }
            for claim in groups
        ]
    )
    base = alt.Chart(data).encode(x="first:Q", y="value:Q")
    rule = base.mark_rule(strokeDash=[6, 4], color=RULE, strokeWidth=1.5).encode(x2="last:Q")
    words = base.mark_text(align="left", baseline="bottom", dx=4, dy=-2, color=RULE).encode(text="text:N")
    return [rule, words]
