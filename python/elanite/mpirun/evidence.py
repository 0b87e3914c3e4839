"""All that is known when a run has ended: from the simulator, from mpiexec, and from the ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.mpirun.streams import Reports

Left = tuple[int, Literal["abort", "error", "exit"], int]
"""A rank, how it leaves (it calls ``MPI_Abort``, MPI fails, or it exits), and the code."""


@dataclass(frozen=True)
class Evidence:
    """All that is known at the end."""

    outcome: dict[str, Any]
    """What the simulator says."""
    reports: Reports
    """What mpiexec says."""
    left: Sequence[Left]
    """What ranks announced before they ended, in this order."""
    dead: Sequence[int]
    """Ranks whose processes ended, in this order."""
    code: int | None
    """The exit code of mpiexec, or minus the signal that killed it; None if it had to be killed."""
    placement: Sequence[int]
    pids: Sequence[int | None]
    program: str
    compiler: str
    """The compiler that links programs with the right MPI."""
    native: bool = False
    """Whether the program was started as one for the simulated libraries, and need not call MPI."""
    stray: str = ""
    """The MPI library of a process that has no part in the run, and a remedy."""
