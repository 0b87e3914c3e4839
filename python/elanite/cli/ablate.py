"""The command that removes model mechanisms."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.base.seeds import FIRST_SEED
from elanite.cli.common import (
    OUT,
    DryRun,
    Jobs,
    Out,
    OutputFormat,
    Role,
    Seed,
    console,
    data,
    table,
)
from elanite.cli.request import Request
from elanite.cli.results import finish, stop_if_interrupted
from elanite.cli.sensitivity import Claims, MachineName, chosen_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.validation.ablation_verdicts import Ablation

Mechanisms = Annotated[
    list[str] | None,
    typer.Option(
        "--mechanisms",
        metavar="NAMES",
        help="Mechanisms to remove, separated by commas; by default all.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Ablate(Request):
    """Remove one mechanism at a time, and judge the claims.

    \b
    Examples:
      elanite ablate opteron-qsnet2
      elanite ablate es40-qsnet --claims permutation,hotspot.32 \\
        --mechanisms circuits,ages
      elanite ablate smart-multirail --format csv > verdicts.csv

    Mechanisms are circuits, the second virtual channel, time slices and others
    (data/mechanisms.toml). Runs are those of `elanite sweep MACHINE --one-at-a-time`: shorter than
    in the experiments, with the same seed on both sides. csv, parquet and json give one row for
    each claim and mechanism; the mechanism `none` is the unchanged machine. The command reuses
    finished points; an interrupted study resumes at the point where it stopped.
    """

    verb: ClassVar[str] = "ablate"

    machine: MachineName
    claims: Claims = None
    mechanisms: Mechanisms = None
    out: Out = OUT
    jobs: Jobs = None
    seed: Seed = FIRST_SEED
    dry_run: DryRun = False
    format_: Annotated[
        OutputFormat, typer.Option("--format", "-f", help="How to print the verdicts."), Role.OUTPUT
    ] = OutputFormat.TABLE

    def execute(self) -> None:
        """Run the command."""
        from elanite.base import host
        from elanite.cli import forecast, output
        from elanite.cli.progress import observer
        from elanite.store import Store
        from elanite.study import ablation
        from elanite.study.basis import study

        output.refuse_terminal(self.format_)
        wanted = ablation.chosen(self.machine, chosen_names(self.mechanisms))
        chosen = study(self.machine, chosen_names(self.claims), self.seed)
        store = Store(self.out / "store")
        if self.dry_run:
            changes = {f"without {each.name}": each.changes for each in wanted}
            forecast.study(chosen, changes, store, self.jobs or host.processors())
            return
        place = None if self.out == OUT else str(self.out)
        outcome, rows = ablation.run(chosen, wanted, store, self.jobs, observer(), place)
        stop_if_interrupted(outcome, self.again())
        if self.format_ is OutputFormat.TABLE:
            _print(rows)
        elif self.format_ is OutputFormat.JSON:
            data(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
        else:
            output.rows(ablation.frame(rows), self.format_)
        finish(outcome, self.again(), self.out)


def _print(rows: Sequence[Ablation]) -> None:
    """A line for each claim: its verdict, the mechanisms whose removal turns it, and the figures
    without them.
    """
    from elanite.validation.ablation_verdicts import WHOLE, turning

    screen = console()
    board = table(("claim", "unchanged", "", "turns without"))
    for claim in dict.fromkeys(row.claim for row in rows):
        here = [row for row in rows if row.claim == claim]
        whole = next(row for row in here if row.mechanism == WHOLE)
        turns = turning(here)
        words = [f"{row.mechanism} ({row.figure})" for row in here if row.mechanism in turns]
        board.add_row(claim, whole.figure, whole.verdict, "; ".join(words))
    screen.print(board)
