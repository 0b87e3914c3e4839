"""Figures 19 and 20 of 000: a job that computes beside a job that does I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.curves import SATURATED, loads, of_loads
from elanite.figures.style import HOT, Figure, layered, published
from elanite.measures.jobs import UNDISTURBED, jobs, kept

if TYPE_CHECKING:
    from collections.abc import Iterator

MAPPINGS = ("clustered 1c", "clustered 1i", "distributed")
"""The paper's names: the compute job, or the I/O job, on the first half of the machine."""


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Accepted over offered load of the compute job for each I/O load, and what it keeps at saturation."""
    rows = (
        jobs(rows)
        .filter(pl.col("job") == "compute")
        .with_columns(
            load=pl.coalesce("load_MBps", "compute.load_MBps"),
            place=pl.coalesce("nodes", "compute.nodes"),
            io_nodes=pl.col("series").str.split("-").list.first(),
            curve=pl.col("series").str.split("-").list.last().replace({"1c": MAPPINGS[0], "1i": MAPPINGS[1]}),
        )
    )
    io_loads = rows["io.load_MBps"].drop_nulls().unique().sort().to_list()
    letters = iter("abcdef")
    for io_load in io_loads:
        for io_nodes in ("shared", "dedicated"):
            beside = rows.filter((pl.col("io.load_MBps") == io_load) & (pl.col("io_nodes") == io_nodes))
            letter = next(letters, "")
            if not beside.is_empty():
                alone = rows.filter((pl.col("series") == "alone") & pl.col("place").is_in(beside["place"].to_list()))
                yield _load(pl.concat([alone, beside]), letter, io_load, io_nodes)
    if io_loads and not rows.filter(pl.col("series") == "alone").is_empty():
        yield _summary(kept(rows))


def _load(rows: pl.DataFrame, letter: str, io_load: float, io_nodes: str) -> Figure:
    title = f"Combined traffic: {io_nodes} I/O nodes, I/O load {io_load:g} MB/s per node"
    data = of_loads(rows, ["curve", "load"])
    caption = (
        f"Accepted against offered load of the compute job, alone and beside the I/O job. {SATURATED} 1c: the compute"
        " job is on the first half of the machine, away from clustered I/O nodes; 1i: it is on the second half. Dashed:"
        " what the paper gives for the compute job alone."
    )
    layers = [*loads(data, "curve", "I/O nodes", "offered", "node"), *published("combined.alone")]
    return Figure(f"19{letter}", title, f"figure 19 {letter}", caption, layered(title, layers))


def _summary(found: pl.DataFrame) -> Figure:
    title = "Combined traffic: where the compute job suffers"
    names = {
        f"{io_nodes}-{short}": f"{io_nodes}, {name}"
        for io_nodes in ("shared", "dedicated")
        for short, name in zip(("1c", "1i", "distributed"), MAPPINGS, strict=True)
    }
    data = found.drop("values").with_columns(
        mapping=pl.col("series").replace(names), text=pl.format("{}%", (100 * pl.col("kept")).round(0).cast(pl.Int64))
    )
    base = alt.Chart(data).encode(
        x=alt.X("io_load:O", title="I/O load, MB/s per node", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("mapping:O", sort=list(names.values()), title="I/O nodes, mapping of the jobs"),
        tooltip=["mapping", "io_load", alt.Tooltip("value:Q", format=".1f"), alt.Tooltip("alone:Q", format=".1f")],
    )
    suffers = f"datum.kept < {UNDISTURBED}"
    blocks = base.mark_rect(stroke="white").encode(
        color=alt.Color(
            "kept:Q",
            title="bandwidth kept",
            scale=alt.Scale(domain=[0.5, 1.0], range=[HOT, "#ffffff"], interpolate="rgb", clamp=True),
            legend=alt.Legend(format="%"),
        )
    )
    words = base.mark_text(fontSize=14).encode(
        text="text:N", color=alt.value("black"), opacity=alt.condition(suffers, alt.value(1.0), alt.value(0.55))
    )
    caption = (
        "What the compute job keeps, at its highest load, of the bandwidth that it has alone on the same nodes. Where"
        f" it keeps less than {UNDISTURBED:.0%} it suffers."
    )
    return Figure("20", title, "figure 20", caption, layered(title, [blocks, words]))
