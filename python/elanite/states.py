"""Whether a load is steady, saturated or undecided: one answer for figures, findings and claims.

coll2003 s5.3: "Saturation is defined as the minimum offered bandwidth where the accepted bandwidth is lower than the
global packet creation rate at the source nodes." Two tests look for such a load:

- The curve: the load exceeds the maximum accepted load of its curve by more than the interval of this maximum. A curve
  is one configuration at all of its loads, and the maximum is known if the curve has a higher load, too. Loads beyond
  saturation repeat its measurement: all points whose intervals contain the highest accepted load are averaged.
- The queues: the simulator decides for each run whether the queues of the sources grow in its window (``saturated``).

A point is *saturated* if its load is above the interval of the maximum of its curve, or if the queues grow in all of
its seeds. A point is *steady* if its load is below this interval, the queues grow in no seed, and the accepted load is
not below the offered load by more than 5% beyond its confidence interval. Any other point is *undecided*: its load is
within the interval of the maximum, its window is too short, or its seeds differ. Latencies are drawn and judged at
steady points only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import hypot, inf
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.frames import REASON, STATE, parameters, unloaded
from elanite.text import FEWEST, distinct, number

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

LOST = 0.05
"""The part of the offered load by which the accepted load of a steady point is below it at most."""


class State(StrEnum):
    """The state of the sources' queues."""

    STEADY = "steady"
    SATURATED = "saturated"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Load:
    """A point of a curve. Loads have one unit, such as MB/s for each node; None is not known."""

    nominal: float | None
    """The load that the sources offer on average: the parameter."""
    offered: float | None
    """The load that they offered in the window."""
    accepted: float | None
    """The mean accepted load."""
    half: float
    """Half the interval of the accepted load; 0 if there is none."""
    saturated: float | None
    """The fraction of the seeds with growing queues."""


def states(curve: Sequence[Load]) -> list[State]:
    """The states of all points of a curve."""
    return [state for state, _ in judged(curve)]


def judged(curve: Sequence[Load]) -> list[tuple[State, str]]:
    """The states of all points of a curve, each with the comparison that decides it."""
    low, high = maximum(curve)
    highest = max((load.nominal or 0.0 for load in curve), default=0.0)
    found = []
    for load in curve:
        nominal = load.nominal or 0.0
        state, reason = _alone(load)
        if low < nominal < highest and state is not State.SATURATED:
            state = State.SATURATED if nominal > high else State.UNDECIDED
            at, mean = distinct(nominal, (low + high) / 2)
            most = f"highest accepted {mean}"
            sign, half = (">", "+") if nominal > high else ("within", "±")
            reason = f"load {at} {sign} {most} {half} {number((high - low) / 2)}"
        found.append((state, reason))
    return found


def maximum(curve: Sequence[Load]) -> tuple[float, float]:
    """The interval of the maximum accepted load; infinite if no accepted load is known."""
    known = [(load.accepted, load.half) for load in curve if load.accepted is not None]
    if not known:
        return inf, inf
    best, _ = max(known)
    same = [(mean, half) for mean, half in known if mean + half >= best]
    mean, half = sum(mean for mean, _ in same) / len(same), hypot(*(half for _, half in same)) / len(same)
    return mean - half, mean + half


def _alone(load: Load) -> tuple[State, str]:
    """The state of a point by its own window."""
    if load.saturated is not None and load.saturated >= 1.0:
        return State.SATURATED, "queues grow in all seeds"
    if load.saturated:
        return State.UNDECIDED, f"queues grow in {load.saturated:.0%} of the seeds"
    if load.accepted is None or load.offered is None:
        return State.STEADY, ""
    below = load.accepted + load.half < (1.0 - LOST) * load.offered
    accepted, offered = distinct(load.accepted, load.offered)
    reason = f"accepted {accepted} + {number(load.half)} {'<' if below else '≥'} {1.0 - LOST:.0%} of {offered}"
    return State.UNDECIDED if below else State.STEADY, reason


def with_states(rows: pl.DataFrame, beside: Collection[str] = ()) -> pl.DataFrame:
    """Tidy rows with the state of their points in the columns ``STATE`` and ``REASON``.

    ``beside`` are columns that are no parameters. Rows without any metric of loads are steady.
    """
    bare = unloaded(rows)
    keys = [name for name in parameters(bare) if name not in ("_load", "series", *beside)]

    def values(metric: str) -> pl.Expr:
        return pl.col("value").filter(pl.col("metric") == metric)

    points = bare.group_by([*keys, "_load"], maintain_order=True).agg(
        saturated=values("saturated").mean(), offered=values("offered").mean(), accepted=values("accepted")
    )
    loads = [
        Load(nominal, offered, *accepted_load(accepted), saturated)
        for nominal, offered, accepted, saturated in points.select(
            "_load", "offered", "accepted", "saturated"
        ).iter_rows()
    ]
    found = [(State.STEADY, "")] * len(loads)
    curves = points.with_row_index("_point").group_by(keys, maintain_order=True).agg("_point")["_point"].to_list()
    for curve in curves:
        for place, state in zip(curve, judged([loads[place] for place in curve]), strict=True):
            found[place] = state
    states_of = points.select(*keys, "_load").with_columns(
        pl.Series(STATE, [state for state, _ in found], pl.String),
        pl.Series(REASON, [reason for _, reason in found], pl.String),
    )
    joined = bare.join(states_of, on=[*keys, "_load"], how="left", nulls_equal=True, maintain_order="left")
    return rows.with_columns(joined[STATE], joined[REASON])


def accepted_load(values: Sequence[float]) -> tuple[float | None, float]:
    """The mean and half its interval, which is 0 for too few values."""
    if not values:
        return None, 0.0
    mean, low, high = _core.interval(list(values))
    return mean, (high - low) / 2 if len(values) >= FEWEST else 0.0
