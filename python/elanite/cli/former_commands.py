"""The last release's commands: each warns, and runs the command that has taken over."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from elanite.base.seeds import FIRST_SEED
from elanite.cli.calibrate import CLAIMS, Calibrate
from elanite.cli.common import OUT, Jobs, Out, OutputFormat, Role, Seed, complain
from elanite.cli.engine import Campaign, Simulators
from elanite.cli.request import Request
from elanite.cli.sensitivity import Claims, MachineName
from elanite.cli.sweep import Sweep


@dataclass(frozen=True, kw_only=True)
class ClaimRequest(Request):
    """The options of both: a machine, and claims about it."""

    former: ClassVar[bool] = True

    machine: MachineName
    claims: Claims = None
    out: Out = OUT
    jobs: Jobs = None
    seed: Seed = FIRST_SEED


@dataclass(frozen=True, kw_only=True)
class Sensitivity(ClaimRequest):
    """Former name of `elanite sweep MACHINE --one-at-a-time`.

    \b
    Example:
      elanite sensitivity es40-qsnet
    """

    verb: ClassVar[str] = "sensitivity"

    format_: Annotated[
        OutputFormat, typer.Option("--format", "-f", help="How to print the changes."), Role.OUTPUT
    ] = OutputFormat.TABLE

    def execute(self) -> None:
        """Warn, and sweep."""
        sweep = Sweep(
            experiment=self.machine,
            one_at_a_time=True,
            claims=self.claims,
            seed=self.seed,
            out=self.out,
            format_=self.format_,
            engine=Campaign(jobs=self.jobs),
        )
        _warn(self, sweep)
        sweep.execute()


@dataclass(frozen=True, kw_only=True)
class Refit(ClaimRequest):
    """Former name of `elanite calibrate MACHINE --to claims`.

    \b
    Example:
      elanite refit opteron-qsnet2
    """

    verb: ClassVar[str] = "refit"

    most: Annotated[
        int | None,
        typer.Option(
            "--most",
            min=1,
            metavar="N",
            help="Steps of the search at most.  [default: until it ends]",
        ),
    ] = None

    def execute(self) -> None:
        """Warn, and calibrate."""
        calibrate = Calibrate(
            experiments=[self.machine],
            to=CLAIMS,
            claims=self.claims,
            trials=self.most,
            seed=self.seed,
            out=self.out,
            engine=Simulators(jobs=self.jobs),
        )
        _warn(self, calibrate)
        calibrate.execute()


def _warn(old: Request, new: Request) -> None:
    complain(
        f"warning: the next release has no `elanite {old.verb}`; use: {shlex.join(new.again())}"
    )
