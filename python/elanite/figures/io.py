"""Petrini2003's table 1: I/O on eight of 64 nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.figures import grouping
from elanite.figures.grid import Cell, Column, Grid
from elanite.figures.style import Figure
from elanite.figures.table import table
from elanite.results.numbers import averaged
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from collections.abc import Iterator

TRAFFIC = {"uniform": "random", "blocks": "deterministic", "cyclic": "deterministic, cyclic"}
"""The paper's pattern names."""

ALL = "0-63"
"""The I/O job's nodes where I/O nodes are shared."""

PLACES = {"56-63": "clustered", "0-63:8": "distributed"}
"""The paper's server names."""

MAPPING = pl.when(pl.col("nodes") == ALL).then(pl.lit("shared")).otherwise(pl.lit("dedicated"))

HALF = 0.5
"""The fraction of messages written in the paper's table."""


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Table 1."""
    rows = rows.with_columns(mapping=MAPPING, traffic=pl.col("pattern").replace(TRAFFIC))
    lower = pl.col("series").str.contains("-(load|knee)$")
    highest = rows.filter(~lower & (pl.col("metric") == "server_accepted"))
    yield from grouping.part_figures(highest, ("pattern", "servers", "nodes", "writes"), _table)


def _table(rows: pl.DataFrame) -> Iterator[Figure]:
    if rows.is_empty():
        return
    title = "I/O: highest load of an I/O node"
    fractions = rows["writes"].unique().sort().to_list()
    # The paper's fraction first.
    fractions = [one for one in fractions if one == HALF] + [
        one for one in fractions if one != HALF
    ]
    stated = {claim.id: claim for claim in claims()}
    columns = [
        Column("destinations, I/O nodes", 2.2, "left"),
        Column("published\nhalf written"),
        Column("simulated\nhalf written", 1.2),
        *(
            Column(f"{_written(one)}\n{mapping}", 1.2)
            for one in fractions
            for mapping in ("shared", "dedicated")
        ),
    ]
    lines = []
    for traffic in TRAFFIC.values():
        for servers, place in PLACES.items():
            here = rows.filter((pl.col("traffic") == traffic) & (pl.col("servers") == servers))
            if here.is_empty():
                continue
            claim = stated.get(f"io.{traffic}.{place}")
            value = claim.value if claim else None
            cells = [
                _cell(here.filter((pl.col("writes") == one) & (pl.col("mapping") == mapping)))
                for one in fractions
                for mapping in ("shared", "dedicated")
            ]
            middle = _cell(here.filter(pl.col("writes") == HALF), value)
            lines.append(
                [Cell(f"{traffic}\n{place}"), Cell(f"{value:g}" if value else ""), middle, *cells]
            )
    caption = (
        "Accepted load of an I/O node at saturation, reads and writes, in MB/s, with half of its"
        " 95% confidence interval; the tint compares the mean of shared and dedicated I/O nodes"
        " with the published figure. The paper finds little difference between fractions of writes."
        " The data of reads and of writes go in opposite directions, so that half of each can be"
        " more than all of one. Deterministic: blocks of nodes share an I/O node; the paper does"
        " not say which nodes do."
    )
    if "cyclic" in rows["pattern"]:
        caption += (
            " Cyclic: the I/O nodes are assigned in turn; the paper's value stands with the other"
            " assignment."
        )
    grid = Grid(columns, lines, "of the published value")
    yield Figure("table-1", title, "table 1", caption, table(grid, title), wide=True, grid=grid)


def _written(fraction: float) -> str:
    return {0.0: "all read", HALF: "half written", 1.0: "all written"}.get(
        fraction, f"{fraction:.0%} written"
    )


def _cell(rows: pl.DataFrame, value: float | None = None) -> Cell:
    """The mean over the configurations with its interval, and its distance from a published
    value.
    """
    if rows.is_empty():
        return Cell("")
    found = averaged(rows)
    text = f"{found.mean:.1f}" + ("" if found.few else f" ± {found.half:.1f}")
    if value is None:
        return Cell(text)
    relative = found.mean / value
    ends = "" if found.few else f" [{found.low:.1f}, {found.high:.1f}]"
    return Cell(f"{text}\n{relative - 1:+.0%}", relative, f"{found.mean:.1f}{ends} MB/s")
