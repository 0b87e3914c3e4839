"""Measures of uniform traffic (000 s5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.frames import summarise, sustained
from elanite.measures.base import Finding, Number, Order, measure, number, with_interval

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
    return number(_over_distributions(best), note)


@measure("scaling")
def scaling(rows: pl.DataFrame, claim: Claim) -> Order:  # noqa: ARG001
    """Network sizes by their highest accepted load, mean of the distributions of sizes and arrivals."""
    best = sustained(rows)
    found = {
        nodes: number(_over_distributions(best.filter(pl.col("nodes") == nodes)))
        for nodes in best["nodes"].unique().sort().to_list()
    }
    names = sorted(found, key=lambda nodes: -found[nodes].mean)
    return Order(
        [f"{nodes} nodes" for nodes in names],
        ", ".join(f"{nodes} nodes: {with_interval(found[nodes])}" for nodes in found),
    )


@measure("distributions")
def distributions(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """The gap between uniform and exponential distributions: there at 16 nodes, narrow at 64."""
    best = sustained(rows)
    gaps: dict[int, float] = {}
    parts = []
    for nodes in best["nodes"].unique().sort().to_list():
        here = best.filter(pl.col("nodes") == nodes)
        uniform = number(_distribution(here, "uniform"))
        exponential = number(_distribution(here, "exponential"))
        gaps[nodes] = uniform.mean / exponential.mean - 1
        parts.append(
            f"{nodes} nodes: uniform {with_interval(uniform)}, exponential {with_interval(exponential)},"
            f" gap {gaps[nodes]:+.1%}"
        )
    holds = gaps[16] >= 0 and abs(gaps[64]) < gaps[16] and abs(gaps[64]) < NARROW_GAP
    return Finding(holds, "; ".join(parts))


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
    return Finding(holds, text + " MB/s")


def _over_distributions(best: pl.DataFrame) -> list[float]:
    """One value per batch and seed: the mean of the distributions, so that the interval is that of their mean."""
    return best.group_by("seed", "batch", maintain_order=True).agg(pl.col("value").mean())["value"].to_list()


def _distribution(best: pl.DataFrame, name: str) -> list[float]:
    return best.filter((pl.col("sizes") == name) & (pl.col("arrivals") == name))["value"].to_list()
