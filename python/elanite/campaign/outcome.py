"""What a campaign tells: while it runs, to its observer; at the end, as its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite.errors import ElaniteError, Exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.base.build import Build
    from elanite.inputs.plan import Point


@dataclass(frozen=True)
class State:
    """How far a campaign is, in processor seconds of the points that were to be simulated."""

    workers: int
    batches: int
    """Batches that are done."""
    spent: float
    """What the finished points took."""
    estimated: float
    """What the finished points would have taken by the estimate."""
    left: float
    """The estimate of the others."""
    elapsed: float
    """Seconds since the start."""

    @property
    def processor_left(self) -> float:
        """Processor seconds that are left: the estimate, corrected by what the finished points took."""
        return self.left * self.spent / self.estimated if self.estimated else self.left

    @property
    def seconds_left(self) -> float:
        """Seconds that are left: what has passed, by the share of the estimate that is done."""
        return self.left * self.elapsed / self.estimated if self.estimated else self.left / self.workers


class Observer:
    """Receives reports on the progress of a campaign. An observer inherits this class, which ignores all of them."""

    def start(self, total: int, done: int) -> None:
        """Called once: how many points there are, and how many of them are finished already."""

    def note(self, line: str) -> None:
        """Called with a line about how the campaign runs."""

    def others(self, builds: Sequence[tuple[Build, int]]) -> None:
        """Called before ``start`` if the store has points of other builds, which are simulated again."""

    def point(self, point: Point, failure: Failure | None) -> None:
        """Called after each point, with its failure, if any; on an engine, when the batch of the point has ended."""

    def state(self, state: State) -> None:
        """Called before the first batch and after each batch."""

    def stop(self) -> None:
        """Called once at the end, also after failures and interrupts."""


@dataclass(frozen=True)
class Failure:
    """A point that did not finish."""

    point: Point
    message: str
    exit_code: int
    command: str
    """The exact command that reproduces it."""


@dataclass
class Spent:
    """What the points of one experiment took."""

    points: int = 0
    seconds: float = 0.0
    """Processor seconds."""
    estimated: float = 0.0
    """The estimate of the processor seconds."""


@dataclass
class Outcome:
    """How a campaign went."""

    total: int = 0
    reused: int = 0
    """Points that the store had, also those that another campaign has simulated in the meantime."""
    simulated: int = 0
    damaged: int = 0
    """Number of damaged folders in the store that were simulated again and replaced."""
    again: dict[str, bool] = field(default_factory=dict)
    """Points of another build that were simulated again, and whether their results have changed."""
    others: list[tuple[Build, int]] = field(default_factory=list)
    """The other builds in the store when the campaign began, with the numbers of their points."""
    failures: list[Failure] = field(default_factory=list)
    interrupted: bool = False
    spent: dict[str, Spent] = field(default_factory=dict)
    """What was simulated, by experiment."""
    deaths: int = 0
    """How often a worker died at a batch."""

    def add(self, later: Outcome) -> None:
        """Add a campaign that followed."""
        self.total += later.total
        self.reused += later.reused
        self.simulated += later.simulated
        self.damaged += later.damaged
        self.again |= later.again
        self.failures += later.failures
        self.interrupted = self.interrupted or later.interrupted
        for name, spent in later.spent.items():
            known = self.spent.setdefault(name, Spent())
            known.points += spent.points
            known.seconds += spent.seconds
            known.estimated += spent.estimated
        self.deaths += later.deaths

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ran nothing but this campaign."""
        if self.interrupted:
            return Exit.INTERRUPTED
        return max((failure.exit_code for failure in self.failures), default=Exit.OK)


class EngineError(ElaniteError):
    """An engine that is lost, or whose workers refuse the work."""

    def __init__(self, reason: object) -> None:
        super().__init__(
            f"the engine ended the campaign: {reason}\n  Finished points are kept. The same command goes on."
        )
