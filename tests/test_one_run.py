"""One-run figures are judged by a one-run interval: its coverage in closed form, its verdicts, its
words.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from conftest import judged
from elanite.errors import UsageError
from elanite.report import layout
from elanite.results.numbers import number, prediction
from elanite.validation import board, cells
from elanite.validation.claim import Claim
from elanite.validation.claims import claims_of
from elanite.validation.verdict import Verdict, judge


def covered(times: float) -> float:
    """The probability that a fourth normal value lies within ``times`` s of the mean of three.

    Its distance over s sqrt(1 + 1/3) has a t distribution with two degrees of freedom: P(|t| < x) =
    x / sqrt(2 + x^2).
    """
    x = times / math.sqrt(1 + 1 / 3)
    return x / math.sqrt(2 + x * x)


def test_the_interval_covers_one_run_in_twenty_but_one() -> None:
    """In closed form; the mean's interval, planted in its place, covers a run in 17 of 20 cases at
    best.
    """
    runs = [9.0, 10.0, 11.0]  # s = 1
    low, high = prediction(runs)
    assert (low + high) / 2 == pytest.approx(10)
    assert covered((high - low) / 2) == pytest.approx(0.95, abs=1e-4)
    assert covered(number(runs).half) < 0.85


def test_the_interval_covers_one_run_of_many_draws() -> None:
    source = random.Random(1)
    inside = 0
    for _ in range(2000):
        *runs, one = (source.gauss(20.0, 2.0) for _ in range(9))
        low, high = prediction(runs)
        inside += low <= one <= high
    assert inside / 2000 == pytest.approx(0.95, abs=0.015)  # three standard errors


ONE = Claim(
    "a", "petrini2001", "value", "a quantile", value=20.0, tolerance=0.05, one_run="one test"
)


def figure(*runs: float) -> Verdict:
    return judge(ONE, replace(number(list(runs)), runs=runs))


@pytest.mark.parametrize(
    ("runs", "holds"),
    [
        ((21.5, 19.0, 24.0, 22.0), True),  # the mean is off by 8%, but a run may well be at 20
        ((21.5, 21.6, 21.7, 21.6), False),  # the runs agree, and none comes near 20
        ((26.0, 28.0, 30.0, 28.0), False),
        ((20.5, 20.6, 20.7, 20.6), True),  # within the tolerance, which stays
    ],
)
def test_a_figure_of_one_run_is_judged_by_one_run(runs: tuple[float, ...], holds: bool) -> None:
    verdict = figure(*runs)
    assert verdict.holds is holds
    assert verdict.one_run == pytest.approx(prediction(runs))


def test_the_interval_of_the_mean_would_miss_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mistake that this rule mends, planted: the mean's interval taken for one run's."""
    runs = (21.0, 20.4, 22.9, 21.2, 22.6, 21.4, 20.3, 22.8)
    assert figure(*runs).holds is True

    def of_the_mean(runs: tuple[float, ...], _look: int | None) -> tuple[float, float]:
        mean = number(list(runs))
        return mean.low, mean.high

    monkeypatch.setattr("elanite.validation.verdict.prediction", of_the_mean)
    assert figure(*runs).holds is False


def test_too_few_runs_and_other_claims_are_judged_by_the_mean() -> None:
    assert figure(21.5, 19.0).one_run is None
    plain = replace(ONE, one_run="")
    assert (
        judge(plain, replace(number([21.5, 21.6, 21.7]), runs=(21.5, 21.6, 21.7))).one_run is None
    )


def test_the_page_and_the_report_say_what_one_run_would_give() -> None:
    rows = [
        {"metric": "latency_p93", "batch": 0, "seed": seed, "value": value}
        for seed, value in enumerate((21.5, 19.0, 24.0, 22.0))
    ]
    verdict = judged("barrier.hardware.loaded.p93", rows)
    assert verdict.holds is True
    assert verdict.one_run is not None
    said = cells.one_run(verdict)
    assert said.startswith("one run would give 14.")
    assert said.endswith(" µs")
    page = board.markdown([verdict])
    assert f"a simulated run has 2,000 barriers. {said}." in page
    assert f"({said})" in page
    assert f"O{said[1:]}: the slide shows" in layout.render([], [verdict])
    assert verdict.as_json()["one_run"] == list(verdict.one_run)


def test_only_plain_values_have_figures_of_one_run() -> None:
    with pytest.raises(
        UsageError, match="`one_run` = `one test`: this key is for a claim of the kind value"
    ):
        claims_of(
            '[[claim]]\nid = "a"\nsource = "petrini2001"\nkind = "max"\nrank = "bound"\nbecause ='
            ' "a limit"\nvalue = 2\nsays = "a limit"\none_run = "one test"\n',
            "own.toml",
        )
