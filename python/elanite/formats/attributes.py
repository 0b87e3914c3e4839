"""Rates, delays and numbers of cables among an edge's attributes, or among a table's columns.

A rate is ``rate``, ``bandwidth``, ``capacity`` or ``speed`` (``link_speed``), or a label that is
one (``4x100G``), a delay ``delay`` or ``latency``, and a number of parallel cables ``count``,
``links`` or ``cables``. A unit stands in the value, in an attribute of its own (``speed_unit``), in
the name behind a separator (``bandwidth_gbps``, ``delay (us)``), or is the name (``Gbps``); the
Topology Zoo's raw rates are bits per second.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elanite.formats import infiniband, quantities
from elanite.formats.network import fail

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

RATES = ("rate", "bandwidth", "capacity", "speed", "bw", "cap")
DELAYS = ("delay", "latency", "lat")
_SUFFIX = re.compile(r"[\s_.(\[-]+([a-zA-Zµ/]+)[)\]]?")
"""A unit in a name, behind the quantity."""
_ABOUT = r"(?:(?:link|port|cable|edge|channel|line|max|nominal|active)[\s_.-]*)?"
"""Words before a quantity's name: ``link_speed``."""
_COUNT = re.compile(
    r"(?:(?:number of|num|no\.? of|n)[\s_.-]*)?(?:links|cables)|(?:(?:link|cable)[\s_.-]*)?count"
    r"|parallel(?: links)?|multiplicity"
)
_RATE_UNIT = re.compile(r"[kKMGTmgt]i?(?:bps|b/s|bits?/s|bit|Bps|B/s)")
"""A rate's unit that stands for the name of the quantity."""
_ETHERNET = re.compile(r"([\d.]+)\s*([MGT])(?:bE|E|b)?")
"""A rate as switches print it: 1000M, 100G, 25GE, 400GbE."""
_STATE = re.compile(
    r"(?:(?:link|port|cable|edge|oper(?:ational)?|phys(?:ical)?|logical)[\s_.-]*)*(?:state|status)"
)
_DOWN = ("down", "inactive", "disabled", "failed", "dead", "broken", "offline")
"""States of cables that carry nothing."""
_LABEL = re.compile(r"\s*(?:(\d{1,4})\s*[x*\u00d7]\s*)?(.*?)\s*", re.DOTALL)


def quantity(data: dict[str, object], keys: tuple[str, ...]) -> tuple[str, str] | None:
    """A rate or a delay: its name, and its text with the unit, which may stand in the name; `None`
    without one.
    """
    for key in keys:
        for name, value in data.items():
            if re.fullmatch(_ABOUT + key, name.strip().lower()):
                return name.strip(), _with_unit(data, name, str(value))
    read = quantities.rate if keys == RATES else quantities.time
    for key in (*keys, ""):
        for name, value in data.items():
            unit = _unit(name.strip(), key)
            if unit and read(f"1 {unit}") is not None:
                text = str(value).strip()
                return name, f"{text} {unit}" if quantities.number(text) is not None else text
    return None


def is_width(name: str) -> bool:
    """Whether a name is that of a cable's number of lanes."""
    return re.fullmatch(_ABOUT + "width", name.strip().lower()) is not None


def is_state(name: str) -> bool:
    """Whether a name is that of a cable's state."""
    return _STATE.fullmatch(name.strip().lower()) is not None


def is_down(data: dict[str, object]) -> bool:
    """Whether an edge's state is that of a cable that carries nothing."""
    return any(is_state(key) and str(data[key]).strip().lower() in _DOWN for key in data)


def _with_unit(data: dict[str, object], name: str, text: str) -> str:
    """A value with the unit of another attribute: ``LinkSpeedUnits``."""
    if quantities.number(text) is None:
        return text
    units = (str(value) for key, value in data.items() if _own_unit(key, name))
    return f"{text.strip()} {next(units, '').strip()}".strip()


def _own_unit(key: str, name: str) -> bool:
    return re.fullmatch(re.escape(name.strip()) + r"[\s_.-]*units?", key.strip(), re.I) is not None


def is_unit(name: str) -> bool:
    """Whether a name is that of a rate's or a delay's unit."""
    found = re.fullmatch(r"(.*?)[\s_.-]*units?", name.strip(), re.IGNORECASE)
    return found is not None and any(quantity({found[1]: ""}, keys) for keys in (RATES, DELAYS))


def _unit(name: str, key: str) -> str:
    """The unit behind a quantity in a name; without a quantity, the unit of a rate alone."""
    if not key:
        return name if _RATE_UNIT.fullmatch(name) else ""
    begun = re.match(_ABOUT + key, name.lower())
    found = _SUFFIX.fullmatch(name[begun.end() :]) if begun else None
    return found[1] if found else ""


def is_count(name: str) -> bool:
    """Whether a name is that of an edge's number of cables."""
    return _COUNT.fullmatch(name.strip().lower()) is not None


def _label(data: dict[str, object]) -> tuple[str, str]:
    """The number of cables and the rate in an edge's label, as many drawings have: ``4x100G``."""
    low = {str(key).lower(): str(value) for key, value in data.items()}
    found = _LABEL.fullmatch(low.get("label") or low.get("linklabel", ""))
    return (found[1] or "", found[2]) if found and ethernet(found[2]) is not None else ("", "")


def ethernet(text: str) -> Fraction | None:
    """Bits per second, also as switches print them (``100G``), and by InfiniBand's generations
    (``4xHDR``); `None` for another text.
    """
    if (value := infiniband.nominal(text)) is not None:
        return value
    found = _ETHERNET.fullmatch(text.strip())
    return quantities.rate(f"{found[1]} {found[2]}b/s" if found else text)


def rate(data: dict[str, object], left: set[str], file: Path, line: int | None) -> Fraction | None:
    """An edge's bits per second; a number without a unit is left out, and its name added.

    Raises ``UsageError``.
    """
    low = {str(key).lower(): str(value) for key, value in data.items()}
    if (raw := quantities.number(low.get("linkspeedraw", ""))) is not None:
        return quantities.gigabits(raw / 10**9)
    key, text = quantity(data, RATES) or ("", "")
    if not key or not text.strip():
        return ethernet(_label(data)[1])
    width = next((str(each).strip().lower() for name, each in data.items() if is_width(name)), "")
    if re.fullmatch(r"\d{1,2}x", width):
        if infiniband.nominal(f"{width}{text.strip()}") is not None:
            text = f"{width}{text.strip()}"
        elif width != "1x" and infiniband.nominal(text) is None:
            fail(
                file,
                line,
                f"{key} `{text}` with the width {width} may be a lane's or the cable's: leave the"
                f" width out, or write {width}HDR",
            )
    elif width:
        left.add("width")
    value = ethernet(text)
    if value is None and quantities.number(text) is None:
        fail(file, line, f"{key} `{text}` is not a rate: write for example 25 Gb/s")
    if value is None:
        left.add(key)
    return value


def count(data: dict[str, object], file: Path, line: int | None) -> int:
    """How many cables an edge is: one without a number. Raises ``UsageError``."""
    text = next((str(value) for key, value in data.items() if is_count(key)), "").strip()
    text = text or _label(data)[0]
    if text and not (re.fullmatch(r"\d{1,4}", text) and int(text)):
        fail(file, line, f"`{text[:40]}` is not a number of cables: write 1 to 9999")
    return int(text or 1)


def delay(data: dict[str, object], left: set[str], file: Path, line: int | None) -> int | None:
    """An edge's picoseconds, as `rate`. Raises ``UsageError``."""
    key, text = quantity(data, DELAYS) or ("", "")
    if not key or not text.strip():
        return None
    if quantities.number(text) is not None:
        left.add(key)
        return None
    value = quantities.time(text)
    if value is None:
        fail(file, line, f"{key} `{text}` is not a time: write for example 500 ns")
    return value
