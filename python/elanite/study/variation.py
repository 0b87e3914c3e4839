"""A machine's uncertain parameters, and the values that are a step away.

A parameter is *uncertain* if it was fitted, or if its provenance marks it as assumed or not
published. The machine file alone decides this. A number can be scaled; a name, a switch that is on
or off, or a list cannot, and is named as such. A machine may refuse a value: hop delays are whole
cycles, buffers are whole flits. Then the nearest value that the machine takes counts, and a small
integer moves to the next one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.units import stated
from elanite.errors import ConfigError
from elanite.inputs.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.inputs.machine import Parameter

SHARE = 0.2
"""A step is a fifth of the value, up and down."""

UNKNOWN = re.compile(r"\bassumed\b|\bnot published\b")
"""A parameter's provenance marks if no document gives the value."""

FARTHER = (1.25, 1.5, 2.0)
"""If a machine refuses a step, longer ones are tried."""

TIMES = {"ps": 0, "ns": 3, "us": 6, "ms": 9, "s": 12}
"""Time units, with the places after the point that make a whole number of picoseconds."""

_QUANTITY = re.compile(r"(\d+(?:\.\d+)?) ([^\s\d]+)")


@dataclass(frozen=True)
class UncertainParameter:
    """An uncertain parameter, and its values one step away."""

    key: str
    value: str
    less: str | None
    """The value about a fifth lower; `None` if the machine takes no such value."""
    more: str | None
    fitted_to: tuple[str, ...] = ()

    @property
    def steps(self) -> dict[str, str]:
        """The values that can be tried, by direction: less, more."""
        return {
            way: value
            for way, value in (("less", self.less), ("more", self.more))
            if value is not None
        }


def uncertain_parameters(machine: Machine) -> list[Parameter]:
    """The parameters that were fitted or assumed."""
    return [each for each in machine.parameters if is_uncertain(each)]


def is_uncertain(parameter: Parameter) -> bool:
    """Whether a parameter was fitted or assumed."""
    return bool(parameter.fitted_to or UNKNOWN.search(parameter.source))


def varied(machine: Machine) -> tuple[list[UncertainParameter], list[Parameter]]:
    """The uncertain parameters that are numbers, with their steps; and the others, which have no
    steps.
    """
    found, others = [], []
    for each in uncertain_parameters(machine):
        less, more = (_step(machine, each, up) for up in (False, True))
        if less is None and more is None:
            others.append(each)
        else:
            found.append(UncertainParameter(each.key, str(each.value), less, more, each.fitted_to))
    return found, others


def scaled(machine: Machine, parameter: Parameter, factor: float) -> str | None:
    """A parameter's value times a factor, as the machine takes it; `None` if the machine does
    not.
    """
    split = _split(parameter.value)
    if split is None or not split[0]:
        return None
    for text in texts(machine, split[0] * factor, split[1]):
        if text == str(parameter.value) or _legal(machine, parameter.key, text):
            return text
    return None


def _step(machine: Machine, parameter: Parameter, up: bool) -> str | None:
    """The nearest value about a step away that differs and that the machine takes."""
    for far in (1 + SHARE, *FARTHER):
        # Downwards 0.8, and then as far as upwards in proportion: 0.8, 0.67, 0.5.
        factor = far if up else 1 - SHARE if far <= FARTHER[0] else 1 / far
        value = scaled(machine, parameter, factor)
        if value == str(parameter.value):
            value = _next(machine, parameter, up)
        if value is not None:
            return value
    return None


def _next(machine: Machine, parameter: Parameter, up: bool) -> str | None:
    """The next integer, for numbers so small that a step is less than one."""
    number, unit = _split(parameter.value) or (0.0, "")
    next_ = int(number) + (1 if up else -1)
    text = f"{next_} {unit}".strip()
    return text if next_ > 0 and _legal(machine, parameter.key, text) else None


def texts(machine: Machine, number: float, unit: str) -> Iterator[str]:
    """A number with its unit as texts that a machine may take: as it is, then as whole cycles or a
    whole number.
    """
    if unit in TIMES:
        yield f"{_plain(number, TIMES[unit])} {unit}"
        one = _core.quantity(f"1 {unit}")
        if one is not None:
            cycle = _cycle_us(machine) / one[0]
            yield f"{_plain(round(number / cycle) * cycle, TIMES[unit])} {unit}"
    elif unit in ("", "flits"):
        yield f"{_plain(number, 6)} {unit}".strip()
        yield f"{round(number)} {unit}".strip()
    elif unit.endswith("/s"):
        yield f"{number:.6g} {unit}"
    elif (one := _core.quantity(f"1 {unit}")) and one[1] == "B":
        yield f"{round(number * one[0])} B"


def _split(value: object) -> tuple[float, str] | None:
    """Number and unit; `None` for anything but a number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), ""
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    return (float(found[1]), found[2]) if found else None


def _cycle_us(machine: Machine) -> float:
    """A flit's time on the fastest link."""
    rates = machine["link.rate"]
    fastest = max(stated(rate, "MB/s") for rate in (rates if isinstance(rates, list) else [rates]))
    return stated(machine["link.flit"], "B") / fastest


def _plain(number: float, places: int) -> str:
    """A number without an exponent and without zeros at its end."""
    text = f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _legal(machine: Machine, key: str, text: str) -> bool:
    try:
        Machine.of(machine.file, [*machine.overrides, f"{key}={text}"])
    except ConfigError:
        return False
    return True
