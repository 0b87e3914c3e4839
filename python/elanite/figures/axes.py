"""Figure axes: their ends, their marks and their labels.

A vertical axis's ends come from the means and the published values. An interval moves them by a
quarter at most, whatever its width: an uncertain mean is no reason to hide the others. Longer
intervals end at the frame, and the caption names them (``cut``).
"""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import counted, heading, number, symbol
from elanite.base.units import size_text
from elanite.figures.grouping import MACHINE, distinct, identifies, label_without, value_label, word
from elanite.figures.style import BYTES, FEW, HEIGHT, PADDING, SMALL, STEP, size_axis
from elanite.results.frames import SUFFIX
from elanite.results.samples import ROUNDED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DECADES = [digit * 10.0**power for power in range(-6, 10) for digit in (1, 2, 5)]
"""Where a logarithmic axis is labelled."""

BEYOND = 0.25
"""How far an interval moves an axis end, as a part of the means' span."""

FLAT = 0.1
"""The part of a common axis below which all of a panel's curves would be flat; the panels have
separate axes then.
"""

OWN_AXES = "The panels have vertical axes of their own."
"""The caption sentence about panels without a common axis."""

HEADROOM = 1.03
"""The room above published values, to keep them off the frame."""

STEPS = 8
"""Most round steps on a vertical axis: at most a quarter of the axis is above its values."""

NEAR = 0.12
"""The part without a label at each end of a logarithmic axis."""

LETTERS = 80
"""Letters that name labels may have side by side; longer ones have several lines, or are written at
an angle.
"""

WHOLE = 12
"""The longest axis of whole numbers that is marked at each; Vega marks a longer one at some."""

PART = ", "
"""The end of a name's part: a machine change."""

LABEL_LIMIT = 240
"""Most pixels for a label at an angle."""

LOG_PADDING = 12
"""A logarithmic axis's pixels beyond its ends."""

LACKING = (
    "Marks without an interval are means of fewer than three independent values; seeds that differ"
    " count as one value each."
)
"""The caption sentence about means without an interval beside intervals."""

MOST_CUT = 4
"""Intervals beyond the axis that a caption names."""

Ends = tuple[float, float]
"""An axis's lowest and highest value."""


def ends(data: pl.DataFrame, stated: Sequence[float] = (), *, log: bool = False) -> Ends:
    """The vertical axis's ends for means with their intervals and for published values."""
    means = [
        value
        for value in [*data["mean"].to_list(), *stated]
        if value is not None and math.isfinite(value)
    ]
    if log:
        means = [value for value in means if value > 0] or [1.0]
    low, high = (min(means), max(means)) if means else (0.0, 1.0)
    if log:
        spread = max(math.log10(high / low), 0.1) * BEYOND
        bounds = [value for value in data["low"].drop_nulls().to_list() if value > 0]
        floor = min([low, *bounds])
        roof = max([high, *data["high"].drop_nulls().to_list()])
        return max(floor, low / 10**spread), min(roof, high * 10**spread)
    low, high = min(low, 0.0), max(high, 0.0, *(HEADROOM * value for value in stated))
    spread = BEYOND * (high - low)
    floor = min([low, *data["low"].drop_nulls().to_list()]) if low < 0 else low
    roof = max([high, *data["high"].drop_nulls().to_list()])
    found = max(floor, low - spread), min(roof, high + spread)
    return found if found[0] < found[1] else (0.0, 1.0)


def cut(
    data: pl.DataFrame,
    found: Ends,
    named: Callable[[Mapping[str, object]], str],
    *,
    log: bool = False,
) -> str:
    """The caption sentence about the intervals that end at an axis's frame; empty without any.

    ``found`` are the axis's ends before rounding, and ``named`` gives the name of a row's mark.
    """
    least, most = found if log else rounded(found)
    if log:  # the padding belongs to the axis
        margin = (most / least) ** (LOG_PADDING / (HEIGHT - 2 * LOG_PADDING))
        least, most = least / margin, most * margin
    near = 1e-9 * (most - least)
    beyond = data.filter((pl.col("low") < least - near) | (pl.col("high") > most + near))
    if beyond.is_empty():
        return ""
    words = [
        f"{named(row)} ({number(row['low'])} to {number(row['high'])})".strip()
        for row in beyond.head(MOST_CUT).iter_rows(named=True)
    ]
    if len(beyond) > MOST_CUT:
        words.append(counted(len(beyond) - MOST_CUT, "other"))
    listed = "; ".join(words)
    return (
        f"Longer than the axis, and cut at the frame: the interval{'s' * (len(beyond) > 1)} of"
        f" {listed}."
    )


def widths(data: pl.DataFrame) -> bool:
    """Whether some interval is wider than rounding: intervals over equal values are invisible."""
    width, size = (
        pl.col("high") - pl.col("low"),
        pl.max_horizontal(pl.col("high").abs(), pl.col("low").abs()),
    )
    return not data.filter(width > ROUNDED * size).is_empty()


def few_values(data: pl.DataFrame) -> str:
    """The caption sentence about means over too few values; empty without any."""
    found = data.filter((pl.col("n") > 1) & pl.col("low").is_null())["n"].to_list()
    return f"Means of {max(found)} values, no interval." if found else ""


def missing_intervals(data: pl.DataFrame) -> str:
    """The caption sentence about means without an interval beside intervals; empty without any."""
    return LACKING if widths(data) and data["low"].count() < data["mean"].count() else ""


def unmeasured(rows: pl.DataFrame, here: pl.DataFrame) -> str:
    """The sentence on job configurations without a metric's value, such as a latency; empty without
    any.

    ``rows`` have all metrics, ``here`` the rows with this one.
    """
    accepted = rows.filter(pl.col("metric") == "accepted")
    if "job" in rows.columns:  # a collective operation among jobs has its own metrics
        accepted = accepted.filter(pl.col("job").is_in(here["job"].implode(), nulls_equal=True))
    names = distinct(accepted) if not accepted.is_empty() else []
    if not names:
        return ""
    known = here.drop_nulls("value").select(names)
    found = (
        accepted.select(names)
        .unique(maintain_order=True)
        .join(known, on=names, how="anti", nulls_equal=True)
    )
    words = [
        ", ".join(
            f"{word(name)} {value_label(value)}" for name, value in row.items() if value is not None
        )
        for row in found.sort(names, maintain_order=True).head(MOST_CUT).iter_rows(named=True)
    ]
    if not words:
        return ""
    if len(found) > len(words):
        words.append(counted(len(found) - len(words), "other"))
    return f"No mark where no message ended in the measured window: {'; '.join(words)}."


def place(value: float | str, x: str) -> str:
    """A place on an axis in words: ``64 KB``, ``1,024 nodes``."""
    if isinstance(value, str):
        return value
    if x.endswith(SUFFIX["B"]):
        return size_text(value)
    unit = next((unit for unit, suffix in SUFFIX.items() if x.endswith(suffix)), "")
    return f"{value:,g} {x}" if x == "nodes" else f"{value:,g} {symbol(unit)}".rstrip()


def share_scale(panels: Sequence[pl.DataFrame], *, log: bool = False) -> bool:
    """Whether panels can have one vertical axis: all their means are visible on it."""
    most = [max([abs(mean) for mean in data["mean"].drop_nulls()], default=0.0) for data in panels]
    return log or min(most) >= FLAT * max(most)


def decades(found: Ends) -> alt.Axis:
    """A logarithmic axis's labels, with one near each end; others would lie on the frame."""
    low, high = found
    marks = [mark for mark in DECADES if low <= mark <= high]
    first, last = _two_digits(low, math.ceil), _two_digits(high, math.floor)
    span = math.log(high / low) if high > low > 0 else 0.0
    if not span:
        return alt.Axis(values=marks or [low])
    if not first <= last:
        return alt.Axis(values=[low, high])
    if not marks or math.log(marks[0] / low) > NEAR * span:
        marks = [first, *marks]
    if math.log(high / marks[-1]) > NEAR * span:
        marks = [*marks, last]
    return alt.Axis(values=list(dict.fromkeys(marks)))


def _two_digits(value: float, to: Callable[[float], int]) -> float:
    """A value with two significant digits, rounded up or down."""
    if value <= 0:
        return value
    power = math.floor(math.log10(value)) - 1
    return float(
        f"{to(value / 10.0**power * (1 + (1e-9 if to is math.floor else -1e-9))) * 10.0**power:.6g}"
    )


def scale(found: Ends, *, log: bool = False) -> alt.Scale:
    """A vertical axis's scale; intervals that are longer than the axis end at the frame."""
    if log:
        return alt.Scale(
            type="log", domain=list(found), nice=False, padding=LOG_PADDING, clamp=True
        )
    return alt.Scale(domain=list(rounded(found)), nice=False, clamp=True)


def rounded(found: Ends) -> Ends:
    """Ends at round values."""
    low, high = found
    if not high > low:
        return low, low + 1.0
    step = 10.0 ** math.floor(math.log10((high - low) / STEPS))
    step *= next(
        factor
        for factor in (1, 2, 2.5, 5, 10)
        if factor * step * STEPS >= (high - low) * (1 - 1e-9)
    )
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def plain() -> alt.Axis:
    """A horizontal number axis with labels that make room for each other."""
    return alt.Axis(labelOverlap="parity", labelSeparation=6, labelFlush=False, labelExpr=SMALL)


def tens(values: Sequence[float]) -> alt.Axis:
    """A logarithmic horizontal axis: marked at a few values, else at powers of ten; the default
    marks are too many.
    """
    places = sorted(set(values))
    if len(places) <= FEW and all(after >= 2 * before for before, after in pairwise(places)):
        marks = places
    else:
        powers = range(
            math.ceil(math.log10(places[0]) - 1e-9), math.floor(math.log10(places[-1]) + 1e-9) + 1
        )
        marks = [10.0**power for power in powers]
    return alt.Axis(
        values=marks,
        format="~r",
        labelOverlap="parity",
        labelSeparation=6,
        labelExpr=STEP,
        grid=False,
    )


def of_numbers(name: str, column: str, values: Sequence[float]) -> alt.X:
    """A parameter's horizontal axis: logarithmic, and for sizes in powers of two, if it spans so
    much.
    """
    size = column == name + SUFFIX["B"]
    spread = not identifies(name) and values[-1] > (2 if size else 50) * next(
        (value for value in values if value), values[-1]
    )
    if (spread or size) and values[0] <= 0:  # a logarithmic axis has no place for zero
        axis = alt.Axis(labelAngle=0, labelExpr=BYTES if size else STEP)
        return alt.X(f"{field(column)}:O", title=titled(name, "" if size else column), axis=axis)
    if size and values[0] > 0:
        return size_axis(field(column), titled(name, ""), values)
    along = alt.Scale(
        type="log" if spread else "linear",
        domain=[values[0], values[-1]],
        nice=False,
        padding=PADDING,
    )
    axis = tens(values) if spread else plain()
    low, high = math.ceil(values[0]), math.floor(values[-1])
    if not spread and high - low <= WHOLE and all(value == int(value) for value in values):
        # A rail, a count: no mark between whole numbers.
        axis.values, axis.format = list(range(low, high + 1)), ",d"
    return alt.X(f"{field(column)}:Q", title=titled(name, column), scale=along, axis=axis)


def of_names(column: str, title: str, texts: Sequence[str]) -> alt.X:
    """The horizontal axis for names, in their order: long ones part by part in several lines, or at
    an angle.
    """
    parts = [text.split(PART) for text in texts]
    lines = max((len(line) for text in parts for line in text), default=0) * len(texts) <= LETTERS
    long = sum(map(len, texts)) > LETTERS
    expression = f"split(datum.label, {json.dumps(PART)})" if long and lines else alt.Undefined
    limit = 0 if lines else LABEL_LIMIT
    angle = -30 if long and not lines else 0
    axis = alt.Axis(labelAngle=angle, labelLimit=limit, labelOverlap=False, labelExpr=expression)
    return alt.X(
        f"{column}:N", title=title, sort=list(texts), scale=alt.Scale(domain=list(texts)), axis=axis
    )


def labels(name: str, values: Sequence[object], shared: Sequence[str]) -> list[str]:
    """Labels for a name parameter's values: machine labels lack the ``shared`` changes."""
    return texts(
        [label_without(value, shared) for value in values] if name == MACHINE and shared else values
    )


def texts(values: Sequence[object]) -> list[str]:
    """Labels for a parameter's values, different for different values."""
    short = [value_label(value) for value in values]
    return short if len(set(short)) == len(short) else [str(value) for value in values]


def field(name: str) -> str:
    """A column as Vega reads it: a dot would be a step into an object, and varied keys have
    dots.
    """
    return name.replace(".", "\\.")


def titled(name: str, column: str) -> str:
    """An axis title: the parameter with its column's unit."""
    unit = next((unit for unit, suffix in SUFFIX.items() if column == name + suffix), "")
    return _loaded(heading(word(name), unit))


def title(column: str) -> str:
    """The axis title for a column without another title: ``bus.rate, MB/s`` for
    ``bus.rate_MBps``.
    """
    unit = next(
        (unit for unit, suffix in SUFFIX.items() if unit != "B" and column.endswith(suffix)), ""
    )
    return _loaded(heading(word(column), unit))


def _loaded(title: str) -> str:
    """An axis title; a load is nominal for each node; sources offer it on average."""
    return _LOAD.sub(
        lambda found: f"nominal load{f' of {found[1]}' if found[1] else ''}, MB/s per node", title
    )


_LOAD = re.compile(r"^(?:([\w-]+)\.)?load, MB/s$")
