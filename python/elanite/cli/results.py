"""The commands that simulate or show what was simulated: reproduce, run, claims, report."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.cli.common import (
    OUT,
    BoardFormat,
    Executor,
    Format,
    Jobs,
    MachineFiles,
    MaxCost,
    Out,
    PointId,
    Scheduler,
    Seed,
    Set,
    Shard,
    Workers,
    say,
)
from elanite.cli.engine import campaign_on, words_of
from elanite.plan import FIRST_SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.campaign import Outcome


def reproduce(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAMES", help="Experiments or folders of them, separated by commas."),
    ] = None,
    out: Out = OUT,
    jobs: Jobs = None,
    seed: Seed = FIRST_SEED,
    executor: Executor = "threads",
    scheduler: Scheduler = None,
    workers: Workers = None,
    shard: Shard = None,
    max_cost: MaxCost = None,
) -> None:
    """Run the shipped experiments; write report and scoreboard.

    \b
    Examples:
      elanite reproduce
      elanite reproduce --only qsnet/ping,qsnet/uniform --out results
      elanite reproduce --only qsnet --jobs 4

    The command uses finished points again; an interrupted run goes on from the point where it stopped.
    """
    from elanite import sources
    from elanite.claims import failed
    from elanite.cli import output
    from elanite.plan import plan
    from elanite.report import prepare, write
    from elanite.store import Store

    names = sources.select_experiments(only or [])
    plans = [plan(sources.read("experiment", name), seed=seed) for name in names]
    store = Store(out / "store")
    shown = None if out == OUT else str(out)
    prepare(out)
    outcome = campaign_on(plans, store, jobs, shown, executor, scheduler, workers, shard, max_cost)
    words = ["elanite", "reproduce"]
    words += ["--only", ",".join(only)] if only else []
    words += ["--out", str(out)] if shown else []
    words += ["--jobs", str(jobs)] if jobs else []
    words += ["--seed", str(seed)] if seed != FIRST_SEED else []
    words += words_of(executor, scheduler, workers, shard, max_cost)
    stop_if_interrupted(outcome, words)
    page, verdicts = write(out, store, seed)
    output.scoreboard(verdicts, BoardFormat.TABLE, brief=True)
    say(f"report: {page}\nscoreboard: {out / 'scoreboard.json'}")
    finish(outcome, words, 1 if failed(verdicts) else 0)


def run(
    experiment: Annotated[
        str,
        typer.Argument(metavar="EXPERIMENT", help="A shipped experiment (qsnet/ping) or an experiment file."),
    ],
    machine: MachineFiles = None,
    set_: Set = None,
    seed: Seed = FIRST_SEED,
    jobs: Jobs = None,
    out: Out = OUT,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to print the results.")] = Format.TABLE,
    point: PointId = None,
    executor: Executor = "threads",
    scheduler: Scheduler = None,
    workers: Workers = None,
    shard: Shard = None,
    max_cost: MaxCost = None,
) -> None:
    """Run one experiment and print its results.

    \b
    Examples:
      elanite run qsnet/ping
      elanite run qsnet/uniform --set run.seeds=1 --format csv > uniform.csv
      elanite run my-experiment.toml --machine my-machine.toml --format json
      elanite run qsnet/ping --set switch.circuit=wormhole
      elanite run comparison/generations --machine es40-qsnet --machine my-machine.toml

    table shows means with 95% confidence intervals; several machines stand side by side, with ratios to the first one.
    json gives one object per point with its parameters, results, packets, events, cpu_seconds, peak_memory_bytes and
    digest. csv and parquet give tidy rows, one per point, metric and batch.
    """
    from elanite import sources
    from elanite.api import Result
    from elanite.cli import output
    from elanite.errors import UsageError
    from elanite.plan import plan
    from elanite.store import Store

    output.refuse_terminal(format_)
    chosen = [sources.read("machine", name) for name in machine or []]
    planned = plan(sources.read("experiment", experiment), chosen, set_ or [], seed)
    if point:
        planned = planned.only(point)
        if not planned.points:
            raise UsageError(f"{experiment} has no point whose identity starts with {' or '.join(point)}")
    result = Result(planned, Store(out / "store"))
    shown = None if out == OUT else str(out)
    outcome = campaign_on([planned], result.store, jobs, shown, executor, scheduler, workers, shard, max_cost)
    words = shlex.split(planned.command(out=shown))
    for prefix in point or []:
        words += ["--point", prefix]
    words += ["--jobs", str(jobs)] if jobs else []
    words += words_of(executor, scheduler, workers, shard, max_cost)
    words += ["--format", format_.value] if format_ != Format.TABLE else []
    stop_if_interrupted(outcome, words)
    output.results(result, format_)
    finish(outcome, words)


def claims(
    format_: Annotated[
        BoardFormat, typer.Option("--format", "-f", help="How to print the scoreboard.")
    ] = BoardFormat.TABLE,
    out: Out = OUT,
    seed: Seed = FIRST_SEED,
) -> None:
    """Print the scoreboard: published and simulated figures.

    \b
    Examples:
      elanite claims
      elanite claims --format json | jq '.[] | select(.holds == false)'
      elanite claims --format json | jq 'group_by(.role, .state)[] | [.[0].role, .[0].state, length]'

    The role of a claim is predicted, fitted, inference (the authors concluded the claim and did not run it) or
    inconsistent (figures of the same paper refute the claim; proof says how). In json, low and high are the ends of the
    95% confidence interval of the simulated figure; error is simulated/published - 1; holds is null for a claim without
    results, for a claim whose intervals are too wide to judge (the state is "not resolved", or "source too vague" if
    the paper states no bound), and for an inconsistent one. The command simulates nothing: use `elanite reproduce`
    before.
    """
    from elanite.claims import failed, scoreboard
    from elanite.cli import output

    verdicts = scoreboard(out, seed)
    output.scoreboard(verdicts, format_)
    if not any(verdict.judged for verdict in verdicts):
        say(f"nothing is simulated in {out}; run: elanite reproduce")
    if failed(verdicts):
        raise typer.Exit(1)


def report(out: Out = OUT, seed: Seed = FIRST_SEED) -> None:
    """Write the report again, from finished points.

    \b
    Example:
      elanite report --out results
    """
    from elanite.errors import UsageError
    from elanite.report import write
    from elanite.store import Store

    if not (out / "store").is_dir():
        raise UsageError(f"there are no results in {out}; run: elanite reproduce --out {shlex.quote(str(out))}")
    page, _ = write(out, Store(out / "store"), seed)
    say(f"report: {page}\nscoreboard: {out / 'scoreboard.json'}")


def stop_if_interrupted(outcome: Outcome, words: Sequence[str]) -> None:
    """Leave after an interrupt, with the command that resumes."""
    if outcome.interrupted:
        done = outcome.reused + outcome.simulated
        say(f"interrupted; {done} of {outcome.total} points are kept. To resume: {shlex.join(words)}")
        raise typer.Exit(130)


def finish(outcome: Outcome, words: Sequence[str], code: int = 0) -> None:
    """Say what failed and how to repeat the command, and leave if something failed."""
    if outcome.discarded:
        say(f"{outcome.discarded} damaged points of the store were simulated again")
    if outcome.failures:
        say(f"{len(outcome.failures)} of {outcome.total} points failed:")
        for failure in outcome.failures:
            say(f"  {failure.command}\n    {failure.message}")
    say(f"reproduce: {shlex.join(words)}")
    code = max(code, outcome.exit_code)
    if code:
        raise typer.Exit(code)
