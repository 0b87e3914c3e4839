"""The command calibrate: fit parameters of a machine to measured values."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.cli.common import (
    OUT,
    Executor,
    Html,
    Jobs,
    MachineFile,
    Open,
    Out,
    Scheduler,
    Seed,
    Set,
    TableFormat,
    Tls,
    Workers,
    complain,
    console,
    data,
    opened,
    say,
    table,
    warn,
)
from elanite.cli.engine import words_of
from elanite.cli.results import words_of_keys, words_of_run
from elanite.inputs.plan import FIRST_SEED, plan

if TYPE_CHECKING:
    from elanite.errors import UsageError
    from elanite.inputs.experiment import Experiment
    from elanite.study.calibration import Calibration


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
        typer.Option(
            "--trials",
            min=1,
            metavar="N",
            help="Sets of values that the search tries at most.  [default: until it ends]",
        ),
    ] = None,
    set_: Set = None,
    seed: Seed = FIRST_SEED,
    jobs: Jobs = None,
    out: Out = OUT,
    format_: Annotated[
        TableFormat, typer.Option("--format", "-f", help="How to print the result.")
    ] = TableFormat.TABLE,
    executor: Executor = "threads",
    scheduler: Scheduler = None,
    tls: Tls = None,
    workers: Workers = None,
    html: Html = None,
    open_: Open = False,
) -> None:
    """Fit parameters of a machine to measured values.

    \b
    Examples:
      elanite calibrate qsnet/ping --fit 'bus.rate=150 MB/s..400 MB/s' --to measured.csv
      elanite calibrate qsnet/ping my-load.toml --machine my-cluster.toml --to measured.csv \\
        --fit 'bus.rate=150 MB/s..400 MB/s' --fit 'adapter.dma_start=0.2 us..2 us log' \\
        --machine-out fitted.toml --html fit.html

    The file of measured values has the columns of `elanite run EXPERIMENT --format csv` that identify a point, such as
    series, message or load, and the columns metric, value and, if known, sigma, the standard error, else 1% of the
    value. Only these points are simulated. The result is the values with their standard errors and 95% intervals, and
    the errors before and after. The machine file names the measured values as the source of the fitted parameters.

    A parameter that the measured values do not determine keeps its value: one without effect, one at the end of its
    range, one of several that make up for each other. The machine file then has the other values, the source of the
    parameter says so, and the exit code is 2. The command uses finished points again; an interrupted calibration goes
    on from the point where it stopped.
    """
    from elanite.base import whole
    from elanite.campaign import engines
    from elanite.errors import UsageError
    from elanite.inputs.experiment import Experiment
    from elanite.inputs.machine import Machine
    from elanite.inputs.overrides import of_experiment
    from elanite.study import limits, ranges
    from elanite.study.calibration import calibrate as search

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
    page = html or (out / "report" / "calibration.html" if open_ else None)
    for wanted in filter(None, (machine_out, page)):
        whole.prepare(wanted)
    words = ["elanite", "calibrate", *experiments]
    for each in fit:
        words += ["--fit", each]
    words += ["--to", str(to)] + (["--machine", machine] if machine else [])
    words += ["--machine-out", str(machine_out)] if machine_out else []
    words += ["--html", str(html)] if html else []
    words += ["--trials", str(trials)] if trials else []
    words += words_of_keys(set_, None, seed, None) + words_of_run(jobs, out)
    words += words_of(executor, scheduler, tls, workers, None, None)
    words += ["--format", format_.value] if format_ != TableFormat.TABLE else []
    own = [each for each in set_ or [] if of_experiment(each)]
    loaded = [Experiment.load(name, own) for name in experiments]
    names = {str(each.machine) for each in loaded}
    others = [each for each in set_ or [] if each not in own]
    base = Machine.load(machine or names.pop(), others) if machine or len(names) == 1 else None
    keys = [ranges.read("--fit", text) for text in fit]
    if base:
        plans = [plan(each.file, [base.file], [*each.overrides, *base.overrides], seed) for each in loaded]
        warn(limits.of_work(plans, {key.key for key in keys}))
    try:
        asked = jobs if executor == "threads" else workers
        with engines.opened(executor, asked, scheduler, tls, out, complain) as engine:
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
    if format_ is TableFormat.JSON:
        data(json.dumps(_json(found), indent=1, ensure_ascii=False))
    else:
        _print(found)
    if page:
        from elanite.report.pages import files

        written = files.outputs(html=page, format=None if format_ is TableFormat.TABLE else format_.value)
        _paged(found, loaded, (to, machine_out), words, page, written)
        if open_:
            opened(page)
    say(f"reproduce: {shlex.join(words)}")
    if found.undetermined:
        raise undetermined(found, machine_out)


def _paged(
    found: Calibration,
    experiments: list[Experiment],
    measured: tuple[Path, Path | None],
    words: list[str],
    page: Path,
    written: list[str],
) -> None:
    """Write the page, with the experiments, the machine and the measured values inside.

    ``measured`` are the file of measured values and that of the machine with the fitted ones. ``written`` are the
    options of the page and the format.
    """
    to, machine_out = measured
    from elanite.report import pages
    from elanite.report.pages import calibration, files

    kept = files.Files()
    again = ["elanite", "calibrate", *(kept.source(each.file) for each in experiments)]
    again += ["--to", kept.path(to), "--machine", kept.source(found.base.file)]
    # The rest as it was given, without the files.
    options = words[2 + len(experiments) :]
    for option, value in zip(options, [*options[1:], ""], strict=True):
        if option in ("--fit", "--set", "--seed", "--trials"):
            again += [option, value]
    if machine_out:
        name = files.tame(machine_out.name)
        again += ["--machine-out", f"fitted-{name}" if name in kept.contents else name]
    inputs = kept.inputs([*again, *written])
    pages.write(page, calibration.page(found, words, inputs))
    say(f"page: {page}")


def _json(found: Calibration) -> dict[str, object]:
    return {
        "values": [asdict(each) for each in found.values],
        "correlation": found.correlation,
        "groups": [asdict(each) for each in found.groups],
        "before": found.before,
        "after": found.after,
        "best": found.best,
        "misfit": found.misfit or None,
        "places": [asdict(each) for each in found.places],
        "trials": found.trials,
        "sets": found.sets,
        "ended": found.ended,
    }


def _print(found: Calibration) -> None:
    from elanite.base.text import micro, percent

    screen = console()
    headings = ("parameter", "before", "after", "standard error", "95% interval")
    values = table(headings, right=headings[1:])
    for each in found.values:
        error = f"{each.error:.1%}" if each.determined else "not determined"
        values.add_row(each.key, micro(each.before), micro(each.supported), error, micro(each.interval))
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
        f"error, root mean square in sigmas: {found.before:.2f} before, {found.after:.2f} after"
        + (f", {found.best:.2f} with undetermined values" if found.best < found.after else "")
        + f"; {found.sets} sets of values, {found.trials} of them in the search"
    )
    for one, other, share in found.alike:
        text = (
            f"{one} and {other} can hardly be told apart (correlation {share:.3f}); keep one of them, or measure more"
        )
        screen.print(text, style="yellow", markup=False)
    if found.misfit:
        screen.print(found.misfit, style="yellow", markup=False)
    if not found.ended:
        screen.print(
            f"the search used its {found.trials} sets of values before it ended; allow more: --trials",
            style="yellow",
            markup=False,
        )


def undetermined(found: Calibration, machine_out: Path | None) -> UsageError:
    """The error that names the parameters that keep their values, with a remedy."""
    from elanite.errors import UsageError

    names = " or ".join(each.key for each in found.undetermined)
    reasons = [f"  {found.misfit}"] if found.misfit else []
    reasons += [f"  {each.key} keeps {each.before}: {each.reason}" for each in found.undetermined]
    others = len(found.undetermined) < len(found.values)
    where = f"{machine_out} has the other values; " if machine_out and others else ""
    remedy = f"  {where}leave out --fit of such a parameter, widen its range, or measure more"
    return UsageError("\n".join([f"the measured values do not determine {names}", *reasons, remedy]))
