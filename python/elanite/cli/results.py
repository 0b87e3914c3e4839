"""The command ``run``, and the options and final lines that all simulating commands share."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.base.seeds import FIRST_SEED
from elanite.cli import completion
from elanite.cli.common import (
    OUT,
    Html,
    MachineFile,
    MachineFiles,
    Metrics,
    Nodes,
    Open,
    Out,
    OutputFormat,
    PointId,
    Role,
    Seed,
    SeriesNames,
    Set,
    Svg,
    Where,
    complain,
    opened,
    say,
    say_builds,
    warn,
)
from elanite.cli.engine import Campaign
from elanite.cli.request import OptionGroup, Request
from elanite.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.campaign import CampaignOutcome, PointFailure
    from elanite.cli.output import ResultFilter
    from elanite.inputs.plan import Plan
    from elanite.inputs.sources import Source
    from elanite.library.api import Result
    from elanite.report.pages import Inputs
    from elanite.study.limits import Limit


Experiment = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="A shipped experiment (qsnet/ping), an experiment file, or - for standard input.",
        autocompletion=completion.experiments,
    ),
    Role.INPUT,
]
ResultsAs = Annotated[
    OutputFormat, typer.Option("--format", "-f", help="How to print the results."), Role.OUTPUT
]
TableName = Annotated[
    str,
    typer.Option(
        "--table",
        metavar="NAME",
        autocompletion=completion.tables,
        help=(
            "The table that is printed: rows (measured values), flows, shares, links, nodes,"
            " faults, ..."
        ),
    ),
    Role.OUTPUT,
]


@dataclass(frozen=True, kw_only=True)
class Selection(OptionGroup):
    """The results that are run and printed."""

    series: SeriesNames = None
    where: Where = None
    metric: Metrics = None

    def read(self) -> ResultFilter:
        """The selection, read. Raises ``UsageError`` for a ``--where`` without its sign."""
        from elanite.cli import output

        return output.ResultFilter.of(self.metric or (), self.series or (), self.where or ())


@dataclass(frozen=True, kw_only=True)
class FinishedPoints(OptionGroup):
    """Finished points that are read, and the output form."""

    machine: MachineFile = None
    set_: Set = None
    seed: Seed = FIRST_SEED
    out: Out = OUT
    format_: ResultsAs = OutputFormat.TABLE
    point: PointId = None

    def read(self, experiment: str) -> Result:
        """An experiment's finished points.

        Raises ``UsageError`` without any, with the command to run.
        """
        from elanite.errors import UsageError
        from elanite.inputs import sources
        from elanite.inputs.plan import plan
        from elanite.library.api import Result
        from elanite.store import Store

        chosen = [sources.read("machine", self.machine)] if self.machine else []
        planned = plan(sources.read("experiment", experiment), chosen, self.set_ or [], self.seed)
        result = Result(
            planned.only(self.point) if self.point else planned, Store(self.out / "store")
        )
        if not result.points:
            which = f" whose identity starts with {' or '.join(self.point)}" if self.point else ""
            command = planned.command(out=None if self.out == OUT else str(self.out))
            raise UsageError(
                f"{experiment} has no finished points{which} in {self.out}; run: {command}"
            )
        say_builds(result.store)
        return result


@dataclass(frozen=True, kw_only=True)
class Pictures(OptionGroup):
    """The page and the picture of an experiment's results."""

    html: Html = None
    svg: Svg = None
    open_: Open = False

    def prepare(self, *, dry: bool = False) -> None:
        """Check that the files can be written; a ``dry`` look makes no folders.

        Raises ``ElaniteError``.
        """
        from elanite.base import host, whole

        if self.html is not None:
            from elanite.figures import vega

            vega.prepare(self.html, dry=dry)
        if self.svg is not None:
            whole.prepare(self.svg, dry=dry)
            host.require_drawing("--svg")

    def page(self, out: Path, name: str) -> Path | None:
        """The page's file, if there is to be one."""
        return self.html or (out / "report" / f"{name}.html" if self.open_ else None)

    def draw(
        self,
        result: Result,
        command: Sequence[str],
        inputs: Inputs,
        page: Path | None,
        limited: Sequence[Limit],
    ) -> None:
        """Write an experiment's figures as a page and as a picture; ``command`` is the command line
        that ran.

        ``limited`` are the limits that hold for the plan and its results.
        """
        from elanite.base import whole
        from elanite.figures.empty_figures import missing
        from elanite.figures.style import static_picture
        from elanite.report import pages
        from elanite.report.pages import experiment

        if page or self.svg:
            for empty in missing(
                result.plan, result.store, [figure.name for figure in result.figures()]
            ):
                complain(f"warning: {empty}")
        if page:
            pages.write(page, experiment.page(result.plan, result.store, command, inputs, limited))
            say(f"page: {page}")
            if self.open_:
                opened(page)
        if self.svg:
            import io

            text = io.StringIO()
            static_picture(experiment.pictures(result.plan, result.store)).save(text, format="svg")
            whole.write(self.svg, text.getvalue())
            say(f"picture: {self.svg}")


@dataclass(frozen=True, kw_only=True)
class Run(Request):
    """Run one experiment and print its results.

    \b
    Examples:
      elanite run qsnet/ping
      elanite run qsnet/uniform --set run.seeds=1 --format csv > uniform.csv
      elanite run my-experiment.toml --machine my-machine.toml --format json
      elanite run qsnet/ping --set switch.circuit=wormhole
      elanite run qsnet/ping --series size --where message="4 KB" --metric latency
      elanite run my-experiment.toml --html my-experiment.html --open
      elanite run my-flows.toml --table flows --format csv > flows.csv
      elanite run comparison/generations \\
        --machine es40-qsnet --machine my-machine.toml

    table shows means with 95% confidence intervals; several machines stand side by side, with
    ratios to the first one. json gives one object per point with its parameters, results, packets,
    events, cpu_seconds, peak_memory_bytes and digest. csv and parquet give tidy rows, one per
    point, metric and batch.
    """

    verb: ClassVar[str] = "run"

    experiment: Experiment
    machine: MachineFiles = None
    set_: Set = None
    nodes: Nodes = None
    seed: Seed = FIRST_SEED
    out: Out = OUT
    format_: ResultsAs = OutputFormat.TABLE
    table: TableName = "rows"
    point: PointId = None
    engine: Campaign = field(default_factory=Campaign)
    selection: Selection = field(default_factory=Selection)
    pictures: Pictures = field(default_factory=Pictures)

    def execute(self) -> None:
        """Run the points, and print their results."""
        from elanite.cli import output
        from elanite.errors import UsageError
        from elanite.inputs import sources
        from elanite.inputs.plan import plan
        from elanite.library.api import Result
        from elanite.store import Store
        from elanite.study import limits

        output.refuse_terminal(self.format_)
        output.known_table(self.table)
        machines = [sources.read("machine", name) for name in self.machine or []]
        source = sources.read("experiment", self.experiment)
        changes = [*(self.set_ or []), *size_overrides(source, machines, self.nodes)]
        planned = plan(source, machines, changes, self.seed)
        for idle in without_effect(planned):
            why = f"{self.experiment} has this value, or nothing in it uses the key"
            say(f"warning: --set {idle} changes no point: {why}")
        chosen = self.selection.read()
        planned = chosen.plan(planned)
        self.pictures.prepare(dry=self.engine.dry_run)
        if self.point is not None:
            if "" in self.point:
                raise UsageError(
                    "--point is empty; give the first digits of an identity, or leave out --point"
                    " to run all"
                )
            planned = planned.only(self.point)
            if not planned.points:
                raise UsageError(
                    f"{self.experiment} has no point whose identity starts with"
                    f" {' or '.join(self.point)}"
                )
        limited = limits.of_work([planned])
        warn(limited)
        result = Result(planned, Store(self.out / "store"))
        outcome = self.engine.run([planned], result.store, self.out)
        stop_if_interrupted(outcome, self.again())
        if self.table == "rows":
            output.results(result, self.format_, chosen)
        else:
            output.of_table(result.table(self.table), self.format_, self.table)
        say_builds(result.store)
        without = limits.without_results(result)
        warn(without)
        if result.points:
            from elanite.report.pages import files

            page = self.pictures.page(self.out, planned.experiment.name)
            inputs = files.of_plan(
                planned, self.words(Role.RESULT), self.verb, self.written(html=page)
            )
            self.pictures.draw(result, self.again(), inputs, page, [*limited, *without])
        finish(outcome, self.again(), self.out)


def size_overrides(experiment: Source, machines: Sequence[Source], nodes: int | None) -> list[str]:
    """The overrides that give a machine this node count."""
    if nodes is None:
        return []
    from elanite.errors import UsageError
    from elanite.inputs.experiment import Experiment
    from elanite.inputs.plan import machine_of
    from elanite.mpirun.cluster import tree_of

    named = Experiment.of(experiment).machine
    names = [named] if isinstance(named, str) else named
    chosen = machines or [machine_of(experiment, name) for name in names]
    if len(chosen) > 1:
        raise UsageError(
            "--nodes needs one machine; machines of different sizes are different files"
        )
    return tree_of(chosen[0], nodes)


def without_effect(planned: Plan) -> list[str]:
    """The overrides without effect: without them, the points are the same."""
    from elanite.inputs.plan import plan

    found = []
    for change in planned.overrides:
        # The engine and the bounds decide whether and how fast a point ends; names and titles are
        # for people.
        if change.startswith(("fabric.", "machine.", "run.max_", "title", "source")):
            continue
        others = [other for other in planned.overrides if other is not change]
        machines = planned.machines if planned.machine_given else ()
        try:
            same = plan(planned.experiment, machines, others, planned.seed)
        except ConfigError:
            continue  # the others need it
        if [point.id for point in same.points] == [point.id for point in planned.points]:
            found.append(change)
    return found


def stop_if_interrupted(outcome: CampaignOutcome, words: Sequence[str]) -> None:
    """Leave after an interrupt, with the command that resumes."""
    if outcome.interrupted:
        done = outcome.reused + outcome.simulated
        say(
            f"interrupted; {done} of {outcome.total} points are kept. To resume:"
            f" {shlex.join(words)}"
        )
        raise typer.Exit(130)


def finish(outcome: CampaignOutcome, words: Sequence[str], out: Path, code: int = 0) -> None:
    """After failures, print them and the command that repeats the work, and leave."""
    from elanite.base.text import counted

    if outcome.damaged:
        what = counted(outcome.damaged, "damaged point")
        say(f"{what} of the store {'was' if outcome.damaged == 1 else 'were'} simulated again")
    if outcome.failures:
        complain(f"{len(outcome.failures)} of {counted(outcome.total, 'point')} failed:")
        failed_points(outcome.failures, out)
    say(f"reproduce: {shlex.join(words)}")
    code = max(code, outcome.exit_code)
    if code:
        raise typer.Exit(code)


MOST_FAILURES = 3
"""Most different failures that the terminal shows."""


def failed_points(failures: Sequence[PointFailure], out: Path) -> None:
    """Print failures in a screenful, and write them in full to a file.

    Points in one series that fail for the same reason are printed once.
    """
    from elanite.base import whole
    from elanite.base.text import brief, counted

    alike: dict[tuple[str, str, str], list[PointFailure]] = {}
    for one in failures:
        kind = one.message.split(":", 1)[0].split(" at ", 1)[0]
        alike.setdefault((one.point.experiment, one.point.series, kind), []).append(one)
    for (experiment, series, _), several in list(alike.items())[:MOST_FAILURES]:
        more = f" ({counted(len(several), 'point')} alike)" if len(several) > 1 else ""
        text = brief(several[0].message, 12).replace("\n", "\n    ")
        complain(f"  {experiment} {series}{more}\n    {text}\n    again: {several[0].command}")
    if len(alike) > MOST_FAILURES:
        complain(f"  and {counted(len(alike) - MOST_FAILURES, 'other failure')}")
    file = out / "failures.txt"
    whole.write(file, "\n".join(f"{one.command}\n{one.message}\n" for one in failures))
    complain(f"  in full: {file}")
