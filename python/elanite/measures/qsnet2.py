"""Measures of QsNetII: both directions of a ping, and post-compute-wait (003 s3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.measures.base import LITTLE, Finding, Number, at_least, averaged, measure, ratio, together, within

if TYPE_CHECKING:
    from elanite.claims import Claim


@measure("both-directions")
def both_directions(rows: pl.DataFrame, claim: Claim) -> Number:
    """A bandwidth per direction, of both directions together."""
    one = averaged(rows.filter(pl.col("metric") == claim.metric))
    note = f"{one.mean:.1f} MB/s in each direction"
    return Number(2 * one.mean, 2 * one.low, 2 * one.high, note, values=tuple(2 * value for value in one.values))


@measure("availability-beyond")
def availability_beyond(rows: pl.DataFrame, claim: Claim) -> Number:
    """CPU availability at the shortest computation that is longer than a round trip."""
    trip = _round_trip(rows)
    longer = rows.filter(pl.col("compute_us") > trip)["compute_us"]
    if longer.is_empty():
        raise ValueError("no computation is longer than a round trip")
    least: float = longer.min()  # type: ignore[assignment]
    here = rows.filter((pl.col("metric") == claim.metric) & (pl.col("compute_us") == least))
    return averaged(here, f"with {least:g} us of computation; a round trip takes {trip:.1f} us")


@measure("sustained-bandwidth")
def sustained_bandwidth(rows: pl.DataFrame, claim: Claim) -> Finding:
    """Whether computations shorter than a round without any leave the bandwidth as it is, and longer ones do not."""
    parts: list[bool | None] = []
    words, numbers = [], []
    for size in rows["message_bytes"].unique().sort().to_list():
        here = rows.filter(pl.col("message_bytes") == size)
        alone, found = _alone(here), _by_computation(here, claim.metric)
        most = found[0.0]
        shorter = [ratio(one, most) for compute, one in found.items() if compute < alone]
        least, longest = min(shorter, key=lambda one: one.mean), ratio(found[max(found)], most)
        parts += [at_least(least, 1 - LITTLE), within(longest, 0.0, 1 - LITTLE)]
        numbers.append(least)
        name = here["message"][0]
        words.append(f"{name}: {least.mean:.1%} of {most.mean:.1f} MB/s at worst, up to {alone:.0f} us")
    parts.append(len(words) == SIZES)
    return Finding(together(parts), "; ".join(words), tuple(numbers))


SIZES = 4
"""Message sizes of figure 2a."""


@measure("progress")
def progress(rows: pl.DataFrame, claim: Claim) -> Finding:
    """Whether both transfers are over at the end of each computation that is longer than a round trip."""
    parts: list[bool | None] = []
    words = []
    for size in rows["message_bytes"].unique().sort().to_list():
        here = rows.filter(pl.col("message_bytes") == size)
        trip, found = _round_trip(here), _by_computation(here, claim.metric)
        longer = {compute: one for compute, one in found.items() if compute > trip}
        parts += [at_least(one, 1.0) for one in longer.values()] or [None]
        over = sum(one.mean == 1.0 for one in longer.values())
        words.append(f"{here['message'][0]}: over in {over} of {len(longer)} longer than {trip:.0f} us")
    return Finding(together(parts), "; ".join(words))


def _alone(rows: pl.DataFrame) -> float:
    """How long a round takes in which nothing is computed, in us."""
    return averaged(rows.filter((pl.col("metric") == "round") & (pl.col("compute_us") == 0))).mean


def _round_trip(rows: pl.DataFrame) -> float:
    """How long a message takes there and another one back, in us."""
    return 2 * averaged(rows.filter(pl.col("metric") == "latency")).mean


def _by_computation(rows: pl.DataFrame, metric: str) -> dict[float, Number]:
    here = rows.filter(pl.col("metric") == metric)
    times = here["compute_us"].unique().sort().to_list()
    return {time: averaged(here.filter(pl.col("compute_us") == time)) for time in times}
