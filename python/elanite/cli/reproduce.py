"""The command ``reproduce``: the shipped experiments, the report and the scoreboard."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.base.seeds import FIRST_SEED
from elanite.cli.common import (
    OUT,
    BoardFormat,
    Decide,
    Open,
    Out,
    Quick,
    Seed,
    opened,
    say,
    warn,
)
from elanite.cli.engine import Campaign
from elanite.cli.request import Request
from elanite.cli.results import finish, stop_if_interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from elanite.campaign import CampaignOutcome, ExperimentCost
    from elanite.errors import UsageError
    from elanite.inputs.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Reproduce(Request):
    """Run the shipped experiments; write report and scoreboard.

    \b
    Examples:
      elanite reproduce --quick      all papers in a few minutes, wider intervals
      elanite reproduce --decide     most verdicts in a sixth of the time
      elanite reproduce --dry-run    the cost of a whole run
      elanite reproduce
      elanite reproduce --only qsnet/ping,qsnet/uniform --out results
      elanite reproduce --only qsnet --jobs 4

    Cheap experiments that decide claims run first, and the report is updated while the others run.
    The command reuses finished points; an interrupted run resumes at the point where it stopped,
    and leaves a report.

    --quick shortens windows, uses one seed, and omits everything that no claim uses. A claim with
    shortened points holds or is missed only if its whole interval lies within or outside the
    bounds; otherwise the claim is not resolved.

    --decide begins as --quick. If that does not resolve a claim, the claim's points get four runs
    with other seeds. Both intervals of a claim cover its figure together with 95%, so that the
    second look does not raise the error rate. The verdict of the last look is as in a whole run: a
    mean within the bounds holds.
    """

    verb: ClassVar[str] = "reproduce"

    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="NAMES", help="Experiments or folders of them, separated by commas."
        ),
    ] = None
    quick: Quick = False
    decide: Decide = False
    out: Out = OUT
    seed: Seed = FIRST_SEED
    engine: Campaign = field(default_factory=Campaign)
    open_: Open = False

    def execute(self) -> None:
        """Run the experiments, and write the report."""
        from elanite.cli import board, output
        from elanite.errors import UsageError
        from elanite.inputs import sources
        from elanite.report.index import Writer
        from elanite.report.reproduction import Reproduction, budget, looks_at, parts
        from elanite.store import Store
        from elanite.study import limits
        from elanite.validation.scoreboard import failed

        if self.decide and self.engine.shard:
            raise UsageError(
                "--decide needs the verdicts on all points, and --shard simulates a part of them"
            )
        names = sources.select_experiments(self.only)
        store = Store(self.out / "store")
        short = self.quick or self.decide
        chosen = parts(names, store, self.seed, quick=short)
        if not chosen:
            raise nothing_quick(names)
        left = [name for name in names if name not in {part.name for part in chosen}]
        if self.only and left:
            say(
                f"warning: --quick leaves out experiments that decide no claim: {', '.join(left)};"
                " run without --quick"
            )
        if self.engine.dry_run:
            later = budget(names, store, self.seed) if self.decide else None
            output.costs(chosen, self.engine.points_at_a_time(), later)
            return
        plans = [part.plan for part in chosen]
        if len(plans) == 1:
            warn(limits.of_work(plans))
        elif brief := limits.in_brief(plans):
            say(brief)
        told = ReproductionLog(len(chosen))
        work = Reproduction(
            Writer(self.out, store, self.seed, quick=short, asked=names), told.first
        )

        def simulate(
            plans: list[Plan], ended: Callable[[Plan, ExperimentCost], None]
        ) -> CampaignOutcome:
            return self.engine.run(plans, store, self.out, ended)

        outcome = work.run(
            plans,
            simulate,
            told.ended,
            looks_at(names, store, self.seed, told.look) if self.decide else (),
        )
        outcome.interrupted = work.interrupted
        if not outcome.interrupted:
            ran = [verdict for verdict in work.verdicts if verdict.claim.experiment in names]
            board.scoreboard(ran or work.verdicts, BoardFormat.TABLE)
        if short:
            from elanite.validation.short_runs import NOTE

            say(NOTE)
        say(f"report: {work.page}\nscoreboard: {self.out / 'scoreboard.json'}")
        if self.open_ and work.page:
            opened(work.page)
        stop_if_interrupted(outcome, self.again())
        finish(outcome, self.again(), self.out, 1 if failed(work.verdicts) else 0)


class ReproductionLog:
    """Prints finished experiments, and the report's place once there is one."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._ended = 0

    def ended(self, plan: Plan, spent: ExperimentCost) -> None:
        """An experiment has finished."""
        from elanite.cli.progress import cost_words

        self._ended += 1
        what = cost_words(spent) if spent.points else "already done"
        say(f"[{self._ended}/{self._total}] {plan.experiment.name}: {what}")

    def look(self, number: int, plans: Sequence[Plan]) -> None:
        """Another look begins."""
        from elanite.base.text import counted

        self._total, self._ended = len(plans), 0
        say(
            f"look {number}: {counted(sum(len(plan.points) for plan in plans), 'point')} of open"
            " claims"
        )

    def first(self, page: Path) -> None:
        """The first report was written, and experiments are still to come."""
        say(f"the first report is there, and is written again as experiments finish: {page}")


def nothing_quick(names: Sequence[str]) -> UsageError:
    """The error of an empty quick run."""
    from elanite.errors import UsageError

    return UsageError(
        f"--quick leaves out experiments that decide no claim: {', '.join(names)}; run without"
        " --quick"
    )
