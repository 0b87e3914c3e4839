"""Measures claims: turns simulated rows into a number, an order or a finding, as the claim's data says.

A claim names a quantity (see ``quantities``) and its use: the value, the value of one of several groups, an order of
the groups, or parts that have to hold. Claims that no quantity can express have functions of their own in ``OWN``.
``elanite.validation.claims`` compares the results with the published numbers and orders.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from elanite.base.text import number as plain
from elanite.results.looks import early
from elanite.results.numbers import (
    Case,
    Finding,
    Measurement,
    Number,
    Order,
    Part,
    at_least,
    at_most,
    difference,
    excuse,
    together,
)
from elanite.validation.measures import congestion, multirail, noise
from elanite.validation.measures.quantities import MEASURES, Group, MissingError, Quantity, evaluate, leaf, selected
from elanite.validation.measures.rows import prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

    from elanite.validation.claim import Claim

__all__ = ["MEASURES", "OWN", "Finding", "Measurement", "Number", "Order", "measured"]

OWN: dict[str, Callable[[pl.DataFrame, Claim], Finding]] = {
    "even-and-growing": congestion.even_and_growing,
    "hot-links": congestion.hot_links,
    "noise": noise.noise,
    "static-bound": multirail.static_bound,
    "livelock": multirail.livelock,
}
"""Special measures: congestion matrices, distributions of noise, allocations and cyclic requests of several rails."""

SAID = {True: "yes", False: "no", None: "not resolved"}

MOST_SAID = 12
"""Most groups that a note lists one by one."""

Figures = list[tuple[Group, Number]]


def measured(claim: Claim, rows: pl.DataFrame, look: int | None = None) -> Measurement:
    """The simulated result for a claim, with the intervals of a ``look``, or of a whole run.

    No part of a short run is resolved by fewer than three values. The figures of an order keep the intervals of a
    whole run, as they are compared in pairs.
    """
    if claim.measure in OWN:
        return OWN[claim.measure](rows, claim)
    parts = [_part(part, claim, rows, look) for part in claim.part]
    holds = together(part.holds for part in parts)
    text = "; ".join(part.text for part in parts)
    numbers = tuple(figure for part in parts for figure in part.numbers)
    said = tuple(statement for part in parts for statement in part.parts)
    if claim.measure == "parts":
        return Finding(holds, text, numbers, said)
    found = _groups(claim.quantity, claim.each, prepared(rows, claim.rows, claim.each), claim.metric)
    if claim.measure == "order":
        ordered = sorted(found, key=lambda one: -one[1].mean)
        names = [_name(group) for group, _ in ordered]
        return Order(names, _list(found), tuple(figure for _, figure in ordered))
    found = _at(found, look)
    group, picked = PICKS[claim.pick](found, claim)
    low, high = picked.low, picked.high
    if claim.pick == "most-of-several":
        low, high = (max(getattr(figure, end) for _, figure in found) for end in ("low", "high"))
    shown = found
    if claim.shows:
        shown = _groups(claim.quantity, claim.shows, prepared(rows, claim.rows, claim.each), claim.metric)
    note = _list(shown) if len(shown) <= MOST_SAID else f"{_name(group)}; picked of {len(shown)} configurations"
    note = "; ".join(words for words in (note if len(shown) > 1 else picked.note, text) if words)
    # Another group may be picked after more runs if its interval reaches that of the picked one.
    rivals = [figure for _, figure in found if figure.high >= picked.low or not claim.pick.startswith("most")]
    ids = frozenset().union(*(figure.points for figure in rivals))
    return replace(picked, low=low, high=high, note=note, besides=holds, parts=said, ids=ids)


PICKS: dict[str, Callable[[Figures, Claim], tuple[Group, Number]]] = {
    "": lambda found, _: found[0],
    "most": lambda found, _: max(found, key=lambda one: one[1].mean),
    "most-of-several": lambda found, _: max(found, key=lambda one: one[1].mean),
    "farthest": lambda found, claim: max(
        found, key=lambda one: abs(one[1].mean - ((claim.low or 0.0) + (claim.high or 0.0)) / 2)
    ),
}
"""The group that counts: the only one; the largest; the largest, with the interval of the largest of several, from
the highest lower end to the highest upper end; the group farthest from the middle of the published range."""


def _part(part: dict[str, Any], claim: Claim, rows: pl.DataFrame, look: int | None) -> Finding:
    """Whether one part holds, in each of its groups."""
    each: Sequence[str] = part.get("each", ())
    metric = part.get("metric", claim.metric)
    here = prepared(rows, part.get("rows", claim.rows), each)
    found = _at(_steps(part, each, here, metric) if "steps" in part else _groups(part, each, here, metric), look)
    holds = [None if look is not None and figure.lacking else _holds(part, figure, look) for _, figure in found]
    if excused := part.get("but", 0):
        groups = [tuple(group[name] for name in each[:-1]) for group, _ in found]
        holds = excuse(groups, holds, excused)
    whole = together(holds)
    said = _list(found)
    if "says" in part and len(found) > MOST_SAID:
        others = [one for one, held in zip(found, holds, strict=True) if not held]
        said = f"{len(found) - len(others)} of {len(found)}" + (f", not {_list(others)}" if others else "")
    words = f"{part['says']}, {SAID[whole]}: {said}" if "says" in part else said
    judged = "says" in part and not part.get("means")
    numbers = tuple(side for _, figure in found for side in _sides(figure) if judged)
    if "says" not in part:
        return Finding(whole, words, numbers)
    cases = tuple(Case(name, one, held) for name, (_, one), held in zip(_names(found), found, holds, strict=True))
    return Finding(whole, words, numbers, (Part(part["says"], whole, _needs(part), cases),))


def _needs(part: dict[str, Any]) -> str:
    """The bounds of a part in words."""
    bounds = {"least": "at least", "most": "at most", "above": "above", "below": "below"}
    words = [f"{word} {plain(part[bound])}" for bound, word in bounds.items() if bound in part]
    if "touches" in part:
        words.append("{} to {}".format(*map(plain, part["touches"])))
    return " and ".join(words) + (f", but for {part['but']} in each group" if part.get("but") else "")


def _sides(figure: Number) -> list[Number]:
    """The figures that were measured."""
    return [one for side in figure.sides for one in _sides(side)] or [figure]


def _at(found: Figures, look: int | None) -> Figures:
    return [(group, figure.at(look)) for group, figure in found]


def _holds(part: dict[str, Any], figure: Number, look: int | None = None) -> bool | None:
    """Whether the whole interval of a figure is within its bounds.

    With `means`, the mean within the bounds is enough, unless later looks may follow; the part fails only if the whole
    interval is outside.
    """
    whole = _within(part, figure)
    if not part.get("means") or early(look):
        return whole
    return _within(part, Number(figure.mean, figure.mean, figure.mean)) or whole


def _within(part: dict[str, Any], figure: Number) -> bool | None:
    judged: list[bool | None] = []
    if "least" in part:
        judged.append(at_least(figure, part["least"]))
    if "most" in part:
        judged.append(at_most(figure, part["most"]))
    if "above" in part:
        judged.append(_beyond(figure, part["above"], at_most))
    if "below" in part:
        judged.append(_beyond(figure, part["below"], at_least))
    if "touches" in part:
        low, high = part["touches"]
        judged.append(figure.low <= high and figure.high >= low)
    return together(judged)


def _beyond(figure: Number, bound: float, within: Callable[[Number, float], bool | None]) -> bool | None:
    """Whether a figure is beyond a bound, and not at the bound."""
    inside = within(figure, bound)
    return None if inside is None else not inside


def _groups(quantity: Quantity, each: Sequence[str], rows: pl.DataFrame, metric: str) -> Figures:
    """The figures of a quantity, one for each group; groups without one of its sides are left out."""
    found: Figures = []
    for group in _each(quantity, each, rows, metric):
        try:
            found.append((group, evaluate(_table(quantity), rows, group, metric)))
        except MissingError:
            if not each:
                raise
    if not found:
        of, over = (selected(quantity.get(side, {})) for side in ("of", "over"))
        raise MissingError(f"the points have no pair of {of} and {over}")
    return found


def _steps(part: dict[str, Any], each: Sequence[str], rows: pl.DataFrame, metric: str) -> Figures:
    """The rise of the quantity from each value of a column to the next."""
    column = part["steps"]
    found: Figures = []
    for group in _each(part, each, rows, metric):
        places = _groups(_table(part), [column], _of(rows, group), metric)
        places.sort(key=lambda one: one[0][column])
        for (before, a), (after, b) in pairwise(places):
            name = f"{_value(column, before[column])} to {_value(column, after[column])}"
            found.append((group | {column: name}, replace(difference(b, a), sides=(a, b))))
    return found


def _of(rows: pl.DataFrame, group: Group) -> pl.DataFrame:
    for name, value in group.items():
        rows = rows.filter(rows[name] == value)
    return rows


def _each(quantity: Quantity, each: Sequence[str], rows: pl.DataFrame, metric: str) -> Iterator[Group]:
    """The groups of rows: one for each combination of values of some columns."""
    if not each:
        yield {}
        return
    here = leaf(_table(quantity), rows, {}, metric, loosely=True).select(each).unique(maintain_order=True)
    for group in here.drop_nulls().iter_rows(named=True):
        if not _of(leaf(_table(quantity), rows, group, metric), group).is_empty():
            yield group


def _table(fields: Quantity) -> Quantity:
    """The quantity of a part."""
    return {name: fields[name] for name in ("measure", "of", "over") if name in fields} | (
        {} if "measure" in fields else {"measure": "value"}
    )


def _list(found: Figures) -> str:
    """The figures of some groups, in words."""
    words = [f"{name}: {_figure(figure)}".lstrip(": ") for name, (_, figure) in zip(_names(found), found, strict=True)]
    return ("; " if len(_varying(found)) > 1 else ", ").join(words)


def _names(found: Figures) -> list[str]:
    """The groups in words, by what differs between them."""
    varying = _varying(found)
    return [_name({name: value for name, value in group.items() if name in varying}) for group, _ in found]


def _varying(found: Figures) -> set[str]:
    return {name for group, _ in found for name, value in group.items() if value != found[0][0][name]}


def _figure(figure: Number) -> str:
    return figure.text + (f" ({figure.note})" if figure.note else "")


def _name(group: Group) -> str:
    return ", ".join(text for name, value in group.items() if (text := _value(name, value)))


def _value(name: str, value: Any) -> str:
    """A value of a column in words."""
    if name.endswith("_bytes") and isinstance(value, int):
        return f"{value // 1024} KB" if value >= 1024 else f"{value} B"
    if name in ("nodes", "rails", "groups") and isinstance(value, int):
        return f"{value} {name}" if value != 1 else f"one {name[:-1]}"
    units = {"_MBps": "MB/s", "_us": "us", "_load": "MB/s"}
    unit = next((unit for end, unit in units.items() if name.endswith(end)), "")
    return f"{value:g} {unit}".strip() if isinstance(value, float) else str(value)
