"""Measured figures: means with their intervals, and comparisons between two figures.

Values are independent if they come from different batches or seeds in one configuration
(``independent``). If a figure is the mean over several configurations (distributions, mappings),
these are averaged within a batch first, so that differences between configurations do not widen the
interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.base.text import FEWEST, with_half
from elanite.results import looks
from elanite.results.frames import DRAWN, SHORT
from elanite.results.independent_values import independent

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


@dataclass(frozen=True)
class Number:
    """A simulated figure with its 95% confidence interval, in the claim's unit."""

    mean: float
    low: float
    high: float
    note: str = ""
    besides: bool | None = True
    """Whether the claim's other statements hold, too; `None` if the intervals are too wide."""
    values: tuple[float, ...] = ()
    """The mean's values, by seed and batch."""
    seeds: tuple[int | None, ...] = ()
    """Each value's seed; empty if all values come from one seed, or each from another."""
    runs: tuple[float, ...] = ()
    """Single runs' means, by seed, if the figure is a mean over rows."""
    sides: tuple[Number, ...] = ()
    """The figures that it compares; empty without a comparison."""
    parts: tuple[StatementPart, ...] = ()
    """The claim's other statements."""
    drawn: bool = True
    """Whether the simulations drew random numbers; else the figure is exact, as in any other
    run.
    """
    short: bool = True
    """Whether it may rest on points that a short run has shortened; else it is a whole run's
    figure.
    """
    ids: frozenset[str] = frozenset()
    """Its rows' points, if the figure is a mean over rows."""

    @property
    def points(self) -> frozenset[str]:
        """The identities of all points behind it."""
        return self.ids.union(*(side.points for side in self.sides))

    @property
    def exact(self) -> bool:
        """Whether it has no noise, or compares figures without noise."""
        return all(side.exact for side in self.sides) if self.sides else not self.drawn

    @property
    def half(self) -> float:
        """Half the interval's width."""
        return (self.high - self.low) / 2

    @property
    def few(self) -> bool:
        """Whether it has fewer than three values, or compares a figure that has: then its interval
        is not known.

        One value shows no spread, and two values' spread is a single difference. An exact figure
        needs no interval.
        """
        return (
            any(side.few for side in self.sides) if self.sides else self.drawn and self.n < FEWEST
        )

    @property
    def lacking(self) -> bool:
        """Whether a short run has too few values for it: it has few, and a whole run may have
        more.
        """
        return any(side.lacking for side in self.sides) if self.sides else self.few and self.short

    @property
    def text(self) -> str:
        """The mean for people, with half its interval's width if the interval is known."""
        return with_half(self.mean, 0.0 if self.few else self.half)

    @property
    def relative(self) -> float:
        """Half the interval's width as a fraction of the mean."""
        return self.half / abs(self.mean) if self.mean else 0.0

    @property
    def n(self) -> int:
        """The count of independent values; the lowest among its random sides for a comparison
        without value pairs.
        """
        if not self.values and self.sides:
            return min((side.n for side in self.sides if not side.exact), default=0)
        return len(_independent(self.values, self.seeds))

    def at(self, look: int | None) -> Number:
        """The figure with one look's interval among several (see ``looks``); unchanged in a whole
        run.
        """
        if look is None or self.exact or self.n < FEWEST:
            return self
        times = looks.widening(self.n)
        return replace(
            self,
            low=self.mean - times * (self.mean - self.low),
            high=self.mean + times * (self.high - self.mean),
        )

    def turned(self, scale: float, shift: float = 0.0) -> Number:
        """The figure times a number, plus another number."""
        low, high = sorted((shift + scale * self.low, shift + scale * self.high))
        values = tuple(shift + scale * value for value in self.values)
        moved = Number(
            shift + scale * self.mean, low, high, values=values, seeds=self.seeds, sides=self.sides
        )
        return replace(moved, drawn=self.drawn, short=self.short, ids=self.ids)


@dataclass(frozen=True)
class Case:
    """One figure in a statement, and whether it meets the statement."""

    name: str
    """Its group in words; empty if there is only one."""
    number: Number
    holds: bool | None


@dataclass(frozen=True)
class StatementPart:
    """One statement in a claim, its figures, and their bound, in words."""

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
    """The names' figures."""


@dataclass(frozen=True)
class Finding:
    """Whether an inequality holds, with its figures."""

    holds: bool | None
    """`None` if the intervals are too wide."""
    text: str
    numbers: tuple[Number, ...] = ()
    """The figures that were compared."""
    parts: tuple[StatementPart, ...] = ()
    """The statements with their figures; empty for special measures, which have only the text."""


Measurement = Number | Order | Finding


def averaged(rows: pl.DataFrame, note: str = "") -> Number:
    """The mean over rows with its interval: values by batch and seed, each the mean over the
    configurations.

    The mean is exact if the points drew no random numbers.
    """
    keys = [key for key in ("seed", "batch") if key in rows.columns]
    means = rows.group_by(keys, maintain_order=True).agg(pl.col("value").mean()).sort(keys)
    found = number(
        means["value"].to_list(), note, means["seed"].to_list() if "seed" in keys else ()
    )
    if "id" in rows.columns:
        found = replace(found, ids=frozenset(rows["id"]))
    if SHORT in rows.columns:
        found = replace(found, short=bool(rows[SHORT].any()))
    if DRAWN in rows.columns and not rows[DRAWN].any():
        return replace(found, low=found.mean, high=found.mean, drawn=False)
    if "seed" not in keys:
        return found
    runs = means.group_by("seed", maintain_order=True).agg(pl.col("value").mean())
    return replace(found, runs=tuple(runs["value"].to_list()))


def number(values: Sequence[float], note: str = "", seeds: Sequence[int | None] = ()) -> Number:
    """The values' mean with its interval; without ``seeds``, all values are independent."""
    if not values:
        raise ValueError("the points have no rows of the metric that the claim asks for")
    found = _core.interval(_independent(values, seeds))
    return Number(*found, note, values=tuple(values), seeds=tuple(seeds))


def prediction(runs: Sequence[float], look: int | None = None) -> tuple[float, float]:
    """The 95% prediction interval for one more run, from at least two runs.

    The interval for the mean over n runs is t s / sqrt(n) wide on either side; a single run varies
    around a mean that is uncertain itself, t s sqrt(1 + 1 / n), which is sqrt(n + 1) times as much.
    Runs are taken as normally distributed.
    """
    mean = number(list(runs)).at(look)
    half = mean.half * math.sqrt(len(runs) + 1)
    return mean.mean - half, mean.mean + half


def ratio(one: Number, other: Number) -> Number:
    """One figure relative to another; the interval has both uncertainties.

    A pair ratio's values come from its linear approximation at the means, so that they have its
    mean.
    """
    mean = (
        one.mean / other.mean
        if other.mean
        else math.copysign(math.inf, one.mean)
        if one.mean
        else math.nan
    )
    if other.mean and (apart := _distance(one, other, mean)) is not None:
        half = apart.half / abs(other.mean)
        values = tuple(mean + value / other.mean for value in apart.values)
        return Number(mean, mean - half, mean + half, values=values, seeds=apart.seeds)
    half = abs(mean) * math.hypot(one.relative, other.relative) if other.mean else math.inf
    return Number(mean, mean - half, mean + half)


def difference(one: Number, other: Number) -> Number:
    """One figure less another; the interval has both uncertainties."""
    if (apart := _distance(one, other)) is not None:
        return apart
    mean, half = one.mean - other.mean, math.hypot(one.half, other.half)
    return Number(mean, mean - half, mean + half)


def _distance(one: Number, other: Number, times: float = 1.0) -> Number | None:
    """The mean over one value less a multiple of the other, value by value; `None` if the two were
    not measured alike.

    Two configurations with the same seeds draw the same random numbers, so that both share much
    noise, and the pairs' interval is narrower. It is right without common noise, too.
    """
    random = one.drawn and other.drawn
    alike = (
        random
        and len(one.values) == len(other.values) > 1
        and one.seeds == other.seeds
        and math.isfinite(times)
    )
    pairs = zip(one.values, other.values, strict=True) if alike else ()
    return number([a - times * b for a, b in pairs], seeds=one.seeds) if alike else None


def at_least(figure: Number, bound: float) -> bool | None:
    """Whether a figure reaches a bound; `None` if the bound is within its interval."""
    return True if figure.low >= bound else False if figure.high < bound else None


def at_most(figure: Number, bound: float) -> bool | None:
    """Whether a figure does not exceed a bound; `None` if the bound is within its interval."""
    return True if figure.high <= bound else False if figure.low > bound else None


def all_hold(parts: Iterable[bool | None]) -> bool | None:
    """Whether all parts hold: False if one part fails, else `None` if one part is not resolved."""
    found = list(parts)
    return False if False in found else None if None in found else True


def _independent(values: Sequence[float], seeds: Sequence[int | None]) -> list[float]:
    return independent(values, seeds) if seeds else list(values)


def excuse(
    groups: Sequence[Hashable], holds: Sequence[bool | None], excused: int
) -> list[bool | None]:
    """Whether cases hold if this many cases in each group may fail.

    A case that is not resolved is excused, too, if an excuse is left: whether it fails makes no
    difference then.
    """
    left = dict.fromkeys(groups, excused)
    judged = list(holds)
    for state in (False, None):
        for place, group in enumerate(groups):
            if judged[place] is state and left[group]:
                left[group] -= 1
                judged[place] = True
    return judged
