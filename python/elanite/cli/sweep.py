"""The command sweep: many values of a few keys."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from elanite.cli.common import (
    OUT,
    Executor,
    Format,
    Html,
    Jobs,
    MachineFiles,
    MaxCost,
    Metrics,
    Open,
    Out,
    Scheduler,
    Seed,
    SeriesNames,
    Set,
    Shard,
    Svg,
    Tls,
    Where,
    Workers,
    data,
    say,
    warn,
)
from elanite.cli.engine import campaign_on, words_of
from elanite.cli.results import finish, pictures, stop_if_interrupted, words_of_choice, words_of_keys, words_of_run
from elanite.inputs.plan import FIRST_SEED


class Method(StrEnum):
    """How samples are drawn."""

    LHS = "lhs"


def sweep(
    experiment: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="A shipped experiment (qsnet/ping) or an experiment file.")
    ],
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="KEY=VALUES", help="A key and its values, a list or a range; may be repeated."),
    ],
    sample: Annotated[
        tuple[Method, int] | None,
        typer.Option("--sample", metavar="lhs N", help="A Latin hypercube of N combinations.  [default: all]"),
    ] = None,
    machine: MachineFiles = None,
    set_: Set = None,
    seed: Seed = FIRST_SEED,
    jobs: Jobs = None,
    out: Out = OUT,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to print the results.")] = Format.TABLE,
    executor: Executor = "threads",
    scheduler: Scheduler = None,
    tls: Tls = None,
    workers: Workers = None,
    shard: Shard = None,
    max_cost: MaxCost = None,
    metric: Metrics = None,
    series: SeriesNames = None,
    where: Where = None,
    html: Html = None,
    svg: Svg = None,
    open_: Open = False,
) -> None:
    """Run one experiment with many values of a few keys.

    \b
    Examples:
      elanite sweep qsnet/ping --vary 'link.hop_delay=35 ns,55 ns' --vary switch.tokens=true,false
      elanite sweep qsnet/ping --vary 'bus.rate=150 MB/s..400 MB/s in 6' --html bus.html --open
      elanite sweep my.toml --vary 'bus.rate=150 MB/s..400 MB/s' --vary 'tport.big=1 KB..64 KB log' --sample lhs 500

    Keys are those of --set. Values are a list, a,b,c, or a range, low..high; "in 6" asks for six values of the range,
    the ends included, and "log" for equal ratios. Without --sample, the command runs all combinations. The varied keys
    are columns of the results, which are printed as those of `elanite run`, and curves or an axis of the figures. The
    command checks all combinations before it simulates the first one, and uses finished points again.
    """
    from elanite.base import whole
    from elanite.cli import output
    from elanite.inputs import sources
    from elanite.library.sweeps import Sweep
    from elanite.store import Store
    from elanite.study import limits, ranges, sweeps

    output.refuse_terminal(format_)
    keys = [ranges.read("--vary", text) for text in vary]
    chosen = [sources.read("machine", name) for name in machine or []]
    drawn = (sample[0].value, sample[1]) if sample else None
    plans = sweeps.planned(sources.read("experiment", experiment), chosen, set_ or [], keys, drawn, seed)
    printed = output.Chosen.of(metric or (), series or (), where or ())
    plans = tuple(printed.plan(each) for each in plans)
    for wanted in filter(None, (html, svg)):
        whole.prepare(wanted)
    warn(sweeps.without_effect(plans, keys))
    limited = limits.of_work(plans)
    warn(limited)
    store = Store(out / "store")
    shown = None if out == OUT else str(out)
    say("1 combination" if len(plans) == 1 else f"{len(plans)} combinations")
    outcome = campaign_on(plans, store, jobs, shown, executor, scheduler, tls, workers, shard, max_cost)
    words = ["elanite", "sweep", experiment]
    for each in vary:
        words += ["--vary", each]
    words += ["--sample", drawn[0], str(drawn[1])] if drawn else []
    for name in machine or []:
        words += ["--machine", name]
    words += words_of_choice(series, where, metric, html, svg)
    words += words_of_keys(set_, None, seed, None) + words_of_run(jobs, out)
    words += words_of(executor, scheduler, tls, workers, shard, max_cost)
    words += ["--format", format_.value] if format_ != Format.TABLE else []
    stop_if_interrupted(outcome, words)
    found = Sweep(tuple(each.key for each in keys), plans, store)
    if format_ is Format.JSON:
        points = [output.point(result, point, printed) for result in found.results for point in result.points]
        data(json.dumps(points, indent=1))
    else:
        output.results(found.whole, format_, printed)
    idle = limits.without_results(found.whole)
    warn(idle)
    if found.points:
        from elanite.report.pages import files

        page = html or (out / "report" / f"{plans[0].experiment.name}.html" if open_ else None)
        options = [word for each in vary for word in ("--vary", each)]
        options += ["--sample", drawn[0], str(drawn[1])] if drawn else []
        options += words_of_choice(series, where, metric, None, None) + words_of_keys(set_, None, seed, None)
        written = files.outputs(html=page, svg=svg, format=None if format_ is Format.TABLE else format_.value)
        inputs = files.of_plan(found.whole.plan, options, "sweep", written)
        pictures(found.whole, words, inputs, page, svg, open_, [*limited, *idle])
    finish(outcome, words, out)
