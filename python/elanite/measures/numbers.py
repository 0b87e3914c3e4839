"""Measured figures: means with their intervals, and comparisons of two figures.

Values are independent if they come from different batches or seeds of one configuration. If a figure is the mean of
several configurations (distributions, mappings), these are averaged within a batch first, so that differences between
configurations do not widen the interval. The simulator computes all intervals, those of ratios and differences, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.text import FEWEST, with_half

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


@dataclass(frozen=True)
class Number:
    """A simulated figure with its 95% confidence interval, in the unit of the claim."""

    mean: float
    low: float
    high: float
    note: str = ""
    besides: bool | None = True
    """Whether the other statements of the claim hold, too; None if the intervals are too wide to say."""
    values: tuple[float, ...] = ()
    """The independent values of the mean, by seed and batch."""
    runs: tuple[float, ...] = ()
    """The means of single runs, by seed, if the figure is the mean of rows."""
    sides: tuple[Number, ...] = ()
    """The figures that it compares; empty if it compares none."""
    parts: tuple[Part, ...] = ()
    """The other statements of the claim."""

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def few(self) -> bool:
        """Whether it has fewer than three values, or compares a figure that has: then its interval is not known.

        One value shows no spread, and the spread of two is a single difference.
        """
        return any(side.few for side in self.sides) if self.sides else len(self.values) < FEWEST

    @property
    def text(self) -> str:
        """The mean for people, with half the width of its interval if the interval is known."""
        return with_half(self.mean, 0.0 if self.few else self.half)

    @property
    def relative(self) -> float:
        """Half the width of the interval as a fraction of the mean."""
        return self.half / abs(self.mean) if self.mean else 0.0

    def turned(self, scale: float, shift: float = 0.0) -> Number:
        """The figure times a number, plus another number."""
        low, high = sorted((shift + scale * self.low, shift + scale * self.high))
        values = tuple(shift + scale * value for value in self.values)
        return Number(shift + scale * self.mean, low, high, values=values, sides=self.sides)


@dataclass(frozen=True)
class Case:
    """One figure of a statement, and whether it has what the statement asks for."""

    name: str
    """The group that it is the figure of, in words; empty if there is only one."""
    number: Number
    holds: bool | None


@dataclass(frozen=True)
class Part:
    """One statement of a claim, its figures, and the bound that they are held against, in words."""

    says: str
    holds: bool | None
    needs: str
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Order:
    """Names in the order in which they came out, best first."""

    names: list[str]
    note: str = ""
    numbers: tuple[Number, ...] = ()
    """The figures of the names."""


@dataclass(frozen=True)
class Finding:
    """Whether an inequality holds, with its figures."""

    holds: bool | None
    """None if the intervals are too wide to say."""
    text: str
    numbers: tuple[Number, ...] = ()
    """The figures that were compared."""
    parts: tuple[Part, ...] = ()
    """The statements with their figures; empty for special measures, which have only the text."""


Measurement = Number | Order | Finding


def averaged(rows: pl.DataFrame, note: str = "") -> Number:
    """The mean of rows with its interval: one value for each batch and seed, the mean of the configurations."""
    keys = [key for key in ("seed", "batch") if key in rows.columns]
    means = rows.group_by(keys, maintain_order=True).agg(pl.col("value").mean()).sort(keys)
    found = number(means["value"].to_list(), note)
    if "seed" not in keys:
        return found
    runs = means.group_by("seed", maintain_order=True).agg(pl.col("value").mean())
    return replace(found, runs=tuple(runs["value"].to_list()))


def number(values: list[float], note: str = "") -> Number:
    """The mean of independent values with its interval."""
    if not values:
        raise ValueError("the points have no rows of the metric that the claim asks for")
    return Number(*_core.interval(values), note, values=tuple(values))


def prediction(runs: Sequence[float]) -> tuple[float, float]:
    """The 95% prediction interval of one more run, from at least two runs.

    The interval of the mean of n runs is t s / sqrt(n) wide on either side; a single run varies around a mean that is
    uncertain itself, t s sqrt(1 + 1 / n), which is sqrt(n + 1) times as much. Runs are taken as normally distributed.
    """
    mean = number(list(runs))
    half = mean.half * math.sqrt(len(runs) + 1)
    return mean.mean - half, mean.mean + half


def ratio(one: Number, other: Number) -> Number:
    """One figure relative to another; the interval has the uncertainty of both."""
    return _number(*_core.ratio(_mean(one), _mean(other)))


def difference(one: Number, other: Number) -> Number:
    """One figure less another; the interval has the uncertainty of both."""
    return _number(*_core.difference(_mean(one), _mean(other)))


def at_least(figure: Number, bound: float) -> bool | None:
    """Whether a figure reaches a bound; None if the bound is within its interval."""
    return True if figure.low >= bound else False if figure.high < bound else None


def at_most(figure: Number, bound: float) -> bool | None:
    """Whether a figure does not exceed a bound; None if the bound is within its interval."""
    return True if figure.high <= bound else False if figure.low > bound else None


def together(parts: Iterable[bool | None]) -> bool | None:
    """Whether all parts hold: False if one part fails, else None if one part is not resolved."""
    found = list(parts)
    return False if False in found else None if None in found else True


def _mean(figure: Number) -> tuple[float, float, float, list[float]]:
    return figure.mean, figure.low, figure.high, list(figure.values)


def _number(mean: float, low: float, high: float, values: list[float]) -> Number:
    return Number(mean, low, high, values=tuple(values))


def excuse(groups: Sequence[Hashable], holds: Sequence[bool | None], excused: int) -> list[bool | None]:
    """Whether cases hold if so many cases of each group may fail.

    A case that is not resolved is excused, too, if an excuse is left: whether it fails makes no difference then.
    """
    left = dict.fromkeys(groups, excused)
    judged = list(holds)
    for state in (False, None):
        for place, group in enumerate(groups):
            if judged[place] is state and left[group]:
                left[group] -= 1
                judged[place] = True
    return judged
