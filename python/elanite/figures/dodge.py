"""Several curves' marks at one place on the horizontal axis, side by side.

Confidence interval bars at one place would hide each other, and marks with equal values, too. Where
they would, each curve in the panel is moved by some pixels, around the place: its line, its marks
and its bars. Intervals that are shorter than a mark do not count. The distance between two curves
is at most ``STEP``, and so short that a place's marks stay nearer to it than to the next place on
the narrowest page. Where this leaves no room, and without intervals, marks stay in place.
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures import axes
from elanite.figures.grouping import CURVE
from elanite.figures.style import HEIGHT, PADDING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.utils.schemapi import UndefinedType

SHIFT = "_shift"
"""The column with the pixels by which a row's marks are moved."""

STEP, LEAST = 6.0, 1.5
"""The most and the fewest pixels between two curves at one place."""

NARROW = 240.0
"""A horizontal axis's pixels on a narrow screen."""

ROOM = 0.7
"""The part of the distance between two places that a place's marks may take."""

MARK = 0.02
"""A mark's height, as a part of the span of a panel's figures."""

TOUCH = 2.0
"""The pixels between two marks below which one hides the other."""

SIDE_BY_SIDE = "Marks at one place stand side by side, around it."
"""The caption sentence about moved marks."""


def moved(
    data: pl.DataFrame,
    place: str | None,
    x: alt.X,
    ends: tuple[str, str, str] = ("mean", "low", "high"),
) -> pl.DataFrame:
    """The data with each row's pixels in ``SHIFT``, all 0 if no mark hides another one's interval.

    ``place`` is the column on the horizontal axis ``x``, and ``ends`` are the columns for means and
    interval ends.
    """
    return _moved(data, place, x, hidden=_hidden(data, place, ends))


def separated(
    data: pl.DataFrame, place: str | None, x: alt.X, column: str, height: float
) -> pl.DataFrame:
    """The same for marks without intervals, in ``column``: they hide each other where they are
    nearer than ``height``.

    ``height`` is a mark's height, in vertical axis units.
    """
    places: dict[object, list[float]] = {}
    for at, value in data.select(place, column).drop_nulls().iter_rows() if place else ():
        places.setdefault(at, []).append(value)
    near = any(
        after - before < height
        for some in places.values()
        for before, after in pairwise(sorted(some))
    )
    return _moved(data, place, x, hidden=near)


def _moved(data: pl.DataFrame, place: str | None, x: alt.X, *, hidden: bool) -> pl.DataFrame:
    """The data with each row's pixels, all 0 without ``hidden`` marks or without room."""
    slots = _slots(data, place)
    several = max(slots.values(), default=0) + 1
    step = _step(data[place].unique().to_list(), x, several) if place and several > 1 else 0.0
    if step < LEAST or not hidden:
        step = 0.0
    shifts = {name: step * (slot - (several - 1) / 2) for name, slot in slots.items()}
    return data.with_columns(
        pl.col(CURVE).replace_strict(shifts, return_dtype=pl.Float64).alias(SHIFT)
    )


def offset(data: pl.DataFrame) -> alt.ExprRef | UndefinedType:
    """The pixels by which marks are moved (``xOffset``); undefined if all marks stay."""
    return alt.ExprRef(f"datum.{SHIFT}") if words(data) else alt.Undefined


def words(data: pl.DataFrame) -> str:
    """The caption sentence about moved marks; empty if all marks stay."""
    return SIDE_BY_SIDE if SHIFT in data.columns and (data[SHIFT] != 0).any() else ""


def hidden_marks(
    data: pl.DataFrame,
    place: str | None,
    ends: axes.Ends,
    *,
    log: bool = False,
    right: float | None = None,
) -> str:
    """The caption sentences about curves with each mark behind one on another curve, which is in
    front.

    ``place`` is the horizontal axis's column, and ``ends`` are the vertical one's ends. The
    horizontal axis of a measured quantity goes from 0 to ``right``. Marks are
    behind others where they are nearer than ``TOUCH``; curves with equal values are distinguished
    from near ones. Marks that were moved hide no others, but equal curves may be mistaken for one.
    """
    places: dict[str, dict[object, float]] = {}
    for row in data.drop_nulls("mean").iter_rows(named=True):
        places.setdefault(row[CURVE], {})[row[place] if place else None] = row["mean"]
    names, aside = list(places), words(data)
    low, high = ends if log else axes.rounded(ends)
    least = TOUCH / HEIGHT * (math.log(high / low) if log else high - low)

    def near(one: float, other: float) -> bool:
        return abs(math.log(one / other) if log and min(one, other) > 0 else one - other) <= least

    def covered(own: Mapping[object, float], other: Mapping[object, float]) -> bool:
        if right is None:
            return own.keys() <= other.keys() and all(near(own[at], other[at]) for at in own)
        beside = TOUCH / NARROW * right
        return all(
            any(
                abs(float(str(at)) - float(str(to))) <= beside and near(own[at], other[to])
                for to in other
            )
            for at in own
        )

    equal: dict[str, str] = {}
    close: dict[str, str] = {}
    for number, name in enumerate(names):
        for front in names[number + 1 :]:
            own, other = places[name], places[front]
            if own.items() <= other.items():
                equal[name] = front
            elif not aside and covered(own, other):
                close[name] = front
    close = {name: front for name, front in close.items() if name not in equal}
    quote = "“{}”" if any(";" in name for name in names) else "{}"

    def listed(pairs: Mapping[str, str]) -> str:
        how = "as" if aside else "behind"
        return "; ".join(
            f"{quote.format(name)} {how} {quote.format(front)}" for name, front in pairs.items()
        )

    return " ".join(
        f"{said}: {listed(pairs)}."
        for said, pairs in (
            (f"Curves with equal values{'' if aside else ' lie on each other'}", equal),
            ("Curves too near to be told apart", close),
        )
        if pairs
    )


def _slots(data: pl.DataFrame, place: str | None) -> dict[str, int]:
    """Each curve's place beside the others, from left to right: curves without a common place may
    share one.
    """
    places: dict[str, set[object]] = {}
    for row in data.iter_rows(named=True):
        places.setdefault(row[CURVE], set()).add(row[place] if place else None)
    found: dict[str, int] = {}
    for name, own in places.items():
        taken = {slot for other, slot in found.items() if own & places[other]}
        found[name] = next(slot for slot in range(len(places)) if slot not in taken)
    return found


def _hidden(data: pl.DataFrame, place: str | None, ends: tuple[str, str, str]) -> bool:
    """Whether a mark's interval overlaps another mark at its place, or that mark's interval."""
    places: dict[object, list[Mapping[str, float]]] = {}
    for row in data.iter_rows(named=True):
        if place is not None and row[ends[0]] is not None:
            places.setdefault(row[place], []).append(row)
    reaches = {at: [_reach(row, ends) for row in rows] for at, rows in places.items()}
    everything = [end for some in reaches.values() for reach in some for end in reach]
    least = MARK * (max(everything, default=0.0) - min(everything, default=0.0))
    return any(_overlap(*two, least) for some in reaches.values() for two in combinations(some, 2))


def _reach(row: Mapping[str, float], ends: tuple[str, str, str]) -> tuple[float, float]:
    mean, low, high = (row[name] for name in ends)
    return (mean, mean) if low is None or high is None else (low, high)


def _overlap(one: tuple[float, float], other: tuple[float, float], least: float) -> bool:
    wide = max(one[1] - one[0], other[1] - other[0]) > least
    return wide and one[0] <= other[1] and other[0] <= one[1]


def _step(values: Sequence[object], x: alt.X, curves: int) -> float:
    """The pixels between two curves at a place."""
    room = ROOM * NARROW * _gap(values, x)
    if _is_continuous(x):  # the first and the last place are at the frame
        room = min(room, 2.0 * PADDING)
    return min(STEP, room / (curves - 1))


def _is_continuous(x: alt.X) -> bool:
    return str(x.shorthand).endswith(":Q")


def _gap(values: Sequence[object], x: alt.X) -> float:
    """The least distance between two places, as a part of the axis."""
    numbers = sorted(float(value) for value in values if isinstance(value, int | float))
    if not _is_continuous(x) or len(numbers) < 2:
        return 1.0 / max(len(values), 1)
    encoding = x.to_dict()
    scale = encoding.get("scale", {}) if isinstance(encoding, dict) else {}
    domain = scale.get("domain") or [numbers[0], numbers[-1]]
    ends = [float(end) for end in domain]
    if scale.get("type") == "log" and min(numbers[0], *ends) > 0:
        numbers, ends = ([math.log(value) for value in some] for some in (numbers, ends))
    span = ends[-1] - ends[0] or 1.0
    return min(after - before for before, after in pairwise(numbers)) / span
