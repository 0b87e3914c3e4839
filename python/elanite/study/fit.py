"""The fit that a calibration results in: values with their intervals, errors, and the machine with
the values.

A fit is *unlikely* if its errors are larger than chance explains. Two parameters are *alike* if
their errors are so correlated that the data hardly distinguish them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite.base.text import micro, part, percent
from elanite.study.identifiability import ALIKE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elanite.figures import Figure
    from elanite.inputs.machine import Machine
    from elanite.study.measurements import ValueComparison

Row = tuple[str, ...]

VALUES: Row = ("parameter", "before", "after", "standard error", "95% interval")
"""The columns of a table of fitted values."""

ERRORS: Row = ("experiment", "series", "metric", "values", "error before", "after", "worst")
"""The columns of a table of errors."""

UNLIKELY = 0.01
"""The machine does not explain a fit's errors if chance makes them so large in fewer cases."""


@dataclass(frozen=True)
class FittedValue:
    """A parameter that was fitted."""

    key: str
    before: str
    after: str
    """The machine's value, in the previous one's unit: the fitted value, if the data determine
    it.
    """
    low: str
    high: str
    """The 95% interval's ends within the range: values outside fit worse than chance explains.
    Empty without an interval: if no value fits, and none fits clearly worse.
    """
    error: float
    """Standard error as a fraction of the value; meaningless unless the data determine the
    value.
    """
    determined: bool
    """Whether the data determine the value."""
    reason: str
    """Why they do not; empty if they do."""

    @property
    def interval(self) -> str:
        """The 95% interval: ``228 to 234 MB/s``; empty without one."""
        return interval(self.low, self.high) if self.low else ""

    @property
    def row(self) -> Row:
        """The cells for ``VALUES``."""
        error = part(self.error, 1) if self.determined else "not determined"
        texts = (micro(text) for text in (self.before, self.supported))
        return (self.key, *texts, error, micro(self.interval))

    @property
    def supported(self) -> str:
        """The value after with the digits that its standard error supports, two error digits:
        ``554 ns``.
        """
        text, _, unit = self.after.partition(" ")
        try:
            value = float(text)
        except ValueError:  # one among several names
            return self.after
        error = abs(value * self.error)
        if not self.determined or not error:
            return self.after
        digits = 1 - math.floor(math.log10(error))
        shown = f"{round(value, digits):.{max(0, digits)}f}"
        return f"{min(shown, text, key=len)} {unit}".rstrip()


@dataclass(frozen=True)
class ErrorGroup:
    """The errors in measured values, for a series and metric."""

    experiment: str
    series: str
    metric: str
    count: int
    before: float
    """Root mean square of simulated/measured - 1, or of the difference if 0 was measured; on the
    given machine.
    """
    after: float
    worst: float
    """The largest error afterwards, by magnitude, with its sign."""
    worst_place: str
    """The file and line of the value with this error."""

    @property
    def row(self) -> Row:
        """The cells for ``ERRORS``."""
        errors = (part(self.before, 1), part(self.after, 1), percent(self.worst))
        return (self.experiment, self.series, self.metric, str(self.count), *errors)


@dataclass(frozen=True)
class Calibration:
    """The fit that a calibration results in: values with their intervals, errors, and the machine
    with the values.

    A fit is *unlikely* if its errors are larger than chance explains. Two parameters are *alike* if
    their errors are so correlated that the data hardly distinguish them.
    """

    values: list[FittedValue]
    correlation: list[list[float]]
    """The correlation between the values' errors, in value order, by the data alone."""
    groups: list[ErrorGroup]
    before: float
    """Root mean square of all errors in units of their sigma, on the machine as it is."""
    after: float
    """The same on the resulting machine."""
    best: float
    """The same with the best value set, including values that the data do not determine."""
    places: list[ValueComparison]
    """Every measured value beside the simulated ones, in file order."""
    swept: Mapping[tuple[str, str], tuple[str, ...]]
    """By experiment and series: the parameters that its points vary, measured or not."""
    freedom: int
    """Measured values beyond the count of parameters with an effect on them."""
    trials: int
    """The count of value sets that the search tried."""
    sets: int
    """The same with those that the intervals needed beside them."""
    ended: bool
    """Whether the search converged before the trial limit."""
    base: Machine
    """The machine as it was."""
    machine: Machine
    """The machine with the fitted values."""

    @property
    def text(self) -> str:
        """The machine as a file."""
        return self.machine.file.text

    def figures(self) -> list[Figure]:
        """Measured against simulated values, and the residuals: two charts for each series and
        metric.
        """
        from elanite.study import residuals

        return list(residuals.draw(self.places, self.swept))

    @property
    def misfit(self) -> str:
        """A sentence if no value set fits: the best one's errors are larger than chance explains;
        or empty.
        """
        if not unlikely(self.best, len(self.places), self.freedom):
            return ""
        worst = max(self.groups, key=lambda group: abs(group.worst))
        return (
            f"no values within the ranges fit: the best set is {self.best:.2f} standard errors off"
            " (root mean square), and chance explains about 1; the measured values contradict each"
            " other or the model, or their sigmas are too small; the largest error is that of"
            f" {worst.worst_place}"
        )

    @property
    def undetermined(self) -> list[FittedValue]:
        """The parameters that keep their values."""
        return [each for each in self.values if not each.determined]

    @property
    def alike(self) -> list[tuple[str, str, float]]:
        """Parameter pairs that these data hardly distinguish, with the correlation."""
        return pairs_alike([each.key for each in self.values], self.correlation)


def unlikely(error: float, count: int, freedom: int) -> bool:
    """Whether chance hardly explains the root mean square of ``count`` errors, in sigmas, with this
    freedom left.
    """
    from scipy.special import chdtrc

    return freedom > 0 and float(chdtrc(freedom, error**2 * count)) < UNLIKELY


def interval(low: str, high: str) -> str:
    """An interval with its unit once: ``228 to 234 MB/s``."""
    number, _, unit = low.partition(" ")
    return f"{number} to {high}" if unit == high.partition(" ")[2] else f"{low} to {high}"


def pairs_alike(
    keys: Sequence[str], correlation: Sequence[Sequence[float]]
) -> list[tuple[str, str, float]]:
    """The pairs of alike parameters, with their correlation."""
    pairs = ((i, j) for i in range(len(keys)) for j in range(i))
    return [
        (keys[j], keys[i], correlation[i][j]) for i, j in pairs if abs(correlation[i][j]) > ALIKE
    ]
