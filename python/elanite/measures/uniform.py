"""Measures of uniform traffic (000 s5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.frames import summarise, sustained
from elanite.measures.base import (
    Finding,
    Number,
    Order,
    at_least,
    averaged,
    measure,
    number,
    ratio,
    together,
    with_interval,
    within,
)

if TYPE_CHECKING:
    from elanite.claims import Claim

SHORT_MESSAGES = 16 * 1024
"""Largest mean message size, in bytes, that is not penalised (000 s5.3)."""

NARROW_GAP = 0.05
"""A gap between distributions of no more than this fraction has "almost disappeared" (000 s5.3 gives no figure)."""


@measure("sustained")
def sustained_bandwidth(rows: pl.DataFrame, claim: Claim) -> Number:  # noqa: ARG001 - all measures look alike
    """Highest accepted load over the offered loads, mean of the distributions of sizes and arrivals."""
    best = sustained(rows)
    note = "; ".join(
        f"{row['sizes']} sizes, {row['arrivals']} arrivals: {row['mean']:.1f}"
        for row in summarise(best, ["sizes", "arrivals"]).iter_rows(named=True)
    )
    return averaged(best, note)


@measure("scaling")
def scaling(rows: pl.DataFrame, claim: Claim) -> Order:  # noqa: ARG001
    """Network sizes by their highest accepted load, mean of the distributions of sizes and arrivals."""
    best = sustained(rows)
    found = {
        nodes: averaged(best.filter(pl.col("nodes") == nodes)) for nodes in best["nodes"].unique().sort().to_list()
    }
    names = sorted(found, key=lambda nodes: -found[nodes].mean)
    return Order(
        [f"{nodes} nodes" for nodes in names],
        ", ".join(f"{nodes} nodes: {with_interval(found[nodes])}" for nodes in found),
        tuple(found.values()),
    )


@measure("distributions")
def distributions(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """The gap between uniform and exponential distributions: there at 16 nodes, narrow at 64."""
    best = sustained(rows)
    gaps: dict[int, Number] = {}
    parts, numbers = [], []
    for nodes in best["nodes"].unique().sort().to_list():
        here = best.filter(pl.col("nodes") == nodes)
        uniform, exponential = (number(_distribution(here, name)) for name in ("uniform", "exponential"))
        gap = ratio(uniform, exponential)
        gaps[nodes] = Number(gap.mean - 1, gap.low - 1, gap.high - 1)
        parts.append(
            f"{nodes} nodes: uniform {with_interval(uniform)}, exponential {with_interval(exponential)},"
            f" gap {gaps[nodes].mean:+.1%} [{gaps[nodes].low:+.1%}, {gaps[nodes].high:+.1%}]"
        )
        numbers += [uniform, exponential]
    few, many = gaps[min(gaps)], gaps[max(gaps)]
    there = at_least(few, 0.0)
    closed = together([within(many, -NARROW_GAP, NARROW_GAP), there and abs(many.mean) < few.mean])
    return Finding(together([there, closed]), "; ".join(parts), tuple(numbers))


@measure("message-size")
def message_size(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """Mean message sizes up to 16 KB against those above, by their highest accepted load."""
    best = summarise(sustained(rows), ["message", "message_bytes"]).sort("message_bytes")
    short = best.filter(pl.col("message_bytes") <= SHORT_MESSAGES)
    long = best.filter(pl.col("message_bytes") > SHORT_MESSAGES)
    top = short.sort("mean").tail(1)
    holds = len(top) == 1 and len(long) > 0 and bool((long["high"] < top["low"].item()).all())
    text = ", ".join(
        f"{row['message']}: {row['mean']:.1f} [{row['low']:.1f}, {row['high']:.1f}]"
        for row in best.iter_rows(named=True)
    )
    numbers = (Number(row["mean"], row["low"], row["high"]) for row in best.iter_rows(named=True))
    return Finding(holds, text + " MB/s", tuple(numbers))


def _distribution(best: pl.DataFrame, name: str) -> list[float]:
    return best.filter((pl.col("sizes") == name) & (pl.col("arrivals") == name))["value"].to_list()
