"""Readings: a paper's statements that its words leave open, each measured with every reading.

A paper may leave a choice open, such as the fraction of messages that are written, and state ten
findings. The claims file has one reading for each, the *default*, which the text decides as far as
it can. A reading that is chosen because its results agree would be a fit. So the table shows all
readings: a row for each statement and each reading in one choice, a column for each reading in
another, and in each cell the figure with its verdict.

A cell is the claim itself, with its test, its bounds and its intervals, on other points in the same
experiment (``data/readings.toml``). It has no separate verdict in the scoreboard. The report shows
the table, and ``make docs`` writes it into ``docs/io.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.base.seeds import FIRST_SEED
from elanite.base.text import number, percent, quantity
from elanite.inputs.sources import did_you_mean
from elanite.inputs.tables import loaded
from elanite.validation.cells import published
from elanite.validation.claims import claims, scalars
from elanite.validation.scoreboard import measurement
from elanite.validation.short_runs import planned
from elanite.validation.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.inputs.plan import Point
    from elanite.inputs.tables import DataTable
    from elanite.results.numbers import StatementPart
    from elanite.results.selection import Scalar
    from elanite.store import Store
    from elanite.validation.claim import Claim
    from elanite.validation.verdict import Verdict

FILE = "readings.toml"

FEW = 3
"""Most figures for a statement in a cell; of more it has the least and the greatest."""

WORDS = {True: "holds", False: "missed", None: "not resolved"}

NOT_RUN = "not run"


@dataclass(frozen=True)
class Reading:
    """One reading: the points that it selects, and the claims that it interprets."""

    name: str
    where: tuple[tuple[str, tuple[Scalar, ...]], ...] = ()
    series: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    default: bool = False
    """Whether the claims file has this reading."""
    columns: bool = True
    """Whether the claims have a figure for each column."""


@dataclass(frozen=True)
class ReadingCell:
    """A claim with one reading: its figure and its verdict in words."""

    text: str
    state: str
    """``holds``, ``missed``, ``not resolved`` or ``not run``."""
    default: bool
    """Whether the claims file has this reading: the cell is the scoreboard's verdict."""


@dataclass(frozen=True)
class Row:
    """A statement with one reading for its rows, and a cell for each column, or one for all columns
    together.
    """

    claim: Claim
    reading: str
    default: bool
    cells: tuple[ReadingCell, ...]

    @property
    def published(self) -> str:
        """The published figure, or a finding's words."""
        return self.claim.says if self.claim.kind in ("shape", "max") else published(self.claim)


@dataclass(frozen=True)
class Readings:
    """A readings table, with a store's figures."""

    title: str
    source: str
    choice: str
    """The heading for the rows' readings."""
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.source.split()[0]

    @property
    def judged(self) -> bool:
        """Whether any cell has a figure."""
        return any(cell.state != NOT_RUN for row in self.rows for cell in row.cells)

    @property
    def counts(self) -> str:
        """A sentence: the statements that hold in each column, with the rows' default readings and
        the others.
        """
        words = []
        for default, name in ((True, "default"), (False, "other")):
            rows = [
                row.cells
                for row in self.rows
                if row.default is default and len(row.cells) == len(self.columns)
            ]
            held = (
                f"{sum(cells[place].state == WORDS[True] for cells in rows)} with {column}"
                for place, column in enumerate(self.columns)
            )
            words.append(
                f"of {len(rows)} statements with the {name} readings of {self.choice},"
                f" {', '.join(held)}"
            )
        return f"Held: {'; '.join(words)}."


def choices() -> tuple[dict[str, str], tuple[Reading, ...], tuple[Reading, ...]]:
    """The shipped table's texts, its columns' readings, and its rows' readings."""
    return choices_of(bounded.packaged("data", FILE), FILE)


@cache
def choices_of(
    text: str, file: str
) -> tuple[dict[str, str], tuple[Reading, ...], tuple[Reading, ...]]:
    """The same for a data file. Raises ``UsageError`` for an unknown claim or key."""
    data = loaded(text, file)
    known = {claim.id: claim for claim in claims()}

    def choice(entry: DataTable) -> Reading:
        where, named = entry.table("where"), entry.strings("claims")
        for name in named:
            if name not in known:
                wrong = f"there is no claim `{name}`{did_you_mean(name, list(known))}"
                raise entry.wrong("claims", wrong, "use the `id` of a claim")
        return entry.filled(
            Reading,
            {},
            where=tuple((name, scalars(where, name)) for name in where.content),
            claims=tuple(known[name] for name in named),
        )

    texts = {name: value for name, value in data.content.items() if isinstance(value, str)}
    return texts, tuple(map(choice, data.tables("column"))), tuple(map(choice, data.tables("row")))


def points(
    claim: Claim, selected: Sequence[Reading], seed: int = FIRST_SEED, *, quick: bool = False
) -> list[Point]:
    """The points that a claim is measured on with some readings: those in its experiment that they
    select.
    """
    series = next((one.series for one in selected if one.series), claim.series)
    where = dict(claim.where) | {name: values for one in selected for name, values in one.where}
    return [
        point
        for point in planned(claim.experiment, seed, 0 if quick else None).points
        if point.series in series
        and all(point.parameters.get(name, values[0]) in values for name, values in where.items())
    ]


def _places(some: Sequence[Point]) -> set[str]:
    """Points' series and parameters, whatever their seeds and windows."""
    return {f"{point.series} {point.parameters}" for point in some}


class Reader:
    """Reads the shipped table from a store, again and again; a cell with all its points is read
    once.
    """

    def __init__(self, store: Store, seed: int = FIRST_SEED, *, quick: bool = False) -> None:
        self.store, self.seed, self.quick = store, seed, quick
        self._known: dict[tuple[str, ...], ReadingCell] = {}

    def read(self) -> Readings:
        """The table, with the finished points' figures."""
        texts, columns, rows = choices()
        found = [self._row(claim, row, columns) for row in rows for claim in row.claims]
        order = list(dict.fromkeys(row.claim.id for row in found))
        found.sort(key=lambda row: order.index(row.claim.id))
        names = tuple(column.name for column in columns)
        return Readings(texts["title"], texts["source"], texts["choice"], names, tuple(found))

    def forget(self) -> None:
        """Read all cells again: points may have been replaced."""
        self._known.clear()

    def _row(self, claim: Claim, row: Reading, columns: Sequence[Reading]) -> Row:
        if not row.columns:
            return Row(claim, row.name, row.default, (self._cell(claim, (row,)),))
        return Row(
            claim,
            row.name,
            row.default,
            tuple(self._cell(claim, (row, column)) for column in columns),
        )

    def _cell(self, claim: Claim, selected: Sequence[Reading]) -> ReadingCell:
        here = points(claim, selected, self.seed, quick=self.quick)
        default = all(one.default for one in selected)
        # A quick run leaves series out, and a statement needs all its sides.
        complete = not self.quick or _places(here) == _places(points(claim, selected, self.seed))
        if not complete or any(self.store.get(point.id) is None for point in here):
            return ReadingCell("", NOT_RUN, default)
        key = (claim.id, *(point.id for point in here))
        if key not in self._known:
            # A proof that the paper contradicts itself does not concern a reading.
            look = 0 if self.quick else None
            found = judge(
                replace(claim, proof=None), measurement(claim, here, self.store, look), look
            )
            self._known[key] = ReadingCell(figure(found), WORDS[found.holds], default)
        return self._known[key]


def figure(verdict: Verdict) -> str:
    """A verdict's figures in short: a number with its error, or a finding's parts."""
    parts = [_part(part) for part in verdict.parts]
    if isinstance(verdict.simulated, int | float):
        error = f" ({percent(verdict.error)})" if verdict.claim.kind == "value" else ""
        parts.insert(0, f"{quantity(verdict.simulated, verdict.claim.unit)}{error}")
    return "; ".join(parts)


def _part(part: StatementPart) -> str:
    """One statement's figures: all, or the least and the greatest with the count of those that
    hold.
    """
    means = [case.number.mean for case in part.cases]
    if len(means) <= FEW:
        return f"{part.says} {', '.join(map(number, means))}"
    held = sum(case.holds is True for case in part.cases)
    return f"{part.says} {number(min(means))} to {number(max(means))}, {held} of {len(means)} hold"


def markdown(table: Readings) -> list[str]:
    """The table as Markdown lines; the default reading is bold."""
    lines = [
        f"| claim | published | {table.choice} | {' | '.join(table.columns)} |",
        "|---|---|---|" + "---|" * len(table.columns),
    ]
    before = ""
    for row in table.rows:
        stated = row.published if row.claim.id != before else "as above"
        before = row.claim.id
        cells = [_marked(cell) for cell in row.cells]
        cells += ["as left"] * (len(table.columns) - len(cells))
        lines.append(f"| `{row.claim.id}` | {stated} | {row.reading} | {' | '.join(cells)} |")
    return lines


def _marked(cell: ReadingCell) -> str:
    state = f"**{cell.state}**" if cell.default else cell.state
    return f"{state}: {cell.text}" if cell.text else state
