"""A campaign's driver: hands out batches, and takes their reports.

On threads, a batch is one point; on an engine, it is about half a minute's work, as text
(``work.py``). The same loop serves both. A point that fails does not stop the others. An interrupt
(Ctrl-C) stops the running points, keeps the finished ones and marks the outcome.

A dead worker's finished points stay: the remainder of its batch runs again, first as a whole,
because most deaths are unrelated to the point, then each point alone. So a point that kills its
workers ends as a failure that names the point, and the others in its batch are simulated. An engine
that fails as a whole, or cancels work unasked, ends the campaign with an error; the same command
resumes it. Points that another campaign has claimed are waited for at the end, and taken over when
their claims end.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite import _core
from elanite.campaign import work
from elanite.campaign.batches import batches
from elanite.campaign.outcome import CampaignState, EngineError, ExperimentCost, PointFailure
from elanite.campaign.work import BatchReport, Sign
from elanite.errors import ElaniteError, Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from elanite.campaign.memory import Share
    from elanite.campaign.outcome import CampaignOutcome, Observer
    from elanite.campaign.threads import Threads
    from elanite.inputs.plan import Plan, Point
    from elanite.store import Store

AGAIN = 3
"""How often a batch's points run again after their workers' deaths."""

_STOPPING = 10.0
"""Seconds that workers get to stop after an interrupt, before the engine cancels the remainder."""

_PAUSES = (0.5, 10.0)
"""Seconds between looks at points that others have claimed: the shortest and the longest pause."""


@dataclass(frozen=True)
class _Batch:
    """Points that are handed out together, and how often they were handed out before."""

    points: Sequence[Point]
    attempt: int = 0


class Driver:
    """Simulates points, on threads or on an engine."""

    def __init__(
        self,
        planned: Mapping[str, tuple[Plan, Point]],
        store: Store,
        workers: int,
        observer: Observer,
        outcome: CampaignOutcome,
        out: str | None,
        cost: Mapping[str, float],
        share: Share | None = None,
        inside: Threads | None = None,
    ) -> None:
        """``cost`` has the estimate for every point that is to be simulated, in processor seconds.

        On threads, ``share`` bounds each point's memory, and ``inside`` chooses the threads inside
        a point.
        """
        self._share = share
        self._inside = inside
        self._planned = planned
        self._store = store
        self._workers = workers
        self._observer = observer
        self._outcome = outcome
        self._out = out
        self._cost = cost
        self._cancel = _core.Cancel()
        self._sign: Sign | None = None
        self._ready: deque[_Batch] = deque()
        self._running: dict[Future[BatchReport | str], _Batch] = {}
        self._elsewhere: dict[str, Point] = {}
        self._sum = ExperimentCost()
        self._left = sum(cost.values())
        self._batches = 0
        self._begun = time.monotonic()
        self._unfinished = 0
        self._lock = threading.Lock()

    def refuse(self, why: Mapping[str, str]) -> None:
        """Let points fail that find no room on this host, by their identities."""
        for identity, message in why.items():
            self._failed(self._planned[identity][1], message, Exit.FAILED)

    def threads(self, missing: Sequence[Sequence[Point]]) -> None:
        """Simulate points on this process's threads, group after group, a group's longest points
        first.
        """
        for group in missing:
            ordered = sorted(group, key=lambda point: (-self._cost[point.id], point.id))
            self._ready.extend(_Batch([point]) for point in ordered)
        with ThreadPoolExecutor(self._workers, thread_name_prefix="point") as pool:
            self._unfinished = len(self._ready)
            self._loop(lambda batch: pool.submit(self._simulate, batch))

    def _simulate(self, batch: _Batch) -> BatchReport:
        """Simulate a batch on a thread."""
        inside = self._inside
        threads = None if inside is None else lambda point: inside.of(point, self._unfinished)
        try:
            cancel, share = self._cancel, self._share
            return work.points(batch.points, self._store, cancel, share=share, threads=threads)
        finally:
            with self._lock:
                self._unfinished -= len(batch.points)

    def engine(self, missing: Sequence[Sequence[Point]], executor: Executor) -> None:
        """Simulate points on an engine's workers, group after group.

        Raises ``EngineError`` if the engine fails as a whole.
        """
        for group in missing:
            self._ready.extend(
                _Batch(points) for points in batches(group, self._cost, self._workers)
            )
        sign = self._sign = Sign(self._store)

        def submit(batch: _Batch) -> Future[BatchReport | str]:
            text = work.batch(batch.points, self._store, sign, batch.attempt)
            try:
                return executor.submit(work.simulate, text)
            except Exception as error:
                raise EngineError(f"it takes no more work: {_words(error)}") from error

        try:
            self._loop(submit)
        finally:
            if all(future.done() for future in self._running):
                sign.remove()

    def _loop(self, submit: Callable[[_Batch], Future[BatchReport | str]]) -> None:
        pause = _PAUSES[0]
        # Threads get their next point in advance. An engine's workers do not: a worker's death then
        # costs only the running batch, an engine need not hold a million batches, and a wait of
        # some milliseconds for half a minute's work is negligible.
        ahead = 2 * self._workers + 2 if self._sign is None else self._workers
        self._tell()
        try:
            while self._ready or self._running or self._elsewhere:
                while self._ready and len(self._running) < ahead:
                    batch = self._ready.popleft()
                    self._running[submit(batch)] = batch
                if self._running:
                    # A short timeout, so that an interrupt is noticed while long points run.
                    for future in wait(
                        self._running, timeout=0.2, return_when=FIRST_COMPLETED
                    ).done:
                        self._take(future)
                        pause = _PAUSES[0]
                else:
                    time.sleep(pause)
                    pause = min(2 * pause, _PAUSES[1])
                    self._look_elsewhere()
                if self._cancel.is_set():
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            self._outcome.interrupted = True
            self._stop()
        except BaseException:
            self._stop()
            raise

    def _take(self, future: Future[BatchReport | str]) -> None:
        """Take a batch's result."""
        batch = self._running.pop(future)
        try:
            result = future.result()
        except CancelledError:
            raise EngineError(
                "it has cancelled a batch; the connection to its scheduler is probably lost"
            ) from None
        except ImportError as error:
            raise EngineError(
                f"a worker lacks Elanite, or a part of it ({error}); install the same version"
            ) from error
        except Exception as error:
            if self._sign is None:
                raise  # threads do not die: a bug
            self._died(batch, _words(error))
            return
        report = BatchReport.read(result) if isinstance(result, str) else result
        if report.refused:
            raise EngineError(report.refused)
        left = self._settle(batch, report)
        if report.unkept:
            raise ElaniteError(report.unkept)
        if left and not self._cancel.is_set():
            self._died(_Batch(left, batch.attempt), f"{report.worker} stopped")

    def _settle(self, batch: _Batch, report: BatchReport) -> list[Point]:
        """Count a batch's simulated points, and keep those its worker could not; returns the points
        not begun.
        """
        for identity, packed in report.records.items():
            records, times = work.unpacked(packed)
            work.keep(
                self._planned[identity][1], self._store, records, times, self._cancel, report.again
            )
        self._outcome.again |= report.again
        for identity in report.again:  # a worker has replaced it
            self._store.forget(identity)
        left = []
        for point in batch.points:
            if point.id in report.done:
                self._simulated(point, report.done[point.id])
            elif point.id in report.reused:
                self._reused(point)
            elif point.id in report.failed:
                self._failed(point, *report.failed[point.id])
            elif point.id in report.elsewhere:
                self._elsewhere[point.id] = point
            else:
                left.append(point)
        self._batches += 1
        self._tell()
        return left

    def _died(self, batch: _Batch, words: str) -> None:
        """A batch's worker died: its finished points count, and the rest runs again."""
        self._outcome.deaths += 1
        left = []
        for point in batch.points:
            manifest = self._store.current(point.id)
            if manifest is None:
                left.append(point)
            else:
                self._simulated(point, manifest.cpu_seconds)
        if batch.attempt == AGAIN:
            for point in left:
                self._failed(
                    point, f"its worker died {AGAIN + 1} times; the last time: {words}", Exit.FAILED
                )
        elif batch.attempt == 0:
            self._ready.append(_Batch(left, 1))
        else:
            self._ready.extend(_Batch([point], batch.attempt + 1) for point in left)
        self._tell()

    def _look_elsewhere(self) -> None:
        """Check the points that others have claimed; take over those without a claim."""
        free = []
        for point in list(self._elsewhere.values()):
            if self._store.current(point.id) is not None:
                del self._elsewhere[point.id]
                self._reused(point)
                continue
            claim = self._store.claim(point.id, work.LEASE)
            if claim is not None:
                with claim:
                    del self._elsewhere[point.id]
                    free.append(point)
        if free:
            self._ready.extend(
                _Batch(points) for points in batches(free, self._cost, self._workers)
            )

    def _simulated(self, point: Point, seconds: float) -> None:
        estimate = self._cost[point.id]
        self._outcome.simulated += 1
        for spent in (
            self._sum,
            self._outcome.spent.setdefault(point.experiment, ExperimentCost()),
        ):
            spent.points += 1
            spent.seconds += seconds
            spent.estimated += estimate
        self._end(point, None)

    def _reused(self, point: Point) -> None:
        self._outcome.reused += 1
        self._end(point, None)

    def _failed(self, point: Point, message: str, code: int) -> None:
        plan, _ = self._planned[point.id]
        failure = PointFailure(point, message, code, plan.command(point, self._out))
        self._outcome.failures.append(failure)
        self._end(point, failure)

    def _end(self, point: Point, failure: PointFailure | None) -> None:
        self._left -= self._cost[point.id]
        self._observer.point(point, failure)

    def _tell(self) -> None:
        spent = self._sum
        elapsed = time.monotonic() - self._begun
        left = max(self._left, 0.0)
        self._observer.state(
            CampaignState(
                self._workers, self._batches, spent.seconds, spent.estimated, left, elapsed
            )
        )

    def _stop(self) -> None:
        """Stop the running points, and count the finished ones."""
        self._cancel.set()
        self._ready.clear()
        if self._sign is not None:
            self._sign.stop()
        wait(self._running, timeout=_STOPPING if self._sign else None)
        for future, batch in list(self._running.items()):
            if (
                future.cancel()
                or not future.done()
                or future.cancelled()
                or future.exception() is not None
            ):
                continue
            result = future.result()
            with suppress(
                ElaniteError
            ):  # the disk is full, for example: unkept points are simulated again
                self._settle(batch, BatchReport.read(result) if isinstance(result, str) else result)


def _words(error: BaseException) -> str:
    """An exception in one line; some engines' texts are long."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
