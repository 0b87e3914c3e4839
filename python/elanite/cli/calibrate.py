"""The command calibrate: fit machine parameters to measured values."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.base.seeds import FIRST_SEED
from elanite.cli import completion, fits
from elanite.cli.common import (
    OUT,
    DryRun,
    Html,
    MachineFile,
    Open,
    Out,
    Role,
    Seed,
    Set,
    TableFormat,
    data,
    opened,
    say,
    warn,
)
from elanite.cli.engine import Simulators
from elanite.cli.request import Request
from elanite.cli.sensitivity import Claims, chosen_names

if TYPE_CHECKING:
    from elanite.inputs.experiment import Experiment
    from elanite.study.fit import Calibration


CLAIMS = Path("claims")
"""The value of ``--to`` that stands for the published claims about a machine."""


@dataclass(frozen=True, kw_only=True)
class Calibrate(Request):
    """Fit parameters of a machine to measured values.

    \b
    Examples:
      elanite calibrate qsnet/ping --fit 'bus.rate=150 MB/s..400 MB/s' \\
        --to measured.csv
      elanite calibrate qsnet/ping my-load.toml --to measured.csv \\
        --machine my-cluster.toml --fit 'bus.rate=150 MB/s..400 MB/s' \\
        --fit 'adapter.dma_start=0.2 us..2 us log' \\
        --machine-out fitted.toml --html fit.html
      elanite calibrate opteron-qsnet2 --to claims

    The file of measured values has the columns of `elanite run EXPERIMENT --format csv` that
    identify a point, such as series, message or load, and the columns metric, value and, if known,
    sigma, the standard error, else 1% of the value. Or it is the output of OSU, IMB, NCCL-tests or
    perftest, whose sizes belong to points with such messages. Only the points of the file are
    simulated. The result is the values with their standard errors and 95% intervals, and the errors
    before and after. The machine file names the measured values as the source of the fitted
    parameters.

    A parameter that the measured values do not determine keeps its value: one without effect, at
    the end of its range, or one of several that compensate each other. The machine file then has
    the other values, the parameter's source notes it, and the exit code is 2. The command reuses
    finished points; an interrupted calibration resumes at the point where it stopped.

    With --to claims, the argument is a shipped machine, and all of its fitted parameters are fitted
    together to all of its fitted claims, or to those of --claims. The search is least squares of
    SciPy (pip install scipy), on the short runs of `elanite sweep MACHINE --one-at-a-time`. The
    command shows the values, and all claims before and after; predicted claims are not fitted. It
    changes no file: adopt a value by writing it into the machine file.
    """

    verb: ClassVar[str] = "calibrate"

    experiments: Annotated[
        list[str],
        typer.Argument(
            metavar="EXPERIMENT",
            help="Experiments; or, with --to claims, a machine.",
            autocompletion=completion.experiments,
        ),
        Role.INPUT,
    ]
    fit: Annotated[
        list[str] | None,
        typer.Option(
            "--fit",
            metavar="KEY=LOW..HIGH",
            autocompletion=completion.keys,
            help="A parameter of the machine and its range; may be repeated.",
        ),
    ] = None
    claims: Claims = None
    to: Annotated[
        Path,
        typer.Option(
            "--to",
            metavar="FILE",
            help="The measured values: CSV, or a benchmark's output; or the word claims.",
        ),
        Role.INPUT,
    ]
    machine: MachineFile = None
    machine_out: Annotated[
        Path | None,
        typer.Option(
            "--machine-out", metavar="FILE", help="Write the machine with the fitted values."
        ),
        Role.OUTPUT,
    ] = None
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            min=1,
            metavar="N",
            help="Limit of value sets that the search tries.  [default: until it ends]",
        ),
    ] = None
    set_: Set = None
    seed: Seed = FIRST_SEED
    out: Out = OUT
    format_: Annotated[
        TableFormat, typer.Option("--format", "-f", help="How to print the result."), Role.OUTPUT
    ] = TableFormat.TABLE
    engine: Simulators = field(default_factory=Simulators)
    dry_run: DryRun = False
    html: Html = None
    open_: Open = False

    def execute(self) -> None:
        """Run the command."""
        from elanite.base import whole
        from elanite.campaign.cost import CostModel
        from elanite.cli import forecast
        from elanite.errors import UsageError
        from elanite.inputs.experiment import Experiment
        from elanite.inputs.machine import Machine
        from elanite.inputs.overrides import of_experiment
        from elanite.inputs.plan import plan
        from elanite.study import limits, ranges
        from elanite.study.calibration import calibrate as search
        from elanite.study.calibration import foreseen

        if self.to == CLAIMS:
            self.refuse(
                "--to claims",
                *("experiments", "to", "claims", "trials", "seed", "out", "jobs", "dry_run"),
            )
            self._fit_to_claims()
            return
        if self.claims or not self.fit:
            missing = "--fit KEY=LOW..HIGH" if not self.fit else "--to claims, if it has --claims"
            raise UsageError(f"a calibration needs {missing}")
        self._check_machine_out()
        page = self.html or (self.out / "report" / "calibration.html" if self.open_ else None)
        if self.machine_out is not None:
            whole.prepare(self.machine_out, dry=self.dry_run)
        if page is not None:
            from elanite.figures import vega

            vega.prepare(page, dry=self.dry_run)
        words = self.again()
        own = [each for each in self.set_ or [] if of_experiment(each)]
        loaded = [Experiment.load(name, own) for name in self.experiments]
        names = {str(each.machine) for each in loaded}
        others = [each for each in self.set_ or [] if each not in own]
        base = (
            Machine.load(self.machine or names.pop(), others)
            if self.machine or len(names) == 1
            else None
        )
        keys = [ranges.read("--fit", text) for text in self.fit]
        if base:
            plans = [
                plan(each.file, [base.file], [*each.overrides, *base.overrides], self.seed)
                for each in loaded
            ]
            warn(limits.of_work(plans, {key.key for key in keys}))
        if self.dry_run:
            ready = foreseen(
                loaded,
                keys,
                self.to,
                base,
                seed=self.seed,
                out=self.out,
                note=lambda words: say(f"note: {words}"),
            )
            forecast.calibration(
                ready.machine,
                ready.keys,
                ready.points(),
                len(ready.targets),
                self.trials,
                CostModel.learn(ready.store),
            )
            return
        try:
            with self.engine.opened(self.out) as engine:
                found = search(
                    loaded,
                    keys,
                    self.to,
                    base,
                    trials=self.trials,
                    seed=self.seed,
                    jobs=engine.workers,
                    threads=self.engine.threads,
                    out=self.out,
                    name=self.machine_out.stem if self.machine_out else None,
                    progress=lambda count, error: say(
                        f"{count} sets of values, error {error:.2f} sigma"
                    ),
                    executor=engine.executor,
                    note=lambda words: say(f"note: {words}"),
                )
        except KeyboardInterrupt:
            say(f"interrupted; finished points are kept. To resume: {shlex.join(words)}")
            raise typer.Exit(130) from None
        if self.machine_out:
            whole.write(self.machine_out, found.text)
            say(f"machine: {self.machine_out}")
        if self.format_ is TableFormat.JSON:
            data(json.dumps(fits.as_data(found), indent=1, ensure_ascii=False))
        else:
            fits.show(found)
        if page:
            self._write(found, loaded, page)
            if self.open_:
                opened(page)
        say(f"reproduce: {shlex.join(words)}")
        if found.undetermined:
            raise fits.undetermined(found, self.machine_out)

    def _fit_to_claims(self) -> None:
        """Fit all fitted parameters of a machine together to its fitted claims."""
        from elanite.cli import forecast
        from elanite.errors import UsageError
        from elanite.store import Store
        from elanite.study.basis import study
        from elanite.study.refit import refit

        if len(self.experiments) > 1:
            raise UsageError(f"--to claims takes one machine, not {', '.join(self.experiments)}")
        chosen = study(self.experiments[0], chosen_names(self.claims), self.seed)
        store = Store(self.out / "store")
        if self.dry_run:
            forecast.refit(chosen, store, self.trials)
            return
        say(f"{len(chosen.claims)} claims; every set of values needs a simulation")
        fits.show_refit(refit(chosen, store, self.engine.jobs, self.trials))

    def _check_machine_out(self) -> None:
        """Raise ``UsageError`` if the machine cannot be written, or if its file is one that is
        read.
        """
        from elanite.errors import UsageError

        if self.machine_out and (not self.machine_out.parent.is_dir() or self.machine_out.is_dir()):
            raise UsageError(
                f"--machine-out {self.machine_out}: this file cannot be written\n  name a file in"
                " an existing folder"
            )
        if (
            self.machine_out
            and self.machine_out.exists()
            and self.machine_out.resolve()
            in {Path(p).resolve() for p in (self.machine or self.to, self.to)}
        ):
            raise UsageError(
                f"--machine-out {self.machine_out}: this file is read, too\n  name another file"
            )

    def _write(self, found: Calibration, experiments: list[Experiment], page: Path) -> None:
        """Write the page, with the experiments, the machine and the measured values inside."""
        from elanite.report import pages
        from elanite.report.pages import calibration, files

        kept = files.CommandFiles()
        read = {
            "experiments": [kept.source(each.file) for each in experiments],
            "to": kept.path(self.to),
        }
        read["machine"] = kept.source(found.base.file)
        fitted = None
        if self.machine_out:
            name = files.tame(self.machine_out.name)
            fitted = Path(f"fitted-{name}" if name in kept.contents else name)
        again = ["elanite", self.verb, *self.words(Role.INPUT, Role.RESULT, **read)]
        inputs = kept.inputs([*again, *self.written(html=page, machine_out=fitted)])
        pages.write(page, calibration.page(found, self.again(), inputs))
        say(f"page: {page}")
