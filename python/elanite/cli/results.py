"""The commands that simulate or show what was simulated: reproduce, run, claims, report."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli import completion
from elanite.cli.common import (
    OUT,
    AfterQuick,
    BoardFormat,
    Decide,
    Format,
    Html,
    MachineFiles,
    Metrics,
    Nodes,
    Open,
    Out,
    PointId,
    Quick,
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
from elanite.cli.request import Group, Request
from elanite.errors import ConfigError
from elanite.inputs.plan import FIRST_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from elanite.campaign import Failure, Outcome, Spent
    from elanite.cli.output import Chosen
    from elanite.errors import UsageError
    from elanite.inputs.plan import Plan
    from elanite.inputs.sources import Source
    from elanite.library.api import Result
    from elanite.report.pages import Inputs
    from elanite.study.limits import Limit


Experiment = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="A shipped experiment (qsnet/ping) or an experiment file.",
        autocompletion=completion.experiments,
    ),
    Role.INPUT,
]
ResultsAs = Annotated[Format, typer.Option("--format", "-f", help="How to print the results."), Role.OUTPUT]


@dataclass(frozen=True, kw_only=True)
class Selection(Group):
    """The results that are run and printed."""

    series: SeriesNames = None
    where: Where = None
    metric: Metrics = None

    def read(self) -> Chosen:
        """The selection, read. Raises ``UsageError`` for a ``--where`` without its sign."""
        from elanite.cli import output

        return output.Chosen.of(self.metric or (), self.series or (), self.where or ())


@dataclass(frozen=True, kw_only=True)
class Pictures(Group):
    """The page and the picture of an experiment's results."""

    html: Html = None
    svg: Svg = None
    open_: Open = False

    def prepare(self) -> None:
        """Check that the files can be written. Raises ``ElaniteError``."""
        from elanite.base import host, whole

        for wanted in filter(None, (self.html, self.svg)):
            whole.prepare(wanted)
        if self.svg is not None:
            host.require_drawing("--svg")

    def page(self, out: Path, name: str) -> Path | None:
        """The file of the page, if there is to be one."""
        return self.html or (out / "report" / f"{name}.html" if self.open_ else None)

    def draw(
        self, result: Result, command: Sequence[str], inputs: Inputs, page: Path | None, limited: Sequence[Limit]
    ) -> None:
        """Write the figures of an experiment as a page and as a picture; ``command`` is the command line that ran.

        ``limited`` are the limits of the plan and its results.
        """
        from elanite.base import whole
        from elanite.figures.missing import missing
        from elanite.figures.style import still
        from elanite.report import pages
        from elanite.report.pages import experiment

        if page or self.svg:
            for empty in missing(result.plan, result.store, [figure.name for figure in result.figures()]):
                complain(f"warning: {empty}")
        if page:
            pages.write(page, experiment.page(result.plan, result.store, command, inputs, limited))
            say(f"page: {page}")
            if self.open_:
                opened(page)
        if self.svg:
            import io

            text = io.StringIO()
            still(experiment.pictures(result.plan, result.store)).save(text, format="svg")
            whole.write(self.svg, text.getvalue())
            say(f"picture: {self.svg}")


@dataclass(frozen=True, kw_only=True)
class Reproduce(Request):
    """Run the shipped experiments; write report and scoreboard.

    \b
    Examples:
      elanite reproduce --quick      all papers in a few minutes, wider intervals
      elanite reproduce --decide     all verdicts in a quarter of the time
      elanite reproduce --dry-run    the cost of a whole run
      elanite reproduce
      elanite reproduce --only qsnet/ping,qsnet/uniform --out results
      elanite reproduce --only qsnet --jobs 4

    Cheap experiments that decide claims come first, and the report is written again while the others run. The command
    uses finished points again; an interrupted run goes on from the point where it stopped, and leaves a report.

    --quick shortens windows, takes one seed, and leaves out what no claim needs. A claim whose points were shortened
    holds or is missed only if its whole interval says so; otherwise the claim is not resolved.

    --decide begins as --quick. If that does not resolve a claim, the points on which the claim hangs get four runs with
    other seeds. Both intervals of a claim cover its figure together with 95%, so that the number of looks does not
    matter. The verdict of the last look is as in a whole run: a mean within the bounds holds.
    """

    verb: ClassVar[str] = "reproduce"

    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAMES", help="Experiments or folders of them, separated by commas."),
    ] = None
    quick: Quick = False
    decide: Decide = False
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print points and expected processor time; simulate nothing."),
        Role.ONCE,
    ] = False
    out: Out = OUT
    seed: Seed = FIRST_SEED
    engine: Campaign = field(default_factory=Campaign)
    open_: Open = False

    def execute(self) -> None:
        """Run the experiments, and write the report."""
        from elanite.cli import output
        from elanite.errors import UsageError
        from elanite.inputs import sources
        from elanite.report.index import Writer
        from elanite.report.reproduction import Reproduction, budget, looks_at, parts
        from elanite.store import Store
        from elanite.study import limits
        from elanite.validation.scoreboard import failed

        if self.decide and self.engine.shard:
            raise UsageError("--decide needs the verdicts on all points, and --shard simulates a part of them")
        names = sources.select_experiments(self.only)
        store = Store(self.out / "store")
        short = self.quick or self.decide
        chosen = parts(names, store, self.seed, quick=short)
        if not chosen:
            raise nothing_quick(names)
        left = [name for name in names if name not in {part.name for part in chosen}]
        if self.only and left:
            say(f"warning: --quick leaves out experiments that decide no claim: {', '.join(left)}; run without --quick")
        if self.dry_run:
            from elanite import campaign

            later = budget(names, store, self.seed) if self.decide else None
            output.costs(chosen, campaign.cores() if self.engine.jobs is None else self.engine.jobs, later)
            return
        plans = [part.plan for part in chosen]
        if len(plans) == 1:
            warn(limits.of_work(plans))
        elif brief := limits.in_brief(plans):
            say(brief)
        told = Told(len(chosen))
        work = Reproduction(Writer(self.out, store, self.seed, quick=short, asked=names), told.first)

        def simulate(plans: list[Plan], ended: Callable[[Plan, Spent], None]) -> Outcome:
            return self.engine.run(plans, store, self.out, ended)

        outcome = work.run(
            plans, simulate, told.ended, looks_at(names, store, self.seed, told.look) if self.decide else ()
        )
        outcome.interrupted = work.interrupted
        if not outcome.interrupted:
            ran = [verdict for verdict in work.verdicts if verdict.claim.experiment in names]
            output.scoreboard(ran or work.verdicts, BoardFormat.TABLE)
        if short:
            from elanite.validation.quick import NOTE

            say(NOTE)
        say(f"report: {work.page}\nscoreboard: {self.out / 'scoreboard.json'}")
        if self.open_ and work.page:
            opened(work.page)
        stop_if_interrupted(outcome, self.again())
        finish(outcome, self.again(), self.out, 1 if failed(work.verdicts) else 0)


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
      elanite run comparison/generations \\
        --machine es40-qsnet --machine my-machine.toml

    table shows means with 95% confidence intervals; several machines stand side by side, with ratios to the first one.
    json gives one object per point with its parameters, results, packets, events, cpu_seconds, peak_memory_bytes and
    digest. csv and parquet give tidy rows, one per point, metric and batch.
    """

    verb: ClassVar[str] = "run"

    experiment: Experiment
    machine: MachineFiles = None
    set_: Set = None
    nodes: Nodes = None
    seed: Seed = FIRST_SEED
    out: Out = OUT
    format_: ResultsAs = Format.TABLE
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
        machines = [sources.read("machine", name) for name in self.machine or []]
        source = sources.read("experiment", self.experiment)
        changes = [*(self.set_ or []), *grown(source, machines, self.nodes)]
        planned = plan(source, machines, changes, self.seed)
        for idle in without_effect(planned):
            why = f"{self.experiment} has this value, or nothing in it uses the key"
            say(f"warning: --set {idle} changes no point: {why}")
        chosen = self.selection.read()
        planned = chosen.plan(planned)
        self.pictures.prepare()
        if self.point is not None:
            if "" in self.point:
                raise UsageError(
                    "--point is empty; give the first digits of an identity, or leave out --point to run all"
                )
            planned = planned.only(self.point)
            if not planned.points:
                raise UsageError(f"{self.experiment} has no point whose identity starts with {' or '.join(self.point)}")
        limited = limits.of_work([planned])
        warn(limited)
        result = Result(planned, Store(self.out / "store"))
        outcome = self.engine.run([planned], result.store, self.out)
        stop_if_interrupted(outcome, self.again())
        output.results(result, self.format_, chosen)
        say_builds(result.store)
        without = limits.without_results(result)
        warn(without)
        if result.points:
            from elanite.report.pages import files

            page = self.pictures.page(self.out, planned.experiment.name)
            inputs = files.of_plan(planned, self.words(Role.RESULT), self.verb, self.written(html=page))
            self.pictures.draw(result, self.again(), inputs, page, [*limited, *without])
        finish(outcome, self.again(), self.out)


@dataclass(frozen=True, kw_only=True)
class Claims(Request):
    """Print the scoreboard: published and simulated figures.

    \b
    Examples:
      elanite claims
      elanite claims --missed
      elanite claims --only ping,uniform.64
      elanite claims --format json | jq '.[] | select(.holds == false)'
      elanite claims --format json | \\
        jq 'group_by(.role, .state)[] | [.[0].role, .[0].state, length]'

    The role of a claim is predicted, fitted, inference (the authors concluded the claim and did not run it) or
    inconsistent (figures of the same paper refute the claim; proof says how). Predicted claims have the rank value,
    order, bound, consequence (of a fitted figure), verification (of an implementation) or repeat (of another claim);
    the headline counts values and orders whose verdict a removed mechanism turns. The table has the claims that are
    simulated, and those without results only if --only names them; json and markdown have all claims. In json, low and
    high are the ends of the 95% confidence interval of the simulated figure; error is simulated/published - 1; holds is
    null for a claim without results, for a claim whose intervals are too wide to judge (the state is "not resolved", or
    "source too vague" if the paper states no bound), and for an inconsistent one. The command simulates nothing: use
    `elanite reproduce` before, and --quick after `elanite reproduce --quick`.
    """

    verb: ClassVar[str] = "claims"

    format_: Annotated[
        BoardFormat, typer.Option("--format", "-f", help="How to print the scoreboard."), Role.OUTPUT
    ] = BoardFormat.TABLE
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAMES", help="Claims by the first parts of their names, separated by commas."),
    ] = None
    missed: Annotated[bool, typer.Option("--missed", help="Only claims that are missed or not resolved.")] = False
    quick: AfterQuick = False
    out: Out = OUT
    seed: Seed = FIRST_SEED

    def execute(self) -> None:
        """Print the scoreboard of finished points."""
        from elanite.cli import output
        from elanite.errors import UsageError
        from elanite.store import Store
        from elanite.validation.scoreboard import failed
        from elanite.validation.scoreboard import verdicts as judged_of

        if not self.out.is_dir() and self.out != OUT:
            raise UsageError(
                f"there is no folder {self.out}; name the folder that was given to `elanite reproduce --out`"
            )
        store = Store(self.out / "store")
        verdicts = output.named(judged_of(store, self.seed, quick=self.quick), self.only)
        say_builds(store)
        judged = any(verdict.judged for verdict in verdicts)
        if self.missed:
            verdicts = [verdict for verdict in verdicts if verdict.judged and verdict.holds is not True]
        output.scoreboard(verdicts, self.format_, store.builds(), absent=bool(self.only) and not self.missed)
        if not judged:
            say(f"nothing is simulated in {self.out} for these claims; run: elanite reproduce")
        if failed(verdicts):
            raise typer.Exit(1)


@dataclass(frozen=True, kw_only=True)
class Report(Request):
    """Write the report, or pages of experiments, again.

    \b
    Examples:
      elanite report --out results
      elanite report my-experiment.toml --machine my-machine.toml --open
    """

    verb: ClassVar[str] = "report"

    experiment: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Experiment files or shipped ones, for a page each.  [default: the report of all papers]",
            autocompletion=completion.experiments,
        ),
        Role.INPUT,
    ] = None
    machine: MachineFiles = None
    set_: Set = None
    quick: AfterQuick = False
    out: Out = OUT
    seed: Seed = FIRST_SEED
    open_: Open = False

    def execute(self) -> None:
        """Write the pages from finished points."""
        from elanite.errors import UsageError
        from elanite.inputs import sources
        from elanite.inputs.plan import plan
        from elanite.report import pages
        from elanite.report.index import write
        from elanite.report.pages import experiment as own
        from elanite.report.pages import files
        from elanite.results import frames
        from elanite.store import Store

        if not (self.out / "store").is_dir():
            raise UsageError(
                f"there are no results in {self.out}; run: elanite reproduce --out {shlex.quote(str(self.out))}"
            )
        store = Store(self.out / "store")
        if not self.experiment:
            if self.machine or self.set_:
                raise UsageError("--machine and --set need an experiment: elanite report EXPERIMENT --machine ...")
            page, _ = write(self.out, store, self.seed, quick=self.quick)
            say_builds(store)
            say(f"report: {page}\nscoreboard: {self.out / 'scoreboard.json'}")
            if self.open_:
                opened(page)
            return
        machines = [sources.read("machine", name) for name in self.machine or []]
        plans = [
            plan(sources.read("experiment", name), machines, self.set_ or [], self.seed) for name in self.experiment
        ]
        found = [each for each in plans if frames.finished(each, store)]
        if not found:
            commands = "\n".join(f"  {one.command(out=str(self.out))}" for one in plans)
            raise UsageError(f"none of the points is finished in {self.out}; run:\n{commands}")
        for each in found:
            page = self.out / "report" / f"{each.experiment.name.replace('/', '-')}.html"
            command = shlex.split(each.command(out=None if self.out == OUT else str(self.out)))
            options = self.words(Role.RESULT)
            pages.write(page, own.page(each, store, command, files.of_plan(each, options)))
            say(f"report: {page}")
            if self.open_:
                opened(page)
        say_builds(store)


def grown(experiment: Source, machines: Sequence[Source], nodes: int | None) -> list[str]:
    """The overrides that give a machine so many nodes."""
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
        raise UsageError("--nodes needs one machine; machines of different sizes are different files")
    return tree_of(chosen[0], nodes)


def without_effect(planned: Plan) -> list[str]:
    """The overrides that change nothing: without them, the points are the same."""
    from elanite.inputs.plan import plan

    found = []
    for change in planned.overrides:
        # The engine and the bounds decide whether and how fast a point ends; names and titles are for people.
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


class Told:
    """Says which experiments have finished, and where the report is once there is one."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._ended = 0

    def ended(self, plan: Plan, spent: Spent) -> None:
        """An experiment has finished."""
        from elanite.cli.progress import took

        self._ended += 1
        what = took(spent) if spent.points else "already done"
        say(f"[{self._ended}/{self._total}] {plan.experiment.name}: {what}")

    def look(self, number: int, plans: Sequence[Plan]) -> None:
        """Another look begins."""
        from elanite.base.text import counted

        self._total, self._ended = len(plans), 0
        say(f"look {number}: {counted(sum(len(plan.points) for plan in plans), 'point')} of open claims")

    def first(self, page: Path) -> None:
        """The first report was written, and experiments are still to come."""
        say(f"the first report is there, and is written again as experiments finish: {page}")


def nothing_quick(names: Sequence[str]) -> UsageError:
    """Nothing is left to do."""
    from elanite.errors import UsageError

    return UsageError(f"--quick leaves out experiments that decide no claim: {', '.join(names)}; run without --quick")


def stop_if_interrupted(outcome: Outcome, words: Sequence[str]) -> None:
    """Leave after an interrupt, with the command that resumes."""
    if outcome.interrupted:
        done = outcome.reused + outcome.simulated
        say(f"interrupted; {done} of {outcome.total} points are kept. To resume: {shlex.join(words)}")
        raise typer.Exit(130)


def finish(outcome: Outcome, words: Sequence[str], out: Path, code: int = 0) -> None:
    """Say what failed and how to repeat the command, and leave if something failed."""
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
"""Different failures that are told on the terminal."""


def failed_points(failures: Sequence[Failure], out: Path) -> None:
    """Tell failures in a screenful, and write them in full to a file.

    Points of one series that fail for the same reason are told once.
    """
    from elanite.base import whole
    from elanite.base.text import brief, counted

    alike: dict[tuple[str, str, str], list[Failure]] = {}
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
