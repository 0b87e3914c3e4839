"""Calibration: values of a machine's parameters that come nearest to what was measured on a real machine.

    found = el.calibrate([el.Experiment.load("qsnet/ping")], {"bus.rate": "150 MB/s..400 MB/s"}, "measured.csv")
    found.text  # a machine file with the fitted values

The sum of squares is minimised over all measured values: the difference of the simulated and the measured value, in
units of both errors (the sigma of the measurement, and the standard error of the simulation where it draws random
numbers). The search has three steps. A Latin hypercube over all ranges, beside the machine as it is, finds a place to
start. The trust regions of ``scipy.optimize.least_squares`` then lead to the minimum; derivatives are differences
between values that the machine takes. Some parameters have few values, as hop delays are whole cycles: at last, their
next values are tried, each with the best values of the other parameters. The best of all sets of values that were tried
is the result. Only points that were measured are simulated. They are ordinary points of the store: whoever repeats an
interrupted calibration uses them again, and comes to the same result.

What the data cannot tell is said: every value has a standard error, from the curvature at the minimum, to which the
range counts as all that was known before; and pairs of parameters are named whose effects are alike (``alike``).

The points of a set of values run at the same time, and so do the sets of the hypercube and those of a derivative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elanite import measured, ranges
from elanite.api import Machine
from elanite.errors import UsageError
from elanite.machines import rewritten
from elanite.overrides import of_experiment
from elanite.plan import FIRST_SEED, plan
from elanite.ranges import Choice, Range
from elanite.search import Search, Spent
from elanite.store import Store
from elanite.sweeps import hypercube

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    import numpy as np

    from elanite.api import Experiment
    from elanite.measured import Measured
    from elanite.search import Progress

STARTS = 4
"""Sets of values of the hypercube, for each parameter."""

STEP = 0.1
"""Derivatives are taken over this share of a range, or over the next value that the machine takes. The accepted load
of a short run is random by some per cent, and slopes over shorter steps would be those of chance."""

COARSE = 0.004
"""A parameter whose next value is more than twice this share of its range away has few values."""

CLOSE = 1e-3
"""The search ends if values, as shares of their ranges, or the sum of squares change by less than this fraction."""

PRIOR = 12**-0.5
"""The standard deviation of a value of which only the range is known, as a share of the range."""

FAR = 1000.0
"""Correlations are those of the data alone: as if the ranges were so many times wider."""

OPEN = 0.5
"""The data do not determine a value whose standard error is more than this fraction of what the range alone gives."""

ALIKE = 0.95
"""Parameters with a higher correlation, or a lower one than its negative, can hardly be told apart."""


@dataclass(frozen=True)
class Value:
    """A fitted parameter."""

    key: str
    before: str
    after: str
    error: float
    """Standard error as a fraction of the value."""
    determined: bool
    """Whether the data say much more of the value than its range does."""
    at_end: bool
    """Whether the value is an end of its range."""


@dataclass(frozen=True)
class Group:
    """The errors of the measured values of a series and metric."""

    experiment: str
    series: str
    metric: str
    count: int
    before: float
    """Root mean square of simulated/measured - 1, of the difference where 0 was measured; on the machine as it is."""
    after: float
    worst: float
    """The largest of these errors afterwards, by magnitude, with its sign."""
    worst_place: str
    """File and line of the value with this error."""


@dataclass(frozen=True)
class Calibration:
    """The result of a calibration."""

    values: list[Value]
    correlation: list[list[float]]
    """Of the errors of the values, in their order, by the data alone."""
    groups: list[Group]
    before: float
    """Root mean square of all errors in units of their sigma, on the machine as it is."""
    after: float
    trials: int
    """How many sets of values were tried."""
    ended: bool
    """Whether the search came to its end, and not to the number of trials that was allowed."""
    machine: Machine
    """The machine with the fitted values."""

    @property
    def text(self) -> str:
        """The machine as a file."""
        return self.machine.file.text

    @property
    def alike(self) -> list[tuple[str, str, float]]:
        """Pairs of parameters that these data can hardly tell apart, with the correlation."""
        keys = [each.key for each in self.values]
        pairs = ((i, j) for i in range(len(keys)) for j in range(i))
        return [(keys[j], keys[i], self.correlation[i][j]) for i, j in pairs if abs(self.correlation[i][j]) > ALIKE]


def calibrate(
    experiments: Sequence[Experiment],
    fit: Mapping[str, str] | Sequence[Choice | Range],
    to: str | Path,
    machine: Machine | None = None,
    *,
    trials: int | None = None,
    seed: int = FIRST_SEED,
    jobs: int | None = None,
    out: str | Path = "out",
    name: str | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Calibration:
    """Search the values of ``fit``, ranges by key, with which the experiments come nearest to the values in ``to``.

    ``trials`` is the largest number of sets of values. ``name`` is that of the fitted machine. ``progress`` is called
    after each step with the number of sets tried and the error of the best one. ``executor`` is as in ``sweep``. Raises
    ``UsageError`` or ``ConfigError`` if a key, a range or the file of measured values is wrong, and
    ``KeyboardInterrupt`` when interrupted; finished points are kept.
    """
    keys = _ranges(fit)
    base = _base(experiments, machine)
    plans = [plan(each.file, [base.file], [*each.overrides, *base.overrides], seed) for each in experiments]
    targets = measured.read(Path(to), plans)
    store = Store(Path(out) / "store")
    search = Search(base, experiments, keys, targets, store, seed, jobs, trials, progress, str(out), executor)
    own = search.own()
    search.first(own)
    ended = minimise(search, seed)
    best = search.best()
    deviation, correlation = _curvature(search, best)
    values = [
        _value(key, before, after, error) for key, before, after, error in zip(keys, own, best, deviation, strict=True)
    ]
    called = name or f"{base.name}-fitted"
    fitted = rewritten(base, {v.key: (v.after, _source(v, to)) for v in values}, called)
    return Calibration(
        values=values,
        correlation=correlation,
        groups=_groups(targets, search.simulated(own), search.simulated(best)),
        before=search.root(own),
        after=search.root(best),
        trials=len(search.tried),
        ended=ended,
        machine=fitted,
    )


def _ranges(fit: Mapping[str, str] | Sequence[Choice | Range]) -> list[Range]:
    keys: list[Choice | Range] = []
    if isinstance(fit, Mapping):
        keys += [ranges.of("--fit", key, text) for key, text in fit.items()]
    else:
        keys += fit
    ranges.unique("--fit", (each.key for each in keys))
    found = []
    for each in keys:
        if not isinstance(each, Range) or each.count:
            raise UsageError(f"--fit {each.key}: a fit needs a range\n  for example --fit {each.key}='10 ns..50 ns'")
        if of_experiment(each.key):
            raise UsageError(f"--fit {each.key}: this key belongs to the experiment\n  fit parameters of the machine")
        found.append(each)
    return found


def _base(experiments: Sequence[Experiment], machine: Machine | None) -> Machine:
    """The machine on which all experiments run."""
    if machine is not None:
        return machine
    names = [each.machine for each in experiments]
    if any(not isinstance(name, str) or name != names[0] for name in names):
        raise UsageError("the experiments run on several machines\n  choose the one to calibrate: --machine MACHINE")
    return Machine.load(str(names[0]))


def minimise(search: Search, seed: int) -> bool:
    """Try sets of values until the search ends, or has used all of its trials; whether it came to its end."""
    count = len(search.keys)
    try:
        search.run([search.texts(shares) for shares in hypercube(count, STARTS * count, seed)])
        _descend(search, search.shares(search.best()), range(count))
        _neighbours(search)
    except Spent:
        return False
    return True


def _descend(search: Search, start: Sequence[float], free: Sequence[int]) -> None:
    """Least squares over some of the parameters; the others stay where they are."""
    try:
        import numpy as np
        from scipy.optimize import least_squares
    except ImportError:
        raise UsageError("a calibration needs SciPy: pip install scipy") from None

    def texts(places: Sequence[float]) -> tuple[str, ...]:
        shares = list(start)
        for index, share in zip(free, places, strict=True):
            shares[index] = share
        return search.texts(shares)

    least_squares(
        lambda places: search.residuals(texts(places)),
        np.clip([start[index] for index in free], 0, 1),
        jac=lambda places: jacobian(search, texts(places), free),
        bounds=(0, 1),
        xtol=CLOSE,
        ftol=CLOSE,
        gtol=CLOSE,
    )


def _neighbours(search: Search) -> None:
    """Try the next values of parameters that have few, each with the best values of the others, while that helps.

    Least squares knows nothing of gaps between values, and may end beside the best of a few.
    """
    import numpy as np

    while True:
        best = search.best()
        coarse = {index: found for index in range(len(best)) if (found := _next(search, best, index)) is not None}
        free = [index for index in range(len(best)) if index not in coarse]
        slopes = jacobian(search, best) if coarse else None
        for index, near in coarse.items():
            for texts in near:
                start = np.array(search.shares(texts))
                if slopes is not None and free:
                    # The others move by as much as makes up for the step, if all were linear.
                    left = search.residuals(best) + slopes[:, index] * (start[index] - search.shares(best)[index])
                    start[free] += np.linalg.lstsq(slopes[:, free], -left, rcond=None)[0]
                    _descend(search, np.clip(start, 0, 1).tolist(), free)
                else:
                    search.run([texts])
        now = search.best()
        if all(now[index] == best[index] for index in coarse):
            return


def _next(search: Search, texts: tuple[str, ...], index: int) -> list[tuple[str, ...]] | None:
    """The sets with the next values of a parameter, upwards and downwards; None if its values lie close together."""
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


def jacobian(search: Search, texts: tuple[str, ...], free: Sequence[int] | None = None) -> np.ndarray[Any, Any]:
    """Derivatives of the residuals by the shares of the ranges, over steps that change what the machine takes.

    A column for each parameter, or for each of those in ``free``.
    """
    import numpy as np

    chosen = range(len(texts)) if free is None else free
    steps = [_stepped(search, texts, index) for index in chosen]
    search.run([texts, *(step for step in steps if step)])
    here, columns = search.shares(texts), []
    for index, step in zip(chosen, steps, strict=True):
        difference = search.residuals(step) - search.residuals(texts) if step else 0 * search.residuals(texts)
        columns.append(difference / (search.shares(step)[index] - here[index]) if step else difference)
    return np.stack(columns, axis=1)


def _stepped(search: Search, texts: tuple[str, ...], index: int) -> tuple[str, ...] | None:
    """The set with another value of one parameter: a step upwards, or downwards at the upper end."""
    shares = search.shares(texts)
    for far in (STEP, 2 * STEP, 4 * STEP, 8 * STEP, 16 * STEP, 0.5):
        for way in (far, -far):
            if 0 <= shares[index] + way <= 1:
                moved = [*shares]
                moved[index] += way
                found = (*texts[:index], search.text(index, moved[index], texts), *texts[index + 1 :])
                if found != texts:
                    return found
    return None


def _curvature(search: Search, best: tuple[str, ...]) -> tuple[list[float], list[list[float]]]:
    """Standard errors of the values, as shares of their ranges, and their correlation."""
    import numpy as np

    search.most = None  # the report is no trial
    slopes, left = jacobian(search, best), search.residuals(best)
    # Data that fit worse than their sigmas say are as uncertain as they fit.
    scale = max(1.0, float(left @ left) / max(1, len(left) - len(best)))
    known = slopes.T @ slopes / scale
    deviation = np.sqrt(np.diag(np.linalg.inv(known + np.eye(len(best)) / PRIOR**2)))
    covariance = np.linalg.inv(known + np.eye(len(best)) / (FAR * PRIOR) ** 2)
    spread = np.sqrt(np.diag(covariance))
    return deviation.tolist(), (covariance / np.outer(spread, spread)).tolist()


def _value(key: Range, before: str, after: str, error: float) -> Value:
    share = key.share(after)
    wide = abs(key.number(min(1, share + error)) - key.number(max(0, share - error))) / 2
    number = abs(key.number(share))
    return Value(
        key=key.key,
        before=before,
        after=after,
        error=wide / number if number else wide,
        determined=error < OPEN * PRIOR,
        at_end=share <= 0 or share >= 1,
    )


def _source(value: Value, to: str | Path) -> str:
    spread = f"standard error {value.error:.1%}" if value.determined else "which does not determine this value"
    return f"fitted to {Path(to).name}, {spread}; {value.before} before"


def _groups(targets: Sequence[Measured], before: Sequence[float], after: Sequence[float]) -> list[Group]:
    groups: dict[tuple[str, str, str], list[int]] = {}
    for index, each in enumerate(targets):
        groups.setdefault(each.group, []).append(index)

    def error(index: int, simulated: Sequence[float]) -> float:
        value = targets[index].value
        return (simulated[index] - value) / (abs(value) or 1.0)

    def root(members: Sequence[int], simulated: Sequence[float]) -> float:
        return float((sum(error(index, simulated) ** 2 for index in members) / len(members)) ** 0.5)

    found = []
    for names, members in groups.items():
        worst = max(members, key=lambda index: abs(error(index, after)))
        ends = error(worst, after), targets[worst].place
        found.append(Group(*names, len(members), root(members, before), root(members, after), *ends))
    return found
