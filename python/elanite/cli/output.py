"""How results and scoreboards are printed."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

from elanite.cli.common import BoardFormat, Format, console, data, table
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from elanite.api import Result
    from elanite.beside import Line
    from elanite.claims import Verdict
    from elanite.plan import Point


STYLE = {
    "missed": "red",
    "known miss": "yellow",
    "not resolved": "yellow",
    "source too vague": "dim",
    "inconsistent": "dim",
    "not run": "dim",
}
"""How the rows of the scoreboard look."""


def refuse_terminal(format_: Format) -> None:
    """Binary data has no place on a terminal."""
    if format_ is Format.PARQUET and sys.stdout.isatty():
        raise UsageError("parquet is binary; send it to a file: --format parquet > results.parquet")


def results(result: Result, format_: Format) -> None:
    """Print the finished points of an experiment."""
    if format_ is Format.JSON:
        data(json.dumps([point(result, each) for each in result.points], indent=1))
    elif format_ is Format.TABLE:
        _tables(result)
    else:
        rows(result.frame(), format_)


def rows(frame: pl.DataFrame, format_: Format) -> None:
    """Print a data frame as csv or parquet."""
    if format_ is Format.CSV:
        sys.stdout.write(frame.write_csv())
    else:
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        sys.stdout.buffer.write(buffer.getvalue())


def scoreboard(
    verdicts: Sequence[Verdict],
    format_: BoardFormat,
    *,
    brief: bool = False,
) -> None:
    """Print the scoreboard; in brief without the names of claims not yet simulated."""
    from elanite import text
    from elanite.claims import fitted_parameters

    if format_ is BoardFormat.JSON:
        data(json.dumps([verdict.as_json() for verdict in verdicts], indent=1, ensure_ascii=False))
        return
    if format_ is BoardFormat.MARKDOWN:
        sys.stdout.write(text.markdown(verdicts))
        return
    screen = console()
    board = table(("", "claim", "role", "published", "simulated", "error"), right=("error",))
    judged = [verdict for verdict in verdicts if verdict.claim.experiment]
    for verdict in judged:
        board.add_row(
            text.SIGN[verdict.state],
            verdict.claim.id,
            verdict.role,
            text.published(verdict.claim),
            _said(verdict),
            text.percent(verdict.error),
            style=STYLE.get(verdict.state, ""),
        )
    screen.print(board)
    for verdict in judged:
        if verdict.claim.test and verdict.judged:
            screen.print(f"{verdict.claim.id}: {verdict.claim.test}", style="dim", markup=False)
    waiting = [verdict.claim.id for verdict in verdicts if not verdict.claim.experiment]
    if waiting and not brief:
        screen.print(f"not yet simulated: {', '.join(waiting)}", style="dim", markup=False)
    for machine, parameters in fitted_parameters().items():
        screen.print(text.fitted(machine, parameters), style="dim", markup=False)
    screen.print(text.widest(verdicts), style="dim", markup=False)
    screen.print(text.totals(verdicts))


def _said(verdict: Verdict) -> str:
    from elanite import text

    if not verdict.judged:
        return verdict.note
    words = [text.measured(verdict)]
    if verdict.state == "not resolved":
        words.append("(not resolved)")
    if verdict.state == "source too vague":
        words.append(f"(source too vague: {verdict.claim.vague})")
    if verdict.claim.proof:
        words.append(f"(inconsistent in the source: {verdict.claim.proof.text})")
    if verdict.state in ("known miss", "holds again"):
        words.append(f"({verdict.state}: {verdict.claim.known_miss})")
    return " ".join(filter(None, words))


def point(result: Result, here: Point) -> dict[str, Any]:
    """A finished point and its results, for json."""
    from elanite import frames

    manifest = result.manifest(here)
    summary = frames.summarise(frames.tidy([here], result.store), ["job", "metric", "unit"])
    several = summary["job"].n_unique() > 1
    return {
        "id": here.id,
        "experiment": here.experiment,
        "series": here.series,
        "machine": here.machine,
        "parameters": here.parameters,
        "seed": here.seed,
        "results": {
            f"{row['job']}.{row['metric']}" if several else row["metric"]: {
                key: row[key] for key in ("mean", "low", "high", "n", "unit")
            }
            for row in summary.iter_rows(named=True)
        },
        "packets": manifest["packets"],
        "events": manifest["events"],
        "simulated_ps": manifest["simulated_ps"],
        "cpu_seconds": manifest.cpu_seconds,
        "peak_memory_bytes": manifest["peak_memory_bytes"],
        "digest": manifest["digest"],
        "command": result.plan.command(here),
    }


def _tables(result: Result) -> None:
    """One table per series: the parameters that vary, and every metric as its mean and half the width of its interval.

    With several machines, every metric has a line, with columns for each machine and for its ratio to the first one.
    """
    from elanite import frames
    from elanite.beside import beside
    from elanite.plan import ON

    frame = result.frame()
    titles = dict(result.plan.titles)
    screen = console()
    for series in frame["series"].unique(maintain_order=True).to_list():
        rows = frame.filter(frame["series"] == series)
        columns = frames.varying(rows)
        if len(result.plan.machines) > 1:
            columns = [*(name for name in columns if name != ON), "quantity"]
            wide = [_side_by_side(line) for line in beside(rows)]
        else:
            wide = _wide(frames.summarise(rows), columns)
        screen.print(f"{result.plan.experiment.name} {series}: {titles.get(series, '')}".rstrip(": "), style="bold")
        screen.print(_rich(wide, columns))


def _wide(summary: pl.DataFrame, columns: Sequence[str]) -> list[dict[str, Any]]:
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in summary.iter_rows(named=True):
        line = lines.setdefault(tuple(row[name] for name in columns), {name: str(row[name]) for name in columns})
        line[f"{row['metric']}, {row['unit']}" if row["unit"] else row["metric"]] = _value(row)
    return list(lines.values())


def _side_by_side(line: Line) -> dict[str, Any]:
    from elanite.text import with_half

    row = {name: str(value) for name, value in line.parameters.items()} | {"quantity": line.quantity}
    row |= {machine: with_half(figure.mean, figure.half) for machine, figure in line.figures.items()}
    return row | {f"{machine} / {line.first}": with_half(r.mean, r.half) for machine, r in line.ratios.items()}


def _value(row: dict[str, Any]) -> str:
    from elanite.text import with_half

    return with_half(row["mean"], (row["high"] - row["low"]) / 2)


def _rich(lines: Sequence[dict[str, Any]], columns: Sequence[str]) -> object:
    headings = list(dict.fromkeys(name for line in lines for name in line))
    found = table(headings, right=set(headings) - set(columns))
    for line in lines:
        found.add_row(*(line.get(heading, "") for heading in headings))
    return found
