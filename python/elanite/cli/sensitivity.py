"""Studies of the claims about a machine: one parameter changed at a time, or one mechanism
removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from elanite.cli import completion
from elanite.cli.common import Role, console, table

if TYPE_CHECKING:
    import polars as pl

    from elanite.study.basis import Study

MOST_NAMED = 4
"""Most parameters that a table line names."""

MachineName = Annotated[
    str,
    typer.Argument(
        metavar="MACHINE", help="A shipped machine.", autocompletion=completion.machines
    ),
    Role.INPUT,
]
Claims = Annotated[
    list[str] | None,
    typer.Option(
        "--claims",
        metavar="NAMES",
        autocompletion=completion.claims,
        help="Claims, or the first parts of their names, separated by commas.",
    ),
]


def chosen_names(names: list[str] | None) -> list[str]:
    """The names in an option that takes several, separated by commas."""
    return [name.strip() for text in names or [] for name in text.split(",") if name.strip()]


def show(study: Study, found: pl.DataFrame) -> None:
    """Print a line for each claim, with the parameters that change it most; then the
    conclusions.
    """
    import polars as pl

    from elanite.base.text import number, percent
    from elanite.study.changes import LEAST, SIGN, read, resolved
    from elanite.study.variation import uncertain_parameters

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
        "are no numbers": [
            each.key
            for each in uncertain_parameters(study.machine)
            if each.key not in set(found["parameter"])
        ],
    }
    for name, words in lines.items():
        if words:
            screen.print(f"{name}: {', '.join(words)}", style="dim", markup=False)
