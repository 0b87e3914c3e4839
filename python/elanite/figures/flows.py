"""Flow completion times: the FCT slowdown over the flow size, and the completion time distribution.

The slowdown is drawn as papers on data centre transport draw it: flows are sorted by size and cut
into bins with equal flow counts; each bin has its median, p99 and p99.9, at its largest size. Few
sizes have a bin each. Percentiles use the nearest rank: in a bin with fewer than 1,000 flows, p99.9
is the largest value. Each seed has percentiles and a distribution of its own, as in the rows of
results; figures show their means. No figure mixes configurations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import counted, spanned
from elanite.figures import axes
from elanite.figures.colours import PALETTE
from elanite.figures.style import BYTES, FORMAT, Figure, colour, layered, shape, size_axis

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


def percentiles(flows: pl.DataFrame) -> dict[str, float]:
    """Each percentile of ``slowdown``, as the mean of the seeds' percentiles."""
    seeds = [here["slowdown"] for _, here in flows.group_by("seed", maintain_order=True)]
    return {
        name: sum(rank(slowdowns, per_mille) for slowdowns in seeds) / len(seeds)
        for name, per_mille in PER_MILLE.items()
    }


def counts(flows: pl.DataFrame) -> tuple[int, int]:
    """The least and the largest flow count of a seed."""
    each = flows.group_by("seed").len()["len"].to_list()
    return min(each), max(each)


def binned(flows: pl.DataFrame) -> pl.DataFrame:
    """The bins for flows with ``seed``, ``size`` and ``slowdown``: a row for each percentile.

    The columns are the bin's largest size, the least and the largest flow count of a seed, the
    percentile's name, and its mean over the seeds with flows in the bin. All seeds have the same
    bins.
    """
    sizes = flows["size"].n_unique()
    ordered = flows.sort("size", "seed")
    place = (
        pl.int_range(pl.len()) * BINS // pl.len() if sizes > BINS else pl.col("size").rank("dense")
    )
    rows = []
    # A size belongs to the bin of its last flow, so that flows with one size are together.
    bins = ordered.with_columns(bin=place).with_columns(pl.col("bin").max().over("size"))
    for _, here in bins.group_by("bin", maintain_order=True):
        for name, slowdown in percentiles(here).items():
            rows.append((here["size"].max(), *counts(here), name, slowdown))
    return pl.DataFrame(rows, ["size", "least", "most", "percentile", "slowdown"], orient="row")


def draw(flows: pl.DataFrame) -> Iterator[Figure]:
    """The figures for flows with ``label``, their configuration in words, seed, size, completion
    time and slowdown.
    """
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
    data = data.with_columns(
        flows=pl.Series([spanned(*ends) for ends in data.select("least", "most").iter_rows()])
    )
    title = f"FCT slowdown over the size of flows{f', {label}' if label else ''}"
    order = list(PER_MILLE)
    most = max(data["slowdown"].to_list())
    if most > LOG:
        reach = (LEAST, most)
        y = alt.Y(
            "slowdown:Q",
            title="FCT slowdown",
            scale=axes.scale(reach, log=True),
            axis=axes.decades(reach),
        )
    else:
        y = alt.Y(
            "slowdown:Q", title="FCT slowdown", scale=alt.Scale(domain=[0, most * 1.05], nice=True)
        )
    x = size_axis("size", "size of flows", data["size"].to_list())
    if data["size"].n_unique() == 1:
        x = alt.X("size:O", title="size of flows", axis=alt.Axis(labelExpr=BYTES, labelAngle=0))
    base = alt.Chart(data).encode(x=x, y=y, color=colour("percentile", order, "percentile"))
    marks = base.mark_point(filled=True, size=55, opacity=1).encode(
        shape=shape("percentile", order, "percentile"),
        tooltip=[
            alt.Tooltip("percentile"),
            alt.Tooltip("slowdown:Q", format=FORMAT),
            alt.Tooltip("size:Q", title="bytes, at most", format=","),
            alt.Tooltip("flows:N", title="flows of the bin"),
        ],
    )
    each = "Each size is a bin."
    if flows["size"].n_unique() > BINS:
        each = f"Bins have {spanned(min(data['least']), max(data['most']), 'flow')} each."
    caption = (
        "Completion time over that of the same flow alone on the idle machine, of"
        f" {flow_count(flows)}. {each} Percentiles are those of the nearest rank; of fewer than"
        " 1,000 flows, p99.9 is the largest value."
    )
    if (seeds := flows["seed"].n_unique()) > 1:
        caption += f" Means of {seeds} seeds, each with percentiles of its own."
    return Figure(name, title, "", caption, layered(title, [base.mark_line(), marks]))


def flow_count(flows: pl.DataFrame) -> str:
    """The flow count in words: ``40 flows``, with several seeds ``40 flows in each of 3 seeds``."""
    seeds = flows["seed"].n_unique()
    return spanned(*counts(flows), "flow") + (
        f" in each of {counted(seeds, 'seed')}" if seeds > 1 else ""
    )


def _distribution(flows: pl.DataFrame, name: str, labels: list[str]) -> Figure:
    title = "Distribution of the completion time of flows"
    parts = [_cumulative(flows.filter(pl.col("label") == label), label) for label in labels]
    data = pl.concat(parts)
    axis = alt.Axis(values=axes.DECADES, grid=False)
    x = alt.X(
        "fct:Q", title="completion time, µs", scale=alt.Scale(type="log", nice=False), axis=axis
    )
    lines = (
        alt.Chart(data)
        .mark_line(interpolate="step-after")
        .encode(
            x=x,
            y=alt.Y(
                "share:Q", title="flows that take no longer, %", scale=alt.Scale(domain=[0, 100])
            ),
            color=colour("flows", labels, "flows"),
            tooltip=[
                alt.Tooltip("flows"),
                alt.Tooltip("fct:Q", format=FORMAT),
                alt.Tooltip("share:Q", format=FORMAT),
            ],
        )
    )
    caption = "The share of flows whose completion time is no longer than a time, over this time."
    if (seeds := flows["seed"].n_unique()) > 1:
        caption += f" Mean of the shares of {seeds} seeds."
    return Figure(name, title, "", caption, layered(title, [lines]))


def _cumulative(flows: pl.DataFrame, label: str) -> pl.DataFrame:
    """The completion time distribution as steps, few enough to be drawn; all seeds have the same
    weight.
    """
    times = (
        flows.select(fct=pl.col("fct_ps") / 1e6, weight=1 / pl.len().over("seed"))
        .group_by("fct")
        .agg(pl.col("weight").sum())
        .sort("fct")
        .with_columns(share=100 * pl.col("weight").cum_sum() / pl.col("weight").sum())
    )
    step = (pl.col("share") * STEPS / 100).floor()
    kept = times.filter(
        (step != step.shift(1)).fill_null(value=True) | (pl.col("fct") == pl.col("fct").max())
    )
    begin = pl.DataFrame({"fct": [float(times["fct"][0])], "share": [0.0]})
    return pl.concat([begin, kept.select("fct", "share")]).with_columns(
        flows=pl.lit(label or "all flows")
    )
