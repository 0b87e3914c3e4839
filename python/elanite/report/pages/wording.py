"""Means with their intervals and units, as findings and tables write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.base.text import SCALE, counted, half_text, number, symbol
from elanite.report.pages.curves import LATENCY, CurvePoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOWER_END = "at the lower end of the search"

TIGHT = ("fraction", "ratio")
"""Units with symbols that follow the figure without a space."""

FEW = 30
"""Messages below which a latency comes with their number."""


def with_half(
    places: CurvePoint | Sequence[CurvePoint], metric: str, unit: str = "", text: str = ""
) -> str:
    """A mean with half its interval, if it has one, as a number; ``text`` is the mean if it needs
    more digits.

    With several places at this mean, the halves are the smallest and the largest one. Places
    without an interval are counted: their means are less certain, not exact.
    """
    alike = [places] if isinstance(places, CurvePoint) else places
    halves = sorted(scaled(place.halves[metric], unit) for place in alike if metric in place.halves)
    value = scaled(alike[0].means[metric], unit)
    mean = text or number(value)
    least, most = (half_text(value, half) for half in (halves[0], halves[-1])) if halves else "00"
    if most == "0":
        return mean
    lacking = len(alike) - len(halves)
    without = f" ({lacking} without an interval)" if lacking else ""
    return f"{mean} ± {most if least == most else f'{least} to {most}'}{without}"


def few_messages(places: CurvePoint | Sequence[CurvePoint], metric: str) -> str:
    """The message count behind a latency, if it is low; of several places the smallest and the
    largest one.
    """
    alike = [places] if isinstance(places, CurvePoint) else places
    counts = [place.messages for place in alike if place.messages is not None]
    if metric != LATENCY or not counts or min(counts) >= FEW:
        return ""
    least, most = min(counts), max(counts)
    return f" (of {f'{least:,} to ' if least < most else ''}{counted(most, 'message')})"


def some_of(count: int, every: int, curves: int) -> str:
    """How many of all ``every`` configurations with their loads, on so many curves."""
    if every == curves:
        return f"in {count} of {counted(every, 'configuration')}"
    of = " of all configurations" if curves > 1 else ""
    return f"at {count} of {counted(every, 'load')}{of}"


def mean_of(place: CurvePoint, metric: str, units: Mapping[str, str]) -> str:
    """A mean with half its interval and its unit."""
    unit = units.get(metric, "")
    return united(with_half(place, metric, unit), unit) + few_messages(place, metric)


def united(figure: str, unit: str) -> str:
    """A figure, with or without its interval, and its unit."""
    return f"{figure}{'' if unit in TIGHT else ' '}{symbol(unit)}".rstrip()


def cell(place: CurvePoint, metric: str, units: Mapping[str, str]) -> str:
    """A mean with half its interval in a table (the heading has the unit); empty without a mean."""
    if metric not in place.means:
        return ""
    return with_half(place, metric, units.get(metric, "")) + few_messages(place, metric)


def scaled(value: float, unit: str) -> float:
    """A figure in a unit as one in the unit's symbol."""
    return value * SCALE.get(unit, 1.0)
