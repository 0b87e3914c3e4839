"""Garcia2005's figure 3: a computation's iteration times; the effect of noise on bulk-synchronous
programs.

``histogram`` draws ``elanite noise`` measurements from a real machine, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures import axes, grouping
from elanite.figures.colours import PALETTE
from elanite.figures.curves import curves
from elanite.figures.style import Figure, layered
from elanite.results.frames import resolved, summarise
from elanite.store import empty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BARS = 80
"""Most bars in a histogram."""

SHOWN = 0.999
"""The axis has room for at least this part of the iterations."""

NAMES = {0: ("3a", "first"), 1: ("3b", "second")}
"""The paper's figures, and the processor that each shows."""


def draw(table: pl.DataFrame) -> Iterator[Figure]:
    """A histogram for each processor, on the same axes; nodes and seeds count alike."""
    if not table.is_empty():
        yield from grouping.part_figures(table, [*empty("distribution").columns, "nodes"], _draw)


def _draw(table: pl.DataFrame) -> Iterator[Figure]:
    compute = float(table["compute_us"][0])
    found = {
        cpu: (
            table.filter(pl.col("cpu") == cpu)
            .group_by("lower_ps")
            .agg(pl.col("count").sum())
            .sort("lower_ps")
        )
        for cpu in table["cpu"].unique().sort().to_list()
    }
    width, bars = scale(list(found.values()))
    for cpu, bins in found.items():
        number, word = NAMES.get(cpu, (f"cpu-{cpu}", f"number {cpu}"))
        paper = f"figure {' '.join(number)}" if cpu in NAMES else ""
        title = f"Noise: time of an iteration on the {word} processor"
        yield histogram(bins, compute, (number, title, paper), (width, bars))


def scale(tables: Sequence[pl.DataFrame]) -> tuple[float, int]:
    """A bar's width, in round microseconds, and the bar count, for distributions on one axis."""
    most = max(_quantile(table, SHOWN) for table in tables)
    least = max(most / BARS, 0.01)
    power = 10.0 ** math.floor(math.log10(least))
    width = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * (1 - 1e-9))
    return width, math.floor(most / width) + 2


def histogram(
    bins: pl.DataFrame,
    compute: float,
    names: tuple[str, str, str],
    axis: tuple[float, int] | None = None,
) -> Figure:
    """A histogram of iteration times, from ``compute`` on: detour ``bins`` with ``lower_ps`` and
    ``count``.

    ``names`` are the short name, the title and the paper's figure; ``axis`` is a ``scale``.
    """
    width, bars = axis or scale([bins])
    index = (pl.col("lower_ps") / 1e6 / width).floor().cast(pl.Int64)
    drawn = bins.group_by(index.alias("bar")).agg(pl.col("count").sum()).sort("bar")
    inside = drawn.filter(pl.col("bar") < bars)
    beyond = sum(drawn.filter(pl.col("bar") >= bars)["count"].to_list())
    left = compute / 1e3 + pl.col("bar") * width / 1e3
    data = inside.with_columns(left=left, right=left + width / 1e3, floor=pl.lit(0.5))
    ends = [compute / 1e3, compute / 1e3 + bars * width / 1e3]
    x = alt.X(
        "left:Q",
        title="time of an iteration, ms",
        scale=alt.Scale(domain=ends, nice=False, zero=False),
    )
    y = alt.Y("count:Q", title="iterations", scale=alt.Scale(type="log", domainMin=0.5))
    chart = alt.Chart(data).mark_bar(color=PALETTE[0], binSpacing=0, clip=True)
    layer = chart.encode(
        x=x,
        x2=alt.X2("right:Q"),
        y=y,
        y2=alt.Y2("floor:Q"),
        tooltip=[
            alt.Tooltip("left:Q", title="from, ms", format=".5f"),
            alt.Tooltip("right:Q", title="to, ms", format=".5f"),
            alt.Tooltip("count:Q", title="iterations", format=","),
        ],
    )
    name, title, paper = names
    longest = float(str(bins["lower_ps"].max())) / 1e6
    total = int(bins["count"].sum())
    caption = (
        f"{total:,} iterations of a computation that takes {compute / 1e3:.6g} ms in the absence of"
        f" noise, by the time that they took, on a logarithmic axis. A bar is {width:g} µs wide."
    )
    if beyond:
        caption += (
            f" {beyond:,} iterations took longer than the axis shows, the longest"
            f" {longest / 1e3:.4g} ms more."
        )
    return Figure(name, title, paper, caption, layered(title, [layer]))


def _quantile(bins: pl.DataFrame, share: float) -> float:
    """A detour quantile, in microseconds."""
    ordered = bins.sort("lower_ps")
    reached = ordered.filter(pl.col("count").cum_sum() >= share * pl.col("count").sum())
    return float(reached["lower_ps"][0]) / 1e6


STEPS = {
    "hgsync": "hardware barrier (elan_hgsync)",
    "gsync": "software barrier (elan_gsync)",
    "reduce": "reduction (elan_reduce)",
}
"""Curve names by the call between computations."""

QUIET = "host.noise=false"
"""The change that marks the machine without noise."""


def scaling(rows: pl.DataFrame) -> Iterator[Figure]:
    """The time that noise adds to a step (computation and call), over the node count."""
    rows = rows.filter(pl.col("metric") == "step")
    yield from grouping.part_figures(rows, ("operation", "nodes", "machine"), _scaling)


def _scaling(rows: pl.DataFrame) -> Iterator[Figure]:
    quiet = pl.col("machine").str.contains(QUIET, literal=True)
    keys = ["operation", "nodes", "seed", "batch"]
    without = rows.filter(quiet).select(*keys, without=pl.col("value"))
    added = (
        rows.filter(~quiet)
        .join(without, on=keys)
        .with_columns(value=pl.col("value") - pl.col("without"))
    )
    if added.is_empty():
        return
    groups = ["operation", "nodes"]
    order = {name: index for index, name in enumerate(STEPS)}
    data = resolved(summarise(added, groups)).sort(
        pl.col("operation").replace_strict(order, default=len(order)), "nodes"
    )
    data = data.with_columns(curve=pl.col("operation").replace(STEPS))
    nodes = data["nodes"].unique().sort().to_list()
    axis = alt.Axis(values=nodes, grid=False)
    x = alt.X(
        "nodes:Q",
        title="nodes",
        scale=alt.Scale(type="log", base=2, nice=False, padding=12),
        axis=axis,
    )
    title = (
        f"Noise: the time it adds to a computation of {added['compute'][0]} and a collective call"
    )
    caption = (
        "Mean time of a step with noise less that without, all processes on the first processors of"
        " their nodes. Bars are 95% confidence intervals over batches and seeds. A prediction:"
        " nothing is published about this effect."
    )
    cut = axes.cut(data, axes.ends(data), lambda row: f"{row['curve']} at {row['nodes']:,} nodes")
    caption = " ".join(filter(None, [caption, cut]))
    yield Figure(
        "scaling",
        title,
        "",
        caption,
        layered(title, curves(data, "curve", "call", x, "added, µs")),
    )
