"""Claim measures: they turn simulated rows into a number, an order or a finding.

A claim has one measure: a ``FigureMeasure`` (a quantity, or its value in one of several groups), a
``Ranking`` of groups, ``Statements`` that have to hold, or a ``FunctionMeasure`` function in
``OWN`` for rows that no quantity can express. ``entries`` reads them from the data file, and
``elanite.validation.claims`` compares the results with the published numbers and orders.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from elanite.base.text import number as plain
from elanite.base.units import size_text
from elanite.results.looks import more_looks_possible
from elanite.results.numbers import (
    Case,
    Finding,
    Measurement,
    Number,
    Order,
    StatementPart,
    all_hold,
    at_least,
    at_most,
    difference,
    excuse,
)
from elanite.validation.measures import congestion, multirail, noise
from elanite.validation.measures.quantities import MEASURES, MissingError, PairFigure, Quantity
from elanite.validation.measures.rows import prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

    from elanite.validation.measures.quantities import Group

    Figures = list[tuple[Group, Number]]

__all__ = ["MEASURES", "OWN", "Finding", "Measurement", "Number", "Order"]

OWN: dict[str, Callable[[pl.DataFrame, Sequence[float]], Finding]] = {
    "even-and-growing": congestion.even_and_growing,
    "hot-links": congestion.hot_links,
    "noise": noise.noise,
    "static-bound": multirail.static_bound,
    "livelock": multirail.livelock,
}
"""Special measures: congestion matrices, noise distributions, allocations and cyclic requests with
several rails.
"""

SAID = {True: "yes", False: "no", None: "not resolved"}

MOST_SAID = 12
"""Most groups that a note lists one by one."""

PICKS = ("", "most", "most-of-several", "farthest")
"""The groups that may count: the only one; the largest; the largest, with the interval for the
largest of several, from the highest lower end to the highest upper end; the group farthest from the
published range's middle.
"""


@dataclass(frozen=True)
class FunctionMeasure:
    """A function in ``OWN``, with the published figures that a finding is compared with."""

    name: str
    figures: tuple[float, ...] = ()

    def measured(self, rows: pl.DataFrame, look: int | None) -> Finding:  # noqa: ARG002 - these have no intervals
        """The function's finding."""
        return OWN[self.name](rows, self.figures)


@dataclass(frozen=True)
class GroupMeasure:
    """A quantity over row groups of one kind."""

    quantity: Quantity
    each: tuple[str, ...] = ()
    """Columns with values that form groups, which are measured separately."""
    rows: str = ""
    """The row kind that counts, if columns cannot select them (see ``rows``)."""

    def figures(self, rows: pl.DataFrame, each: Sequence[str]) -> Figures:
        """The figures for groups by some columns."""
        return _groups(self.quantity, each, prepared(rows, self.rows, self.each))


@dataclass(frozen=True)
class Bound:
    """A figure's bounds: inclusive ones, exclusive ones, and a range that its interval touches."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    touches: tuple[float, float] | None = None
    means: bool = False
    """Whether the mean within the bounds is enough, unless later looks may follow."""

    @property
    def words(self) -> str:
        """The bounds in words."""
        bounds = {
            "at least": self.least,
            "at most": self.most,
            "above": self.above,
            "below": self.below,
        }
        words = [f"{word} {plain(bound)}" for word, bound in bounds.items() if bound is not None]
        if self.touches:
            words.append("{} to {}".format(*map(plain, self.touches)))
        return " and ".join(words)

    def holds(self, figure: Number, look: int | None = None) -> bool | None:
        """Whether the whole interval is within the bounds; a mean that is enough fails only with
        its whole interval.
        """
        whole = self.within(figure)
        if not self.means or more_looks_possible(look):
            return whole
        return self.within(Number(figure.mean, figure.mean, figure.mean)) or whole

    def within(self, figure: Number) -> bool | None:
        """Whether the whole interval is within the bounds; `None` if it is within and outside."""
        judged: list[bool | None] = []
        if self.least is not None:
            judged.append(at_least(figure, self.least))
        if self.most is not None:
            judged.append(at_most(figure, self.most))
        if self.above is not None:
            judged.append(_beyond(figure, self.above, at_most))
        if self.below is not None:
            judged.append(_beyond(figure, self.below, at_least))
        if self.touches:
            low, high = self.touches
            judged.append(figure.low <= high and figure.high >= low)
        return all_hold(judged)


def _beyond(
    figure: Number, bound: float, within: Callable[[Number, float], bool | None]
) -> bool | None:
    """Whether a figure is beyond a bound, and not at the bound."""
    inside = within(figure, bound)
    return None if inside is None else not inside


@dataclass(frozen=True)
class Statement(GroupMeasure):
    """A quantity with its bounds, for each group; without words it is only shown."""

    says: str = ""
    bound: Bound = Bound()
    excused: int = 0
    """Allowed failures in each group."""
    steps: str = ""
    """A column: the figures are the rises from each value to the next."""

    @property
    def needs(self) -> str:
        """The bounds in words."""
        return self.bound.words + (
            f", but for {self.excused} in each group" if self.excused else ""
        )

    def finding(self, rows: pl.DataFrame, look: int | None) -> Finding:
        """Whether it holds, in each group."""
        found = _at(self._rises(rows) if self.steps else self.figures(rows, self.each), look)
        holds = [
            None if look is not None and one.lacking else self.bound.holds(one, look)
            for _, one in found
        ]
        if self.excused:
            holds = excuse(
                [tuple(group[name] for name in self.each[:-1]) for group, _ in found],
                holds,
                self.excused,
            )
        whole = all_hold(holds)
        said = _list(found)
        if not self.says:
            return Finding(whole, said)
        if len(found) > MOST_SAID:
            others = [one for one, held in zip(found, holds, strict=True) if not held]
            said = f"{len(found) - len(others)} of {len(found)}" + (
                f", not {_list(others)}" if others else ""
            )
        numbers = (
            ()
            if self.bound.means
            else tuple(side for _, figure in found for side in _sides(figure))
        )
        cases = tuple(
            Case(name, one, held)
            for name, (_, one), held in zip(_names(found), found, holds, strict=True)
        )
        words = f"{self.says}, {SAID[whole]}: {said}"
        return Finding(whole, words, numbers, (StatementPart(self.says, whole, self.needs, cases),))

    def _rises(self, rows: pl.DataFrame) -> Figures:
        """The quantity's rises from each column value to the next."""
        column, rows = self.steps, prepared(rows, self.rows, self.each)
        found: Figures = []
        for group in _each(self.quantity, self.each, rows):
            places = _groups(self.quantity, [column], _of(rows, group))
            places.sort(key=lambda one: one[0][column])
            for (before, a), (after, b) in pairwise(places):
                name = f"{_value(column, before[column])} to {_value(column, after[column])}"
                found.append((group | {column: name}, replace(difference(b, a), sides=(a, b))))
        return found


@dataclass(frozen=True)
class Statements:
    """The statements that all have to hold."""

    parts: tuple[Statement, ...]

    def measured(self, rows: pl.DataFrame, look: int | None) -> Finding:
        """Whether all hold, with their figures."""
        found = [part.finding(rows, look) for part in self.parts]
        numbers = tuple(figure for part in found for figure in part.numbers)
        said = tuple(statement for part in found for statement in part.parts)
        return Finding(
            all_hold(part.holds for part in found),
            "; ".join(part.text for part in found),
            numbers,
            said,
        )


@dataclass(frozen=True)
class Ranking(GroupMeasure):
    """The groups' order by their figures, best first."""

    def measured(self, rows: pl.DataFrame, look: int | None) -> Order:  # noqa: ARG002 - see ``Measure``
        """The group names in their order."""
        found = self.figures(rows, self.each)
        ordered = sorted(found, key=lambda one: -one[1].mean)
        return Order(
            [_name(group) for group, _ in ordered],
            _list(found),
            tuple(figure for _, figure in ordered),
        )


@dataclass(frozen=True)
class FigureMeasure(GroupMeasure):
    """One figure, or one group's figure, and other statements that have to hold as well."""

    pick: str = ""
    middle: float = 0.0
    """The published range's middle, if the group farthest from it counts."""
    shows: tuple[str, ...] = ()
    """Columns that order the figures in the note."""
    besides: Statements = Statements(())

    def measured(self, rows: pl.DataFrame, look: int | None) -> Number:
        """The figure, with its interval and a note."""
        besides = self.besides.measured(rows, look)
        found = _at(self.figures(rows, self.each), look)
        group, picked = self._picked(found)
        low, high = picked.low, picked.high
        if self.pick == "most-of-several":
            low, high = (
                max(getattr(figure, end) for _, figure in found) for end in ("low", "high")
            )
        shown = self.figures(rows, self.shows) if self.shows else found
        note = (
            _list(shown)
            if len(shown) <= MOST_SAID
            else f"{_name(group)}; picked of {len(shown)} configurations"
        )
        note = "; ".join(
            words for words in (note if len(shown) > 1 else picked.note, besides.text) if words
        )
        # Another group may be picked after more runs if its interval reaches the picked one's.
        rivals = [
            figure
            for _, figure in found
            if figure.high >= picked.low or not self.pick.startswith("most")
        ]
        ids = frozenset().union(*(figure.points for figure in rivals))
        return replace(
            picked,
            low=low,
            high=high,
            note=note,
            besides=besides.holds,
            parts=besides.parts,
            ids=ids,
        )

    def _picked(self, found: Figures) -> tuple[Group, Number]:
        if not self.pick:
            return found[0]
        if self.pick == "farthest":
            return max(found, key=lambda one: abs(one[1].mean - self.middle))
        return max(found, key=lambda one: one[1].mean)


Measure = FigureMeasure | Ranking | Statements | FunctionMeasure
"""How a claim's rows are measured, with the intervals for a ``look``, or for a whole run.

A short run's parts are not resolved by fewer than three values. An order's figures keep a whole
run's intervals, as they are compared in pairs.
"""


def kinds(measure: Measure | None) -> set[str]:
    """The row kinds that count for a measure."""
    grouped = measure.parts if isinstance(measure, Statements) else [measure]
    return {one.rows for one in grouped if isinstance(one, GroupMeasure)}


def _sides(figure: Number) -> list[Number]:
    """The figures that were measured."""
    return [one for side in figure.sides for one in _sides(side)] or [figure]


def _at(found: Figures, look: int | None) -> Figures:
    return [(group, figure.at(look)) for group, figure in found]


def _groups(quantity: Quantity, each: Sequence[str], rows: pl.DataFrame) -> Figures:
    """A quantity's figures, one for each group; groups without one of its sides are left out."""
    found: Figures = []
    for group in _each(quantity, each, rows):
        try:
            found.append((group, quantity.figure(rows, group)))
        except MissingError:
            if not each:
                raise
    if not found:
        sides = (
            (quantity.of.words, quantity.over.words)
            if isinstance(quantity, PairFigure)
            else (quantity.words, "")
        )
        raise MissingError("the points have no pair of {} and {}".format(*sides))
    return found


def _of(rows: pl.DataFrame, group: Group) -> pl.DataFrame:
    for name, value in group.items():
        rows = rows.filter(rows[name] == value)
    return rows


def _each(quantity: Quantity, each: Sequence[str], rows: pl.DataFrame) -> Iterator[Group]:
    """The row groups: one for each combination of some columns' values."""
    if not each:
        yield {}
        return
    here = quantity.first.loose.rows(rows, {}).select(each).unique(maintain_order=True)
    for group in here.drop_nulls().iter_rows(named=True):
        if not _of(quantity.first.rows(rows, group), group).is_empty():
            yield group


def _list(found: Figures) -> str:
    """Some groups' figures, in words."""
    words = [
        f"{name}: {_figure(figure)}".lstrip(": ")
        for name, (_, figure) in zip(_names(found), found, strict=True)
    ]
    return ("; " if len(_varying(found)) > 1 else ", ").join(words)


def _names(found: Figures) -> list[str]:
    """The groups in words, by their differences."""
    varying = _varying(found)
    return [
        _name({name: value for name, value in group.items() if name in varying})
        for group, _ in found
    ]


def _varying(found: Figures) -> set[str]:
    return {
        name for group, _ in found for name, value in group.items() if value != found[0][0][name]
    }


def _figure(figure: Number) -> str:
    return figure.text + (f" ({figure.note})" if figure.note else "")


def _name(group: Group) -> str:
    return ", ".join(text for name, value in group.items() if (text := _value(name, value)))


def _value(name: str, value: object) -> str:
    """A column value in words."""
    if name.endswith("_bytes") and isinstance(value, int):
        return size_text(value)
    if name in ("nodes", "rails", "groups") and isinstance(value, int):
        return f"{value} {name}" if value != 1 else f"one {name[:-1]}"
    units = {"_MBps": "MB/s", "_us": "us", "_load": "MB/s"}
    unit = next((unit for end, unit in units.items() if name.endswith(end)), "")
    return f"{value:g} {unit}".strip() if isinstance(value, float) else str(value)
