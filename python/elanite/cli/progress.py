"""Progress on standard error: on a terminal a bar with the estimated time left, else a plain line
now and then.

The time left is the estimated cost of the points, corrected by the finished points' cost: a
campaign's points differ a thousandfold, so that their count means little.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from elanite.base.text import brief, counted, duration
from elanite.campaign import Observer
from elanite.cli.common import complain, console, quiet, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress, TaskID

    from elanite.base.build import Build
    from elanite.campaign import CampaignOutcome, CampaignState, ExperimentCost, PointFailure
    from elanite.inputs.plan import Point

EVERY = 15.0
"""Seconds between two plain lines."""


def observer() -> Observer | None:
    """The observer that fits where standard error goes; `None` with --quiet, which prints failures
    at the end.
    """
    if quiet():
        return None
    return ProgressBar() if sys.stderr.isatty() else Lines()


class NotePrinter(Observer):
    """A campaign's notes, as lines on standard error."""

    def note(self, line: str) -> None:
        """Print a note about the campaign."""
        say(line)

    def others(self, builds: Sequence[tuple[Build, int]]) -> None:
        """Name the points that are simulated again."""
        say(_other_builds(builds))


class Lines(NotePrinter):
    """Plain lines, for logs."""

    def __init__(self) -> None:
        self._total = 0
        self._done = 0
        self._last = 0.0

    def start(self, total: int, done: int) -> None:
        """Print the number of pending points."""
        self._total, self._done = total, done
        self._last = time.monotonic()
        say(_opening(total, done))

    def point(self, point: Point, failure: PointFailure | None) -> None:
        """Print failures immediately."""
        self._done += 1
        if failure:
            complain(_failure(point, failure))

    def state(self, state: CampaignState) -> None:
        """Print the progress after a silent while."""
        now = time.monotonic()
        if now - self._last >= EVERY and self._done < self._total:
            self._last = now
            say(f"{self._done} of {self._total} points, {progress(state)}")


class ProgressBar(NotePrinter):
    """A progress bar. It measures processor seconds, not points."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._total = 0
        self._done = 0

    def start(self, total: int, done: int) -> None:
        """Show the bar."""
        from rich.progress import BarColumn, Progress, TextColumn

        say(_opening(total, done))
        self._total, self._done = total, done
        if total == done:
            return
        self._progress = Progress(
            BarColumn(), TextColumn("{task.description}"), console=console(error=True)
        )
        self._progress.start()
        self._task = self._progress.add_task("", total=1.0)

    def point(self, point: Point, failure: PointFailure | None) -> None:
        """Print failures immediately."""
        self._done += 1
        if self._progress is not None and failure:
            self._progress.console.print(_failure(point, failure), markup=False)

    def state(self, state: CampaignState) -> None:
        """Move the bar."""
        if self._progress is not None and self._task is not None:
            share = state.estimated / (state.estimated + state.left) if state.estimated else 0.0
            words = f"{self._done} of {self._total} points, {progress(state)}"
            self._progress.update(self._task, completed=share, description=words)

    def stop(self) -> None:
        """Leave the bar as it is."""
        if self._progress is not None:
            self._progress.stop()


class Counts:
    """The progress through points with about the same cost: a bar on a terminal, else a line now
    and then.

    A context manager. With --quiet it is silent, and so is work that ends within ``EVERY`` seconds.
    """

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._begun = self._last = 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Counts:
        from rich.progress import BarColumn, Progress, TextColumn

        self._begun = self._last = time.monotonic()
        if sys.stderr.isatty() and not quiet():
            columns = BarColumn(), TextColumn("{task.description}")
            self._bar = Progress(*columns, console=console(error=True), transient=True)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show the finished point count."""
        now = time.monotonic()
        left = (now - self._begun) / done * (total - done) if done else 0.0
        words = f"{self._doing}: {done:,} of {counted(total, 'point')}, about {duration(left)} left"
        if self._bar is not None:
            if self._task is None:
                self._task = self._bar.add_task("", total=total)
            self._bar.update(self._task, completed=done, description=words)
        elif now - self._last >= EVERY and done < total and not quiet():
            self._last = now
            say(words)


def progress(state: CampaignState) -> str:
    """Processor time spent and to come, workers, and the time left."""
    workers = "1 worker" if state.workers == 1 else f"{state.workers} workers"
    total = duration(state.spent + state.processor_left)
    return (
        f"{duration(state.spent)} of about {total} CPU, {workers}, about"
        f" {duration(state.seconds_left)} left"
    )


def summary(outcome: CampaignOutcome) -> None:
    """One line for each experiment with simulated points: processor time, and its estimate."""
    for experiment, spent in sorted(outcome.spent.items(), key=lambda item: -item[1].seconds):
        say(f"{experiment}: {cost_words(spent)}")


def cost_words(spent: ExperimentCost) -> str:
    """The processor time of an experiment's points."""
    cost = f"{duration(spent.seconds)} CPU (estimate {duration(spent.estimated)})"
    return f"{counted(spent.points, 'point')}, {cost}"


def report_deaths(outcome: CampaignOutcome) -> None:
    """Report dead workers."""
    if outcome.deaths:
        times = "once" if outcome.deaths == 1 else f"{outcome.deaths} times"
        say(f"a worker died {times}; the rest of its batch was simulated again")


def _opening(total: int, done: int) -> str:
    points = counted(total, "point")
    return f"{points}, {done} already done" if done else points


def _other_builds(builds: Sequence[tuple[Build, int]]) -> str:
    """Other builds' points that are simulated again."""
    names = "; ".join(str(build) for build, _ in builds)
    many = counted(sum(number for _, number in builds), "point")
    return f"simulating {many} of another build again: {names}"


def report_renewals(outcome: CampaignOutcome) -> None:
    """Report the comparison with other builds' points."""
    if not outcome.again:
        return
    changed = sum(outcome.again.values())
    many = counted(len(outcome.again), "point")
    if changed:
        complain(
            f"warning: {many} of another build with the same model revision simulated again:"
            f" {changed} differ; the store has the new results. A change of the model that changes"
            " results raises MODEL_REVISION"
        )
    else:
        say(f"{many} of another build simulated again: all results are the same")


def _failure(point: Point, failure: PointFailure) -> str:
    """One line; the command's end prints more."""
    return (
        f"failed: {point.experiment} {point.series} {point.id}:"
        f" {brief(failure.message).splitlines()[0]}"
    )
