"""What makes which number: each mechanism of the model exchanged in turn, over the patterns and the hot-spot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.style import HOT, PALETTE, Figure, layered
from elanite.frames import padded

if TYPE_CHECKING:
    from collections.abc import Iterator

UNCHANGED = "unchanged"


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """One table: changes of the machine down, kinds of traffic across."""
    rows = padded(rows, servers=pl.String, machine=pl.String)
    hot = pl.col("servers").is_not_null()
    metric = pl.when(hot).then(pl.lit("server_accepted")).otherwise(pl.lit("accepted"))
    traffic = pl.when(hot).then(pl.format("hot-spot, {} nodes", pl.col("nodes"))).otherwise(pl.col("pattern"))
    rows = rows.filter(pl.col("metric") == metric).with_columns(traffic=traffic)
    means = rows.group_by("machine", "traffic", maintain_order=True).agg(pl.col("value").mean())
    base = means.filter(pl.col("machine") == UNCHANGED).select("traffic", unchanged="value")
    data = means.join(base, on="traffic", maintain_order="left").with_columns(
        ratio=pl.col("value") / pl.col("unchanged"), text=pl.col("value").round(0).cast(pl.Int64).cast(pl.String)
    )
    if not data.is_empty():
        yield _table(data)


def _table(data: pl.DataFrame) -> Figure:
    title = "What makes which number"
    base = alt.Chart(data).encode(
        x=alt.X(
            "traffic:O",
            sort=data["traffic"].unique(maintain_order=True).to_list(),
            title="traffic: highest accepted load, MB/s per node; of the hot node, MB/s",
            axis=alt.Axis(labelAngle=-30, orient="top"),
        ),
        y=alt.Y(
            "machine:O",
            sort=data["machine"].unique(maintain_order=True).to_list(),
            title="change of the machine",
            axis=alt.Axis(labelLimit=260),
        ),
        tooltip=[
            "machine",
            "traffic",
            alt.Tooltip("value:Q", title="MB/s", format=".1f"),
            alt.Tooltip("ratio:Q", title="of the unchanged machine's", format=".0%"),
        ],
    )
    blocks = base.mark_rect(stroke="white").encode(
        color=alt.Color(
            "ratio:Q",
            title="of unchanged",
            scale=alt.Scale(domain=[0.5, 1.0, 1.5], range=[HOT, "#ffffff", PALETTE[0]], interpolate="rgb", clamp=True),
            legend=alt.Legend(format="%"),
        )
    )
    words = base.mark_text(fontSize=12).encode(text="text:N", color=alt.value("black"))
    caption = (
        "Accepted load at saturation of each kind of traffic, on the machine as it is and with one mechanism or"
        " parameter changed at a time; the colour says how far it is from the machine as it is."
    )
    return Figure("ablations", title, "", caption, layered(title, [blocks, words]))
