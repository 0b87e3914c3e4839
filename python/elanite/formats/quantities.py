"""Rates, times and sizes as other tools write them: ``25Gbps``, ``12.5GBps``, ``0.8us``,
``100 Gb/s``.

A ``b`` is a bit and a ``B`` a byte of eight bits, as in ns-3 and SimGrid; bits may have small
prefixes (``25gbps``), and a rate may be a number of bits, as in tc (``25gbit``). Prefixes are
powers of ten, with an ``i`` powers of 1024. Numbers are exact.
"""

from __future__ import annotations

import re
from fractions import Fraction

from elanite.base import units

_NUMBER = r"(\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE]([+-]?\d{1,2}))?"
_RATE = re.compile(
    rf"{_NUMBER}\s*(?:([kKMGTP]?)(i?)(bps|b/s|bit/s|bits/s|bit|Bps|B/s|bytes/s)"
    r"|([mgt])(?:bps|bits?/s|b/s|bit))"
)
_TIME = re.compile(rf"{_NUMBER}\s*(s|ms|us|µs|ns|ps|sec|)")
_PLAIN = re.compile(_NUMBER)
_POWER = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_TICKS = {"s": 12, "sec": 12, "": 12, "ms": 9, "us": 6, "µs": 6, "ns": 3, "ps": 0}

FASTEST = Fraction(10**15)
"""Bits in a second beyond which a rate is a mistake."""
LONGEST = 10**15
"""Picoseconds beyond which a delay is a mistake: 1,000 s."""


def number(text: str) -> Fraction | None:
    """A plain decimal number; `None` for another text."""
    found = _PLAIN.fullmatch(text.strip())
    return _value(found[1], found[2]) if found else None


def rate(text: str) -> Fraction | None:
    """Bits per second; `None` for a text that is not a rate, or for a rate beyond all links."""
    found = _RATE.fullmatch(text.strip())
    if found is None:
        return None
    base = 1024 if found[4] else 1000
    power = _POWER[
        (found[3] or found[6] or "").replace("m", "M").replace("g", "G").replace("t", "T")
    ]
    value = (
        _value(found[1], found[2])
        * base**power
        * (8 if (found[5] or "").startswith(("B", "by")) else 1)
    )
    return value if 0 < value <= FASTEST else None


def gigabits(value: Fraction | None) -> Fraction | None:
    """Bits per second from Gb/s, if links may have this rate."""
    return value * 10**9 if value is not None and 0 < value * 10**9 <= FASTEST else None


def time(text: str) -> int | None:
    """Picoseconds; a number without a unit is in seconds; `None` for another text, or a time beyond
    all delays.

    Fractional picoseconds are rounded.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    value = round(_value(found[1], found[2]) * 10 ** _TICKS[found[3]])
    return value if value <= LONGEST else None


def exact(text: object, unit: str) -> Fraction:
    """A machine file quantity as an exact number in ``B``, ``MB/s`` or ``us``."""
    return Fraction(decimal(Fraction(units.stated(text, unit))))


def shown(value: Fraction) -> str:
    """A rate as machine files have it: ``25 Gb/s``, ``0.5 Gb/s``."""
    return f"{decimal(value / 10**9)} Gb/s"


def span(picoseconds: int) -> str:
    """A time in the largest unit in which it is a short number: ``998.4 ns``, ``0.8 us``."""
    unit, size = ("ns", 1000) if picoseconds >= 1000 else ("ps", 1)
    return f"{decimal(Fraction(picoseconds, size))} {unit}"


def decimal(value: Fraction, digits: int = 9) -> str:
    """A fraction as a decimal number, rounded to the given digits after the point."""
    scaled = round(value * 10**digits)
    whole, rest = divmod(scaled, 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def _value(mantissa: str, exponent: str | None) -> Fraction:
    return Fraction(f"{mantissa.rstrip('.')}" if mantissa[-1:] == "." else mantissa) * Fraction(
        10
    ) ** int(exponent or 0)
