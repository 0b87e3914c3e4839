"""Independent values: a confidence interval's units, batches or seeds.

Runs with several seeds have values by seed and batch. Batches with one seed share all that its
random numbers fix for the run, such as failed cables, a permutation or a placement, and a network
near saturation can stay for the whole run in a particular state. Then all seeds' batches together
look like many independent values, and their interval is too narrow: with two random sets of failed
cables it covered the mean over forty in 62% of the cases, not in 95%.

So the analysis of variance decides. The mean square between seeds, over the one within seeds, is
about 1 if seeds add no variance. Above 1 the estimated variance between seeds is positive, and the
seeds' means are the values; otherwise the batches' values are. By this rule the interval from three
seeds or more covers the mean in at least 93% of the cases, whatever the variance between seeds
(``tests/test_independent.py``); a test at the 5% level misses moderate variances, and covers it in
as few as 84%. Two seeds that differ are two values, without an interval.

Seeds whose batches are all equal are one run, repeated: no random number had an effect. They count
once, or an interval would narrow with each copy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

SEVERAL = 2
"""Fewest seeds with a variance between them."""


def independent(values: Sequence[float], seeds: Sequence[Hashable]) -> list[float]:
    """The independent values among ``values`` of these ``seeds``: the values themselves, or each
    seed's mean.
    """
    by_seed: dict[Hashable, list[float]] = {}
    for seed, value in zip(seeds, values, strict=True):
        by_seed.setdefault(seed, []).append(value)
    runs = list(by_seed.values())
    inner = len(values) - len(runs)
    if len(runs) < SEVERAL or inner == 0:
        return list(values)
    if len(set(runs[0])) > 1 and all(run == runs[0] for run in runs):
        return runs[0]
    means = [math.fsum(run) / len(run) for run in runs]
    grand = math.fsum(values) / len(values)
    between = math.fsum(
        len(run) * (mean - grand) ** 2 for run, mean in zip(runs, means, strict=True)
    )
    within = math.fsum(
        (value - mean) ** 2 for run, mean in zip(runs, means, strict=True) for value in run
    )
    return means if between * inner > within * (len(runs) - 1) else list(values)
