"""Reproducing the papers: which experiments run, in which order, and when the report is written.

All experiments are one campaign, which takes them in order: those that decide claims come first,
and among these the cheap ones, so that the report shows whole papers after a few seconds. A core
without more work in one experiment begins the next one. The report is written when the first
experiment has finished, at the end or after an interrupt, and in between whenever an experiment has
finished and the last writing took less than a twentieth of the time that has passed since. Before
the end, a thread writes the report while points are simulated, and it shows the finished
experiments. Point costs are estimated (see ``cost``); the order depends on them, results do not.
"""

from __future__ import annotations

import _thread
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite.campaign.cost import CostModel
from elanite.results.looks import LAST, RUNS
from elanite.validation import admissible_ranges
from elanite.validation.claims import claims
from elanite.validation.scoreboard import further
from elanite.validation.short_runs import planned

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from elanite.campaign import CampaignOutcome, ExperimentCost
    from elanite.inputs.plan import Plan, Point
    from elanite.report.index import Writer
    from elanite.store import Store
    from elanite.validation.verdict import Verdict

SHARE = 0.05
"""The largest share of time for reports while points are simulated."""


@dataclass(frozen=True)
class ReproductionPart:
    """One experiment in a reproduction."""

    plan: Plan
    missing: int
    """Points that are not in the store yet."""
    seconds: float
    """Processor seconds that the missing points will take, estimated."""
    claims: int
    """Claims that are measured on the experiment."""

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.plan.experiment.name


def parts(
    names: Iterable[str], store: Store, seed: int, *, quick: bool = False
) -> list[ReproductionPart]:
    """The experiments in the order in which they run; a quick run leaves out those that decide no
    claim.

    Experiments with claims that are judged over an admissible range have a part for each range end
    as well.
    """
    model = CostModel.learn(store)
    found = []
    for name in names:
        of_experiment = [claim for claim in claims() if claim.experiment == name]
        decided = len(of_experiment)
        if quick and not decided:
            continue
        usual = planned(name, seed, 0 if quick else None)
        for plan in [usual, *([] if quick else admissible_ranges.plans(usual, claims()))]:
            missing = {point.id: point for point in plan.points if store.current(point.id) is None}
            of_plan = (
                decided if plan is usual else sum(bool(claim.admissible) for claim in of_experiment)
            )
            found.append(
                ReproductionPart(plan, len(missing), model.total(missing.values()), of_plan)
            )
    return sorted(found, key=lambda part: (not part.claims, part.seconds))


def budget(names: Iterable[str], store: Store, seed: int) -> float:
    """Estimated processor seconds for all looks after the first, if no claim were resolved before
    the last one.
    """
    model = CostModel.learn(store)
    needed: dict[str, Point] = {}
    for name in set(names) & {claim.experiment for claim in claims()}:
        first = {point.id for point in planned(name, seed, 0).points}
        of_name = [claim for claim in claims() if claim.experiment == name]
        for point in planned(name, seed, LAST).points:
            if point.id not in first and any(claim.asks_for(point) for claim in of_name):
                needed[point.id] = point
    return model.total(point for point in needed.values() if store.current(point.id) is None)


def looks_at(
    names: Collection[str], store: Store, seed: int, begun: Callable[[int, Sequence[Plan]], None]
) -> Iterator[list[Plan]]:
    """The plans for each look after the first at some experiments' claims, from the results in the
    store so far.

    ``begun`` is called with the look's number, which is 2 for the second one, and its plans.
    """
    of_names = [claim for claim in claims() if claim.experiment in names]
    for look in range(1, len(RUNS)):
        if plans := further(of_names, store, seed):
            begun(look + 1, plans)
            yield plans


@dataclass
class Reproduction:
    """A reproduction that runs, and the report as it was written last."""

    writer: Writer
    told: Callable[[Path], None]
    """Called when the first report was written and points are still to come."""
    page: Path | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    interrupted: bool = False
    """Whether the user interrupted it."""
    _finished: list[str] = field(default_factory=list)
    """The experiments that have finished."""
    _ready: float = 0.0
    """When the next report is due."""

    def run(
        self,
        plans: list[Plan],
        simulate: Callable[[list[Plan], Callable[[Plan, ExperimentCost], None]], CampaignOutcome],
        ended: Callable[[Plan, ExperimentCost], None],
        looks: Iterable[list[Plan]] = (),
    ) -> CampaignOutcome:
        """Simulate experiments' plans, and write the report; ``ended`` is called for each plan that
        has ended.

        ``simulate`` is one campaign, which gets the plans and the listener for their ends. Each of
        the ``looks`` is another campaign; they are taken one by one, as their plans depend on
        earlier results.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="report") as aside:
            writing: Future[None] | None = None
            left = len(plans)

            def finished(plan: Plan, spent: ExperimentCost) -> None:
                nonlocal writing, left
                ended(plan, spent)
                left -= 1
                self._finished.append(plan.experiment.name)
                idle = writing is None or writing.done()
                if idle and time.monotonic() >= self._ready and left:
                    if writing is not None:
                        writing.result()
                    writing = aside.submit(self._write_aside, list(self._finished))

            outcome = simulate(plans, finished)
            for more in looks if not outcome.interrupted else ():
                left = len(more)
                outcome.add(simulate(more, finished))
                if outcome.interrupted:
                    break
            self.interrupted = outcome.interrupted
            try:
                if writing is not None:
                    writing.result()
            except KeyboardInterrupt:
                self.interrupted = True
        # The last report is complete. An interrupted run leaves a report, too; a second interrupt
        # ends the command.
        try:
            self._write()
        except KeyboardInterrupt:
            self.interrupted = True
            self._write()
        return outcome

    def _write(self, only: list[str] | None = None) -> None:
        begun = time.monotonic()
        self.page, self.verdicts = self.writer.write(only)
        self._ready = time.monotonic() + (time.monotonic() - begun) / SHARE

    def _write_aside(self, only: list[str]) -> None:
        first = self.page is None
        try:
            self._write(only)
        except KeyboardInterrupt:
            # If an interrupt comes while polars works, polars reports it only to the thread that
            # called polars.
            _thread.interrupt_main()
        else:
            if first and self.page is not None:
                self.told(self.page)
