"""A figure's finding: the sentence on its highest and its lowest mark, from the rows that the chart
draws.

A page about one figure has this sentence as its title. Curves are compared where all of them have a
mark, at the last such place on the axis; accepted loads by their peaks, latencies at the lightest
common load, distributions by their medians, bars in the group where they differ most. A congestion
matrix has its most loaded link. Marks of the shipped results, which a quick run draws hollow, do
not count; where whole curves are shipped, the sentence says so or names its curve. A chart of
another form has no finding.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite.base.text import ROUNDING, distinct, number, symbol
from elanite.base.units import size_text
from elanite.figures import tabular
from elanite.results.frames import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from elanite.figures.style import Figure, Spec

OFFERED = "offered"
"""The first word of an axis with loads as they were offered, which differ between curves."""

OVER_TIME = ("part of the window", "five calls each")
"""Axes with times, where no place stands for the others."""

PART = "part of "
"""The first words of a unit for fractions, which a sentence writes in per cent."""

SMALL = 1e-3
"""Smaller numbers on an axis are written with an exponent."""

LEAST_FACTOR = 1.01
"""The least factor between two marks that a sentence states."""


@dataclass(frozen=True)
class Mark:
    """One mark of a chart."""

    value: float
    half: float
    """Half the interval; 0 without one."""
    curve: str
    place: float | str | None
    at: str
    """The place on the axis, in words."""


def sentence(figure: Figure) -> str:
    """The finding, without a period; empty if the chart has none."""
    if figure.data is not None:
        return _most_loaded(figure)
    layer, rows = tabular.main(figure.spec())
    own = [row for row in rows if not row.get(SHIPPED)]
    encoding = layer.get("encoding", {})
    if all("says" in row and "ratio" in row for row in own):
        return _least_cell(own)
    y, x = encoding.get("y", {}), encoding.get("x", {})
    name, _, unit = str(y.get("title") or "").rpartition(", ")
    unit = symbol(unit)
    if not own or not name or y.get("type") != "quantitative":
        return ""
    curve = encoding.get("color", {})
    key = curve.get("field", "") if curve.get("type") == "nominal" else ""
    if y["field"] == "share" and unit == "%":
        return _medians(own, x, key)
    if y["field"] != "mean":
        return ""
    if x.get("title") in OVER_TIME:
        return ""
    name = name[:1].upper() + name[1:]
    loads = str(x.get("title") or "").startswith(OFFERED)
    peaks = loads and "latency" not in name.lower()
    if loads and not peaks:
        x = {"field": "load_MBps", "title": "load", "type": "quantitative"}
    marks = [_mark(row, x, key) for row in own if row.get("mean") is not None]
    shipped = {str(row.get(key) or "") for row in rows} - {mark.curve for mark in marks}
    one = {mark.curve for mark in marks} if shipped else set()
    if len(one) == 1:
        return _compared(marks, f"{name} ({_bare(*one)})", unit, x, loads=loads, peaks=peaks)
    said = _compared(marks, name, unit, x, loads=loads, peaks=peaks)
    return f"{said}; shipped curves do not count" if said and shipped else said


def _compared(
    marks: Sequence[Mark], name: str, unit: str, x: Spec, *, loads: bool, peaks: bool
) -> str:
    """The finding on marks with means, whatever else the chart draws."""
    curves = list(dict.fromkeys(mark.curve for mark in marks))
    if peaks:
        return _peaks(marks, curves, name, unit)
    if x.get("type") == "nominal" or x.get("field") == "node":
        return _bars(marks, name, unit)
    if len(curves) == 1 and not loads:
        first, last = (end(marks, key=lambda mark: _order(mark.place)) for end in (min, max))
        if first.place == last.place:
            return f"{name} {first.at}: {_with_unit(number(_scaled(first.value, unit)), unit)}"
        values = distinct(*(_scaled(end.value, unit) for end in (first, last)))
        return (
            f"{name}: {_with_unit(values[0], unit)} {first.at}, {_with_unit(values[1], unit)}"
            f" {last.at}"
        )
    common = set.intersection(
        *({mark.place for mark in marks if mark.curve == one} for one in curves)
    ) - {None}
    if not common:
        return ""
    place = (min if loads else max)(common, key=_order)
    here = [mark for mark in marks if mark.place == place]
    if len(here) != len(curves):  # a curve with two marks at a place is not one curve
        return ""
    return _ends(here, f"{name} {here[0].at}", unit, lambda mark: mark.curve)


def _bars(marks: Sequence[Mark], name: str, unit: str) -> str:
    """The ends of the group with the largest factor; of all bars if each group has one."""
    groups: dict[object, list[Mark]] = {}
    for mark in marks:
        groups.setdefault(mark.place, []).append(mark)
    ratios = {
        place: max(values) / min(values)
        for place, here in groups.items()
        if len(here) > 1 and min(values := [mark.value for mark in here]) > 0
    }
    if not ratios or len(groups) == 1 or isinstance(marks[0].place, int | float):
        return _ends(marks, name, unit, lambda mark: ", ".join(filter(None, (mark.curve, mark.at))))
    widest = groups[max(ratios, key=lambda place: ratios[place])]
    return _ends(widest, f"{name} differs most {widest[0].at}", unit, lambda mark: mark.curve)


def _mark(row: Spec, x: Spec, key: str) -> Mark:
    field = re.sub(r"\\(.)", r"\1", str(x.get("field", "")))
    place = row.get(field)
    low, high = row.get("low"), row.get("high")
    half = (
        (high - low) / 2 if isinstance(low, int | float) and isinstance(high, int | float) else 0.0
    )
    if field == "load_MBps" and place is not None:
        return Mark(
            row["mean"],
            half,
            str(row.get(key) or ""),
            place,
            f"at a load of {row.get('load', place)}",
        )
    return Mark(
        row["mean"],
        half,
        str(row.get(key) or "") if key else "",
        place,
        _place_words(place, field, x),
    )


def _place_words(place: object, field: str, x: Spec) -> str:
    """A place on the axis, in words."""
    title = str(x.get("title") or "")
    if isinstance(place, str) and (title == "series" or not place.replace(".", "", 1).isdigit()):
        return f"for {place}"
    if isinstance(place, str):
        place = float(place)
    if not title or not isinstance(place, int | float):
        return ""
    if field.endswith("_bytes"):
        return f"at {size_text(place)}"
    value = (
        f"{place:,g}" if float(place).is_integer() or 0 < abs(place) < SMALL else number(place, 1)
    )
    if re.fullmatch(r"[a-z]+s( that .*)?", title):  # nodes, rails
        first, _, rest = title.partition(" ")
        return f"at {value} {first.removesuffix('s') if value == '1' else first} {rest}".rstrip()
    noun, _, unit = title.rpartition(", ")
    return f"at {noun} {value} {unit}" if noun else f"at {title} {value}"


def _order(place: float | str | None) -> tuple[bool, float, str]:
    """Numbers by size, texts behind them."""
    return (False, place, "") if isinstance(place, int | float) else (True, 0.0, str(place))


def _ends(marks: Sequence[Mark], name: str, unit: str, called: Callable[[Mark], str]) -> str:
    """The lowest and the highest mark, with the factor between them."""
    if not marks:
        return ""
    low, high = (end(marks, key=lambda mark: mark.value) for end in (min, max))
    if math.isclose(low.value, high.value, rel_tol=ROUNDING):
        every = f" for all {len(marks)}" if len(marks) > 1 else ""
        return f"{name}: {_with_unit(number(_scaled(low.value, unit)), unit)}{every}"
    values = distinct(*(_scaled(end.value, unit) for end in (low, high)))
    least = (
        f"{values[0]}%"
        if unit.startswith(PART)
        else values[0]
        if " " in unit
        else f"{values[0]} {unit}"
    )
    said = (
        f"{name}: {least} ({_bare(called(low))}) to {_with_unit(values[1], unit)}"
        f" ({_bare(called(high))})"
    )
    if high.value - low.value < math.hypot(low.half, high.half):
        return f"{said}, within the intervals"
    if low.value > 0 and high.value / low.value >= LEAST_FACTOR:
        said += f", a factor of {_factor(high.value / low.value)}"
    return said


def _bare(words: str) -> str:
    """A curve's name without parentheses of its own."""
    return words.replace(" (", ", ").replace(")", "")


def _scaled(value: float, unit: str) -> float:
    """A fraction in per cent, any other figure as it is."""
    return 100 * value if unit.startswith(PART) else value


def _with_unit(value: str, unit: str) -> str:
    """A figure with its unit; fractions in per cent."""
    return f"{value}% of {unit.removeprefix(PART)}" if unit.startswith(PART) else f"{value} {unit}"


def _factor(ratio: float) -> str:
    """A ratio with two digits, three below 2."""
    return number(float(f"{ratio:.{3 if ratio < 2 else 2}g}"))


def _peaks(marks: Sequence[Mark], curves: Sequence[str], name: str, unit: str) -> str:
    best = [
        max((mark for mark in marks if mark.curve == one), key=lambda mark: mark.value)
        for one in curves
    ]
    if len(best) == 1:
        return f"{name} peaks at {_with_unit(number(_scaled(best[0].value, unit)), unit)}"
    return _ends(best, f"Peaks of the {name.lower()}", unit, lambda mark: mark.curve)


def _medians(rows: Iterable[Spec], x: Spec, key: str) -> str:
    """The medians of distributions; their curves rise with the value."""
    name, _, unit = str(x.get("title") or "").rpartition(", ")
    found: dict[str, Mark] = {}
    for row in rows:
        curve = str(row.get(key) or "")
        if row["share"] >= 50 and (curve not in found or row[x["field"]] < found[curve].value):
            found[curve] = Mark(row[x["field"]], 0.0, curve, None, "")
    return (
        _ends(list(found.values()), f"Median {name}", unit, lambda mark: mark.curve)
        if found and name
        else ""
    )


def _least_cell(rows: Sequence[Spec]) -> str:
    """A table's cell with the least part of its reference, in the cell's own words."""
    named = [
        row for row in rows if isinstance(row["ratio"], int | float) and ": " in str(row["says"])
    ]
    if not named:
        return ""
    least = min(named, key=lambda row: row["ratio"])
    return f"Lowest: {least['says']}"


def _most_loaded(figure: Figure) -> str:
    """A congestion matrix's most loaded link."""
    data = figure.data
    if data is None or data.columns[:2] != ["where", "sum, µs"]:
        return ""
    links = [
        row for row in data.iter_rows() if " → " in str(row[0]) and isinstance(row[1], int | float)
    ]
    if not links or not (most := max(links, key=lambda row: row[1]))[1]:
        return ""
    return f"Most loaded link: {most[0]}, {number(most[1])} µs in all packets"
