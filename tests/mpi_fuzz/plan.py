"""What one rank does in a collective operation, as C."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Plan:
    """The arguments of the call, and the lines around it; no ``opened``: no data."""

    words: str
    opened: str
    fill: list[str] = field(default_factory=list)
    """Before each call."""
    expect: list[str] = field(default_factory=list)
    """What the room of the result holds after it; the lines write it into a room ``picture``."""
    sent: list[str] = field(default_factory=list)
    """What the room of what was given still holds."""


def ints(values: list[int]) -> str:
    """An array in C, which is never empty."""
    return f"INTS({', '.join(map(str, values)) or '0'})"
