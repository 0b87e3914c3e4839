"""The commands that try many values: sweep and calibrate."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.cli.common import (
    OUT,
    Executor,
    Format,
    Html,
    Jobs,
    MachineFile,
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
    Where,
    Workers,
    console,
    data,
    say,
    table,
)
from elanite.cli.engine import campaign_on, words_of
from elanite.cli.results import finish, pictures, stop_if_interrupted, words_of_choice, words_of_keys
from elanite.plan import FIRST_SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.calibration import Calibration


class Shape(StrEnum):
    """How a calibration is printed."""

    TABLE = "table"
    JSON = "json"


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
    from elanite import ranges, sources, sweeps, whole
    from elanite.cli import output
    from elanite.store import Store

    output.refuse_terminal(format_)
    keys = [ranges.read("--vary", text) for text in vary]
    chosen = [sources.read("machine", name) for name in machine or []]
    drawn = (sample[0].value, sample[1]) if sample else None
    plans = sweeps.planned(sources.read("experiment", experiment), chosen, set_ or [], keys, drawn, seed)
    printed = output.Chosen.of(metric or (), series or (), where or ())
    plans = tuple(printed.plan(each) for each in plans)
    for wanted in filter(None, (html, svg)):
        whole.prepare(wanted)
    store = Store(out / "store")
    shown = None if out == OUT else str(out)
    say("1 combination" if len(plans) == 1 else f"{len(plans)} combinations")
    outcome = campaign_on(plans, store, jobs, shown, executor, scheduler, workers, shard, max_cost)
    words = ["elanite", "sweep", experiment]
    for each in vary:
        words += ["--vary", each]
    words += ["--sample", drawn[0], str(drawn[1])] if drawn else []
    for name in machine or []:
        words += ["--machine", name]
    words += words_of_choice(series, where, metric, html, svg)
    words += _options(set_, seed, jobs, out) + words_of(executor, scheduler, workers, shard, max_cost)
    words += ["--format", format_.value] if format_ != Format.TABLE else []
    stop_if_interrupted(outcome, words)
    found = sweeps.Sweep(tuple(each.key for each in keys), plans, store)
    if format_ is Format.JSON:
        points = [output.point(result, point, printed) for result in found.results for point in result.points]
        data(json.dumps(points, indent=1))
    else:
        output.results(found.whole, format_, printed)
    if found.points:
        from elanite.pages import files

        page = html or (out / "report" / f"{plans[0].experiment.name}.html" if open_ else None)
        options = [word for each in vary for word in ("--vary", each)]
        options += ["--sample", drawn[0], str(drawn[1])] if drawn else []
        options += words_of_choice(series, where, metric, None, None) + words_of_keys(set_, None, seed, None)
        pictures(found.whole, words, files.of_plan(found.whole.plan, options, "sweep"), page, svg, open_)
    finish(outcome, words, out)


def calibrate(
    experiments: Annotated[
        list[str], typer.Argument(metavar="EXPERIMENT", help="Shipped experiments or experiment files.")
    ],
    fit: Annotated[
        list[str],
        typer.Option(
            "--fit", metavar="KEY=LOW..HIGH", help="A parameter of the machine and its range; may be repeated."
        ),
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="The measured values, a CSV file.")],
    machine: MachineFile = None,
    machine_out: Annotated[
        Path | None, typer.Option("--machine-out", metavar="FILE", help="Write the machine with the fitted values.")
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", min=1, metavar="N", help="Sets of values at most.  [default: until the search ends]"),
    ] = None,
    set_: Set = None,
    seed: Seed = FIRST_SEED,
    jobs: Jobs = None,
    out: Out = OUT,
    format_: Annotated[Shape, typer.Option("--format", "-f", help="How to print the result.")] = Shape.TABLE,
    executor: Executor = "threads",
    scheduler: Scheduler = None,
    workers: Workers = None,
) -> None:
    """Fit parameters of a machine to measured values.

    \b
    Examples:
      elanite calibrate qsnet/ping --fit 'bus.rate=150 MB/s..400 MB/s' --to measured.csv
      elanite calibrate qsnet/ping my-load.toml --machine my-cluster.toml --to measured.csv \\
        --fit 'bus.rate=150 MB/s..400 MB/s' --fit 'adapter.dma_start=0.2 us..2 us log' --machine-out fitted.toml

    The file of measured values has the columns of `elanite run EXPERIMENT --format csv` that identify a point, such as
    series, message or load, and the columns metric, value and, if known, sigma, the standard error. Only these points
    are simulated. The result is the values with their standard errors, the errors before and after, and what the
    measured values cannot tell. The machine file names the measured values as the source of the fitted parameters. The
    command uses finished points again; an interrupted calibration goes on from the point where it stopped.
    """
    from elanite import engines, ranges, whole
    from elanite.api import Experiment, Machine
    from elanite.calibration import calibrate as search
    from elanite.errors import UsageError
    from elanite.overrides import of_experiment

    if machine_out and (not machine_out.parent.is_dir() or machine_out.is_dir()):
        raise UsageError(
            f"--machine-out {machine_out}: this file cannot be written\n  name a file in an existing folder"
        )
    if (
        machine_out
        and machine_out.exists()
        and machine_out.resolve() in {Path(p).resolve() for p in (machine or to, to)}
    ):
        raise UsageError(f"--machine-out {machine_out}: this file is read, too\n  name another file")
    if machine_out:
        whole.prepare(machine_out)
    words = ["elanite", "calibrate", *experiments]
    for each in fit:
        words += ["--fit", each]
    words += ["--to", str(to)] + (["--machine", machine] if machine else [])
    words += ["--machine-out", str(machine_out)] if machine_out else []
    words += ["--trials", str(trials)] if trials else []
    words += _options(set_, seed, jobs, out) + words_of(executor, scheduler, workers, None, None)
    words += ["--format", format_.value] if format_ != Shape.TABLE else []
    own = [each for each in set_ or [] if of_experiment(each)]
    loaded = [Experiment.load(name, own) for name in experiments]
    names = {str(each.machine) for each in loaded}
    others = [each for each in set_ or [] if each not in own]
    base = Machine.load(machine or names.pop(), others) if machine or len(names) == 1 else None
    keys = [ranges.read("--fit", text) for text in fit]
    try:
        with engines.opened(executor, jobs if executor == "threads" else workers, scheduler, out) as engine:
            found = search(
                loaded,
                keys,
                to,
                base,
                trials=trials,
                seed=seed,
                jobs=engine.workers,
                out=out,
                name=machine_out.stem if machine_out else None,
                progress=lambda count, error: say(f"{count} sets of values, error {error:.2f} sigma"),
                executor=engine.executor,
            )
    except KeyboardInterrupt:
        say(f"interrupted; finished points are kept. To resume: {shlex.join(words)}")
        raise typer.Exit(130) from None
    if machine_out:
        whole.write(machine_out, found.text)
        say(f"machine: {machine_out}")
    if format_ is Shape.JSON:
        data(json.dumps(_json(found), indent=1, ensure_ascii=False))
    else:
        _print(found)
    say(f"reproduce: {shlex.join(words)}")


def _options(set_: Sequence[str] | None, seed: int, jobs: int | None, out: Path) -> list[str]:
    words: list[str] = []
    for each in set_ or []:
        words += ["--set", each]
    words += ["--seed", str(seed)] if seed != FIRST_SEED else []
    words += ["--jobs", str(jobs)] if jobs else []
    return words + ([] if out == OUT else ["--out", str(out)])


def _json(found: Calibration) -> dict[str, object]:
    return {
        "values": [asdict(each) for each in found.values],
        "correlation": found.correlation,
        "groups": [asdict(each) for each in found.groups],
        "before": found.before,
        "after": found.after,
        "trials": found.trials,
        "ended": found.ended,
    }


def _print(found: Calibration) -> None:
    from elanite.text import percent

    screen = console()
    values = table(("parameter", "before", "after", "standard error"), right=("before", "after", "standard error"))
    for each in found.values:
        values.add_row(each.key, each.before, each.after, f"{each.error:.1%}")
    screen.print(values)
    groups = table(
        ("experiment", "series", "metric", "values", "error before", "after", "worst"),
        right=("values", "error before", "after", "worst"),
    )
    for group in found.groups:
        errors = (f"{group.before:.1%}", f"{group.after:.1%}", percent(group.worst))
        groups.add_row(group.experiment, group.series, group.metric, str(group.count), *errors)
    screen.print(groups)
    screen.print(
        f"error, root mean square in sigmas: {found.before:.2f} before, {found.after:.2f} after;"
        f" {found.trials} sets of values"
    )
    for each in found.values:
        if not each.determined:
            screen.print(
                f"{each.key}: the measured values do not determine this parameter", style="yellow", markup=False
            )
        elif each.at_end:
            screen.print(f"{each.key}: the value is an end of its range; widen the range", style="yellow", markup=False)
    for one, other, share in found.alike:
        text = (
            f"{one} and {other} can hardly be told apart (correlation {share:.3f}); keep one of them, or measure more"
        )
        screen.print(text, style="yellow", markup=False)
    if not found.ended:
        screen.print("the search used all trials before it ended; allow more: --trials", style="yellow", markup=False)
