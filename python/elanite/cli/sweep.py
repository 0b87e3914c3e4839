"""The command sweep: many values of a few keys."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar

import typer

from elanite.base.seeds import FIRST_SEED
from elanite.cli import completion
from elanite.cli.common import (
    OUT,
    MachineFiles,
    Out,
    OutputFormat,
    Role,
    Seed,
    Set,
    data,
    say,
    warn,
)
from elanite.cli.engine import Campaign
from elanite.cli.request import Request
from elanite.cli.results import Pictures, ResultsAs, Selection, finish, stop_if_interrupted
from elanite.cli.sensitivity import Claims


class Method(StrEnum):
    """How samples are drawn."""

    LHS = "lhs"


@dataclass(frozen=True, kw_only=True)
class Sweep(Request):
    """Run one experiment with many values of a few keys.

    \b
    Examples:
      elanite sweep qsnet/ping --vary 'link.hop_delay=35 ns,55 ns' \\
        --vary switch.tokens=true,false
      elanite sweep qsnet/ping --vary 'bus.rate=150 MB/s..400 MB/s in 6' --open
      elanite sweep my.toml --vary 'bus.rate=150 MB/s..400 MB/s' \\
        --vary 'tport.big=1 KB..64 KB log' --sample lhs 500
      elanite sweep my.toml --vary \\
        'topology.up=[20],[10]; topology.parallel=[10],[5]' --dry-run
      elanite sweep es40-qsnet --one-at-a-time
      elanite sweep es40-qsnet --one-at-a-time --claims permutation,hotspot.32

    Keys are those of --set. Values are a list, a,b,c, or a range, low..high; "in 6" gives six
    values of the range, ends included, and "log" equal ratios. Without --sample, the command runs
    all combinations; keys of one --vary, separated by semicolons, go together: the first values
    with the first, and so on. The varied keys are columns of the results, which are printed as
    those of `elanite run`, and curves or an axis of the figures. The command checks all
    combinations before it simulates the first one, and reuses finished points.

    With --one-at-a-time, the argument is a shipped machine. The command changes each parameter that
    was fitted or assumed by a fifth, down and up, and compares the claims about the machine. Runs
    are shorter than in the experiments, and have the same seeds. Without --claims, the affordable
    claims are studied, and the report shows the heat map of this study. csv, parquet and json give
    one row for each parameter, step and claim.
    """

    verb: ClassVar[str] = "sweep"

    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help=(
                "A shipped experiment (qsnet/ping), an experiment file, or the machine of"
                " --one-at-a-time."
            ),
            autocompletion=completion.files,
        ),
        Role.INPUT,
    ]
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=VALUES",
            autocompletion=completion.keys,
            help="A key and its values, or several by `;` that go together; may be repeated.",
        ),
    ] = None
    one_at_a_time: Annotated[
        bool,
        typer.Option(
            "--one-at-a-time",
            help="Change each uncertain parameter of a machine, and compare the claims.",
        ),
    ] = False
    claims: Claims = None
    sample: Annotated[
        tuple[Method, int] | None,
        typer.Option(
            "--sample", metavar="lhs N", help="A Latin hypercube of N combinations.  [default: all]"
        ),
    ] = None
    machine: MachineFiles = None
    set_: Set = None
    seed: Seed = FIRST_SEED
    out: Out = OUT
    format_: ResultsAs = OutputFormat.TABLE
    engine: Campaign = field(default_factory=Campaign)
    selection: Selection = field(default_factory=Selection)
    pictures: Pictures = field(default_factory=Pictures)

    def execute(self) -> None:
        """Run the combinations, and print their results."""
        from elanite.cli import output
        from elanite.errors import UsageError
        from elanite.inputs import sources
        from elanite.library import sweeps as library
        from elanite.store import Store
        from elanite.study import limits, ranges, sweeps

        if self.one_at_a_time:
            allowed = ("experiment", "one_at_a_time", "claims", "seed", "out", "format_", "jobs")
            self.refuse("--one-at-a-time", *allowed, "dry_run")
            self._study()
            return
        if self.claims or not self.vary:
            missing = (
                "--vary KEY=VALUES" if not self.vary else "--one-at-a-time, if it has --claims"
            )
            raise UsageError(
                f"a sweep needs {missing}\n  elanite sweep MACHINE --one-at-a-time compares claims"
            )
        output.refuse_terminal(self.format_)
        groups = [ranges.linked_keys("--vary", text) for text in self.vary]
        keys = [key for group in groups for key in group]
        machines = [sources.read("machine", name) for name in self.machine or []]
        drawn = (self.sample[0].value, self.sample[1]) if self.sample else None
        experiment = sources.read("experiment", self.experiment)
        plans = sweeps.planned(experiment, machines, self.set_ or [], groups, drawn, self.seed)
        printed = self.selection.read()
        plans = tuple(printed.plan(each) for each in plans)
        self.pictures.prepare(dry=self.engine.dry_run)
        warn(sweeps.without_effect(plans, keys))
        limited = limits.of_work(plans)
        warn(limited)
        store = Store(self.out / "store")
        say("1 combination" if len(plans) == 1 else f"{len(plans)} combinations")
        outcome = self.engine.run(plans, store, self.out)
        stop_if_interrupted(outcome, self.again())
        found = library.Sweep(tuple(each.key for each in keys), plans, store)
        if self.format_ is OutputFormat.JSON:
            points = [
                output.point(result, point, printed)
                for result in found.results
                for point in result.points
            ]
            data(json.dumps(points, indent=1))
        else:
            output.results(found.whole, self.format_, printed)
        idle = limits.without_results(found.whole)
        warn(idle)
        if found.points:
            from elanite.report.pages import files

            page = self.pictures.page(self.out, plans[0].experiment.name)
            inputs = files.of_plan(
                found.whole.plan, self.words(Role.RESULT), self.verb, self.written(html=page)
            )
            self.pictures.draw(found.whole, self.again(), inputs, page, [*limited, *idle])
        finish(outcome, self.again(), self.out)

    def _study(self) -> None:
        """Change one machine parameter at a time, and print the claims' changes."""
        from elanite.base import host
        from elanite.cli import forecast, output, sensitivity
        from elanite.cli.progress import observer
        from elanite.store import Store
        from elanite.study import sensitivity as studies
        from elanite.study.basis import study

        output.refuse_terminal(self.format_)
        chosen = study(self.experiment, sensitivity.chosen_names(self.claims), self.seed)
        store, jobs = Store(self.out / "store"), self.engine.jobs
        if self.engine.dry_run:
            names = (studies.override(each, step) for each, step in studies.steps(chosen))
            changes = {name: [name] for name in names}
            forecast.study(chosen, changes, store, jobs or host.processors())
            return
        place = None if self.out == OUT else str(self.out)
        outcome, changed = studies.run(chosen, store, jobs, observer(), place)
        stop_if_interrupted(outcome, self.again())
        if changed:
            found = studies.effects(chosen, changed, store)
            studies.write(chosen, found, self.out)
            if self.format_ is OutputFormat.TABLE:
                sensitivity.show(chosen, found)
            elif self.format_ is OutputFormat.JSON:
                data(json.dumps(found.to_dicts(), indent=1, ensure_ascii=False))
            else:
                output.rows(found, self.format_)
        finish(outcome, self.again(), self.out)
