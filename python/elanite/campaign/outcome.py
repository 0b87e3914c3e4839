"""A campaign's reports: to its observer while it runs, and its outcome at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite.errors import ElaniteError, Exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.base.build import Build
    from elanite.inputs.plan import Point


@dataclass(frozen=True)
class CampaignState:
    """A campaign's progress, in processor seconds of the points that were to be simulated."""

    workers: int
    batches: int
    """Batches that are done."""
    spent: float
    """The finished points' cost."""
    estimated: float
    """The finished points' estimated cost."""
    left: float
    """The others' estimated cost."""
    elapsed: float
    """Seconds since the start."""

    @property
    def processor_left(self) -> float:
        """Remaining processor seconds: the estimate, corrected by the finished points' cost."""
        return self.left * self.spent / self.estimated if self.estimated else self.left

    @property
    def seconds_left(self) -> float:
        """Remaining seconds: the elapsed time, scaled by the finished share of the estimate."""
        return (
            self.left * self.elapsed / self.estimated
            if self.estimated
            else self.left / self.workers
        )


class Observer:
    """Receives reports on a campaign's progress.

    An observer inherits this class, which ignores all reports.
    """

    def start(self, total: int, done: int) -> None:
        """Called once: the point count, and the count of points that are finished already."""

    def note(self, line: str) -> None:
        """Called with a line about how the campaign runs."""

    def others(self, builds: Sequence[tuple[Build, int]]) -> None:
        """Called before ``start`` if the store has other builds' points, which are simulated
        again.
        """

    def point(self, point: Point, failure: PointFailure | None) -> None:
        """Called after each point, with its failure, if any; on an engine, when the point's batch
        has ended.
        """

    def state(self, state: CampaignState) -> None:
        """Called before the first batch and after each batch."""

    def stop(self) -> None:
        """Called once at the end, also after failures and interrupts."""


@dataclass(frozen=True)
class PointFailure:
    """A point that did not finish."""

    point: Point
    message: str
    exit_code: int
    command: str
    """The exact command that reproduces it."""


@dataclass
class ExperimentCost:
    """One experiment's cost."""

    points: int = 0
    seconds: float = 0.0
    """Processor seconds."""
    estimated: float = 0.0
    """The estimated processor seconds."""


@dataclass
class CampaignOutcome:
    """How a campaign went."""

    total: int = 0
    reused: int = 0
    """Points that the store had, also those that another campaign has simulated in the meantime."""
    simulated: int = 0
    damaged: int = 0
    """The count of damaged folders in the store that were simulated again and replaced."""
    again: dict[str, bool] = field(default_factory=dict)
    """Another build's points that were simulated again, and whether their results have changed."""
    others: list[tuple[Build, int]] = field(default_factory=list)
    """The other builds in the store when the campaign began, with their point counts."""
    failures: list[PointFailure] = field(default_factory=list)
    interrupted: bool = False
    spent: dict[str, ExperimentCost] = field(default_factory=dict)
    """Simulated points, by experiment."""
    deaths: int = 0
    """How often a worker died at a batch."""

    def add(self, later: CampaignOutcome) -> None:
        """Add a campaign that followed."""
        self.total += later.total
        self.reused += later.reused
        self.simulated += later.simulated
        self.damaged += later.damaged
        self.again |= later.again
        self.failures += later.failures
        self.interrupted = self.interrupted or later.interrupted
        for name, spent in later.spent.items():
            known = self.spent.setdefault(name, ExperimentCost())
            known.points += spent.points
            known.seconds += spent.seconds
            known.estimated += spent.estimated
        self.deaths += later.deaths

    @property
    def exit_code(self) -> int:
        """The exit code for a command that ran only this campaign."""
        if self.interrupted:
            return Exit.INTERRUPTED
        return max((failure.exit_code for failure in self.failures), default=Exit.OK)


class EngineError(ElaniteError):
    """An engine that is lost, or has workers that refuse the work."""

    def __init__(self, reason: object) -> None:
        super().__init__(
            f"the engine ended the campaign: {reason}\n  Finished points are kept. The same command"
            " goes on."
        )
