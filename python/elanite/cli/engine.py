"""The options for commands that simulate: the engine, and the campaign part that runs on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from elanite.cli.common import (
    OUT,
    DryRun,
    Executor,
    Jobs,
    MaxCost,
    Scheduler,
    Shard,
    Threads,
    Tls,
    Workers,
    complain,
    warn_if_stale,
)
from elanite.cli.request import OptionGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from elanite.campaign import CampaignOutcome, ExperimentCost
    from elanite.campaign.engines import Engine
    from elanite.inputs.plan import Plan
    from elanite.store import Store


@dataclass(frozen=True, kw_only=True)
class Simulators(OptionGroup):
    """The simulators of the points."""

    jobs: Jobs = None
    threads: Threads = None
    executor: Executor = "threads"
    scheduler: Scheduler = None
    tls: Tls = None
    workers: Workers = None

    def opened(self, out: Path) -> AbstractContextManager[Engine]:
        """The engine, open; ``out`` is the folder for its files."""
        from elanite.campaign import engines
        from elanite.errors import UsageError

        if self.executor != "threads" and self.threads is not None:
            raise UsageError(
                f"--threads is for points in this process, not for --executor {self.executor}"
            )
        asked = self.jobs if self.executor == "threads" else self.workers
        return engines.opened(self.executor, asked, self.scheduler, self.tls, out, complain)


@dataclass(frozen=True, kw_only=True)
class Campaign(Simulators):
    """The simulators, the part of the points that they run, and the cost limit."""

    shard: Shard = None
    max_cost: MaxCost = None
    dry_run: DryRun = False

    def run(
        self,
        plans: Sequence[Plan],
        store: Store,
        out: Path,
        ended: Callable[[Plan, ExperimentCost], None] | None = None,
    ) -> CampaignOutcome:
        """Run a campaign, with its progress on standard error.

        The experiments' run times are printed at the end, or by ``ended``, as in ``campaign.run``.
        A dry run prints the pending work and its expected cost, and leaves.
        """
        from elanite import campaign
        from elanite.cli.progress import observer, report_deaths, report_renewals, summary
        from elanite.errors import UsageError

        if self.executor == "threads" and self.workers is not None:
            raise UsageError(
                "--workers is for other executors than threads; for threads it is --jobs"
            )
        if self.executor != "threads" and self.jobs is not None:
            raise UsageError(
                f"--jobs is for threads; for --executor {self.executor} it is --workers"
            )
        if self.dry_run:
            from elanite.cli import output

            output.to_do(plans, store, self.points_at_a_time(), self.shard)
            raise typer.Exit
        warn_if_stale()
        with self.opened(out) as engine:
            outcome = campaign.run(
                plans,
                store,
                engine.workers,
                observer(),
                None if out == OUT else str(out),
                threads=self.threads,
                executor=engine.executor,
                max_cost=self.max_cost,
                shard=self.shard,
                ended=ended,
            )
        if ended is None:
            summary(outcome)
        report_deaths(outcome)
        report_renewals(outcome)
        return outcome

    def points_at_a_time(self) -> int:
        """The points that are simulated at the same time."""
        from elanite.base import host

        if self.executor == "threads":
            return self.jobs or max(host.processors() // (self.threads or 1), 1)
        return self.workers or host.processors()
