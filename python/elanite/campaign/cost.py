"""The cost of points: processor seconds, estimated from points that were simulated before.

The estimate of a point is the time that the same point took, else it comes from the points of its series, of its
experiment, or of its kind of benchmark, whichever is known first. Time is in proportion to the simulated time, and to
the nodes that send. The simulated time of jobs is that of warm-up and window, unless the window doubles until a load is
precise enough; collective operations take a time for each repeat after the warm-up. These two factors, processor time
over simulated time and simulated time over window or repeats, are known by series (``Rate``), so that overrides of
windows, repeats and ``run.precision`` move the estimate. Replayed patterns take a time for each byte of their messages.
Other benchmarks run until they have finished.

What is known is a shipped table (``data/costs.json``, made by ``benches/costs.py``), and what the store holds: a series
of the store replaces the shipped one. Of a large store a sample is read. Estimates of whole experiments are within a
factor of 1.5 on the machine that made the table, and processors differ. The order of the work, the sizes of the
batches, the time that is told and ``--max-cost`` depend on them; results do not.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import astuple, dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.base.rows import section
from elanite.base.units import stated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from elanite.inputs.contents import Content
    from elanite.inputs.plan import Point
    from elanite.store import Store
    from elanite.store.manifest import Manifest

_SAMPLE = 2000
"""Most points of a store that are read. Identities are hashes, so that the first ones in order are a random sample."""


@dataclass(frozen=True)
class Rate:
    """The time that points of a series, an experiment or a kind take."""

    seconds: float
    """Processor seconds for each simulated millisecond and node of jobs or millisecond of collective operations, for
    each MB of a trace's messages, or for each point of other benchmarks."""
    stretch: float
    """Simulated milliseconds after the warm-up for each millisecond of the window or each repeat."""


@dataclass(frozen=True)
class Sample:
    """A point that was simulated."""

    experiment: str
    series: str
    point: Content
    """Its content."""
    seconds: float
    """Processor seconds."""
    simulated: float
    """Simulated milliseconds, with the warm-up."""

    @property
    def kind(self) -> str:
        """The kind of benchmark."""
        (kind,) = self.point["workload"]
        return str(kind)


_IN_TIME = ("jobs", "collective")
"""Kinds of benchmarks whose processor time is in proportion to a simulated time that is known before."""

_UNKNOWN = Rate(1.0, 1.0)
"""The rate of a kind without any sample."""


@dataclass
class CostModel:
    """Estimates of processor seconds."""

    points: dict[str, float] = field(default_factory=dict)
    """Seconds of single points, by their identities."""
    means: dict[str, Rate] = field(default_factory=dict)
    """Rates by ``experiment series``, ``experiment [kind]`` and ``kind``."""

    @classmethod
    def shipped(cls) -> CostModel:
        """The estimates that come with Elanite."""
        return cls(means=dict(_shipped()))

    @classmethod
    def learn(cls, store: Store) -> CostModel:
        """The shipped estimates, refined by what the points of a store took.

        A calibration asks again and again: the store remembers manifests, so that only those of new points are read.
        """
        model = cls.shipped()
        samples: dict[str, list[Sample]] = defaultdict(list)
        for identity in store.identities()[:_SAMPLE]:
            manifest = store.get(identity)
            if manifest is None:
                continue
            model.points[identity] = manifest.cpu_seconds
            sample = sampled(manifest, manifest.data["experiment"], manifest.data["series"])
            # Kinds stay as shipped: the store may hold nothing but short points of a kind.
            for key in _keys(sample.experiment, sample.series, sample.kind)[:2]:
                samples[key].append(sample)
        model.means |= {key: _rate(found) for key, found in samples.items()}
        return model

    def seconds(self, point: Point) -> float:
        """Processor seconds that a point will take."""
        if point.id in self.points:
            return self.points[point.id]
        keys = _keys(point.experiment, point.series, point.kind)
        rate = next((self.means[key] for key in keys if key in self.means), _UNKNOWN)
        content = json.loads(point.json)
        if point.kind not in _IN_TIME:
            return rate.seconds * _amount(point.kind, content)
        fixed = point.kind == "jobs" and not content["run"]["precision"]
        extent = _extent(point.kind, content) * (1.0 if fixed else rate.stretch)
        return rate.seconds * _nodes(point.kind, content) * (_milliseconds(content["run"]["warm_up"]) + extent)

    def total(self, points: Iterable[Point]) -> float:
        """Processor seconds of several points."""
        return sum(self.seconds(point) for point in points)


@cache
def _shipped() -> Mapping[str, Rate]:
    table = json.loads(bounded.packaged("data", "costs.json"))["means"]
    return {key: Rate(*rate) for key, rate in table.items()}


def _keys(experiment: str, series: str, kind: str) -> tuple[str, str, str]:
    """Where the rate of a point is looked up, in this order."""
    return f"{experiment} {series}", f"{experiment} [{kind}]", kind


def _nodes(kind: str, point: Content) -> float:
    """The nodes of all jobs, or of a trace; 1 for other benchmarks."""
    if kind not in ("jobs", "trace"):
        return 1.0
    everywhere = point["machine"]["topology"]["nodes"]["value"]
    workload = section(point["workload"][kind])
    jobs = section(workload["jobs"]).values() if kind == "jobs" else [workload]
    each = [section(job).get("nodes") for job in jobs]
    return float(sum(many if isinstance(many, int) else everywhere for many in each))


def _extent(kind: str, point: Content) -> float:
    """The milliseconds of the window of jobs, or the repeats of a collective operation."""
    if kind == "jobs":
        return _milliseconds(point["run"]["window"])
    return _repeats(section(point["workload"][kind][kind]))


def _amount(kind: str, point: Content) -> float:
    """The MB of messages of all nodes of a trace; 1 for a point of other kinds that last until they have finished."""
    if kind != "trace":
        return 1.0
    trace, nodes = point["workload"]["trace"], _nodes(kind, point)
    each = nodes if str(trace["pattern"]).startswith("all-to-all") else 1.0  # a message for every other node
    return nodes * each * _repeats(trace) * _megabytes(str(trace["message"]))


def _repeats(benchmark: Mapping[str, object]) -> float:
    found = benchmark["repeats"]
    return found if isinstance(found, int | float) else 1.0


@cache
def _megabytes(text: str) -> float:
    """A length of an experiment file in MB."""
    return max(stated(text, "B"), 1.0) / 1e6


@cache
def _milliseconds(text: str) -> float:
    """A time of an experiment file in milliseconds."""
    return stated(text, "us") / 1e3


def sampled(manifest: Manifest, experiment: str, series: str) -> Sample:
    """A finished point as a sample of a series."""
    return Sample(experiment, series, manifest.data["point"], manifest.cpu_seconds, manifest.data["simulated_ps"] / 1e9)


def _rate(samples: Sequence[Sample]) -> Rate:
    """The rate of points of one series, or of one experiment and kind."""
    seconds = sum(one.seconds for one in samples)
    if samples[0].kind not in _IN_TIME:
        return Rate(seconds / sum(_amount(one.kind, one.point) for one in samples), 1.0)
    warm_up = sum(_milliseconds(one.point["run"]["warm_up"]) for one in samples)
    simulated = sum(one.simulated for one in samples)
    work = sum(_nodes(one.kind, one.point) * one.simulated for one in samples)
    return Rate(seconds / work, (simulated - warm_up) / sum(_extent(one.kind, one.point) for one in samples))


def means(samples: Iterable[Sample]) -> dict[str, Rate]:
    """The shipped table.

    The rate of an experiment or a kind is the mean over its series, so that a series with many points does not outweigh
    the others.
    """
    series: dict[tuple[str, str, str], list[Sample]] = defaultdict(list)
    for sample in samples:
        series[sample.experiment, sample.series, sample.kind].append(sample)
    found: dict[str, list[Rate]] = defaultdict(list)
    for place, several in series.items():
        rate = _rate(several)
        for key in _keys(*place):
            found[key].append(rate)
    return {
        key: Rate(*(float(f"{sum(part) / len(rates):.3g}") for part in zip(*map(astuple, rates), strict=True)))
        for key, rates in sorted(found.items())
    }
