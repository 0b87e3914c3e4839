"""The search for a calibration's minimum.

A Latin hypercube over all ranges, beside the machine as it is, finds a place to start. The trust
regions of ``scipy.optimize.least_squares`` then lead to the minimum; derivatives are differences
between values that the machine takes. Trust regions shrink where a machine rounds values: whole
Gauss-Newton steps follow while they help. Some parameters have few values, as hop delays are whole
cycles: at last, their next values are tried, each with the other parameters' best values. The best
tried value set is the result.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from elanite.base.foreign import optional
from elanite.study.search import TrialLimitError, ValueSearch
from elanite.study.sweeps import hypercube

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from scipy.optimize import OptimizeResult

STARTS = 4
"""Value sets in the hypercube, for each parameter."""

STEP = 0.1
"""Derivatives are taken over this share of a range, or over the next value that the machine takes.
A short run's accepted load is random by some per cent, and slopes over shorter steps would be due
to chance.
"""

COARSE = 0.004
"""A parameter has few values if its next value is more than twice this share of its range away."""

TINY = 1e-12
"""Ends of ranges are so much farther out in linear problems, so that a value may be at an end."""

CLOSE = 1e-3
"""The search ends if values, as shares of their ranges, or the sum of squares change by less than
this fraction.
"""


def solver() -> Callable[..., OptimizeResult]:
    """SciPy's least squares, which end at differences of ``CLOSE``.

    Raises ``UsageError`` without SciPy.
    """
    with optional("a calibration needs SciPy: pip install scipy"):
        from scipy.optimize import least_squares
    return partial(least_squares, **dict.fromkeys(("xtol", "ftol", "gtol"), CLOSE))


def minimise(search: ValueSearch, seed: int) -> bool:
    """Try value sets until the search ends, or has used all its trials; returns whether it
    converged.
    """
    solver()  # SciPy, before anything is simulated
    count = len(search.keys)
    try:
        search.run([search.texts(shares) for shares in hypercube(count, STARTS * count, seed)])
        _descend(search, search.shares(search.best()), range(count))
        _leap(search)
        _neighbours(search)
    except TrialLimitError:
        return False
    return True


def _descend(search: ValueSearch, start: Sequence[float], free: Sequence[int]) -> None:
    """Least squares over some of the parameters; the others stay where they are."""
    import numpy as np

    def texts(places: Sequence[float]) -> tuple[str, ...]:
        shares = list(start)
        for index, share in zip(free, places, strict=True):
            shares[index] = share
        return search.texts(shares)

    solver()(
        lambda places: search.residuals(texts(places)),
        np.clip([start[index] for index in free], 0, 1),
        jac=lambda places: jacobian(search, texts(places), free),
        bounds=(0, 1),
    )


def _leap(search: ValueSearch) -> None:
    """Go to the minimum of the slopes' linear problem, within the ranges, while that helps.

    Trust regions shrink where a machine rounds values, and may end far from the minimum.
    """
    import numpy as np
    from scipy.optimize import lsq_linear

    while True:
        best = search.best()
        slopes, here = jacobian(search, best), np.array(search.shares(best))
        active = np.any(slopes, axis=0)
        if not np.any(active):
            return
        bounds = (-here[active] - TINY, 1 - here[active] + TINY)
        here[active] += lsq_linear(slopes[:, active], -search.residuals(best), bounds).x
        search.run([search.texts(np.clip(here, 0, 1).tolist())])
        if search.root(search.best()) > (1 - CLOSE) * search.root(best):
            return


def _neighbours(search: ValueSearch) -> None:
    """Try the next values of parameters that have few, each with the others' best values, while
    that helps.

    Least squares ignores gaps between values, and may end beside the best of a few.
    """
    import numpy as np

    while True:
        best = search.best()
        coarse = {
            index: found
            for index in range(len(best))
            if (found := neighbours(search, best, index)) is not None
        }
        free = [index for index in range(len(best)) if index not in coarse]
        slopes = jacobian(search, best) if coarse else None
        for index, near in coarse.items():
            for texts in near:
                start = np.array(search.shares(texts))
                if slopes is not None and free:
                    # The others move by as much as makes up for the step, if all were linear.
                    left = search.residuals(best) + slopes[:, index] * (
                        start[index] - search.shares(best)[index]
                    )
                    start[free] += np.linalg.lstsq(slopes[:, free], -left, rcond=None)[0]
                    _descend(search, np.clip(start, 0, 1).tolist(), free)
                else:
                    search.run([texts])
        now = search.best()
        if all(now[index] == best[index] for index in coarse):
            return


def neighbours(
    search: ValueSearch, texts: tuple[str, ...], index: int
) -> list[tuple[str, ...]] | None:
    """The sets with a parameter's next values, upwards and downwards; `None` if its values lie
    close together.
    """
    share = search.shares(texts)[index]
    found: list[tuple[str, ...]] = []
    for way in (1, -1):
        far = COARSE
        while 0 <= share + way * far <= 1:
            text = search.text(index, share + way * far, texts)
            if text != texts[index]:
                if far == COARSE:
                    return None
                found.append((*texts[:index], text, *texts[index + 1 :]))
                break
            far *= 1.25
    return found


def jacobian(
    search: ValueSearch, texts: tuple[str, ...], free: Sequence[int] | None = None
) -> NDArray[np.float64]:
    """The residuals' derivatives by the ranges' shares, over steps that change the machine's
    values.

    A column for each parameter, or for each one in ``free``.
    """
    import numpy as np

    chosen = range(len(texts)) if free is None else free
    steps = [_stepped(search, texts, index) for index in chosen]
    search.run([texts, *(step for step in steps if step)])
    here, columns = search.shares(texts), []
    for index, step in zip(chosen, steps, strict=True):
        difference = (
            search.residuals(step) - search.residuals(texts)
            if step
            else 0 * search.residuals(texts)
        )
        columns.append(
            difference / (search.shares(step)[index] - here[index]) if step else difference
        )
    return np.stack(columns, axis=1)


def _stepped(search: ValueSearch, texts: tuple[str, ...], index: int) -> tuple[str, ...] | None:
    """The set with another value for one parameter: a step upwards, or downwards at the upper
    end.
    """
    shares = search.shares(texts)
    for far in (STEP, 2 * STEP, 4 * STEP, 8 * STEP, 16 * STEP, 0.5):
        for way in (far, -far):
            if 0 <= shares[index] + way <= 1:
                moved = [*shares]
                moved[index] += way
                found = (
                    *texts[:index],
                    search.text(index, moved[index], texts),
                    *texts[index + 1 :],
                )
                if found != texts:
                    return found
    return None
