"""Independent values: the units of a confidence interval, batches or seeds.

Runs with several seeds have values by seed and batch. Batches of one seed share all that its random numbers decide once
and for all, such as failed cables, a permutation or a placement, and a network near saturation can stay for the whole
run in a state of its own. Then the batches of all seeds together look like many independent values, and their interval
is too narrow: with two random sets of failed cables it covered the mean of forty in 62% of the cases, not in 95%.

So the analysis of variance decides. The mean square between seeds, over the one within seeds, is about 1 if seeds add
no variance of their own. Above 1 the estimated variance between seeds is positive, and the means of the seeds are the
values; otherwise the values of the batches are. By this rule the interval of three seeds or more covers the mean in at
least 93% of the cases, whatever the variance between seeds (``tests/test_independent.py``); a test at the level of 5%
misses moderate variances, and covers it in as few as 84%. Two seeds that differ are two values, without an interval.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

SEVERAL = 2
"""Fewest seeds with a variance between them."""


def independent(values: Sequence[float], seeds: Sequence[Hashable]) -> list[float]:
    """The independent values among ``values`` of these ``seeds``: the values themselves, or the mean of each seed."""
    by_seed: dict[Hashable, list[float]] = {}
    for seed, value in zip(seeds, values, strict=True):
        by_seed.setdefault(seed, []).append(value)
    runs = list(by_seed.values())
    inner = len(values) - len(runs)
    if len(runs) < SEVERAL or inner == 0:
        return list(values)
    means = [math.fsum(run) / len(run) for run in runs]
    grand = math.fsum(values) / len(values)
    between = math.fsum(len(run) * (mean - grand) ** 2 for run, mean in zip(runs, means, strict=True))
    within = math.fsum((value - mean) ** 2 for run, mean in zip(runs, means, strict=True) for value in run)
    return means if between * inner > within * (len(runs) - 1) else list(values)
