"""The commands that find things: list, explain."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli import completion
from elanite.cli.common import OUT, Out, TableFormat, console, data, machine_option
from elanite.cli.request import Request

if TYPE_CHECKING:
    from elanite.explain.meanings import StudyResult

MOST_EFFECTS = 8
"""Most shown effects per parameter or claim, for each machine."""


class Topic(StrEnum):
    """The listed topic."""

    MACHINES = "machines"
    EXPERIMENTS = "experiments"
    CLAIMS = "claims"
    PARAMETERS = "parameters"
    FIGURES = "figures"


ListedAs = Annotated[TableFormat, typer.Option("--format", "-f", help="How to print.")]


@dataclass(frozen=True, kw_only=True)
class List(Request):
    """List machines, experiments, claims, parameters or figures.

    \b
    Examples:
      elanite list                       machines, and experiments with costs
      elanite list claims --format json
      elanite list parameters
    """

    verb: ClassVar[str] = "list"

    what: Annotated[
        Topic | None,
        typer.Argument(help="The entries to list.  [default: machines and experiments]"),
    ] = None
    format_: ListedAs = TableFormat.TABLE
    out: Out = OUT

    def execute(self) -> None:
        """Run the command."""
        from elanite.explain import catalog
        from elanite.store import Store

        made = {
            Topic.MACHINES: catalog.machines,
            Topic.EXPERIMENTS: lambda: catalog.experiments(Store(self.out / "store")),
            Topic.CLAIMS: catalog.claimed,
            Topic.PARAMETERS: catalog.parameters,
            Topic.FIGURES: catalog.figures,
        }
        chosen = [self.what] if self.what else [Topic.MACHINES, Topic.EXPERIMENTS]
        if self.format_ is TableFormat.JSON:
            found = {one.value: made[one]() for one in chosen}
            data(json.dumps(found[self.what] if self.what else found, indent=1, ensure_ascii=False))
            return
        for number, one in enumerate(chosen):
            if number:
                data("")
            _listed(made[one]())


@dataclass(frozen=True, kw_only=True)
class Explain(Request):
    """Explain a key: unit, bounds, values, sources and claims.

    \b
    Examples:
      elanite explain link.hop_delay
      elanite explain link.hop_delay --machine my-cluster.toml
      elanite explain run.window
      elanite explain ping.uni.latency.0B

    For a parameter that was fitted or assumed, the command shows which claims change, and by how
    much, if the value is a fifth lower or higher; for a claim, which parameters change it. These
    are the shipped results of `elanite sweep MACHINE --one-at-a-time`.
    """

    verb: ClassVar[str] = "explain"

    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="A parameter, a key of experiment files, a claim, or a column of results.",
            autocompletion=completion.meanings,
        ),
    ]
    machine: Annotated[
        str | None,
        machine_option(
            "Bounds and value of this machine, such as your own.  [default: all shipped machines]"
        ),
    ] = None

    def execute(self) -> None:
        """Run the command."""
        from rich.padding import Padding
        from rich.text import Text

        from elanite.explain import meanings
        from elanite.inputs import sources

        meaning = meanings.explain(
            self.key, sources.read("machine", self.machine) if self.machine else None
        )
        screen = console()
        screen.print(Text(meaning.key, style="bold"))
        screen.print(Padding(Text(meaning.text or "(not described)"), (0, 0, 0, 2), expand=False))
        facts = [(f"allowed on {meaning.allowed_on}", meaning.allowed)] if meaning.allowed else []
        for name, text in [*facts, *meaning.facts]:
            screen.print(
                Padding(Text.assemble((f"{name}: ", "bold"), text), (0, 0, 0, 2), expand=False)
            )
        for moves in meaning.moves:
            screen.print(
                Padding(
                    Text.assemble((f"{moves.name}: ", "bold"), moves.text),
                    (0, 0, 0, 2),
                    expand=False,
                )
            )
            _effects(moves, meaning.key)


def _effects(moves: StudyResult, key: str) -> None:
    """A parameter's strongest effects, or those on a claim, as a table; a line counts the omitted
    ones.
    """
    from rich.padding import Padding

    from elanite.base.text import counted, percent
    from elanite.cli.common import table

    board = table(("", *moves.steps, ""), right=moves.steps)
    for each in moves.effects[:MOST_EFFECTS]:
        fitted = (each.parameter, each.claim) in moves.fitted
        notes = [*(["fitted"] if fitted else []), *(["turns the verdict"] if each.turns else [])]
        other = each.claim if each.parameter == key else each.parameter
        board.add_row(other, percent(each.less), percent(each.more), ", ".join(notes))
    if moves.effects:
        screen = console()
        screen.print(Padding(board, (0, 0, 0, 4), expand=False))
        if rest := moves.effects[MOST_EFFECTS:]:
            largest = percent(rest[0].size).lstrip("+")
            screen.print(
                f"    and {counted(len(rest), 'weaker effect')}, of {largest} at most", markup=False
            )


def _listed(rows: list[dict[str, str]]) -> None:
    """Rows of texts: a table whose last column wraps, or, where it is too narrow, one entry below
    the other.
    """
    from rich.text import Text

    from elanite.cli.common import table
    from elanite.cli.tables import listed

    screen = console()
    names = list(rows[0])
    widths = [max(len(row[name]) for row in rows) for name in names[:-1]]
    numbers = {"nodes", "points", "claims"}
    if screen.width < sum(widths) + 2 * len(widths) + 24:
        listed(screen, ((row[names[0]], _details(row, names[1:])) for row in rows))
        return
    board = table(names, right=numbers)
    for column in board.columns[:-1]:
        column.no_wrap = True
    for row in rows:
        board.add_row(*(Text(row[name]) for name in names))
    screen.print(board)


def _details(row: dict[str, str], names: list[str]) -> list[str]:
    short = ", ".join(f"{name} {row[name]}" for name in names[:-1] if row[name])
    return [short, row[names[-1]]]
