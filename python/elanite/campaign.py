"""The campaign: simulate the points that the store does not hold yet, on all cores.

Points are independent and a simulation releases the interpreter, so threads are enough. A point that fails does not
stop the others. An interrupt (Ctrl-C) stops the running points at once, keeps the finished ones and says so in the
outcome; the caller says how to resume.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from elanite import _core
from elanite.errors import Exit, RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.plan import Plan, Point
    from elanite.store import Store


class Observer(Protocol):
    """Receives reports on the progress of a campaign."""

    def start(self, total: int, done: int) -> None:
        """Called once: how many points there are, and how many of them are finished already."""

    def point(self, point: Point, failure: Failure | None) -> None:
        """Called after each point, with its failure, if any."""

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
class Outcome:
    """How a campaign went."""

    total: int = 0
    reused: int = 0
    simulated: int = 0
    discarded: int = 0
    """Number of damaged folders in the store that were removed and simulated again."""
    failures: list[Failure] = field(default_factory=list)
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ran nothing but this campaign."""
        if self.interrupted:
            return Exit.INTERRUPTED
        return max((failure.exit_code for failure in self.failures), default=Exit.OK)


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(
    plans: Sequence[Plan],
    store: Store,
    jobs: int | None = None,
    observer: Observer | None = None,
    out: str | None = None,
) -> Outcome:
    """Simulate the missing points of the plans, ``jobs`` points at the same time (by default one for each core)."""
    work: dict[str, tuple[Plan, Point]] = {}
    for plan in plans:
        for point in plan.points:
            work.setdefault(point.id, (plan, point))
    outcome = Outcome(total=len(work))
    # The order of the identities is as good as a random one: short and long points mix, so that the estimate of the
    # time left is good from the start.
    missing = [work[identity] for identity in sorted(work) if store.get(identity) is None]
    if missing:
        store.prepare()
    else:
        store.clean()
    outcome.reused = len(work) - len(missing)
    outcome.discarded = sum(store.discard(point.id) for _, point in missing)
    if observer:
        observer.start(outcome.total, outcome.reused)
    try:
        _simulate_all(missing, store, jobs or cores(), observer, outcome, out)
    finally:
        if observer:
            observer.stop()
    return outcome


def _simulate_all(
    missing: Sequence[tuple[Plan, Point]],
    store: Store,
    jobs: int,
    observer: Observer | None,
    outcome: Outcome,
    out: str | None,
) -> None:
    cancel = _core.Cancel()
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="point")
    futures: dict[Future[None], tuple[Plan, Point]] = {}
    try:
        for plan, point in missing:
            futures[pool.submit(_simulate, point, store, cancel)] = (plan, point)
        waiting = set(futures)
        while waiting:
            # A short timeout, so that an interrupt is noticed while long points run.
            ended, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in ended:
                plan, point = futures[future]
                failure = _failure(future, plan, point, out)
                if observer:
                    observer.point(point, failure)
            if cancel.is_set():
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        outcome.interrupted = True
    finally:
        cancel.set()  # nothing runs any more, except after an interrupt or an unforeseen error
        pool.shutdown(cancel_futures=True)
    for future, (plan, point) in futures.items():
        if future.cancelled():
            continue
        failure = _failure(future, plan, point, out)
        if failure is None:
            outcome.simulated += 1
        elif failure.exit_code != Exit.INTERRUPTED:
            outcome.failures.append(failure)


def _simulate(point: Point, store: Store, cancel: _core.Cancel) -> None:
    started = datetime.now(UTC)
    before = time.thread_time()
    records = _core.simulate(point.json, cancel)
    cpu_seconds = time.thread_time() - before
    times = {
        "started": started.isoformat(timespec="milliseconds"),
        "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "cpu_seconds": round(cpu_seconds, 6),
    }
    try:
        store.put(point, records, times)
    except KeyboardInterrupt:
        # If an interrupt comes while polars works, polars reports it only to the thread that called polars. The point
        # is finished and is kept; the flag reports the interrupt to the waiting thread.
        cancel.set()
        store.put(point, records, times)


def _failure(future: Future[None], plan: Plan, point: Point, out: str | None) -> Failure | None:
    """The failure of a point, if any; unforeseen errors pass through."""
    try:
        future.result()
    except RunError as error:
        return Failure(point, str(error), error.exit_code, plan.command(point, out))
    return None
