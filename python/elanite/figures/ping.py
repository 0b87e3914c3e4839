"""Figures 9 and 10 of 000: ping in one and in both directions, for the four placements of the buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.style import BYTES, MARKS, Figure, colour, layered, published, published_at, shape, size_axis
from elanite.frames import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = 4096
"""Largest message, in bytes, of the latency figures."""


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Bandwidth over message size and latency of short messages, for each number of directions."""
    sizes = rows.group_by("series", maintain_order=True).agg(pl.col("message_bytes").n_unique())
    main = sizes.sort("message_bytes", descending=True, maintain_order=True)["series"][0]
    means = summarise(rows.filter(pl.col("series") == main)).with_columns(
        placement=pl.format("{} → {}", pl.col("source"), pl.col("destination"))
    )
    for directions, number, words, claim in (
        ("one", "9", "in one direction", "ping.uni"),
        ("both", "10", "in both directions", "ping.bi"),
    ):
        here = means.filter(pl.col("directions") == directions)
        bandwidth = here.filter((pl.col("metric") == "bandwidth") & (pl.col("message_bytes") > 0))
        if not bandwidth.is_empty():
            yield _bandwidth(bandwidth, f"{number}a", words, claim)
        latency = here.filter((pl.col("metric") == "latency") & (pl.col("message_bytes") <= SHORT))
        if not latency.is_empty():
            yield _latency(latency, f"{number}b", words, claim)


def _bandwidth(data: pl.DataFrame, name: str, words: str, claim: str) -> Figure:
    title = f"Ping {words}: bandwidth"
    order = data["placement"].unique(maintain_order=True).to_list()
    base = alt.Chart(data).encode(
        x=size_axis("message_bytes", "message size", data["message_bytes"].to_list()),
        y=alt.Y("mean:Q", title="payload bandwidth, MB/s per direction"),
        color=colour("placement", order, "buffers"),
        tooltip=["placement", "message", alt.Tooltip("mean:Q", title="MB/s", format=".1f")],
    )
    points = base.mark_point(filled=True, size=45, opacity=1).encode(shape=shape("placement", order, "buffers"))
    rules = published(f"{claim}.elan.bandwidth", f"{claim}.main.bandwidth")
    caption = (
        "Payload bandwidth per direction over the message size, for the four placements of the send and receive"
        " buffers (Elan memory or main memory). Dashed: the asymptotes that the paper states."
    )
    return Figure(name, title, f"figure {name[:-1]} a", caption, layered(title, [base.mark_line(), points, *rules]))


def _latency(data: pl.DataFrame, name: str, words: str, claim: str) -> Figure:
    title = f"Ping {words}: latency of short messages"
    order = data["placement"].unique(maintain_order=True).to_list()
    sizes = data["message_bytes"].unique().sort().to_list()
    base = alt.Chart(data).encode(
        x=alt.X(
            "message_bytes:O",
            sort=sizes,
            title="message size",
            axis=alt.Axis(values=[size for size in sizes if size == 0 or size in MARKS], labelExpr=BYTES, labelAngle=0),
        ),
        y=alt.Y("mean:Q", title="latency, µs", scale=alt.Scale(zero=True)),
        color=colour("placement", order, "buffers"),
        tooltip=["placement", "message", alt.Tooltip("mean:Q", title="µs", format=".3f")],
    )
    points = base.mark_point(filled=True, size=45, opacity=1).encode(shape=shape("placement", order, "buffers"))
    rules = published_at("message_bytes", {f"{claim}.latency.0B": 0.0, f"{claim}.latency.64B": 64.0})
    caption = "Time from posting a remote DMA to its completion seen at the destination, up to 4 KB." + (
        " Dashes: the latencies that the paper states for 0 and 64 bytes." if rules else ""
    )
    return Figure(name, title, f"figure {name[:-1]} b", caption, layered(title, [base.mark_line(), points, *rules]))
