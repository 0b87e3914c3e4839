"""Multirail policies beyond the paper: other machines and traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.figures import grouping
from elanite.figures.grid import Cell, Column, Grid
from elanite.figures.style import Figure
from elanite.figures.table import table
from elanite.results.frames import padded
from elanite.results.numbers import averaged, ratio
from elanite.results.policies import changes, ordered, with_policies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.results.numbers import Number

CASES = {
    "half-duplex": "four rails, buses that move in one direction at a time, as in the paper",
    "full-duplex": "four rails, buses that move in both directions at once",
    "eight-rails": "eight rails",
    "failure": "four rails, after one of them has failed",
    "patterns": "four rails, {pattern}",
    "hot-spot": "four rails, all send to one node",
    "io": "four rails, eight nodes serve all others, {pattern}",
    "pci": "four Elan3 adapters, main memory, PCI buses of {duplex} duplex",
}
"""Each series' description; other series have their names."""

PATTERNS = {"uniform": "uniform traffic", "blocks": "a server for each block of nodes"}


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Each policy's accepted load beyond saturation, relative to basic, also after a rail
    failure.
    """
    rows = padded(with_policies(rows), servers=pl.String)
    if rows.is_empty():
        return
    cases = [
        _case(str(series), str(pattern), str(machine))
        for series, pattern, machine in rows.select("series", "pattern", "machine").rows()
    ]
    rows = rows.with_columns(pl.Series("_case", cases)).rename({"curve": "_curve"})
    yield from grouping.part_figures(rows, ("_case", "_curve"), lambda here: [_table(here)])


def _table(rows: pl.DataFrame) -> Figure:
    title = "Several rails beyond the paper: what each policy accepts"
    rows = rows.rename({"_curve": "curve"})
    served = pl.col("servers").is_not_null()
    metric = pl.when(served).then(pl.lit("server_accepted")).otherwise(pl.lit("accepted"))
    middle = pl.col("batch").max().over("series") // 2
    state = (pl.col("series") != "failure") | (pl.col("batch") > middle)
    here = rows.filter((pl.col("metric") == metric) & state)
    names = ordered(here)
    found: dict[str, dict[str, Number]] = {}
    for (case, curve), group in here.group_by("_case", "curve", maintain_order=True):
        found.setdefault(str(case), {})[str(curve)] = averaged(group)
    columns = [Column("machine and traffic", 3.5, "left"), *(Column(name) for name in names)]
    body = [
        [
            Cell(case),
            *(_cell(case, name, figures.get(name), figures.get("basic")) for name in names),
        ]
        for case, figures in found.items()
    ]
    caption = (
        "Accepted load beyond saturation, in MB/s for each node that sends, or for each server"
        f" where there are some, with half of its 95% confidence interval; {rows['message'][0]}"
        " messages. The tint shows the distance of a figure from that of basic in the same row."
    )
    grid = Grid(columns, body, "of what basic accepts")
    return Figure("beyond", title, "", caption, table(grid, title), wide=True, grid=grid)


def _case(series: str, pattern: str, machine: str) -> str:
    words = {
        "pattern": PATTERNS.get(pattern, pattern),
        "duplex": changes(machine).get("bus.duplex", ""),
    }
    return CASES.get(series, series).format(**words)


def _cell(case: str, name: str, figure: Number | None, basic: Number | None) -> Cell:
    if figure is None:
        return Cell("")
    text = f"{figure.mean:.0f}" + ("" if figure.few else f"\n± {figure.half:.1f}")
    if basic is None:
        return Cell(text)
    relative = 1.0 if figure is basic else ratio(figure, basic).mean
    return Cell(text, relative, f"{case}, {name}: {figure.mean:.0f} MB/s, {relative:.1%} of basic")
