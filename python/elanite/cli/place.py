"""The command ``place``: the best nodes for jobs that run at the same time."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.base.seeds import FIRST_SEED
from elanite.cli import completion
from elanite.cli.common import (
    OUT,
    Html,
    Open,
    Out,
    OutputFormat,
    Role,
    Seed,
    Set,
    opened,
    say,
    warn,
)
from elanite.cli.engine import Campaign
from elanite.cli.request import Request
from elanite.cli.results import ResultsAs, finish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.cli.placement_run import Work
    from elanite.store import Store
    from elanite.study.placements import PlacementScore


@dataclass(frozen=True, kw_only=True)
class Place(Request):
    """Rank placements of jobs by their simulated slow-down.

    \b
    Examples:
      elanite place ndr-200.toml --job 64:alltoall --job 64:shift
      elanite place slingshot-dragonfly --job 128:allreduce --job 128:uniform \\
        --random 5 --steps 16
      elanite place ndr-200.toml --job 64:my.goal --job 64:alltoall --open
      elanite place ndr-200.toml --job 64:alltoall --job 64:shift --dry-run

    A job is NODES:PATTERN, one process to a node: alltoall, allreduce, uniform, shift (half round
    the job; "shift 8"), tornado, complement, neighbor, or the file of a trace in GOAL. Each process
    sends --steps messages.

    The slow-down of a job is its time beside the others over its time alone, where it is fastest
    alone. Tried are packed, aligned (jobs begin at leaves of their own), spread, blocks, --random
    draws, and a search that exchanges nodes, step by step, from the best one on. Sharing is the
    part of the slow-down that is due to the other jobs.

    The page has packed, spread and the best placement on one scale, with the links that jobs share.
    csv, json and parquet have a row for each placement and job. Experiment and traces are kept in
    out/place.
    """

    verb: ClassVar[str] = "place"

    machine: Annotated[
        str,
        typer.Argument(
            metavar="MACHINE",
            help="A shipped machine or a machine file.",
            autocompletion=completion.machines,
        ),
        Role.INPUT,
    ]
    job: Annotated[
        list[str],
        typer.Option(
            "--job",
            metavar="N:PATTERN",
            help="A job and its nodes; repeat it.",
            autocompletion=completion.jobs,
        ),
        Role.INPUT,
    ]
    message: Annotated[
        str, typer.Option("--message", metavar="SIZE", help="Bytes of a message.")
    ] = "16 KB"
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            min=1,
            max=100000,
            metavar="K",
            help=(
                "Messages of each process.  [default: to each other one of the largest job, at"
                " most 63]"
            ),
        ),
    ] = None
    drawn: Annotated[
        int, typer.Option("--random", min=0, max=1000, metavar="N", help="Random placements.")
    ] = 3
    search: Annotated[
        int,
        typer.Option(
            "--search",
            min=0,
            max=1000,
            metavar="N",
            help="Steps of the search, of 4 placements each.",
        ),
    ] = 2
    set_: Set = None
    seed: Seed = FIRST_SEED
    out: Out = OUT
    format_: ResultsAs = OutputFormat.TABLE
    html: Html = None
    open_: Open = False
    engine: Campaign = field(default_factory=Campaign)

    def execute(self) -> None:
        """Run the command."""
        from elanite.cli import output, placement_run
        from elanite.inputs import sources
        from elanite.inputs.machine import Machine
        from elanite.mpirun.cluster import Cluster
        from elanite.store import Store
        from elanite.study import limits, placements

        output.refuse_terminal(self.format_)
        if self.html:
            from elanite.figures import vega

            vega.prepare(self.html, dry=self.engine.dry_run)
        machine = sources.read("machine", self.machine)
        nodes = Cluster.of(machine, self.set_ or []).nodes
        about = {each.key: each.value for each in Machine.of(machine, self.set_ or []).parameters}
        jobs = placement_run.read(self.job)
        seeds = range(self.seed, self.seed + self.drawn)
        chosen = placements.first(nodes, [job.ranks for job in jobs], placements.leaf(about), seeds)
        steps = self.steps or min(placement_run.MOST_STEPS, max(job.ranks for job in jobs) - 1)
        terms = placement_run.Terms(
            self.message, self.search, self.set_ or [], self.seed, self.out, self.engine
        )
        work = placement_run.Work(self, terms, machine, jobs, steps)
        if self.engine.dry_run:
            work.costs(chosen)
            return
        store = Store(self.out / "store")
        warn(limits.of_machine(Machine.of(machine, self.set_ or [])))
        tried, outcome = work.tried(chosen, store)
        draws = random.Random(self.seed)  # noqa: S311 - no secret
        known = {each.nodes for each in chosen}
        for step in range(self.search):
            best = placements.ranked(tried)[0].tried.placement
            if near := list(placements.neighbours(best, nodes, step, draws, known)):
                more, outcome = work.tried(near, store)
                tried += more
        found = placements.ranked(tried)
        table = work.table(found, store)
        if self.format_ is OutputFormat.TABLE:
            work.print(found, store)
        else:
            output.of_table(table, self.format_)
        page = self.html or (self.out / "report" / "place.html" if self.open_ else None)
        if page:
            self._draw(work, found, store, page)
        finish(outcome, self.again(), self.out)

    def _draw(self, work: Work, found: Sequence[PlacementScore], store: Store, page: Path) -> None:
        from elanite.cli import placement_run
        from elanite.report import pages
        from elanite.report.pages import placement
        from elanite.study import limits

        names = dict.fromkeys([*placement_run.DRAWN, found[0].tried.placement.name])
        shown = [each.tried.placement for each in found if each.tried.placement.name in names]
        plan = work.plan(sorted(shown, key=lambda each: list(names).index(each.name)))
        inputs = work.inputs(self.written(html=page))
        limited = limits.of_work([plan])
        jobs = [job.name for job in work.jobs]
        pages.write(
            page, placement.page(plan, store, self.again(html=page), inputs, limited, jobs, found)
        )
        say(f"page: {page}")
        if self.open_:
            opened(page)
