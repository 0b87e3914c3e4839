"""The commands that find things: list, explain, compare."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elanite.cli.common import OUT, Out, complete_keys, console, data, machine_option, say

if TYPE_CHECKING:
    from elanite.catalog import Moves
    from elanite.differences import Comparison, Line
    from elanite.store import Store

LEAST = 0.005
"""Figures without an interval that are less apart are counted and not shown, unless all figures are asked for."""

MOST_EFFECTS = 8
"""Most effects that are shown of a parameter or on a claim, for each machine."""


class What(StrEnum):
    """What is listed."""

    MACHINES = "machines"
    EXPERIMENTS = "experiments"
    CLAIMS = "claims"
    PARAMETERS = "parameters"
    FIGURES = "figures"


class ListFormat(StrEnum):
    """How lists and comparisons are printed."""

    TABLE = "table"
    JSON = "json"


ListedAs = Annotated[ListFormat, typer.Option("--format", "-f", help="How to print.")]


def list_(
    what: Annotated[What | None, typer.Argument(help="What to list.  [default: machines and experiments]")] = None,
    format_: ListedAs = ListFormat.TABLE,
    out: Out = OUT,
) -> None:
    """List machines, experiments, claims, parameters or figures, one line each.

    \b
    Examples:
      elanite list                       machines, and experiments with their points and what they cost
      elanite list claims --format json
      elanite list parameters
    """
    from elanite import catalog
    from elanite.store import Store

    made = {
        What.MACHINES: catalog.machines,
        What.EXPERIMENTS: lambda: catalog.experiments(Store(out / "store")),
        What.CLAIMS: catalog.claimed,
        What.PARAMETERS: catalog.parameters,
        What.FIGURES: catalog.figures,
    }
    chosen = [what] if what else [What.MACHINES, What.EXPERIMENTS]
    if format_ is ListFormat.JSON:
        found = {one.value: made[one]() for one in chosen}
        data(json.dumps(found[what] if what else found, indent=1, ensure_ascii=False))
        return
    for number, one in enumerate(chosen):
        if number:
            data("")
        _listed(made[one]())


def explain(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="A parameter, a key of experiment files, a claim, or a column of results.",
            autocompletion=complete_keys,
        ),
    ],
    machine: Annotated[
        str | None,
        machine_option("Bounds and value of this machine, such as your own.  [default: all shipped machines]"),
    ] = None,
) -> None:
    """Say what a key means: unit, bounds, values and their sources, and the claims that it moves.

    \b
    Examples:
      elanite explain link.hop_delay
      elanite explain link.hop_delay --machine my-cluster.toml
      elanite explain run.window
      elanite explain ping.uni.latency.0B

    For a parameter that was fitted or assumed, the command shows which claims change, and by how much, if the value
    is a fifth lower or higher; for a claim, which parameters change it. These are the results of `elanite sensitivity`
    that come with Elanite.
    """
    from rich.padding import Padding
    from rich.text import Text

    from elanite import catalog, sources

    meaning = catalog.explain(key, sources.read("machine", machine) if machine else None)
    screen = console()
    screen.print(Text(meaning.key, style="bold"))
    screen.print(Padding(Text(meaning.text or "(not described)"), (0, 0, 0, 2), expand=False))
    facts = [(f"allowed on {meaning.allowed_on}", meaning.allowed)] if meaning.allowed else []
    for name, text in [*facts, *meaning.facts]:
        screen.print(Padding(Text.assemble((f"{name}: ", "bold"), text), (0, 0, 0, 2), expand=False))
    for moves in meaning.moves:
        screen.print(Padding(Text.assemble((f"{moves.name}: ", "bold"), moves.text), (0, 0, 0, 2), expand=False))
        _effects(moves, meaning.key)


def _effects(moves: Moves, key: str) -> None:
    """The strongest effects of a parameter, or on a claim, as a table, with what is left out in a line."""
    from rich.padding import Padding

    from elanite.cli.common import table
    from elanite.text import counted, percent

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
            screen.print(f"    and {counted(len(rest), 'weaker effect')}, of {largest} at most", markup=False)


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="The folder of one campaign (as with --out).")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The folder of the other.")],
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAMES", help="Experiments, separated by commas."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also figures that are equal within their intervals, or nearly equal.")
    ] = False,
    format_: ListedAs = ListFormat.TABLE,
) -> None:
    """Compare the results of two folders: which figures differ, and by how much.

    \b
    Examples:
      elanite run qsnet/uniform --set run.seeds=1 --out before
      elanite run qsnet/uniform --set run.seeds=1 --set link.hop_delay="110 ns" --out after
      elanite compare before after

    A figure differs if the 95% confidence interval of the difference does not contain zero. A figure of fewer than
    three values (a ping, the latency of a run with one seed) has no interval: then the command cannot tell a change
    from noise, says so, and leaves out what is less than 0.5% apart. Within a series, the largest changes come first.
    json has all figures with means, intervals and ratios; differs is null if there is no interval.
    """
    from elanite.differences import compare_stores

    names = [name.strip() for text in only or [] for name in text.split(",")]
    found = compare_stores(_store(a), _store(b), names)
    if format_ is ListFormat.JSON:
        data(json.dumps([_as_json(line) for line in found.lines], indent=1, ensure_ascii=False))
    else:
        _compared(found, every)
    _summed(found, a, b)


def _listed(rows: list[dict[str, str]]) -> None:
    """Rows of texts: a table whose last column wraps, or, where it is too narrow, one entry below the other."""
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


def _store(folder: Path) -> Store:
    from elanite.errors import UsageError
    from elanite.store import Store

    if not (folder / "store").is_dir():
        raise UsageError(
            f"{folder} has no results: there is no folder {folder / 'store'}; name what was given as --out"
        )
    return Store(folder / "store")


def _compared(found: Comparison, every: bool) -> None:
    from elanite.cli.tables import blocks
    from elanite.text import estimate, heading, plain

    screen = console()
    groups: dict[tuple[str, str], list[Line]] = {}
    apart = [line for line in found.unknown if line.change >= LEAST]
    shown = sorted(found.lines, key=lambda line: -line.change) if every else [*found.differing, *apart]
    for line in shown:
        groups.setdefault((line.experiment, line.series), []).append(line)
    for (experiment, series), lines in groups.items():
        screen.print(f"{experiment} {series}", style="bold", markup=False)
        keys = list(dict.fromkeys(key for line in lines for key in line.parameters))
        varying = [key for key in keys if len({plain(line.parameters.get(key)) for line in lines}) > 1]
        rows = []
        for line in lines:
            row = {key: plain(line.parameters.get(key)) for key in varying}
            row["figure"] = " ".join(filter(None, (line.job, heading(line.metric, line.unit))))
            for name, side in (("A", line.a), ("B", line.b)):
                row[name] = estimate(side.mean, side.low, side.high, len(side.values), line.unit)
            fewest = min(len(line.a.values), len(line.b.values))
            relative = line.ratio
            row["B / A"] = estimate(relative.mean, relative.low, relative.high, fewest) if relative else ""
            row["change"] = {True: "differs", None: "no interval", False: "same"}[line.differs]
            rows.append(row)
        blocks(screen, [*varying, "figure"], ["A", "B", "B / A", "change"], rows)


def _summed(found: Comparison, a: Path, b: Path) -> None:
    """What was compared, in a line on standard error."""
    from elanite.text import counted

    say(f"A is {a}, B is {b}")
    say(f"{counted(found.same, 'point')} the same; only in A: {found.only_a}; only in B: {found.only_b}")
    unknown = found.unknown
    near = sum(line.change < LEAST for line in unknown)
    same = len(found.lines) - len(found.differing) - len(unknown)
    if found.lines:
        say(
            f"{counted(len(found.lines), 'figure')} of other points: {len(found.differing)} differ (the 95% interval of"
            f" the difference excludes zero), {same} are the same within their intervals,"
            f" {len(unknown)} have no interval"
        )
    if unknown:
        say(
            "without an interval (fewer than three values) nothing tells a change from noise;"
            f" {len(unknown) - near} of them are {LEAST:.1%} or more apart, {near} less"
        )
    if found.ambiguous:
        say(
            f"left out: {counted(found.ambiguous, 'point')} that a folder holds with several settings; run each setting"
            " with an --out of its own"
        )


def _as_json(line: Line) -> dict[str, Any]:
    sides = {"a": line.a, "b": line.b, "ratio": line.ratio}
    return {
        "experiment": line.experiment,
        "series": line.series,
        "parameters": line.parameters,
        "job": line.job or None,
        "metric": line.metric,
        "unit": line.unit,
        "differs": line.differs,
        **{
            name: side and {"mean": side.mean, "low": side.low, "high": side.high, "n": len(side.values)}
            for name, side in sides.items()
        },
    }
