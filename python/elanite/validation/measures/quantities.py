"""Quantities: the mean over selected rows, or a figure made from other quantities.

A ``Mean`` selects rows by their columns (see ``results.selection``); an ``Extreme`` stands for a
column's least or greatest number, and a bound may be a quantity itself. A ``PairFigure`` compares
one quantity with another, ``UnaryFigure`` changes one, and ``ColumnFigure`` takes one over a
column's values.

A quantity is evaluated for a group: the rows with one value in some columns. If a group has no rows
with its parameter value, rows without this parameter are used. If a quantity selects a column value
itself, the group's value does not count, unless it is among several selected values: then the group
has only the rows with its own value.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import polars as pl

from elanite.base import text
from elanite.base.text import number as plain
from elanite.results.numbers import Number, averaged, difference, ratio
from elanite.results.selection import chosen, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from elanite.results.selection import Scalar

    Group = dict[str, Scalar]


class MissingError(ValueError):
    """A quantity has no rows."""


class Extreme(StrEnum):
    """A column's least or greatest number, among the other selected rows."""

    LOWEST = "lowest"
    HIGHEST = "highest"


@dataclass(frozen=True)
class Limits:
    """A column's numbers between bounds (``least``, ``most``, ``above``, ``below``), or values
    ``not`` to take.
    """

    bounds: Mapping[str, Scalar | tuple[Scalar, ...] | Quantity]

    @property
    def span(self) -> tuple[float, ...]:
        """The inclusive bounds that are numbers, the least first."""
        ends = (self.bounds.get(name) for name in ("least", "most"))
        return tuple(end for end in ends if isinstance(end, int | float))

    def figures(self, rows: pl.DataFrame, group: Group) -> dict[str, Scalar | tuple[Scalar, ...]]:
        """The bounds, with figures for those that are quantities."""
        return {
            name: limit.figure(rows, group).mean if isinstance(limit, Quantity) else limit
            for name, limit in self.bounds.items()
        }


ColumnSelection = (
    str | int | float | bool | tuple["str | int | float | bool", ...] | Extreme | Limits
)
"""A column selection: a value, one of several values, an end, or limits."""


def _value_words(value: object) -> str:
    if isinstance(value, Limits):
        return ", ".join(f"{name} {_value_words(limit)}" for name, limit in value.bounds.items())
    if isinstance(value, Quantity):
        return value.words
    return " or ".join(map(_value_words, value)) if isinstance(value, tuple) else text.plain(value)


@dataclass(frozen=True)
class Mean:
    """The mean over a metric's selected rows."""

    metric: str
    where: Mapping[str, ColumnSelection] = field(default_factory=dict)

    @property
    def first(self) -> Mean:
        """Itself."""
        return self

    @property
    def words(self) -> str:
        """The selection."""
        return ", ".join(f"{name} {_value_words(value)}" for name, value in self.where.items())

    def figure(self, rows: pl.DataFrame, group: Group) -> Number:
        """The mean, with its interval."""
        here = self.rows(rows, group)
        if here.is_empty():
            raise MissingError(f"the points have no rows of {self.words or self.metric}")
        return averaged(here)

    def at(self, column: str, value: Scalar) -> Mean:
        """The mean over the rows with this value."""
        return replace(self, where={**self.where, column: value})

    @property
    def loose(self) -> Mean:
        """The mean without selections that depend on a group's other rows."""
        return replace(
            self,
            where={name: value for name, value in self.where.items() if not _of_its_group(value)},
        )

    def rows(self, rows: pl.DataFrame, group: Group) -> pl.DataFrame:
        """A group's selected rows."""
        if "metric" in rows.columns:
            here = chosen(rows, {"metric": self.metric})
        else:
            here = rows.with_columns(
                value=pl.col(self.metric)
            )  # a table with a column for each metric
        ends = {name: value for name, value in self.where.items() if isinstance(value, Extreme)}
        other = {
            name: value.figures(rows, group) if isinstance(value, Limits) else value
            for name, value in self.where.items()
            if not isinstance(value, Extreme)
        }
        here = chosen(here, other)
        for name, value in group.items():
            if name in ends:
                continue
            same = here.filter(pl.col(name) == value)
            if name in other and _admits(other[name], name, value):
                here = same
            elif name not in self.where or len(same):
                here = same if len(same) else here.filter(empty(here, name))
        for name, end in ends.items():
            column = pl.col(name)
            here = here.filter(column == (column.min() if end is Extreme.LOWEST else column.max()))
        return here


def _of_its_group(value: ColumnSelection) -> bool:
    limits = value.bounds.values() if isinstance(value, Limits) else ()
    return isinstance(value, Extreme) or any(isinstance(limit, Quantity) for limit in limits)


def _admits(wanted: object, name: str, value: Scalar) -> bool:
    """Whether a selection with several column values has this one; then no other rows stand for the
    group.
    """
    several = isinstance(wanted, dict | tuple)
    return several and not chosen(pl.DataFrame({name: [value]}), {name: wanted}).is_empty()


@dataclass(frozen=True)
class DerivedFigure:
    """A figure that is made from a quantity's figures."""

    measure: str
    of: Quantity

    @property
    def first(self) -> Mean:
        """The first mean behind the figure."""
        return self.of.first


@dataclass(frozen=True)
class PairFigure(DerivedFigure):
    """A comparison of one quantity with another."""

    over: Quantity

    @property
    def words(self) -> str:
        """The measure, and its operands."""
        return _words(self.measure, self.of.words, self.over.words)

    def figure(self, rows: pl.DataFrame, group: Group) -> Number:
        """The comparison, with both figures as its sides."""
        one, other = self.of.figure(rows, group), self.over.figure(rows, group)
        note = f"{plain(one.mean)} of {plain(other.mean)}"
        return replace(PAIRS[self.measure](one, other), note=note, sides=(one, other))

    def at(self, column: str, value: Scalar) -> PairFigure:
        """The comparison at this value."""
        return replace(self, of=self.of.at(column, value), over=self.over.at(column, value))


@dataclass(frozen=True)
class UnaryFigure(DerivedFigure):
    """A change in one quantity."""

    @property
    def words(self) -> str:
        """The measure, and its operands."""
        return _words(self.measure, self.of.words)

    def figure(self, rows: pl.DataFrame, group: Group) -> Number:
        """The changed figure."""
        return TURNED[self.measure](self.of.figure(rows, group))

    def at(self, column: str, value: Scalar) -> UnaryFigure:
        """The changed figure at this value."""
        return replace(self, of=self.of.at(column, value))


@dataclass(frozen=True)
class ColumnFigure(DerivedFigure):
    """A figure of a quantity over a column's values."""

    over: str

    @property
    def words(self) -> str:
        """The measure, its operands, and the column."""
        return _words(self.measure, self.of.words, self.over)

    def figure(self, rows: pl.DataFrame, group: Group) -> Number:
        """The figure over the figures at each column value with rows."""
        others = {name: value for name, value in group.items() if name != self.over}
        values = self.first.rows(rows, others)[self.over].unique().drop_nulls().sort().to_list()
        found: dict[float, Number] = {}
        for value in values:
            with suppress(MissingError):
                found[value] = self.of.at(self.over, value).figure(rows, group)
        if not found:
            raise MissingError(f"the points have no {self.over}")
        return ALONG[self.measure](found)

    def at(self, column: str, value: Scalar) -> ColumnFigure:
        """The figure over the rows with this value in another column."""
        return replace(self, of=self.of.at(column, value))


Quantity = Mean | PairFigure | UnaryFigure | ColumnFigure

PAIRS: dict[str, Callable[[Number, Number], Number]] = {
    "ratio": ratio,
    "difference": difference,
    "gain": lambda one, other: ratio(one, other).turned(1.0, -1.0),
    "loss": lambda one, other: ratio(one, other).turned(-1.0, 1.0),
}
"""Measures on two figures: their ratio, their difference, and the gain and the loss as
fractions.
"""

TURNED: dict[str, Callable[[Number], Number]] = {
    "twice": lambda one: one.turned(2.0),
    "rest": lambda one: one.turned(-1.0, 1.0),
    "size": lambda one: one if one.mean >= 0 else one.turned(-1.0),
}
"""Measures on one figure: the sum over two equal directions, the rest of a whole, and the absolute
value.
"""

ALONG: dict[str, Callable[[dict[float, Number]], Number]] = {
    "least": lambda found: min(found.values(), key=lambda one: one.mean),
    "most": lambda found: max(found.values(), key=lambda one: one.mean),
    "first": lambda found: found[min(found)],
    "rate": lambda found: _rate(*sorted(found.items())[-2:]),
}
"""Measures on figures over a column: the least, the greatest, the one at the column's least value,
and the rate: the difference between the column's two greatest values over their figures'
difference, without start-up.
"""

MEASURES = ("value", *PAIRS, *TURNED, *ALONG)


def _words(measure: str, of: str, over: str = "") -> str:
    return ", ".join(
        f"{key} {said}" for key, said in (("measure", measure), ("of", of), ("over", over)) if said
    )


def _rate(few: tuple[float, Number], many: tuple[float, Number]) -> Number:
    more = difference(many[1], few[1])
    length = many[0] - few[0]
    sides = (many[1], few[1])
    return Number(length / more.mean, length / more.high, length / more.low, sides=sides)
