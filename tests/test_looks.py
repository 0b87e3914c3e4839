"""Looks at short runs: all intervals of a claim together have their stated coverage."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from elanite import _core
from elanite.campaign.outcome import CampaignOutcome
from elanite.report import reproduction
from elanite.report.reproduction import Reproduction, looks_at
from elanite.results import looks
from elanite.results.looks import ERROR, LAST, RUNS
from elanite.results.numbers import Case, Finding, StatementPart, number, ratio
from elanite.store import Store
from elanite.validation import scoreboard as board
from elanite.validation import short_runs
from elanite.validation.claim import Claim
from elanite.validation.verdict import Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from elanite.campaign.outcome import ExperimentCost
    from elanite.inputs.plan import Plan, Point
    from elanite.validation.measures import Number

CASES = 1200
BATCHES = 8

MARGIN = 4 * (ERROR * (1 - ERROR) / CASES) ** 0.5
"""Four standard errors of a 5% error frequency."""


class Runs:
    """A point's runs: batches around 0 with variance 1, and variance ``between`` squared between
    seeds.
    """

    def __init__(self, random: Random, between: float) -> None:
        middles = [random.gauss(0.0, between) for _ in range(RUNS[LAST])]
        self.values = [random.gauss(middle, 1.0) for middle in middles for _ in range(BATCHES)]
        self.seeds = [seed for seed in range(RUNS[LAST]) for _ in range(BATCHES)]

    def at(self, look: int) -> tuple[list[float], list[int]]:
        """A look's values, with their seeds."""
        count = RUNS[look] * BATCHES
        return self.values[:count], self.seeds[:count]

    def figure(self, look: int) -> Number:
        """The mean at a look, with a 95% interval."""
        values, seeds = self.at(look)
        return number(values, seeds=seeds)


def test_quantiles_are_those_of_student() -> None:
    for degrees in (1, 2, 3, 8, 95):
        _, low, high = _core.interval([1.0, *[0.0] * degrees])
        assert looks.student(ERROR, degrees) == pytest.approx(
            (high - low) / 2 * (degrees + 1), rel=1e-6
        )
    # Table values.
    assert looks.student(0.0125, 2) == pytest.approx(8.8602, abs=1e-4)
    assert looks.student(0.0125, 7) == pytest.approx(3.3353, abs=1e-4)
    assert looks.student(0.0125, 10**4) == pytest.approx(2.4977, abs=2e-3)


@pytest.mark.parametrize(("between", "first"), [(0.0, 0), (0.5, 1), (1.0, 1), (3.0, 1)])
def test_all_intervals_of_a_claim_cover_its_figure(between: float, first: int) -> None:
    """The first look has one seed: its interval contains no variance between seeds."""
    random, missed, uncorrected, counted = Random(17), 0, 0, range(first, len(RUNS))
    for _ in range(CASES):
        runs = Runs(random, between)
        figures = [(look, runs.figure(look)) for look in counted]
        missed += any(
            not one.low <= 0.0 <= one.high for one in (figure.at(look) for look, figure in figures)
        )
        uncorrected += any(not figure.low <= 0.0 <= figure.high for _, figure in figures)
    assert missed / CASES < ERROR + MARGIN
    # Several looks with a single look's interval err more often.
    assert len(counted) == 1 or uncorrected / CASES > 1.4 * ERROR


def decided(claim: Claim, runs: Runs, offset: float) -> tuple[int, bool | None]:
    """The look that resolves a claim, and its verdict."""
    for look in range(len(RUNS)):
        values, seeds = runs.at(look)
        found = judge(
            claim, number([offset + value for value in values], seeds=seeds).at(look), look
        )
        if not found.open:
            return look, found.holds
    raise AssertionError("the last look is not open")


@pytest.mark.parametrize("inside", [True, False])
def test_verdicts_err_in_one_of_twenty_claims_at_most(inside: bool) -> None:
    """The hardest case: the figure is at the bound.

    Inside the claim must not be missed, outside it must not hold.
    """
    claim = Claim("a", "paper", "value", "says", value=100.0, tolerance=0.02)
    random, wrong, at = Random(23), 0, [0] * len(RUNS)
    for _ in range(CASES):
        look, holds = decided(claim, Runs(random, 0.0), 102.0)
        at[look] += 1
        wrong += holds is False if inside else holds is True and look < LAST
    assert wrong / CASES < ERROR / 2 + MARGIN  # each of the two errors has one side of the interval
    assert at[LAST] > 0.9 * CASES


def test_a_figure_far_from_the_bounds_needs_one_look_and_one_between_them_more() -> None:
    claim = Claim("a", "paper", "value", "says", value=100.0, tolerance=0.02)
    random = Random(29)
    far, near = (
        [decided(claim, Runs(random, 0.0), offset) for _ in range(200)] for offset in (110.0, 101.5)
    )
    assert {(look, holds) for look, holds in far} == {(0, False)}
    assert sum(look for look, _ in near) > 0.8 * len(near)
    assert all(holds for _, holds in near)


def test_ratios_of_runs_that_share_their_noise_have_narrower_intervals() -> None:
    random, missed, wider = Random(31), 0, 0
    for _ in range(CASES):
        common, one, other = (Runs(random, 0.0) for _ in range(3))
        figures = []
        for look in range(len(RUNS)):
            pairs = []
            for mean, own in ((110.0, one), (100.0, other)):
                values, seeds = common.at(look)
                mixed = [
                    mean + 2 * shared + value
                    for shared, value in zip(values, own.at(look)[0], strict=True)
                ]
                pairs.append(number(mixed, seeds=seeds))
            figures.append(ratio(*pairs).at(look))
        missed += any(not figure.low <= 1.1 <= figure.high for figure in figures)
        values = [pair.values for pair in pairs]
        together, alone = (
            ratio(number(values[0]), number(other)) for other in (values[1], values[1][::-1])
        )
        wider += alone.half > together.half
    assert missed / CASES < ERROR + MARGIN
    assert wider / CASES > 0.99


def test_figures_of_a_whole_run_and_those_without_intervals_stay() -> None:
    assert number([1.0, 2.0, 3.0]).at(None) == number([1.0, 2.0, 3.0])
    assert number([1.0, 2.0]).at(0) == number([1.0, 2.0])
    assert (
        judge(
            Claim("a", "paper", "value", "says", value=1.0, tolerance=1.0), number([1.0, 1.0]), LAST
        ).holds
        is None
    )


@pytest.mark.parametrize("name", ["qsnet/hotspot", "qsnet/io", "collectives/barrier"])
def test_a_look_adds_runs_with_other_seeds_to_the_series_that_are_short(name: str) -> None:
    whole, first = short_runs.planned(name), short_runs.planned(name, look=0)
    series_of = {point.series for point in first.points}
    short = {series for series in series_of if whole.series(series) != first.series(series)}
    assert short
    before = {point.id for point in first.points}
    for look in range(1, len(RUNS)):
        plan = short_runs.planned(name, look=look)
        assert before <= {point.id for point in plan.points}
        for series in series_of:
            runs, most = (
                len({point.seed for point in each.series(series)}) for each in (plan, first)
            )
            assert runs == (max(RUNS[look], most) if series in short else most), series
        before = {point.id for point in plan.points}


class Answers:
    """Gives a claim a state at each look, and remembers its points."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *holds: bool | None, hanging: int | None = None
    ) -> None:
        self.holds, self.first, self.points = holds, hanging, [0] * len(RUNS)
        monkeypatch.setattr(board, "_verdict", self)

    def __call__(self, claim: Claim, points: list[Point], _store: object, look: int) -> Verdict:
        self.points[look] = len(points)
        ids = (
            frozenset(point.id for point in points[: self.first])
            if self.first is not None
            else frozenset()
        )
        return Verdict(claim, simulated=1.0, holds=self.holds[look], look=look, points=ids)


class Full(Store):
    """A store with all points except some seeds'."""

    def __init__(self, *absent: int) -> None:
        self.absent = {
            point.id
            for point in short_runs.planned("qsnet/hotspot", look=LAST).points
            if point.seed in absent
        }

    def get(self, identity: str) -> Any:
        return None if identity in self.absent else self

    current = get


def claim_of(name: str) -> Claim:
    return next(claim for claim in board.claims() if claim.id == name)


def test_a_claim_is_judged_at_its_first_look_that_resolves_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim = claim_of("hotspot.64.near")

    def found(*holds: bool | None) -> tuple[int | None, bool | None]:
        Answers(monkeypatch, *holds)
        looked = board.look_record(claim, Full())
        assert not looked.missing
        return looked.verdict.look, looked.verdict.holds

    assert found(True, False) == (0, True)
    assert found(None, False) == (LAST, False)
    assert found(None, None) == (LAST, None)


def test_only_configurations_on_which_a_verdict_hangs_get_more_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim = claim_of("hotspot.read-write")
    asked = [
        point
        for point in short_runs.planned("qsnet/hotspot", look=0).points
        if claim.asks_for(point)
    ]
    places = len({point.place for point in asked})
    runs = len(asked) // places
    everywhere = Answers(monkeypatch, None, None)
    board.look_record(claim, Full())
    assert everywhere.points == [places * max(count, runs) for count in RUNS]
    somewhere = Answers(monkeypatch, None, True, hanging=1)
    board.look_record(claim, Full())
    assert somewhere.points == [len(asked), len(asked) + RUNS[LAST] - runs]
    resolved = Answers(monkeypatch, True, None)
    board.look_record(claim, Full())
    assert resolved.points == [len(asked), 0]
    # Unfinished runs are reported, and the previous look's verdict stays.
    Answers(monkeypatch, None, None, hanging=1)
    looked = board.look_record(claim, Full(RUNS[LAST]))
    assert looked.verdict.look == 0
    assert [point.seed for point in looked.missing] == [RUNS[LAST]]
    (plan,) = board.further([claim], Full(RUNS[LAST]), 1)
    assert plan.points == looked.missing


def test_a_verdict_hangs_on_the_cases_that_are_not_resolved() -> None:
    claim = claim_of("hotspot.read-write")
    figures = [replace(number([1.0, 2.0, 3.0]), ids=frozenset({name})) for name in "abc"]
    both = replace(figures[1], ids=frozenset(), sides=(figures[1], figures[2]))
    cases = (Case("a", figures[0], True), Case("b", both, None))
    found = judge(claim, Finding(None, "said", (), (StatementPart("kept", None, "", cases),)), 0)
    assert found.open
    assert found.hanging == {"b", "c"}
    assert judge(Claim("a", "paper", "value", "says", value=2.0), figures[0], 0).hanging == {"a"}


def test_a_reproduction_looks_again_at_claims_that_are_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Silent:
        def write(self, _only: list[str] | None = None) -> tuple[Path, list[Verdict]]:
            return tmp_path, []

    first = short_runs.planned("qsnet/hotspot", look=0)
    again = [replace(first, points=first.points[:5])]
    monkeypatch.setattr(reproduction, "further", lambda *_: again)
    simulated: list[int] = []
    begun: list[int] = []

    def simulate(
        plans: list[Plan],
        ended: Callable[[Plan, ExperimentCost], None],  # noqa: ARG001
    ) -> CampaignOutcome:
        simulated.append(sum(len(plan.points) for plan in plans))
        return CampaignOutcome(total=simulated[-1], simulated=1)

    work = Reproduction(Silent(), lambda _: None)  # type: ignore[arg-type]
    more = looks_at(["qsnet/hotspot"], Full(), 1, lambda number, _: begun.append(number))
    outcome = work.run([first], simulate, lambda *_: None, more)
    assert begun == [len(RUNS)]
    assert simulated == [len(first.points), 5]
    assert (outcome.total, outcome.simulated) == (sum(simulated), 2)
