"""The words of measures: what they answer with, their registry, intervals of ratios, and the plainest of them.

Values are independent where they come from different batches or seeds of one configuration. Where a figure is the mean
of several configurations (distributions, mappings), these are averaged within a batch first, so that what differs
between them does not widen the interval of their mean.

Two configurations with the same seeds draw the same random numbers, so that much of what happens by chance happens to
both. Ratios and differences compare batch with batch, and are the sharper for it; they are right without it, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
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
    besides: bool | None = True
    """Whether what the claim says besides its figure holds, too; None if the intervals are too wide to say."""
    values: tuple[float, ...] = ()
    """The independent values that it is the mean of, by seed and batch."""

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def relative(self) -> float:
        """The same as a fraction of the mean."""
        return self.half / abs(self.mean) if self.mean else 0.0


@dataclass(frozen=True)
class Order:
    """Names in the order in which they came out, best first."""

    names: list[str]
    note: str = ""
    numbers: tuple[Number, ...] = ()
    """The figures that were compared."""


@dataclass(frozen=True)
class Finding:
    """Whether an inequality holds, with the figures that say so."""

    holds: bool | None
    """None if the intervals are too wide to say."""
    text: str
    numbers: tuple[Number, ...] = ()
    """The figures that were compared."""


Measurement = Number | Order | Finding
Measure = Callable[[pl.DataFrame, "Claim"], Measurement]

REGISTRY: dict[str, Measure] = {}

LITTLE = 0.05
"""A difference of no more than this fraction is little, flat, or no significant effect (the papers give no figure)."""


def measure(name: str) -> Callable[[Measure], Measure]:
    """Register a measure under the name that ``claims.toml`` uses."""

    def register(function: Measure) -> Measure:
        REGISTRY[name] = function
        return function

    return register


@measure("mean")
def mean(rows: pl.DataFrame, claim: Claim) -> Number:
    """Mean of one metric over all batches and seeds."""
    return averaged(rows.filter(pl.col("metric") == claim.metric))


def averaged(rows: pl.DataFrame, note: str = "") -> Number:
    """The mean of rows with its interval: one value for each batch and seed, the mean of the configurations."""
    return number(batches(rows), note)


def batches(rows: pl.DataFrame) -> list[float]:
    """One value for each seed and batch, in their order: the mean of the configurations."""
    keys = [key for key in ("seed", "batch") if key in rows.columns]
    return rows.group_by(keys).agg(pl.col("value").mean()).sort(keys)["value"].to_list()


def number(values: list[float], note: str = "") -> Number:
    """The mean of independent values with its interval."""
    if not values:
        raise ValueError("the points have no rows of the metric that the claim asks for")
    return Number(*_core.interval(values), note, values=tuple(values))


def ratio(one: Number, other: Number) -> Number:
    """One figure relative to another; the interval has the uncertainty of both."""
    value = one.mean / other.mean
    if pairs := _pairs(one, other):
        half = number([a - value * b for a, b in pairs]).half / abs(other.mean)
    else:
        half = abs(value) * math.hypot(one.relative, other.relative)
    return Number(value, value - half, value + half)


def difference(one: Number, other: Number) -> Number:
    """One figure less another; the interval has the uncertainty of both."""
    if pairs := _pairs(one, other):
        return number([a - b for a, b in pairs])
    value, half = one.mean - other.mean, math.hypot(one.half, other.half)
    return Number(value, value - half, value + half)


def _pairs(one: Number, other: Number) -> list[tuple[float, float]]:
    """The values of equal seeds and batches; none where the two were not measured alike."""
    alike = len(one.values) == len(other.values) > 1
    return list(zip(one.values, other.values, strict=True)) if alike else []


def at_least(figure: Number, bound: float) -> bool | None:
    """Whether a figure reaches a bound; None where its interval has the bound inside."""
    return True if figure.low >= bound else False if figure.high < bound else None


def within(figure: Number, low: float, high: float) -> bool | None:
    """Whether a figure lies between bounds; None where its interval reaches across one."""
    return together([at_least(figure, low), at_least(Number(-figure.mean, -figure.high, -figure.low), -high)])


def together(parts: Iterable[bool | None]) -> bool | None:
    """Whether all parts hold: no if one does not, and not to be said if one cannot be said."""
    found = list(parts)
    return False if False in found else None if None in found else True


def with_interval(figure: Number) -> str:
    """A bandwidth with its interval, in words."""
    return f"{figure.mean:.1f} [{figure.low:.1f}, {figure.high:.1f}] MB/s"


def of_whole(figure: Number) -> str:
    """A fraction with its interval, as per cent, in words."""
    return f"{figure.mean:.1%} [{figure.low:.1%}, {figure.high:.1%}]"
