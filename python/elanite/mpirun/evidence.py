"""All that is known when a run has ended: from the simulator, from mpiexec, and from the ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.mpirun.streams import Reports

Left = tuple[int, Literal["abort", "error", "exit"], int]
"""A rank, how it leaves (it calls ``MPI_Abort``, MPI fails, or it exits), and the code."""


class TrafficTotals(TypedDict):
    """Totals for every run and replay."""

    time_us: float
    messages: int
    bytes: int
    packets: int
    packets_resent: int
    digest: str


class RunTotals(TrafficTotals):
    """A run's totals, as the simulator counts them."""

    events: int
    repeatable: bool
    collectives_hardware: int
    collectives_elan: int
    collectives_mpi: int


class StrayProcess(TypedDict):
    """A process that has initialised an MPI without a part in the run."""

    rank: int
    pid: int | None
    world: int | None
    """The size of its ``MPI_COMM_WORLD``; `None` if it did not reach the simulated network."""


class RankStatus(TypedDict):
    """A rank at a run's end."""

    rank: int
    pid: int | None
    call: str
    last: NotRequired[str]
    """The last call that has ended."""
    frame: NotRequired[int]
    what: str
    runs: bool


class DeadRank(TypedDict):
    """A rank that ended while others continued."""

    rank: int
    call: str
    last: NotRequired[str]
    time_us: float
    stopped: NotRequired[bool]
    """Whether its host stopped."""


class RunOutcome(TypedDict):
    """The simulator's report (``Outcome`` in the crate ``mpirun``)."""

    end: str
    message: str
    time_us: float
    attached: int
    dead: list[DeadRank]
    waiting: list[RankStatus]
    rank: NotRequired[int | None]
    lost: NotRequired[str | None]
    absent: NotRequired[list[int]]
    managed: NotRequired[bool]
    stray: NotRequired[StrayProcess | None]
    unseen: NotRequired[list[int]]


@dataclass(frozen=True)
class Evidence:
    """All that is known at the end."""

    outcome: RunOutcome
    """The simulator's outcome."""
    reports: Reports
    """The reports from mpiexec."""
    left: Sequence[Left]
    """Announcements from ranks before they ended, in this order."""
    dead: Sequence[int]
    """Ranks whose processes ended, in this order."""
    code: int | None
    """The exit code from mpiexec, or minus the signal that killed it; `None` if it had to be
    killed.
    """
    placement: Sequence[int]
    pids: Sequence[int | None]
    program: str
    compiler: str
    """The compiler that links programs with the right MPI."""
    native: bool = False
    """Whether the program was started as one for the simulated libraries, and need not call MPI."""
    stray: str = ""
    """The MPI library in a process outside the run, and a remedy."""
    windows: bool = True
    """Whether the ranks' MPI has one-sided communication over the simulated network."""
