"""One rank's part in a collective operation, as C."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .communicators import Comm


@dataclass
class Plan:
    """The call's arguments, and the lines around it; no ``opened``: no data."""

    words: str
    opened: str
    fill: list[str] = field(default_factory=list)
    """Before each call."""
    expect: list[str] = field(default_factory=list)
    """The result buffer's contents after the call; the lines write them into a buffer
    ``picture``.
    """
    sent: list[str] = field(default_factory=list)
    """The input buffer's unchanged contents."""


def root_of(comm: Comm, world: int, own: int, root: int) -> str:
    """The argument for an operation's root, for an MPI_COMM_WORLD rank on its side."""
    if not comm.inter:
        return str(comm.groups[0].index(root))
    if root in comm.groups[own]:
        return "MPI_ROOT" if world == root else "MPI_PROC_NULL"
    return str(comm.groups[1 - own].index(root))


def ints(values: list[int]) -> str:
    """An array in C, which is never empty."""
    return f"INTS({', '.join(map(str, values)) or '0'})"
