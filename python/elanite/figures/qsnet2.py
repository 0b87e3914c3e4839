"""Figures 1 and 2 of 003: MPI on QsNetII, and how it overlaps with computation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.curves import curves
from elanite.figures.ping import latencies
from elanite.figures.style import Figure, colour, layered, published, published_at, shape, size_axis
from elanite.frames import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = 4096
"""Largest message, in bytes, of the latency figure."""

MAIN = {"mpi", "overlap"}
"""The series of the published machine; the others are named after what they change."""

SERIES = {
    "mpi": "PCI-X at 133 MHz",
    "overlap": "PCI-X at 133 MHz",
    "pci-x-100": "PCI-X at 100 MHz",
    "pci-x-66": "PCI-X at 66 MHz",
    "host": "133 MHz, matching and copying by the host",
}

COMPARED = 32 * 1024
"""The message of figure 2b, in bytes."""

DIRECTIONS = {"one": "unidirectional", "both": "bidirectional, both directions together"}


def pings(rows: pl.DataFrame) -> Iterator[Figure]:
    """Bandwidth and latency of the published machine, and the bandwidth of the others."""
    means = _named(rows).with_columns(way=pl.col("directions").replace_strict(DIRECTIONS))
    together = pl.when(pl.col("directions") == "both").then(2.0).otherwise(1.0)
    bandwidth = means.filter((pl.col("metric") == "bandwidth") & (pl.col("message_bytes") > 0))
    bandwidth = bandwidth.with_columns(pl.col("mean", "low", "high") * together)
    main = bandwidth.filter(pl.col("series").is_in(MAIN))
    if not main.is_empty():
        yield _bandwidth(main)
    latency = means.filter(
        (pl.col("metric") == "latency") & (pl.col("message_bytes") <= SHORT) & pl.col("series").is_in(MAIN)
    )
    if not latency.is_empty():
        yield _latency(latency)
    if bandwidth["series"].n_unique() > 1:
        yield _compared(bandwidth)


def overlaps(rows: pl.DataFrame) -> Iterator[Figure]:
    """Bandwidth over the time of computation by message size, and CPU availability by machine."""
    means = _named(rows)
    bandwidth = means.filter((pl.col("metric") == "bandwidth") & pl.col("series").is_in(MAIN))
    x = alt.X("compute_us:Q", title="computation in each round, µs")
    if not bandwidth.is_empty():
        title = "Post-compute-wait: bandwidth"
        caption = (
            "Bandwidth of both directions together over the time of computation. While the computation is shorter than"
            " the transfers, it costs nothing; beyond, there is nothing to transfer for the rest of each round."
        )
        data = bandwidth.sort("message_bytes", "compute_us")
        layers = curves(data, "message", "message", x, "bandwidth, MB/s")
        yield Figure("2a", title, "figure 2 a", caption, layered(title, layers))
    availability = means.filter((pl.col("metric") == "availability") & (pl.col("message_bytes") == COMPARED))
    if not availability.is_empty():
        title = "Post-compute-wait: CPU availability, 32 KB"
        caption = (
            "Time of the compute phases over that of all phases. Dashed: what the paper states for computations"
            " just longer than a round trip."
        )
        layers = curves(availability.sort("compute_us"), "machine_name", "machine", x, "CPU availability", "")
        rules = published("qsnet2.overlap.short")
        yield Figure("2b", title, "figure 2 b", caption, layered(title, [*layers, *rules]))


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    name = pl.col("series").replace_strict(SERIES, default=pl.col("series"))
    return summarise(rows).with_columns(machine_name=name)


def _bandwidth(data: pl.DataFrame) -> Figure:
    title = "MPI on QsNetII: bandwidth"
    order = data["way"].unique(maintain_order=True).to_list()
    base = _over_sizes(data, "way", order, "messages")
    # The two are so near each other that only one can be named at its end; the caption names the other.
    rules = [*published("qsnet2.uni.bandwidth"), *published("qsnet2.bi.bandwidth")[:1]]
    caption = (
        "Bandwidth over the message size; between main memories. Bidirectional is the sum of both directions, which"
        " share the PCI-X bus of each node. Dashed: the peaks that the paper states, 875 and, bidirectional, 857 MB/s."
    )
    return Figure("1a", title, "figure 1 a", caption, layered(title, [*base, *rules]))


def _compared(data: pl.DataFrame) -> Figure:
    title = "MPI on QsNetII: bandwidth by machine"
    both = data.filter(pl.col("directions") == "both")
    order = both["machine_name"].unique(maintain_order=True).to_list()
    layers = _over_sizes(both, "machine_name", order, "machine")
    caption = "Bandwidth of both directions together over the message size, with PCI-X of three clocks."
    if "host" in both["series"].to_list():
        caption += " And the same where the host matches tags and copies messages, instead of the adapter."
    return Figure("machines", title, "", caption, layered(title, layers))


def _over_sizes(data: pl.DataFrame, column: str, order: list[str], legend: str) -> list[alt.Chart | alt.LayerChart]:
    base = alt.Chart(data).encode(
        x=size_axis("message_bytes", "message size", data["message_bytes"].to_list()),
        y=alt.Y("mean:Q", title="payload bandwidth, MB/s"),
        color=colour(column, order, legend),
        tooltip=[column, "message", alt.Tooltip("mean:Q", title="MB/s", format=".1f")],
    )
    points = base.mark_point(filled=True, size=45, opacity=1).encode(shape=shape(column, order, legend))
    return [base.mark_line(), points]


def _latency(data: pl.DataFrame) -> Figure:
    title = "MPI on QsNetII: latency of short messages"
    data = data.with_columns(
        way=pl.col("directions").replace_strict({"one": "unidirectional", "both": "bidirectional"})
    )
    drawn = latencies(data, "way", "messages")
    rules = published_at("message_bytes", {"qsnet2.uni.latency": 0.0, "qsnet2.bi.latency": 0.0})
    caption = (
        "Unidirectional: half of a round trip of MPI_Send and MPI_Recv. Bidirectional: from MPI_Irecv and MPI_Isend at"
        " both ends to the end of both. Dashes: the latencies that the paper states."
    )
    return Figure("1b", title, "figure 1 b", caption, layered(title, [*drawn, *rules]))
