"""Quantities as texts: a number with its unit, as ``64 KB``. The crate ``units`` alone reads them.

The numbers are in the base of their unit: ``us``, ``B`` or ``MB/s``, which is bytes per us. Flits
and cycles are not such quantities, since their size depends on the machine.
"""

from __future__ import annotations

from elanite import _core


def amount(text: object, unit: str = "") -> float | None:
    """A quantity's number; `None` for another text, or one with another base than ``unit``."""
    found = _core.quantity(str(text))
    return found[0] if found is not None and unit in ("", found[1]) else None


def stated(text: object, unit: str = "") -> float:
    """The number in a quantity that the simulator has checked."""
    found = amount(text, unit)
    assert found is not None, text  # noqa: S101 - the simulator wrote it
    return found
