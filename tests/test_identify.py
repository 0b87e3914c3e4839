"""Intervals of fitted values: their coverage, and the parameters that the data do not determine.

The objective is a formula instead of simulations: message latency on a machine with a start, a
rate, a hop delay, and parameters that compensate each other, or have no effect.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from elanite.study import identifiability as identification
from elanite.study import ranges
from elanite.study.identifiability import ParameterInterval, identify
from elanite.study.measurements import MeasuredValue
from elanite.study.minimum import minimise
from elanite.study.ranges import Range, amount
from elanite.study.search import Texts, ValueSearch

SIZES = (0, 64, 1024, 4096, 16384, 65536)
HOPS = (2, 4, 6)
PLACES = [(size, hops) for size in SIZES for hops in HOPS]

Model = Callable[[Sequence[float]], list[float]]


class Formula(ValueSearch):
    """Value sets with calculated points."""

    def __init__(
        self, fit: dict[str, str], model: Model, values: Sequence[float], sigmas: Sequence[float]
    ) -> None:
        self.keys = [
            key for each in fit if isinstance(key := ranges.of("--fit", each, fit[each]), Range)
        ]
        self.model = model
        self.targets = [
            MeasuredValue(
                f"m.csv:{line}", ("x", "s", "{}"), "latency", None, value, sigma, stated=True
            )
            for line, (value, sigma) in enumerate(zip(values, sigmas, strict=True), 2)
        ]
        self.most = None
        self.tried = {}
        self.sigmas = list(sigmas)
        self.steps = [0.0] * len(self.keys)
        """For each parameter, its values are multiples of this number, unless it is 0."""

    def run(self, sets: Sequence[Texts]) -> None:
        for texts in sets:
            self.tried[texts] = self.model([float(text.split()[0]) for text in texts])

    def text(self, index: int, share: float, before: Texts) -> str:
        key, step = self.keys[index], self.steps[index]
        number = key.number(share)
        decimals = 0 if key.unit == "B" else 3  # as files take them
        return f"{round(number / step) * step if step else number:.{decimals}f} {key.unit}"


def latency(start: float, rate: float, hop: float) -> list[float]:
    """In us: a start in ns, a rate in MB/s, and a delay per hop in ns."""
    return [start / 1000 + size / rate + hops * hop / 1000 for size, hops in PLACES]


FIT = {"start": "200 ns..1500 ns", "rate": "150 MB/s..400 MB/s", "hop": "20 ns..150 ns"}
TRUE = (671.0, 231.5, 77.3)
PRIOR = ("500 ns", "264 MB/s", "55 ns")


def fitted(
    model: Model,
    fit: dict[str, str],
    true: Sequence[float],
    seed: int,
    scale: float = 1.0,
    steps: Sequence[float] = (),
) -> tuple[Formula, Texts, list[ParameterInterval]]:
    """A fit to the true parameters' values with normal errors of 1%, stated as ``scale`` times
    1%.
    """
    draws = random.Random(seed)
    exact = model(true)
    values = [value * draws.gauss(1, 0.01) for value in exact]
    search = Formula(fit, model, values, [scale * 0.01 * value for value in exact])
    search.steps = list(steps) or search.steps
    search.run([search.texts([0.5] * len(fit))])
    assert minimise(search, 1)
    best, known, _ = identify(search)
    return search, best, known


def interval(search: ValueSearch, index: int, known: ParameterInterval) -> tuple[float, float]:
    return search.keys[index].number(known.low), search.keys[index].number(known.high)


def contained(seeds: range, **options: float) -> list[float]:
    """Each parameter's interval coverage."""
    within = [0] * len(TRUE)
    for seed in seeds:
        search, _, known = fitted(lambda values: latency(*values), FIT, TRUE, seed, **options)
        for index, each in enumerate(known):
            low, high = interval(search, index, each)
            within[index] += low <= TRUE[index] <= high
            assert each.determined
    return [count / len(seeds) for count in within]


def test_intervals_contain_the_truth_as_often_as_stated() -> None:
    for share in contained(range(80)):
        assert 0.88 <= share <= 0.995


def test_intervals_of_understated_errors_follow_the_residuals() -> None:
    """Errors of 1% that are stated as 0.2%."""
    for share in contained(range(100, 140), scale=0.2):
        assert share >= 0.85


def test_a_mistaken_limit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One-standard-error intervals contain the truth in two cases in three."""
    monkeypatch.setattr(identification, "_limit", lambda *_: (1.0, 1.0))
    assert all(0.5 < share < 0.85 for share in contained(range(40)))


def test_standard_errors_are_those_of_the_fits() -> None:
    """Many fits' values scatter by their standard errors."""
    import numpy as np

    found, errors = [], []
    for seed in range(30):
        search, best, known = fitted(lambda values: latency(*values), FIT, TRUE, seed)
        found.append(
            [
                amount(text) / amount(f"1 {key.unit}")
                for text, key in zip(best, search.keys, strict=True)
            ]
        )
        errors.append(
            [
                each.error * (key.high - key.low)
                for each, key in zip(known, search.keys, strict=True)
            ]
        )
    ratio = np.std(found, axis=0) / np.mean(errors, axis=0)
    assert all(0.7 < each < 1.35 for each in ratio), ratio


@pytest.mark.parametrize(
    ("rate", "near"),
    [(FIT["rate"], 0.03), ("200 MB/s..260 MB/s", 0.03), ("20 MB/s..4000 MB/s", 0.2)],
)
def test_a_standard_error_is_that_of_the_model(rate: str, near: float) -> None:
    """A rate's effect is curved, and a tenth of a wide range is far from the minimum."""
    import numpy as np

    search, _, known = fitted(lambda values: latency(*values), FIT | {"rate": rate}, TRUE, seed=7)
    key = search.keys[1]
    error = known[1].error * (key.high - key.low)
    exact, steps = np.array(latency(*TRUE)), np.diag(TRUE) * 1e-4
    slopes = [
        (np.array(latency(*(TRUE + step))) - exact) / step.sum() / (0.01 * exact) for step in steps
    ]
    covariance = np.linalg.inv(np.array(slopes) @ np.array(slopes).T)
    assert error == pytest.approx(covariance[1][1] ** 0.5, rel=near)


@pytest.mark.parametrize("seed", range(3))
def test_what_makes_up_for_each_other_is_not_determined(seed: int) -> None:
    """Start and command act by their sum; the command's range bounds both."""

    def model(values: Sequence[float]) -> list[float]:
        start, command, rate = values
        return latency(start + command, rate, 77.3)

    fit = {"start": "0 ns..2000 ns", "command": "100 ns..300 ns", "rate": FIT["rate"]}
    _, _, (start, command, rate) = fitted(model, fit, (471.0, 200.0, 231.5), seed)
    assert not start.determined
    assert start.below, "the range of the command bounds it"
    assert not command.determined
    assert (command.low, command.high) == (0, 1)
    assert rate.determined
    assert rate.error < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_what_has_no_effect_is_not_determined(seed: int) -> None:
    fit = {"start": FIT["start"], "handle": "100 ns..200 ns", "rate": FIT["rate"]}
    _, _, (start, handle, rate) = fitted(
        lambda values: latency(values[0], values[2], 77.3), fit, (671.0, 150.0, 231.5), seed
    )
    assert start.determined
    assert rate.determined
    assert not handle.determined
    assert not handle.effect
    assert (handle.low, handle.high) == (0, 1)


def test_an_end_of_the_range_is_not_determined() -> None:
    """The true rate is beyond the range, above and below; at a true delay of zero there is no value
    beyond.
    """
    for texts, open_above in (("150 MB/s..220 MB/s", True), ("250 MB/s..400 MB/s", False)):
        _, _, known = fitted(lambda values: latency(*values), FIT | {"rate": texts}, TRUE, 1)
        assert not known[1].determined
        assert known[1].below is open_above
        assert known[1].above is not open_above
    near = FIT | {"hop": "0 ns..150 ns"}
    _, _, known = fitted(lambda values: latency(*values), near, (671.0, 231.5, 0.0), 1)
    assert known[2].determined
    assert known[2].low == 0


def test_data_that_are_too_coarse_do_not_determine() -> None:
    """Errors of 1% for large messages leave the start open."""
    _, _, (start,) = fitted(
        lambda values: [values[0] / 1000 + size / 231.5 for size in (262144, 524288)],
        {"start": FIT["start"]},
        (671,),
        1,
    )
    assert not start.determined
    assert start.effect


def test_a_threshold_is_bounded_by_the_sizes_that_were_measured() -> None:
    """The curvature is zero at a threshold between two sizes; the profile ends at the sizes."""

    def model(values: Sequence[float]) -> list[float]:
        return [1 + size / 231.5 + (2.0 if size >= values[0] else 0.0) for size, _ in PLACES]

    search, _, (big,) = fitted(model, {"big": "10 B..60000 B"}, (3000.0,), 1)
    low, high = interval(search, 0, big)
    assert low * 1.1 >= 1024
    assert low < 1200
    assert 4096 * 0.9 < high <= 4200


@pytest.mark.parametrize("step", [5.0, 11.0])
def test_few_values_reach_halfway_to_the_next_ones(step: float) -> None:
    """Delays are multiples of some ns, and the true one is between two multiples."""
    for seed in range(4):
        search, best, known = fitted(
            lambda values: latency(*values), FIT, TRUE, seed, steps=(0.0, 0.0, step)
        )
        assert abs(float(best[2].split()[0]) - TRUE[2]) < 2 * step
        low, high = interval(search, 2, known[2])
        assert low <= TRUE[2] <= high
        assert step <= high - low < 5 * step
        assert all(each.determined for each in known), (
            "a place that is rounded back is no end of the range"
        )


def test_the_minimum_is_found_in_few_sets_where_values_are_rounded() -> None:
    search, _, _ = fitted(lambda values: latency(*values), FIT, TRUE, 1, steps=(0.0, 0.0, 5.0))
    assert len(search.tried) < 150
