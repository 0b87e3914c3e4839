"""The readings table has each I/O statement with each reading; its default cells match the
claims.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from elanite.errors import UsageError
from elanite.report import layout
from elanite.results.numbers import Case, Finding, Number, StatementPart
from elanite.store import Store
from elanite.validation import readings
from elanite.validation.claims import claims
from elanite.validation.readings import Reader, choices, choices_of, figure, markdown, points
from elanite.validation.short_runs import planned
from elanite.validation.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.inputs.plan import Point
    from elanite.validation.claim import Claim

ROOT = Path(__file__).parents[1]

_, COLUMNS, ROWS = choices()

CLAIMS = {claim.id: claim for claim in claims()}


def test_every_statement_about_io_is_in_the_table() -> None:
    asked = {
        name for name, claim in CLAIMS.items() if claim.experiment in ("qsnet/io", "qsnet/combined")
    }
    assert {claim.id for row in ROWS for claim in row.claims} == asked - {"combined.alone"}, (
        "no reading of it is open"
    )


def test_the_default_reading_is_that_of_the_claims() -> None:
    (half,) = (column for column in COLUMNS if column.default)
    defaults = [(claim, row) for row in ROWS for claim in row.claims if row.default]
    assert len({claim.id for claim, _ in defaults}) == len(defaults), "one default for each claim"
    assert {claim.id for claim, _ in defaults} == {claim.id for row in ROWS for claim in row.claims}
    for claim, row in defaults:
        here = points(claim, (row, half) if row.columns else (row,))
        assert here == [
            point for point in planned(claim.experiment).points if claim.asks_for(point)
        ], claim.id


def test_readings_select_points_of_their_own() -> None:
    """No two cells for a claim have the same points, except those with the compute job alone."""
    for row in ROWS:
        for claim in row.claims:
            columns = [(row, column) for column in COLUMNS] if row.columns else [(row,)]
            found = [
                {point.id for point in points(claim, one) if point.series != "alone"}
                for one in columns
            ]
            assert all(found), (claim.id, row.name)
            assert sum(map(len, found)) == len(set().union(*found)), (claim.id, row.name)
    for name in ("io.deterministic.clustered", "combined.dedicated", "combined.shared.overlap"):
        rows = [row for row in ROWS if CLAIMS[name] in row.claims]
        found = [
            {point.id for point in points(CLAIMS[name], (row,)) if point.series != "alone"}
            for row in rows
        ]
        assert sum(map(len, found)) == len(set().union(*found)), name


def test_readings_have_the_same_windows() -> None:
    """The claims' points have more seeds."""
    table = [
        point for point in planned("qsnet/io").points if point.parameters["load"] == "350 MB/s"
    ]
    assert {
        (point.run["warm_up"], point.run["window"], point.run["precision"]) for point in table
    } == {("100 ms", "240 ms", 0.0)}
    assert len(table) == 8 * 8 + 3 * 28


def test_the_io_load_is_the_published_one() -> None:
    """Clients offer the load that eight servers carry with random destinations, by table 1."""
    carried = {
        "1c": "io.random.clustered",
        "1i": "io.random.clustered",
        "distributed": "io.random.distributed",
    }
    clients = {"shared": 32, "dedicated": 28}
    found = {
        point.series: point.parameters["io.load"]
        for point in planned("qsnet/combined").points
        if point.series.startswith("carried-") and point.parameters["io.load"] != "28 MB/s"
    }
    assert len(found) == 2 * len(carried) * len(clients)
    for series, load in found.items():
        _, kind, mapping, *_ = series.split("-")
        most = CLAIMS[carried[mapping]].value
        assert most
        assert float(load.split()[0]) == pytest.approx(8 * most / clients[kind], abs=0.05), series


class Full:
    """A store with all points, except one series'."""

    def __init__(self, without: str = "") -> None:
        absent = planned("qsnet/combined").series(without)
        self.absent = {point.id for point in absent}
        assert bool(absent) is bool(without)

    def get(self, identity: str) -> object | None:
        return None if identity in self.absent else self


def simulated(
    claim: Claim,
    here: Sequence[Point],
    _: Full,
    look: int | None = None,  # noqa: ARG001
) -> Number | Finding:
    """Published figures with writes only, and twice those otherwise; every finding holds with
    writes only.
    """
    writes = {
        point.parameters.get("writes", point.parameters.get("io.writes")) for point in here
    } - {None}
    right = writes == {1.0}
    if claim.kind != "shape":
        value = (claim.value or 0.0) * (1 if right else 2)
        return Number(value, value, value, values=(value,) * 3)
    cases = tuple(Case(str(place), Number(place, place, place), right) for place in range(3))
    return Finding(right, "said", parts=(StatementPart("kept", right, "", cases),))


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> readings.Readings:
    monkeypatch.setattr(readings, "measurement", simulated)
    return Reader(Full("carried-shared-1c-fractions")).read()  # type: ignore[arg-type]


def test_a_cell_is_the_verdict_on_its_points(table: readings.Readings) -> None:
    lines = markdown(table)
    assert lines[0].endswith("| reads only | half of each | writes only |")
    expected = (
        "missed: 392 MB/s (+100.0%) | **missed**: 392 MB/s (+100.0%) | holds: 196 MB/s (0.0%) |"
    )
    assert lines[2] == f"| `io.random.clustered` | 196 MB/s | at random | {expected}"
    (apart,) = (line for line in lines if "combined.shared.apart" in line)
    assert apart.endswith("| not run | **missed**: kept 0, 1, 2 | not run |")
    read_write, in_turn = (line for line in lines if "io.read-write" in line)
    assert read_write.endswith("| **missed**: 2.1x | as left | as left |"), (
        "judged, though its paper refutes it"
    )
    assert in_turn.endswith("| missed: 2.1x | as left | as left |")
    assert len(lines) == 2 + sum(len(row.claims) for row in ROWS)


def test_a_quick_run_leaves_cells_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its series lack some sides of the statements about destinations in turn."""
    monkeypatch.setattr(readings, "measurement", simulated)
    table = Reader(Full(), quick=True).read()  # type: ignore[arg-type]
    states = {(row.claim.id, row.reading): {cell.state for cell in row.cells} for row in table.rows}
    assert states["io.deterministic", "at random and in turn"] == {"not run"}
    assert "not run" not in states["io.deterministic", "at random and in blocks"]


def test_what_holds_is_counted_by_column(table: readings.Readings) -> None:
    assert (
        table.counts
        == "Held: of 12 statements with the default readings of destinations and loads, 0 with"
        " reads only, 0 with half of each, 11 with writes only; of 12 statements with the other"
        " readings of destinations and loads, 0 with reads only, 0 with half of each, 12 with"
        " writes only."
    )


def test_the_report_has_the_table_in_the_chapter_of_its_paper(table: readings.Readings) -> None:
    verdicts = [judge(CLAIMS["io.random.clustered"], Number(196.0, 190.0, 200.0))]
    page = layout.render([], verdicts, table=table)
    chapter = page[page.index('<section id="petrini2003"') : page.index('<section id="machines"')]
    assert '<h3 id="readings-title">I/O: every statement with every reading</h3>' in chapter
    assert '<b class="missed">missed</b> 392 MB/s (+100.0%)' in chapter
    assert '<span class="holds">holds</span> 196 MB/s (0.0%)' in chapter
    assert '<td data-head="all" colspan="3"><b class="missed">missed</b> 2.1x</td>' in chapter
    assert page.count('href="#readings"') == 1
    empty = replace(table, rows=())
    assert 'id="readings"' not in layout.render([], verdicts, table=empty)


def test_figures_are_short() -> None:
    few, many = (
        [Case("", Number(v, v, v), v > 0.9) for v in some]
        for some in ((0.5, 1.5), (0.8, 0.85, 0.99, 1.0))
    )
    parts = (
        StatementPart("kept", False, "", tuple(few)),
        StatementPart("lost", False, "", tuple(many)),
    )
    verdict = judge(CLAIMS["combined.dedicated"], Finding(False, "said", parts=parts))
    assert figure(verdict) == "kept 0.5, 1.5; lost 0.8 to 1, 2 of 4 hold"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            'claims = ["io.random.cluster"]',
            "there is no claim `io.random.cluster`; did you mean `io.random.clustered`?",
        ),
        ('claim = "io.read-write"', "this key is unknown; did you mean `claims`?"),
    ],
)
def test_a_wrong_table_is_refused(wrong: str, said: str) -> None:
    text = f'[[column]]\nname = "all"\n[[row]]\nname = "a row"\n{wrong}\n'
    with pytest.raises(UsageError) as refused:
        choices_of(text, "own.toml")
    assert str(refused.value).startswith("row `a row`, `claim")
    assert "--> own.toml:5:1" in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")
def test_the_page_is_filled_from_a_store(tmp_path: Path) -> None:
    page = tmp_path / "io.md"
    shutil.copy(ROOT / "docs" / "io.md", page)
    Store(tmp_path / "store").prepare()
    line = [sys.executable, str(ROOT / "docs" / "io.py"), str(tmp_path), str(page)]
    for _ in range(2):  # what is filled can be filled again
        ended = subprocess.run(line, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
    text = page.read_text(encoding="utf-8")
    assert (
        text.count(
            "| `io.random.clustered` | 196 MB/s | at random | not run | **not run** | not run |"
        )
        == 1
    )
    page.write_text(text.replace("<!-- end of readings -->", ""), encoding="utf-8")
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "has 0 places for the table, not 1" in ended.stderr


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")
def test_the_page_has_every_row() -> None:
    text = (ROOT / "docs" / "io.md").read_text(encoding="utf-8")
    for row in ROWS:
        for claim in row.claims:
            assert any(
                f"`{claim.id}`" in line and f"| {row.name} |" in line for line in text.splitlines()
            ), "make docs"


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")
def test_misses_that_count_as_one_have_one_cause() -> None:
    """With data in one direction only, each holds or is not resolved; a claim that is missed then
    counts by itself.
    """
    text = (ROOT / "docs" / "io.md").read_text(encoding="utf-8")
    cells: dict[str, set[str]] = {}
    for found in re.findall(r"(?m)^\| `(io\.[^`]+)` \|[^|]*\|[^|]*\|(.*)\|$", text):
        reads, _, writes = (cell.split(":")[0].strip() for cell in found[1].split("|"))
        cells.setdefault(found[0], set()).update((reads, writes))
    one = "io.deterministic.distributed"
    alike = {name for name, claim in CLAIMS.items() if claim.one_miss == one}
    assert alike
    for name in (*alike, one):
        assert cells[name] & {"holds", "not resolved", "not run"}, name
    values = {name for name, claim in CLAIMS.items() if claim.source == "petrini2003 table 1"}
    for name in values - alike - {one}:
        assert "holds" not in cells[name], name
