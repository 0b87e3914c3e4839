"""The command compare: two result folders side by side."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli.common import Html, Open, Role, console, data, opened, say
from elanite.cli.request import Request

if TYPE_CHECKING:
    from elanite.results.folders import Comparison, StoreLine
    from elanite.results.samples import SamplePair
    from elanite.store import Store
    from elanite.validation.measures import Number


class ComparisonFormat(StrEnum):
    """How a comparison is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, kw_only=True)
class Compare(Request):
    """Compare the figures of two folders of results.

    \b
    Examples:
      elanite run qsnet/ping --out before
      elanite run qsnet/ping --set bus.rate="200 MB/s" --out after
      elanite compare before after
      elanite compare before after --html changes.html --open
      elanite compare before after --format csv > figures.csv

    A point without random numbers, such as a ping, has no noise: any difference between two such
    points is real. Where random numbers were drawn, a figure differs if the 95% confidence interval
    of the difference excludes zero. Runs with the same seeds and batches are compared pair by pair.
    A figure is equal if the interval contains zero and reaches no farther than 1% of the figure.
    Otherwise it is undecided, as is a figure of fewer than three values. The intervals of one equal
    figure in twenty exclude zero by chance.

    First come the inputs that differ: keys of the machine and the experiment, seeds, and the
    simulator. The table has the figures that differ, the largest change first within a series; with
    --all, it has the others, too. json and csv have all figures of points whose records are not
    identical, with state, means, intervals and ratio; json also has the inputs in which the points
    of a figure differ. The exit code is 0 whether figures differ or not, and 2 if a folder has no
    results.
    """

    verb: ClassVar[str] = "compare"

    a: Annotated[
        Path,
        typer.Argument(metavar="A", help="The folder of one campaign (as with --out)."),
        Role.INPUT,
    ]
    b: Annotated[Path, typer.Argument(metavar="B", help="The folder of the other."), Role.INPUT]
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAMES", help="Experiments, separated by commas."),
    ] = None
    every: Annotated[
        bool, typer.Option("--all", help="Also figures that are equal or undecided.")
    ] = False
    format_: Annotated[
        ComparisonFormat,
        typer.Option("--format", "-f", help="How to print the figures."),
        Role.OUTPUT,
    ] = ComparisonFormat.TABLE
    html: Html = None
    open_: Open = False

    def execute(self) -> None:
        """Run the command."""
        from elanite.results.folders import compare_stores

        page = self.html or (Path("comparison.html") if self.open_ else None)
        if page:
            from elanite.figures import vega

            vega.prepare(page)
        names = [name.strip() for text in self.only or [] for name in text.split(",")]
        found = compare_stores(_store(self.a), _store(self.b), names)
        if self.format_ is ComparisonFormat.JSON:
            data(json.dumps([_as_json(line) for line in found.lines], indent=1, ensure_ascii=False))
        elif self.format_ is ComparisonFormat.CSV:
            data(_as_csv(found.lines).rstrip("\n"))
        else:
            _settings(found)
            _compared(found, self.every)
        say(f"A is {self.a}, B is {self.b}")
        for line in [*found.counts, *found.notes]:
            say(line)
        if page:
            self._write(found, page)
            if self.open_:
                opened(page)

    def _write(self, found: Comparison, page: Path) -> None:
        """Write the page, with both folders' results inside if they are small enough."""
        from elanite.report import pages
        from elanite.report.pages import comparison

        options = [*self.words(Role.RESULT), *self.written(html=page)]
        inputs = comparison.inputs(found, self.a, self.b, options)
        pages.write(
            page, comparison.page(found, (str(self.a), str(self.b)), self.again(html=page), inputs)
        )
        say(f"page: {page}")


def _store(folder: Path) -> Store:
    from elanite.errors import UsageError
    from elanite.store import Store

    if not (folder / "store").is_dir():
        runs = [name for name in ("mpirun", "replay") if (folder / name).is_dir()]
        if runs:
            raise UsageError(
                f"{folder} has runs of `elanite {runs[0]}` only: results of experiments are"
                " compared; the digests of two equal runs are equal, and the tables in"
                f" {folder / runs[0]} have their figures"
            )
        raise UsageError(
            f"{folder} has no results: there is no folder {folder / 'store'}; name the folder that"
            " was given as --out"
        )
    return Store(folder / "store")


def _settings(found: Comparison) -> None:
    """The inputs that differ, as a table."""
    from elanite.cli.tables import blocks

    screen = console()
    if not found.settings:
        return
    screen.print("inputs that differ", style="bold")
    sides = [dict(zip(("A", "B"), one.texts, strict=True)) for one in found.settings]
    rows = [{"key": one.key} | texts for one, texts in zip(found.settings, sides, strict=True)]
    blocks(screen, ["key"], ["A", "B"], rows)


def _compared(found: Comparison, every: bool) -> None:
    from elanite.base.text import heading, plain
    from elanite.cli.tables import blocks
    from elanite.figures.grouping import word
    from elanite.results.folders import varying_parameters
    from elanite.results.samples import ComparisonState

    screen = console()
    for (experiment, series), lines in found.series.items():
        shown = [line for line in lines if every or line.state is ComparisonState.DIFFERS]
        if not shown:
            continue
        screen.print(f"{experiment} {series}", style="bold", markup=False)
        varying = varying_parameters(lines)
        rows = []
        for line in shown:
            row = {word(key): plain(line.parameters.get(key)) for key in varying}
            row["figure"] = " ".join(filter(None, (line.job, heading(line.metric, line.unit))))
            texts = dict(zip(("A", "B", "B / A"), line.texts, strict=True))
            rows.append(row | texts | {"state": str(line.state)})
        blocks(screen, [*map(word, varying), "figure"], ["A", "B", "B / A", "state"], rows)


def _as_json(line: StoreLine) -> dict[str, object]:
    pair = line.pair
    return {
        "experiment": line.experiment,
        "series": line.series,
        "parameters": line.parameters,
        "job": line.job or None,
        "metric": line.metric,
        "unit": line.unit,
        "state": str(line.state),
        "inputs": {one.key: {"a": list(one.a), "b": list(one.b)} for one in line.settings},
        "random": [pair.a.random, pair.b.random],
        "paired": pair.paired,
        **_intervals(pair),
    }


def _intervals(pair: SamplePair) -> dict[str, dict[str, float | None]]:
    return {
        "a": _interval(pair.a.figure, bounded=pair.a.bounded) | {"n": pair.a.figure.n},
        "b": _interval(pair.b.figure, bounded=pair.b.bounded) | {"n": pair.b.figure.n},
        "difference": _interval(pair.difference),
        "ratio": _interval(pair.ratio, bounded=pair.difference is not None),
    }


def _interval(figure: Number | None, *, bounded: bool = True) -> dict[str, float | None]:
    """A mean and its interval's ends, which are null without an interval."""
    ends = (figure.low, figure.high) if figure and bounded else (None, None)
    return {"mean": figure.mean if figure else None, "low": ends[0], "high": ends[1]}


def _as_csv(lines: tuple[StoreLine, ...]) -> str:
    """A row for each figure: the parameters are columns, and so is each interval entry, as
    ``a_mean``.
    """
    import polars as pl

    from elanite.base.text import plain

    rows = []
    for line in lines:
        pair = line.pair
        row: dict[str, object] = {"experiment": line.experiment, "series": line.series}
        row |= {name: plain(value) for name, value in line.parameters.items()}
        row |= {"job": line.job or None, "metric": line.metric, "unit": line.unit}
        row |= {
            "state": str(line.state),
            "paired": pair.paired,
            "a_random": pair.a.random,
            "b_random": pair.b.random,
        }
        row |= {
            f"{name}_{end}": value
            for name, ends in _intervals(pair).items()
            for end, value in ends.items()
        }
        rows.append(row)
    parameters = dict.fromkeys(name for line in lines for name in line.parameters)
    names = ["experiment", "series", *parameters, *_MEASURED]
    return (
        pl.DataFrame(rows, schema=None if rows else names, infer_schema_length=None)
        .select(names)
        .write_csv()
    )


_MEASURED = [
    *("job", "metric", "unit", "state", "paired", "a_random", "b_random"),
    *("a_mean", "a_low", "a_high", "a_n", "b_mean", "b_low", "b_high", "b_n"),
    *(
        "difference_mean",
        "difference_low",
        "difference_high",
        "ratio_mean",
        "ratio_low",
        "ratio_high",
    ),
]
"""The csv columns behind the parameters."""
