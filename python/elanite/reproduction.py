"""Reproducing the papers: which experiments run, in which order, and when the report is written.

Experiments run one after the other, each as a campaign of its own. Those that decide claims come first, and of these
the cheap ones: after a few seconds the report shows whole papers. The report is written after the first experiment,
after the last one, after an interrupt, and in between whenever the last writing took less than a tenth of the time
that has passed since. In between, a thread writes the report while the next experiment runs, so that no core waits for
the report. What a point costs is estimated (see ``cost``); the order depends on it, results do not.
"""

from __future__ import annotations

import _thread
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite.claims import claims
from elanite.cost import CostModel
from elanite.quick import planned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future
    from pathlib import Path

    from elanite.campaign import Outcome
    from elanite.claims import Verdict
    from elanite.plan import Plan
    from elanite.report import Writer
    from elanite.store import Store

SHARE = 0.05
"""The most of the time that may go into reports while experiments still run."""


@dataclass(frozen=True)
class Part:
    """One experiment of a reproduction."""

    plan: Plan
    missing: int
    """Points that are not in the store yet."""
    seconds: float
    """Processor seconds that the missing points will take, estimated."""
    claims: int
    """Claims that are measured on the experiment."""

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self.plan.experiment.name


def parts(names: Iterable[str], store: Store, seed: int, *, quick: bool = False) -> list[Part]:
    """The experiments in the order in which they run; a quick run leaves out those that decide no claim."""
    model = CostModel.learn(store)
    found = []
    for name in names:
        decided = sum(claim.experiment == name for claim in claims())
        if quick and not decided:
            continue
        plan = planned(name, seed, quick=quick)
        missing = {point.id: point for point in plan.points if store.get(point.id) is None}
        found.append(Part(plan, len(missing), model.total(missing.values()), decided))
    return sorted(found, key=lambda part: (not part.claims, part.seconds))


@dataclass
class Reproduction:
    """A reproduction that runs: outcomes, and the report as it was written last."""

    writer: Writer
    outcomes: list[Outcome] = field(default_factory=list)
    page: Path | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    _ready: float = 0.0
    """When the next report is due."""
    _stopped: bool = False
    """Whether an interrupt came while a report was written."""

    @property
    def interrupted(self) -> bool:
        """Whether the user interrupted it."""
        return self._stopped or any(outcome.interrupted for outcome in self.outcomes)

    def run(
        self,
        chosen: list[Part],
        simulate: Callable[[Plan], Outcome],
        before: Callable[[int, Part], None],
        after: Callable[[Path], None],
    ) -> None:
        """Simulate the experiments; ``before`` each of them and ``after`` the first report the caller may say so."""
        with ThreadPoolExecutor(1, thread_name_prefix="report") as aside:
            writing: Future[None] | None = None
            try:
                for number, part in enumerate(chosen, start=1):
                    before(number, part)
                    self.outcomes.append(simulate(part.plan))
                    if number == len(chosen) or self.interrupted:
                        break
                    if self.page is None:
                        self._write()
                        if self.page is not None:
                            after(self.page)
                    elif (writing is None or writing.done()) and time.monotonic() >= self._ready:
                        if writing is not None:
                            writing.result()
                        writing = aside.submit(self._write_aside)
                if writing is not None:
                    writing.result()
            except KeyboardInterrupt:
                self._stopped = True
        # The last report is complete. An interrupted run leaves a report, too; a second interrupt ends the command.
        try:
            self._write()
        except KeyboardInterrupt:
            self._stopped = True
            self._write()

    def _write(self) -> None:
        begun = time.monotonic()
        self.page, self.verdicts = self.writer.write()
        self._ready = time.monotonic() + (time.monotonic() - begun) / SHARE

    def _write_aside(self) -> None:
        try:
            self._write()
        except KeyboardInterrupt:
            # If an interrupt comes while polars works, polars reports it only to the thread that called polars.
            _thread.interrupt_main()
