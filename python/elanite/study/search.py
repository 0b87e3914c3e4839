"""The value sets that a fit tries, and each set's distance from the targets.

A value set is a tuple of texts, as a machine file takes them, in key order. Every set is simulated
once, and sets that are requested together run together in one campaign. A target is a figure and
its tolerance: a measured value with its standard error (``ValueSearch``), or a published figure
with its bounds (``refit.ClaimSearch``). A set that the machine refuses, or with which a point
fails, is far from all targets (``Search.refused``); with the machine as it is, a failure is an
error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from elanite import _core
from elanite.errors import ConfigError, ElaniteError, UsageError
from elanite.inputs.plan import plan
from elanite.inputs.sources import did_you_mean
from elanite.study import measurements, ranges

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from elanite.campaign import CampaignOutcome, PointFailure
    from elanite.inputs.experiment import Experiment
    from elanite.inputs.machine import Machine
    from elanite.inputs.plan import Plan, Point
    from elanite.store import Store
    from elanite.study.measurements import Key, MeasuredValue
    from elanite.study.ranges import Range

Texts = tuple[str, ...]

Figures = Sequence[float | None]
"""A value set's simulated figures, in target order; `None` for a figure that its points lack."""

Simulate = Callable[[Sequence["Plan"]], "CampaignOutcome"]
"""Simulates the points that a store lacks."""

Progress = Callable[[int, float], None]
"""Receives the count of sets tried so far and the best one's error, in sigmas."""


class TrialLimitError(Exception):
    """All trials are used."""


class Search(ABC):
    """The targets' residuals over value sets."""

    refused: ClassVar[float]
    """The residual of a target without a simulated figure."""
    simulate: Simulate
    tried: dict[Texts, Figures | None]
    """Each set's figures; `None` if it could not be simulated."""

    @property
    @abstractmethod
    def goals(self) -> Sequence[tuple[float, float]]:
        """The targets: each figure with its tolerance."""

    @abstractmethod
    def run(self, sets: Sequence[Texts]) -> None:
        """Simulate the sets that were not tried."""

    def residuals(self, texts: Texts) -> NDArray[np.float64]:
        """Simulated less target figures, in tolerances."""
        import numpy as np

        self.run([texts])
        goals, found = self.goals, self.tried[texts]
        if found is None:
            return np.full(len(goals), self.refused)
        return np.array(
            [
                self.refused if figure is None else (figure - goal) / tolerance
                for figure, (goal, tolerance) in zip(found, goals, strict=True)
            ]
        )

    def root(self, texts: Texts) -> float:
        """The residuals' root mean square."""
        left = self.residuals(texts)
        return float((left @ left / len(left)) ** 0.5)

    def finish(self, plans: Sequence[Plan]) -> list[PointFailure]:
        """Simulate plans; returns the failures. Raises ``KeyboardInterrupt`` when interrupted."""
        outcome = self.simulate(plans)
        if outcome.interrupted:
            raise KeyboardInterrupt
        return outcome.failures


@dataclass
class ValueSearch(Search):
    """Measured values' residuals over value sets, in sigmas."""

    refused = 100.0

    machine: Machine
    experiments: Sequence[Experiment]
    keys: Sequence[Range]
    targets: Sequence[MeasuredValue]
    store: Store
    seed: int
    simulate: Simulate
    most: int | None = None
    """The largest count of sets."""
    progress: Progress | None = None
    tried: dict[Texts, Figures | None] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    """The unit of each metric at the measured points."""
    sigmas: list[float] = field(default_factory=list)
    """The standard error for each measured value and its simulated one together, in the order of
    ``targets``.
    """
    _texts: dict[tuple[int, float, Texts], str] = field(default_factory=dict)

    @property
    def goals(self) -> Sequence[tuple[float, float]]:
        """The measured values, each with the error of both values."""
        return [(each.value, sigma) for each, sigma in zip(self.targets, self.sigmas, strict=True)]

    def own(self) -> Texts:
        """The machine's values as it is."""
        found = []
        for key in self.keys:
            try:
                found.append(str(self.machine[key.key]))
                key.share(found[-1])
            except KeyError as error:
                raise UsageError(f"--fit {key}: {error.args[0]}") from None
            except ValueError:
                raise UsageError(
                    f"--fit {key}: the value {found[-1]} is not a number\n  fit numbers"
                ) from None
        return tuple(found)

    def check_ends(self) -> None:
        """Raise ``ConfigError`` if the machine does not take a range's ends and middle."""
        for key in self.keys:
            for end in (0.0, 0.5, 1.0):
                ranges.taken(
                    key, end, self.machine.file, self.experiments[0].file, self.machine.overrides
                )

    def points(self) -> list[Point]:
        """The measured points on the machine as it is."""
        return [point for each in self.experiments for point in self._plan(each, ()).points]

    def first(self, own: Texts) -> None:
        """Simulate the machine as it is, and check that there are values for all that was measured.

        Raises ``ElaniteError`` if a point fails, ``UsageError`` if there is no such metric or job.
        """
        points, failures = self._simulate([own])
        if failures:
            raise ElaniteError(
                f"on the machine as it is: {failures[0].message}\n  reproduce:"
                f" {failures[0].command}"
            )
        values, errors = [], []
        found = self._tables(points[own] or [])
        for target in self.targets:
            mean, low, high = _core.interval(_pick(target, found[target.key]))
            values.append(mean)
            errors.append((high - low) / 2 / 1.96)
        self.tried[own] = values
        self.sigmas = [
            (t.sigma**2 + error**2) ** 0.5 for t, error in zip(self.targets, errors, strict=True)
        ]

    def run(self, sets: Sequence[Texts]) -> None:
        """Simulate value sets; raises ``TrialLimitError`` after the sets that fit, if more are
        needed.
        """
        new = [texts for texts in dict.fromkeys(sets) if texts not in self.tried]
        room = len(new) if self.most is None else max(0, self.most - len(self.tried))
        points, _ = self._simulate(new[:room])
        for texts, own in points.items():
            missing = own is None or any(self.store.get(point.id) is None for point in own)
            if own is None or missing:
                self.tried[texts] = None
                continue
            found = self._tables(own)
            picked = [_pick(target, found[target.key]) for target in self.targets]
            self.tried[texts] = [sum(values) / len(values) for values in picked]
        if self.progress and points:
            self.progress(len(self.tried), min(map(self.root, self.tried)))
        if len(new) > room:
            raise TrialLimitError

    def simulated(self, texts: Texts) -> list[float]:
        """A set's simulated values, in the order of the measured ones."""
        self.run([texts])
        found = self.tried[texts] or [None] * len(self.targets)
        return [float("nan") if value is None else value for value in found]

    def best(self) -> Texts:
        """The tried value set within the ranges that is nearest to the measured values."""
        inside = [
            t for t in self.tried if all(-1e-9 <= share <= 1 + 1e-9 for share in self.shares(t))
        ]
        if not inside:
            raise ElaniteError("no set of values could be tried\n  allow more trials: --trials")
        return min(inside, key=self.root)

    def shares(self, texts: Texts) -> list[float]:
        """Where values lie on their ranges, from 0 to 1."""
        return [key.share(text) for key, text in zip(self.keys, texts, strict=True)]

    def texts(self, shares: Sequence[float]) -> Texts:
        """The values at places in the ranges, as the machine takes them one after the other."""
        found: list[str] = []
        for index, share in enumerate(shares):
            found.append(self.text(index, float(share), tuple(found)))
        return tuple(found)

    def text(self, index: int, share: float, before: Texts) -> str:
        """One value at a place in its range, beside the values before it."""
        before = before[:index]
        place = (index, share, before)
        if place not in self._texts:
            key = self.keys[index]
            changes = [*self.machine.overrides, *self._changes(before)]
            experiment = self.experiments[0].file
            try:
                text = ranges.taken(key, share, self.machine.file, experiment, changes)
            except ConfigError:  # beside these values; the campaign finds that out
                text = ranges.taken(
                    key, share, self.machine.file, experiment, self.machine.overrides
                )
            self._texts[place] = text
        return self._texts[place]

    def _changes(self, texts: Texts) -> list[str]:
        return [f"{key.key}={text}" for key, text in zip(self.keys, texts, strict=False)]

    def _simulate(
        self, sets: Sequence[Texts]
    ) -> tuple[dict[Texts, list[Point] | None], list[PointFailure]]:
        """Simulate the measured points with each of these value sets; `None` for sets that the
        machine refuses.
        """
        points: dict[Texts, list[Point] | None] = {}
        plans = []
        for texts in sets:
            try:
                here = [self._plan(each, texts) for each in self.experiments]
            except ConfigError:
                points[texts] = None
                continue
            points[texts] = [point for each in here for point in each.points]
            plans += here
        if not plans:
            return points, []
        return points, self.finish(plans)

    def _plan(self, experiment: Experiment, texts: Texts) -> Plan:
        changes = [*experiment.overrides, *self.machine.overrides, *self._changes(texts)]
        whole = plan(experiment.file, [self.machine.file], changes, self.seed)
        wanted = {target.key for target in self.targets}
        return whole.only([point.id for point in whole.points if measurements.key(point) in wanted])

    def _tables(self, points: Sequence[Point]) -> dict[Key, dict[tuple[str, str], list[float]]]:
        """For each configuration the values by metric and job, over batches and seeds."""
        found: dict[Key, dict[tuple[str, str], list[float]]] = {}
        for point in points:
            values = found.setdefault(measurements.key(point), {})
            rows = self.store.table(point.id, "rows").select("metric", "unit", "job", "value")
            for metric, unit, job, value in rows.iter_rows():
                self.units[metric] = unit or ""
                values.setdefault((metric, job or ""), []).append(value)
        return found


def _pick(target: MeasuredValue, values: Mapping[tuple[str, str], list[float]]) -> list[float]:
    """The values for the metric and job that were measured."""
    metrics = list(dict.fromkeys(metric for metric, _ in values))
    if target.metric not in metrics:
        near = did_you_mean(target.metric, metrics)
        raise UsageError(
            f"{target.place}: there is no metric `{target.metric}`{near}\n  metrics:"
            f" {', '.join(metrics)}"
        )
    jobs = [job for metric, job in values if metric == target.metric]
    if target.job is None and len(jobs) == 1:
        return values[target.metric, jobs[0]]
    if target.job not in jobs:
        told = f"there is no job `{target.job}`" if target.job else "several jobs have this metric"
        raise UsageError(f"{target.place}: job: {told}\n  jobs: {', '.join(filter(None, jobs))}")
    return values[target.metric, target.job]
