"""The command compare: two folders of results side by side."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elanite.cli.common import console, data, say

if TYPE_CHECKING:
    from elanite.differences import Comparison, Line
    from elanite.measures import Number
    from elanite.store import Store

SEEDS = "--set run.seeds=5"
"""A remedy for figures of too few values."""


class ComparedAs(StrEnum):
    """How a comparison is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="The folder of one campaign (as with --out).")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The folder of the other.")],
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAMES", help="Experiments, separated by commas."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Also figures that are equal or undecided.")] = False,
    format_: Annotated[ComparedAs, typer.Option("--format", "-f", help="How to print the figures.")] = ComparedAs.TABLE,
) -> None:
    """Compare the results of two folders: which figures differ, and by how much.

    \b
    Examples:
      elanite run qsnet/ping --out before
      elanite run qsnet/ping --set bus.rate="200 MB/s" --out after
      elanite compare before after
      elanite compare before after --format csv > figures.csv

    A point without random numbers, such as a ping, has no noise: any difference between two such points is real. Where
    random numbers were drawn, a figure differs if the 95% confidence interval of the difference excludes zero. Runs
    with the same seeds and batches are compared pair by pair. A figure is equal if the interval contains zero and
    reaches no farther than 1% of the figure. Otherwise it is undecided, as is a figure of fewer than three values. The
    intervals of one equal figure in twenty exclude zero by chance.

    The table has the figures that differ, the largest change first within a series; with --all, it has the others, too.
    json and csv have all figures of points whose records are not identical, with state, means, intervals and ratio. The
    exit code is 0 whether figures differ or not, and 2 if a folder has no results.
    """
    from elanite.differences import compare_stores

    names = [name.strip() for text in only or [] for name in text.split(",")]
    found = compare_stores(_store(a), _store(b), names)
    if format_ is ComparedAs.JSON:
        data(json.dumps([_as_json(line) for line in found.lines], indent=1, ensure_ascii=False))
    elif format_ is ComparedAs.CSV:
        data(_as_csv(found.lines).rstrip("\n"))
    else:
        _compared(found, every)
    _summed(found, a, b)


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
    from elanite.samples import State
    from elanite.text import heading, plain

    screen = console()
    groups: dict[tuple[str, str], list[Line]] = {}
    for state in State if every else [State.DIFFERS]:
        for line in found.of(state):
            groups.setdefault((line.experiment, line.series), []).append(line)
    for (experiment, series), lines in groups.items():
        screen.print(f"{experiment} {series}", style="bold", markup=False)
        keys = list(dict.fromkeys(key for line in lines for key in line.parameters))
        varying = [key for key in keys if len({plain(line.parameters.get(key)) for line in lines}) > 1]
        rows = []
        for line in lines:
            row = {key: plain(line.parameters.get(key)) for key in varying}
            row["figure"] = " ".join(filter(None, (line.job, heading(line.metric, line.unit))))
            rows.append(row | _figures(line))
        blocks(screen, [*varying, "figure"], ["A", "B", "B / A", "state"], rows)


def _figures(line: Line) -> dict[str, str]:
    """Both means, their ratio and the state: with intervals, or exact, with enough digits to tell them apart."""
    from elanite.text import SCALE, distinct, estimate

    pair, relative = line.pair, line.pair.ratio
    if pair.exact:
        scale = SCALE.get(line.unit, 1.0)
        a, b = distinct(scale * pair.a.figure.mean, scale * pair.b.figure.mean)
        ratio = distinct(relative.mean, 1.0)[0] if relative else ""
        return {"A": a, "B": b, "B / A": ratio, "state": line.state}
    sides = []
    for side in (pair.a, pair.b):
        count = 0 if side.exact else len(side.values)
        sides.append(estimate(side.figure.mean, side.figure.low, side.figure.high, count, line.unit))
    count = 0 if pair.difference is None else len(pair.a.values + pair.b.values)
    ratio = estimate(relative.mean, relative.low, relative.high, count) if relative else ""
    return {"A": sides[0], "B": sides[1], "B / A": ratio, "state": line.state}


def _summed(found: Comparison, a: Path, b: Path) -> None:
    """The counts of the comparison, on standard error."""
    from elanite.samples import State
    from elanite.text import counted

    say(f"A is {a}, B is {b}")
    say(f"{counted(found.same, 'identical point')}; only in A: {found.only_a}; only in B: {found.only_b}")
    differing, equal, undecided = (found.of(state) for state in State)
    if found.lines:
        say(
            f"{counted(len(found.lines), 'figure')} of other points: {len(differing)} differ, {len(equal)} equal,"
            f" {len(undecided)} undecided"
        )
    chance = sum(not line.pair.exact for line in differing)
    judged = sum(not line.pair.exact and line.pair.difference is not None for line in found.lines)
    if chance:
        say(
            f"{counted(chance, 'figure')} of random points differ{'s' * (chance == 1)} by a 95% interval; of {judged}"
            f" such intervals, about {max(1, round(judged / 20))} may exclude zero by chance"
        )
    if undecided:
        few = sum(line.pair.difference is None for line in undecided)
        reasons = [
            *([f"{few} of fewer than three values"] if few else []),
            *([f"{len(undecided) - few} with wide intervals"] if few < len(undecided) else []),
        ]
        more = f"more seeds decide: {SEEDS}; --all shows the figures"
        say(f"undecided: {', '.join(reasons)}; {more}")
    if found.unrecorded:
        one = found.unrecorded == 1
        say(
            f"{counted(found.unrecorded, 'point')} of an older version {'does' if one else 'do'} not record whether"
            f" random numbers were drawn, and {'counts' if one else 'count'} as random; run again with a new --out"
        )
    if found.ambiguous:
        say(
            f"left out: {counted(found.ambiguous, 'point')} that a folder holds with several settings; run each setting"
            " with an --out of its own"
        )


def _as_json(line: Line) -> dict[str, Any]:
    pair = line.pair
    return {
        "experiment": line.experiment,
        "series": line.series,
        "parameters": line.parameters,
        "job": line.job or None,
        "metric": line.metric,
        "unit": line.unit,
        "state": str(line.state),
        "random": [pair.a.random, pair.b.random],
        "paired": pair.paired,
        "a": _interval(pair.a.figure) | {"n": len(pair.a.values)},
        "b": _interval(pair.b.figure) | {"n": len(pair.b.values)},
        "difference": _interval(pair.difference),
        "ratio": _interval(pair.ratio),
    }


def _interval(figure: Number | None) -> dict[str, float | None]:
    if figure is None:
        return {"mean": None, "low": None, "high": None}
    return {"mean": figure.mean, "low": figure.low, "high": figure.high}


def _as_csv(lines: tuple[Line, ...]) -> str:
    """A row for each figure: the parameters are columns, and so is each entry of the intervals, as ``a_mean``."""
    import polars as pl

    from elanite.text import plain

    rows = []
    for line in lines:
        entry = _as_json(line)
        row = {"experiment": entry.pop("experiment"), "series": entry.pop("series")}
        row |= {name: plain(value) for name, value in entry.pop("parameters").items()}
        row |= {"job": entry.pop("job"), "metric": entry.pop("metric"), "unit": entry.pop("unit")}
        row |= {"state": entry.pop("state"), "paired": entry.pop("paired")}
        row |= dict(zip(("a_random", "b_random"), entry.pop("random"), strict=True))
        row |= {f"{name}_{end}": value for name, ends in entry.items() for end, value in ends.items()}
        rows.append(row)
    parameters = dict.fromkeys(name for line in lines for name in line.parameters)
    names = ["experiment", "series", *parameters, *_MEASURED]
    return pl.DataFrame(rows, schema=None if rows else names, infer_schema_length=None).select(names).write_csv()


_MEASURED = [
    *("job", "metric", "unit", "state", "paired", "a_random", "b_random"),
    *("a_mean", "a_low", "a_high", "a_n", "b_mean", "b_low", "b_high", "b_n"),
    *("difference_mean", "difference_low", "difference_high", "ratio_mean", "ratio_low", "ratio_high"),
]
"""The columns of csv behind the parameters."""
