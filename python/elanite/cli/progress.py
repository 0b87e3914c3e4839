"""Progress on standard error: on a terminal a bar with an estimate of the time left, else a plain line now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from elanite.cli.common import complain, console, quiet, say
from elanite.text import brief, counted, duration

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from elanite.campaign import Failure, Observer
    from elanite.plan import Point

EVERY = 15.0
"""Seconds between two plain lines."""


def observer() -> Observer | None:
    """The observer that fits where standard error goes; none with --quiet, which says failures at the end."""
    if quiet():
        return None
    return Bar() if sys.stderr.isatty() else Lines()


class Lines:
    """Plain lines, for logs."""

    def __init__(self) -> None:
        self._total = 0
        self._first = 0
        self._done = 0
        self._begun = 0.0
        self._last = 0.0

    def start(self, total: int, done: int) -> None:
        """Say how much there is to do."""
        self._total, self._first, self._done = total, done, done
        self._begun = self._last = time.monotonic()
        say(_opening(total, done))

    def point(self, point: Point, failure: Failure | None) -> None:
        """Print the progress if nothing was printed for a while; print failures at once."""
        self._done += 1
        if failure:
            complain(_failure(point, failure))
        now = time.monotonic()
        if now - self._last >= EVERY and self._done < self._total:
            self._last = now
            left = (now - self._begun) / (self._done - self._first) * (self._total - self._done)
            say(f"{self._done} of {self._total} points, about {duration(left)} left")

    def stop(self) -> None:
        """Nothing is left to say."""


class Bar:
    """A progress bar."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def start(self, total: int, done: int) -> None:
        """Show the bar."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        say(_opening(total, done))
        if total == done:
            return
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=console(error=True),
        )
        self._progress.start()
        self._task = self._progress.add_task("points", total=total - done)

    def point(self, point: Point, failure: Failure | None) -> None:
        """Move the bar by one point."""
        if self._progress is not None and self._task is not None:
            if failure:
                self._progress.console.print(_failure(point, failure), markup=False)
            self._progress.advance(self._task)

    def stop(self) -> None:
        """Leave the bar as it is."""
        if self._progress is not None:
            self._progress.stop()


def _opening(total: int, done: int) -> str:
    points = counted(total, "point")
    return f"{points}, {done} already done" if done else points


def _failure(point: Point, failure: Failure) -> str:
    """One line; the end of the command says more."""
    return f"failed: {point.experiment} {point.series} {point.id}: {brief(failure.message).splitlines()[0]}"
