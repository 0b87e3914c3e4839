"""What a claim is compared with: named functions from simulated rows to a number, an order or a finding.

Each measure gets the tidy rows of the points that its claim asks for, all of them finished. It answers with a
``Number`` (with its 95% confidence interval), an ``Order`` (names, best first) or a ``Finding`` (whether an inequality
holds, and the figures on both of its sides). Judging numbers and orders against the published ones is done in
``elanite.claims``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core, congestion
from elanite.frames import summarise, sustained

if TYPE_CHECKING:
    from elanite.claims import Claim

SHORT_MESSAGES = 16 * 1024
"""Largest mean message size, in bytes, that is not penalised (000 s5.3)."""

NARROW_GAP = 0.05
"""A gap between distributions of no more than this fraction has "almost disappeared" (000 s5.3 gives no figure)."""

EVEN = 0.1
"""Sums of delays this close to their mean, as a fraction of it, are even (000 s5.4 gives no figure)."""

UNEVEN = 0.1
"""A difference between destinations of more than this fraction of their mean is uneven (000 s5.4 gives no figure)."""

UNHARMED = 0.95
"""A performance of at least this fraction is not harmed (000 s5.4 gives no figure)."""


@dataclass(frozen=True)
class Number:
    """A simulated figure with its 95% confidence interval, in the unit of the claim."""

    mean: float
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True)
class Order:
    """Names in the order in which they came out, best first."""

    names: list[str]
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """Whether an inequality holds, with the figures that say so."""

    holds: bool
    text: str


Measurement = Number | Order | Finding
Measure = Callable[[pl.DataFrame, "Claim"], Measurement]

REGISTRY: dict[str, Measure] = {}


def measure(name: str) -> Callable[[Measure], Measure]:
    """Register a measure under the name that ``claims.toml`` uses."""

    def register(function: Measure) -> Measure:
        REGISTRY[name] = function
        return function

    return register


@measure("mean")
def mean(rows: pl.DataFrame, claim: Claim) -> Number:
    """Mean of one metric over all batches and seeds."""
    return _number(rows.filter(pl.col("metric") == claim.metric)["value"].to_list())


@measure("sustained")
def sustained_bandwidth(rows: pl.DataFrame, claim: Claim) -> Number:  # noqa: ARG001 - all measures look alike
    """Highest accepted load over the offered loads, mean of the distributions of sizes and arrivals."""
    best = sustained(rows)
    note = "; ".join(
        f"{row['sizes']} sizes, {row['arrivals']} arrivals: {row['mean']:.1f}"
        for row in summarise(best, ["sizes", "arrivals"]).iter_rows(named=True)
    )
    return _number(_over_distributions(best), note)


@measure("scaling")
def scaling(rows: pl.DataFrame, claim: Claim) -> Order:  # noqa: ARG001
    """Network sizes by their highest accepted load, mean of the distributions of sizes and arrivals."""
    best = sustained(rows)
    found = {
        nodes: _number(_over_distributions(best.filter(pl.col("nodes") == nodes)))
        for nodes in best["nodes"].unique().sort().to_list()
    }
    names = sorted(found, key=lambda nodes: -found[nodes].mean)
    return Order(
        [f"{nodes} nodes" for nodes in names],
        ", ".join(f"{nodes} nodes: {_with_interval(found[nodes])}" for nodes in found),
    )


@measure("distributions")
def distributions(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """The gap between uniform and exponential distributions: there at 16 nodes, narrow at 64."""
    best = sustained(rows)
    gaps: dict[int, float] = {}
    parts = []
    for nodes in best["nodes"].unique().sort().to_list():
        here = best.filter(pl.col("nodes") == nodes)
        uniform = _number(_distribution(here, "uniform"))
        exponential = _number(_distribution(here, "exponential"))
        gaps[nodes] = uniform.mean / exponential.mean - 1
        parts.append(
            f"{nodes} nodes: uniform {_with_interval(uniform)}, exponential {_with_interval(exponential)},"
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


@measure("even-and-growing")
def even_and_growing(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """Delays that are even over the switches of a level and grow with every step of the path to the destination."""
    switches = rows.group_by("id", "level", "from").agg(pl.col("waiting_us").sum())
    switches = switches.with_columns(
        off=(pl.col("waiting_us") / pl.col("waiting_us").mean().over("id", "level") - 1).abs()
    )
    (off,) = switches.select(pl.col("off").max()).row(0)
    path = congestion.path(rows).to_dicts()
    growing = all(before["mean"] < after["mean"] for before, after in pairwise(path))
    words = [
        f"{'up' if step['up'] else 'down'} from level {step['level']} {step['mean']:.1f}"
        f" [{step['least']:.1f}, {step['most']:.1f}]"
        for step in path
    ]
    text = f"{', '.join(words)}; the switches of a level within {off:.1%} of their mean"
    return Finding(off <= EVEN and growing and path[-1]["most"] == 100, text)


@measure("hot-links")
def hot_links(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """Hot links at the first level of switches, some and not all of them, and destinations that are served unevenly."""
    packets = pl.col("packets")
    down = (pl.col("level") == 2) & ~pl.col("up")
    hot = rows.top_k(-(-len(rows) // 10), by="waiting_us")
    at_first = hot.filter(down | (pl.col("level") == 1))
    into_first = sorted(rows.filter(down)["waiting_us"].to_list())
    half = len(into_first) // 2
    ratio = sum(into_first[-half:]) / sum(into_first[:half])
    served = rows.filter((pl.col("level") == 1) & ~pl.col("up") & (packets > 0))
    least, most = served.select(packets.min() / packets.mean(), most=packets.max() / packets.mean()).row(0)
    text = (
        f"{len(at_first)} of the {len(hot)} most loaded links are at the first level; of the links down to it the more"
        f" loaded half has {ratio:.1f} times the delays of the other; destinations get {least:.2f} to {most:.2f} of the"
        " mean"
    )
    return Finding(len(at_first) == len(hot) and ratio >= 2 and most - least > UNEVEN, text)


@measure("unharmed")
def unharmed(rows: pl.DataFrame, claim: Claim) -> Finding:
    """The metric on the last of the series' machines against that on the first."""
    here = rows.filter(pl.col("metric") == claim.metric)
    machines = here["machine"].unique(maintain_order=True).to_list()
    found = {name: _number(here.filter(pl.col("machine") == name)["value"].to_list()) for name in machines}
    text = "; ".join(f"{name}: {_with_interval(found[name])}" for name in machines)
    return Finding(found[machines[-1]].mean >= UNHARMED * found[machines[0]].mean, text)


def _number(values: list[float], note: str = "") -> Number:
    if not values:
        raise ValueError("the points have no rows of the metric that the claim asks for")
    return Number(*_core.interval(values), note)


def _with_interval(number: Number) -> str:
    return f"{number.mean:.1f} [{number.low:.1f}, {number.high:.1f}] MB/s"


def _over_distributions(best: pl.DataFrame) -> list[float]:
    """One value per batch and seed: the mean of the distributions, so that the interval is that of their mean."""
    return best.group_by("seed", "batch", maintain_order=True).agg(pl.col("value").mean())["value"].to_list()


def _distribution(best: pl.DataFrame, name: str) -> list[float]:
    return best.filter((pl.col("sizes") == name) & (pl.col("arrivals") == name))["value"].to_list()
