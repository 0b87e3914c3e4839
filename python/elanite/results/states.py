"""Whether a load is steady, saturated or undecided: one answer for figures, findings, tables and
claims.

coll2003 s5.3: "Saturation is defined as the minimum offered bandwidth where the accepted bandwidth
is lower than the global packet creation rate at the source nodes." Two tests look for such a load:

- The curve: the nominal load exceeds its curve's maximum accepted load by more than this maximum's
  interval. A curve is one configuration at all its loads. Loads beyond saturation repeat the
  measurement of the maximum: all points with intervals that contain the highest accepted load are
  averaged. The maximum is known below the curve's highest load, and at the highest load if the
  queues grow there in half the seeds or more.
- The queues: the simulator decides for each run whether the sources' queues grow in its window (the
  metric ``saturated`` in the tables, "queues grow" for people).

A point is *saturated* if its load is above the interval of its curve's maximum, if the queues grow
in all its seeds, or if a lower load on its curve is saturated. A point is *steady* if its load is
below this interval, the queues grow in no seed, and the accepted load shows it: the mean is at
least 95% of the offered load, and the mean less its uncertainty is at least 90%, or a higher load
on its curve is steady. Any other point is *undecided*: its load is within the maximum's interval,
its window is too short or has no arrival, or its seeds differ. An interval never excuses a loss.
Latencies are drawn and judged at steady points only.

A window's accepted and offered load differ by the messages in flight at its two ends. The
uncertainty is this difference's: the undelivered messages at the batches' ends lie around a line,
and their distances from the line are an end's noise. Arrival noise does not count, because it is in
both loads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from statistics import linear_regression
from typing import TYPE_CHECKING

import polars as pl

from elanite import _core
from elanite.base.text import FEWEST, counted, distinct, number
from elanite.results.frames import REASON, STATE, padded, parameters, unloaded
from elanite.results.independent_values import independent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MEANINGS = {
    "saturated": (
        "Metric of a run: whether its sources' queues have grown in the window by more than a"
        " twentieth of the arrivals and by more than half a message for each process. Tables for"
        " people name it `queues grow`."
    ),
    "state": (
        "Verdict on an offered load from all loads and seeds of its curve: steady, saturated or"
        " undecided."
    ),
    "because": "The comparison that decides the state of an offered load.",
}
"""The state columns and metrics, as ``elanite explain`` describes them."""

LOST = 0.05
"""The largest part of the offered load by which a steady point's accepted load is below it."""

SURE = 2 * LOST
"""The same for the accepted load less its uncertainty."""

SILENT = "no message arrived in the measured window"
"""The reason for a load without any arrival: its window shows nothing."""

MOST = 0.5
"""The share of seeds with growing queues from which on the curve decides at its highest load,
too.
"""


class QueueState(StrEnum):
    """The sources' queue state."""

    STEADY = "steady"
    SATURATED = "saturated"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Load:
    """A point on a curve. Loads have one unit, such as MB/s for each node; `None` is not known."""

    nominal: float | None
    """The load that the sources offer on average: the parameter."""
    offered: float | None
    """The load that they offered in the window."""
    accepted: float | None
    """The mean accepted load."""
    half: float
    """Half the accepted load's interval; 0 without one."""
    saturated: float | None
    """The fraction of seeds with growing queues."""
    seeds: int = 1
    ends: float = 0.0
    """Half the interval of the accepted less the offered load, by the messages in flight at the
    window's ends; 0 if unknown.
    """


def states(curve: Sequence[Load]) -> list[QueueState]:
    """The states of all points on a curve."""
    return [state for state, _ in judged(curve)]


def judged(curve: Sequence[Load]) -> list[tuple[QueueState, str]]:
    """The states of all points on a curve, each with the comparison that decides it."""
    top = maximum(curve)
    highest = max((load.nominal or 0.0 for load in curve), default=0.0)
    found = []
    for load in curve:
        nominal = load.nominal or 0.0
        state, reason = _own_state(load)
        grow = (load.saturated or 0.0) >= MOST
        if (
            top.low < nominal
            and (nominal < highest or (grow and nominal > top.high))
            and state is not QueueState.SATURATED
        ):
            state = QueueState.SATURATED if nominal > top.high else QueueState.UNDECIDED
            also = f", and {reason}" if nominal == highest else ""
            reason = f"nominal load {top.beside(nominal)}{also}"
        found.append((state, reason))
    pairs = zip(curve, found, strict=True)
    steady = max(
        (load.nominal or 0.0 for load, (state, _) in pairs if state is QueueState.STEADY),
        default=0.0,
    )
    for place, load in enumerate(curve):
        if (
            _is_unsure(load)
            and found[place][0] is QueueState.UNDECIDED
            and (load.nominal or 0.0) < min(steady, top.low)
        ):
            accepted, offered = distinct(load.accepted or 0.0, load.offered or 0.0)
            own = f"accepted {accepted} ≥ {1.0 - LOST:.0%} of {offered} offered"
            reason = f"{own if load.offered else SILENT}, and the load {number(steady)} is steady"
            found[place] = QueueState.STEADY, reason
    pairs = zip(curve, found, strict=True)
    saturated = min(
        (load.nominal or 0.0 for load, (state, _) in pairs if state is QueueState.SATURATED),
        default=math.inf,
    )
    for place, load in enumerate(curve):
        if found[place][0] is QueueState.UNDECIDED and (load.nominal or 0.0) > saturated:
            found[place] = (
                QueueState.SATURATED,
                f"the load {number(saturated)} is saturated, and {found[place][1]}",
            )
    return found


def _is_unsure(load: Load) -> bool:
    """Whether a point lacks only a small uncertainty to be steady."""
    if load.offered == 0 and not load.saturated:
        return True
    if (
        load.saturated
        or load.accepted is None
        or load.offered is None
        or load.accepted < (1.0 - LOST) * load.offered
    ):
        return False
    return load.accepted - load.ends < (1.0 - SURE) * load.offered


@dataclass(frozen=True)
class Maximum:
    """A curve's maximum accepted load; infinite if no accepted load is known."""

    mean: float
    half: float
    count: int
    """The count of loads that it averages."""

    @property
    def low(self) -> float:
        """The interval's lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The interval's upper end."""
        return self.mean + self.half

    def beside(self, load: float) -> str:
        """The comparison between a load and the interval:
        ``160 > 141.6 + 7.14, the highest accepted load``.
        """
        above = load > self.high
        at, mean = distinct(load, self.mean)
        name = "the highest accepted load"
        if self.count > 1:
            name = f"the mean of the {self.count} accepted loads that may be the highest"
        return (
            f"{at} {'>' if above else 'within'} {mean} {'+' if above else '±'} {number(self.half)},"
            f" {name}"
        )


def maximum(curve: Sequence[Load]) -> Maximum:
    """A curve's maximum accepted load, with its interval."""
    known = [(load.accepted, load.half) for load in curve if load.accepted is not None]
    if not known:
        return Maximum(math.inf, 0.0, 0)
    best, _ = max(known)
    same = [(mean, half) for mean, half in known if mean + half >= best]
    mean, half = (
        sum(mean for mean, _ in same) / len(same),
        math.hypot(*(half for _, half in same)) / len(same),
    )
    return Maximum(mean, half, len(same))


def _own_state(load: Load) -> tuple[QueueState, str]:
    """A point's state by its own window."""
    seeds = f"{round((load.saturated or 0.0) * load.seeds)} of {counted(load.seeds, 'seed')}"
    if load.saturated is not None and load.saturated >= 1.0:
        return QueueState.SATURATED, f"queues grow in {seeds}"
    if load.saturated:
        return QueueState.UNDECIDED, f"queues grow in {seeds}"
    if load.accepted is None or load.offered is None:
        return QueueState.STEADY, ""
    if load.offered == 0:
        return QueueState.UNDECIDED, SILENT
    accepted, offered = distinct(load.accepted, load.offered)
    if load.accepted < (1.0 - LOST) * load.offered:
        return QueueState.UNDECIDED, f"accepted {accepted} < {1.0 - LOST:.0%} of {offered} offered"
    if _is_unsure(load):
        return (
            QueueState.UNDECIDED,
            f"accepted {accepted} - {number(load.ends)} < {1.0 - SURE:.0%} of {offered} offered",
        )
    sure = f", {accepted} - {number(load.ends)} ≥ {1.0 - SURE:.0%}" if load.ends else ""
    return (
        QueueState.STEADY,
        (
            f"queues grow in {seeds}; accepted {accepted} ≥ {1.0 - LOST:.0%}{sure} of {offered}"
            " offered"
        ),
    )


def with_states(rows: pl.DataFrame, beside: Collection[str] = ()) -> pl.DataFrame:
    """Tidy rows with their points' state in the columns ``STATE`` and ``REASON``.

    ``beside`` are columns that are not parameters. Rows of configurations without a load, such as
    pings and goodput in closed form, have no state. Series may continue a curve, and a point in
    several of them counts once; but series with other points at the same load, such as those of
    longer windows, have a curve each.
    """
    every = unloaded(rows)
    keys = [name for name in parameters(every) if name not in ("_load", "series", *beside)]
    bare = every
    if "id" in every.columns:
        every = every.with_columns(_series=_separate_series(every, keys))
        keys.append("_series")
        bare = every.unique(set(every.columns) - {"series"}, maintain_order=True)

    def values(metric: str) -> pl.Expr:
        return pl.col("value").filter(pl.col("metric") == metric)

    points = (
        padded(bare, seed=pl.Int64)
        .group_by([*keys, "_load"], maintain_order=True)
        .agg(
            saturated=values("saturated").mean(),
            seeds=pl.col("seed").filter(pl.col("metric") == "saturated").n_unique(),
            offered=values("offered").mean(),
            accepted=values("accepted"),
            accepted_seeds=pl.col("seed").filter(pl.col("metric") == "accepted"),
        )
    )
    batches = (
        bare.filter(pl.col("metric").is_in(["accepted", "offered"]))
        .group_by(
            [*keys, "_load", *(name for name in ("seed", "batch") if name in bare.columns)],
            maintain_order=True,
        )
        .agg(lost=values("offered").mean() - values("accepted").mean())
        .drop_nulls("lost")
    )
    seeds = batches.group_by(
        [*keys, "_load", *(["seed"] if "seed" in bare.columns else [])], maintain_order=True
    ).agg("lost")
    runs = seeds.group_by([*keys, "_load"], maintain_order=True).agg(pl.col("lost").alias("runs"))
    points = points.join(
        runs, on=[*keys, "_load"], how="left", nulls_equal=True, maintain_order="left"
    )
    loads = [
        Load(nominal, offered, *accepted_load(accepted, of), saturated, seeds, ends(lost or []))
        for nominal, offered, accepted, of, saturated, seeds, lost in points.select(
            "_load", "offered", "accepted", "accepted_seeds", "saturated", "seeds", "runs"
        ).iter_rows()
    ]
    found: list[tuple[QueueState | None, str | None]] = [(None, None)] * len(loads)
    curves = (
        points.with_row_index("_point")
        .group_by(keys, maintain_order=True)
        .agg("_point")["_point"]
        .to_list()
    )
    for curve in curves:
        for place, state in zip(curve, judged([loads[place] for place in curve]), strict=True):
            load = loads[place]
            if any(value is not None for value in (load.nominal, load.offered, load.saturated)):
                found[place] = state
    states_of = points.select(*keys, "_load").with_columns(
        pl.Series(STATE, [state for state, _ in found], pl.String),
        pl.Series(REASON, [reason for _, reason in found], pl.String),
    )
    joined = every.join(
        states_of, on=[*keys, "_load"], how="left", nulls_equal=True, maintain_order="left"
    )
    return rows.with_columns(joined[STATE], joined[REASON])


def _separate_series(rows: pl.DataFrame, keys: Sequence[str]) -> pl.Expr:
    """The series of rows on curves with several points at one load and seed; null on other
    curves.
    """
    each = rows.group_by([*keys, "_load", *(["seed"] if "seed" in rows.columns else [])]).agg(
        pl.col("id").n_unique()
    )
    curves = each.filter(pl.col("id") > 1).select(keys).unique()
    several = rows.with_row_index("_row").join(curves, on=keys, how="semi", nulls_equal=True)[
        "_row"
    ]
    return pl.when(pl.int_range(pl.len()).is_in(several.implode())).then(pl.col("series"))


def is_steady() -> pl.Expr:
    """Whether rows with states are steady; rows without a state have no load that could be too
    high.
    """
    return pl.col(STATE).fill_null(QueueState.STEADY) == QueueState.STEADY


def accepted_load(
    values: Sequence[float], seeds: Sequence[int | None]
) -> tuple[float | None, float]:
    """The mean and half its interval, which is 0 for too few values."""
    if not values:
        return None, 0.0
    units = independent(values, seeds)
    mean, low, high = _core.interval(units)
    return mean, (high - low) / 2 if len(units) >= FEWEST else 0.0


def ends(runs: Sequence[Sequence[float]]) -> float:
    """Half the interval of the runs' mean lost load, from each batch's lost load; 0 for too few
    batches.

    The lost loads' sums are the undelivered messages at the batches' ends, in units of a batch. The
    mean lost load is the difference between the last and the first sum over the batch count, so
    that its error is that of two ends, with the variance around a straight line.
    """
    known = [run for run in runs if len(run) >= FEWEST]
    if not known:
        return 0.0
    squares, degrees, variance = 0.0, 0, 0.0
    for run in known:
        undelivered = list(accumulate(run, initial=0.0))
        slope, start = linear_regression(range(len(undelivered)), undelivered)
        squares += sum(
            (value - start - slope * place) ** 2 for place, value in enumerate(undelivered)
        )
        degrees += len(undelivered) - 2
        variance += 2 / len(run) ** 2
    return _student(degrees) * math.sqrt(squares / degrees * variance) / len(known)


def _student(degrees: int) -> float:
    """Student's t for a 95% interval, from the interval of values with a standard error of one over
    their number.
    """
    _, low, high = _core.interval([1.0, *[0.0] * degrees])
    return (high - low) / 2 * (degrees + 1)
