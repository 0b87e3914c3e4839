"""The order, the quick form and the estimate of a reproduction."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ended, command, execute
from elanite import quick, reproduction, sources
from elanite.claims import Claim, claims, judge, plans_of
from elanite.measures.numbers import Number
from elanite.store import Store

Run = Callable[..., Ended]

ROOT = Path(__file__).parents[1]


def test_the_quick_form_keeps_every_claim_measurable() -> None:
    plans = plans_of(claims(), quick=True)
    for claim in claims():
        if claim.experiment:
            points = [point for point in plans[claim.experiment].points if claim.asks_for(point)]
            assert points, claim.id
            assert not {point.series for point in points} & set(
                quick.table().get(claim.experiment, quick.Changes()).skip
            )


def test_the_table_changes_what_it_names() -> None:
    assert quick.table().keys() <= set(sources.shipped("experiment"))
    for name, changes in quick.table().items():
        whole, short = quick.planned(name), quick.planned(name, quick=True)
        assert {point.id for point in short.points} != {point.id for point in whole.points}
        assert set(changes.skip) <= {series for series, _ in whole.titles}


def test_cheap_experiments_with_claims_come_first(tmp_path: Path) -> None:
    parts = reproduction.parts(sources.shipped("experiment"), Store(tmp_path / "store"), 1)
    assert len(parts) == len(sources.shipped("experiment"))
    decided = [bool(part.claims) for part in parts]
    assert decided == sorted(decided, reverse=True)
    costs = [part.seconds for part in parts if part.claims]
    assert costs == sorted(costs)
    assert costs[0] < 5


def test_the_quick_form_is_a_small_part_of_the_whole(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    whole, short = (
        sum(part.seconds for part in reproduction.parts(sources.shipped("experiment"), store, 1, quick=one))
        for one in (False, True)
    )
    assert short < whole / 4


def test_a_dry_run_simulates_nothing(elanite: Run, tmp_path: Path) -> None:
    ended = elanite("reproduce", "--dry-run", "--only", "qsnet/ping,qsnet/uniform")
    assert ended.code == 0, ended.err
    assert "249" in ended.out
    assert "points to simulate: about" in ended.out
    assert not (tmp_path / "out").exists()


def test_a_short_run_decides_only_by_whole_intervals() -> None:
    claim = Claim("a", "paper", "value", "says", value=100.0, tolerance=0.05)
    values = (99.0, 100.0, 101.0)
    wide, narrow = Number(100.0, 90.0, 110.0, values=values), Number(100.0, 99.0, 101.0, values=values)
    assert judge(claim, wide).holds is True
    assert judge(claim, wide, quick=True).holds is None
    assert judge(claim, wide, quick=True).state == "not resolved"
    assert judge(claim, narrow, quick=True).holds is True
    assert judge(claim, Number(100.0, 100.0, 100.0, values=(100.0,)), quick=True).holds is None
    assert judge(claim, Number(200.0, 190.0, 210.0, values=values), quick=True).holds is False


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    out = tmp_path_factory.mktemp("quick")
    words = command("reproduce", "--quick", "--only", "qsnet2/ping,qsnet2/noise", "--out", str(out))
    return out, execute(words)


def test_the_first_report_comes_while_experiments_still_run(reproduced: tuple[Path, Ended]) -> None:
    out, ended = reproduced
    assert ended.code == 0, str(ended)
    first, last = (ended.err.index(words) for words in ("the first report is there", "[2/2]"))
    assert first < last
    page = (out / "report" / "index.html").read_text(encoding="utf-8")
    assert "This is a quick run" in page
    assert "This is a quick run" in ended.err


def test_wrong_selections_are_errors(elanite: Run) -> None:
    for only in ("", ",", "qsnet/ping,"):
        ended = elanite("reproduce", "--only", only)
        assert ended.code == 2
        assert "empty" in ended.err
    ended = elanite("reproduce", "--quick", "--only", "speed")
    assert ended.code == 2
    assert "decide no claim" in ended.err


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")
def test_quick_verdicts_are_those_of_the_whole_run_or_not_resolved(tmp_path: Path) -> None:
    """Takes some minutes of processor time."""
    from elanite.claims import scoreboard

    execute(command("reproduce", "--quick", "--out", str(tmp_path)), seconds=3000)
    states = whole_states()
    found = scoreboard(tmp_path, quick=True)
    other = {
        verdict.claim.id: (verdict.state, states[verdict.claim.id])
        for verdict in found
        if verdict.state not in ("not resolved", "source too vague", states[verdict.claim.id])
    }
    assert other == {}


def whole_states() -> dict[str, str]:
    """The verdicts of docs/validation.md."""
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|(?:.*\|)* ([a-z ]+) \|[^|]*\|$", page, re.MULTILINE)
    found = dict(rows)
    assert len(found) > 90
    return found
