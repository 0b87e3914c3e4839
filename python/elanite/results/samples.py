"""Samples for a figure, and whether two samples differ.

A sample is one figure's values by seed and batch. The simulator records for each point whether it
drew random numbers (``random`` in the manifest). A point without draws has no noise: its mean is
exact, and any difference between two exact means is real.

Noise is left where random numbers were drawn. Two samples with the same seeds and batches are
compared pair by pair: their runs draw from the same random streams, so that common noise cancels
and the difference's interval is narrower. The interval is right without common noise, too, for
example where the change that is studied also changes the draw order. Samples with other seeds or
batches count as independent. An exact mean needs no partner: it is compared with the other side's
interval.

Every sample pair has one of three states (``ComparisonState``). *Differs*: the difference's 95%
interval excludes zero. *Equal*: the interval contains zero and reaches no farther than
``NEGLIGIBLE`` of the figure. *Undecided*: the interval is wider, or a sample has fewer than three
values. For one equal figure in twenty, the interval excludes zero by chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from elanite.base.text import FEWEST, SCALE, distinct, estimate
from elanite.results.numbers import Number, difference, number

if TYPE_CHECKING:
    from collections.abc import Iterable

NEGLIGIBLE = 0.01
"""Means are equal if their difference is surely below this fraction of the larger one; also the
error for measured values without a sigma (see ``elanite.study.measurements``).
"""

ROUNDED = 1e-12
"""Exact means that are less apart, as a fraction, differ by rounding alone."""


class ComparisonState(StrEnum):
    """A comparison's result."""

    DIFFERS = "differs"
    EQUAL = "equal"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Sample:
    """A figure's values."""

    labels: tuple[tuple[int, ...], ...]
    """Each value's seed and, where there are several, batch, in ascending order."""
    values: tuple[float, ...]
    random: bool | None = None
    """Whether the simulator drew random numbers; `None` if that was not recorded.

    Noise is possible unless False.
    """

    @classmethod
    def of(cls, rows: pl.DataFrame, random: Iterable[bool | None]) -> Sample:
        """The sample from rows with the columns ``seed``, ``batch`` and ``value``; one value for
        each seed and batch.

        ``random``: for each of the rows' points, whether it drew random numbers.
        """
        rows = rows.with_columns(pl.col("batch").fill_null(-1))
        means = rows.group_by("seed", "batch").agg(pl.col("value").mean()).sort("seed", "batch")
        drew = set(random)
        known = True if True in drew else None if None in drew or not drew else False
        labels = tuple((seed, batch) for seed, batch in means.select("seed", "batch").iter_rows())
        return cls(labels, tuple(means["value"].to_list()), known)

    @property
    def exact(self) -> bool:
        """Whether the mean has no noise."""
        return self.random is False

    @cached_property
    def figure(self) -> Number:
        """The mean with its 95% interval, which is the mean alone where it is exact."""
        found = number(self.values, seeds=[seed for seed, _ in self.labels])
        return (
            replace(found, low=found.mean, high=found.mean, values=(), seeds=())
            if self.exact
            else found
        )

    @property
    def bounded(self) -> bool:
        """Whether the mean has an interval: it is exact, or there are enough values."""
        return self.exact or self.figure.n >= FEWEST


@dataclass(frozen=True)
class SamplePair:
    """Two samples for one figure, compared."""

    a: Sample
    b: Sample

    @property
    def paired(self) -> bool:
        """Whether value is compared with value: no side is exact, and seeds and batches are the
        same.
        """
        return not (self.a.exact or self.b.exact) and self.a.labels == self.b.labels

    @property
    def exact(self) -> bool:
        """Whether both sides are free from noise."""
        return self.a.exact and self.b.exact

    @cached_property
    def state(self) -> ComparisonState:
        """Whether the figures differ."""
        a, b = self.a.figure, self.b.figure
        if self.exact:
            return (
                ComparisonState.EQUAL
                if math.isclose(a.mean, b.mean, rel_tol=ROUNDED)
                else ComparisonState.DIFFERS
            )
        if self.paired and self.a.values == self.b.values:
            return ComparisonState.EQUAL
        change = self.difference
        if change is None:
            return ComparisonState.UNDECIDED
        if change.low > 0 or change.high < 0:
            return ComparisonState.DIFFERS
        near = max(abs(change.low), abs(change.high)) <= NEGLIGIBLE * max(abs(a.mean), abs(b.mean))
        return ComparisonState.EQUAL if near else ComparisonState.UNDECIDED

    @cached_property
    def difference(self) -> Number | None:
        """The second mean less the first, with its 95% interval; `None` without an interval."""
        found = difference(*self._sides)
        return found if (found.n >= FEWEST if self.paired else self._bounded) else None

    @cached_property
    def ratio(self) -> Number | None:
        """The second mean relative to the first; `None` if the first is 0.

        The interval is the difference's, as a fraction of the first mean: it excludes 1 if the
        figures differ. Without an interval, it is the mean alone.
        """
        a, b = self.a.figure.mean, self.b.figure.mean
        if not a:
            return None
        half = abs(self.difference.half / a) if self.difference else 0.0
        return Number(b / a, b / a - half, b / a + half)

    @property
    def change(self) -> float:
        """The means' distance as a fraction of the smaller one: 0.5 for half as much more or
        less.
        """
        low, high = sorted(abs(side.figure.mean) for side in (self.a, self.b))
        if self.a.figure.mean * self.b.figure.mean <= 0:
            return 0.0 if self.a.figure.mean == self.b.figure.mean else math.inf
        return high / low - 1

    def texts(self, unit: str) -> tuple[str, str, str]:
        """Both means and their ratio for people: with intervals, or exact, with enough digits to
        distinguish them.
        """
        relative = self.ratio
        if self.exact:
            scale = SCALE.get(unit, 1.0)
            sides = distinct(scale * self.a.figure.mean, scale * self.b.figure.mean)
            return *sides, distinct(relative.mean, 1.0)[0] if relative else ""
        a, b = (
            estimate(
                side.figure.mean,
                side.figure.low,
                side.figure.high,
                0 if side.exact else side.figure.n,
                unit,
            )
            for side in (self.a, self.b)
        )
        if relative is None:
            return a, b, ""
        ratio = distinct(relative.mean, 1.0)[0]
        return a, b, f"{ratio} ± {distinct(relative.half, 0.0)[0]}" if relative.half else ratio

    @property
    def _bounded(self) -> bool:
        return self.a.bounded and self.b.bounded

    @property
    def _sides(self) -> tuple[Number, Number]:
        """The second and the first figure, as ``difference`` and ``ratio`` take them: with values
        where they pair.
        """
        b, a = self.b.figure, self.a.figure
        return (
            (b, a)
            if self.paired
            else (replace(b, values=(), seeds=()), replace(a, values=(), seeds=()))
        )
