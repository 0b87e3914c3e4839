"""Identifiability: the values of fitted parameters that the measured values allow.

A parameter's *interval* comes from its profile: the values with which the sum of squares, minimised
over all other parameters within their ranges, exceeds the minimum by no more than chance explains
at 95% (3.84 for a chi-square; see ``_limit`` for data that fit worse than their sigmas suggest).
Its ends are found by simulation, from the curvature at the minimum on: a parameter's profile may be
flat on one side, steep on the other, or end at a threshold. Any tried value set that fits as well
belongs to the interval, too.

The *standard error* is the interval's half width as if the profile were a parabola. Where the data
do not end the interval at both sides, it comes from the curvature at the minimum, by the data
alone, as the correlations do. Their derivatives are over the steps ``minimum.STEP``, which a wide
range makes so long that a curved effect has another slope than at the minimum.

Measured values *determine* a parameter if they exclude both ends of its range, and if the
curvature's interval is narrower than the range. So a parameter without effect is not determined,
nor is one at the end of its range, nor one with an effect that another parameter makes up for, even
if that parameter's range bounds both. An end at zero need not be excluded: no quantity is negative.

An interval for a parameter with few values, such as whole cycles, reaches at least halfway to the
next ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite.study.minimum import STEP, TINY, jacobian, neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from elanite.study.search import Texts, ValueSearch

CONFIDENCE = 0.95

PRIOR = 12**-0.5
"""The standard deviation of a value with a known range alone, as a share of the range."""

FAR = 1000.0
"""Standard errors and correlations come from the data alone: as if the ranges were this many times
wider.
"""

ALIKE = 0.95
"""Parameters with a higher correlation, or a lower one than its negative, are hardly
distinguishable.
"""

STEPS = 8
"""Most places at which an interval's end is sought."""

NEAR = 0.1
"""An end is found where the sum of squares' excess is within this fraction of the limit."""

ROUNDS = 3
"""How often the intervals are sought again after a better value set was met."""

_END = 1e-9


@dataclass(frozen=True)
class ParameterInterval:
    """A parameter's interval by the data; values are shares of its range."""

    error: float
    """Standard error."""
    curvature: float
    """Standard error by the curvature at the minimum, by the data alone: without the ranges of
    other parameters.
    """
    low: float
    high: float
    """The 95% interval's ends within the range."""
    effect: bool
    """Whether any simulated value depends on the parameter."""
    below: bool
    above: bool
    """Whether the data exclude the range's lower, and upper, end."""

    @property
    def determined(self) -> bool:
        """Whether the data exclude both ends of the range, and are sharper than it."""
        return self.below and self.above and self.curvature * _quantile() < 0.5


def identify(search: ValueSearch) -> tuple[Texts, list[ParameterInterval], list[list[float]]]:
    """The best value set, each value's interval, and their errors' correlation.

    Sets that the intervals need are no trials.
    """
    search.most = None
    for _ in range(ROUNDS):
        best = search.best()
        found, correlation = _Profile(search, best).known()
        if search.best() == best:
            break
    return best, found, correlation


class _Profile:
    """The sum of squares around its minimum."""

    def __init__(self, search: ValueSearch, best: Texts) -> None:
        import numpy as np

        self.search = search
        self.best = best
        self.here = np.array(search.shares(best))
        self.slopes = jacobian(search, best)
        self.left = search.residuals(best)
        self.square = float(self.left @ self.left)
        freedom = len(self.left) - int(np.linalg.matrix_rank(self.slopes))
        self.limit, self.scale = _limit(self.square, freedom)

    def known(self) -> tuple[list[ParameterInterval], list[list[float]]]:
        """All parameters, and their errors' correlation."""
        import numpy as np

        count = len(self.best)
        information = self.slopes.T @ self.slopes / self.scale
        covariance = np.linalg.inv(information + np.eye(count) / (FAR * PRIOR) ** 2)
        errors = np.sqrt(np.diag(covariance))
        reach = (self.limit / self.scale) ** 0.5 * errors
        # The first guesses at all ends run side by side.
        guesses = [
            self._at(index, self._guess(index, way, reach))
            for index in range(count)
            for way in (-1, 1)
        ]
        self.search.run(guesses)
        ends = [
            [self._end(index, way, self._guess(index, way, reach)) for way in (-1, 1)]
            for index in range(count)
        ]
        good = list(self._as_good())
        found = []
        for index, error in enumerate(errors):
            (low, below), (high, above) = ends[index]
            own = (
                (high - low) / 2 / (self.limit / self.scale) ** 0.5
                if below and above and high > low
                else error
            )
            low, high = (
                min(low, *(shares[index] for shares in good)),
                max(high, *(shares[index] for shares in good)),
            )
            # No quantity is negative: an end at zero needs no data.
            below = (below and low > _END) or self.search.keys[index].low == 0
            above = above and high < 1 - _END
            low, high, step = self._rounded(index, low, high)
            effect = bool(np.any(self.slopes[:, index] != 0)) or low > _END or high < 1 - _END
            found.append(
                ParameterInterval(
                    float(np.hypot(own, step * PRIOR)),
                    float(np.hypot(error, step * PRIOR)),
                    low,
                    high,
                    effect,
                    below,
                    above,
                )
            )
        return found, (covariance / np.outer(errors, errors)).tolist()

    def _guess(self, index: int, way: int, reach: NDArray[np.float64]) -> float:
        """The interval's end by the curvature, within the range."""
        return float(min(max(self.here[index] + way * reach[index], 0.0), 1.0))

    def _end(self, index: int, way: int, guess: float) -> tuple[float, bool]:
        """An interval's end, and whether it is an end by the data and not by the range."""
        start, edge = float(self.here[index]), float(way > 0)
        if abs(start - edge) < _END:
            return edge, False
        inside = (start, 0.0)  # the farthest place within the limit, and the excess there
        place = guess
        while (outside := self._excess(index, place))[1] <= self.limit:
            if abs(edge - place) < _END:
                return edge, False
            inside = outside
            # A parabola's end, and farther by half at least: the machine may round the place back.
            far = (
                2.0
                if inside[1] <= 0
                else min(2.0, max(1.5, 1.05 * (self.limit / inside[1]) ** 0.5))
            )
            place = start + far * (place - start) if place != start else start + way * STEP
            place = place if abs(place - start) < abs(edge - start) else edge
        for _ in range(STEPS):
            if abs(outside[1] / self.limit - 1) < NEAR:
                break
            span = outside[0] - inside[0]
            # Never so near to either side that a threshold takes for ever.
            part = (
                min(max((_crossing(inside, outside, self.limit) - inside[0]) / span, 0.1), 0.9)
                if span
                else 0.0
            )
            share, excess = self._excess(index, inside[0] + part * span)
            if min(abs(share - inside[0]), abs(share - outside[0])) < _END:
                break  # the machine takes no value in between
            if excess <= self.limit:
                inside = share, excess
            else:
                outside = share, excess
        return _crossing(inside, outside, self.limit), True

    def _excess(self, index: int, share: float) -> tuple[float, float]:
        """The parameter's share that the machine takes, and the excess of the sum of squares over
        the minimum there.

        The other parameters follow by least squares within their ranges, with the slopes at the
        minimum.
        """
        texts = self._at(index, share)
        taken = self.search.shares(texts)[index]
        if abs(taken - self.here[index]) < _END:  # the machine rounds the place back
            return taken, 0.0
        least = self._square(texts)
        for _ in range(STEPS):
            moved = self._moved(index, self.search.shares(texts), self.search.residuals(texts))
            square = self._square(moved)
            if moved == texts or square > least - NEAR * self.limit:
                break
            texts, least = moved, square
        return taken, least - self.square

    def _at(self, index: int, share: float) -> Texts:
        """The set with a parameter at a share, and with the others where the slopes lead them."""
        shares = [*self.here]
        shares[index] = share
        left = self.left + self.slopes[:, index] * (share - self.here[index])
        return self._moved(index, shares, left)

    def _moved(self, index: int, shares: Sequence[float], left: NDArray[np.float64]) -> Texts:
        """The set in which all parameters but one make up for these residuals."""
        import numpy as np
        from scipy.optimize import lsq_linear

        others = [
            each for each in range(len(shares)) if each != index and np.any(self.slopes[:, each])
        ]
        moved = np.clip(shares, 0, 1)
        if others:
            own = moved[others]
            step = lsq_linear(self.slopes[:, others], -left, (-own - TINY, 1 - own + TINY))
            moved[others] = np.clip(own + step.x, 0, 1)
        return self.search.texts(moved.tolist())

    def _square(self, texts: Texts) -> float:
        left = self.search.residuals(texts)
        return float(left @ left)

    def _as_good(self) -> Iterator[list[float]]:
        """The shares in all sets within the ranges that fit no worse than chance explains."""
        for texts in [*self.search.tried]:
            shares = self.search.shares(texts)
            inside = all(-_END <= share <= 1 + _END for share in shares)
            if inside and self._square(texts) - self.square <= self.limit:
                yield shares

    def _rounded(self, index: int, low: float, high: float) -> tuple[float, float, float]:
        """The interval of a parameter of few values, at least halfway to the next ones; and the
        step between them.
        """
        near = neighbours(self.search, self.best, index)
        if near is None:
            return low, high, 0.0
        here = self.here[index]
        steps = [self.search.shares(texts)[index] - here for texts in near]
        reach = [here + step / 2 for step in steps]
        return min([low, *reach]), max([high, *reach]), max(map(abs, steps), default=0.0)


def _crossing(inside: tuple[float, float], outside: tuple[float, float], limit: float) -> float:
    """Where the excess reaches the limit between two places, if its root is linear between them."""
    low, high = max(inside[1], 0.0) ** 0.5, outside[1] ** 0.5
    return float(inside[0] + (outside[0] - inside[0]) * (limit**0.5 - low) / (high - low))


def _quantile() -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + CONFIDENCE) / 2))


def _limit(square: float, freedom: int) -> tuple[float, float]:
    """The excess of the sum of squares at an interval's ends, and the square of the factor of all
    sigmas.

    Where residuals are larger than chance explains, the sigmas are too small: they count as so much
    larger as makes the residuals usual, and Student's distribution stands for the normal one.
    """
    from scipy.special import gammaincinv, stdtrit

    if freedom > 0 and square > 2 * float(gammaincinv(freedom / 2, CONFIDENCE)):
        scale = square / freedom
        return scale * float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) ** 2, scale
    return _quantile() ** 2, 1.0
