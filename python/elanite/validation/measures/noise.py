"""Measures for computational noise (garcia2005 s3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite.results.numbers import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

NOISELESS = 0.01
"""A processor is noiseless if it loses less than this fraction of its time, and less than this
fraction of its iterations take longer by this fraction; a smaller shift is slight (garcia2005 gives
no figures).
"""

SAME = 0.1
"""Distributions have the same shape if their deciles, after a shift, differ by at most this
fraction of their width.
"""

DECILES = [decile / 10 for decile in range(1, 10)]


@dataclass(frozen=True)
class Detours:
    """The iteration delays on one processor, in microseconds."""

    lower: list[float]
    """Bins in ascending order."""
    count: list[int]
    compute: float

    @property
    def mean(self) -> float:
        """Their mean."""
        return sum(
            lower * count for lower, count in zip(self.lower, self.count, strict=True)
        ) / sum(self.count)

    @property
    def long(self) -> float:
        """The fraction of iterations that take noticeably longer."""
        limit = NOISELESS * self.compute
        longer = (
            count for lower, count in zip(self.lower, self.count, strict=True) if lower >= limit
        )
        return sum(longer) / sum(self.count)

    def quantile(self, share: float) -> float:
        """A delay quantile."""
        left = share * sum(self.count)
        for lower, count in zip(self.lower, self.count, strict=True):
            left -= count
            if left <= 0:
                return lower
        return self.lower[-1]


def by_cpu(table: pl.DataFrame) -> dict[int, Detours]:
    """The processors' distributions, in their order; nodes and seeds count alike."""
    found = {}
    for cpu in table["cpu"].unique().sort().to_list():
        here = table.filter(pl.col("cpu") == cpu)
        bins = here.group_by("lower_ps").agg(pl.col("count").sum()).sort("lower_ps")
        lower = [ps / 1e6 for ps in bins["lower_ps"].to_list()]
        found[cpu] = Detours(lower, bins["count"].to_list(), float(here["compute_us"][0]))
    return found


def noise(table: pl.DataFrame, figures: Sequence[float]) -> Finding:  # noqa: ARG001 - as all special measures
    """Both processors are noiseless; the second one's distribution equals the first's, a little to
    the right.
    """
    first, second = by_cpu(table).values()
    compute = first.compute
    quiet = all(one.mean < NOISELESS * compute and one.long < NOISELESS for one in (first, second))
    shifts = [second.quantile(decile) - first.quantile(decile) for decile in DECILES]
    shift = sorted(shifts)[len(shifts) // 2]
    displaced = min(shifts) > 0 and shift < NOISELESS * compute
    width = first.quantile(DECILES[-1]) - first.quantile(DECILES[0])
    apart = max(abs(one - shift) for one in shifts)
    alike = apart <= SAME * width
    taken = " and ".join(f"{one.mean / one.compute:.2%}" for one in (first, second))
    long = " and ".join(f"{one.long:.2%}" for one in (first, second))
    text = (
        f"noiseless, {_holds_words(quiet)}: {taken} of the time is taken, {long} of the iterations"
        f" take 1% longer; displaced, {_holds_words(displaced)}: the second processor's deciles by"
        f" {min(shifts):.2f} to {max(shifts):.2f} us; same shape, {_holds_words(alike)}: shifted by"
        f" {shift:.2f} us they differ by {apart:.2f} us at most, and the first one's are"
        f" {width:.2f} us wide"
    )
    return Finding(quiet and displaced and alike, text)


def _holds_words(holds: bool) -> str:
    return "so" if holds else "not so"
