"""Tables that fit the terminal.

A table with many columns is printed as several blocks, one below the other. Each block has the
columns that identify a row, and as many others as fit. Headings wrap at spaces, underscores and
dots; figures are never cut. So no two columns look alike at any width, and no figure loses digits.
Only text that is wider than the terminal is folded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from elanite.mpirun.summary import Link
    from elanite.traces.replay import RegionTotals

GAP = 2
"""Spaces between two columns."""

MOST_REGIONS = 8
"""How many regions of a replay are shown."""

OUTSIDE = "outside the regions"
"""The name for computations without a region."""

NARROW = 100
"""Below this width, text lists stand one below the other, and not in columns."""


def blocks(
    screen: Console, names: Sequence[str], others: Sequence[str], rows: Sequence[dict[str, str]]
) -> None:
    """Print rows: the columns ``names`` identify a row, in every block; the columns ``others`` are
    its figures.
    """
    from rich.table import Table
    from rich.text import Text

    for columns in _blocks(screen.width, names, others, rows):
        headings = {name: _wrapped(name, _width(name, rows)) for name in (*names, *columns)}
        board = Table(
            box=None,
            pad_edge=False,
            padding=(0, GAP, 0, 0),
            collapse_padding=True,
            header_style="bold",
        )
        for name, heading in headings.items():
            figure = name in columns
            board.add_column(
                Text(heading),
                justify="right" if figure else "left",
                no_wrap=figure,
                overflow="fold",
                vertical="bottom",
            )
        for row in rows:
            board.add_row(*(Text(row.get(name, "")) for name in headings))
        screen.print(board)


def _blocks(
    width: int, names: Sequence[str], others: Sequence[str], rows: Sequence[dict[str, str]]
) -> Iterable[list[str]]:
    """Each block's figures."""
    left = width - sum(_width(name, rows) + GAP for name in names)
    block: list[str] = []
    used = 0
    for name in others:
        need = _width(name, rows) + GAP
        if block and used + need - GAP > left:
            yield block
            block, used = [], 0
        block.append(name)
        used += need
    if block or not others:
        yield block


def _width(name: str, rows: Sequence[dict[str, str]]) -> int:
    """The width that a column needs: its widest cell, and the longest part of its heading."""
    return max(*(len(row.get(name, "")) for row in rows), *(len(part) for part in _parts(name)), 1)


def _parts(heading: str) -> list[str]:
    """Where a heading may break."""
    return [part.rstrip(" ") for part in re.findall(r"[^\s_.]+[_.]?\s*|\s+", heading)]


def _wrapped(heading: str, width: int) -> str:
    """A heading in lines that are no wider than its column."""
    lines = [""]
    for part in re.findall(r"[^\s_.]+[_.]?\s*|\s+", heading):
        if lines[-1] and len((lines[-1] + part).rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def listed(
    screen: Console, entries: Iterable[tuple[str, Sequence[str]]], style: Iterable[str] = ()
) -> None:
    """Print entries for narrow terminals: a line for each, and its details below, indented and
    wrapped.
    """
    from rich.padding import Padding
    from rich.text import Text

    styles = iter(style)
    for head, details in entries:
        look = next(styles, "")
        screen.print(Text(head, style=look), overflow="fold")
        for detail in details:
            if detail:
                screen.print(Padding(Text(detail, style=look), (0, 0, 0, 4), expand=False))


def hottest(links: Sequence[Link], names: Mapping[str, str]) -> Table:
    """A run's hottest links: at nodes, by the nodes' names, and between switches."""
    from elanite.base.text import part
    from elanite.cli.common import table
    from elanite.mpirun.summary import waits

    measures = ("busy", "packets", "waits, µs")
    found = table(("  hottest links", *measures), right=measures, padding=(0, 2, 0, 0))
    for kind, of_nodes in (("of nodes", True), ("between switches", False)):
        shown = [link for link in links if (link["level"] == 0) is of_nodes]
        if shown:
            found.add_row(f"  {kind}:")
        for link in shown:
            ends = [names.get(end, end) for end in (link["from"], link["to"])]
            where = f"    {ends[0]} to {ends[1]}"
            found.add_row(where, part(link["busy"], 1), f"{link['packets']:,}", waits(link))
    return found


def regions(found: Sequence[RegionTotals]) -> Table:
    """A replay's regions with the longest computation."""
    from rich.text import Text

    from elanite.base.text import number
    from elanite.cli.common import table

    figures = ("executions", "computes, µs", "longest, µs", "at rank")
    board = table(("  regions", *figures), right=figures, padding=(0, 2, 0, 0))
    for row in found[:MOST_REGIONS]:
        times = (number(row["computed_us"]), number(row["longest_us"]))
        board.add_row(
            Text(f"    {row['name'] or OUTSIDE}"),
            f"{row['executions']:,}",
            *times,
            str(row["longest_rank"]),
        )
    if len(found) > MOST_REGIONS:
        board.add_row(f"    and {len(found) - MOST_REGIONS:,} more")
    return board
