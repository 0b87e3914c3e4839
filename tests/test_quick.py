"""A reproduction's order, quick form and estimate."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import Ended, command, execute, until
from elanite import campaign
from elanite.inputs import sources, warmup
from elanite.inputs.plan import plan
from elanite.report import reproduction
from elanite.report.index import Writer
from elanite.results.numbers import Case, Finding, Number, StatementPart
from elanite.store import Store
from elanite.validation import short_runs
from elanite.validation.claim import Claim
from elanite.validation.claims import claims
from elanite.validation.scoreboard import plans_of
from elanite.validation.verdict import judge

if TYPE_CHECKING:
    from elanite.campaign import CampaignOutcome, ExperimentCost
    from elanite.inputs.plan import Plan, Point

Run = Callable[..., Ended]

ROOT = Path(__file__).parents[1]


def test_the_quick_form_keeps_every_claim_measurable() -> None:
    plans = plans_of(claims(), look=0)
    for claim in claims():
        if claim.experiment:
            points = [point for point in plans[claim.experiment].points if claim.asks_for(point)]
            assert points, claim.id
            whole = [
                point
                for point in short_runs.planned(claim.experiment).points
                if claim.asks_for(point)
            ]
            assert {point.series for point in points} == {point.series for point in whole}, claim.id


def test_the_table_changes_what_it_names() -> None:
    assert short_runs.table().keys() <= set(sources.shipped("experiment"))
    for name, changes in short_runs.table().items():
        source = sources.read("experiment", name)
        whole, short = short_runs.planned(name), short_runs.planned(name, look=0)
        assert {point.id for point in short.points} != {point.id for point in whole.points}
        kept = {point.id for point in short.points}
        asked = [claim for claim in claims() if claim.experiment == name]
        for change in changes:
            others = plan(source, overrides=[other for other in changes if other is not change])
            needed = {
                point.id for point in others.points if any(claim.asks_for(point) for claim in asked)
            }
            assert needed != kept, change


def test_short_runs_begin_when_their_sources_are_stationary() -> None:
    """In series with an earlier start in the whole run, a shorter window shows at most twice the
    excess.
    """
    for name in short_runs.table():
        whole, short = (short_runs.planned(name, look=look) for look in (None, 0))
        for series in {point.series for point in short.points}:
            usual, found = (
                max(
                    (abs(start.excess) for point in each.series(series) for start in starts(point)),
                    default=0.0,
                )
                for each in (whole, short)
            )
            assert found <= max(warmup.MOST, 2 * usual), f"{name} {series}"


def starts(point: Point) -> list[warmup.Start]:
    return list(warmup.of_point(point))


def test_cheap_experiments_with_claims_come_first(tmp_path: Path) -> None:
    parts = reproduction.parts(sources.shipped("experiment"), Store(tmp_path / "store"), 1)
    ends = [part for part in parts if "=" in part.name]  # of ranges that claims are judged over
    ranged = {claim.experiment for claim in claims() if claim.admissible}
    assert {part.name.partition(",")[0] for part in ends} == ranged
    assert len(parts) - len(ends) == len(sources.shipped("experiment"))
    decided = [bool(part.claims) for part in parts]
    assert decided == sorted(decided, reverse=True)
    costs = [part.seconds for part in parts if part.claims]
    assert costs == sorted(costs)
    assert costs[0] < 5


def test_the_quick_form_is_a_small_part_of_the_whole(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    whole, short = (
        sum(
            part.seconds
            for part in reproduction.parts(sources.shipped("experiment"), store, 1, quick=one)
        )
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
    wide, narrow = (
        Number(100.0, 90.0, 110.0, values=values),
        Number(100.0, 99.0, 101.0, values=values),
    )
    assert judge(claim, wide).holds is True
    assert judge(claim, wide, 0).holds is None
    assert judge(claim, wide, 0).state == "not resolved"
    assert judge(claim, narrow, 0).holds is True
    assert judge(claim, Number(100.0, 100.0, 100.0, values=(100.0,)), 0).holds is None
    assert judge(claim, Number(200.0, 190.0, 210.0, values=values), 0).holds is False


def test_one_statement_with_intervals_misses_a_claim_in_a_short_run() -> None:
    claim = Claim("a", "paper", "shape", "says")
    many, one = Number(1.0, 0.9, 1.1, values=(0.9, 1.0, 1.1)), Number(1.0, 1.0, 1.0, values=(1.0,))

    def finding(missed: Number, other: Number) -> Finding:
        parts = (
            StatementPart("a", False, "", (Case("", missed, False),)),
            StatementPart("b", True, "", (Case("", other, True),)),
        )
        return Finding(False, "", (missed, other), parts)

    assert judge(claim, finding(many, one), 0).holds is False
    assert judge(claim, finding(one, many), 0).holds is None


def test_points_that_are_not_shortened_need_no_more_values_than_in_a_whole_run() -> None:
    claim = Claim("a", "paper", "shape", "says")
    many, one = Number(1.0, 0.9, 1.1, values=(0.9, 1.0, 1.1)), Number(1.0, 1.0, 1.0, values=(1.0,))

    def finding(figure: Number) -> Finding:
        cases = (Case("", many, True), Case("", figure, True))
        return Finding(True, "", (many, figure), (StatementPart("a", True, "", cases),))

    assert judge(claim, finding(one), 0).holds is None
    assert judge(claim, finding(replace(one, short=False)), 0).holds is True
    # A ratio over a figure from shortened points has too few values.
    assert (
        judge(claim, finding(replace(one, sides=(replace(one, short=False), one))), 0).holds is None
    )


def test_experiments_are_told_and_the_page_says_that_the_run_was_quick(tmp_path: Path) -> None:
    words = command(
        "reproduce", "--quick", "--only", "qsnet2/ping,qsnet2/noise", "--out", str(tmp_path)
    )
    ended = execute(words)
    assert ended.code == 0, str(ended)
    assert ended.err.index("[1/2] qsnet2/") < ended.err.index("[2/2] qsnet2/")
    assert "This is a quick run" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "This is a quick run" in ended.err


def test_the_report_shows_what_has_finished_while_the_rest_runs(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    writer = Writer(tmp_path, store, quick=True)
    plans = [short_runs.planned(name, look=0) for name in ("qsnet2/noise", "qsnet2/ping")]
    told: list[Path] = []
    work = reproduction.Reproduction(writer, told.append)

    def simulate(
        plans: list[Plan], ended: Callable[[Plan, ExperimentCost], None]
    ) -> CampaignOutcome:
        first, second = plans
        campaign.run([replace(second, points=second.points[:1])], store)
        campaign.run([first], store, ended=ended)
        assert until(lambda: bool(told))
        page = told[0].read_text(encoding="utf-8")
        assert 'id="qsnet2-noise"' in page
        assert 'id="qsnet2-ping"' not in page, "one of its points is there, and it has not finished"
        return campaign.run([second], store, ended=ended)

    ends: list[tuple[str, int]] = []
    outcome = work.run(
        plans, simulate, lambda plan, spent: ends.append((plan.experiment.name, spent.points))
    )
    assert not outcome.failures
    assert ends == [("qsnet2/noise", 2), ("qsnet2/ping", len(plans[1].points) - 1)]
    assert 'id="qsnet2-ping"' in told[0].read_text(encoding="utf-8")
    assert len(told) == 1
    assert any(
        verdict.judged and verdict.claim.experiment == "qsnet2/ping" for verdict in work.verdicts
    )


def test_plans_are_taken_in_order_and_their_ends_are_told(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    cheap, dear = (short_runs.planned(name, look=0) for name in ("qsnet2/noise", "qsnet2/overlap"))
    shared = replace(dear, points=dear.points[-3:])
    told: list[tuple[int, int]] = []
    seen: list[str] = []

    class Seen(campaign.Observer):
        def point(self, point: Point, failure: campaign.PointFailure | None) -> None:
            assert failure is None
            seen.append(point.id)

    plans = [shared, cheap, dear]
    campaign.run(
        plans, store, 1, Seen(), ended=lambda plan, _: told.append((plans.index(plan), len(seen)))
    )
    assert told == [(0, 3), (1, 5), (2, len(dear.points) + 2)]
    assert set(seen[:3]) == {point.id for point in shared.points}
    # There is no point left to simulate: the ends are reported immediately.
    told.clear()
    campaign.run(
        plans, store, 1, ended=lambda plan, spent: told.append((plans.index(plan), spent.points))
    )
    assert told == [(0, 0), (1, 0), (2, 0)]


def test_wrong_selections_are_errors(elanite: Run) -> None:
    for only in ("", ",", "qsnet/ping,"):
        ended = elanite("reproduce", "--only", only)
        assert ended.code == 2
        assert "empty" in ended.err
    ended = elanite("reproduce", "--quick", "--only", "speed")
    assert ended.code == 2
    assert "decide no claim" in ended.err
    some = elanite("reproduce", "--quick", "--only", "sources/unicast,speed")
    assert some.code == 0
    dry = elanite("reproduce", "--quick", "--only", "sources/unicast,speed", "--dry-run")
    for ended in (some, dry):
        assert (
            "warning: --quick leaves out experiments that decide no claim: speed/uniform-64; run"
            " without" in ended.err
        )


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")
def test_verdicts_of_short_runs_do_not_contradict_those_of_the_whole_run(tmp_path: Path) -> None:
    """Takes some minutes of processor time."""
    from elanite.validation.scoreboard import scoreboard

    execute(command("reproduce", "--quick", "--out", str(tmp_path)), seconds=3000)
    execute(
        command("reproduce", "--decide", "--only", "qsnet/permutations", "--out", str(tmp_path)),
        seconds=3000,
    )
    states = whole_states()
    found = scoreboard(tmp_path, quick=True)
    undecided = {"not resolved", "source too vague"}
    other = {
        verdict.claim.id: (verdict.state, states[verdict.claim.id])
        for verdict in found
        if not {verdict.state, states[verdict.claim.id]} & undecided
        and verdict.state != states[verdict.claim.id]
    }
    assert other == {}
    decided = [verdict for verdict in found if verdict.claim.experiment == "qsnet/permutations"]
    assert all(verdict.holds for verdict in decided)
    assert any(verdict.look for verdict in decided)


def whole_states() -> dict[str, str]:
    """The verdicts in docs/validation.md."""
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|(?:.*\|)* ([a-z ]+) \|[^|]*\|$", page, re.MULTILINE)
    found = dict(rows)
    assert len(found) > 90
    return found
