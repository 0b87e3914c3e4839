"""Quantities as data: a quantity is the mean of selected rows, or is made of other quantities.

A quantity is a table. Without ``measure`` it selects rows by their columns (see ``results.select``), and is their mean;
``lowest`` and ``highest`` stand for the least and greatest number of a column, and a bound may be a quantity itself.
With ``measure`` it is made ``of`` another quantity, or of one quantity ``over`` another quantity or a column::

    { measure = "ratio", of = { operation = "bcast" }, over = { operation = "hbcast" } }
    { measure = "least", of = { memory = "elan" }, over = "nodes" }

A quantity is evaluated for a group: the rows with one value of some columns. If a group has no rows with its value of a
parameter, rows without this parameter are used. If a quantity selects a value of a column itself, the value of the
group does not count, unless it is among several selected values: then the group has only the rows with its own value.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from elanite.base import text
from elanite.base.text import number as plain
from elanite.results.numbers import Number, averaged, difference, ratio
from elanite.results.select import chosen, empty

if TYPE_CHECKING:
    from collections.abc import Callable

Quantity = Mapping[str, Any]
Group = dict[str, Any]

EMPTY: Quantity = {}

BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "ratio": ratio,
    "difference": difference,
    "gain": lambda one, other: ratio(one, other).turned(1.0, -1.0),
    "loss": lambda one, other: ratio(one, other).turned(-1.0, 1.0),
}
"""Measures of two figures: their ratio, their difference, and the gain and the loss as fractions."""

UNARY: dict[str, Callable[[Number], Number]] = {
    "twice": lambda one: one.turned(2.0),
    "rest": lambda one: one.turned(-1.0, 1.0),
    "size": lambda one: one if one.mean >= 0 else one.turned(-1.0),
}
"""Measures of one figure: the sum of two equal directions, the rest of a whole, and the absolute value."""

ALONG: dict[str, Callable[[dict[Any, Number]], Number]] = {
    "least": lambda found: min(found.values(), key=lambda one: one.mean),
    "most": lambda found: max(found.values(), key=lambda one: one.mean),
    "first": lambda found: found[min(found)],
    "rate": lambda found: _rate(*sorted(found.items())[-2:]),
}
"""Measures of figures over a column: the least, the greatest, the one at the least value of the column, and the rate:
the difference of the two greatest values of the column over the difference of their figures, without start-up."""

MEASURES = ("value", *BINARY, *UNARY, *ALONG)


class MissingError(ValueError):
    """A quantity has no rows."""


def selected(where: Mapping[str, Any]) -> str:
    """A selection of rows in words: ``policy hybrid, load_MBps above 100, 200 or 400``."""

    def said(value: object) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {said(each)}" for name, each in value.items())
        return " or ".join(map(said, value)) if isinstance(value, list) else text.plain(value)

    return ", ".join(f"{name} {said(value)}" for name, value in where.items())


def evaluate(quantity: Quantity, rows: pl.DataFrame, group: Group, metric: str) -> Number:
    """The figure of a quantity; ``metric`` is the metric if the quantity names none."""
    kind = quantity.get("measure", "value")
    of = quantity.get("of", EMPTY) if "measure" in quantity else quantity
    if kind == "value":
        here = of_group(of, rows, group, metric)
        if here.is_empty():
            raise MissingError(f"the points have no rows of {selected(of) or metric}")
        return averaged(here)
    over = quantity.get("over", EMPTY)
    if kind in BINARY:
        one, other = (evaluate(side, rows, group, metric) for side in (of, over))
        return replace(BINARY[kind](one, other), note=f"{plain(one.mean)} of {plain(other.mean)}", sides=(one, other))
    if kind in UNARY:
        return UNARY[kind](evaluate(of, rows, group, metric))
    others = {name: value for name, value in group.items() if name != over}
    values = leaf(of, rows, others, metric)[over].unique().drop_nulls().sort().to_list()
    found = {}
    for value in values:
        with suppress(MissingError):
            found[value] = evaluate(_at(of, over, value), rows, group, metric)
    if not found:
        raise MissingError(f"the points have no {over}")
    return ALONG[kind](found)


def _at(quantity: Quantity, column: str, value: Any) -> Quantity:
    """The quantity at one value of a column."""
    if "measure" not in quantity:
        return {**quantity, column: value}
    sides = {
        side: _at(quantity[side], column, value) for side in ("of", "over") if isinstance(quantity.get(side), dict)
    }
    return {"of": {column: value}, **quantity, **sides}


def leaf(quantity: Quantity, rows: pl.DataFrame, group: Group, metric: str, *, loosely: bool = False) -> pl.DataFrame:
    """The rows of the first mean in a quantity; loosely, without selections that depend on the group."""
    while "measure" in quantity:
        quantity = quantity.get("of", EMPTY)
    if loosely:
        quantity = {name: value for name, value in quantity.items() if not _of_its_group(value)}
    return of_group(quantity, rows, group, metric)


def _of_its_group(value: Any) -> bool:
    """Whether the selection depends on the other rows of a group."""
    bounds = value.values() if isinstance(value, Mapping) else ()
    return value in ("lowest", "highest") or any(isinstance(bound, Mapping) for bound in bounds)


def of_group(wanted: Quantity, rows: pl.DataFrame, group: Group, metric: str) -> pl.DataFrame:
    """The selected rows of a group."""
    if "metric" in rows.columns:
        here = chosen(rows, {"metric": wanted.get("metric", metric)})
    else:
        here = rows.with_columns(value=pl.col(metric))  # a table with a column for each metric
    ends: dict[str, str] = {}
    other: dict[str, Any] = {}
    for name, value in wanted.items():
        if value in ("lowest", "highest"):
            ends[name] = value
        elif isinstance(value, Mapping):
            other[name] = {bound: _bound(limit, rows, group, metric) for bound, limit in value.items()}
        else:
            other[name] = value
    here = chosen(here, other)
    for name, value in group.items():
        if name in ends:
            continue
        same = here.filter(pl.col(name) == value)
        if name in other and _admits(other[name], name, value):
            here = same
        elif name not in wanted or len(same):
            here = same if len(same) else here.filter(empty(here, name))
    for name, end in ends.items():
        column = pl.col(name)
        here = here.filter(column == (column.min() if end == "lowest" else column.max()))
    return here


def _admits(wanted: Any, name: str, value: Any) -> bool:
    """Whether a selection of several values of a column has this one; then no other rows stand for the group."""
    several = isinstance(wanted, Mapping | list)
    return several and not chosen(pl.DataFrame({name: [value]}), {name: wanted}).is_empty()


def _bound(limit: Any, rows: pl.DataFrame, group: Group, metric: str) -> Any:
    return evaluate(limit, rows, group, metric).mean if isinstance(limit, Mapping) else limit


def _rate(few: tuple[float, Number], many: tuple[float, Number]) -> Number:
    more = difference(many[1], few[1])
    length = many[0] - few[0]
    sides = (many[1], few[1])
    return Number(length / more.mean, length / more.high, length / more.low, sides=sides)
