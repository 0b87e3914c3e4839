"""The commands that change parameters which nobody knows: sensitivity and refit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli.common import OUT, Format, Jobs, Out, Role, Seed, console, data, say, table
from elanite.cli.request import Request
from elanite.cli.results import finish, stop_if_interrupted
from elanite.inputs.plan import FIRST_SEED

if TYPE_CHECKING:
    import polars as pl

    from elanite.study.basis import Study
    from elanite.study.refit import Refit as Refitted

MOST_NAMED = 4
"""Most parameters that a line of the table names."""

MachineName = Annotated[str, typer.Argument(metavar="MACHINE", help="A shipped machine.")]
Claims = Annotated[
    list[str] | None,
    typer.Option("--claims", metavar="NAMES", help="Claims, or the first parts of their names, separated by commas."),
]


@dataclass(frozen=True, kw_only=True)
class Sensitivity(Request):
    """Change each uncertain parameter by a fifth; judge the claims.

    \b
    Examples:
      elanite sensitivity es40-qsnet
      elanite sensitivity es40-qsnet --claims permutation,hotspot.32 \\
        --format csv > changes.csv
      elanite sensitivity opteron-qsnet2 --claims qsnet2.uni

    Runs are shorter than in the experiments, and have the same seeds. Without --claims, the affordable claims of the
    machine are studied, and the report shows the heat map of this study. csv, parquet and json give one row for each
    parameter, step and claim. The command uses finished points again; an interrupted study goes on from the point
    where it stopped.
    """

    verb: ClassVar[str] = "sensitivity"

    machine: MachineName
    claims: Claims = None
    out: Out = OUT
    jobs: Jobs = None
    seed: Seed = FIRST_SEED
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to print the changes."), Role.OUTPUT] = (
        Format.TABLE
    )

    def execute(self) -> None:
        """Run the command."""
        from elanite.cli import output
        from elanite.cli.progress import observer
        from elanite.store import Store
        from elanite.study import sensitivity as changes
        from elanite.study.basis import study

        output.refuse_terminal(self.format_)
        chosen = study(self.machine, chosen_names(self.claims), self.seed)
        store = Store(self.out / "store")
        outcome, changed = changes.run(chosen, store, self.jobs, observer(), None if self.out == OUT else str(self.out))
        stop_if_interrupted(outcome, self.again())
        if changed:
            found = changes.effects(chosen, changed, store)
            changes.write(chosen, found, self.out)
            if self.format_ is Format.TABLE:
                _print(chosen, found)
            elif self.format_ is Format.JSON:
                data(json.dumps(found.to_dicts(), indent=1, ensure_ascii=False))
            else:
                output.rows(found, self.format_)
        finish(outcome, self.again(), self.out)


@dataclass(frozen=True, kw_only=True)
class Refit(Request):
    """Fit all fitted parameters to all fitted claims together.

    \b
    Examples:
      elanite refit opteron-qsnet2
      elanite refit es40-qsnet \\
        --claims ping,barrier.hardware.64,barrier.software.64

    The search is least squares of SciPy (pip install scipy), on the short runs of `elanite sensitivity`. The
    command shows the values, and all claims before and after; to predicted claims nothing is fitted. It changes no
    file: whoever adopts a value writes it into the machine file.
    """

    verb: ClassVar[str] = "refit"

    machine: MachineName
    claims: Claims = None
    out: Out = OUT
    jobs: Jobs = None
    seed: Seed = FIRST_SEED
    most: Annotated[
        int | None,
        typer.Option("--most", min=1, metavar="N", help="Steps of the search at most.  [default: until it ends]"),
    ] = None

    def execute(self) -> None:
        """Run the command."""
        from elanite.store import Store
        from elanite.study.basis import study
        from elanite.study.refit import refit as search

        chosen = study(self.machine, chosen_names(self.claims), self.seed)
        say(f"{len(chosen.claims)} claims; every set of values is simulated anew")
        _print_refit(search(chosen, Store(self.out / "store"), self.jobs, self.most))


def chosen_names(names: list[str] | None) -> list[str]:
    """The names of an option that takes several of them, separated by commas."""
    return [name.strip() for text in names or [] for name in text.split(",") if name.strip()]


def _print(study: Study, found: pl.DataFrame) -> None:
    """A line for each claim: its figure, and the parameters that change the claim most; then what follows."""
    import polars as pl

    from elanite.base.text import number, percent
    from elanite.study.sensitivity import LEAST, SIGN, read, resolved
    from elanite.study.vary import uncertain

    screen = console()
    board = table(("claim", "role", "as it is", "", "changed most by"), right=("as it is",))
    told = found.filter(resolved(), pl.col("change").abs() >= LEAST)
    for claim in study.claims:
        here = found.filter(pl.col("claim") == claim.id)
        if here.is_empty():
            continue
        first = here.row(0, named=True)
        most = told.filter(pl.col("claim") == claim.id).sort(
            pl.col("change").abs(), descending=True, maintain_order=True
        )
        names = most["parameter"].unique(maintain_order=True).to_list()[:MOST_NAMED]
        words = []
        for name in names:
            steps = most.filter(pl.col("parameter") == name).sort("step").iter_rows(named=True)
            changes = [f"{SIGN[row['step']]}: {percent(row['change'])}" for row in steps]
            words.append(f"{name} {', '.join(changes)}")
        held = {True: "holds", False: "missed", None: ""}[first["held"]]
        usual = number(first["usual"]) if first["usual"] is not None else ""
        board.add_row(claim.id, claim.role, usual, held, "; ".join(words))
    screen.print(board)
    reading = read(found)
    lines = {
        "no step turns the verdict, but of parameters fitted to the claim": reading.steady,
        "a step of another parameter turns the verdict": [
            f"{claim} ({', '.join(steps)})" for claim, steps in reading.turning.items()
        ],
        "without a verdict": reading.open,
        "change no claim": reading.idle,
        "are no numbers": [each.key for each in uncertain(study.machine) if each.key not in set(found["parameter"])],
    }
    for name, words in lines.items():
        if words:
            screen.print(f"{name}: {', '.join(words)}", style="dim", markup=False)


def _print_refit(found: Refitted) -> None:
    from elanite.validation import cells

    screen = console()
    values = table(("parameter", "before", "after"), right=("before", "after"))
    for each in found.values:
        values.add_row(each.key, each.before, each.after)
    screen.print(values)
    board = table(("claim", "role", "published", "before", "", "after", ""), right=("before", "after"))
    for before, after in found.verdicts:
        fitted = "fitted here" if before.claim.id in found.taken else before.role
        number = before.error is not None  # findings have long texts
        figures = [words for each in (before, after) for words in (cells.simulated(each) if number else "", each.state)]
        board.add_row(before.claim.id, fitted, cells.published(before.claim), *figures)
    screen.print(board)
    screen.print(
        f"error of the {len(found.taken)} claims, root mean square in tolerances: {found.before:.2f} before,"
        f" {found.after:.2f} after; {found.machines} sets of values"
    )
    if found.stay:
        screen.print(f"did not take part: {', '.join(found.stay)}", style="dim", markup=False)
