"""The campaign: simulate the points that the store does not hold yet, on all cores or on an engine.

A point that another build has computed counts as missing: its program was another one, even if the
model revision is the same. A campaign simulates it again, whatever its origin, and replaces the old
one.

Points are independent and a simulation releases the interpreter, so threads are enough for one
machine. With an engine's executor (``engines.py``), batches with about half a minute's work run
wherever the engine has a worker. ``driver.py`` hands the work out in both cases, and handles the
cases when points fail, workers die, or the user interrupts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.base import host
from elanite.campaign import memory
from elanite.campaign.cost import CostModel
from elanite.campaign.driver import Driver
from elanite.campaign.outcome import (
    CampaignOutcome,
    CampaignState,
    EngineError,
    ExperimentCost,
    Observer,
    PointFailure,
)
from elanite.campaign.shards import shard as part
from elanite.campaign.threads import MOST, Threads, idle
from elanite.errors import UsageError
from elanite.migration import former
from elanite.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from elanite.base.build import Build
    from elanite.inputs.plan import Plan, Point
    from elanite.store import Store

__all__ = [
    "CampaignOutcome",
    "CampaignState",
    "EngineError",
    "ExperimentCost",
    "Observer",
    "PointFailure",
    "run",
]

if not TYPE_CHECKING:
    __getattr__ = former(__name__)


def run(
    plans: Sequence[Plan],
    store: Store,
    jobs: int | None = None,
    observer: Observer | None = None,
    out: str | None = None,
    *,
    threads: int | None = None,
    executor: Executor | None = None,
    max_cost: float | None = None,
    shard: str | None = None,
    ended: Callable[[Plan, ExperimentCost], None] | None = None,
) -> CampaignOutcome:
    """Simulate the plans' missing points, ``jobs`` points at the same time.

    ``threads`` work on each point, by default by the rule in ``threads.py``; ``jobs`` is by default
    the core count over ``threads``. With an ``executor``, point batches go to its workers, each
    point on one thread; ``jobs`` is then the worker count. ``max_cost`` is in CPU-hours:
    ``UsageError`` if the missing points' estimate is higher. ``shard`` is as in ``shards``. With
    ``ended``, plans are taken in order, and it is called for each plan as soon as all the plan's
    points have ended, with the cost of the simulated ones. Raises ``StoreError`` if the store
    cannot be written, and ``EngineError`` if the engine fails as a whole.
    """
    if threads is not None and not 1 <= threads <= MOST:
        allowed = f"1 to {MOST} threads may work on a point"
        raise UsageError(
            f"threads={threads}: {allowed}; leave threads out for a choice by the host"
        )
    if threads is not None and executor is not None:
        raise UsageError(
            "threads are for points in this process: an engine's workers have one thread for a"
            " point"
        )
    planned = _planned(plans, shard)
    outcome = CampaignOutcome(total=len(planned))
    missing = [point for identity, (_, point) in planned.items() if store.current(identity) is None]
    others = [point for point in missing if store.get(point.id) is not None]
    outcome.others = store.builds(point.id for point in others)
    # A complete store may be read-only.
    if missing:
        try:
            store.prepare()
        except StoreError:
            if len(others) < len(missing):
                raise
            missing = []  # all are there, and cannot be replaced: the output names their builds
    else:
        store.clean()
    outcome.reused = len(planned) - len(missing)
    model = CostModel.learn(store) if missing else CostModel.shipped()
    cost = {point.id: model.seconds(point) for point in missing}
    if max_cost is not None:
        _afford(missing, cost, max_cost)
    outcome.damaged = sum(store.damaged(point.id) for point in missing)
    observer = observer or Observer()
    groups = [missing]
    if ended is not None:
        groups = [[point for point in missing if planned[point.id][0] is plan] for plan in plans]
        observer = _OrderedObserver(observer, plans, missing, outcome, ended)
    if missing and outcome.others:
        observer.others(outcome.others)
    observer.start(outcome.total, outcome.reused)
    try:
        if missing:
            usual = max(host.processors() // (threads or 1), 1)
            fit = memory.fitted(missing, jobs or usual, threads=threads or 1)
            inside = Threads(threads, idle(host.processors()), fit.share)
            for line in (fit.line, inside.note(missing)):
                if line and executor is None:
                    observer.note(line)
            workers = fit.jobs if executor is None else jobs or host.processors()
            driver = Driver(
                planned, store, workers, observer, outcome, out, cost, fit.share, inside
            )
            if executor is None:
                driver.refuse(fit.refused)
                groups = [
                    [point for point in group if point.id not in fit.refused] for group in groups
                ]
            driver.threads(groups) if executor is None else driver.engine(groups, executor)
            if outcome.deaths:
                store.clean()  # workers' partial files
    finally:
        observer.stop()
    return outcome


class _OrderedObserver(Observer):
    """Passes all reports on to another observer, and notifies a listener of each plan whose last
    point has ended.
    """

    def __init__(
        self,
        observer: Observer,
        plans: Sequence[Plan],
        missing: Sequence[Point],
        outcome: CampaignOutcome,
        ended: Callable[[Plan, ExperimentCost], None],
    ) -> None:
        left = {point.id for point in missing}
        self._observer = observer
        self._outcome = outcome
        self._ended = ended
        # Plans may share points, so that a point is missing in several plans.
        self._open = [(plan, {point.id for point in plan.points} & left) for plan in plans]

    def start(self, total: int, done: int) -> None:
        self._observer.start(total, done)
        self._tell()

    def others(self, builds: Sequence[tuple[Build, int]]) -> None:
        self._observer.others(builds)

    def point(self, point: Point, failure: PointFailure | None) -> None:
        self._observer.point(point, failure)
        for _, left in self._open:
            left.discard(point.id)
        self._tell()

    def note(self, line: str) -> None:
        self._observer.note(line)

    def state(self, state: CampaignState) -> None:
        self._observer.state(state)

    def stop(self) -> None:
        self._observer.stop()

    def _tell(self) -> None:
        ended = [plan for plan, left in self._open if not left]
        self._open = [(plan, left) for plan, left in self._open if left]
        for plan in ended:
            self._ended(plan, self._outcome.spent.get(plan.experiment.name, ExperimentCost()))


def _planned(plans: Sequence[Plan], shard: str | None) -> dict[str, tuple[Plan, Point]]:
    """The plans' points, each once, or those that belong to a shard."""
    planned: dict[str, tuple[Plan, Point]] = {}
    for plan in plans:
        for point in plan.points:
            planned.setdefault(point.id, (plan, point))
    if shard is None:
        return planned
    return {
        point.id: planned[point.id]
        for point in part(shard, [point for _, point in planned.values()])
    }


def _afford(missing: Sequence[Point], cost: Mapping[str, float], max_cost: float) -> None:
    """Refuse points that cost too much by the estimate; the most expensive experiments are
    named.
    """
    each: dict[str, float] = {}
    for point in missing:
        each[point.experiment] = each.get(point.experiment, 0.0) + cost[point.id]
    hours = sum(each.values()) / 3600
    if hours <= max_cost:
        return
    most = sorted(each.items(), key=lambda item: -item[1])[:3]
    named = ", ".join(f"{name} {seconds / 3600:.3g}" for name, seconds in most)
    raise UsageError(
        f"{len(missing)} points would take about {hours:.3g} CPU-hours, more than --max-cost"
        f" {max_cost:g} (most: {named}); the campaign did not start. Choose fewer points (--only,"
        " --point, --shard), or raise --max-cost"
    )
