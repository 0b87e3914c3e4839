"""Figures 9 and 10 of 000, and the ping of 002: in one and in both directions, by placement of the buffers, and MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.style import BYTES, MARKS, Figure, colour, layered, published, published_at, shape, size_axis
from elanite.frames import padded, summarise

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = 4096
"""Largest message, in bytes, of the latency figures."""

MPI = pl.col("library").fill_null("elan3") == "mpi"


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Bandwidth over message size and latency of short messages, for each number of directions."""
    rows = padded(rows, library=pl.String)
    sizes = rows.filter(~MPI).group_by("series", maintain_order=True).agg(pl.col("message_bytes").n_unique())
    main = sizes.sort("message_bytes", descending=True, maintain_order=True)["series"].to_list()[:1]
    means = _means(rows.filter(pl.col("series").is_in(main) | MPI))
    for directions, number, words, claim in (
        ("one", "9", "in one direction", "ping.uni"),
        ("both", "10", "in both directions", "ping.bi"),
    ):
        here = means.filter(pl.col("directions") == directions)
        yield from _both(here, f"{number}a", f"{number}b", words, claim)


def of_collectives(rows: pl.DataFrame) -> Iterator[Figure]:
    """The same two figures as 002 has them: in one direction, with both buffers in the same kind of memory."""
    means = _means(padded(rows, library=pl.String))
    here = means.filter((pl.col("directions") == "one") & (pl.col("source") == pl.col("destination")))
    yield from _both(here, "bandwidth", "latency", "in one direction", "ping.uni")


def _means(rows: pl.DataFrame) -> pl.DataFrame:
    placement = pl.format("{} → {}", pl.col("source"), pl.col("destination"))
    named = rows.with_columns(placement=pl.when(MPI).then(pl.format("MPI, {}", placement)).otherwise(placement))
    return summarise(named.sort(MPI, maintain_order=True))


def _both(means: pl.DataFrame, first: str, second: str, words: str, claim: str) -> Iterator[Figure]:
    bandwidth = means.filter((pl.col("metric") == "bandwidth") & (pl.col("message_bytes") > 0))
    if not bandwidth.is_empty():
        yield _bandwidth(bandwidth, first, words, claim)
    latency = means.filter((pl.col("metric") == "latency") & (pl.col("message_bytes") <= SHORT))
    if not latency.is_empty():
        yield _latency(latency, second, words, claim)


def _paper(name: str) -> str:
    """The figure of 000 that a name stands for; those of 002 have no numbers."""
    return f"figure {name[:-1]} {name[-1]}" if name[:-1].isdigit() else ""


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
        "Payload bandwidth per direction over the message size, by placement of the send and receive buffers (Elan"
        " memory or main memory), of remote DMAs of Elan3lib and of messages of MPI. Dashed: the asymptotes that the"
        " paper states."
    )
    return Figure(name, title, _paper(name), caption, layered(title, [base.mark_line(), points, *rules]))


def latencies(data: pl.DataFrame, column: str, legend: str) -> list[alt.Chart]:
    """Latency over the sizes of short messages, 0 B among them: a curve with its points for each value of a column."""
    order = data[column].unique(maintain_order=True).to_list()
    sizes = data["message_bytes"].unique().sort().to_list()
    base = alt.Chart(data).encode(
        x=alt.X(
            "message_bytes:O",
            sort=sizes,
            title="message size",
            axis=alt.Axis(values=[size for size in sizes if size == 0 or size in MARKS], labelExpr=BYTES, labelAngle=0),
        ),
        y=alt.Y("mean:Q", title="latency, µs", scale=alt.Scale(zero=True)),
        color=colour(column, order, legend),
        tooltip=[column, "message", alt.Tooltip("mean:Q", title="µs", format=".3f")],
    )
    points = base.mark_point(filled=True, size=45, opacity=1).encode(shape=shape(column, order, legend))
    return [base.mark_line(), points]


def _latency(data: pl.DataFrame, name: str, words: str, claim: str) -> Figure:
    title = f"Ping {words}: latency of short messages"
    curves = latencies(data, "placement", "buffers")
    places: dict[str, float | str] = {f"{claim}.latency.0B": 0.0, f"{claim}.latency.64B": 64.0}
    mpi = data.filter(pl.col("placement").str.starts_with("MPI"))
    if not mpi.is_empty():
        places[f"{claim}.latency.mpi"] = 0.0
    rules = published_at("message_bytes", places)
    caption = "Time from posting a remote DMA to its completion seen at the destination, up to 4 KB."
    if not mpi.is_empty():
        both = set(mpi["directions"]) == {"both"}
        caption += " MPI: the time of an MPI_Sendrecv." if both else " MPI: half of a round trip."
    if rules:
        caption += " Dashes: the latencies that the paper states."
    return Figure(name, title, _paper(name), caption, layered(title, [*curves, *rules]))
