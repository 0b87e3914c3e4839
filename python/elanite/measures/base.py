"""The words of measures: what they answer with, their registry, and the plainest of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core

if TYPE_CHECKING:
    from elanite.claims import Claim


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
    return number(rows.filter(pl.col("metric") == claim.metric)["value"].to_list())


def number(values: list[float], note: str = "") -> Number:
    """The mean of independent values with its interval."""
    if not values:
        raise ValueError("the points have no rows of the metric that the claim asks for")
    return Number(*_core.interval(values), note)


def with_interval(number: Number) -> str:
    """A bandwidth with its interval, in words."""
    return f"{number.mean:.1f} [{number.low:.1f}, {number.high:.1f}] MB/s"
