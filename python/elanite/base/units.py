"""Quantities as texts: a number with its unit, as ``64 KB``. The crate ``units`` alone reads them.

The numbers are in the base of their unit: ``us``, ``B`` or ``MB/s``, which is bytes per us. Flits
and cycles are not such quantities, since their size depends on the machine.
"""

from __future__ import annotations

from elanite import _core

SIZES = {"GB": 2**30, "MB": 2**20, "KB": 2**10, "B": 1}
"""The units of sizes in bytes."""


def amount(text: object, unit: str = "") -> float | None:
    """A quantity's number; `None` for another text, or one with another base than ``unit``."""
    found = _core.quantity(str(text))
    return found[0] if found is not None and unit in ("", found[1]) else None


def stated(text: object, unit: str = "") -> float:
    """The number in a quantity that the simulator has checked."""
    found = amount(text, unit)
    assert found is not None, text  # noqa: S101 - the simulator wrote it
    return found


def size_text(count: float) -> str:
    """A size as the simulator writes it: in the largest unit with three decimals at most, so that
    1000000 B is not a rounded number of KB.
    """
    for unit, scale in SIZES.items():
        if count >= scale and (1000 * count) % scale == 0:
            return f"{count / scale:.3f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{count:g} B" if count < 1 else f"{count:.0f} B"
