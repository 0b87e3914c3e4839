"""A key's stated values: a list, or a range from a low to a high end.

    link.hop_delay=55 ns,65 ns,75 ns      a list; commas in brackets and quotes belong to a value
    bus.rate=150 MB/s..400 MB/s           a range
    adapter.share_period=100..300 flits   one unit for both ends
    tport.big=1 KB..64 KB in 7 log        seven values in equal ratios; in equal steps without `log`
    topology.up=[20],[10]; topology.parallel=[10],[5]    keys whose values go together, in order

A range is numbers, and a file may take only some of them: hop delays are whole cycles, buffers are
whole flits. The nearest value that the file takes counts. All mistakes are ``UsageError``, with the
option, the key, the value and a remedy.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite import _core
from elanite.errors import ConfigError, UsageError
from elanite.inputs.machine import Machine
from elanite.inputs.overrides import of_experiment
from elanite.study.variation import texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elanite.inputs.sources import Source

_END = r"(-?\d+(?:\.\d+)?)(?: ([^\s\d.]\S*))?"
_RANGE = re.compile(rf"{_END}\s*\.\.\s*{_END}(?: in (\d+))?( log)?")

MOST = 1_000_000
"""Most values of a key, and most combinations: each is planned before the first is simulated."""
UNITS = ("ps", "ns", "us", "ms", "s"), ("B", "KB", "MB"), ("MB/s", "GB/s")
"""Units of one quantity, from the smallest on."""


@dataclass(frozen=True)
class Choice:
    """A key with the values that were listed."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Range:
    """A key with the values from one number to another."""

    key: str
    low: float
    high: float
    unit: str
    """Both ends' unit; empty for plain numbers."""
    log: bool = False
    """Whether equal steps are equal ratios."""
    count: int | None = None
    """How many values were asked for, the ends included."""

    def number(self, share: float) -> float:
        """The value at a share of the way from the low end (0) to the high end (1)."""
        if self.log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + (self.high - self.low) * share

    def share(self, text: str) -> float:
        """A file value's place on the way; below 0 or above 1 outside the range."""
        number = amount(text) / amount(f"1 {self.unit}")
        if self.log:
            return math.log(max(number, 1e-300) / self.low) / math.log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)

    def shares(self) -> list[float]:
        """The requested values' places."""
        count = self.count or 1
        return [index / (count - 1) if count > 1 else 0.0 for index in range(count)]

    def __str__(self) -> str:
        ends = (f"{number:.6g} {self.unit}".strip() for number in (self.low, self.high))
        count = f" in {self.count}" if self.count else ""
        return f"{self.key}={'..'.join(ends)}{count}{' log' if self.log else ''}"


def amount(text: object) -> float:
    """A value as a number in its unit's base (us, B, MB/s, flits); a plain number as it is."""
    found = _core.quantity(str(text))
    return found[0] if found else float(str(text).split()[0])


def in_unit(value: float, unit: str, other: str) -> float:
    """A number in one unit as a number in another; without a second unit, the number as it is."""
    return (
        value * amount(f"1 {unit}") / amount(f"1 {other}")
        if unit and other and unit != other
        else value
    )


def rewritten(text: str, unit: str) -> str:
    """A file value in another unit, or as it is if the unit would need more digits than it has."""
    digits, _, own = text.partition(" ")
    if not own or not unit or own == unit:
        return text
    found = f"{in_unit(float(digits), own, unit):.12g} {unit}"
    return (
        found
        if "e" not in found.partition(" ")[0]
        and math.isclose(amount(found), amount(text), rel_tol=1e-12)
        else text
    )


def shortest(text: str) -> str:
    """A file value in a larger unit if it is shorter there: ``5 us`` for ``5000 ns``."""
    unit = text.partition(" ")[2]
    scale = next((units for units in UNITS if unit in units), (unit,))
    return min((rewritten(text, each) for each in scale[scale.index(unit) :]), key=len)


def read(option: str, text: str, *, twice: bool = False) -> Choice | Range:
    """Read a command line's ``KEY=VALUES``; ``option`` names the place in messages, ``twice`` is as
    in ``of``.
    """
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise UsageError(
            f"{option} {text}: this is not KEY=VALUES\n  for example {option} link.hop_delay='55"
            f" ns,65 ns' or {option} bus.rate='150 MB/s..400 MB/s'"
        )
    return of(option, key.strip(), values.strip(), twice=twice)


def linked_keys(option: str, text: str) -> list[Choice | Range]:
    """Read ``KEY=VALUES; KEY=VALUES``: keys with values that go together, so that their counts are
    equal.
    """
    parts = _split(text, ";")
    found = [read(option, part, twice=len(parts) > 1) for part in parts]
    counts = [len(each.values) if isinstance(each, Choice) else each.count for each in found]
    if len(set(counts)) > 1:
        said = ", ".join(
            f"{each.key} {count or 'any'}" for each, count in zip(found, counts, strict=True)
        )
        raise UsageError(
            f"{option}: keys that go together have equally many values, and these have {said}\n"
            f"  give equally many, or each key in a {option} of its own for all combinations"
        )
    return found


def of(
    option: str, key: str, values: str | Sequence[object], *, twice: bool = False
) -> Choice | Range:
    """A key's values: text as on a command line, or a list of values.

    A value stands once, or also ``twice`` where it goes together with another key's other values.
    """
    if not isinstance(values, str):
        found = [each if isinstance(each, str) else json.dumps(each) for each in values]
    elif ".." in values and not values.startswith(('"', "'", "[")):
        return _range(option, key, values)
    else:
        found = _split(values)
    if not found or not all(found):
        raise UsageError(
            f"{option} {key}={_shown(values)}: a value is empty\n  separate values by one comma:"
            " a,b,c"
        )
    if len(set(found)) < len(found) and not twice:
        again = next(word for word in found if found.count(word) > 1)
        raise UsageError(
            f"{option} {key}={_shown(values)}: `{again}` is there twice\n  name each value once"
        )
    return Choice(key, tuple(found))


def unique(option: str, keys: Iterable[str]) -> None:
    """No key may be named twice, and there must be one."""
    names = list(keys)
    if not names:
        raise UsageError(f"no key is named\n  name one or more by {option} KEY=VALUES")
    for key in names:
        if names.count(key) > 1:
            raise UsageError(
                f"{option} {key}: the key is named twice\n  give all values of a key in one"
                f" {option}"
            )


def taken(
    where: Range, share: float, machine: Source, experiment: Source, overrides: Sequence[str]
) -> str:
    """The value at a share of a range, as the file takes it beside the overrides.

    Raises ``ConfigError`` with the file's message about the value if the file takes no nearby
    value.
    """
    problem: ConfigError | None = None
    base = Machine.of(machine, [each for each in overrides if not of_experiment(each)])
    for text in dict.fromkeys(texts(base, where.number(share), where.unit)):
        change = f"{where.key}={text}"
        try:
            if of_experiment(change):
                own = [each for each in overrides if of_experiment(each)]
                _core.load_experiment(experiment.text, experiment.file, [*own, change])
            else:
                _core.load_machine(machine.text, machine.file, [*base.overrides, change])
        except ConfigError as error:
            problem = problem or error
        else:
            return text
    if problem is None:
        raise UsageError(f"{where}: `{where.unit}` is not a unit for a range")
    raise problem


def _range(option: str, key: str, text: str) -> Range:
    here = f"{option} {key}={text}"
    found = _RANGE.fullmatch(text)
    if not found:
        raise UsageError(
            f"{here}: this is not a range\n  write low..high with a unit, for example '10 ns..50"
            " ns'; '10 ns..50 ns in 5' for five values, '1 KB..1 MB in 11 log' for equal ratios"
        )
    low, low_unit, high, high_unit, count, log = found.groups()
    unit = low_unit or high_unit or ""
    for each in (unit, high_unit or unit):
        if each not in ("", "flits") and _core.quantity(f"1 {each}") is None:
            raise UsageError(
                f"{here}: `{each}` is not a unit\n  units are ns, us, ms, s; B, KB, MB; MB/s; flits"
            )
    kinds = {(_core.quantity(f"1 {each}") or (0, each))[1] for each in (unit, high_unit or unit)}
    if len(kinds) > 1 or (low_unit and not high_unit):
        raise UsageError(
            f"{here}: the ends have different units\n  give both ends a unit of the same quantity"
        )
    first, last = float(low), float(high) * amount(f"1 {high_unit or unit}") / amount(f"1 {unit}")
    if first >= last:
        raise UsageError(
            f"{here}: the range is empty\n  the lower end comes first, and the ends differ"
        )
    if log and first <= 0:
        raise UsageError(
            f"{here}: equal ratios need a low end above 0\n  raise the low end, or leave `log` out"
        )
    if count and (len(count) > 9 or int(count) > MOST):
        raise UsageError(f"{here}: a range has at most {MOST:,} values")
    if count and int(count) < 2:
        raise UsageError(
            f"{here}: a range has two values at least\n  ask for two or more, or name one value:"
            f" {key}={low}"
        )
    return Range(key, first, last, unit, bool(log), int(count) if count else None)


def _split(text: str, mark: str = ",") -> list[str]:
    """The parts between marks, such as commas, that are in no bracket and no quotes."""
    words, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        else:
            depth += (sign in "[{") - (sign in "]}")
            if sign == mark and depth == 0:
                words.append("")
                continue
        words[-1] += sign
    return [word.strip() for word in words]


def _shown(values: str | Sequence[object]) -> str:
    return values if isinstance(values, str) else ",".join(map(str, values))
