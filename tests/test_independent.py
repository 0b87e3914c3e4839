"""Independent values: intervals over seeds and batches have their stated coverage of the mean."""

from __future__ import annotations

from random import Random
from statistics import fmean

import pytest

from elanite import _core
from elanite.base.text import FEWEST
from elanite.results.independent_values import independent

CASES = 4000
BATCHES = 5


def drawn(random: Random, seeds: int, between: float) -> tuple[list[float], list[int]]:
    """Values around 0 with variance 1 within seeds, and variance ``between`` squared between
    seeds.
    """
    values, of = [], []
    for seed in range(seeds):
        middle = random.gauss(0.0, between)
        values += [random.gauss(middle, 1.0) for _ in range(BATCHES)]
        of += [seed] * BATCHES
    return values, of


@pytest.mark.parametrize("seeds", [3, 8])
@pytest.mark.parametrize("between", [0.0, 0.5, 1.0, 3.0])
def test_intervals_cover_the_mean(seeds: int, between: float) -> None:
    random, covered, pooled = Random(seeds), 0, 0
    for _ in range(CASES):
        values, of = drawn(random, seeds, between)
        _, low, high = _core.interval(independent(values, of))
        covered += low <= 0.0 <= high
        _, low, high = _core.interval(values)
        pooled += low <= 0.0 <= high
    # Four standard errors of 93% are 1.6%.
    assert covered / CASES > 0.93 - 0.016
    assert covered / CASES < 0.99
    if between >= 1.0:
        assert pooled / CASES < 0.75


def test_seeds_count_where_they_differ_more_than_their_batches() -> None:
    alike = [1.0, 3.0, 3.0, 1.0, 2.0, 2.0]
    apart = [1.0, 1.1, 3.0, 3.1, 2.0, 2.1]
    seeds = [1, 1, 2, 2, 3, 3]
    assert independent(alike, seeds) == alike
    assert independent(apart, seeds) == pytest.approx([1.05, 3.05, 2.05])
    # Row order does not matter, nor does a seed with more batches.
    mixed = [0, 2, 4, 1, 3, 5]
    assert independent([apart[i] for i in mixed], [seeds[i] for i in mixed]) == pytest.approx(
        [1.05, 3.05, 2.05]
    )
    assert independent([*apart, 2.2], [*seeds, 3]) == pytest.approx([1.05, 3.05, 2.1])


def test_one_seed_or_one_value_for_each_leaves_the_values() -> None:
    assert independent([1.0, 9.0], [1, 1]) == [1.0, 9.0]
    assert independent([1.0, 9.0], [1, 2]) == [1.0, 9.0]
    assert independent([5.0, 5.0, 5.0, 5.0], [1, 1, 2, 2]) == [5.0] * 4
    assert independent([], []) == []


def test_two_seeds_that_differ_have_no_interval() -> None:
    values = independent([1.0, 1.1, 1.0, 9.0, 9.1, 9.0], [1, 1, 1, 2, 2, 2])
    assert fmean(values) == pytest.approx(fmean([1.0, 1.1, 1.0, 9.0, 9.1, 9.0]))
    assert len(values) < FEWEST


def test_a_run_that_is_repeated_counts_once() -> None:
    """Copies of a point without random numbers would make its interval narrower."""
    copies, seeds = [10.5, 10.4] * 3, [1, 1, 2, 2, 3, 3]
    assert independent(copies, seeds) == [10.5, 10.4]
    assert independent([10.5, 10.4, 10.5, 10.4, 10.5, 10.3], seeds) != [10.5, 10.4]
