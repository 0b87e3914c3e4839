"""What points will cost: processor seconds, estimated from points that were simulated before.

The estimate of a point is the time that the same point took, else the mean of its series, of its experiment, or of its
kind of benchmark, whichever is known first. The points of jobs take time in proportion to the nodes and the simulated
time (warm-up and window), so that an override of ``run.window`` moves the estimate; other benchmarks run until they
have finished, and their points count as they are.

What is known is a shipped table (``data/costs.json``, made by ``benches/costs.py``), and what the store holds: a series
of the store replaces the shipped one. Of a large store a sample is read. Points of one series can differ a hundredfold,
and processors differ: estimates of campaigns are good to a factor of two, not to a percent. Nothing but the order of
the work, the sizes of the batches, the time that is told and ``--max-cost`` depends on them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from elanite import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from elanite.plan import Point
    from elanite.store import Store

_SAMPLE = 2000
"""Most points of a store that are read. Identities are hashes, so that the first ones in order are a random sample."""

_UNKNOWN = 1.0
"""Seconds per unit of work of a kind that nothing is known of."""


@dataclass
class CostModel:
    """Estimates of processor seconds."""

    points: dict[str, float] = field(default_factory=dict)
    """Seconds of single points, by their identities."""
    means: dict[str, float] = field(default_factory=dict)
    """Mean of the seconds per unit of work, by ``experiment series``, ``experiment [kind]`` and ``kind``."""

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
        samples: dict[str, list[float]] = defaultdict(list)
        for identity in store.identities()[:_SAMPLE]:
            manifest = store.get(identity)
            if manifest is None:
                continue
            model.points[identity] = manifest.cpu_seconds
            point = manifest["point"]
            (kind,) = point["workload"]
            rate = manifest.cpu_seconds / _work(kind, point)
            # Kinds stay as shipped: the store may hold nothing but short points of a kind.
            for key in _keys(manifest["experiment"], manifest["series"], kind)[:2]:
                samples[key].append(rate)
        model.means |= {key: sum(rates) / len(rates) for key, rates in samples.items()}
        return model

    def seconds(self, point: Point) -> float:
        """Processor seconds that a point will take."""
        if point.id in self.points:
            return self.points[point.id]
        keys = _keys(point.experiment, point.series, point.kind)
        rate = next((self.means[key] for key in keys if key in self.means), _UNKNOWN)
        return rate * _work(point.kind, json.loads(point.json))

    def total(self, points: Iterable[Point]) -> float:
        """Processor seconds of several points."""
        return sum(self.seconds(point) for point in points)


@cache
def _shipped() -> Mapping[str, float]:
    table: dict[str, float] = json.loads((files("elanite") / "data" / "costs.json").read_text("utf-8"))["means"]
    return table


def _keys(experiment: str, series: str, kind: str) -> tuple[str, str, str]:
    """Where the mean of a point is looked up, in this order."""
    return f"{experiment} {series}", f"{experiment} [{kind}]", kind


def _work(kind: str, point: Mapping[str, Any]) -> float:
    """The units of work of a point: milliseconds times nodes of jobs, and 1 for benchmarks that run until they end."""
    if kind != "jobs":
        return 1.0
    simulated = _milliseconds(point["run"]["warm_up"]) + _milliseconds(point["run"]["window"])
    everywhere = point["machine"]["topology"]["nodes"]["value"]
    each = [job.get("nodes") for job in point["workload"]["jobs"]["jobs"].values()]
    nodes = sum(many if isinstance(many, int) else everywhere for many in each)
    return max(simulated * nodes, 1e-6)


@cache
def _milliseconds(text: str) -> float:
    """A time of an experiment file in milliseconds."""
    found = _core.quantity(text)
    if found is None or found[1] != "us":
        raise ValueError(f"{text} is no time")
    return found[0] / 1e3


def means(samples: Iterable[tuple[str, str, str, Mapping[str, Any], float]]) -> dict[str, float]:
    """The shipped table from (experiment, series, kind, content, seconds) of points.

    The mean of an experiment or a kind is the mean over its series, so that a series with many points does not outweigh
    the others.
    """
    series: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for experiment, name, kind, point, seconds in samples:
        series[experiment, name, kind].append(seconds / _work(kind, point))
    found: dict[str, list[float]] = defaultdict(list)
    for (experiment, name, kind), rates in series.items():
        mean = sum(rates) / len(rates)
        for key in _keys(experiment, name, kind):
            found[key].append(mean)
    return {key: float(f"{sum(rates) / len(rates):.3g}") for key, rates in sorted(found.items())}
