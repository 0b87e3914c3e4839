"""Texts for people: numbers, intervals and errors, with their units."""

from __future__ import annotations

import math
import re
import shlex
from typing import TYPE_CHECKING

from elanite import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDING = 1e-9
"""The largest relative difference that sums and means in another order may have."""


def number(value: float, more: int = 0) -> str:
    """A figure with four significant digits at most, and ``more`` if asked for.

    Only zero is written as 0. Figures below ``TINY`` are in scientific notation: ``2.5e-9``.
    """
    if value == 0:
        return "0"
    if abs(value) < TINY:
        digit, power = f"{value:.{2 + more}e}".split("e")
        return f"{_short(digit)}e{int(power)}"
    return _short(f"{value:,.{digits(value) + more}f}")


TINY = 1e-6
"""The least figure that is written with all its zeros: a picosecond in microseconds."""


def _short(text: str) -> str:
    """A decimal without zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def distinct(one: float, other: float) -> tuple[str, str]:
    """Two figures, with enough digits to distinguish them if they differ."""
    more = digits_apart(one, other)
    return number(one, more), number(other, more)


def digits_apart(one: float, other: float) -> int:
    """The extra digits that distinguish two figures; 0 if they are equal or differ by rounding
    only.
    """
    if math.isclose(one, other, rel_tol=ROUNDING):
        return 0
    return next((more for more in range(12) if number(one, more) != number(other, more)), 12)


def with_half(mean: float, half: float) -> str:
    """A mean and half its interval's width, if this half is not zero as written."""
    wide = half_text(mean, half)
    return number(mean) if wide == "0" else f"{number(mean)} ± {wide}"


def half_text(mean: float, half: float) -> str:
    """Half an interval's width, with three decimals at most unless its mean has more."""
    if abs(mean) < TINY and mean:
        return number(half)
    return _short(f"{half:,.{min(digits(half), max(3, digits(mean)))}f}")


def duration(seconds: float) -> str:
    """A time in words, for estimates."""
    if seconds < 1:
        return "less than 1 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


LONG = 1e7
"""The least time in µs that needs words: ten seconds."""


def simulated(us: float) -> str:
    """A simulated time, with a long one in words, too: ``7,200,005,002 µs (2.0 h)``."""
    return f"{number(us)} µs" + (f" ({duration(us / 1e6)})" if us >= LONG else "")


def counted(count: int, one: str, several: str = "") -> str:
    """A count with its noun: ``1 point``, ``2 points``, ``3 series``."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def spanned(least: int, most: int, noun: str = "") -> str:
    """Two counts, with their noun: ``39 to 40 flows``, ``1 flow`` if they are equal."""
    span = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return f"{span} {noun if most == 1 else noun + 's'}" if noun else span


def are(count: int) -> str:
    """The verb after a count: ``1 of 2 points is``, ``2 of 3 points are``."""
    return "is" if count == 1 else "are"


def part(share: float, digits: int = 0) -> str:
    """A share in per cent. Only the shares 0 and 1 are written as 0% and 100%."""
    least = 0.1**digits
    if 0 < share * 100 < least / 2:
        return f"less than {least:.{digits}f}%"
    if 100 - least / 2 <= share * 100 < 100:
        return f"more than {100 - least:.{digits}f}%"
    return f"{share:.{digits}%}"


SHOWN = 4
"""Most values of a column in a text."""


def value_list(values: Sequence[str]) -> str:
    """Some values of a column in a text: ``2, 4, 8, 16, ...``."""
    return ", ".join([*values[:SHOWN], "..."] if len(values) > SHOWN else values)


def grouped(value: object) -> str:
    """A value as a text has it: ``1,024`` for a whole number, else ``plain``."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else plain(value)


def ranks(numbers: Sequence[int]) -> str:
    """Some ranks in short: ``0, 2 to 63``."""
    runs: list[list[int]] = []
    for one in sorted(numbers):
        if runs and one == runs[-1][1] + 1:
            runs[-1][1] = one
        else:
            runs.append([one, one])
    spans = [str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a} to {b}" for a, b in runs]
    most = 6
    return ", ".join(spans[:most]) + (f", ... ({len(numbers)} ranks)" if len(spans) > most else "")


def plain(value: object) -> str:
    """A value from a machine or experiment file, without a programming language's signs."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, str):
        lines = value.splitlines()
        if len(lines) > 1:  # a graph's cables
            return f"{lines[0]} ... {lines[-1]} ({len(lines):,} lines)"
        return re.sub(r"(?<=\d )us\b", "µs", value)
    if isinstance(value, float):  # 1e-7, not 1e-07
        return re.sub(r"e\+?(-?)0*(?=\d)", r"e\1", str(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def label(value: object) -> str:
    """A value as a label: ``plain``, with whole numbers and zero times in short, ``0`` for ``0.0``
    and for ``0 ps``.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = plain(value)
    return "0" if re.fullmatch(r"0 ([pnµm]?s)", text) else text


def minus(text: str) -> str:
    """A text with minus signs in place of the hyphens before numbers; those within a word or a span
    stay.
    """
    return re.sub(r"(?<![^\s(])-(?=\.?\d)", "\N{MINUS SIGN}", text)


def word(path: object) -> str:
    """A path as a word of a command line: quoted, and neither an option nor ``-``."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def means_same(value: object, text: str) -> bool:
    """Whether a command-line text means a value: numbers and quantities are compared as numbers."""
    size = _size(plain(value))
    return plain(value) == text or str(value) == text or (size is not None and size == _size(text))


def _size(text: str) -> tuple[float, str] | None:
    """A number or a quantity with its unit; `None` for other texts."""
    try:
        return float(text), ""
    except ValueError:
        return _core.quantity(text.replace("µs", "us"))


SYMBOL = {"us": "µs", "fraction": "%", "ratio": "x"}
"""Units as people write them; other units stay as they are."""

SCALE = {"fraction": 100.0}
"""The factor from figures in a unit to figures in its symbol."""


def symbol(unit: str) -> str:
    """The unit as people write it: ``µs``, ``%``, ``x``."""
    return SYMBOL.get(unit, unit)


def micro(text: str) -> str:
    """A text with file values (``us`` for microseconds) as people write it."""
    return re.sub(r"(?<=\d )us\b", SYMBOL["us"], text)


def quantity(value: float, unit: str, digits: int | None = None) -> str:
    """A figure with its unit: ``2.38 µs``, ``8%``, ``40x``."""
    value *= SCALE.get(unit, 1.0)
    text = number(value) if digits is None else f"{value:,.{digits}f}"
    return (
        f"{text}{symbol(unit)}"
        if unit in ("fraction", "ratio")
        else f"{text} {symbol(unit)}".rstrip()
    )


WORDS = {"saturated": "queues grow"}
"""Metric names for people. A load's state may be *saturated* though no queue grows (``states``)."""


SHARES = {"above_1_percent": "share above 1%"}
"""The names in words of shares that read as percentages."""

MEAN = "mean "
"""The beginning of a mean's name in words."""


def worded(metric: str) -> str:
    """A metric's name in words: ``FCT slowdown p99.9`` for ``fct_slowdown_p99_9``, ``mean latency``
    for ``latency_mean``.
    """
    if metric in SHARES:
        return SHARES[metric]
    name = re.sub(r"(?<=_p)(\d+)_(\d+)(?!\d)", r"\1.\2", metric).replace("_", " ")
    name = re.sub(r"^fct\b", "FCT", name)
    return MEAN + name.removesuffix(" mean") if name.endswith(" mean") else name


def heading(metric: str, unit: str) -> str:
    """A figure column's heading: the metric in words, with its unit."""
    metric = WORDS.get(metric, metric)
    return f"{metric}, {symbol(unit)}" if unit else metric


def estimate(mean: float, low: float, high: float, n: int, unit: str = "") -> str:
    """A mean and half its interval's width, without the interval for fewer than three values."""
    scale = SCALE.get(unit, 1.0)
    if n < FEWEST:
        return number(scale * mean)
    return with_half(scale * mean, scale * (high - low) / 2)


YES_OR_NO = ("saturated", "deadlock")
"""Metrics for yes (1) or no (0); their mean has no interval."""

FEWEST = 3
"""Fewest values for an interval."""


def percent(value: float | None) -> str:
    """An error as a signed percentage; as a factor if the value is more than ten times the
    published one.
    """
    if value is None:
        return ""
    if value > 9:
        return f"{number(1 + value)}x"
    return "0.0%" if abs(value) < 0.0005 else f"{value:+.1%}"


MOST_SIGNS = 240
"""Most signs in a short message's line, if the line has a list that can be cut."""

LIST = 6
"""Items in the shortest list; fewer commas belong to a sentence."""


def brief(message: str, lines: int = 20) -> str:
    """A message in a screenful: long lists and texts are cut, with a note on the omitted part."""
    found = message.splitlines()
    shown = [_brief_line(line) for line in found[:lines]]
    if len(found) > lines:
        shown.append(f"  and {counted(len(found) - lines, 'more line')}")
    return "\n".join(shown)


def _brief_line(line: str) -> str:
    """A line with its list's start."""
    items = line.split(", ")
    if len(items) < LIST:
        return line
    shown = len(items)
    while shown > 1 and len(", ".join(items[:shown])) > MOST_SIGNS:
        shown -= 1
    return (
        line
        if shown == len(items)
        else f"{', '.join(items[:shown])}, and {len(items) - shown} more"
    )


def digits(value: float) -> int:
    """The decimal places for a figure with four significant digits at most: three below 1, and
    three digits below 0.001.
    """
    size = abs(value)
    if 0 < size < 0.001:
        return 2 - math.floor(math.log10(size))
    return 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 3
