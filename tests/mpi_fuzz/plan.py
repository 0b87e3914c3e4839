"""The part of one rank in a collective operation, as C."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .communicators import Comm


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


def root_of(comm: Comm, world: int, own: int, root: int) -> str:
    """The argument for the root of an operation, for a rank of MPI_COMM_WORLD on its side."""
    if not comm.inter:
        return str(comm.groups[0].index(root))
    if root in comm.groups[own]:
        return "MPI_ROOT" if world == root else "MPI_PROC_NULL"
    return str(comm.groups[1 - own].index(root))


def ints(values: list[int]) -> str:
    """An array in C, which is never empty."""
    return f"INTS({', '.join(map(str, values)) or '0'})"
