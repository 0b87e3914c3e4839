"""Command-line quantities: texts with units, as numbers. Errors name the option."""

from __future__ import annotations

import re

_POWERS = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def quantity(option: str, text: str, unit: str, example: str) -> float:
    """A quantity's number in the unit ``B``, ``us`` or ``MB/s``. Raises ``UsageError``."""
    from elanite.base.units import amount
    from elanite.errors import UsageError

    found = amount(text, unit)
    if found is None:
        raise UsageError(f"{option}: `{text}` is not understood; write for example {example}")
    return found


def in_bytes(text: str) -> int:
    """``--size`` in bytes."""
    return round(quantity("--size", text, "B", "8B, '64 KB' or '1 MB'"))


def in_ns(text: str) -> int:
    """``--compute`` in nanoseconds."""
    return round(quantity("--compute", text, "us", "500ns, 20us or '2 ms'") * 1000)


def chunk_bytes(text: str | None) -> int | None:
    """``--chunk`` in bytes; `None` without the option. Raises ``UsageError``."""
    from elanite.errors import UsageError

    size = None if text is None else round(quantity("--chunk", text, "B", "'128 KB' or '1 MB'"))
    if size is not None and not 64 <= size <= 1 << 30:
        raise UsageError(f"--chunk: it is {text}; chunks have 64 B to 1 GB")
    return size


def operations(text: str) -> float:
    """``--flops`` in operations per second. Raises ``UsageError``."""
    from elanite.errors import UsageError

    found = re.fullmatch(
        r"(\d+(?:\.\d*)?(?:[eE]\d+)?) ?([kMGTPE]?)(?:flops?(?:/s)?|FLOPS?(?:/s)?)?", text.strip()
    )
    rate = 0.0 if found is None else float(found[1]) * float(f"1e{_POWERS[found[2]]}")
    if not 0 < rate < 1e30:
        raise UsageError(f"--flops: `{text}` is not understood; write for example 312T or 312e12")
    return rate


def memory_rate(text: str) -> float:
    """``--memory-rate`` in bytes per second, also given in TB/s. Raises ``UsageError``."""
    from elanite.errors import UsageError

    found = re.fullmatch(r"(\d+(?:\.\d*)?) ?TB/s", text.strip())
    # MB/s are bytes in a microsecond.
    rate = (
        float(found[1]) * 1e12
        if found
        else quantity("--memory-rate", text, "MB/s", "'2039 GB/s'") * 1e6
    )
    if not rate:
        raise UsageError("--memory-rate: it is 0; write for example '2039 GB/s'")
    return rate
