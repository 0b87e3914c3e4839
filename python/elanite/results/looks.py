"""Looks: how often a short run may judge a claim, and the intervals that this takes.

``elanite reproduce --decide`` spends its time where a verdict is open. The first look at a claim
has the runs of ``reproduce --quick``, mostly with one seed. If these runs do not resolve the claim,
the second and last look has four runs for the configurations on which the verdict hangs, with other
seeds (``RUNS``). A claim is judged at the first look if that one resolves it, or else from both
looks' points. Windows, seeds and the budget are fixed before, so that every machine simulates the
same points and gives the same verdicts.

Several looks have several chances to err. So the 5% error is divided among them, and each look's
interval has a confidence of 1 - 5%/2: all of a claim's intervals cover the figure together in at
least 95% of the cases, whatever the dependence between the looks (Bonferroni's inequality), and so
does the interval at the look at which a run stops. These are repeated confidence intervals
(Jennison and Turnbull 1989). Before the last look, the whole interval has to agree that the claim
holds or is missed. The last look judges as a whole run does: a mean within the bounds holds.

The first look has one run for most points. Its batches do not show the variance between seeds, if
there is any; the last look's intervals contain it (see ``independent``). That look has four runs,
as an interval from two or three values is wider by Student's t than most claims can use. A third
look with eight runs would add four runs to open claims' configurations, where the second one adds
three.
"""

from __future__ import annotations

import math
from functools import cache

RUNS = (1, 4)
"""Runs per configuration at each look; more if the first look has more."""

LAST = len(RUNS) - 1
"""The last look: a claim's budget."""

ERROR = 0.05
"""The highest probability with which all looks' intervals together miss the figure."""

_STEPS = 80
"""Halvings in the search for a quantile."""


def more_looks_possible(look: int | None) -> bool:
    """Whether a later look may follow; ``look`` is `None` for a whole run, which has one look."""
    return look is not None and look < LAST


@cache
def widening(values: int) -> float:
    """A look's half interval over half a 95% interval, by the count of independent values; at least
    two.
    """
    return student(ERROR / len(RUNS), values - 1) / student(ERROR, values - 1)


@cache
def student(error: float, degrees: int) -> float:
    """Student's t that is exceeded with this probability, on both sides together."""
    low, high = 0.0, 1.0
    while _within(high, degrees) < 1.0 - error:
        high *= 2.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < 1.0 - error else (low, middle)
    return high


def _within(t: float, degrees: int) -> float:
    """The probability for a t between -``t`` and ``t``: Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, square = math.cos(angle), math.cos(angle) ** 2
    odd = degrees % 2
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for place in range(degrees // 2):
        total += term
        factor = 2 * place + 1 + odd
        term *= square * factor / (factor + 1)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
