"""An experiment's slowest node: the one that accepts the least part of its offered load.

A node is behind if it lacks more than a tenth of its offer, and more than two standard deviations
of an independent-message offer: near a short window's end, a few messages are in flight in any
network. A smaller part within this noise is named as such.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from elanite.base.text import counted, number, part
from elanite.base.units import amount, stated
from elanite.report.pages.curves import label_of, loadless
from elanite.report.pages.hot_links import with_seed
from elanite.report.pages.wording import some_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.inputs.plan import Point
    from elanite.store import Store

BEHIND = 0.9
"""A node is behind its offer if less than this fraction of its offered load is accepted."""

DEVIATIONS = 2.0
"""Standard deviations of the offered bytes, above which lacking bytes are not noise."""


def slowest(points: Sequence[Point], store: Store, columns: Sequence[str]) -> list[str]:
    """The node that accepts the least part of its offered load, over all points; empty if all
    accept nine tenths.
    """
    below = [node for point in points for node in _starved(point, store)]
    if not below:
        return []
    seeds = len({point.seed for point in points})
    loaded = [point for point in points if not store.table(point.id, "nodes").is_empty()]

    def configurations(some: Sequence[Point], names: Sequence[str]) -> set[str]:
        return {label_of({"series": point.series} | point.parameters, names) for point in some}

    every, curves = (len(configurations(loaded, names)) for names in (columns, loadless(columns)))

    def named(node: _Node) -> str:
        jobs = store.table(node.point.id, "nodes")["job"].n_unique()
        job = f" of job {node.job}" if jobs > 1 else ""
        (configuration,) = configurations([node.point], columns)
        alike = [one for one in below if one.written == node.written]
        others = sum(one.point is node.point for one in alike) - 1
        equal = len(configurations([one.point for one in alike], columns))
        words = "; ".join(
            filter(
                None,
                [
                    with_seed(configuration, node.point, seeds),
                    f"as {counted(others, 'other node')}" if others else "",
                    f"as slow {some_of(equal, every, curves)}" if equal > 1 else "",
                ],
            )
        )
        return (
            f"node {node.node}{job}{f' ({words})' if words else ''}, with {number(node.accepted)}"
            f" MB/s accepted of {number(node.offered)} MB/s offered ({part(node.part)})"
        )

    def least(nodes: Sequence[_Node]) -> _Node:
        return min(nodes, key=lambda node: (node.part, node.node))

    behind = [node for node in below if node.behind]
    noisy = least(below)
    if not behind:
        return [
            "No node is slow beyond the chance of few messages; the smallest accepted part:"
            f" {named(noisy)}."
        ]
    last = least(behind)
    smaller = noisy.part < last.part
    chance = f"; a smaller part, by the chance of few messages: {named(noisy)}" if smaller else ""
    return [f"Slowest node: {named(last)}{chance}."]


@dataclass(frozen=True)
class _Node:
    """A point's node that accepted clearly less than it offered. Loads are in MB/s."""

    point: Point
    node: int
    job: str
    accepted: float
    offered: float
    behind: bool
    """Whether it lacks more than noise."""

    @property
    def part(self) -> float:
        """The accepted part of its offer."""
        return self.accepted / self.offered

    @property
    def written(self) -> tuple[str, str]:
        """Its loads as pages write them."""
        return number(self.accepted), number(self.offered)


def _starved(point: Point, store: Store) -> Iterator[_Node]:
    """A point's nodes that lack more than a tenth of their offer."""
    nodes = store.table(point.id, "nodes")
    manifest = store.get(point.id)
    if manifest is None or not {"job", "node", "offered", "accepted"} <= set(nodes.columns):
        return
    content = json.loads(point.json)
    window_us = manifest.data["simulated_ps"] / 1e6 - stated(content["run"]["warm_up"], "us")
    jobs = content["workload"][point.kind].get("jobs", {})
    for node in nodes.filter(pl.col("offered") > 0).iter_rows(named=True):
        offered, lacking = (
            node["offered"] * window_us,
            (node["offered"] - node["accepted"]) * window_us,
        )
        job = jobs.get(node["job"], {})
        size = amount(job.get("message", ""))
        if size is None:
            continue
        # The variance of a sum over independent messages with exponential sizes is twice that with
        # fixed sizes.
        variance = offered * size * (1.0 if job.get("sizes") == "fixed" else 2.0)
        if lacking > (1 - BEHIND) * offered:
            far = lacking > DEVIATIONS * variance**0.5
            yield _Node(point, node["node"], node["job"], node["accepted"], node["offered"], far)
