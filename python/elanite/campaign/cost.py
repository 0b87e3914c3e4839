"""Point costs: processor seconds, estimated from points that were simulated before.

A point's estimate is the time that the same point took, else it comes from the points in its
series, its experiment, or its benchmark kind, whichever is known first. The time of jobs is in
proportion to the packets that they offer: load times nodes times simulated time, in packets of the
machine. At most they offer what adapters of senders and servers carry, with headers, and what
processes send that wait for each message. Networks that hold circuits are a kind of their own,
since they carry far less than is offered. The time of collective operations is in proportion to the
simulated time. The simulated time of jobs is their warm-up and window, unless the window doubles
until a load is precise enough; collective operations take a time for each repeat after the warm-up.
These two factors, processor time over work and simulated time over window or repeats, are known by
series (``Rate``), so that overrides for loads, sizes, machines, windows, repeats and
``run.precision`` move the estimate. Replayed patterns and traces take a time for each packet's
payload in their messages. Other benchmarks run until they have finished.

Known costs come from a shipped table (``data/costs.json``, made by ``benches/costs.py``), and from
the store: a series in the store replaces the shipped one. From a large store a sample is read.
Estimates for whole experiments are within a factor of 1.5 on the machine that made the table, and
processors differ. Of the 136 shipped series with jobs on networks of one kind, the rate of the
kind alone, by which an own experiment is estimated first, is within 1.5 for 70 and within 2 for
112: below saturation a network carries what is offered, above it less. The work order, the batch
sizes, the printed time and ``--max-cost`` depend on estimates; results do not.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean, median
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import bounded
from elanite.base.rows import section
from elanite.base.units import stated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from elanite.inputs.contents import Content, ResolvedLink, ResolvedMachine
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
    """Processor seconds for each thousand packets that jobs offer, for each simulated millisecond
    in collective operations, for each thousand payloads of packets in a trace's messages, or for
    each point in other benchmarks.
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
    packets: int
    """Packets in the network."""

    @property
    def kind(self) -> str:
        """The benchmark kind."""
        (kind,) = self.point["workload"]
        return str(kind)

    @property
    def keys(self) -> tuple[str, str, str]:
        """Where its rate counts."""
        return _keys(self.experiment, self.series, self.kind, self.point)


_IN_TIME = ("jobs", "collective")
"""Benchmark kinds with a processor time in proportion to a simulated time that is known before."""

PACKETS = "packets of traces"
"""The name of the rate for a thousand packets in the networks of all traces."""

FREE = "jobs without circuits"
"""The rate for jobs on networks whose switches hold no circuit until an answer."""

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
            for key in sample.keys[:2]:
                samples[key].append(sample)
        model.means |= {key: _rate(found) for key, found in samples.items()}
        return model

    def seconds(self, point: Point) -> float:
        """Processor seconds that a point will take."""
        if point.id in self.points:
            return self.points[point.id]
        content = json.loads(point.json)
        keys = _keys(point.experiment, point.series, point.kind, content)
        rate = next((self.means[key] for key in keys if key in self.means), _UNKNOWN)
        if point.kind not in _IN_TIME:
            return rate.seconds * _amount(point.kind, content)
        fixed = point.kind == "jobs" and not content["run"]["precision"]
        extent = _extent(point.kind, content) * (1.0 if fixed else rate.stretch)
        simulated = _milliseconds(content["run"]["warm_up"]) + extent
        return rate.seconds * _packets(point.kind, content) * simulated

    def total(self, points: Iterable[Point]) -> float:
        """Several points' processor seconds."""
        return sum(self.seconds(point) for point in points)


def of_messages(count: float, size: float, machine: ResolvedMachine) -> float:
    """Processor seconds for a trace's messages across a machine's network; ``size`` is their bytes
    in all, ``machine`` the resolved file.
    """
    return max(count, size / _payload(machine)) / 1e3 * _shipped()[PACKETS].seconds


@cache
def _shipped() -> Mapping[str, Rate]:
    table = json.loads(bounded.packaged("data", "costs.json"))["means"]
    return {key: Rate(*rate) for key, rate in table.items()}


def _keys(experiment: str, series: str, kind: str, point: Content) -> tuple[str, str, str]:
    """Where a point's rate is looked up, in this order."""
    free = kind == "jobs" and not _holds(point["machine"])
    return f"{experiment} {series}", f"{experiment} [{kind}]", FREE if free else kind


def _holds(machine: ResolvedMachine) -> bool:
    """Whether switches hold a circuit until an answer."""
    return str(machine["switch"]["circuit"]["value"]).startswith("until-")


def _packets(kind: str, point: Content) -> float:
    """Thousands of packets in a simulated millisecond that jobs offer, or as many as processes and
    the adapters of senders and servers carry if these are fewer; 1 for other benchmarks.
    """
    if kind != "jobs":
        return 1.0
    machine = point["machine"]
    found = 0.0
    for job in map(section, section(section(point["workload"]["jobs"])["jobs"]).values()):
        message = max(stated(str(job["message"]), "B"), 1.0)
        packets = math.ceil(message / _payload(machine))
        most = _carried(machine, message, packets)
        processes = int(str(job.get("processes", 1)))
        sent = processes * message / (_start(machine) + message / most)
        load = min(stated(str(job["load"]), "MB/s"), most, sent)
        offered = _count(job.get("nodes"), machine) * load
        if job.get("servers") is not None:
            offered = min(offered, _count(job["servers"], machine) * most)
        found += offered * packets / message
    # Runs of each job alone send as many packets as the run of all.
    return 2 * found if section(point["workload"]["jobs"]).get("alone") else found


def _carried(machine: ResolvedMachine, message: float, packets: int) -> float:
    """The payload that a node's adapters and bus carry, in bytes per us, in messages of a size."""
    packet = machine["packet"]
    transaction, header, overhead = (
        stated(str(part["value"]), "B")
        for part in (packet["transaction"], packet["header"], packet["transaction_overhead"])
    )
    wire = message + packets * header + math.ceil(message / max(transaction, 1.0)) * overhead
    found = _rate_of(machine["link"]) * message / wire
    if "rails" in machine:
        found *= machine["rails"]["count"]["value"]
    return min(found, _rate_of(machine["bus"])) if "bus" in machine else found


def _rate_of(link: ResolvedLink) -> float:
    """A link's rate in bytes per us; that of the nodes' links, if levels differ."""
    rate = link["rate"]["value"]
    return stated(rate[0] if isinstance(rate, list) else rate, "MB/s")


def _start(machine: ResolvedMachine) -> float:
    """The time in us that a message takes in adapters, at least."""
    parts = machine.get("adapter", {})
    return sum(stated(str(parts[key]["value"]), "us") for key in _STARTS if key in parts)


_STARTS = ("command", "dma_start", "input", "event")
"""Times of an adapter that each message has."""


def _count(nodes: object, machine: ResolvedMachine) -> int:
    """The count of a job's nodes: a number, a set as text, or all of the machine."""
    if isinstance(nodes, int):
        return nodes
    some = _core.nodes(json.dumps(nodes)) if nodes is not None else None
    return len(some) if some is not None else int(machine["topology"]["nodes"]["value"])


def _extent(kind: str, point: Content) -> float:
    """The milliseconds in the jobs' window, or a collective operation's repeats."""
    if kind == "jobs":
        return _milliseconds(point["run"]["window"])
    return _repeats(section(point["workload"][kind][kind]))


def _amount(kind: str, point: Content) -> float:
    """The messages of all nodes in a trace, in thousands of packets' payloads; 1 for other kinds,
    which last until they have finished.
    """
    if kind != "trace":
        return 1.0
    trace = point["workload"]["trace"]
    nodes = _count(trace.get("nodes"), point["machine"])
    each = (
        nodes if str(trace["pattern"]).startswith("all-to-all") else 1.0
    )  # a message for every other node
    size = max(stated(str(trace["message"]), "B"), 1.0)
    return nodes * each * _repeats(trace) * size / _payload(point["machine"]) / 1e3


def _repeats(benchmark: Mapping[str, object]) -> float:
    found = benchmark["repeats"]
    return found if isinstance(found, int | float) else 1.0


def _payload(machine: ResolvedMachine) -> float:
    """A packet's bytes."""
    return max(stated(str(machine["packet"]["payload"]["value"]), "B"), 1.0)


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
        manifest.data["packets"],
    )


def _rate(samples: Sequence[CostSample]) -> Rate:
    """The rate for points in one series, or in one experiment and kind."""
    seconds = sum(one.seconds for one in samples)
    if samples[0].kind not in _IN_TIME:
        return Rate(seconds / sum(_amount(one.kind, one.point) for one in samples), 1.0)
    warm_up = sum(_milliseconds(one.point["run"]["warm_up"]) for one in samples)
    simulated = sum(one.simulated for one in samples)
    work = sum(_packets(one.kind, one.point) * one.simulated for one in samples)
    return Rate(
        seconds / work, (simulated - warm_up) / sum(_extent(one.kind, one.point) for one in samples)
    )


def means(samples: Sequence[CostSample]) -> dict[str, Rate]:
    """The shipped table.

    The rate for an experiment or a kind is the mean over its series, so that a series with many
    points does not outweigh the others. The seconds of all jobs are the median: where a network
    saturates early, a packet that is offered costs little, and one that is carried many times more.
    """
    series: dict[tuple[str, str, str], list[CostSample]] = defaultdict(list)
    for sample in samples:
        series[sample.experiment, sample.series, sample.kind].append(sample)
    found: dict[str, list[Rate]] = defaultdict(list)
    traces = [sample for sample in samples if sample.kind == "trace" and sample.packets]
    if packets := sum(sample.packets for sample in traces):
        found[PACKETS].append(Rate(1e3 * sum(each.seconds for each in traces) / packets, 1.0))
    for several in series.values():
        rate = _rate(several)
        # A series may have points of both kinds of networks: its rate counts for each.
        for key in dict.fromkeys(key for one in several for key in one.keys):
            found[key].append(rate)
    return {
        key: Rate(
            *(
                float(f"{value:.3g}")
                for value in (
                    (median if key in ("jobs", FREE) else fmean)([rate.seconds for rate in rates]),
                    fmean(rate.stretch for rate in rates),
                )
            )
        )
        for key, rates in sorted(found.items())
    }
