"""Flow completion times: the FCT slowdown over the flow size, and the completion time distribution.

The slowdown is drawn as papers on data centre transport draw it: flows are sorted by size and cut into bins with equal
flow counts; each bin has its median, p99 and p99.9, at its largest size. Few sizes have a bin each. Percentiles use the
nearest rank: in a bin with fewer than 1,000 flows, p99.9 is the largest value. Flows from all seeds count alike, and no
figure mixes configurations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import counted
from elanite.figures import axes
from elanite.figures.colours import PALETTE
from elanite.figures.style import FORMAT, Figure, colour, layered, shape, size_axis

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BINS = 10
"""Bins for a list's sizes."""

PER_MILLE: Mapping[str, int] = {"p50": 500, "p99": 990, "p99.9": 999}
"""The percentiles, in thousandths."""

STEPS = 500
"""Most drawn steps in a distribution."""

LOG, LEAST = 20.0, 1.0
"""From this slowdown on the axis is logarithmic; slowdowns are 1 or more."""


def rank(values: pl.Series, per_mille: int) -> float:
    """The least value that ``per_mille`` thousandths of the values do not exceed."""
    return float(values.sort()[math.ceil(len(values) * per_mille / 1000) - 1])


def binned(flows: pl.DataFrame) -> pl.DataFrame:
    """The bins for flows with ``size`` and ``slowdown``: largest size, flow count, a row for each percentile."""
    sizes = flows["size"].n_unique()
    ordered = flows.sort("size")
    place = pl.int_range(pl.len()) * BINS // pl.len() if sizes > BINS else pl.col("size").rank("dense")
    rows = []
    # A size belongs to the bin of its last flow, so that flows with one size are together.
    bins = ordered.with_columns(bin=place).with_columns(pl.col("bin").max().over("size"))
    for _, here in bins.group_by("bin", maintain_order=True):
        for name, per_mille in PER_MILLE.items():
            rows.append((here["size"].max(), len(here), name, rank(here["slowdown"], per_mille)))
    return pl.DataFrame(rows, ["size", "flows", "percentile", "slowdown"], orient="row")


def draw(flows: pl.DataFrame) -> Iterator[Figure]:
    """The figures for flows with ``label``, their configuration in words, ``size``, ``fct_ps`` and ``slowdown``."""
    ended = flows.drop_nulls("fct_ps")
    labels = ended["label"].unique(maintain_order=True).to_list()
    for number, label in enumerate(labels, 1):
        name = "fct-slowdown" if len(labels) == 1 else f"fct-slowdown-{number}"
        yield _slowdown(ended.filter(pl.col("label") == label), name, label)
    for part in range(0, len(labels), len(PALETTE)):
        name = "fct-cdf" if len(labels) <= len(PALETTE) else f"fct-cdf-{part // len(PALETTE) + 1}"
        yield _distribution(ended, name, labels[part : part + len(PALETTE)])


def _slowdown(flows: pl.DataFrame, name: str, label: str) -> Figure:
    data = binned(flows)
    title = f"FCT slowdown over the size of flows{f', {label}' if label else ''}"
    order = list(PER_MILLE)
    most = max(data["slowdown"].to_list())
    if most > LOG:
        reach = (LEAST, most)
        y = alt.Y("slowdown:Q", title="FCT slowdown", scale=axes.scale(reach, log=True), axis=axes.decades(reach))
    else:
        y = alt.Y("slowdown:Q", title="FCT slowdown", scale=alt.Scale(domain=[0, most * 1.05], nice=True))
    x = size_axis("size", "size of flows", data["size"].to_list())
    if data["size"].n_unique() == 1:
        x = alt.X("size:O", title="size of flows", axis=alt.Axis(labelExpr=_OF_ONE, labelAngle=0))
    base = alt.Chart(data).encode(x=x, y=y, color=colour("percentile", order, "percentile"))
    marks = base.mark_point(filled=True, size=55, opacity=1).encode(
        shape=shape("percentile", order, "percentile"),
        tooltip=[
            alt.Tooltip("percentile"),
            alt.Tooltip("slowdown:Q", format=FORMAT),
            alt.Tooltip("size:Q", title="bytes, at most", format=","),
            alt.Tooltip("flows:Q", title="flows of the bin", format=","),
        ],
    )
    each = "Each size is a bin." if flows["size"].n_unique() <= BINS else f"Bins have {_span(data)} each."
    caption = (
        f"Completion time over that of the same flow alone on the idle machine, of {counted(len(flows), 'flow')}."
        f" {each} Percentiles are those of the nearest rank; of fewer than 1,000 flows, p99.9 is the largest value."
    )
    return Figure(name, title, "", caption, layered(title, [base.mark_line(), marks]))


_OF_ONE = "datum.value >= 1024 ? datum.value / 1024 + ' KB' : datum.value + ' B'"
"""Vega expression for the only size on an axis."""


def _span(data: pl.DataFrame) -> str:
    """The flow counts in the bins."""
    counts = data["flows"].to_list()
    low, high = min(counts), max(counts)
    return f"{low:,} flows" if low == high else f"{low:,} to {high:,} flows"


def _distribution(flows: pl.DataFrame, name: str, labels: list[str]) -> Figure:
    title = "Distribution of the completion time of flows"
    parts = [_cumulative(flows.filter(pl.col("label") == label), label) for label in labels]
    data = pl.concat(parts)
    axis = alt.Axis(values=axes.DECADES, grid=False)
    x = alt.X("fct:Q", title="completion time, µs", scale=alt.Scale(type="log", nice=False), axis=axis)
    lines = (
        alt.Chart(data)
        .mark_line(interpolate="step-after")
        .encode(
            x=x,
            y=alt.Y("share:Q", title="flows that take no longer, %", scale=alt.Scale(domain=[0, 100])),
            color=colour("flows", labels, "flows"),
            tooltip=[
                alt.Tooltip("flows"),
                alt.Tooltip("fct:Q", title="µs", format=FORMAT),
                alt.Tooltip("share:Q", title="%", format=FORMAT),
            ],
        )
    )
    caption = "The share of flows whose completion time is no longer than a time, over this time."
    return Figure(name, title, "", caption, layered(title, [lines]))


def _cumulative(flows: pl.DataFrame, label: str) -> pl.DataFrame:
    """The completion time distribution as steps, few enough to be drawn."""
    times = (
        flows.select(fct=pl.col("fct_ps") / 1e6)
        .group_by("fct")
        .len()
        .sort("fct")
        .with_columns(share=100 * pl.col("len").cum_sum() / pl.col("len").sum())
    )
    step = (pl.col("share") * STEPS / 100).floor()
    kept = times.filter((step != step.shift(1)).fill_null(value=True) | (pl.col("fct") == pl.col("fct").max()))
    begin = pl.DataFrame({"fct": [float(times["fct"][0])], "share": [0.0]})
    return pl.concat([begin, kept.select("fct", "share")]).with_columns(flows=pl.lit(label or "all flows"))
