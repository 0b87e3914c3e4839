"""Point costs: processor seconds, estimated from points that were simulated before.

A point's estimate is the time that the same point took, else it comes from the points in its
series, its experiment, or its benchmark kind, whichever is known first. Time is in proportion to
the simulated time, and to the sending nodes. The simulated time of jobs is their warm-up and
window, unless the window doubles until a load is precise enough; collective operations take a time
for each repeat after the warm-up. These two factors, processor time over simulated time and
simulated time over window or repeats, are known by series (``Rate``), so that overrides for
windows, repeats and ``run.precision`` move the estimate. Replayed patterns take a time for each
byte in their messages. Other benchmarks run until they have finished.

Known costs come from a shipped table (``data/costs.json``, made by ``benches/costs.py``), and from
the store: a series in the store replaces the shipped one. From a large store a sample is read.
Estimates for whole experiments are within a factor of 1.5 on the machine that made the table, and
processors differ. The work order, the batch sizes, the printed time and ``--max-cost`` depend on
them; results do not.
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
"""Most points read from a store.

Identities are hashes, so that the first ones in order are a random sample.
"""


@dataclass(frozen=True)
class Rate:
    """The time per point in a series, an experiment or a kind."""

    seconds: float
    """Processor seconds for each simulated millisecond and node in jobs or millisecond in
    collective operations, for each MB in a trace's messages, or for each point in other benchmarks.
    """
    stretch: float
    """Simulated milliseconds after the warm-up for each millisecond in the window or each
    repeat.
    """


@dataclass(frozen=True)
class CostSample:
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
        """The benchmark kind."""
        (kind,) = self.point["workload"]
        return str(kind)


_IN_TIME = ("jobs", "collective")
"""Benchmark kinds with a processor time in proportion to a simulated time that is known before."""

_UNKNOWN = Rate(1.0, 1.0)
"""The rate for a kind without any sample."""


@dataclass
class CostModel:
    """Estimated processor seconds."""

    points: dict[str, float] = field(default_factory=dict)
    """Single points' seconds, by identity."""
    means: dict[str, Rate] = field(default_factory=dict)
    """Rates by ``experiment series``, ``experiment [kind]`` and ``kind``."""

    @classmethod
    def shipped(cls) -> CostModel:
        """The estimates that come with Elanite."""
        return cls(means=dict(_shipped()))

    @classmethod
    def learn(cls, store: Store) -> CostModel:
        """The shipped estimates, refined by the times of a store's points.

        A calibration asks again and again: the store remembers manifests, so that only new points'
        manifests are read.
        """
        model = cls.shipped()
        samples: dict[str, list[CostSample]] = defaultdict(list)
        for identity in store.identities()[:_SAMPLE]:
            manifest = store.get(identity)
            if manifest is None:
                continue
            model.points[identity] = manifest.cpu_seconds
            sample = sampled(manifest, manifest.data["experiment"], manifest.data["series"])
            # Kinds stay as shipped: the store may hold only short points of a kind.
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
        return (
            rate.seconds
            * _nodes(point.kind, content)
            * (_milliseconds(content["run"]["warm_up"]) + extent)
        )

    def total(self, points: Iterable[Point]) -> float:
        """Several points' processor seconds."""
        return sum(self.seconds(point) for point in points)


def of_messages(size: int) -> float:
    """Processor seconds for the messages of a trace across a machine's network, with this many
    bytes in all.
    """
    return size / 1e6 * _shipped()["trace"].seconds


@cache
def _shipped() -> Mapping[str, Rate]:
    table = json.loads(bounded.packaged("data", "costs.json"))["means"]
    return {key: Rate(*rate) for key, rate in table.items()}


def _keys(experiment: str, series: str, kind: str) -> tuple[str, str, str]:
    """Where a point's rate is looked up, in this order."""
    return f"{experiment} {series}", f"{experiment} [{kind}]", kind


def _nodes(kind: str, point: Content) -> float:
    """The nodes in all jobs, or in a trace; 1 for other benchmarks."""
    if kind not in ("jobs", "trace"):
        return 1.0
    everywhere = point["machine"]["topology"]["nodes"]["value"]
    workload = section(point["workload"][kind])
    jobs = section(workload["jobs"]).values() if kind == "jobs" else [workload]
    each = [section(job).get("nodes") for job in jobs]
    return float(sum(many if isinstance(many, int) else everywhere for many in each))


def _extent(kind: str, point: Content) -> float:
    """The milliseconds in the jobs' window, or a collective operation's repeats."""
    if kind == "jobs":
        return _milliseconds(point["run"]["window"])
    return _repeats(section(point["workload"][kind][kind]))


def _amount(kind: str, point: Content) -> float:
    """The messages of all nodes in a trace, in MB; 1 for other kinds, which last until they have
    finished.
    """
    if kind != "trace":
        return 1.0
    trace, nodes = point["workload"]["trace"], _nodes(kind, point)
    each = (
        nodes if str(trace["pattern"]).startswith("all-to-all") else 1.0
    )  # a message for every other node
    return nodes * each * _repeats(trace) * _megabytes(str(trace["message"]))


def _repeats(benchmark: Mapping[str, object]) -> float:
    found = benchmark["repeats"]
    return found if isinstance(found, int | float) else 1.0


@cache
def _megabytes(text: str) -> float:
    """A length from an experiment file in MB."""
    return max(stated(text, "B"), 1.0) / 1e6


@cache
def _milliseconds(text: str) -> float:
    """A time from an experiment file in milliseconds."""
    return stated(text, "us") / 1e3


def sampled(manifest: Manifest, experiment: str, series: str) -> CostSample:
    """A finished point as a sample for a series."""
    return CostSample(
        experiment,
        series,
        manifest.data["point"],
        manifest.cpu_seconds,
        manifest.data["simulated_ps"] / 1e9,
    )


def _rate(samples: Sequence[CostSample]) -> Rate:
    """The rate for points in one series, or in one experiment and kind."""
    seconds = sum(one.seconds for one in samples)
    if samples[0].kind not in _IN_TIME:
        return Rate(seconds / sum(_amount(one.kind, one.point) for one in samples), 1.0)
    warm_up = sum(_milliseconds(one.point["run"]["warm_up"]) for one in samples)
    simulated = sum(one.simulated for one in samples)
    work = sum(_nodes(one.kind, one.point) * one.simulated for one in samples)
    return Rate(
        seconds / work, (simulated - warm_up) / sum(_extent(one.kind, one.point) for one in samples)
    )


def means(samples: Iterable[CostSample]) -> dict[str, Rate]:
    """The shipped table.

    The rate for an experiment or a kind is the mean over its series, so that a series with many
    points does not outweigh the others.
    """
    series: dict[tuple[str, str, str], list[CostSample]] = defaultdict(list)
    for sample in samples:
        series[sample.experiment, sample.series, sample.kind].append(sample)
    found: dict[str, list[Rate]] = defaultdict(list)
    for place, several in series.items():
        rate = _rate(several)
        for key in _keys(*place):
            found[key].append(rate)
    return {
        key: Rate(
            *(
                float(f"{sum(part) / len(rates):.3g}")
                for part in zip(*map(astuple, rates), strict=True)
            )
        )
        for key, rates in sorted(found.items())
    }
