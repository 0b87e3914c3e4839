"""Studies of the claims about a machine: one parameter changed at a time, or all fitted ones
together.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.cli import completion
from elanite.cli.common import OUT, OutputFormat, Role, console, data, say, table
from elanite.cli.results import finish, stop_if_interrupted

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from elanite.study.basis import Study
    from elanite.study.refit import RefitResult as Refitted

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


def one_at_a_time(
    machine: str,
    claims: list[str] | None,
    out: Path,
    jobs: int | None,
    seed: int,
    format_: OutputFormat,
    again: list[str],
    *,
    dry: bool = False,
) -> None:
    """Change one machine parameter at a time, and print the claim changes; ``again`` is the command
    line.

    A ``dry`` run prints the points and their cost.
    """
    from elanite.base import host
    from elanite.cli import forecast, output
    from elanite.cli.progress import observer
    from elanite.store import Store
    from elanite.study import sensitivity
    from elanite.study.basis import study

    output.refuse_terminal(format_)
    chosen = study(machine, chosen_names(claims), seed)
    store = Store(out / "store")
    if dry:
        names = {
            sensitivity.override(each, step): [sensitivity.override(each, step)]
            for each, step in sensitivity.steps(chosen)
        }
        forecast.study(chosen, names, store, jobs or host.processors())
        return
    outcome, changed = sensitivity.run(
        chosen, store, jobs, observer(), None if out == OUT else str(out)
    )
    stop_if_interrupted(outcome, again)
    if changed:
        found = sensitivity.effects(chosen, changed, store)
        sensitivity.write(chosen, found, out)
        if format_ is OutputFormat.TABLE:
            _print(chosen, found)
        elif format_ is OutputFormat.JSON:
            data(json.dumps(found.to_dicts(), indent=1, ensure_ascii=False))
        else:
            output.rows(found, format_)
    finish(outcome, again, out)


def fitted_to_claims(
    machine: str,
    claims: list[str] | None,
    out: Path,
    jobs: int | None,
    seed: int,
    most: int | None,
    *,
    dry: bool = False,
) -> None:
    """Fit all of a machine's fitted parameters together to its fitted claims, and print values and
    verdicts.

    A ``dry`` run prints the parameters and the cost of a set of values.
    """
    from elanite.cli import forecast
    from elanite.store import Store
    from elanite.study.basis import study
    from elanite.study.refit import refit

    chosen = study(machine, chosen_names(claims), seed)
    if dry:
        forecast.refit(chosen, Store(out / "store"), most)
        return
    say(f"{len(chosen.claims)} claims; every set of values needs a simulation")
    _print_refit(refit(chosen, Store(out / "store"), jobs, most))


def chosen_names(names: list[str] | None) -> list[str]:
    """The names in an option that takes several, separated by commas."""
    return [name.strip() for text in names or [] for name in text.split(",") if name.strip()]


def _print(study: Study, found: pl.DataFrame) -> None:
    """A line for each claim: its figure, and the parameters that change the claim most; then the
    conclusions.
    """
    import polars as pl

    from elanite.base.text import number, percent
    from elanite.study.changes import LEAST, SIGN, read, resolved
    from elanite.study.vary import uncertain_parameters

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


def _print_refit(found: Refitted) -> None:
    from elanite.validation import cells

    screen = console()
    values = table(("parameter", "before", "after"), right=("before", "after"))
    for each in found.values:
        values.add_row(each.key, each.before, each.after)
    screen.print(values)
    board = table(
        ("claim", "role", "published", "before", "", "after", ""), right=("before", "after")
    )
    for before, after in found.verdicts:
        fitted = "fitted here" if before.claim.id in found.taken else before.role
        number = before.error is not None  # findings have long texts
        figures = [
            words
            for each in (before, after)
            for words in (cells.simulated(each) if number else "", each.state)
        ]
        board.add_row(before.claim.id, fitted, cells.published(before.claim), *figures)
    screen.print(board)
    screen.print(
        f"error of the {len(found.taken)} claims, root mean square in tolerances:"
        f" {found.before:.2f} before, {found.after:.2f} after; {found.machines} sets of values"
    )
    if found.stay:
        screen.print(f"did not take part: {', '.join(found.stay)}", style="dim", markup=False)
